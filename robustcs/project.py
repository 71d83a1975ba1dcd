"""``robustcs.toml``: which files a project has, and under which policy they are evaluated.

Paths are relative to the file's folder. Every key can be left out; options of the command line win over the file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from robustcs.analyses.groups import Group
from robustcs.errors import ProblemList, UsageError
from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.inputs.files import read_text
from robustcs.inputs.qrels import IRDS_PREFIX
from robustcs.policy import EvaluationPolicy
from robustcs.retrieval.settings import KEYS as _RETRIEVAL
from robustcs.retrieval.settings import RetrievalSettings, from_table

CONFIG_NAME = "robustcs.toml"
Role = Literal["original", "qr", "human"]
ROLES: tuple[Role, ...] = ("original", "qr", "human")

_TOP = (
    "name", "qrels", "new_judgments", "gold", "answer_similarity", "paraphrases", "collection", "metrics", "thresholds", "seed",
    "policy", "formulations", "runs", "texts", "raw_texts", "groups", "retrieval",
)  # fmt: skip
_POLICY = ("relevance_level", "missing", "order", "depth")
_FORMULATION = ("run", "scores", "answers", "rewrites")
_GROUP = ("baseline", "sets")


@dataclass(frozen=True)
class TextSource:
    """A file of question texts and the column to read; None lets the role choose."""

    path: Path
    column: str | None = None


@dataclass(frozen=True)
class Formulation:
    """One formulation of the turns and what answers it. ``name`` is ``original``, ``human`` or the rewriter's name."""

    role: Role
    name: str
    run: Path | None = None
    scores: Path | None = None
    answers: Path | None = None
    rewrites: tuple[TextSource, ...] = ()


@dataclass(frozen=True)
class Project:
    """Everything a command may need; absent parts are None or empty.

    formulations
        Key (``original``, ``qr``, ``qr:NAME``, ``human``) → formulation.
    runs
        Further systems, name → file.
    texts, raw_texts
        Further questions that wait for a run, name → file; raw ones lean on their conversation and go through the rewriter of
        ``retrieval`` first.
    groups
        Group name → baseline and sets; names of formulations or of runs.
    retrieval
        What answers questions that no run answers.
    new_judgments
        Judgments that could join the qrels.
    answer_similarity
        How alike the answers to QR and Human are, per turn, where no runs say so.
    paraphrases
        Paraphrases of the turns, in the ECAsT form.
    collection
        The passages' texts.
    """

    name: str = "robustcs"
    qrels: Path | str | None = None
    new_judgments: Path | str | None = None
    gold: Path | None = None
    answer_similarity: Path | None = None
    paraphrases: Path | None = None
    collection: Path | None = None
    formulations: Mapping[str, Formulation] = field(default_factory=dict)
    runs: Mapping[str, Path] = field(default_factory=dict)
    texts: Mapping[str, TextSource] = field(default_factory=dict)
    raw_texts: Mapping[str, TextSource] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    retrieval: RetrievalSettings | None = None
    metrics: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    policy: EvaluationPolicy = EvaluationPolicy()
    seed: int = 0

    @property
    def systems(self) -> dict[str, Path]:
        """Every run, name → file: those of the formulations first, then the further ones.

        Raises :class:`UsageError` where a further run has the name of a formulation.
        """
        own = {part.name: part.run for part in self.formulations.values() if part.run}
        for name in own.keys() & self.runs.keys():
            raise UsageError("repeated-run", f"a further run is named {name!r}, as a formulation is", "choose another name")
        return {**own, **self.runs}

    def with_formulation(self, key: str, **changes: Any) -> Project:
        """The project with some parts of one formulation replaced; a run takes the place of scores and the reverse."""
        role, name = parse_role(key)
        known = self.formulations.get(key, Formulation(role, name))
        if changes.get("run"):
            changes["scores"] = None
        elif changes.get("scores"):
            changes["run"] = None
        return replace(self, formulations={**self.formulations, key: replace(known, **changes)})


def parse_role(key: str) -> tuple[Role, str]:
    """Role and name of ``original``, ``human``, ``qr`` or ``qr:NAME``. Raises :class:`UsageError` for anything else."""
    role, _, name = key.partition(":")
    if role in ROLES and (not name or role == "qr") and (name or not key.endswith(":")):
        if name in ROLES:
            raise UsageError("bad-role", f"role {key!r} names a rewriter {name!r}", "choose another name")
        return role, name or role  # type: ignore[return-value]
    raise UsageError("bad-role", f"role {key!r}", "write original, qr, human, or qr:NAME for one of several rewriters")


