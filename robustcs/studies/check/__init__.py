"""Check that the input files fit together."""
