"""`python -m nestag` is `nestag`."""

from nestag.cli import main

main()
