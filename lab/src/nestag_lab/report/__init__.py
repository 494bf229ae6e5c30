"""Reports: an experiment as one self-contained page, and its figures as files."""
