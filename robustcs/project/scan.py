"""The files of a folder: their kinds by content, and the words of their names and folders."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from robustcs.errors import InputError
from robustcs.inputs.paths import pooled
from robustcs.inputs.sniff import Identified, Kind, identify
from robustcs.inputs.text import line_chunks
from robustcs.overwrite_guard import CONFIG_NAME
from robustcs.project.marks import Mark
from robustcs.project.model import Role
from robustcs.project.report_files import files_of_report
from robustcs.project.toml import toml_key

T = TypeVar("T")

#: Words of names that indicate a formulation.
WORDS: dict[Role, frozenset[str]] = {
    "original": frozenset(("original", "raw", "lastturn")),
    "human": frozenset(("human", "manual", "oracle", "resolved")),
    "qr": frozenset((
        "qr", "auto", "automatic", "rewrite", "rewrites", "rewriter", "rewritten", "t5", "transformer", "cv", "model",
    )),
}  # fmt: skip
#: Words of file names that only indicate runs or scores.
_RUNS = frozenset((
    "data", "eval", "evaluation", "file", "files", "metrics", "out", "output", "outputs", "prediction", "predictions",
    "ranking", "rankings", "res", "result", "results", "run", "runs", "scores", "test", "trec",
))  # fmt: skip
#: All words that do not name a system.
_PLAIN = _RUNS | {
    "q",
    "queries",
    "query",
    "question",
    "questions",
    "text",
    "texts",
    "topics",
    "turn",
    "turns",
    "utterance",
}
#: Largest number of files to read; larger trees are unlikely to be a folder of inputs.
MOST_FILES = 2000


@dataclass(frozen=True, eq=False)
class ScannedFile:
    """One file, or files of several collections that are read together.

    paths
        Paths relative to the scanned folder.
    what
        Kind by the content; None if no reader recognises it.
    name
        The path that names it, without the words of a collection.
    """

    paths: tuple[str, ...]
    what: Identified | None
    name: str

    @property
    def path(self) -> str:
        """The first path, which identifies it."""
        return self.paths[0]

    @property
    def stem(self) -> str:
        """The name without folders and suffixes."""
        return Path(self.name).name.split(".")[0]

    @property
    def words(self) -> list[str]:
        """The words of the name and its folders."""
        return words_of(self.name)

    def is_a(self, kind: Kind) -> bool:
        """Return whether it can be read as this kind."""
        return self.what is not None and kind in self.what.kinds


@dataclass
class Proposal:
    """The files of a folder, the roles that ``robustcs init`` assigns to them, and the project file that it proposes.

    values, comments
        The content of the project file; path of a key or a table → the comment on it.
    taken, aside, told
        Used files → role; ignored files, or parts of files (``FILE:FORMULATION``) → reason; those to tell in any case.
    marks
        Keys whose role only the name of a file suggests.
    offered
        Sentences on other files that could have a role, and on runs that do not have the role of their name.
    grid, doubt
        Runs whose names alone suggest that they cross wordings with rankers, WORDING/RANKER → file; why their rankings do not.
    turns
        The project's turns, if any file of rankings, scores or texts tells them.
    """

    folder: Path
    files: list[ScannedFile] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    comments: dict[tuple[str, ...], str] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    grid: dict[str, str | list[str]] = field(default_factory=dict)
    doubt: str = ""
    turns: Sequence[str] = ()

    def of(self, *kinds: Kind) -> list[ScannedFile]:
        """Return the undecided files of these kinds; files that are primarily of another kind come last."""
        decided = self.taken.keys() | self.aside.keys()
        some = [
            file for file in self.files if file.path not in decided and any(map(file.is_a, kinds))
        ]
        return sorted(some, key=lambda file: file.what is not None and file.what.kind not in kinds)

    def place(self, file: ScannedFile) -> Path:
        """Return the path of a file."""
        return pooled([self.folder / path for path in file.paths])  # type: ignore[no-any-return]

    def read(self, file: ScannedFile, read: Callable[[Path], T], tell: bool = False) -> T | None:
        """Return what a reader makes of a file; None if it cannot be read. ``tell``: record why."""
        try:
            return read(self.place(file))
        except InputError as error:
            if tell:
                self.leave(file.paths, refusal(error))
            return None

    def leave(self, paths: Iterable[str], why: str, tell: bool = False) -> None:
        """Record that files are ignored; ``tell``: also without --why."""
        for path in paths:
            self.told += [path] if tell else []
            self.aside.setdefault(path, why)

    def put(self, key: Sequence[str], value: object, comment: str = "") -> None:
        """Set a value; ``key`` is its path, such as ``("formulations", "qr", "run")``."""
        table = self.values
        for name in key[:-1]:
            table = table.setdefault(name, {})
        table[key[-1]] = value
        if comment:
            self.comments[tuple(key)] = comment

    def use(
        self, key: Sequence[str], paths: Sequence[str], why: str, comment: str = "", values: Sequence[str] | None = None,
        marked: bool = False,
    ) -> None:  # fmt: skip
        """Set a value to one or several files; ``why`` tells what determined this.

        ``values``: the files as the project file names them, such as ``FILE:FORMULATION``. ``marked``: only the
        name of the file suggests this role.
        """
        self.marks += [tuple(key)] * marked
        values = values or paths
        self.put(key, list(values) if len(values) > 1 else values[0], comment)
        where = f"[{toml_key(*key[:-1])}] {key[-1]}" if key[1:] else key[0]
        for path in paths:
            self.aside.pop(path, None)
            known = f"{self.taken[path]}; " if path in self.taken else ""
            self.taken[path] = f"{known}{where}, {why}"


def reason_of(error: InputError) -> str:
    """Return problem and advice of an error without the file."""
    problem = error.problems[0]
    return "; ".join(filter(None, (problem.found, problem.advice)))


def refusal(error: InputError) -> str:
    """Return why a file is ignored."""
    return f"{'skipped' if error.problems[0].slug == 'too-large' else 'cannot be read'}: {reason_of(error)}"


def look_through(folder: Path) -> Proposal:
    """List all files below ``folder`` in alphabetical order, without hidden files, reports, and subfolders with a project file.

    Pipes, sockets and devices are not opened: reading one could block, or consume data of another program.
    """
    found = Proposal(folder)
    reported: set[Path] = set()
    for directory, folders, files in os.walk(folder):
        here = Path(directory)
        folders[:] = sorted(
            name for name in folders if name[0] != "." and not (here / name / CONFIG_NAME).exists()
        )
        if "report.html" in files:
            reported.update(here / name for name in files_of_report(here))
        links = [name for name in folders if (here / name).is_symlink()]
        for path in (
            here / name
            for name in sorted([*files, *links])
            if name[0] != "." and name != CONFIG_NAME
        ):
            name = path.relative_to(folder).as_posix()
            if path in reported:
                continue
            if len(found.files) + len(found.aside) >= MOST_FILES:
                found.leave([name], f"only the first {MOST_FILES:,} files are read")
            elif not path.is_file():
                found.leave(
                    [name], "a link to a folder, or not a regular file, so it is not opened"
                )
            else:
                try:
                    file = ScannedFile((name,), identify(path), name)
                    if file.what is None:
                        next(line_chunks(path), b"")  # its error is a better reason
                        found.leave([name], "its content is not in a format that robustcs reads")
                    found.files.append(file)
                except InputError as error:
                    found.leave([name], refusal(error))
    return found


def words_of(text: str) -> list[str]:
    """Return the words of a name in lower case."""
    return [word for word in re.split(r"[^a-z0-9]+", text.lower()) if word]


def role_of(name: str) -> Role | None:
    """Return the formulation that a name indicates; None for sets of paraphrases (``manual_1``)."""
    words = words_of(name)
    if not words or words[-1].isdigit():
        return None
    return next((role for role, known in WORDS.items() if known & set(words)), None)


def set_of(name: str) -> Role | None:
    """Return the formulation that a set of paraphrases belongs to: ``human`` for ``stem_manual_1``."""
    words = words_of(name)
    role = role_of(" ".join(words[:-1])) if words and words[-1].isdigit() else None
    return role if role != "qr" else None


def _path_words(path: str) -> list[str]:
    """Return the words of the folders and the stem of a path."""
    return words_of(f"{Path(path).parent} {Path(path).name.split('.')[0]}")


def telling_words(path: str) -> tuple[str, ...]:
    """Return the words of a path that may name a system, without generic ones such as ``run`` and ``query``."""
    return tuple(word for word in _path_words(path) if word not in _PLAIN)


def plain_words(stem: str) -> list[str]:
    """Return the words of a file's own name that name neither a formulation nor a usual content; numbers do not count."""
    known = _PLAIN.union(*WORDS.values())
    return [word for word in words_of(stem) if word not in known and not word.isdigit()]


