"""The command line as ``python -m hushtable.cli``."""

from hushtable.cli.app import main

main()
