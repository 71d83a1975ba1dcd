"""A first ``robustcs.toml`` from the files of a folder; for ``robustcs init``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from robustcs.errors import InputError
from robustcs.inputs.annotations import read_annotations
from robustcs.inputs.kinds import Kind, first_cells, kind_of
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.texts import read_texts
from robustcs.project.model import Role
from robustcs.protected import CONFIG_NAME

#: Parts of file names that tell a formulation.
_WORDS: dict[Role, tuple[str, ...]] = {
    "original": ("original", "raw"),
    "human": ("human", "manual", "oracle"),
    "qr": ("qr", "auto", "automatic", "rewrite", "rewrites", "rewriter", "rewritten", "t5", "transformer", "cv", "model"),
}
#: Columns of files that hold several formulations: CAsT topics, the JSONL of ConversationQueryRewriter, CANARD, TSV.
_COLUMNS: dict[Role, tuple[str, ...]] = {
    "original": ("raw", "input", "Question", "original"),
    "qr": ("automatic", "output"),
    "human": ("manual", "target", "Rewrite"),
}
#: Larger trees are not what somebody means by a folder of inputs.
_MOST_FILES = 2000

#: "unrelated" runs answer other turns than those that are judged; "sentences" are snippets of sentences beside those of
#: paragraphs, which are another task.
FoundKind = Kind | Literal["unrelated", "sentences"]
Found = Mapping[FoundKind, list[str]]


def find_inputs(folder: Path) -> dict[FoundKind, list[str]]:
    """Kind → files of that kind below ``folder``, as relative paths in alphabetical order; hidden ones are left out.

    Pipes, sockets and devices are never opened: reading one may wait for ever, or take what somebody else waits for.
    Runs whose first turns do not stand in the qrels, such as those of another collection in a subfolder, are ``unrelated``.
    Annotations of sentences are ``sentences`` where there are some of paragraphs: ``robustcs agreement`` pools no two tasks.
    """
    found: dict[FoundKind, list[str]] = {}
    count = 0
    for directory, folders, files in os.walk(folder):
        # a folder with a robustcs.toml is a project of its own
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not (Path(directory) / name / CONFIG_NAME).exists()
        )
        for name in sorted(files):
            count += 1
            if name.startswith(".") or name == CONFIG_NAME or count > _MOST_FILES:
                continue
            path = Path(directory) / name
            kind = kind_of(path) if path.is_file() else None
            if kind == "texts" and re.search("answer|predict", path.relative_to(folder).as_posix().lower()):
                kind = "answers"  # {turn: text} may be either
            if kind:
                found.setdefault(kind, []).append(path.relative_to(folder).as_posix())
    judged = judged_turns(folder, found)
    unrelated = [path for path in found.get("run", []) if judged and judged.isdisjoint(first_cells(folder / path))]
    if unrelated:
        found["run"] = [path for path in found["run"] if path not in unrelated]
        found["unrelated"] = unrelated
    sentences = [path for path in found.get("snippets", []) if _of_sentences(folder / path)]
    if 0 < len(sentences) < len(found["snippets"]):
        found["snippets"] = [path for path in found["snippets"] if path not in sentences]
        found["sentences"] = sentences
    return found


def _of_sentences(path: Path) -> bool:
    """Whether all texts of a file of annotations are sentences; not where it cannot be read, which the command will tell."""
    try:
        texts, _ = read_annotations(path)
    except InputError:
        return False
    return {text.unit for text in texts.values()} == {"sentence"}


def _chosen_qrels(judgments: list[str]) -> str | None:
    """The first file that is named so, else the first."""
    return next((path for path in judgments if "qrel" in Path(path).name.lower()), judgments[0] if judgments else None)


def judged_turns(folder: Path, found: Found) -> set[str]:
    """The turns of the qrels that :func:`write_config` will name; none where there are no readable ones."""
    qrels = _chosen_qrels(found.get("qrels", []))
    try:
        return set(read_qrels(folder / qrels).turns) if qrels else set()
    except InputError:
        return set()


def role_of(path: str) -> Role | None:
    """The formulation that a file's name speaks of; paraphrase sets (``manual_1``) are none."""
    stem = Path(path).name.split(".")[0].lower()
    words = re.split(r"[^a-z0-9]+", stem)
    if words[-1].isdigit():
        return None
    return next((role for role, known in _WORDS.items() if set(words) & set(known)), None)


