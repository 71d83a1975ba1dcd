"""Turns split by what they are: where they stand, what a user says of them, what their texts say.

The words that ``--slices`` takes stand here, for help pages name them and import nothing else.
"""

#: What turns can be split by without a file: by their ids,
BY_IDS = ("first", "depth", "conversation")
#: and by their texts.
BY_TEXTS = ("pronoun", "ellipsis", "length", "shift", "name")
#: All of the latter.
TEXTS = "texts"
WORDS = (*BY_IDS, *BY_TEXTS, TEXTS)
