"""What is in a corpus, and what may go wrong with it: statistics, checks, and splitting."""
