"""``python -m robustcs …`` runs ``robustcs …``."""

from robustcs.cli.main import main

main()