def run_words(path: str) -> list[str]:
    """Return the words of a path, without those that only indicate runs; a number belongs to the word before it."""
    words: list[str] = []
    for word in _path_words(path):
        if word.isdigit() and words:
            words[-1] += f"_{word}"
        elif word not in _RUNS:
            words.append(word)
    return words


def without_common(names: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Remove the words with which all names start."""
    common = 0
    while len(names) > 1 and all(
        len(words) > common + 1 and words[common] == names[0][common] for words in names
    ):
        common += 1
    return [tuple(words[common:]) for words in names]


def short_names(paths: Sequence[str], tags: Sequence[str] = ()) -> list[str]:
    """Return a unique name for each file: its stem; if that is generic or repeated, the words of its path, or its tag.

    If none of these is unique, the name is the whole path.
    """
    stems = [stem if set(words_of(stem)) - _RUNS else "" for stem in map(_stem, paths)]
    ways = [
        stems,
        ["_".join(telling_words(path)) for path in paths],
        tags or [""] * len(paths),
        paths,
    ]
    names = [
        next(
            way[place]
            for way in ways
            if way is paths or (way[place] and way.count(way[place]) == 1)
        )
        for place in range(len(paths))
    ]
    return [
        name if names.count(name) == 1 else path for name, path in zip(names, paths, strict=True)
    ]


def _stem(path: str) -> str:
    """Return the name of a file up to its first dot; of qrels, what follows: ``gpt4o`` for ``qrels.gpt4o.txt``."""
    first, *further = Path(path).name.removesuffix(".gz").split(".")
    return ".".join(further[:-1]) if first in ("qrel", "qrels") and len(further) > 1 else first
