"""Which component loses the answer? Causes of wrong answers in a grid of wordings and rankers, effect sizes, and swaps.

Sources: Ferro and Silvello (2018) for the crossed analysis of variance; Westfall and Young (1993) for the adjusted tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from robustcs.evaluation.grid import CAUSES, Cell, Grid, causes_of
from robustcs.evaluation.thresholds import DEFAULT_THRESHOLDS, Threshold, distinct_thresholds
from robustcs.lazy import pd
from robustcs.policy import Evaluated
from robustcs.result import (
    Result,
    computes,
    count,
    difference,
    measure,
    number,
    p_value,
    points,
    score,
    share,
    table,
    text,
)
from robustcs.statistics.choice import best_choice
from robustcs.statistics.columns import DETECTABLE, EFFECT, EXACT, P_FLOOR, comparisons
from robustcs.statistics.crossed import EFFECTS, omega_squared_estimates
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.families import Family
from robustcs.statistics.halves import SPLITS, halves_of
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import Units, units_of
from robustcs.wording import counted

_CELL = (text("wording", header="Wording"), text("ranker", header="Ranker"))
_CUT = (measure(), text("threshold", "what makes an answer correct: >0, >=0.5, =1"))
_NOTE = text("note", "caveats")
_MEAN = "95% CI: cluster-robust t interval"
_HALF = "95% CI for other sampling units: jackknife, Student's t"
_SHARE = "95% CI: Wilson interval, clustered by sampling unit; null for fewer than five units"
_TEST = "95% CI, not adjusted, from the same test as p"


Causes = Mapping[tuple[str, Threshold], np.ndarray]


@dataclass(frozen=True)
class ScoredGrid:
    """What the tables are computed from.

    grid
        The wordings, the rankers and the present cells.
    turns
        The turns; ``units`` are their sampling units.
    cubes
        Measure → float[turns, wordings, rankers].
    causes
        Measure and threshold → the cause of every turn in every cell.
    seed
        Random seed of sign patterns, resamples and halves.
    """

    grid: Grid
    turns: Sequence[str]
    cubes: Mapping[str, np.ndarray]
    causes: Causes
    units: Units
    seed: int

    @cached_property
    def compared(self) -> tuple[list[Any], dict[str, Family]]:
        """The rows of the table ``swaps``, and measure → the family of its swaps."""
        return _swaps(self.grid, self.cubes, self.units, self.seed)


@dataclass(frozen=True)
class Components(Result):
    """Causes of wrong answers in a grid of wordings × rankers.

    grid
        The wordings, the rankers and the present cells.
    scored
        What the tables are computed from.
    """

    study = "components"
    blame = table(
        "blame", "Turns of every system by cause. Causes exclude each other and cover all turns.", *_CELL, *_CUT,
        text("cause", "correct; wording: another wording with this ranker is correct, no other ranker with this wording;"
             " ranker: the reverse; either: each change alone is enough; both: only changing both helps; none: no cell is"
             " correct"),
        count("count", "turns", "turns"), *share("share", "share of all turns").between(says=_SHARE),
        number("average", "mean count over all wordings with this ranker (cause wording) or all rankers with this wording"
               " (cause ranker); null for other causes").rounded(1),
        count("cells", "cells of the grid in which the turns were looked up"), _NOTE,
    )  # fmt: skip
    means = table(
        "means", "Mean of every cell of the grid.", *_CELL, measure(),
        *score("value", "mean over turns", "mean").rounded(3).between(says=_MEAN), _NOTE,
    )  # fmt: skip
    factors = table(
        "factors", "Does the wording or the ranker lose more turns? Means over the systems that have another wording and"
        " another ranker; only turns with the causes wording and ranker count.", *_CUT,
        *share("wording", "mean share of turns lost to the wording alone").between("wording_low", "wording_high", _SHARE),
        *share("ranker", "mean share of turns lost to the ranker alone").between("ranker_low", "ranker_high", _SHARE),
        *points("difference", "wording − ranker", "difference").between(says=_TEST), p_value(),
        p_value("p_corrected", "adjusted by max-T over all measures and thresholds", "p adj."), P_FLOOR, EXACT,
        count("systems", "systems in the means"), _NOTE,
    )  # fmt: skip
    effects = table(
        "effects", "Effect sizes of the analysis of variance: turn × wording × ranker.", measure(),
        text("factor", "turn, wording, ranker, wording*ranker, turn*wording or turn*ranker", "Effect"),
        *number("omega2", "ω²: variance due to the effect ÷ (this variance + error variance); null without a complete subgrid",
                "ω²").rounded(3).between(
            says="95% CI for other conversations with these wordings and rankers: nested bootstrap-t, joined with percentiles"
        ),
        text("wordings", "wordings of the largest complete subgrid, separated by |"), text("rankers", "its rankers"), _NOTE,
    )  # fmt: skip
    swaps = table(
        "swaps", "Every change of one component of a system.", *_CELL,
        text("changed", "wording or ranker", "Change"), text("to", "the new wording or ranker", "To"), measure(),
        *difference("difference", "mean after the change − mean before", "gain").rounded(3).between(says=_TEST),
        p_value(says="sign-flip test on sampling units, two-sided", header="p"),
        p_value("p_corrected", "adjusted by max-T over all changes of the measure, each pair of cells once", "p adj."),
        P_FLOOR, EXACT, EFFECT[0].rounded(2), *EFFECT[1:], DETECTABLE.called("80% power"), _NOTE,
    )  # fmt: skip
    choice = table(
        "choice", "The best system, its lead on conversations that did not choose it, and the best system of every turn.",
        measure(), *_CELL, score("value", "mean of the best system", "mean").rounded(3),
        text("second_wording", "the system with the second highest mean"), text("second_ranker"),
        difference("lead", "its mean − the second highest mean").rounded(3),
        share("chosen", "random halves of the sampling units in which it has the highest mean", "chosen"),
        score("half", "mean of the system chosen on a random half, on that half").rounded(3),
        *score("other_half", "mean of the same system on the other half, averaged over halves").rounded(3)
        .between("other_low", "other_high", _HALF),
        difference("half_lead", "lead of the chosen system over the second best, on the half that chose both").rounded(3),
        *difference("other_lead", "lead of the same system over the same second best, on the other half").rounded(3)
        .between("other_lead_low", "other_lead_high", _HALF),
        score("upper", "mean over turns of the highest score of all systems: an upper limit").rounded(3),
        *difference("gain", "upper − value").rounded(3).between("gain_low", "gain_high", _MEAN),
        score("by_chance", "gain expected if systems were exchanged at random in every turn", "chance").rounded(3),
        count("splits", "random halves"), _NOTE,
    )  # fmt: skip
    missing = table(
        "missing", "What each missing cell could show; no rows for a complete grid.", *_CELL, *_CUT,
        count("turns", "turns on which the cause of some system would change if the missing cell were correct", "turns"),
        *share("share", "share of all turns").between(says=_SHARE),
    )  # fmt: skip
    turns = table(
        "turns", "Score and cause of every turn in every cell.", text("turn", header="Turn"), *_CELL, *_CUT, score("value"),
        text("cause", "as in the table blame"),
    )  # fmt: skip

    grid: Grid
    scored: ScoredGrid

    @property
    def families(self) -> Mapping[str, Family]:
        """Measure → the family of its swaps."""
        return self.scored.compared[1]

    @computes(blame)
    def _blame(self) -> list[tuple[Any, ...]]:
        return _blame(self.grid, self.scored.causes, self.scored.units)

    @computes(means)
    def _means(self) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for metric, cube in self.scored.cubes.items():
            rows += _means(self.grid, metric, cube, self.scored.units)
        return rows

    @computes(factors)
    def _factors(self) -> list[Any]:
        own = self.scored
        return _factors(self.grid, own.causes, own.units, own.seed)

    @computes(effects)
    def _effects(self) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for metric, cube in self.scored.cubes.items():
            rows += _effects(self.grid, metric, cube, self.scored.units, self.scored.seed)
        return rows

    @computes(swaps)
    def _swaps(self) -> list[Any]:
        return self.scored.compared[0]

    @computes(choice)
    def _choice(self) -> list[dict[str, Any]]:
        own = self.scored
        if len(self.grid.cells) < 2:
            return []
        return [
            _choice(self.grid, metric, cube, own.units, own.seed)
            for metric, cube in own.cubes.items()
        ]

    @computes(missing)
    def _missing(self) -> list[tuple[Any, ...]]:
        own = self.scored
        return _missing(self.grid, own.cubes, own.causes, own.units)

    @computes(turns)
    def _turns(self) -> list[pd.DataFrame]:
        own = self.scored
        return _turns(self.grid, own.turns, own.cubes, own.causes)


def components(
    scores: Mapping[Cell, pd.DataFrame],
    evaluated: Evaluated,
    thresholds: Sequence[Threshold] = DEFAULT_THRESHOLDS,
    seed: int = 0,
) -> Components:
    """Find which component loses each turn, and what changing one would gain.

    scores
        Cell (wording, ranker) → float frame, turns × measures, all with the same index and columns.
    evaluated
        What was evaluated; its policy names the sampling unit.
    thresholds
        What makes an answer correct. Thresholds that are equivalent on a measure are used once.
    seed
        Random seed of sign patterns, resamples and halves.
    """
    grid = Grid(tuple(scores))
    first = next(iter(scores.values()))
    turns = list(first.index)
    units = units_of(turns, evaluated.grouping)
    cubes = {
        metric: grid.cube({cell: frame[metric] for cell, frame in scores.items()})
        for metric in first
    }
    cuts = [
        (metric, threshold)
        for metric in first
        for threshold in distinct_thresholds(metric, thresholds)
    ]
    causes = {
        cut: causes_of(cut[1].holds(np.nan_to_num(cubes[cut[0]], nan=-math.inf))) for cut in cuts
    }
    scored = ScoredGrid(grid, turns, cubes, causes, units, seed)
    found = Components(units.stated(evaluated), grid, scored)
    if grid.complete()[0] and len(turns) > 1:
        return found
    return found.with_notes([f"no effect sizes: {_NO_EFFECTS}"])


def _means(grid: Grid, metric: str, cube: np.ndarray, units: Units) -> list[tuple[Any, ...]]:
    bounds = (0.0, 1.0) if np.nanmin(cube) >= 0 and np.nanmax(cube) <= 1 else None
    values = np.array([cube[:, row, column] for row, column in grid.places.values()])
    found = mean_estimates(units.sums(values), units.sizes, units.kind, bounds)
    return [(*cell, metric, one, one.note) for cell, one in zip(grid.places, found, strict=True)]


def _blame(grid: Grid, causes: Causes, units: Units) -> list[tuple[Any, ...]]:
    rows = []
    for (metric, threshold), found in causes.items():
        own = [found[:, row, column] for row, column in grid.places.values()]
        hits = np.array([causes_ == place for causes_ in own for place in range(len(CAUSES))])
        shares = share_estimates(units.sums(hits), units.sizes, units.kind)
        counts = dict(
            zip(
                ((cell, cause) for cell in grid.places for cause in CAUSES),
                hits.sum(axis=1).tolist(),
                strict=True,
            )
        )
        for ((wording, ranker), cause), one in zip(counts, shares, strict=True):
            alike = [
                cell
                for cell in grid.places
                if {"wording": cell[1] == ranker, "ranker": cell[0] == wording}.get(cause)
            ]
            average = float(np.mean([counts[cell, cause] for cell in alike])) if alike else math.nan
            total = counts[(wording, ranker), cause]
            rows.append(
                (
                    wording,
                    ranker,
                    metric,
                    str(threshold),
                    cause,
                    total,
                    one,
                    average,
                    len(grid.cells),
                    one.note,
                )
            )
    return rows


def _comparable(grid: Grid) -> list[tuple[int, int]]:
    """Return the positions of the cells that have another wording and another ranker."""
    wordings, rankers = ([cell[place] for cell in grid.cells] for place in (0, 1))
    return [
        grid.places[one, other]
        for one, other in grid.cells
        if wordings.count(one) > 1 and rankers.count(other) > 1
    ]


def _factors(grid: Grid, causes: Causes, units: Units, seed: int) -> list[Any]:
    places = _comparable(grid)
    if not places:
        return []
    wordings, rankers = np.array(places).T
    lost = np.array([  # float[cuts, 2, turns]: the share of the systems that lose a turn to each component
        [(found[:, wordings, rankers] == CAUSES.index(factor)).mean(axis=1) for factor in ("wording", "ranker")]
        for found in causes.values()
    ])  # fmt: skip
    by_unit = units.sums(lost)
    tested = comparisons(
        by_unit[:, 0] - by_unit[:, 1], units.sizes, units.kind, seed, power=False
    ).frame
    shares = [share_estimates(by_unit[:, place], units.sizes, units.kind) for place in (0, 1)]
    return [
        {
            "metric": metric,
            "threshold": str(threshold),
            "wording": wording,
            "ranker": ranker,
            "systems": len(places),
            **row,
        }
        for ((metric, threshold), wording, ranker, row) in zip(
            causes, *shares, tested.to_dict("records"), strict=True
        )
    ]


_NO_EFFECTS = (
    "they require two turns and a complete subgrid of at least two wordings and two rankers"
)


def _effects(
    grid: Grid, metric: str, cube: np.ndarray, units: Units, seed: int
) -> list[tuple[Any, ...]]:
    wordings, rankers = grid.complete()
    found: Sequence[Estimate] = (
        Estimate(math.nan, math.nan, math.nan, units.count, "", _NO_EFFECTS),
    ) * len(EFFECTS)
    if wordings and len(cube) > 1:
        rows, columns = [*map(grid.wordings.index, wordings)], [*map(grid.rankers.index, rankers)]
        found = omega_squared_estimates(cube[np.ix_(range(len(cube)), rows, columns)], units, seed)
    return [(metric, factor, one, "|".join(wordings), "|".join(rankers), one.note)
            for factor, one in zip(EFFECTS, found, strict=True)]  # fmt: skip


def single_changes(grid: Grid) -> list[tuple[Cell, Cell]]:
    """Return the pairs of cells that differ in one component, each pair once."""
    cells = list(grid.cells)
    return [
        (one, other) for place, one in enumerate(cells) for other in cells[place + 1 :]
        if (one[0] == other[0]) != (one[1] == other[1])
    ]  # fmt: skip


def _swaps(
    grid: Grid, cubes: Mapping[str, np.ndarray], units: Units, seed: int
) -> tuple[list[Any], dict[str, Family]]:
    pairs = single_changes(grid)
    places = grid.places
    if not pairs:
        return [], {}
    gains = [
        cube[:, *places[new]] - cube[:, *places[old]]
        for cube in cubes.values()
        for old, new in pairs
    ]
    compared = comparisons(
        units.sums(np.array(gains)),
        units.sizes,
        units.kind,
        seed,
        np.repeat(list(cubes), len(pairs)).tolist(),
    )
    keys = [(metric, *pair) for metric in cubes for pair in pairs]
    rows = []
    for (metric, old, new), row in zip(keys, compared.frame.to_dict("records"), strict=True):
        rows += [_swap(metric, old, new, row), _swap(metric, new, old, _reversed(row))]
    order = {cell: place for place, cell in enumerate(grid.cells)}
    rows.sort(
        key=lambda row: (list(cubes).index(row["metric"]), order[row["wording"], row["ranker"]])
    )
    return rows, dict(zip(cubes, compared.families, strict=True))


def _swap(metric: str, old: Cell, new: Cell, row: Mapping[Any, Any]) -> dict[str, Any]:
    changed = "wording" if old[1] == new[1] else "ranker"
    to = new[changed == "ranker"]
    return {
        "wording": old[0],
        "ranker": old[1],
        "changed": changed,
        "to": to,
        "metric": metric,
        **row,
    }


def _reversed(row: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the row of the opposite change."""
    turned = {"difference": "difference", "ci_low": "ci_high", "ci_high": "ci_low", "effect": "effect",
              "effect_low": "effect_high", "effect_high": "effect_low"}  # fmt: skip
    return {**row, **{name: -row[other] + 0.0 for name, other in turned.items()}}


