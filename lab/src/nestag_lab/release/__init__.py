"""Recognizers to take home: which corpora they learn from, and how one is trained, made small and described."""
