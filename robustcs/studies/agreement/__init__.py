"""Agreement of annotators on snippets or ratings."""
