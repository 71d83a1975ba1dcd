"""The project: its inputs, its file, and the workspace of a command."""
