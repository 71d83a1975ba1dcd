"""Marks in a project file: the comment ``# by name`` at the end of a line whose role only the name of a file suggests.

``robustcs init`` writes them. Deleting a mark confirms the role.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from robustcs.project.toml import key_lines

#: The comment that marks a line.
MARK = "by name"
#: A marked line, which is not itself a comment.
_MARKED = re.compile(rf"^([ \t]*[^#\s].*?)[ \t]*#[ \t]*{MARK}[ \t]*(?=\r?$)", re.MULTILINE)
#: Tables whose lines may be marked: table → how a mark of one of its names is told.
_TOLD: Mapping[str, str] = {
    "formulations": "{}", "groups": "group {}", "judges": "judge {}", "agreement": "{} of agreement", "crowd": "{} of crowd",
}  # fmt: skip

#: Path of a marked key: ``("formulations", "human", "run")``.
Mark = tuple[str, ...]


def marks_in(text: str) -> tuple[Mark, ...]:
    """Return the path of each marked key of a project file, in the order of its lines."""
    marked = {number for number, line in enumerate(text.split("\n"), 1) if _MARKED.search(line)}
    keys: dict[int, Mark] = {}
    for path, number in key_lines(text).items():
        keys[number] = max(path, keys.get(number, ()), key=len)
    # a list may end some lines below its key
    found = [
        keys[max(line for line in keys if line <= number)]
        for number in sorted(marked)
        if number >= min(keys, default=number + 1)
    ]
    return tuple(path for path in dict.fromkeys(found) if path[0] in _TOLD and path[1:])


def without_marks(text: str) -> tuple[str, int]:
    """Return the text of a project file without its marks, and the number of marks."""
    return _MARKED.subn(r"\1", text)


def told(marks: Iterable[Mark], tables: Iterable[str] = tuple(_TOLD)) -> str:
    """Return whose roles the marks in some tables concern: ``original, human, judge lexical``; empty if there are none."""
    names = (
        _TOLD[path[0]].format(path[1].removeprefix("qr:")) for path in marks if path[0] in tables
    )
    return ", ".join(dict.fromkeys(names))
