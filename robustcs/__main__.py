"""``python -m robustcs …`` is ``robustcs …``."""

from robustcs.cli.main import main

main()
