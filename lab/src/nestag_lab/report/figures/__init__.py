"""Figures of an experiment: each file draws one, from the runs of one setup, and says it in words as well."""
