"""Experiments with nestag: the paper's corpora, grids of runs, the paper's tables, reports over runs, releases.

nestag imports nothing of it; the command line finds its commands by entry points.
"""
