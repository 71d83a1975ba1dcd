"""Correlation of question similarity and answer similarity."""
