"""Means of systems and comparisons of pairs."""
