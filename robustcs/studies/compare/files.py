"""Sides of a comparison that are runs or per-turn scores, in files or in Python objects, instead of projects."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from robustcs.errors import InputError, UsageError, input_error
from robustcs.evaluation.measure import (
    ANSWER_FAMILIES,
    GIVEN,
    Measure,
    is_averaged,
    parse_measure,
    usual_name,
)
from robustcs.inputs.forms import DOCUMENT, called
from robustcs.inputs.heads import first_lines
from robustcs.inputs.objects import fields_of, is_frame, is_iterable, is_nested, is_ranx
from robustcs.inputs.paths import located, parts_of, pooled, shown, url_of
from robustcs.inputs.scores import has_scores, read_scores
from robustcs.inputs.sniff import identify
from robustcs.inputs.tables import find_column
from robustcs.inputs.trec_lines import measure_columns
from robustcs.messages import Message, OptionName
from robustcs.project.model import Project
from robustcs.project.overrides import file_of
from robustcs.project.reading import find_project
from robustcs.project.scoring import DEFAULT_MEASURES
from robustcs.project.workspace import Workspace
from robustcs.records.record import TURNS

#: The two sides, by keyword.
SIDES = ("old", "new")
#: Errors of reading a file as scores that mean it contains none.
_NOT_SCORES = ("wrong-columns", "no-such-column", "other-kind", "no-turns")


@dataclass(frozen=True)
class SideFile:
    """A run or per-turn scores of one side; ``path`` may be a file in memory."""

    name: str
    kind: Literal["run", "scores"]
    path: Path


def is_project(given: Any) -> bool:
    """Return whether a side is a project (also its folder or file) or a report; otherwise it holds runs or scores.

    Raises :class:`InputError` for a file that does not exist.
    """
    if not isinstance(given, str | os.PathLike):
        return isinstance(given, Project)
    if not os.fspath(given):
        raise UsageError("no-file", "the name of a file is empty", "name a project or a file")
    path = located(os.fspath(given))
    if url_of(path) is None and not path.exists():
        raise input_error(path, None, "no such file or folder", "check the path", "no-such-file")
    if path.is_dir() or path.suffix.lower() == ".toml" or path.name in (TURNS, "state.json"):
        return True
    return identify(path) is None and _is_toml(path)


def are_projects(old: Any, new: Any) -> bool:
    """Return whether both sides are projects or reports; False if both hold runs or scores.

    Raises :class:`UsageError` for one of each.
    """
    kinds = [is_project(one) for one in (old, new)]
    if kinds[0] != kinds[1]:
        project, other = (old, new) if kinds[0] else (new, old)
        names = [
            shown(one) if isinstance(one, str | os.PathLike) else SIDES[one is new]
            for one in (project, other)
        ]
        found = f"{names[0]} is a project or a folder, but {names[1]} is not"
        raise UsageError(
            "mixed-sides", found, "compare two projects, or two runs or files of per-turn scores"
        )
    return kinds[0]


def _is_toml(path: Path) -> bool:
    try:
        return bool(tomllib.loads("\n".join(first_lines(path))))
    except (ValueError, RecursionError):
        return False


def projects_of(
    old: Any, new: Any, workspace: Workspace
) -> tuple[tuple[Project, dict[str, Path]], ...]:
    """Return the runs of each side as a project, and its per-turn scores by name.

    A side is a file, a Python object in place of a file, a list of files, or several of these by name. The name of a single
    system is that of its file if both files have the same name without suffixes; else it is ``run`` or ``scores``. Qrels and
    policy are those of ``workspace``, whose measures replace those that both sides have.

    Raises :class:`UsageError` for a run without qrels or an object of another type, and :class:`InputError` for a file that
    is neither a run nor per-turn scores.
    """
    sides = [_by_name(keyword, one) for keyword, one in zip(SIDES, (old, new), strict=True)]
    systems = [
        [
            _system(name, f'{keyword}["{name}"]' if name else keyword, one, workspace)
            for name, one in side.items()
        ]
        for keyword, side in zip(SIDES, sides, strict=True)
    ]
    for one in (one for side in systems for one in side):
        if one.kind == "run" and not workspace.project.qrels:
            raise UsageError(
                "no-qrels",
                f"{shown(one.path)} is a run, but no qrels are given",
                Message("add ", OptionName("qrels", "FILE")),
            )
    alone = _common_name(sides, systems)
    systems = [
        [SideFile(one.name or alone, one.kind, one.path) for one in side] for side in systems
    ]
    project = workspace.project
    measures = _measures(systems, project.metrics)
    return tuple(
        (
            Project(
                qrels=project.qrels, qrels_selection=project.qrels_selection, collection=project.collection,
                runs={one.name: one.path for one in side if one.kind == "run"}, metrics=tuple(own),
                thresholds=project.thresholds, policy=project.policy, seed=project.seed,
            ),
            {one.name: one.path for one in side if one.kind == "scores"},
        )
        for side, own in zip(systems, measures, strict=True)
    )  # fmt: skip


def _by_name(keyword: str, given: Any) -> Mapping[str, Any]:
    """Return the systems of a side by name; the name of a single one is empty."""
    if isinstance(given, Mapping) and given and not is_nested(given):
        return {str(name): one for name, one in given.items()}
    if (
        isinstance(given, list | tuple)
        and given
        and all(isinstance(one, str | os.PathLike) for one in given)
    ):
        names = [_stem(one) for one in given]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(
                "repeated-run",
                f"two files of {keyword} are named {twice[0]!r}",
                "write {NAME: FILE}",
            )
        return dict(zip(names, given, strict=True))
    return {"": given}


def _stem(path: Any) -> str:
    return Path(path).name.partition(".")[0] if isinstance(path, str | os.PathLike) else ""


def _common_name(sides: Sequence[Mapping[str, Any]], systems: Sequence[Sequence[SideFile]]) -> str:
    """Return the name of the system that is alone in its side."""
    stems = {_stem(side[""]) for side in sides if "" in side}
    known = {name for side in sides for name in side if name}
    for names in (known, stems):
        if len(names) == 1:
            return next(iter(names)) or _usual(systems)
    return _usual(systems)


def _usual(systems: Sequence[Sequence[SideFile]]) -> str:
    return "run" if any(one.kind == "run" for side in systems for one in side) else "scores"


def _system(name: str, keyword: str, value: Any, workspace: Workspace) -> SideFile:
    """Return a file, several files in place of one, or a Python object, with its kind.

    Raises the errors of :func:`projects_of`.
    """
    files = value if isinstance(value, list | tuple) and value else [value]
    if all(isinstance(one, str | os.PathLike) for one in files):
        path = pooled([located(os.fspath(one)) for one in files])
        return SideFile(name, _kind_of_file(parts_of(path)[0], bool(workspace.project.qrels)), path)
    if is_iterable(value) and not (isinstance(value, Mapping) or is_frame(value) or is_ranx(value)):
        value = list(value)  # a generator can be read once only
    elif not (isinstance(value, Mapping) or is_frame(value) or is_ranx(value)):
        advice = (
            "give a project, a file, a frame, a dictionary or records with a run or per-turn scores"
        )
        raise UsageError("bad-type", f"{keyword} is {called(value)}", advice)
    kind = _kind_of_object(value, workspace)
    return SideFile(name, kind, file_of(kind, keyword, value))


def _kind_of_file(path: Path, judged: bool) -> Literal["run", "scores"]:
    """Return what a file is read as; tasks with passages and scores are a run if qrels are given."""
    found = identify(path)
    kinds = found.kinds if found else ()
    scored = "scores" in kinds or ("answers" in kinds and has_scores(path))
    if scored and not (judged and "run" in kinds):
        return "scores"
    if "run" in kinds:
        return "run"
    if found is None or not found.certain:
        try:
            read_scores(path)
            return "scores"
        except InputError as error:
            if error.slug not in _NOT_SCORES:
                raise  # scores with bad rows
    advice = "name a run or per-turn scores"
    if "qrels" in kinds:
        advice = Message(advice, " here, and the qrels with ", OptionName("qrels", "FILE"))
    says = found.says if found else "neither a run nor per-turn scores"
    raise input_error(path, None, says, advice, "other-kind")


def _kind_of_object(value: Any, workspace: Workspace) -> Literal["run", "scores"]:
    """Return what an object is read as: a run if it names passages, else per-turn scores.

    A dictionary by turn is a run if its inner keys differ between turns, or are judged passages.
    """
    if is_ranx(value):
        return "run"
    if isinstance(value, Mapping):
        inner = [{str(key) for key in one} for one in value.values() if isinstance(one, Mapping)]
        every = set().union(*inner)
        if len(measure_columns(list(every))) == len(every):
            return "scores"
        differ = len(every) > max(map(len, inner))
        judged = workspace.project.qrels and any(
            document in every for _, document, _ in workspace.qrels.rows()
        )
        return "run" if differ or judged else "scores"
    if is_frame(value):
        names = [
            *value.index.names,
            *(value.columns if hasattr(value, "columns") else [value.name]),
        ]
    else:
        names = list((fields_of(value[0]) if value else None) or ())
    return "scores" if find_column([str(name) for name in names], DOCUMENT) is None else "run"


# ---------------------------------------------------------------- measures


def _measures(
    systems: Sequence[Sequence[SideFile]], requested: Sequence[Measure]
) -> list[Sequence[Measure]]:
    """Return the measures of each side.

    Without ``requested``, they are those of the project in the current folder, or P@1 and NDCG@3; files of scores of which one has
    none of these are compared by every measure that they have. A side keeps measures that the other lacks, so that a gate can
    tell which are gone.
    """
    usual: Sequence[Measure] = requested or find_project(None).metrics or DEFAULT_MEASURES
    ranked = any(one.kind == "run" for side in systems for one in side)
    own = [
        _common_columns([one.path for one in side if one.kind == "scores"], ranked)
        for side in systems
    ]
    known = [one for one in own if one is not None]
    if not known:
        return [usual, usual]
    if requested:
        return [
            requested
            if one is None
            else [measure for measure in requested if measure in one] or requested
            for one in own
        ]
    shared = any(all(measure in one for one in known) for measure in usual)
    chosen = [[measure for measure in one if measure in usual or not shared] for one in known]
    return [
        chosen[0]
        if one is None
        else [measure for measure in one if measure in chosen[known.index(one)]]
        for one in own
    ]


def _common_columns(paths: Sequence[Path], ranked: bool) -> list[Measure] | None:
    """Return the measures that these files of scores have in common; None without files.

    ``ranked``: only measures that can be computed from a run. Raises :class:`UsageError` if there are none.
    """
    if not paths:
        return None
    found: list[list[Measure]] = []
    for path in paths:
        names = [usual_name(str(name)) for name in read_scores(path)]
        found.append(
            [
                measure
                for name in names
                if is_averaged(name) and (measure := _measure(name)) is not None
            ]
        )
    common = [measure for measure in found[0] if all(measure in one for one in found)]
    kept = [
        measure
        for measure in common
        if not ranked or measure.family not in (GIVEN, *ANSWER_FAMILIES)
    ]
    if not kept:
        have = ", ".join(map(str, common)) or "no measure"
        needed = "measures that can be computed from a run" if ranked else "measures in common"
        advice = (
            "compare two runs, or two files of per-turn scores"
            if ranked
            else "compare files with the same measures"
        )
        raise UsageError(
            "nothing-in-common", f"{', '.join(map(shown, paths))}: no {needed} ({have})", advice
        )
    return kept


def _measure(name: str) -> Measure | None:
    """Return a column of a file of scores as a measure; None for a name that no measure can have."""
    try:
        return parse_measure(name, given=True)
    except UsageError:
        return None
