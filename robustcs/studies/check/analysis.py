"""The result of a check: content of each file, missing turns, and share of judged passages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robustcs.errors import Problem
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix
from robustcs.result import Result, count, flag, number, share, table, text

#: Cutoffs of the shares of judged passages.
JUDGED_AT = (3, 10)


@dataclass(frozen=True)
class Check(Result):
    """Inputs of a project, and whether they fit together.

    problems
        Problems of files, and the number of all problems, including those not listed.
    without_input
        Command → the input that it needs, in words; commands without any such input.
    """

    study = "check"
    files = table(
        "files", "Content of each file.",
        text("role", header="Role"), text("path", header="File"), count("rows", "null if the file is unusable"),
        text("problem", "problem of the file; null if there is none"),
        count("skipped", "unusable rows (texts, answers and so on), which were skipped"),
    )  # fmt: skip
    runs = table(
        "runs", "How the runs fit the judgments.",
        text("system", header="System"), count("turns", "judged turns that the run answers", "answered", "turns"),
        count("missing", "judged turns that the run does not answer", "missing", "turns"),
        count("extra", "turns of the run without judgments", "extra", "turns"),
        count("depth_min", "passages per answered turn", "min", "passages per turn"),
        number("depth_median", "", "median", "passages per turn"), count("depth_max", "", "max", "passages per turn"),
        *(share(f"judged_{k}", f"share of the top {k} passages that is judged", f"top {k}", "judged") for k in JUDGED_AT),
    )  # fmt: skip
    texts = table(
        "texts", "How the texts fit the judgments (without qrels: the per-turn scores), per formulation and set of"
        " additional questions.",
        text("formulation", header="Texts"), count("texts", "turns with a text", "with text", "turns"),
        count("without", "judged (scored) turns without a text; null without qrels and scores", "missing", "turns"),
        count("extra", "turns with a text that are not judged (scored); null without qrels and scores", "extra", "turns"),
        count("unanswered", "turns that the run does not answer; all turns if there is no run; null if the run cannot be"
              " read, and if there are scores or answers instead", "without run", "turns"),
        count("unchanged", "judged (scored) turns whose text equals the Original; without qrels and scores, of all turns;"
              " null without Original texts", "equal to Original"),
    )  # fmt: skip
    commands = table(
        "commands", "Which commands can run on these inputs.",
        text("command", header="Command"), flag("runs"), text("because", "missing input; null if the command can run"),
        text("give", "how to provide it; null if the command can run"),
    )  # fmt: skip
    skipped = table(
        "skipped", "Unusable rows, which were skipped; the first 1,000 of each file.",
        text("role", header="Role"), text("path", header="File"),
        count("line", "null in JSON other than JSONL", "Line"), text("why", "problem of the row", "Problem"),
    )  # fmt: skip

    problems: tuple[tuple[Problem, ...], int] = ((), 0)
    without_input: Mapping[str, str] = field(default_factory=dict)


def text_rows(
    texts: Mapping[str, Mapping[str, str]],
    covered: Mapping[str, Collection[str]],
    turns: Sequence[str],
) -> list[tuple[Any, ...]]:
    """Return the rows of ``texts``: how these texts, by formulation and turn, fit the judged or scored ``turns``.

    ``covered``: formulation → the turns that its run answers, if known.
    """
    judged = set(turns)
    original = texts.get("original", {})
    rows = []
    for formulation, known in texts.items():
        equal = [
            turn
            for turn in known.keys() & original.keys()
            if known[turn].strip() == original[turn].strip()
        ]
        same = len(judged.intersection(equal) if turns else equal) if original else None
        without, extra = (
            (len(judged - known.keys()), len(known.keys() - judged)) if turns else (None, None)
        )
        lacking = (
            sum(turn not in covered[formulation] for turn in known)
            if formulation in covered
            else None
        )
        rows.append((formulation, len(known), without, extra, lacking, same))
    return rows


def run_row(matrix: GradeMatrix) -> tuple[Any, ...]:
    """Return the row of a run: how it fits the judgments."""
    covered = matrix.retrieved[~matrix.missing]
    depths = (
        (int(covered.min()), float(np.median(covered)), int(covered.max()))
        if len(covered)
        else (0, 0.0, 0)
    )
    shares = []
    for k in JUDGED_AT:
        top = matrix.grades[:, :k]
        retrieved = int((top > ABSENT).sum())
        shares.append(int((top > UNJUDGED).sum()) / retrieved if retrieved else np.nan)
    return (
        matrix.name,
        len(covered),
        int(matrix.missing.sum()),
        matrix.extra_turns,
        *depths,
        *shares,
    )
