"""Study components: see ``study.py``."""
