"""`python -m nestag` is `nestag`."""

from nestag.cli import main

if __name__ == "__main__":  # not in the processes that a command starts
    main()
