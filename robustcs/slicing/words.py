"""The words that ``--slices`` takes in place of a file; imports nothing, since help pages name them."""

#: What turns can be split by without a file: by their ids,
BY_IDS = ("first", "depth", "conversation")
#: and by their texts.
BY_TEXTS = ("pronoun", "ellipsis", "length", "shift", "name")
#: All of the latter.
TEXTS = "texts"
WORDS = (*BY_IDS, *BY_TEXTS, TEXTS)
