"""The bins at every threshold (Figure 1 of the error-analysis paper), and their threshold-free shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.bins import CAUSE_OF_BIN, CAUSES, Formulations, bin_index
from robustcs.evaluation.terms import TERMS
from robustcs.evaluation.thresholds import Threshold
from robustcs.lazy import pd
from robustcs.result import Evaluated, Result, count, number, p_value, share, table, text
from robustcs.statistics.columns import EXACT, P_FLOOR
from robustcs.statistics.families import max_t_family
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units, units_of

_BINS = table(
    "bins", "Turns in one of the eight bins at one threshold.",
    text("rewriter"), text("metric"),
    number("threshold", "0 means > 0, every other t means >= t"),
    count("original", "1 where its answer is correct"), count("qr"), count("human"),
    count("count", "turns in the bin"), share("share", "of all turns"),
    share("ci_low", "95 %, at this threshold alone: Wilson's interval with whole units; null below five of them"),
    share("ci_high"),
)  # fmt: skip
_AREAS = table(
    "areas", "The threshold-free share of a bin.",
    text("rewriter"), text("metric"), text("bin", "Original, QR, Human as 0 or 1: 001"),
    share("area", "mean share over all thresholds in (0, 1], exact and independent of the grid; the eight of a measure add"
          " up to 1"),
    share("ci_low", "95 %, cluster-robust t over whole units; null where none can be given: note says why"), share("ci_high"),
    text("note", "what must be known beside it"),
)  # fmt: skip

_CAUSES = table(
    "causes", "The threshold-free share of turns by what is to blame: areas of bins together.",
    text("rewriter", header="Rewriter"), text("metric", header="Measure"), text("cause", "qa, qr or correct"),
    share("area", "mean share over all thresholds in (0, 1]; the three of a measure add up to 1"),
    share("ci_low", "as of areas"), share("ci_high"), text("note", "what must be known beside it"),
)  # fmt: skip
_BLAME = table(
    "blame", "Does the QA component fail more often than the rewriter, at any threshold?",
    text("rewriter"), text("metric"), number("threshold", "0 means > 0, every other t means >= t"),
    count("qa", f"turns with a QA error: {TERMS['QA error']}"),
    count("qr", f"turns with a rewriter error: {TERMS['rewriter error']}"),
    number("difference", "QA errors − rewriter errors, as a share of all turns"),
    number("ci_low", "95 %, at this threshold alone, from the test that gives p; null where none can be given"),
    number("ci_high"),
    p_value("p", "McNemar's test, two-sided: signs of whole units flipped, mid-p"),
    p_value("p_corrected", "adjusted by step-down max-T over all thresholds, measures and rewriters", "p adj."),
    P_FLOOR,
    EXACT,
)  # fmt: skip


@dataclass(frozen=True)
class Sweep(Result):
    """The bins at every threshold."""

    study = "sweep"
    declared = (_BINS, _AREAS, _CAUSES, _BLAME)

    bins: pd.DataFrame
    areas: pd.DataFrame
    causes: pd.DataFrame
    blame: pd.DataFrame


def threshold_grid(step: str = "0.02") -> tuple[float, ...]:
    """0, step, 2·step, … 1 as the decimal numbers themselves: 0.58, not an accumulated 0.5800000000000001.

    Raises :class:`UsageError` for a step that is not a number in (0, 1].
    """
    try:
        size = Decimal(step)
        fits = Decimal("0.0001") <= size <= 1
    except ArithmeticError:
        fits = False
    if not fits:
        raise UsageError("bad-step", f"step {step!r}", "write a number from 0.0001 to 1, such as 0.02")
    grid = [size * i for i in range(int(1 / size) + 1)]
    if grid[-1] != 1:
        grid.append(Decimal(1))
    return tuple(float(point) for point in grid)


def sweep(scores: Formulations, evaluated: Evaluated, grid: Sequence[float] | None = None, seed: int = 0) -> Sweep:
    """Count the eight bins at every threshold of ``grid`` (default 0, 0.02, … 1), for every rewriter and measure.

    Intervals and tests take the units of ``evaluated.policy`` as independent; ``seed`` draws sign patterns where there are too
    many to try all.

    Raises :class:`UsageError` for a measure whose scores leave [0, 1]: the thresholds would not cover it.
    """
    grid = threshold_grid() if grid is None else grid
    units = units_of(list(scores.turns), evaluated.policy.unit)
    bins: list[tuple[object, ...]] = []
    areas: list[tuple[object, ...]] = []
    causes: list[tuple[object, ...]] = []
    errors: list[tuple[object, ...]] = []
    moved: list[np.ndarray] = []
    blamed = np.array([[CAUSE_OF_BIN[bin_] == cause for bin_ in scores.bins] for cause in CAUSES])
    for rewriter, qr_scores in scores.rewriters.items():
        for metric in scores.measures:
            original = None if scores.original is None else scores.original[metric].to_numpy()
            qr, human = qr_scores[metric].to_numpy(), scores.human[metric].to_numpy()
            known = [one for one in (original, qr, human) if one is not None]
            if min(score.min() for score in known) < 0 or max(score.max() for score in known) > 1 + 1e-9:
                raise UsageError("not-a-share", f"{metric} leaves the range 0 to 1", "sweep a measure such as ndcg_cut_3")
            thresholds = [Threshold(">", 0.0) if point == 0 else Threshold(">=", point) for point in grid]
            index = np.array([
                bin_index(None if original is None else threshold.holds(original), threshold.holds(qr), threshold.holds(human))
                for threshold in thresholds
            ])  # fmt: skip
            inside = index[:, None, :] == np.arange(len(scores.bins))[:, None]
            shares = share_estimates(units.sums(inside.reshape(-1, index.shape[1])), units.sizes, units.kind)
            bins += [
                (rewriter, metric, point, *(None if mark == "-" else int(mark) for mark in bin_), counted, one.value, one.low,
                 one.high)
                for (point, bin_), counted, one in zip(
                    product(grid, scores.bins), inside.sum(axis=2).ravel().tolist(), shares, strict=True
                )
            ]  # fmt: skip
            qa_errors, qr_errors = (cause[index] for cause in blamed[:2])
            errors += [
                (rewriter, metric, point, int(qa.sum()), int(qr.sum()))
                for point, qa, qr in zip(grid, qa_errors, qr_errors, strict=True)
            ]
            moved.append(units.sums(qa_errors.astype(np.int64) - qr_errors))
            lengths = bin_lengths(original, qr, human)
            for rows, names, parts in ((areas, scores.bins, lengths), (causes, CAUSES, lengths @ blamed.T)):
                means = mean_estimates(units.sums(parts.T), units.sizes, units.kind, (0.0, 1.0))
                rows += [
                    (rewriter, metric, name, one.value, one.low, one.high, one.note)
                    for name, one in zip(names, means, strict=True)
                ]
    frame = _BINS.frame(bins).astype({"original": "Int64"})
    blame = _tested(errors, np.concatenate(moved), units, seed)
    return Sweep(units.stated(evaluated), frame, _AREAS.frame(areas), _CAUSES.frame(causes), blame)


def _tested(errors: Sequence[tuple[object, ...]], moved: np.ndarray, units: Units, seed: int) -> pd.DataFrame:
    """The table ``blame``; ``moved``: QA errors − rewriter errors of every unit, float[rows, units].

    Neighbouring thresholds often have the same errors in every unit: each different row is tested once.
    """
    different, place = np.unique(moved, axis=0, return_inverse=True)
    tests = paired_tests(different, units.sizes, seed, units.kind, mid_p=True)
    adjusted = max_t_family(tests, different, seed).p
    rows = []
    for error, of in zip(errors, place.reshape(-1), strict=True):
        test = tests[of]
        rows.append((*error, test.value, test.low, test.high, test.p, adjusted[of], test.floor, test.exact))
    return _BLAME.frame(rows)


def bin_lengths(original: np.ndarray | None, qr: np.ndarray, human: np.ndarray) -> np.ndarray:
    """float64[turns, 8], in the order of the bins (without Original 4): the length of the thresholds that put a turn into one.

    With ``score >= t`` and t from 0 to 1 a formulation is correct on a stretch as long as its score, so each turn passes
    through at most one bin more than there are formulations, and the stretches are differences of its sorted scores: no grid
    is needed.
    """
    known = [one for one in (original, qr, human) if one is not None]
    scores = np.clip(np.stack(known, axis=1), 0.0, 1.0)
    order = np.argsort(scores, axis=1, kind="stable")
    levels = np.take_along_axis(scores, order, axis=1)
    edges = np.concatenate([np.zeros((len(scores), 1)), levels, np.ones((len(scores), 1))], axis=1)
    lengths = np.diff(edges, axis=1)
    found = np.zeros((len(scores), 2 ** len(known)))
    turns = np.arange(len(scores))
    state = np.full(len(scores), found.shape[1] - 1)
    for step in range(len(known) + 1):
        found[turns, state] = lengths[:, step]
        if step < len(known):
            state = state - 2 ** order[:, step]
    return found
