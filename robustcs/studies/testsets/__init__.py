"""The same conversations in other words."""
