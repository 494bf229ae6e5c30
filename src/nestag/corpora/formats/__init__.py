"""One small file a format, reading and writing side by side; each offers its `FORMAT`, and registry.py finds it."""
