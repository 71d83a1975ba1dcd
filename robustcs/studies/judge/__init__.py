"""Judge the unjudged passages that matter most for the comparison."""
