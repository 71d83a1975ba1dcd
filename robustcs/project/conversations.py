"""The conversations of a project: from a file that the user names, from fields of its files, or from turn ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from robustcs.conversations import Conversations
from robustcs.errors import UsageError
from robustcs.inputs.paths import PooledFile, parts_of, pooled, shown
from robustcs.inputs.readings import read_once, take_skipped
from robustcs.policy import Grouping
from robustcs.project.model import Project
from robustcs.project.reader import Inputs
from robustcs.wording import counted


def conversations_of(
    inputs: Inputs, turns: Iterable[str], files: Iterable[Path | str] = ()
) -> Conversations:
    """Return the conversations of a project, decided on the judged turns if the qrels were read, else on ``turns``.

    ``files``: further files that may have fields of conversations.

    Fields are looked for only in files that were read before, so that a broken file does not stop commands that do not use it.
    To use the fields of another file, the user names it.

    Raises :class:`InputError` for an unusable file, and :class:`UsageError` if the file that the user names lacks more than
    half of the turns. If the project has qrels that were not read, the question is about other turns, and this is a note.
    """
    judged = "qrels" in vars(inputs)
    return _decided(
        inputs,
        inputs.qrels.turns if judged else turns,
        files,
        strict=judged or not inputs.project.qrels,
    )


def conversations_among(
    inputs: Inputs, turns: Iterable[str], files: Iterable[Path | str] = ()
) -> Conversations:
    """Return the conversations of a project as :func:`conversations_of` does, decided on ``turns`` alone.

    Raises :class:`InputError` for an unusable file.
    """
    return _decided(inputs, turns, files)


def _decided(
    inputs: Inputs, turns: Iterable[str], files: Iterable[Path | str] = (), strict: bool = False
) -> Conversations:
    every, decided = list(turns), inputs.project.policy.conversation
    if isinstance(decided, Path):
        from robustcs.inputs.conversations import read_conversations

        named: Sequence[Path] = parts_of(decided)
        fields = {
            turn: place
            for file in named
            for turn, place in read_once(read_conversations, file).items()
        }
        inputs.remember("conversations", decided, len(fields))
    elif decided:
        fields, named = {}, ()
    else:
        known = [
            part
            for path in _files(inputs.project)
            for part in parts_of(path)
            if shown(part) in inputs.paths
        ]
        fields, named = _fields((*known, *files))
    names = " and ".join(Path(shown(file)).name for file in named)
    by_ids = decided if isinstance(decided, str) else ""
    if not fields:
        return Conversations.from_ids(every, by_ids)
    made = Conversations.from_fields(fields, every, names)
    lacking = [turn for turn in every if turn not in fields]
    told = f"{len(lacking)} of {counted(len(every), 'turn')} have no row in {names}"
    # with_fields pools the files that it finds
    named_by_user = bool(decided) and not isinstance(decided, PooledFile)
    if 2 * len(lacking) > len(every):
        if strict and named_by_user:
            advice = "add a row for each turn, or remove the file"
            raise UsageError("few-conversations", f"{told}, such as {lacking[0]}", advice)
        if made.places or named_by_user:
            inputs.note(f"{told}, so conversations come from turn ids alone")
        return Conversations.from_ids(every)
    if lacking and (made.places or named_by_user):
        inputs.note(
            f"{told}; {'each is its own conversation' if made.places else 'their conversations are those of their ids'}"
        )
    return made


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
    return replace(
        project,
        policy=replace(
            project.policy, conversation=pooled(files, [Path(shown(file)).name for file in files])
        ),
    )


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
    files = [
        source.path for source in (*texts, *project.texts.values(), *project.raw_texts.values())
    ]
    files += [part.scores for part in parts if part.scores]
    files += project.answers.of_systems.values() if project.answers else []
    return [file for file in files if isinstance(file, Path)]


def _fields(
    files: Iterable[Path | str],
) -> tuple[dict[str, tuple[str, int | None]], Sequence[Path]]:
    """Return the conversations in fields of files, and the files that have such fields."""
    from robustcs.inputs.conversations import has_conversations, read_conversations

    fields: dict[str, tuple[str, int | None]] = {}
    found = []
    for file in dict.fromkeys(
        part for path in files if isinstance(path, Path) for part in parts_of(path)
    ):
        if has_conversations(file):
            fields |= read_once(read_conversations, file, True)
            found.append(file)
        take_skipped(file, strict=False)  # the reader of the file itself reports them
    return fields, found
