"""The conversations of a project: from a file that the user names, from fields of its files, or from turn ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from robustcs.conversations import Conversations
from robustcs.inputs.paths import parts_of, pooled, shown
from robustcs.inputs.readings import read_once, take_skipped
from robustcs.policy import Grouping
from robustcs.project.model import Project
from robustcs.project.reader import Inputs


def conversations_of(inputs: Inputs, turns: Iterable[str], files: Iterable[Path | str] = ()) -> Conversations:
    """Return the conversations of a project, decided on the judged turns if the qrels were read, else on ``turns``.

    ``files``: further files that may have fields of conversations.

    Fields are looked for only in files that were read before, so that a broken file does not stop commands that do not use it.
    To use the fields of another file, the user names it.

    Raises :class:`InputError` for an unusable file.
    """
    return conversations_among(inputs, inputs.qrels.turns if "qrels" in vars(inputs) else turns, files)


def conversations_among(inputs: Inputs, turns: Iterable[str], files: Iterable[Path | str] = ()) -> Conversations:
    """Return the conversations of a project as :func:`conversations_of` does, decided on ``turns`` alone.

    Raises :class:`InputError` for an unusable file.
    """
    every, asked = list(turns), inputs.project.policy.conversation
    if isinstance(asked, Path):
        from robustcs.inputs.conversations import read_conversations

        named: Sequence[Path] = parts_of(asked)
        fields = {turn: place for file in named for turn, place in read_once(read_conversations, file).items()}
        inputs.remember("conversations", asked, len(fields))
        if every and fields.keys().isdisjoint(every):
            inputs.note(f"{shown(asked)} has the conversations of other turns; the first turn here is {every[0]}")
    elif asked:
        fields, named = {}, ()
    else:
        known = [part for path in _files(inputs.project) for part in parts_of(path) if shown(part) in inputs.paths]
        fields, named = _fields((*known, *files))
    names = " and ".join(Path(shown(file)).name for file in named)
    by_ids = asked if isinstance(asked, str) else ""
    return Conversations.from_fields(fields, every, names) if fields else Conversations.from_ids(every, by_ids)


def grouping_of(inputs: Inputs, turns: Iterable[str]) -> Grouping:
    """Return what sampling units are made from, for :func:`~robustcs.statistics.units.units_of`."""
    return "turn" if inputs.project.policy.unit == "turn" else conversations_of(inputs, turns)


def with_fields(project: Project) -> Project:
    """Return the project with its files that have fields of conversations named in the policy, unless they repeat the ids.

    So parts of the project without these files have the same conversations.
    """
    if project.policy.conversation:
        return project
    fields, files = _fields(_files(project))
    if not Conversations.from_fields(fields, fields, "").places:
        return project
    return replace(project, policy=replace(project.policy, conversation=pooled(files)))


def first_with_fields(files: Iterable[Path]) -> Path | None:
    """Return the first file whose fields show conversations that its turn ids do not; None if there is none."""
    for file in files:
        fields, _ = _fields([file])
        if Conversations.from_fields(fields, fields, "").places:
            return file
    return None


def _files(project: Project) -> list[Path]:
    """Return the project's texts, scores and answers, which may have fields of conversations."""
    parts = project.formulations.values()
    texts = [source for part in parts for source in (*part.rewrites, *part.samples)]
    files = [source.path for source in (*texts, *project.texts.values(), *project.raw_texts.values())]
    files += [part.scores for part in parts if part.scores]
    files += project.answers.answered.values() if project.answers else []
    return [file for file in files if isinstance(file, Path)]


def _fields(files: Iterable[Path | str]) -> tuple[dict[str, tuple[str, int | None]], Sequence[Path]]:
    """Return the conversations in fields of files, and the files that have such fields."""
    from robustcs.inputs.conversations import has_conversations, read_conversations

    fields: dict[str, tuple[str, int | None]] = {}
    found = []
    for file in dict.fromkeys(part for path in files if isinstance(path, Path) for part in parts_of(path)):
        if has_conversations(file):
            fields |= read_once(read_conversations, file, True)
            found.append(file)
        take_skipped(file, strict=False)  # the reader of the file itself reports them
    return fields, found
