"""Reading ``robustcs.toml``: the files of a project and the policy for their evaluation.

Paths are relative to the file's folder. All keys are optional. Options of the command line take precedence over the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar, get_args

from robustcs.errors import ProblemList, UntrustedError, UsageError
from robustcs.evaluation.groups import Group
from robustcs.inputs.paths import StrPath, located, pooled, refusal_of, url_of
from robustcs.inputs.text import read_text
from robustcs.overwrite_guard import CONFIG_NAME, TRUST, confine, is_inside, is_trusted, protect
from robustcs.policy import EvaluationPolicy
from robustcs.project.collections import samples_of
from robustcs.project.marks import MARK, marks_in
from robustcs.project.model import (
    FORMULATION_FILES,
    STUDY_TABLES,
    Formulation,
    Project,
    Role,
    Selection,
    input_files,
    new_judgment_files,
    parse_role,
    parse_text_source,
    protect_inputs,
)
from robustcs.project.overrides import files, group_of, placed, with_policy
from robustcs.project.sources import BY_NAME, SOURCES, Source, settings_of, several, text_of
from robustcs.project.toml import DEEPEST, TOO_DEEP, key_lines, read_toml, toml_key
from robustcs.retrieval.settings import RetrievalSettings, from_table

T = TypeVar("T")
#: ``run`` may be a list, with one run per sample.
_SEVERAL_RUNS = replace(BY_NAME["run"], shape="several")
#: Largest number of characters in the name of a system, a group or a key.
_LONGEST_NAME = 1000


def _keys(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def read_project(path: StrPath, trust: bool = False) -> Project:
    """Read a ``robustcs.toml`` and protect it and all files that it names from being overwritten.

    Without ``trust`` (or :func:`~robustcs.overwrite_guard.trust_projects`) the file may not name URLs, pipes, devices, or
    output paths outside its folder. Raises :class:`UntrustedError`, which lists each of these, and :class:`InputError`, which
    lists each unknown key and invalid value with its line.
    """
    protect([path])
    text = read_text(path)
    problems = ProblemList(path)
    data = read_toml(path, text)
    reader = _ProjectReader(text, Path(path).parent, problems)
    reader.check_values(data)
    problems.raise_if_any()
    project = reader.project(data)
    problems.raise_if_any()
    trust = trust or is_trusted()
    if reader.untrusted.total and not trust:
        raise UntrustedError(reader.untrusted.problems, reader.untrusted.total)
    for key, part in project.formulations.items():  # runs that answer different turns are one
        if part.run is not None and part.sample_runs:
            first, *others = samples_of([part.run, *part.sample_runs])
            project = project.with_formulation(
                key, run=first, sample_runs=tuple(others), scores=part.scores
            )
    protect_inputs(project)
    confine(reader.folder, [*input_files(project), *new_judgment_files(project)], trust)
    return project


@dataclass(frozen=True)
class _Table:
    """One table of the file; ``path`` is the sequence of keys that leads to it."""

    values: dict[str, Any]
    path: tuple[str, ...] = ()


class _ProjectReader:
    """Converts parsed TOML to a project and collects problems; ``untrusted`` lists what only a trusted project may name."""

    def __init__(self, text: str, folder: Path, problems: ProblemList):
        self.text = text
        self.folder = folder
        self.problems = problems
        self.untrusted = ProblemList(problems.path)

    @cached_property
    def lines(self) -> dict[tuple[str, ...], int]:
        """The line of each key; only messages need it."""
        return key_lines(self.text)

    def check_values(self, values: dict[str, Any]) -> None:
        """Note values that no project may contain: deep nesting, NUL characters, very long names, and very large numbers."""
        left: list[tuple[tuple[str, ...], Any, int]] = [((), values, 0)]
        while left:
            path, value, depth = left.pop()
            if depth > DEEPEST:
                self._note(path, TOO_DEEP, "check this line")
                continue
            if path and len(path[-1]) > _LONGEST_NAME:
                self._note(
                    path,
                    f"a name has {len(path[-1]):,} characters",
                    f"use at most {_LONGEST_NAME:,}",
                )
            if isinstance(value, dict):
                left += [((*path, key), inner, depth + 1) for key, inner in reversed(value.items())]
            elif isinstance(value, list):
                left += [(path, inner, depth + 1) for inner in reversed(value)]
            elif isinstance(value, int) and value.bit_length() > 63:
                self._note(
                    path, f"{path[-1]} is a number of more than 64 bits", "write a smaller number"
                )
            elif "\0" in f"{''.join(path)}{value}":
                self._note(path, f"{path[-1]} contains a NUL character", "remove it")
            elif isinstance(value, str) and path != ("name",):
                self._check_place(path, value)

    def _check_place(self, path: tuple[str, ...], text: str) -> None:
        """Note a URL, a pipe or a device, whichever key names it."""
        with suppress(OSError):  # a text that is not a file name
            url = url_of(located(text, self.folder))
            source = parse_text_source(text, self.folder).path
            if url is not None and (rejection := refusal_of(url)):
                self._note(path, f"{path[-1]} = {url}: {rejection[0]}", rejection[1])
            elif url is not None:
                self._need_trust(path, f"{path[-1]} = {url} would be fetched")
            elif os.path.exists(source) and not (os.path.isfile(source) or os.path.isdir(source)):
                self._need_trust(path, f"{path[-1]} = {text} is a pipe or a device")

    def project(self, values: dict[str, Any]) -> Project:
        found: dict[str, Any] = {"name": self.folder.resolve().name}
        if isinstance(values.get("qrels"), dict):
            found |= self._qrels(
                self._table(_Table(values), "qrels", ("file", "selection", "source"))
            )
            values = {key: value for key, value in values.items() if key != "qrels"}
        data = _Table(values)
        self._known(
            data,
            tuple(
                key
                for key in _keys(Project)
                if key not in ("qrels_selection", "qrels_source", "marks")
            ),
        )
        tables = self._table(data, "formulations")
        roles = {
            key: self._checked(_Table({key: key}, tables.path), key, parse_role)
            for key in tables.values
        }
        found["formulations"] = {
            key: self._formulation(*one, tables, key) for key, one in roles.items() if one
        }
        found["groups"] = self._groups(self._table(data, "groups"))
        found["policy"] = self._policy(self._table(data, "policy", _keys(EvaluationPolicy)))
        found |= self._values(data, "")
        for name, kind in STUDY_TABLES.items():
            if name in values:
                found[name] = kind(**self._values(self._table(data, name, _keys(kind)), name))
        if "retrieval" in values:
            found["retrieval"] = self._retrieval(
                self._table(data, "retrieval", _keys(RetrievalSettings))
            )
        return Project(**found, marks=marks_in(self.text) if MARK in self.text else ())

    def _qrels(self, table: _Table) -> dict[str, Any]:
        """Return the values of ``[qrels]`` with file, selection and source."""
        selection, known, found = table.values.get("selection", "pool"), get_args(Selection), {}
        if (
            "file" in table.values
            and (value := self._one(table, "file", BY_NAME["qrels"])) is not None
        ):
            found["qrels"] = files(BY_NAME["qrels"], value, self.folder)
        if selection not in known:
            advice = f"write how passages were selected for judging: {', '.join(known[:-1])} or {known[-1]}"
            self._note((*table.path, "selection"), f"selection is {selection!r}", advice)
        source = table.values.get("source", "")
        if source not in ("", "people", "model", "mixed"):
            advice = "write who made the judgments: people, model or mixed"
            self._note((*table.path, "source"), f"source is {source!r}", advice)
        return {**found, "qrels_selection": selection, "qrels_source": source}

    def _values(self, table: _Table, of: str) -> dict[str, Any]:
        """Return the sources and settings of a table, without absent keys and invalid values."""
        found = {}
        for source in SOURCES:
            key, sampled = (
                source.key,
                source.name == "run" and isinstance(table.values.get("run"), list),
            )
            if source.table != of or key not in table.values or sampled:
                continue
            if source.shape in ("named", "texts"):
                named = self._table(table, key)
                every = {name: self._one(named, name, source) for name in named.values}
                value: Any = {name: one for name, one in every.items() if one is not None}
            else:
                value = self._one(table, key, source)
            if value is not None:
                place = of == "formulations"
                found[key] = (
                    placed(source, key, value, "", self.folder)
                    if place
                    else files(source, value, self.folder)
                )
        for key, setting in settings_of(of).items():
            if (value := self._checked(table, key, setting.checked)) is not None:
                found[key] = value
        return found

    def _one(self, table: _Table, key: str, source: Source) -> Any:
        """Read one file, or several in its place: a list, or a table by name of collection."""
        value = table.values[key]
        if source.joins and isinstance(value, dict) and value:
            inner = self._table(table, key)
            named = {
                name: text
                for name in value
                if (text := self._checked(inner, name, partial(text_of, name)))
            }
            if source.key != "qrels" or not named:
                return list(named.values()) or None
            return pooled(
                [files(source, text, self.folder) for text in named.values()], tuple(named)
            )
        many = source.shape in ("several", "role texts") or (
            source.joins and isinstance(value, list) and value
        )
        return self._checked(table, key, partial(_texts_of if many else text_of, key))

    def _checked(self, table: _Table, key: str, check: Callable[[Any], T]) -> T | None:
        """Return a value as ``check`` does; None if it is absent, or invalid, which is a problem of its line."""
        try:
            return check(table.values[key]) if key in table.values else None
        except UsageError as error:
            self._note((*table.path, key), error.found, error.advice)
            return None

    def _formulation(self, role: Role, name: str, tables: _Table, key: str) -> Formulation:
        table = self._table(tables, key, FORMULATION_FILES)
        found, runs = self._values(table, "formulations"), table.values.get("run")
        if isinstance(runs, list) and (texts := self._one(table, "run", _SEVERAL_RUNS)):
            paths = [located(text, self.folder) for text in texts]
            first, *others = paths if role == "qr" else [pooled(paths)]
            found |= {"run": first, "sample_runs": tuple(others)}
        if role != "qr" and found.get("samples"):
            self._note(
                (*table.path, "samples"),
                f"samples of {name}",
                "write samples only for a rewriter (qr or qr:NAME)",
            )
        return Formulation(role, name, **found)

    def _groups(self, tables: _Table) -> dict[str, Group]:
        groups = {}
        for name in tables.values:
            table = self._table(tables, name, _keys(Group))
            given = partial(group_of, name, table.values.get("baseline"))
            if group := self._checked(
                _Table({name: table.values.get("sets")}, tables.path), name, given
            ):
                groups[name] = group
        return groups

    def _retrieval(self, table: _Table) -> RetrievalSettings | None:
        known = {
            key: value for key, value in table.values.items() if key in _keys(RetrievalSettings)
        }
        try:
            settings = from_table(known, self.folder)
        except UsageError as error:
            self._note((*table.path, error.found.split()[0]), error.found, error.advice)
            return None
        # an existing index is only read
        index = None if settings.index.exists() else settings.index
        for key, place in (
            ("index", index),
            ("folder", settings.folder),
            ("store", settings.store),
        ):
            if place is not None and not is_inside(place, self.folder):
                self._need_trust(
                    (*table.path, key),
                    f"{key} = {place}: would be written outside the project folder",
                )
        return settings

    def _policy(self, table: _Table) -> EvaluationPolicy:
        policy = EvaluationPolicy()
        for key in _keys(EvaluationPolicy):
            policy = (
                self._checked(table, key, partial(with_policy, policy, key, folder=self.folder))
                or policy
            )
        return policy

    def _known(self, table: _Table, keys: tuple[str, ...]) -> None:
        for key in table.values:
            if key not in keys:
                place = f" in [{toml_key(*table.path)}]" if table.path else ""
                self._note(
                    (*table.path, key),
                    f"unknown key {key!r}{place}",
                    f"choose from {', '.join(keys)}",
                )

    def _table(self, table: _Table, key: str, keys: tuple[str, ...] = ()) -> _Table:
        """Return an inner table; note a value in its place, and keys that are not among ``keys``, if given."""
        inner = _Table(table.values.get(key, {}), (*table.path, key))
        if not isinstance(inner.values, dict):
            self._note(
                inner.path,
                f"{key} is not a table",
                f"write [{toml_key(*inner.path)}] above its keys",
            )
            inner = _Table({}, inner.path)
        if keys:
            self._known(inner, keys)
        return inner

    def _note(self, path: tuple[str, ...], found: str, advice: str) -> None:
        self.problems.add(self._line(path), found, advice, "bad-config")

    def _need_trust(self, path: tuple[str, ...], found: str) -> None:
        self.untrusted.add(self._line(path), found, TRUST, "not-trusted")

    def _line(self, path: tuple[str, ...]) -> int | None:
        while path and path not in self.lines:
            path = path[:-1]  # inside a value, such as an inline table
        return self.lines.get(path)


def _texts_of(key: str, value: Any) -> list[str]:
    values: list[str] = several(value)
    if all(isinstance(item, str) and item for item in values):
        return values
    raise UsageError("bad-type", f"{key} is {value!r}", "write a text in quotes, or a list of them")


def find_project(config: str | None, trust: bool = False) -> Project:
    """Read the project of ``config``, else of ``robustcs.toml`` in the current folder; else return an empty project.

    See :func:`read_project`.
    """
    if config is None and not Path(CONFIG_NAME).is_file():
        return Project()
    return read_project(CONFIG_NAME if config is None else config, trust)
