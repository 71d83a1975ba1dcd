"""``robustcs.toml``: which files a project has, and under which policy they are evaluated.

Paths are relative to the file's folder. Every key can be left out; options of the command line win over the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from robustcs.errors import ProblemList, UsageError
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.inputs.files import read_text
from robustcs.inputs.qrels import IRDS_PREFIX
from robustcs.policy import EvaluationPolicy
from robustcs.project.files import protect_inputs
from robustcs.project.model import (
    FORMULATION_FILES,
    AgreementFiles,
    ClariqFiles,
    CrowdFiles,
    Formulation,
    Project,
    Role,
    TextSource,
    parse_role,
    parse_text_source,
)
from robustcs.project.toml import DEEPEST, deep_line, key_lines, read_toml, too_deep
from robustcs.protected import CONFIG_NAME, protect
from robustcs.retrieval.settings import RetrievalSettings, from_table

T = TypeVar("T")


def _keys(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def read_project(path: str | os.PathLike[str]) -> Project:
    """Read a ``robustcs.toml``; from now on neither it nor any file that it names is written to.

    Raises :class:`InputError` with every unknown key and wrong value of the file, each with its line.
    """
    protect([path])
    text = read_text(path)
    problems = ProblemList(path)
    data = read_toml(path, text)
    reader = _Reader(text, Path(path).parent, problems)
    reader.check_values(data)
    problems.raise_if_any()
    project = reader.project(data)
    problems.raise_if_any()
    protect_inputs(project)
    return project


@dataclass(frozen=True)
class _Table:
    """One table of the file; ``path`` are the keys that lead to it."""

    values: dict[str, Any]
    path: tuple[str, ...] = ()


class _Reader:
    """Turns the parsed TOML into a project and collects what is wrong with it."""

    def __init__(self, text: str, folder: Path, problems: ProblemList):
        self.text = text
        self.lines = key_lines(text)
        self.folder = folder
        self.problems = problems

    def check_values(self, values: dict[str, Any]) -> None:
        """Note what no value of a project may be, so that everything can be counted, named and printed.

        Raises :class:`InputError` for tables and lists inside each other without end.
        """
        left: list[tuple[tuple[str, ...], Any, int]] = [((), values, 0)]
        while left:
            path, value, depth = left.pop()
            if depth > DEEPEST:
                raise too_deep(self.problems.path, deep_line(self.text))
            if path and "\0" in path[-1]:
                self._note(path, "a name has a NUL character", "write another one")
            if isinstance(value, dict):
                left += [((*path, key), inner, depth + 1) for key, inner in reversed(value.items())]
            elif isinstance(value, list):
                left += [(path, inner, depth + 1) for inner in reversed(value)]
            elif isinstance(value, int) and value.bit_length() > 63:
                self._note(path, f"{path[-1]} is a number of more than 64 bits", "write a smaller one")
            elif isinstance(value, str) and "\0" in value:
                self._note(path, f"{path[-1]} has a NUL character", "no file can have this name; write another text")

    def project(self, values: dict[str, Any]) -> Project:
        data = _Table(values)
        self._known(data, _keys(Project))
        formulations = {}
        tables = self._table(data, "formulations")
        for key in tables.values:
            try:
                role, name = parse_role(key)
            except UsageError as error:
                self._problem(tables, key, error.found, error.advice)
                continue
            formulations[key] = self._formulation(role, name, self._table(tables, key))
        return Project(
            name=self._text(data, "name") or self.folder.resolve().name,
            qrels=self._judgments(data),
            new_judgments=self._path(data, "new_judgments"),
            gold=self._path(data, "gold"),
            answer_similarity=self._path(data, "answer_similarity"),
            paraphrases=self._path(data, "paraphrases"),
            collection=self._path(data, "collection"),
            formulations=formulations,
            runs=self._named_paths(data, "runs"),
            texts=self._sources(self._table(data, "texts")),
            raw_texts=self._sources(self._table(data, "raw_texts")),
            groups=self._groups(self._table(data, "groups")),
            retrieval=self._optional(data, "retrieval", self._retrieval),
            clariq=self._optional(data, "clariq", self._clariq),
            agreement=self._optional(data, "agreement", self._agreement),
            crowd=self._optional(data, "crowd", self._crowd),
            metrics=self._parsed(data, "metrics", parse_measure),
            thresholds=self._parsed(data, "thresholds", parse_threshold),
            policy=self._policy(self._table(data, "policy")),
            seed=self._number(data, "seed", 0),
        )

    def _formulation(self, role: Role, name: str, table: _Table) -> Formulation:
        self._known(table, FORMULATION_FILES)
        return Formulation(
            role,
            name,
            run=self._path(table, "run"),
            scores=self._path(table, "scores"),
            answers=self._path(table, "answers"),
            rewrites=tuple(parse_text_source(text, self.folder) for text in self._list(table, "rewrites")),
        )

    def _groups(self, tables: _Table) -> dict[str, Group]:
        groups = {}
        for name in tables.values:
            table = self._table(tables, name)
            self._known(table, _keys(Group))
            baseline, sets = self._text(table, "baseline"), self._list(table, "sets")
            if baseline is None or not sets:
                found = f"group {name!r} lacks a baseline or sets"
                self._problem(tables, name, found, "write baseline and sets, names of runs")
            else:
                groups[name] = Group(baseline, sets)
        return groups

    def _sources(self, table: _Table) -> dict[str, TextSource]:
        return {name: parse_text_source(text, self.folder) for name, text in self._texts(table).items()}

    def _retrieval(self, table: _Table) -> RetrievalSettings | None:
        keys = _keys(RetrievalSettings)
        self._known(table, keys)
        try:
            return from_table({key: value for key, value in table.values.items() if key in keys}, self.folder)
        except UsageError as error:
            self._problem(table, error.found.split()[0], error.found, error.advice)
            return None

    def _clariq(self, table: _Table) -> ClariqFiles:
        self._known(table, _keys(ClariqFiles))
        return ClariqFiles(
            topics=self._path(table, "topics"),
            questions=self._path(table, "questions"),
            runs=self._named_paths(table, "runs"),
            performance=self._path(table, "performance"),
            evaluations=self._named_paths(table, "evaluations"),
            qrels=self._judgments(table),
            needs=self._named_paths(table, "needs"),
            preferences=self._path(table, "preferences"),
            conversations=self._path(table, "conversations"),
        )

    def _agreement(self, table: _Table) -> AgreementFiles:
        self._known(table, _keys(AgreementFiles))
        groups = self._table(table, "groups")
        return AgreementFiles(
            snippets=self._paths(table, "snippets"),
            reference=self._paths(table, "reference"),
            ratings=self._paths(table, "ratings"),
            majority=self._number(table, "majority", 1, 1) if "majority" in table.values else None,
            min_agreement=self._share(table, "min_agreement", AgreementFiles.min_agreement),
            groups={name: self._list(groups, name) for name in groups.values},
        )

    def _crowd(self, table: _Table) -> CrowdFiles:
        self._known(table, _keys(CrowdFiles))
        return CrowdFiles(
            grades=self._path(table, "grades"),
            gold_checks=self._path(table, "gold_checks"),
            tolerance=self._number(table, "tolerance", CrowdFiles.tolerance),
            bank=self._path(table, "bank"),
            qrels=self._judgments(table),
            subset=self._path(table, "subset"),
            runs=self._named_paths(table, "runs"),
            depth=self._number(table, "depth", CrowdFiles.depth, 1),
            relevance_level=self._number(table, "relevance_level", CrowdFiles.relevance_level, 1),
        )

    def _policy(self, table: _Table) -> EvaluationPolicy:
        self._known(table, _keys(EvaluationPolicy))
        policy = EvaluationPolicy()
        for key in _keys(EvaluationPolicy):
            if key not in table.values:
                continue
            numeric = key in ("relevance_level", "depth")
            change: dict[str, Any] = {key: self._number(table, key, 1) if numeric else table.values[key]}
            try:
                policy = replace(policy, **change)
            except UsageError as error:
                self._problem(table, key, error.found, error.advice)
        return policy

    def _known(self, table: _Table, keys: tuple[str, ...]) -> None:
        for key in table.values:
            if key not in keys:
                place = f" in [{_header(table.path)}]" if table.path else ""
                self._problem(table, key, f"unknown key {key!r}{place}", f"the keys are {', '.join(keys)}")

    def _table(self, table: _Table, key: str) -> _Table:
        value = table.values.get(key, {})
        path = (*table.path, key)
        if isinstance(value, dict):
            return _Table(value, path)
        self._problem(table, key, f"{key} is not a table", f"write [{_header(path)}] above its keys")
        return _Table({}, path)

    def _optional(self, table: _Table, key: str, read: Callable[[_Table], T]) -> T | None:
        return read(self._table(table, key)) if key in table.values else None

    def _text(self, table: _Table, key: str) -> str | None:
        value = table.values.get(key)
        if value is None or (isinstance(value, str) and value):
            return value
        self._problem(table, key, f"{key} is {value!r}", "write a text in quotes")
        return None

    def _texts(self, table: _Table) -> dict[str, str]:
        return {key: text for key in table.values if (text := self._text(table, key)) is not None}

    def _path(self, table: _Table, key: str) -> Path | None:
        text = self._text(table, key)
        return None if text is None else self.folder / text

    def _paths(self, table: _Table, key: str) -> tuple[Path, ...]:
        value = table.values.get(key, [])
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str) and item for item in values):
            self._problem(table, key, f"{key} is {value!r}", "write a text in quotes, or a list of them")
            return ()
        return tuple(self.folder / text for text in values)

    def _named_paths(self, table: _Table, key: str) -> dict[str, Path]:
        return {name: self.folder / path for name, path in self._texts(self._table(table, key)).items()}

    def _judgments(self, table: _Table) -> Path | str | None:
        text = self._text(table, "qrels")
        return text if text is None or text.startswith(IRDS_PREFIX) else self.folder / text

    def _list(self, table: _Table, key: str) -> tuple[str, ...]:
        value = table.values.get(key, [])
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str | int | float) and not isinstance(item, bool) for item in values):
            self._problem(table, key, f"{key} is {value!r}", "write a list of texts in quotes")
            return ()
        return tuple(str(item) for item in values)

    def _parsed(self, table: _Table, key: str, parse: Callable[[str], object]) -> tuple[str, ...]:
        values = self._list(table, key)
        for value in values:
            try:
                parse(value)
            except UsageError as error:
                self._problem(table, key, error.found, error.advice)
        return values

    def _number(self, table: _Table, key: str, default: int, least: int = 0) -> int:
        value = table.values.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        self._problem(table, key, f"{key} is {value!r}", f"write a whole number from {least}")
        return default

    def _share(self, table: _Table, key: str, default: float) -> float:
        value = table.values.get(key, default)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return value
        self._problem(table, key, f"{key} is {value!r}", "write a number from 0 to 1")
        return default

    def _problem(self, table: _Table, key: str, found: str, advice: str) -> None:
        self._note((*table.path, key), found, advice)

    def _note(self, path: tuple[str, ...], found: str, advice: str) -> None:
        while path and path not in self.lines:
            path = path[:-1]  # inside a value, such as an inline table
        self.problems.add(self.lines.get(path), found, advice, "bad-config")


def _header(path: tuple[str, ...]) -> str:
    return ".".join(key if re.fullmatch(r"[\w-]+", key) else f'"{key}"' for key in path)


def find_project(config: str | None) -> Project:
    """The project of ``config``, else of the ``robustcs.toml`` in this folder, else an empty one."""
    if config is not None:
        return read_project(config)
    if Path(CONFIG_NAME).is_file():
        return read_project(CONFIG_NAME)
    return Project()
