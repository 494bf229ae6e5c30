"""Exports: a corpus as another sequence labeling library wants it, and that library's predictions as entities."""