def _choice(grid: Grid, metric: str, cube: np.ndarray, units: Units, seed: int) -> dict[str, Any]:
    table = np.array([cube[:, row, column] for row, column in grid.places.values()])
    means = table.mean(axis=1)
    best, second = np.argsort(-means, kind="stable")[:2]
    choice = best_choice(table, units, seed)
    row: dict[str, Any] = {
        "metric": metric, "value": means[best], "lead": means[best] - means[second], "upper": choice.chosen,
        "gain": choice.gain, "by_chance": choice.by_chance, "note": choice.gain.note,
        "wording": grid.cells[best][0], "ranker": grid.cells[best][1],
        "second_wording": grid.cells[second][0], "second_ranker": grid.cells[second][1],
    }  # fmt: skip
    if units.count < 2:
        none = Estimate(math.nan, math.nan, math.nan, units.count, "")
        left = {
            "chosen": math.nan,
            "half": math.nan,
            "half_lead": math.nan,
            "other_half": none,
            "other_lead": none,
        }
        return (
            row
            | left
            | {"splits": 0, "note": f"no halves: only {counted(units.count, units.kind)}"}
        )
    halves = halves_of(table, units, seed)
    return row | {
        "chosen": float((halves.chosen == best).mean()), "half": halves.half, "half_lead": halves.half_lead,
        "other_half": halves.other, "other_lead": halves.other_lead, "splits": SPLITS,
    }  # fmt: skip


def _missing(
    grid: Grid, cubes: Mapping[str, np.ndarray], causes: Causes, units: Units
) -> list[tuple[Any, ...]]:
    rows = []
    for cell in grid.missing:
        place = grid.wordings.index(cell[0]), grid.rankers.index(cell[1])
        for (metric, threshold), found in causes.items():
            right = found == 0
            right[:, *place] = True
            changed = ((causes_of(right) != found) & np.isfinite(cubes[metric])).any(axis=(1, 2))
            (one,) = share_estimates(units.sums(changed), units.sizes, units.kind)
            rows.append((*cell, metric, str(threshold), int(changed.sum()), one))
    return rows


def _turns(
    grid: Grid, turns: Sequence[str], cubes: Mapping[str, np.ndarray], causes: Causes
) -> list[pd.DataFrame]:
    names = np.array(CAUSES, dtype=object)
    return [
        pd.DataFrame({
            "turn": turns, "wording": wording, "ranker": ranker, "metric": metric, "threshold": str(threshold),
            "value": cubes[metric][:, row, column], "cause": names[found[:, row, column]],
        })
        for (metric, threshold), found in causes.items() for (wording, ranker), (row, column) in grid.places.items()
    ]  # fmt: skip
