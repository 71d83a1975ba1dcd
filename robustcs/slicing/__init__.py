"""Turns split by what they are: where they stand, what a user says of them, what their texts say."""