def parse_text_source(text: str, folder: Path = Path()) -> TextSource:
    """``FILE`` or ``FILE:COLUMN``; a colon belongs to the file name where a file of the whole name exists."""
    head, colon, column = text.rpartition(":")
    if not colon or not head or os.sep in column or (folder / text).exists():
        return TextSource(folder / text)
    return TextSource(folder / head, column)


def read_project(path: str | os.PathLike[str]) -> Project:
    """Read a ``robustcs.toml``.

    Raises :class:`InputError` with every unknown key and wrong value of the file, each with its line.
    """
    text = read_text(path)
    problems = ProblemList(path)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line ([0-9]+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1  # else at the end of the file
        problems.add(line, f"not TOML ({error})", "check this line", "not-toml")
        problems.raise_if_any()
    reader = _Reader(text, Path(path).parent, problems)
    project = reader.project(data)
    problems.raise_if_any()
    return project


@dataclass(frozen=True)
class _Table:
    """One table of the file; ``path`` are the keys that lead to it."""

    values: dict[str, Any]
    path: tuple[str, ...] = ()


def _key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Path of every key and table → its line, which tomllib does not tell."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        head = line.partition("=")[0]
        opens_table = head.lstrip().startswith("[")
        try:
            nested: Any = tomllib.loads(line if opens_table else f"{head} = 0")
        except tomllib.TOMLDecodeError:
            continue  # inside a value of several lines
        path = () if opens_table else table
        while isinstance(nested, dict) and nested:
            key, nested = next(iter(nested.items()))
            path = (*path, key)
        table = path if opens_table else table
        for length in range(1, len(path) + 1):
            lines.setdefault(path[:length], number)
    return lines


class _Reader:
    """Turns the parsed TOML into a project and collects what is wrong with it."""

    def __init__(self, text: str, folder: Path, problems: ProblemList):
        self.lines = _key_lines(text)
        self.folder = folder
        self.problems = problems

    def project(self, values: dict[str, Any]) -> Project:
        data = _Table(values)
        self._known(data, _TOP)
        qrels = self._text(data, "qrels")
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
            qrels=qrels if qrels is None or qrels.startswith(IRDS_PREFIX) else self.folder / qrels,
            new_judgments=self._path(data, "new_judgments"),
            gold=self._path(data, "gold"),
            answer_similarity=self._path(data, "answer_similarity"),
            paraphrases=self._path(data, "paraphrases"),
            collection=self._path(data, "collection"),
            formulations=formulations,
            runs={name: self.folder / path for name, path in self._texts(self._table(data, "runs")).items()},
            texts=self._sources(self._table(data, "texts")),
            raw_texts=self._sources(self._table(data, "raw_texts")),
            groups=self._groups(self._table(data, "groups")),
            retrieval=self._retrieval(self._table(data, "retrieval")) if "retrieval" in values else None,
            metrics=self._parsed(data, "metrics", parse_measure),
            thresholds=self._parsed(data, "thresholds", parse_threshold),
            policy=self._policy(self._table(data, "policy")),
            seed=self._number(data, "seed", 0),
        )

    def _formulation(self, role: Role, name: str, table: _Table) -> Formulation:
        self._known(table, _FORMULATION)
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
            self._known(table, _GROUP)
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
        self._known(table, _RETRIEVAL)
        try:
            return from_table({key: value for key, value in table.values.items() if key in _RETRIEVAL}, self.folder)
        except UsageError as error:
            self._problem(table, error.found.split()[0], error.found, error.advice)
            return None

    def _policy(self, table: _Table) -> EvaluationPolicy:
        self._known(table, _POLICY)
        policy = EvaluationPolicy()
        for key in _POLICY:
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

    def _number(self, table: _Table, key: str, default: int) -> int:
        value = table.values.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self._problem(table, key, f"{key} is {value!r}", "write a whole number from 0")
        return default

    def _problem(self, table: _Table, key: str, found: str, advice: str) -> None:
        path = (*table.path, key)
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
