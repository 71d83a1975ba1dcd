"""``robustcs.toml``: which files a project has, and under which policy they are evaluated.

Paths are relative to the file's folder. Every key can be left out; options of the command line win over the file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from robustcs.errors import ProblemList, UsageError
from robustcs.inputs.files import read_text
from robustcs.inputs.qrels import IRDS_PREFIX
from robustcs.policy import EvaluationPolicy

CONFIG_NAME = "robustcs.toml"
Role = Literal["original", "qr", "human"]
ROLES: tuple[Role, ...] = ("original", "qr", "human")

_TOP = (
    "name", "qrels", "new_judgments", "gold", "paraphrases", "collection", "metrics", "thresholds", "seed",
    "policy", "formulations", "runs", "groups",
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
class Group:
    """Systems that are compared with one baseline, such as paraphrase sets with the original turns; all by name."""

    baseline: str
    sets: tuple[str, ...]


@dataclass(frozen=True)
class Project:
    """Everything a command may need; absent parts are None or empty.

    formulations
        Key (``original``, ``qr``, ``qr:NAME``, ``human``) → formulation.
    runs
        Further systems, name → file.
    groups
        Group name → baseline and sets; names of formulations or of runs.
    new_judgments
        Judgments that could join the qrels.
    paraphrases
        Paraphrases of the turns, in the ECAsT form.
    collection
        The passages' texts.
    """

    name: str = "robustcs"
    qrels: Path | str | None = None
    new_judgments: Path | None = None
    gold: Path | None = None
    paraphrases: Path | None = None
    collection: Path | None = None
    formulations: Mapping[str, Formulation] = field(default_factory=dict)
    runs: Mapping[str, Path] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    policy: EvaluationPolicy = EvaluationPolicy()
    seed: int = 0

    @property
    def systems(self) -> dict[str, Path]:
        """Every run, name → file: those of the formulations first, then the further ones."""
        own = {part.name: part.run for part in self.formulations.values() if part.run}
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
        problems.add(int(found[1]) if found else None, f"not TOML ({error})", "check this line", "not-toml")
        problems.raise_if_any()
    reader = _Reader(text, Path(path).parent, problems)
    project = reader.project(data)
    problems.raise_if_any()
    return project


class _Reader:
    """Turns the parsed TOML into a project and collects what is wrong with it."""

    def __init__(self, text: str, folder: Path, problems: ProblemList):
        self.lines = text.splitlines()
        self.folder = folder
        self.problems = problems

    def project(self, data: dict[str, Any]) -> Project:
        self._known(data, _TOP, "")
        qrels = self._text(data, "qrels")
        formulations = {}
        for key, table in self._table(data, "formulations").items():
            try:
                role, name = parse_role(key)
            except UsageError as error:
                self._problem(key, str(error.found), error.advice)
                continue
            if not isinstance(table, dict):
                self._problem(key, f"{key} is not a table", f'write [formulations."{key}"] above its keys')
                continue
            formulations[key] = self._formulation(role, name, table, key)
        return Project(
            name=self._text(data, "name") or self.folder.resolve().name,
            qrels=qrels if qrels is None or qrels.startswith(IRDS_PREFIX) else self.folder / qrels,
            new_judgments=self._path(data, "new_judgments"),
            gold=self._path(data, "gold"),
            paraphrases=self._path(data, "paraphrases"),
            collection=self._path(data, "collection"),
            formulations=formulations,
            runs={name: self.folder / path for name, path in self._texts(self._table(data, "runs")).items()},
            groups=self._groups(self._table(data, "groups")),
            metrics=self._list(data, "metrics"),
            thresholds=self._list(data, "thresholds"),
            policy=self._policy(self._table(data, "policy")),
            seed=self._number(data, "seed", 0),
        )

    def _formulation(self, role: Role, name: str, table: dict[str, Any], key: str) -> Formulation:
        self._known(table, _FORMULATION, f'formulations."{key}"')
        return Formulation(
            role,
            name,
            run=self._path(table, "run"),
            scores=self._path(table, "scores"),
            answers=self._path(table, "answers"),
            rewrites=tuple(parse_text_source(text, self.folder) for text in self._list(table, "rewrites")),
        )

    def _groups(self, tables: dict[str, Any]) -> dict[str, Group]:
        groups = {}
        for name in tables:
            table = self._table(tables, name)
            self._known(table, _GROUP, f"groups.{name}")
            baseline, sets = self._text(table, "baseline"), self._list(table, "sets")
            if baseline is None or not sets:
                self._problem(name, f"group {name!r} lacks a baseline or sets", "write baseline and sets, names of runs")
            else:
                groups[name] = Group(baseline, sets)
        return groups

    def _policy(self, table: dict[str, Any]) -> EvaluationPolicy:
        self._known(table, _POLICY, "policy")
        try:
            return EvaluationPolicy(**{key: value for key, value in table.items() if key in _POLICY})
        except UsageError as error:
            self._problem(error.slug.removeprefix("bad-").replace("-", "_"), error.found, error.advice)
        except TypeError:
            self._problem("policy", "a policy value is of the wrong kind", "relevance_level and depth are whole numbers")
        return EvaluationPolicy()

    def _known(self, table: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
        for key in table:
            if key not in keys:
                place = f" in [{where}]" if where else ""
                self._problem(key, f"unknown key {key!r}{place}", f"the keys are {', '.join(keys)}")

    def _table(self, data: dict[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        if isinstance(value, dict):
            return value
        self._problem(key, f"{key} is not a table", f"write [{key}] above its keys")
        return {}

    def _text(self, table: dict[str, Any], key: str) -> str | None:
        value = table.get(key)
        if value is None or (isinstance(value, str) and value):
            return value
        self._problem(key, f"{key} is {value!r}", "write a text in quotes")
        return None

    def _texts(self, table: dict[str, Any]) -> dict[str, str]:
        return {key: text for key in table if (text := self._text(table, key)) is not None}

    def _path(self, table: dict[str, Any], key: str) -> Path | None:
        text = self._text(table, key)
        return None if text is None else self.folder / text

    def _list(self, table: dict[str, Any], key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str | int | float) and not isinstance(item, bool) for item in values):
            self._problem(key, f"{key} is {value!r}", "write a list of texts in quotes")
            return ()
        return tuple(str(item) for item in values)

    def _number(self, table: dict[str, Any], key: str, default: int) -> int:
        value = table.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self._problem(key, f"{key} is {value!r}", "write a whole number from 0")
        return default

    def _problem(self, key: str, found: str, advice: str) -> None:
        pattern = re.compile(rf"\s*(\[.*)?[\"']?{re.escape(key)}[\"']?\s*[=\].]")
        line = next((number for number, text in enumerate(self.lines, 1) if pattern.match(text)), None)
        self.problems.add(line, found, advice, "bad-config")


def find_project(config: str | None) -> Project:
    """The project of ``config``, else of the ``robustcs.toml`` in this folder, else an empty one."""
    if config is not None:
        return read_project(config)
    if Path(CONFIG_NAME).is_file():
        return read_project(CONFIG_NAME)
    return Project()
