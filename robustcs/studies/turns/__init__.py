"""List turns that a filter selects, and show one of them with everything known about it."""
