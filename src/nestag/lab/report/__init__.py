"""Reports: an experiment as one page that needs nothing but itself, and its pictures as files."""
