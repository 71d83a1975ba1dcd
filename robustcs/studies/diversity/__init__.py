"""Measure how much texts differ from their source and from each other."""