def write_config(found: Found, name: str, texts: Mapping[Role, str] | None = None) -> str:
    """The text of a robustcs.toml for the files found; comments say what to look at."""
    runs = found.get("run", [])
    chosen = _one_per_role(runs)
    scores = _one_per_role(found.get("scores", [])) if not chosen else {}
    answers = _one_per_role(found.get("answers", []))
    texts = texts or {}
    judgments = found.get("qrels", [])
    qrels = _chosen_qrels(judgments)
    others = [path for path in judgments if path != qrels]

    lines = [
        "# What robustcs evaluates, and how. Paths are relative to this file; options of a command win over it.",
        "# Written by robustcs init from the files it found: check the roles, then run robustcs check.",
        "",
        f"name = {_quoted(name)}",
        _line("qrels", qrels, "qrels.txt"),
    ]
    lines += [f"# also judgments, by their looks: {path}" for path in others]
    new = next((path for path in others if "new" in Path(path).name.lower()), None)
    lines.append(_line("new_judgments", new, "new_judgments.txt"))
    gold = next((path for path in found.get("answers", []) if "gold" in Path(path).name.lower()), None)
    for key, path in (
        ("gold", gold),
        ("paraphrases", next(iter(found.get("paraphrases", [])), None)),
        ("collection", next(iter(found.get("collection", [])), None)),
    ):
        if path:
            lines.append(f"{key} = {_quoted(path)}")
    lines += [
        "",
        "# Measures as trec_eval or ir_measures name them; thresholds say when an answer is correct.",
        'metrics = ["P_1", "ndcg_cut_3"]',
        'thresholds = [">0", ">=0.5", "=1"]',
        "seed = 0",
        "",
        "[policy]",
        "relevance_level = 1  # binary measures: relevant from this grade; CAsT uses 2",
        'missing = "zero"     # a judged turn that a run lacks scores 0; or "drop"',
        'order = "score"      # by score, ties by document id descending; or "rank"',
        "# depth = 1000       # evaluate only the top of every turn",
    ]
    for role in ("original", "qr", "human"):
        parts = {"run": chosen.get(role), "scores": scores.get(role), "answers": answers.get(role)}
        lines += ["", f"[formulations.{role}]"]
        lines += [f"{key} = {_quoted(path)}" for key, path in parts.items() if path]
        if not any(parts.values()):
            lines.append('# run = "…"  # no file was recognised for this role')
        if role in texts:
            lines.append(f"rewrites = {_quoted(texts[role])}  # must be the questions that were answered")
    further = [path for path in runs if path not in chosen.values()]
    if further:
        lines += ["", "# Further systems, for the commands that compare any runs.", "[runs]"]
        lines += [f"{_quoted(system)} = {_quoted(path)}" for system, path in _named(further).items()]
    lines += _other_studies(found)
    used = {text.rpartition(":")[0] or text for text in texts.values()} | {*texts.values(), *scores.values(), *answers.values()}
    spare = [path for kind in ("texts", "scores", "answers") for path in found.get(kind, []) if path not in used | {gold}]
    if spare:
        lines += ["", "# Also texts, scores or answers, by their looks, and not used above:"]
        lines += [f"# {path}" for path in spare]
    lines += [f"# left out, since the qrels judge none of its turns: {path}" for path in found.get("unrelated", [])]
    return "\n".join(lines) + "\n"


def _other_studies(found: Found) -> list[str]:
    """The tables of clarifying questions, annotations and crowd judgments."""
    lines = []
    for path in found.get("clariq topics", [])[:1]:
        lines += ["", "# Clarifying questions; add what systems did: runs, performance, evaluations, needs, preferences.",
                  "[clariq]", f"topics = {_quoted(path)}"]  # fmt: skip
    snippets, ratings = found.get("snippets", []), found.get("ratings", [])
    references = [path for path in snippets if re.search("expert|reference|gold", Path(path).name.lower())]
    grades = [path for path in ratings if "grade" in Path(path).name.lower()][:1]
    agreement = {
        "snippets": [path for path in snippets if path not in references],
        "reference": references,
        "ratings": [path for path in ratings if path not in grades],
    }
    if any(agreement.values()):
        lines += ["", "# Annotations, several files taken together.", "[agreement]"]
        lines += [f"{key} = {json.dumps(paths, ensure_ascii=False)}" for key, paths in agreement.items() if paths]
    lines += [f"# left out, since it annotates sentences, another task: {path}" for path in found.get("sentences", [])]
    for path in grades:
        lines += ["", "# Grades of crowd workers; add gold_checks, bank, runs.", "[crowd]", f"grades = {_quoted(path)}"]
    return lines


def _one_per_role(paths: list[str]) -> dict[str, str]:
    """The first file of every role, in alphabetical order."""
    by_role: dict[str, list[str]] = {}
    for path in paths:
        role = role_of(path)
        if role:
            by_role.setdefault(role, []).append(path)
    return {role: files[0] for role, files in by_role.items()}


def find_texts(folder: Path, paths: list[str], judged: Collection[str] = ()) -> dict[Role, str]:
    """Role → ``FILE`` or ``FILE:COLUMN`` with texts of that formulation, read to be sure.

    For Original and Human the file counts that has the texts of most ``judged`` turns (of most turns, where none are judged): a
    turn without both is lost to whatever asks what needed rewriting. Of equal ones, and for a rewriter, whose texts must be
    those that its run answered, a file with several formulations, such as CAsT topics, comes before files that are named after
    a role. For a rewriter the file must be looked at: names do not say whose texts they are.
    """
    texts: dict[Role, str] = {}
    for role, columns in _COLUMNS.items():
        tried = [(path, column) for column in columns for path in paths] + [
            (path, None) for path in paths if role_of(path) == role
        ]
        most = 0
        for path, column in tried:
            try:
                turns = read_texts(folder / path, role, column).keys()
            except InputError:
                continue
            count = len(turns & set(judged)) if judged else len(turns)
            if role not in texts or count > most:
                texts[role], most = path if column is None else f"{path}:{column}", count
            if role == "qr" or most == len(judged):
                break
    return texts


def _named(paths: list[str]) -> dict[str, str]:
    """A short name for every run: its file name without suffixes, or the whole path where two would be equal."""
    stems = [Path(path).name.split(".")[0] for path in paths]
    return {stem if stems.count(stem) == 1 else path: path for stem, path in zip(stems, paths, strict=True)}


def _line(key: str, path: str | None, example: str) -> str:
    return f"{key} = {_quoted(path)}" if path else f"# {key} = {_quoted(example)}"


def _quoted(text: str) -> str:
    # a JSON string is a TOML string
    return json.dumps(text, ensure_ascii=False)
