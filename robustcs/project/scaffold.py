"""Text of a first ``robustcs.toml`` from the guessed roles of files; for ``robustcs init``."""

from __future__ import annotations

import json

from robustcs.project.guess import Guess, Part
from robustcs.project.model import ROLES
from robustcs.project.scan import short_names
from robustcs.project.toml import quoted, toml_key
from robustcs.wording import counted

#: Comments above the tables of studies with separate turns.
_ABOUT = {
    "clariq": "# Clarifying questions; their turns are topics.",
    "agreement": "# Annotations; several files count as one.",
    "answers": "# Answers of systems, and the snippets or nuggets that they should contain.",
    "review": "# Turns that coders reviewed in the page of a report.",
    "crowd": "# Grades of crowd workers, or judgments made from them.",
}


def write_config(made: Guess, name: str) -> str:
    """Return the text of a robustcs.toml, with comments on what was guessed."""
    left = len(made.folder.aside)
    lines = [
        "# Inputs and settings for robustcs, guessed by robustcs init. Review them, then run robustcs check.",
        "# Paths are relative to this file. Options of a command take precedence over this file.",
    ]
    if left:
        lines.append(f"# {counted(left, 'file')} ignored; robustcs init --why lists them with reasons.")
    lines += ["", f"name = {quoted(name)}"]
    if made.qrels and not made.positives:
        advice = "# If passages were not selected for judging by pooling runs, write [qrels] with file and selection instead."
        lines += [f"qrels = {_files(made, made.qrels)}  # {made.says}", advice]
    if made.by_models and not made.qrels:
        lines.append("# qrels = …  # human judgments; the files here seem to be model judgments, see [judges]")
    if made.new_judgments:
        new = made.new_judgments
        lines.append(f"new_judgments = {quoted(new[0]) if len(new) == 1 else _list(new)}  # for robustcs augment")
    lines += [f"{key} = {quoted(path) if key == 'collection' else _files(made, path)}" for key, path in made.files.items()]
    scored = bool(made.qrels or any(part.scores for part in made.formulations.values()))
    if scored:
        lines += ["", f"metrics = {_list(made.metrics)}", 'thresholds = [">0", ">=0.5", "=1"]  # scores of correct answers']
    if made.qrels and made.positives:
        lines += ["", "# The qrels list relevant passages only. Other selections: pool, filtered, clicks.", "[qrels]"]
        lines += [f"file = {_files(made, made.qrels)}  # {made.says}", 'selection = "positives"']
    if made.qrels:
        lines += ["", "[policy]", f"relevance_level = {made.level[0]}  # {_level(made)}"]
    if made.documents:
        lines.append("documents = true  # runs rank passages DOC-N, qrels judge documents DOC: the best passage counts")
    for key in sorted(made.formulations, key=lambda key: (ROLES.index(key.partition(":")[0]), key)):
        lines += _formulation(made, key, made.formulations[key])
    if made.folder.unusable:
        lines += ["", *(f"# Not used: {named}: {why}" for named, why in made.folder.unusable.items())]
    if made.runs:
        about = f". {made.ranker}" if made.ranker else ", for commands that compare any runs."
        lines += ["", f"# Other systems{about}", "[runs]"]
        lines += [f"{toml_key(system)} = {_files(made, path)}" for system, path in made.runs.items()]
    if made.components:
        about = f"# Runs that cross wordings with rankers, WORDING/RANKER; the wording was recognised {made.grid}."
        lines += ["", about, "[components]"]
        lines += [f"{quoted(cell)} = {_files(made, path)}" for cell, path in made.components.items()]
    if made.judges:
        lines += ["", "# Judges of the same passages, usually models; robustcs audit compares them with the qrels.", "[judges]"]
        lines += [f"{toml_key(judge)} = {quoted(path)}" for judge, path in made.judges.items()]
    if made.by_models:
        lines += [] if made.judges else ["", "# [judges]"]
        lines.append("# Not used as qrels; if a model made it, name it here:")
        for name, (path, evidence) in zip(short_names(list(made.by_models)), made.by_models.items(), strict=True):
            lines.append(f"# {toml_key(name)} = {quoted(path)}  # {evidence}")
    for group, (baseline, sets) in made.groups.items():
        lines += ["", f"[groups.{toml_key(group)}]  # paraphrases of {baseline.capitalize()}, by their file names",
                  f"baseline = {quoted(baseline)}", f"sets = {_list(sets)}"]  # fmt: skip
    for table, values in made.tables.items():
        lines += ["", _ABOUT[table], f"[{table}]"]
        lines += [f"{key} = {_list(value) if isinstance(value, list) else quoted(value)}"
                  for key, value in values.items() if not isinstance(value, dict)]  # fmt: skip
        for key, named in values.items():
            if isinstance(named, dict):
                lines += [f"[{table}.{key}]", *(f"{toml_key(system)} = {_files(made, path)}" for system, path in named.items())]
    return "\n".join(lines) + "\n"


def explanation(made: Guess) -> str:
    """Return the role of each used file, and why others are ignored: two lines per file."""
    parts = []
    for head, files in (("Used", made.folder.taken), ("Ignored", made.folder.aside | made.folder.unusable)):
        if files:
            parts += [head, *(f"  {path}\n    {why}" for path, why in sorted(files.items())), ""]
    return "\n".join(parts).rstrip()


def _level(made: Guess) -> str:
    level, collection = made.level
    if collection:
        return f"for binary measures, as in {collection} (recognised by passage ids)"
    return "for binary measures; CAsT and iKAT use 2"


def _formulation(made: Guess, key: str, part: Part) -> list[str]:
    role, _, name = key.partition(":")
    lines = ["", f"[formulations.{role}]" if not name else f"[formulations.{quoted(key)}]"]
    for what in ("run", "scores"):
        path = getattr(part, what)
        if path:
            value = _files(made, path, *(part.sample_runs if what == "run" else ()))
            why = [part.why, "one run per sample" if part.sample_runs else ""]
            lines.append(f"{what} = {value}" + (f"  # {'; '.join(filter(None, why))}" if any(why) else ""))
    if part.answers:
        lines.append(f"answers = {quoted(part.answers)}")
    if part.rewrites:
        lines.append(f"rewrites = {_files(made, part.rewrites)}" + (f"  # {part.texts_why}" if part.texts_why else ""))
        if part.samples:
            lines.append(f"samples = {_files(made, *part.samples)}  # texts of further samples")
    elif role == "qr" and part.run:
        lines.append("# rewrites = …  # the texts of this run are unknown")
    return lines


def _files(made: Guess, *paths: str) -> str:
    """Return the file, or the list of all files that are read together with these."""
    every = [one for path in paths for one in made.folder.joined.get(path, [path])]
    return _list(every) if len(every) > 1 else quoted(every[0])


def _list(values: list[str] | tuple[str, ...]) -> str:
    return json.dumps(list(values), ensure_ascii=False)
