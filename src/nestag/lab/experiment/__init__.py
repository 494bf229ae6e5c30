"""Experiments: a grid of runs, done side by side and resumed, and what came out of them."""
