"""The bins at every threshold (Figure 1 of the error-analysis paper), and their shares averaged over all thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.bins import CAUSES, Binned, Formulations
from robustcs.evaluation.thresholds import TERMS, Threshold
from robustcs.policy import Evaluated
from robustcs.result import (
    Result,
    computes,
    count,
    measure,
    number,
    p_value,
    points,
    share,
    table,
    text,
)
from robustcs.statistics.columns import EXACT, P_FLOOR, comparisons
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import Units, units_of
from robustcs.wording import many_missing

_WHOSE = (text("rewriter", header="Rewriter"), measure())
_THRESHOLD = number("threshold", "0 means > 0, every other t means >= t")
_NOTE = text("note", "caveats")


@dataclass(frozen=True)
class Swept:
    """What the tables are computed from.

    scores
        Scores of Original, the rewriters and Human over the same turns; ``units`` are the sampling units of the turns.
    parts
        The bins of each rewriter and measure at all thresholds.
    seed
        Random seed of sign patterns.
    """

    scores: Formulations
    parts: Sequence[Binned]
    units: Units
    seed: int


@dataclass(frozen=True)
class Sweep(Result):
    """The bins at every threshold, and their shares averaged over all thresholds."""

    study = "sweep"

    bins = table(
        "bins", "Turns per bin at every threshold.",
        *_WHOSE, _THRESHOLD, count("original", "1 if its answer is correct, else 0"), count("qr"), count("human"),
        count("count", "turns in the bin"),
        *share("share", "share of all turns").between(
            says="95% CI, not adjusted: Wilson interval, clustered by sampling unit; null for fewer than five units"
        ),
    )  # fmt: skip
    areas = table(
        "areas", "Threshold-free share of every bin.",
        *_WHOSE, text("bin", "Original, QR, Human as 0 or 1: 001"),
        *share("area", "mean share over all thresholds in (0, 1], exact and independent of the grid; the eight of a measure add"
               " up to 1").between(says="95% CI: cluster-robust t interval; null if there is none (note says why)"),
        _NOTE,
    )  # fmt: skip
    causes = table(
        "causes", "Threshold-free share of QA errors, rewriter errors and correct turns: sums of areas.",
        *_WHOSE, text("cause", "qa, qr or correct"),
        *share("area", "mean share over all thresholds in (0, 1]; the three of a measure add up to 1").between(
            says="95% CI, as in areas"
        ),
        _NOTE,
    )  # fmt: skip
    blame = table(
        "blame", "Does the QA component fail more often than the rewriter, at any threshold?",
        *_WHOSE, _THRESHOLD, count("qa", f"turns with a QA error: {TERMS['QA error']}"),
        count("qr", f"turns with a rewriter error: {TERMS['rewriter error']}"),
        *points("difference", "QA errors − rewriter errors, as a share of all turns").between(
            says="95% CI, not adjusted, from the same test as p; null if there is none"
        ),
        p_value("p", "McNemar's test, two-sided: sign flips of whole sampling units, mid-p"),
        p_value("p_corrected", "adjusted by step-down max-T over all thresholds, measures and rewriters", "p adj."),
        P_FLOOR, EXACT,
    )  # fmt: skip

    swept: Swept

    @computes(bins)
    def _bins(self) -> list[tuple[object, ...]]:
        """Return the rows of :data:`Sweep.bins`."""
        units = self.swept.units
        rows: list[tuple[object, ...]] = []
        for part in self.swept.parts:
            shares = share_estimates(
                part.by_unit(units).reshape(-1, units.count), units.sizes, units.kind
            )
            found = zip(part.crossed_bins(), part.counts().ravel().tolist(), shares, strict=True)
            rows += [(*key, number, one) for key, number, one in found]
        return rows

    @computes(areas)
    def _areas(self) -> list[tuple[object, ...]]:
        """Return the rows of :data:`Sweep.areas`."""
        return _areas(self.swept, by_cause=False)

    @computes(causes)
    def _causes(self) -> list[tuple[object, ...]]:
        """Return the rows of :data:`Sweep.causes`."""
        return _areas(self.swept, by_cause=True)

    @computes(blame)
    def _blame(self) -> list[tuple[object, ...]]:
        """Return the rows of :data:`Sweep.blame`, without p if missing scores may change every order."""
        return _blame(self.swept, untested=bool(many_missing(self.evaluated.unscored_by)))


def threshold_grid(step: float = 0.02) -> tuple[float, ...]:
    """Return 0, step, 2·step, … 1 without rounding errors: 0.58, not 0.5800000000000001.

    Raises :class:`UsageError` for a step that is not a number from 0.0001 to 1.
    """
    if not 0.0001 <= step <= 1:
        raise UsageError(
            "bad-step",
            f"step {step:g} is not possible",
            "write a number from 0.0001 to 1, such as 0.02",
        )
    size = Decimal(repr(step))  # the digits that the user wrote
    grid = [size * number for number in range(int(1 / size) + 1)]
    if grid[-1] != 1:
        grid.append(Decimal(1))
    return tuple(float(point) for point in grid)


def sweep(
    scores: Formulations, evaluated: Evaluated, grid: Sequence[float] | None = None, seed: int = 0
) -> Sweep:
    """Count the turns per bin at every threshold, for every rewriter and measure.

    scores
        Scores of Original, the rewriters and Human over the same turns.
    evaluated
        What was evaluated; its policy names the sampling unit.
    grid
        Thresholds from 0 to 1; 0 means > 0 (default: 0, 0.02, … 1).
    seed
        Random seed of sign patterns, which are drawn if there are too many to try all.

    Raises :class:`UsageError` for a measure with scores outside [0, 1].
    """
    grid = threshold_grid() if grid is None else grid
    units = units_of(list(scores.turns), evaluated.grouping)
    _check_range(scores)
    every = Binned.of(
        scores, [Threshold(">=" if point else ">", point) for point in grid], distinct=False
    )
    parts = []
    for place in range(0, len(every.cuts), len(grid)):
        own = slice(place, place + len(grid))
        cuts = [
            cut._replace(threshold=point) for cut, point in zip(every.cuts[own], grid, strict=True)
        ]
        parts.append(Binned(cuts, every.bins, every.places[own]))
    return Sweep(units.stated(evaluated), Swept(scores, parts, units, seed))


def _areas(swept: Swept, by_cause: bool) -> list[tuple[object, ...]]:
    """Return the rows of :data:`Sweep.areas` or :data:`Sweep.causes`."""
    scores, units = swept.scores, swept.units
    rows: list[tuple[object, ...]] = []
    for part in swept.parts:
        name, metric, _ = part.cuts[0]
        original = None if scores.original is None else scores.original[metric]
        lengths = bin_lengths(original, scores.rewriters[name][metric], scores.human[metric])
        lengths = lengths @ part.blamed.T if by_cause else lengths
        means = mean_estimates(units.sums(lengths.T), units.sizes, units.kind, (0.0, 1.0))
        of = zip(CAUSES if by_cause else part.bins, means, strict=True)
        rows += [(name, metric, which, one, one.note) for which, one in of]
    return rows


def _blame(swept: Swept, untested: bool) -> list[tuple[object, ...]]:
    """Return the rows of :data:`Sweep.blame`; without p if ``untested``."""
    units = swept.units
    cuts, moved = list[tuple[object, ...]](), []
    for part in swept.parts:
        qa, qr, _ = np.moveaxis(part.blamed @ part.by_unit(units), 1, 0)
        moved.append(qa - qr)
        numbers = (errors.sum(axis=1).astype(int).tolist() for errors in (qa, qr))
        cuts += [(*cut, *own) for cut, *own in zip(part.cuts, *numbers, strict=True)]
    # neighbouring thresholds often have the same errors in every unit: each different row is tested once
    different, place = np.unique(np.concatenate(moved), axis=0, return_inverse=True)
    tests = comparisons(different, units.sizes, units.kind, swept.seed, mid_p=True, power=False)
    columns = dict(tests.columns)
    if untested:
        columns |= dict.fromkeys(("p", "p_corrected"), [np.nan] * len(different))
    fields = Sweep.blame.fields[5:]
    found = list(zip(*(columns[field.name] for field in fields), strict=True))
    return [(*cut, *found[row]) for cut, row in zip(cuts, place.ravel().tolist(), strict=True)]


def _check_range(scores: Formulations) -> None:
    for metric in scores.measures:
        if (
            min(one[metric].min() for one in scores.every) < 0
            or max(one[metric].max() for one in scores.every) > 1 + 1e-9
        ):
            found = f"{metric} has scores outside the range 0 to 1"
            raise UsageError("not-a-share", found, "choose a measure such as ndcg_cut_3")


def bin_lengths(original: np.ndarray | None, qr: np.ndarray, human: np.ndarray) -> np.ndarray:
    """Return float64[turns, 8] (4 without Original): the share of thresholds in (0, 1] that put a turn into each bin.

    A formulation is correct at the thresholds up to its score. So each turn passes through at most one more bin than there
    are formulations, and the shares are differences of its sorted scores: exact, without a grid.
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
