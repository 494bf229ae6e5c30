"""Files <-> sentences: one module per format, found by the registry; files are read and written in `files`."""
