"""Draw test sets of paraphrases."""
