"""Replacing inputs of a project by options of the command line or by keywords in Python."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from robustcs.conversations import NONE, PATTERN
from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.inputs.paths import IRDS_PREFIX, located, pooled
from robustcs.policy import EvaluationPolicy
from robustcs.project.collections import samples_of
from robustcs.project.model import (
    STUDY_TABLES,
    Project,
    TextSource,
    answer_files,
    parse_role,
    parse_text_source,
)
from robustcs.project.sources import (
    BY_NAME,
    SOURCES,
    Source,
    mapping_of,
    settings_of,
    several,
    text_of,
)
from robustcs.wording import nearest

#: Other names of keys, mostly the singular of keys that accept several values; both are accepted.
SINGULARS = {"metric": "metrics", "threshold": "thresholds", "run": "runs", "judge": "judges",
             "cells": "components", "cell": "components"}  # fmt: skip
#: Keys that do not name a file.
_SETTINGS = {key: one for key, one in settings_of("").items() if key != "run_groups"}
_POLICY = tuple(field.name for field in fields(EvaluationPolicy))


def with_inputs(
    project: Project, inputs: Mapping[str, Any], table: str = "", further: Collection[str] = ()
) -> Project:
    """Replace inputs of a project by ``inputs`` (key → value).

    Values are files or Python objects in place of files (:mod:`robustcs.inputs.forms`); several values are a mapping by name or
    role, or a sequence. Keys of ``table``, the table of a study with separate turns, take precedence. ``further`` are names of
    other keywords, suggested for misspelled keys.

    Raises :class:`UsageError` for an unknown key, role or type of value, and :class:`InputError` for an object that is not a
    valid input.
    """
    own = {field.name for field in fields(STUDY_TABLES[table])} if table else set()
    inputs = in_plural(inputs)
    settings, inside = settings_of(table), {}
    for key, value in inputs.items():
        if key in own:
            project = _confirmed(project, table, key)
            inside[key] = (
                settings[key].checked(value)
                if key in settings
                else files(BY_NAME[f"{table}.{key}"], value)
            )
        elif key in _KEYS:
            project = _with(project, key, value)
        else:
            raise _unknown(key, (*own, *_KEYS, *further))
    return (
        replace(
            project, **{table: (getattr(project, table) or STUDY_TABLES[table]()).given(**inside)}
        )
        if inside
        else project
    )


def in_plural(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with the usual name of each key. Raises :class:`UsageError` if one is given under two names."""
    found: dict[str, Any] = {}
    for key, value in inputs.items():
        name = SINGULARS.get(key, key)
        if name in found:
            both = " and ".join(one for one in inputs if SINGULARS.get(one, one) == name)
            raise UsageError(
                "repeated-keyword",
                f"{both} are the same keyword",
                f"give {name} once, with all values",
            )
        found[name] = value
    return found


def _unknown(key: str, known: Collection[str]) -> UsageError:
    near = nearest(key, sorted(set(known)))
    meant = f"did you mean {near!r}? " if near else ""
    return UsageError(
        "no-such-input",
        f"no input is named {key!r}",
        f"{meant}help(robustcs.open_project) lists them",
    )


def with_policy(
    policy: EvaluationPolicy, key: str, value: Any, folder: Path = Path()
) -> EvaluationPolicy:
    """Return a policy with another value; files are relative to ``folder``. Raises :class:`UsageError` for an invalid one."""
    setting = settings_of("policy").get(key)
    if key == "conversation" and value not in ("", NONE, PATTERN):
        value = located(
            text_of(key, os.fspath(value) if isinstance(value, os.PathLike) else value), folder
        )
    change: dict[str, Any] = {key: setting.checked(value) if setting else value}
    return replace(policy, **change)


def group_of(name: str, baseline: Any, sets: Any) -> Group:
    """Return a group. Raises :class:`UsageError` unless it has a baseline and sets."""
    if not (
        baseline
        and isinstance(baseline, str)
        and sets
        and all(isinstance(one, str) for one in several(sets))
    ):
        raise UsageError(
            "bad-type",
            f"group {name!r} has no baseline or no sets",
            "write both, with names of runs",
        )
    return Group(baseline, tuple(several(sets)))


def _with(project: Project, key: str, value: Any) -> Project:
    if key in ("original", "qr", "human"):
        for role, runs in _several_runs(key, value).items():
            first, *others = samples_of(runs) if key == "qr" else [pooled(runs)]
            project = _confirmed(project, "formulations", role).with_formulation(
                role, run=first, sample_runs=tuple(others)
            )
        return project
    if key in _POLICY:
        return replace(project, policy=with_policy(project.policy, key, value))
    if key in _SETTINGS:
        return replace(project, **{key: _SETTINGS[key].checked(value)})
    if key == "groups":
        groups = {}
        for name, one in mapping_of(key, value, "(BASELINE, [SET, …])").items():
            pair = (one.baseline, one.sets) if isinstance(one, Group) else one
            groups[name] = group_of(
                name, *(pair if isinstance(pair, list | tuple) and len(pair) == 2 else (None, None))
            )
        return replace(_confirmed(project, key), groups=groups)
    source = BY_NAME[key]
    found = files(source, value)
    if source.table != "formulations":
        return replace(_confirmed(project, key), **{key: found})
    for role, one in found.items():
        if key == "samples" and parse_role(role)[0] != "qr":
            raise UsageError(
                "bad-role",
                f"samples of {role}",
                "write samples only for a rewriter (qr or qr:NAME)",
            )
        if (key, role) == ("scores", "answers"):
            project = replace(project, answer_similarity=one)
            continue
        project = _confirmed(project, "formulations", role).with_formulation(role, **{key: one})
    return project


