"""Experiments with the paper: its corpora, grids of runs, its tables and figures, and the report.

Nothing outside the lab imports it; the command line finds its commands by name.
"""
