"""Models for everybody: the corpora and text they learn from, pretraining, trials, and how one is exported."""
