"""Programs of the user that robustcs asks: one JSON object a line to their stdin, one a line from their stdout."""
