"""Test the hole model with judgments that are not missing at random, and count false differences.

    python bench/holes_tipping.py [--data FOLDER] [--trials N] [--nulls N] [--write]

*Selected judging.* Runs contain only judged passages, as in bench/holes.py. Of the passages in any top 10, 95% of the relevant
ones (grade 1 or more) and 30% of the others stay judged. So the odds of relevance of an unjudged passage are 1/44 of those of a
judged one at the same ranks. The benchmark prints how often the intervals of 200 draws contain the true mean scores and
differences, as predicted and with all odds multiplied by 1/44; how many pairs of runs are expected in the wrong order; and how
many of these have a tipping point between 1/44 and 1.

*Null trials.* The runs swap names at random in every conversation, so that no system is better, and 30% of the judged passages
are hidden. The benchmark prints in how many trials at least one pair differs significantly, without adjustment and by adjusted
p.

``--write`` puts both tables into docs/holes.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from bench.holes import COLLECTIONS, PAGE, POLICY, hidden, truth  # noqa: E402
from bench.pages import put  # noqa: E402
from robustcs.evaluation.groups import RunSources  # noqa: E402
from robustcs.evaluation.hole_check import draws_interval  # noqa: E402
from robustcs.evaluation.hole_expectation import contrasts, fill_holes  # noqa: E402
from robustcs.evaluation.hole_tipping import tipping  # noqa: E402
from robustcs.evaluation.matrix import UNJUDGED  # noqa: E402
from robustcs.evaluation.measure import parse_measure  # noqa: E402
from robustcs.statistics.completed import completed_family  # noqa: E402
from robustcs.statistics.units import units_of  # noqa: E402

MEASURES = tuple(parse_measure(name) for name in ("ndcg_cut_5", "P_5"))
TOP, RELEVANT, OTHERS = 10, 0.95, 0.3
#: Odds of relevance of unjudged passages divided by those of judged passages.
FACTOR = (1 - RELEVANT) / (1 - OTHERS) / (RELEVANT / OTHERS)
SELECTED, NULLS = ("cast2019", "cast2020", "dl2021"), ("cast2019",)


def selected(job: tuple[str, int, Path]) -> tuple[str, np.ndarray]:
    """Return float64[6, M]: coverage of scores and differences, predicted and under the true factor; wrong, flagged orders."""
    name, number, data = job
    pool, grades, groups = truth(name, data)
    rng = np.random.default_rng([number, 44])
    inside = pool.best_ranks().min(axis=0) <= TOP
    kept = rng.random(len(pool)) < np.where(grades[:-1] >= 1, RELEVANT, OTHERS)
    left = grades.copy()
    left[:-1][inside & ~kept] = UNJUDGED
    counted, units = np.ones(len(pool.turns), dtype=bool), units_of(pool.turns)
    sources = RunSources(tuple(np.unique(groups, return_inverse=True)[1].tolist()))
    filled = fill_holes(pool, left, MEASURES, POLICY, counted, units, number, sources, check=False)
    assert filled.scoring is not None
    family = contrasts(pool.names, {}, True)
    weights = np.array([one.weights(len(pool.names)) for one in family])
    true = pool.score(grades[None], MEASURES, POLICY)[0].mean(axis=-1)
    model = filled.scoring.model
    sets = np.tile(left, (len(filled.sums), 1))
    sets[:, model.pairs] = model.kept(len(sets)).grades(FACTOR)
    predicted = filled.sums.sum(axis=-1) / len(pool.turns)
    size = pool.batch(MEASURES)
    shifted = np.concatenate(
        [
            pool.score(sets[start : start + size], MEASURES, POLICY).mean(axis=-1)
            for start in range(0, len(sets), size)
        ]
    )
    out = np.zeros((6, len(MEASURES)))
    for row, drawn in ((0, predicted), (2, shifted)):
        for place, (values, actual) in enumerate(
            ((drawn, true), (np.einsum("cr,drm->dcm", weights, drawn), weights @ true))
        ):
            low, high = draws_interval(values)
            out[row + place] = ((low - 1e-9 <= actual) & (actual <= high + 1e-9)).mean(axis=0)
    tips = tipping(filled, {measure.name: family for measure in MEASURES}, family, ("order",))
    tips = tips[tips["scope"] == "all"]
    for column, measure in enumerate(MEASURES):
        rows = tips[tips["metric"] == measure.name]
        expected = [1 if row.conclusion.startswith("first >") else -1 for row in rows.itertuples()]
        wrong = np.sign(weights @ true[:, column]) == -np.array(expected)
        out[4, column] = wrong.sum()
        out[5, column] = (wrong & (rows["factor_below"].to_numpy() >= FACTOR)).sum()
    return name, out


def null(job: tuple[str, int, Path]) -> tuple[str, np.ndarray]:
    """Return bool[2]: whether any pair differs significantly by the first measure, by unadjusted and by adjusted p."""
    name, number, data = job
    pool, grades, _ = truth(name, data)
    rng = np.random.default_rng([number, 79])
    units = units_of(pool.turns)
    depth = max(places.shape[1] for places in pool.places)
    places = np.stack(
        [
            np.pad(one, ((0, 0), (0, depth - one.shape[1])), constant_values=len(pool))
            for one in pool.places
        ]
    )
    for unit in range(units.count):
        rows = np.flatnonzero(units.codes == unit)
        places[:, rows] = places[rng.permutation(len(places))][:, rows]
    pool = replace(pool, places=tuple(places))
    left = grades.copy()
    left[hidden("random 30%", number, pool, ())] = UNJUDGED
    counted = np.ones(len(pool.turns), dtype=bool)
    filled = fill_holes(pool, left, MEASURES[:1], POLICY, counted, units, number, check=False)
    weights = np.array([one.weights(len(pool.names)) for one in contrasts(pool.names, {}, True)])
    drawn = filled.drawn(weights, 0)
    alone = [completed_family(drawn[:, [pair]], number)[0] for pair in range(len(weights))]
    return name, np.array([min(alone) <= 0.05, (completed_family(drawn, number) <= 0.05).any()])


def selected_table(results: list[tuple[str, np.ndarray]]) -> str:
    """Return the Markdown table of selected judging."""
    heads = ("scores, as predicted", "scores, odds × 1/44", "differences, as predicted", "differences, odds × 1/44",
             "orders wrong", "of these with a tipping point from 1/44 to 1")  # fmt: skip
    lines = [
        "| collection | measure | trials | " + " | ".join(heads) + " |",
        "|---|---" + "|--:" * (len(heads) + 1) + "|",
    ]
    for name in dict.fromkeys(name for name, _ in results):
        values = np.array([value for other, value in results if other == name])
        for column, measure in enumerate(MEASURES):
            shares = (f"{100 * values[:, row, column].mean():.0f}" for row in (0, 2, 1, 3))
            counts = (f"{values[:, row, column].sum():.0f}" for row in (4, 5))
            cells = [COLLECTIONS[name].title, measure.label, str(len(values)), *shares, *counts]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def null_table(results: list[tuple[str, np.ndarray]]) -> str:
    """Return the Markdown table of the null trials."""
    lines = [
        "| collection | pairs | measure | trials | any pair, unadjusted p | any pair, adjusted p |"
    ]
    lines.append("|---|--:|---|--:|--:|--:|")
    for name in dict.fromkeys(name for name, _ in results):
        values = np.array([value for other, value in results if other == name])
        runs = len(COLLECTIONS[name].runs)
        shares = (f"{100 * share:.1f}" for share in values.mean(axis=0))
        cells = [
            COLLECTIONS[name].title,
            str(runs * (runs - 1) // 2),
            MEASURES[0].label,
            str(len(values)),
            *shares,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run all trials, print the tables, and write them with --write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--nulls", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/holes.md")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as executor:
        jobs = [
            (name, number, options.data) for name in SELECTED for number in range(options.trials)
        ]
        parts = {"selected": selected_table(list(executor.map(selected, jobs)))} if jobs else {}
        print(*parts.values(), sep="\n\n", flush=True)
        jobs = [(name, number, options.data) for name in NULLS for number in range(options.nulls)]
        if jobs:
            parts["nulls"] = null_table(list(executor.map(null, jobs)))
            print(parts["nulls"])
    if options.write:
        for name, text in parts.items():
            put(PAGE, name, text.splitlines())


if __name__ == "__main__":
    main()
