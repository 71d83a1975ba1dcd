"""Judgments of crowd workers, and runs scored on them."""
