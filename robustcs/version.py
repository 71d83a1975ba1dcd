"""The version, which setup.cfg reads from here."""

__version__ = "0.1.0"
