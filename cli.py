"""A launcher for a checkout: ``python cli.py …`` is ``robustcs …``."""

from robustcs.cli.main import main

if __name__ == "__main__":
    main()
