"""Run a user's program: requests as JSON lines on its stdin, answers as JSON lines on its stdout."""
