"""The conversations of a project: from a file that the user names, from fields of its files, or from turn ids."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from robustcs.conversations import Conversations, Places
from robustcs.errors import InputError, UsageError
from robustcs.inputs.paths import parts_of, shown
from robustcs.inputs.readings import read_once, take_skipped
from robustcs.policy import Grouping
from robustcs.project.model import Project
from robustcs.project.reader import Inputs


def conversations_of(inputs: Inputs, turns: Iterable[str], files: Iterable[Path | str] = ()) -> Conversations:
    """Return the conversations of a project, decided on the judged turns if the qrels were read, else on ``turns``.

    ``files``: further files that may have fields of conversations.

    Raises :class:`InputError` for an unusable file of conversations, :class:`UsageError` for one with none of the turns.
    """
    every = list(inputs.qrels.turns if "qrels" in vars(inputs) else turns)
    asked = inputs.project.policy.conversation
    if isinstance(asked, Path):
        from robustcs.inputs.conversations import read_conversations

        places = read_once(read_conversations, asked)
        inputs.remember("conversations", asked, len(places))
        if every and places.keys().isdisjoint(every):
            found = f"{shown(asked)} has none of the turns, such as {every[0]!r}"
            raise UsageError("no-conversations", found, "write the turn ids of the other files")
        return Conversations.from_fields(places, every, shown(asked))
    fields, names = fields_of(inputs.project, files) if not asked else ({}, "")
    if fields.keys().isdisjoint(every):
        decided = Conversations.from_ids(every, asked)
    else:
        decided = Conversations.from_fields(fields, every, names)
    inputs.note(*filter(None, [decided.note]))
    return decided


def grouping_of(inputs: Inputs, turns: Iterable[str]) -> Grouping:
    """Return what sampling units are made from, for :func:`~robustcs.statistics.units.units_of`."""
    return "turn" if inputs.project.policy.unit == "turn" else conversations_of(inputs, turns)


def fields_of(project: Project, further: Iterable[Path | str] = ()) -> tuple[Places, str]:
    """Return the conversations in fields of the project's texts, scores and answers, and the names of these files."""
    from robustcs.inputs.conversations import has_conversations, read_conversations

    parts = project.formulations.values()
    texts = [source for part in parts for source in (*part.rewrites, *part.samples)]
    files = [source.path for source in (*texts, *project.texts.values(), *project.raw_texts.values())]
    files += [path for part in parts for path in (part.scores, part.answers) if path]
    files += project.answers.answered.values() if project.answers else []
    files += further
    places: dict[str, tuple[str, int | None]] = {}
    names: list[str] = []
    for file in dict.fromkeys(part for path in files if isinstance(path, Path) for part in parts_of(path)):
        with suppress(InputError):  # the reader of the file itself reports its problems
            if has_conversations(file):
                places |= read_once(read_conversations, file)
                names.append(Path(shown(file)).name)
        take_skipped(file, strict=False)
    return places, " and ".join(names)
