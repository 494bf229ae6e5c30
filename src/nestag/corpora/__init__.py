"""Corpora: one file a format, read and write side by side."""
