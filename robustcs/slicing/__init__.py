"""Slices: subsets of the turns by place in the conversation, by texts, or by a user's columns.

The values of ``--slices`` are defined here because help pages need them without other imports.
"""

#: Properties that are read from turn ids.
BY_IDS = ("first", "depth", "conversation")
#: Properties that are read from texts.
BY_TEXTS = ("pronoun", "ellipsis", "length", "shift", "name")
#: All properties of :data:`BY_TEXTS`.
TEXTS = "texts"
#: All values of ``--slices``.
WORDS = (*BY_IDS, *BY_TEXTS, TEXTS)
