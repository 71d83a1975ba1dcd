"""Do the inputs fit together? What each file holds, which turns are missing, how much is judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix
from robustcs.result import Evaluated, Result

if TYPE_CHECKING:
    import pandas as pd

#: Cut-offs of the judged shares.
JUDGED_AT = (3, 10)


@dataclass(frozen=True)
class Check(Result):
    """What there is and how it fits.

    files
        role, path, rows, problem (None where the file is fine).
    runs
        run, turns (judged turns it answers), missing (judged turns it lacks), extra (turns nobody judged), depth_min,
        depth_median, depth_max (passages per answered turn), judged_3, judged_10 (judged share of the passages retrieved
        in the top 3 and 10).
    texts
        formulation (or set of further questions), texts, without (judged turns without a text), extra (turns nobody judged),
        unanswered (turns that its run lacks, all of them without a run; null where its run cannot be read, and where it has
        scores or answers instead), unchanged (judged turns whose text equals the Original; null without Original texts).
    """

    files: pd.DataFrame
    runs: pd.DataFrame
    texts: pd.DataFrame


def check(
    evaluated: Evaluated,
    files: Sequence[Mapping[str, Any]],
    matrices: Sequence[GradeMatrix],
    texts: Mapping[str, Mapping[str, str]],
    answered: Mapping[str, Collection[str]],
    turns: Sequence[str],
) -> Check:
    """Describe files, runs and texts against the judged ``turns``; nothing is changed and nothing is scored.

    ``texts``: formulation → turn → text; ``answered``: formulation → the turns that its run answers, where that is known.
    """
    import pandas as pd

    runs = [_run(matrix) for matrix in matrices]
    judged = set(turns)
    original = texts.get("original", {})
    rows = []
    for formulation, known in texts.items():
        equal = [turn in known and known[turn].strip() == original.get(turn, "").strip() for turn in turns]
        same = sum(equal) if original else None
        without, extra = sum(turn not in known for turn in turns), sum(turn not in judged for turn in known)
        lacking = sum(turn not in answered[formulation] for turn in known) if formulation in answered else None
        rows.append((formulation, len(known), without, extra, lacking, same))
    return Check(
        evaluated,
        pd.DataFrame(files, columns=["role", "path", "rows", "problem"], dtype=object).astype({"rows": "Int64"}),
        pd.DataFrame(
            runs,
            columns=["run", "turns", "missing", "extra", "depth_min", "depth_median", "depth_max"]
            + [f"judged_{k}" for k in JUDGED_AT],
        ),
        pd.DataFrame(rows, columns=["formulation", "texts", "without", "extra", "unanswered", "unchanged"]).astype(
            {"unanswered": "Int64", "unchanged": "Int64"}
        ),
    )


def _run(matrix: GradeMatrix) -> tuple[Any, ...]:
    answered = matrix.retrieved[~matrix.missing]
    depths = (int(answered.min()), float(np.median(answered)), int(answered.max())) if len(answered) else (0, 0.0, 0)
    shares = []
    for k in JUDGED_AT:
        top = matrix.grades[:, :k]
        retrieved = int((top > ABSENT).sum())
        shares.append(int((top > UNJUDGED).sum()) / retrieved if retrieved else np.nan)
    return (matrix.name, len(answered), int(matrix.missing.sum()), matrix.extra_turns, *depths, *shares)
