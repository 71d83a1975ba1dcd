"""A proposed ``robustcs.toml`` and its text; for ``robustcs init``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robustcs.project.scan import Folder, short_names
from robustcs.project.toml import quoted, toml_key, toml_text
from robustcs.wording import counted

#: Order of the keys and tables in a project file; commented lines for [judges] follow at the end.
_ORDER = (
    "name", "qrels", "new_judgments", "gold", "answer_similarity", "paraphrases", "collection", "metrics", "thresholds",
    "policy", "formulations", "runs", "components", "groups", "answers", "clariq", "agreement", "crowd", "review", "judges",
)  # fmt: skip
_COMMENTS: Mapping[tuple[str, ...], str] = {
    ("new_judgments",): "for robustcs augment",
    ("thresholds",): "scores of correct answers",
    ("policy", "documents"): "runs rank passages DOC-N, qrels judge documents DOC: the best passage counts",
    ("runs",): "Other systems, for commands that compare any runs.",
    ("judges",): "Judges of the same passages, usually models; robustcs audit compares them with the qrels.",
    ("answers",): "Answers of systems, and the snippets or nuggets that they should contain.",
    ("clariq",): "Clarifying questions; their turns are topics.",
    ("agreement",): "Annotations; several files count as one.",
    ("crowd",): "Grades of crowd workers, or judgments made from them.",
    ("review",): "Turns that coders reviewed in the page of a report.",
}


@dataclass
class Proposal:
    """A proposed project file.

    values, comments
        The content of the project file; path of a key or a table → the comment on it.
    by_models
        Judgments that a model seems to have made, which are not used: file → evidence.
    """

    folder: Folder
    values: dict[str, Any] = field(default_factory=dict)
    comments: dict[tuple[str, ...], str] = field(default_factory=lambda: dict(_COMMENTS))
    by_models: dict[str, str] = field(default_factory=dict)

    def put(self, key: Sequence[str], value: object, comment: str = "") -> None:
        """Set a value; ``key`` is its path, such as ``("formulations", "qr", "run")``."""
        table = self.values
        for name in key[:-1]:
            table = table.setdefault(name, {})
        table[key[-1]] = value
        if comment:
            self.comments[tuple(key)] = comment

    def use(self, key: Sequence[str], path: str, why: str, comment: str = "") -> None:
        """Set a value to a file, or to a list if several files are read together; ``why`` tells what determined this."""
        files = self.folder.together(path)
        self.put(key, files if len(files) > 1 else path, comment)
        self.take(key, files, why)

    def take(self, key: Sequence[str], files: Sequence[str], why: str) -> None:
        """Record that a key names these files."""
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
    parts = folder.aside.keys() - {file.path for file in folder.files}
    lines += [f"# Not used: {part}: {folder.aside[part]}" for part in sorted(parts) if part.partition(":")[0] in folder.taken]
    if made.by_models and "qrels" not in made.values:
        lines.append("# qrels = …  # human judgments; the files here seem to be model judgments, see [judges]")
    values = {"name": name, **made.values}
    text = toml_text({key: values[key] for key in _ORDER if key in values}, comments=made.comments)
    lines += ["", text.rstrip()]
    if made.by_models:
        lines += [] if "judges" in values else ["", "# [judges]"]
        lines.append("# Not used as qrels; if a model made it, name it here:")
        for short, (path, evidence) in zip(short_names(list(made.by_models)), made.by_models.items(), strict=True):
            lines.append(f"# {toml_key(short)} = {quoted(path)}  # {evidence}")
    return "\n".join(lines) + "\n"


def explanation(made: Proposal) -> str:
    """Return the key of each used file, and why others are ignored: two lines per file."""
    parts = []
    for head, files in (("Used", made.folder.taken), ("Ignored", made.folder.aside)):
        if files:
            parts += [head, *(f"  {path}\n    {why}" for path, why in sorted(files.items())), ""]
    return "\n".join(parts).rstrip()
