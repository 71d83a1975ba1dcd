"""The bins of correct and wrong answers at every threshold."""
