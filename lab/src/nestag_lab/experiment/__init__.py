"""Experiments: a grid of runs, run in parallel and resumable, and their results."""
