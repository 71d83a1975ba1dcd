"""Retrieve passages for questions without a run."""
