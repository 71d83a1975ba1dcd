"""Missing scores of files in evaluate: what is told of them, and what they leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.missing_scores import MissingScores
from robustcs.messages import Message, OptionName
from robustcs.result import Result
from robustcs.statistics import Floats, Mask
from robustcs.wording import many_missing, missing_scores


def common_turns(metric: str, values: Floats) -> Mask:
    """Return bool[T]: whether every system has a score in ``values`` [S, T]. Raises :class:`UsageError` if no turn has."""
    common: Mask = ~np.asarray(np.isnan(values).any(axis=0))
    if not common.any():
        found = f"no turn has a score of every system by {metric}"
        raise UsageError(
            "no-turns",
            found,
            Message("evaluate fewer systems together, or use ", OptionName("missing", "own")),
        )
    return common


def missing_notes(metric: str, names: Sequence[str], missing: MissingScores) -> list[str]:
    """Return a note for each system with missing scores: ``8 of 45 scores of tuesday are missing (faithfulness)``."""
    counts = missing.missing.sum(axis=1).tolist()
    return [f"{missing_scores(name, lost, missing.values.shape[1])} ({metric})"
            for name, lost in zip(names, counts, strict=True) if lost]  # fmt: skip


def missing_first(result: Result, metric: str) -> str:
    """Return ``8 of 45 scores of tuesday are missing; ``, the start of a claim on a measure.

    Empty if at most 5% of the scores of each system are missing.
    """
    missing = {
        row.system: (row.missing, result.evaluated.turns)
        for row in result.rows("measures", metric=metric)
    }
    return f"{told}; " if (told := many_missing(missing)) else ""


def order_is_open(result: Result, metric: str) -> bool:
    """Return whether missing scores decide which system has the highest mean.

    They do if a system with missing scores, or one that is compared with it, may have the highest mean. The order of systems
    without missing scores is not open.
    """
    best, *others = ranked(result.rows("measures", metric=metric))
    return any((best.missing or row.missing) and not best.lowest > row.highest for row in others)


def ranked(rows: Sequence[Any]) -> list[Any]:
    """Return rows of means in the order of the lowest possible mean: over all turns, if scores are missing in some system."""
    return (
        sorted(rows, key=lambda row: -row.lowest)
        if any(row.missing for row in rows)
        else list(rows)
    )
