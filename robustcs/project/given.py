"""A project with inputs in place of what its file says: those of the command line and those of Python alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.thresholds import Threshold, parse_threshold
from robustcs.inputs.irds import IRDS_PREFIX
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import STUDY_TABLES, Project, TextSource, parse_role, parse_text_source
from robustcs.project.sources import BY_NAME, Source

_POLICY = tuple(field.name for field in fields(EvaluationPolicy))


def with_inputs(project: Project, inputs: Mapping[str, Any], table: str = "") -> Project:
    """The project with ``inputs`` (key → value) in place of what it has.

    Values are paths; for several files a mapping by name or role, or a sequence. Inside ``table``, the table of a study with
    turns of its own, its keys come first.

    Raises :class:`UsageError` for an unknown key, role or value.
    """
    own = {field.name for field in fields(STUDY_TABLES[table])} if table else set()
    inside = {key: value for key, value in inputs.items() if key in own}
    for key, value in inputs.items():
        if key not in own:
            project = _with(project, key, value)
    if not inside:
        return project
    files = getattr(project, table) or STUDY_TABLES[table]()
    placed = {key: _value(BY_NAME.get(f"{table}.{key}"), value) for key, value in inside.items()}
    return replace(project, **{table: files.given(**placed)})


def _with(project: Project, key: str, value: Any) -> Project:
    if key in ("original", "human"):
        return project.with_formulation(key, run=Path(value))
    if key == "qr":
        named = value if isinstance(value, Mapping) else {"": value}
        for name, path in named.items():
            project = project.with_formulation(f"qr:{name}" if name else "qr", run=Path(path))
        return project
    if key in _POLICY:
        policy: dict[str, Any] = {key: value}
        return replace(project, policy=replace(project.policy, **policy))
    if key in _SETTINGS:
        return replace(project, **{key: _SETTINGS[key](value)})
    source = BY_NAME.get(key)
    if source is None or key == "run":
        raise UsageError("no-such-input", f"no input is named {key!r}", "help(robustcs.open_project) lists them")
    placed = _value(source, value)
    if source.table != "formulations":
        return replace(project, **{key: placed})
    for role, one in placed.items():
        if (key, role) == ("scores", "answers"):
            project = replace(project, answer_similarity=one)
            continue
        parse_role(role)
        project = project.with_formulation(role, **{key: one})
    return project


def _value(source: Source | None, value: Any) -> Any:
    """A value as the project holds it; settings as they are."""
    if source is None:
        if isinstance(value, Mapping):  # groups of ratings
            return {name: tuple(map(str, members)) for name, members in value.items()}
        return value
    if source.shape == "one":
        return _path(source, value)
    if source.shape == "several":
        return tuple(_path(source, one) for one in several(value))
    if source.shape == "role texts":
        return {role: tuple(_texts(one) for one in several(given)) for role, given in value.items()}
    if source.shape == "texts":
        return {name: _texts(given) for name, given in value.items()}
    return {name: Path(path) for name, path in value.items()}


def _path(source: Source, value: Any) -> Path | str:
    return str(value) if source.irds and str(value).startswith(IRDS_PREFIX) else Path(value)


def _texts(given: Any) -> TextSource:
    return given if isinstance(given, TextSource) else parse_text_source(str(given))


def several(value: Any) -> Sequence[Any]:
    """One value, or several of them, as several."""
    return value if isinstance(value, list | tuple) else (value,)


def _measures(value: Any) -> tuple[Measure, ...]:
    return tuple(one if isinstance(one, Measure) else parse_measure(str(one)) for one in several(value))


def _thresholds(value: Any) -> tuple[Threshold, ...]:
    return tuple(one if isinstance(one, Threshold) else parse_threshold(str(one)) for one in several(value))


def _groups(value: Mapping[str, Any]) -> dict[str, Group]:
    return {name: group if isinstance(group, Group) else Group(group[0], tuple(group[1])) for name, group in value.items()}


#: What is no file: key → how it is placed.
_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "groups": _groups, "metrics": _measures, "thresholds": _thresholds,
    "seed": lambda value: value, "name": lambda value: value,
}  # fmt: skip
