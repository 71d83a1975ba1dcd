"""Comparison of a judge with human judgments."""
