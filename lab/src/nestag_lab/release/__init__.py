"""Pretrained models: the corpora and text they learn from, pretraining, trials, and the export."""
