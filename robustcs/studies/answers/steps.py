"""Steps of ``robustcs answers``: snippets and nuggets as gold items, and their measures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from robustcs.inputs.annotations import AnnotatedText, join_annotations, read_annotations
from robustcs.inputs.nuggets import Assigned, Nugget, read_nuggets
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.model import AnswerFiles
from robustcs.project.workspace import Workspace
from robustcs.similarity.texts import has_content
from robustcs.statistics.agreement import chosen_characters, majority_of
from robustcs.studies.answers.analysis import Coverage, Item
from robustcs.wording import Note, counted


def support_of(assigned: Mapping[str, Assigned] | None) -> dict[str, dict[str, float]] | None:
    """Return topic → text of a nugget → share of its support; None without assignments."""
    if assigned is None:
        return None
    return {
        topic: {nugget.text: nugget.support or 0.0 for nugget in one.nuggets}
        for topic, one in assigned.items()
    }


def by_turn(
    items: Coverage, name: str, systems: Sequence[str], turns: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return system → turn → value of a measure, for turns with a value."""
    values = items.values[:, items.names.index(name)].tolist()
    return {
        system: {turn: value for turn, value in zip(turns, row, strict=True) if value == value}
        for system, row in zip(systems, values, strict=True)
    }


def headline_of(items: Sequence[Item], measures: Collection[str]) -> str:
    """Return the measure of gold items that makes an answer correct: of vital nuggets, all nuggets, or snippets."""
    vital = any(item.importance == "vital" for item in items)
    names = (
        ("nuggets_vital", "nuggets_all", "snippet_recall")
        if vital
        else ("nuggets_all", "snippet_recall")
    )
    return next((name for name in names if name in measures), "")


# ---------------------------------------------------------------- gold


def snippet_items(workspace: Workspace, files: AnswerFiles, notes: list[str]) -> list[Item]:
    """Return the stretches of text that a majority of a passage's annotators selected, each as an item."""
    read = []
    for path in files.snippets:
        texts, _ = read_annotations(path)
        workspace.remember(
            "gold snippets", path, sum(len(text.annotations) for text in texts.values())
        )
        read.append((path, texts))
    texts = join_annotations(read)
    items = [
        item
        for key in sorted(texts, key=lambda key: (turn_sort_key(key[0]), key[1]))
        for item in _of_text(texts[key])
    ]
    several = sorted({len(text.annotations) for text in texts.values()})
    if several and several[-1] > 1:
        notes.append(
            f"snippets: text that at least {' or '.join(str(majority_of(number, None)) for number in several)} of"
            f" {' or '.join(map(str, several))} annotators selected"
        )
    return items


def _of_text(text: AnnotatedText) -> list[Item]:
    chosen = chosen_characters([one.spans for one in text.annotations], len(text.text)).sum(axis=0)
    enough = chosen >= majority_of(len(text.annotations), None)
    # adjacent snippets of a single annotator remain separate items
    spans = text.annotations[0].spans if len(text.annotations) == 1 else _stretches(enough)
    holder = frozenset([text.paragraph or text.passage])
    return [
        Item("snippets", text.turn, text.text[start:end].strip(), "", holder)
        for start, end in spans
    ]


def _stretches(enough: np.ndarray) -> list[tuple[int, int]]:
    """Return the half-open interval [start, end) of every run of true values."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], enough.astype(np.int8), [0]]))).tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))


def nugget_items(
    workspace: Workspace,
    files: AnswerFiles,
    assigned: Mapping[str, Mapping[str, Assigned]],
    notes: list[str],
) -> list[Item]:
    """Return the nuggets of the file and all further nuggets of the assignments."""
    found: dict[str, dict[str, Item]] = {}

    def add(topics: Mapping[str, Sequence[Nugget]]) -> int:
        """Add the nuggets that are not yet known. Return their number."""
        before = sum(map(len, found.values()))
        for topic, nuggets in topics.items():
            for one in nuggets:
                item = Item("nuggets", topic, one.text, one.importance, frozenset(one.passages))
                found.setdefault(topic, {}).setdefault(one.text, item)
        return sum(map(len, found.values())) - before

    if files.nuggets is not None:
        read = read_nuggets(files.nuggets)
        workspace.remember("nuggets", files.nuggets, sum(map(len, read.values())))
        add(read)
    new = sum(
        add({topic: one.nuggets for topic, one in topics.items()}) for topics in assigned.values()
    )
    if files.nuggets is not None and new:
        notes.append(
            f"{counted(new, 'nugget')} added from the assignments, since the file of nuggets does not list them"
        )
    for name, topics in assigned.items():
        missing = sum(
            len(found.get(topic, {}).keys() - {nugget.text for nugget in one.nuggets})
            for topic, one in topics.items()
        )
        if missing:
            notes.append(
                Note.of(
                    name, counted(missing, "nugget"), "without an assignment count as not supported"
                )
            )
    return [item for topic in sorted(found, key=turn_sort_key) for item in found[topic].values()]


def with_words(items: Sequence[Item], assigned: bool, notes: list[str]) -> list[Item]:
    """Return the items with a content word; nuggets with assignments need none."""
    kept = [
        item for item in items if (assigned and item.gold == "nuggets") or has_content(item.text)
    ]
    if len(kept) < len(items):
        notes.append(f"{counted(len(items) - len(kept), 'item')} without a content word skipped")
    return kept
