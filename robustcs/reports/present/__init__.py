"""Results as blocks: what a person reads of each result, the same in every rendered form."""
