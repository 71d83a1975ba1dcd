"""A proposed ``robustcs.toml`` and its text; for ``robustcs init``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from robustcs.project.scan import Folder
from robustcs.project.toml import toml_key, toml_text
from robustcs.wording import counted

#: Tables in the order of a project file → the comment on each.
_TABLES = {
    "qrels": "The qrels list relevant passages only. Other selections: pool, filtered, clicks.",
    "policy": "",
    "formulations": "",
    "runs": "Other systems, for commands that compare any runs.",
    "components": "Runs that cross wordings with rankers, WORDING/RANKER.",
    "judges": "Judges of the same passages, usually models; robustcs audit compares them with the qrels.",
    "groups": "",
    "clariq": "Clarifying questions; their turns are topics.",
    "answers": "Answers of systems, and the snippets or nuggets that they should contain.",
    "agreement": "Annotations; several files count as one.",
    "crowd": "Grades of crowd workers, or judgments made from them.",
    "review": "Turns that coders reviewed in the page of a report.",
}


@dataclass
class Proposal:
    """A proposed project file.

    values, comments
        The content of the project file; path of a key or a table → the comment on it.
    """

    folder: Folder
    values: dict[str, Any] = field(default_factory=dict)
    comments: dict[tuple[str, ...], str] = field(default_factory=dict)

    def put(self, key: Sequence[str], value: object, comment: str = "") -> None:
        """Set a value; ``key`` is its path, such as ``("formulations", "qr", "run")``."""
        table = self.values
        for name in key[:-1]:
            table = table.setdefault(name, {})
        table[key[-1]] = value
        if comment:
            self.comments[tuple(key)] = comment

    def use(self, key: Sequence[str], path: str, why: str, comment: str = "") -> None:
        """Set a value to a file and the files that are read together with it; ``why`` tells what determined this."""
        files = self.folder.together(path)
        self.use_all(key, files, files, why, comment)

    def use_all(self, key: Sequence[str], values: Sequence[str], files: Sequence[str], why: str, comment: str = "") -> None:
        """Set a value to one text or a list, and record that it names these files."""
        self.put(key, list(values) if len(values) > 1 else values[0], comment)
        where = f"[{'.'.join(map(toml_key, key[:-1]))}] {key[-1]}" if key[1:] else key[0]
        for file in files:
            self.folder.take(file, f"{where}, {why}")


def write_config(made: Proposal, name: str) -> str:
    """Return the text of a robustcs.toml, with comments on what was guessed."""
    folder = made.folder
    lines = [
        "# Inputs and settings for robustcs, guessed by robustcs init. Review them, then run robustcs check.",
        "# Paths are relative to this file. Options of a command take precedence over this file.",
    ]
    if folder.aside:
        lines.append(f"# {counted(len(folder.aside), 'file')} ignored; robustcs init --why lists them with reasons.")
    lines += [f"# Not used: {path}: {folder.aside[path]}" for path in folder.told]
    tables = {table: made.values[table] for table in _TABLES if table in made.values}
    comments = {(table,): about for table, about in _TABLES.items() if about} | made.comments
    return "\n".join([*lines, "", toml_text({"name": name} | made.values | tables, comments=comments)])


def explanation(made: Proposal) -> str:
    """Return the key of each used file, and why others are ignored: two lines per file."""
    parts = []
    for head, files in (("Used", made.folder.taken), ("Ignored", made.folder.aside)):
        if files:
            parts += [head, *(f"  {path}\n    {why}" for path, why in sorted(files.items())), ""]
    return "\n".join(parts).rstrip()
