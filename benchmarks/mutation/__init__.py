"""The parts of `benchmarks/mutants.py`: which rooms, which mutants, how they are tested, and the page of results."""
