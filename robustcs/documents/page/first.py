"""The first turns as a table, for a page without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustcs.documents.document import Column, TableBlock
from robustcs.wording import counted, system_name

#: Slug of the table, where the page shows the list of turns.
TURNS = "turns"
#: Number of turns in the table; the list has all.
FIRST_TURNS = 100
#: The largest number of systems with columns of one kind; the reader of a turn has all.
MOST_SYSTEMS = 5
#: Fields of words with a column for each system, if they are known.
_FACTS = ("cause", "blame", "outcome")


def first_turns(turns: Mapping[str, Any]) -> TableBlock:
    """Return one row for each of the first turns: texts, causes, outcomes and scores.

    turns
        As :mod:`robustcs.documents.page.pack` describes them.
    """
    number = min(FIRST_TURNS, len(turns["ids"]))
    columns = [Column("turn", "left")]
    cells = [turns["ids"][:number]]
    for name, texts in _shown_texts(turns):
        columns.append(Column(system_name(name), "left"))
        cells.append([text or "" for text in texts[:number]])
    label = turns["cuts"][0]["label"] if turns["cuts"] else ""
    for name in _FACTS:
        for system, words in _values(turns, name):
            group = f"{name}, {label}" if label and name != "outcome" else name
            columns.append(Column(system_name(system), "left", group))
            cells.append([", ".join(words["words"][place]) for place in words["of"][:number]])
    scored = _values(turns, turns["headline"])
    for system, scores in scored:
        columns.append(Column(system_name(system), group=_label(turns)))
        cells.append(["" if score is None else f"{score:.2f}" for score in scores[:number]])
    caption = f"All {counted(len(turns['ids']), 'turn')}"
    if number < len(turns["ids"]):
        caption = f"The first {number} of {counted(len(turns['ids']), 'turn')}"
    rows = tuple(zip(*cells, strict=True))
    return TableBlock(TURNS, caption, tuple(columns), rows, " ".join(turns["left_out"]))


def _shown_texts(turns: Mapping[str, Any]) -> list[tuple[str, list[str | None]]]:
    """Return (formulation, texts): with several rewriters, only those of Original and Human."""
    texts = turns["texts"]
    others = [name for name, _ in texts if name not in ("original", "human")]
    return [one for one in texts if one[0] not in others or len(others) == 1] or texts[:1]


def _values(turns: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    """Return (system, values) of a field, for as many systems as there is room for."""
    found = [one for one in turns["fields"] if one["name"] == name and one["per_system"]]
    return found[0]["columns"][0][:MOST_SYSTEMS] if found else []


def _label(turns: Mapping[str, Any]) -> str:
    """Return the name of the headline measure for people."""
    for one in turns["fields"]:
        if one["name"] == turns["headline"]:
            return str(next(iter(one["aliases"]), one["name"]))
    return ""
