"""What is in a corpus, and what may go wrong with it: statistics, label coverage, checks, and splitting."""
