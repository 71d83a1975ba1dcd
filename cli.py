"""Launcher for a checkout: ``python cli.py …`` runs ``robustcs …``."""

from robustcs.cli.main import main

if __name__ == "__main__":
    main()
