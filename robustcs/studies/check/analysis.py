"""Do the inputs fit together? What each file holds, which turns are missing, how much is judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robustcs.errors import Problem
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix
from robustcs.lazy import pd
from robustcs.result import Evaluated, Result, TableSpec, count, flag, number, share, table, text

#: Cut-offs of the judged shares.
JUDGED_AT = (3, 10)


@dataclass(frozen=True)
class Check(Result):
    """What there is and how it fits.

    problems
        What is wrong with files, and the number of all problems (those not listed included).
    """

    study = "check"
    declared = (
        table(
            "files", "What each file holds.",
            text("role", header="Role"), text("path", header="File"), count("rows", "null where it cannot be used"),
            text("problem", "what is wrong with it; null where it is fine"),
            count("skipped", "rows (texts, answers and so on) that cannot be used, and were skipped"),
        ),
        table(
            "runs", "How the runs fit the judgments.",
            text("run", header="Run"), count("turns", "judged turns that it has passages for", "there", "turns"),
            count("missing", "judged turns that it lacks", "missing", "turns"),
            count("extra", "turns that nobody judged", "extra", "turns"),
            count("depth_min", "passages per answered turn", "min", "passages per turn"),
            number("depth_median", "", "median", "passages per turn"), count("depth_max", "", "max", "passages per turn"),
            *(share(f"judged_{k}", f"judged of the passages in the top {k}", f"top {k}", "judged") for k in JUDGED_AT),
        ),
        table(
            "texts", "How the texts fit the judgments (without qrels: the per-turn scores), for each formulation and set of"
            " further questions.",
            text("formulation", header="Texts"), count("texts", "", "there", "turns"),
            count("without", "judged (scored) turns without a text; null without qrels and scores", "missing", "turns"),
            count("extra", "turns with a text that are not judged (scored); null without qrels and scores", "extra", "turns"),
            count("unanswered", "turns that its run lacks, all of them without a run; null where its run cannot be read, and"
                  " where it has scores or answers instead", "without a run", "turns"),
            count("unchanged", "judged (scored) turns whose text equals the Original, of all turns where there are neither"
                  " qrels nor scores; null without Original texts", "equal to Original"),
        ),
        table(
            "commands", "Which commands can run on these inputs.",
            text("command", header="Command"), flag("runs"), text("because", "what it lacks; null where it runs"),
            text("give", "what to do about it; null where it runs"),
        ),
        table(
            "skipped", "Rows that cannot be used and were skipped, the first 1,000 of a file.",
            text("role", header="Role"), text("path", header="File"),
            count("line", "null in JSON that is no JSONL", "Line"), text("why", "what is wrong with it", "Why"),
        ),
    )  # fmt: skip

    files: pd.DataFrame
    runs: pd.DataFrame
    texts: pd.DataFrame
    commands: pd.DataFrame
    skipped: pd.DataFrame
    problems: tuple[tuple[Problem, ...], int] = ((), 0)


def check(
    evaluated: Evaluated,
    files: Sequence[Mapping[str, Any]],
    skipped: Sequence[Mapping[str, Any]],
    matrices: Sequence[GradeMatrix],
    texts: Mapping[str, Mapping[str, str]],
    answered: Mapping[str, Collection[str]],
    turns: Sequence[str],
    commands: Sequence[tuple[str, bool, str | None, str | None]],
    problems: tuple[tuple[Problem, ...], int] = ((), 0),
) -> Check:
    """Describe files, runs and texts against the judged or scored ``turns``; nothing is changed and nothing is scored.

    ``texts``: formulation → turn → text; ``answered``: formulation → the turns that its run answers, where that is known;
    ``skipped``, ``commands``: rows of the tables of these names.
    """
    runs = [_run(matrix) for matrix in matrices]
    judged = set(turns)
    original = texts.get("original", {})
    rows = []
    for formulation, known in texts.items():
        equal = [turn for turn in known.keys() & original.keys() if known[turn].strip() == original[turn].strip()]
        same = len(judged.intersection(equal) if turns else equal) if original else None
        without, extra = (len(judged - known.keys()), len(known.keys() - judged)) if turns else (None, None)
        lacking = sum(turn not in answered[formulation] for turn in known) if formulation in answered else None
        rows.append((formulation, len(known), without, extra, lacking, same))
    tables = {"files": files, "runs": runs, "texts": rows, "commands": commands, "skipped": skipped}
    frames = {spec.name: _whole(spec, spec.frame(tables[spec.name])) for spec in Check.declared}
    return Check(evaluated, **frames, problems=problems)


def _whole(spec: TableSpec, frame: pd.DataFrame) -> pd.DataFrame:
    """Counts as whole numbers, also where some are unknown."""
    return frame.astype({field.name: "Int64" for field in spec.fields if field.kind == "integer"})


def _run(matrix: GradeMatrix) -> tuple[Any, ...]:
    answered = matrix.retrieved[~matrix.missing]
    depths = (int(answered.min()), float(np.median(answered)), int(answered.max())) if len(answered) else (0, 0.0, 0)
    shares = []
    for k in JUDGED_AT:
        top = matrix.grades[:, :k]
        retrieved = int((top > ABSENT).sum())
        shares.append(int((top > UNJUDGED).sum()) / retrieved if retrieved else np.nan)
    return (matrix.name, len(answered), int(matrix.missing.sum()), matrix.extra_turns, *depths, *shares)
