"""Choose the passages of each turn that annotators should read."""
