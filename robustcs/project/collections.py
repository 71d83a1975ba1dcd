"""Several collections in one project: their judgments, and studies run on each collection in addition to all together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from robustcs.errors import InputError, RobustcsError, UsageError
from robustcs.inputs.paths import pooled, shown
from robustcs.messages import Either, Message, OptionName
from robustcs.project.sources import several
from robustcs.table import Table, stacked

if TYPE_CHECKING:
    from robustcs.project.model import Formulation, Project
    from robustcs.project.workspace import Workspace
    from robustcs.result import Result

R = TypeVar("R", bound="Result")


def samples_of(runs: Sequence[Path]) -> list[Path]:
    """Return the runs of a rewriter's samples; files that share no turn are joined to one run, as for several collections.

    If a file cannot be read, return all files unchanged; the error is reported when the file is needed.
    """
    from robustcs.inputs.runs import read_run
    from robustcs.inputs.sniff import first_cells

    if len(runs) < 2:
        return list(runs)
    # if the first lines share turns, no file is read completely; a header is one cell, and JSON starts with other characters
    heads = [{cell for cell in first_cells(path) if cell[0].isalnum()} for path in runs]
    if all(len(head & heads[0]) > 1 for head in heads):
        return list(runs)
    found: list[tuple[set[str], list[Path]]] = []
    for path in runs:
        try:
            turns = set(read_run(path).turns)
        except (RobustcsError, OSError):
            return list(runs)
        known, files = next((one for one in found if one[0].isdisjoint(turns)), (set(), []))
        if not files:
            found.append((known, files))
        known |= turns
        files.append(path)
    return [pooled(files) for _, files in found]


def ask_by(ask: Callable[..., R], workspace: Workspace, by: str, **settings: Any) -> R:
    """Run a study, and add each of its tables per collection if ``by`` is ``collection``.

    Raises :class:`UsageError` for another word, or if the judgments are not of several collections.
    """
    if by != "collection":
        raise UsageError("bad-setting", f"by is {by!r}", "write collection")
    collections = workspace.collections
    if len(collections) < 2:
        found = Message(
            OptionName("by", "collection"),
            " needs qrels of several collections, which have no turn in common",
        )
        raise UsageError(
            "one-collection",
            found,
            Message(
                "name the qrels of each: qrels = [FILE, FILE]", Either(", or --qrels twice", "")
            ),
        )
    whole, parts, notes = ask(workspace, **settings), dict[str, R](), list[str]()
    error: RobustcsError | None = None
    for name, qrels in collections.items():
        try:
            parts[name], left = _of_collection(ask, workspace, qrels, settings)
        except (InputError, UsageError) as one:
            error = one
            notes.append(f"collection {name} skipped: {one}")
            continue
        evaluated = parts[name].evaluated
        without = [
            f"without {', '.join(left)}: no answers to its turns" if left else "",
            evaluated.unit_note,
        ]
        notes.append("; ".join(filter(None, (f"collection {name}: {evaluated.about}", *without))))
    if not parts and error is not None:
        raise error
    return whole.with_collections(_stacked(parts)).with_notes(notes)


def _of_collection(
    ask: Callable[..., R], workspace: Workspace, qrels: Path | str, settings: dict[str, Any]
) -> tuple[R, list[str]]:
    """Run a study on the turns of one collection; also return the systems that answer none of them."""
    project = replace(workspace.project, qrels=qrels)
    while True:
        try:
            result = ask(workspace.of(project), **settings)
            return result, [
                name for name in workspace.project.systems if name not in project.systems
            ]
        except InputError as error:
            strange = {
                shown(problem.path)
                for problem in error.problems
                if problem.slug == "no-common-turns"
            }
            fewer, slices = _without(project, strange), several(settings.get("slices") or ())
            kept = [
                one
                for one in slices
                if not (isinstance(one, str | os.PathLike) and shown(one) in strange)
            ]
            if not strange or (fewer == project and len(kept) == len(slices)):
                raise
            project = fewer
            if slices:
                settings = {**settings, "slices": kept}


def _without(project: Project, strange: set[str]) -> Project:
    """Return the project without the runs, scores and texts in these files."""

    def kept(path: Path | None) -> Path | None:
        return None if path is None or shown(path) in strange else path

    def of(part: Formulation) -> Formulation:
        rewrites = tuple(source for source in part.rewrites if shown(source.path) not in strange)
        return replace(part, run=kept(part.run), scores=kept(part.scores), rewrites=rewrites)

    return replace(
        project,
        runs={name: path for name, path in project.runs.items() if kept(path)},
        components={name: path for name, path in project.components.items() if kept(path)},
        formulations={key: of(part) for key, part in project.formulations.items()},
    )


def _stacked(parts: Mapping[str, Result]) -> dict[str, Table]:
    """Return table → its rows of all parts, the collection first; no tables of turns."""
    found = {}
    for spec in next(iter(parts.values())).declared:
        own = {name: part.table(spec.name) for name, part in parts.items()}
        filled = {name: made for name, made in own.items() if len(made)}
        if filled and "turn" not in next(iter(filled.values())).names:
            found[spec.name] = stacked("collection", filled)
    return found