def _confirmed(project: Project, *key: str) -> Project:
    """Return the project without the marks of a table or of one of its names: the user says what it is."""
    return replace(project, marks=tuple(mark for mark in project.marks if mark[: len(key)] != key))


def _several_runs(role: str, value: Any) -> dict[str, list[Path]]:
    """Map the key of each formulation to its runs."""
    from robustcs.inputs.objects import is_nested

    def runs(keyword: str, value: Any) -> list[Path]:
        parts = _parts(value)
        if not parts:
            raise UsageError(
                "no-run", f"{keyword} has no run", "give one run, or a list of several"
            )
        return [
            file_of("run", _at(keyword, place, parts), part) for place, part in enumerate(parts)
        ]

    if isinstance(value, Mapping) and not is_nested(value):
        # an empty name is the formulation without a name
        named = mapping_of(role, value).items()
        return {
            f"{role}:{name}" if name else role: runs(_item(role, name), one) for name, one in named
        }
    return {role: runs(role, value)}


# ---------------------------------------------------------------- files, and Python objects in place of files


def files(source: Source, value: Any, folder: Path = Path()) -> Any:
    """Return the files of a source in the type of the project; paths are relative to ``folder``."""
    key = source.key
    if source.shape in ("one", "several"):
        return placed(source, key, value, "", folder)
    found = {}
    for name, one in mapping_of(key, value).items():
        of_role = source.table == "formulations" and (key, name) != ("scores", "answers")
        found[name] = placed(
            source, _item(key, name), one, parse_role(name)[0] if of_role else "", folder
        )
    return found


def placed(source: Source, keyword: str, value: Any, role: str = "", folder: Path = Path()) -> Any:
    """Return the file or files of a source for one name or ``role``."""
    if source.shape == "texts":
        return text_source(
            keyword, value, "original" if source.key == "raw_texts" else "human", folder
        )
    several_of = source.joins or source.shape in ("several", "role texts")
    parts = _parts(value, by_turn=source.shape == "role texts") if several_of else (value,)
    if source.joins and not parts:
        raise UsageError("no-file", f"{keyword} has no file", "give one file, or a list of several")
    if source.shape == "role texts":
        return tuple(
            text_source(_at(keyword, place, parts), part, role, folder)
            for place, part in enumerate(parts)
        )
    if source.key == "answers" and all(isinstance(part, str) for part in parts):
        return answer_files(parts, folder)
    paths = [
        part if source.irds and isinstance(part, str) and part.startswith(IRDS_PREFIX)
        else file_of(source.reader, _at(keyword, place, parts), part, "", folder)
        for place, part in enumerate(parts)
    ]  # fmt: skip
    return tuple(paths) if source.shape == "several" else pooled(paths)


def text_source(keyword: str, value: Any, role: str, folder: Path = Path()) -> TextSource:
    """Return a source of texts from ``FILE``, ``FILE:COLUMN`` or a Python object; see :func:`file_of`."""
    if isinstance(value, TextSource):
        return value
    if isinstance(value, str | os.PathLike):
        return parse_text_source(os.fspath(value), folder)
    return TextSource(file_of("texts", keyword, value, role))


def named_files(reader: str, keyword: str, value: Any) -> dict[str, Path]:
    """Apply :func:`file_of` to each value of a mapping by name."""
    return {
        name: file_of(reader, _item(keyword, name), one)
        for name, one in mapping_of(keyword, value).items()
    }


def named_texts(keyword: str, value: Any, role: str) -> dict[str, TextSource]:
    """Apply :func:`text_source` to each value of a mapping by name."""
    return {
        name: text_source(_item(keyword, name), one, role)
        for name, one in mapping_of(keyword, value).items()
    }


def file_of(reader: str, keyword: str, value: Any, role: str = "", folder: Path = Path()) -> Path:
    """Return a path unchanged, and a frame, dictionary or records as a file in memory for the ``reader`` of this name.

    ``keyword`` names the value in messages; ``role`` is the formulation of texts. Raises the errors of
    :func:`~robustcs.inputs.forms.as_file`.
    """
    if isinstance(value, Path):
        return value
    if isinstance(value, str | os.PathLike):
        return located(os.fspath(value), folder)
    from robustcs.inputs.forms import as_file

    return as_file(reader, keyword, value, role)


def _item(keyword: str, name: str) -> str:
    return f'{keyword}["{name}"]'


def _parts(value: Any, by_turn: bool = False) -> Sequence[Any]:
    """Return one input, or a list of inputs, as a sequence."""
    parts = several(value)
    if not parts or isinstance(parts[0], str | os.PathLike):
        return parts  # type: ignore[no-any-return]
    from robustcs.inputs.objects import is_records

    return (value,) if is_records(value, by_turn) else parts  # type: ignore[no-any-return]


def _at(keyword: str, place: int, parts: Sequence[Any]) -> str:
    return f"{keyword}[{place}]" if len(parts) > 1 else keyword


#: All keys outside the tables of studies.
_KEYS = {"original", "qr", "human", "groups", *_POLICY, *_SETTINGS,
         *(source.key for source in SOURCES if source.table in ("", "formulations") and source.key != "run")}  # fmt: skip
