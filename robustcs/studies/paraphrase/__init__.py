"""Other words for the turns of a conversation."""
