"""The studies: one folder for each question that a user asks, all of one shape."""
