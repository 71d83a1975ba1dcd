"""robustcs: robustness and error analysis for conversational search, from runs, qrels and rewrites on disk."""

__version__ = "0.1.0"
