"""Messages of files with rows that cannot be used."""

from __future__ import annotations

import re

_COUNT = re.compile(
    r"\A.*: [\d,]+ of [\d,]+ \w+ cannot be used; correct them: at most 5% of a file may be skipped\n"
)


def without_count(error: Exception | str) -> str:
    """The message without its first line, where that says how many rows cannot be used."""
    return _COUNT.sub("", str(error))
