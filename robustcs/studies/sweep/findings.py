"""Findings of a sweep: at which thresholds the ranker (or reader) or the rewriter fails more often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robustcs.documents.words import measure_label, qa_component, whole_percent
from robustcs.statistics.estimate import p_text
from robustcs.studies.sweep.analysis import Sweep
from robustcs.wording import counted, many_missing

#: Significance level for the difference between QA errors and rewriter errors.
ALPHA = 0.05


def ahead(rows: Sequence[Any], sign: int) -> str:
    """Return the thresholds at which QA errors (``sign`` 1) or rewriter errors (−1) are significantly more frequent.

    ``rows``: the table ``blame`` of one rewriter and measure. Example: ``> 0 to 0.18, ≥ 0.3``.
    """
    runs: list[list[float]] = []
    before = False
    for row in rows:
        holds = row.p_corrected <= ALPHA and row.difference * sign > 0
        if holds and before:
            runs[-1][1:] = [row.threshold]
        elif holds:
            runs.append([row.threshold])
        before = holds
    return ", ".join(
        " to ".join(_threshold(point, place == 0) for place, point in enumerate(run))
        for run in runs
    )


def _threshold(point: float, first: bool) -> str:
    return "> 0" if point == 0 else f"≥ {point:g}" if first else f"{point:g}"


def finding(result: Sweep, metrics: Sequence[str] = ()) -> tuple[str, ...]:
    """Return per measure (``metrics``, or all) which component fails more often, and at which thresholds.

    With several rewriters, the sentence is about the one with the largest share of turns on which QR and Human are correct.
    """
    part = qa_component(result.evaluated)
    blame, every = result.rows("blame"), result.rows("causes")
    family = f"max-T over {counted(len(blame), 'comparison')}"
    several = len({row.rewriter for row in blame}) > 1
    sentences = []
    for metric in dict.fromkeys(row.metric for row in every):
        if metrics and metric not in metrics:
            continue
        best = max(
            (row for row in every if row.metric == metric and row.cause == "correct"),
            key=lambda row: row.area,
        ).rewriter
        areas = {
            row.cause: row.area for row in every if (row.rewriter, row.metric) == (best, metric)
        }
        rows = [row for row in blame if (row.rewriter, row.metric) == (best, metric)]
        who, label = f"the rewriter{f' {best}' if several else ''}", measure_label(metric)
        sides = {name: at for name, sign in ((part, 1), (who, -1)) if (at := ahead(rows, sign))}
        qa, qr = (whole_percent(areas[cause]) for cause in ("qa", "qr"))
        if told := many_missing(result.evaluated.unscored_by):
            turns = f"the {counted(result.evaluated.turns, 'turn')} with all scores"
            said = f"{told}. Averaged over all thresholds of {label}, {part} fails on {qa} of {turns} and {who} on {qr}; the"
            sentences.append(f"{said} missing scores could change which fails more often.")
            continue
        test = f"adjusted p ≤ {ALPHA:g}, {family}"
        if len(sides) > 1:
            where = ", ".join(
                f"{name} fails more often at {label} {at}" for name, at in sides.items()
            )
            said = f"Blame depends on the threshold: {where} ({test})."
        elif sides:
            ((name, at),) = sides.items()
            said = f"T{name[1:]} fails more often than {who if name == part else part} at {label} {at} ({test})."
        else:
            least = min(rows, key=lambda row: (row.p_corrected != row.p_corrected, row.p_corrected))
            p = p_text(least.p_corrected)
            said = f"The data do not show at any threshold of {label} whether {part} or {who} fails more often"
            said += f" (smallest adjusted {p}, {family})."
        sentences.append(
            f"{said} Averaged over all thresholds, {part} fails on {qa} of turns and {who} on {qr}."
        )
    return tuple(sentences)
