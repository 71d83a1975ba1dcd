"""Coverage of the intervals of robustcs components, and error rate of its swap tests, on resampled conversations.

    python bench/coverage_components.py [--trials 1000] [--part effects|halves] [--data ../shared/data]

The conversations of a collection are the population, and the values over all of them are the truth. A trial draws K
conversations with replacement and treats each draw as a separate conversation. In populations "without" an effect, the
wordings (or the rankers) are exchanged at random in every turn. For swap tests, all systems are exchanged at random in whole
conversations, so that no system is better than another. docs/components.md reports the results.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import robustcs
from robustcs.evaluation.grid import Grid
from robustcs.statistics.crossed import EFFECTS, omega_squared_estimates
from robustcs.statistics.families import max_t
from robustcs.statistics.halves import halves_of
from robustcs.statistics.units import Units, units_of
from robustcs.studies.components.analysis import single_changes

ROOT = Path(__file__).resolve().parent.parent
#: Resamples of a trial; the program uses more.
RESAMPLES, PATTERNS, SPLITS = 400, 1_999, 400
SIZES = (10, 20, 30)
Population = tuple[np.ndarray, list[str]]


def cast_2019(data: Path) -> dict[str, Path]:
    """Cells of DECAF: BM25 and BM25 with BERT for raw, T5 and manual turns."""
    runs = {"bm25": "bm25", "bert": "bm25_bert"}
    folder = data / "cast2019" / "decaf"
    return {
        f"{one}/{name}": folder / f"{file}_{one}.run.gz"
        for one in ("raw", "t5", "manual")
        for name, file in runs.items()
    }


def mtrag(data: Path) -> dict[str, Path]:
    """Cells of MTRAG clapnq: BM25, bge and ELSER for last turn, rewrite and whole conversation."""
    wordings, rankers = ("lastturn", "rewrite", "questions"), ("bm25", "bge", "elser")
    return {
        f"{one}/{other}": data / "mtrag-grid" / f"{other}_{one}.jsonl.gz"
        for one in wordings
        for other in rankers
    }


def scores_of(qrels: Path, cells: dict[str, Path], metric: str) -> Population:
    """Return scores, float[turns, wordings, rankers], and the turns."""
    found = robustcs.components(qrels, components=cells, metrics=metric)
    turns = found.turns.drop_duplicates(["turn", "wording", "ranker"])
    grid = found.grid
    names = list(dict.fromkeys(turns["turn"]))
    cube = grid.cube(
        {
            (one, other): part["value"]
            for (one, other), part in turns.groupby(["wording", "ranker"], sort=False)
        }
    )
    return cube, names


def populations(data: Path) -> dict[str, Population]:
    """Return the grids of both collections, and both without an effect."""
    cast = scores_of(data / "cast2019" / "qrels.txt.gz", cast_2019(data), "ndcg_cut_3")
    clapnq = scores_of(data / "mtrag-answers" / "qrels_clapnq.tsv", mtrag(data), "ndcg_cut_5")
    generator = np.random.default_rng(5)
    return {
        "CAsT 2019": cast, "MTRAG clapnq": clapnq,
        "CAsT 2019 without wording": (exchanged(cast[0], 1, generator), cast[1]),
        "MTRAG clapnq without ranker": (exchanged(clapnq[0], 2, generator), clapnq[1]),
    }  # fmt: skip


def exchanged(scores: np.ndarray, axis: int, generator: np.random.Generator) -> np.ndarray:
    """Exchange the levels of a factor at random in every turn."""
    return np.array(
        [np.take(turn, generator.permutation(turn.shape[axis - 1]), axis - 1) for turn in scores]
    )


def samples(
    population: Population, size: int, trials: int, generator: np.random.Generator
) -> Iterator[tuple[np.ndarray, Units]]:
    """Yield scores and units of trials with ``size`` conversations drawn with replacement."""
    scores, turns = population
    units = units_of(turns)
    rows = [np.flatnonzero(units.codes == code) for code in range(units.count)]
    for _ in range(trials):
        drawn = [rows[code] for code in generator.integers(0, units.count, size)]
        codes = np.repeat(np.arange(size), [len(own) for own in drawn])
        yield (
            scores[np.concatenate(drawn)],
            Units("conversation", codes, tuple(map(str, range(size)))),
        )


def true_effects(scores: np.ndarray) -> np.ndarray:
    """Return ω² of a population: its value for infinitely many turns like these."""
    turns, wordings, rankers = scores.shape
    table = scores - scores.mean()
    turn, wording, ranker = (
        table.mean(axis=axes, keepdims=True) for axes in ((1, 2), (0, 2), (0, 1))
    )
    both = table.mean(axis=0, keepdims=True) - wording - ranker
    turn_wording = table.mean(axis=2, keepdims=True) - turn - wording
    turn_ranker = table.mean(axis=1, keepdims=True) - turn - ranker
    parts = [turn, wording, ranker, both, turn_wording, turn_ranker]
    rest = table - sum(parts)
    error = (rest**2).sum() / (turns * (wordings - 1) * (rankers - 1))
    cells = wordings * rankers
    freedom = np.array([1, 0, 0, 0, wordings - 1, rankers - 1]) / cells
    square = np.array([(part**2).mean() for part in parts])
    return np.asarray((square - freedom * error) / (square + (1 - freedom) * error))


def effect_coverage(
    scores: np.ndarray, turns: list[str], units: int, trials: int, seed: int
) -> dict[str, float]:
    """Return effect → share of the trials whose interval contains the population's ω²."""
    truth = true_effects(scores)
    generator = np.random.default_rng(seed)
    hits = np.zeros(len(EFFECTS))
    for drawn, own in samples((scores, turns), units, trials, generator):
        found = omega_squared_estimates(drawn, own, int(generator.integers(2**31)), RESAMPLES)
        hits += [
            one.low - 1e-9 <= true <= one.high + 1e-9
            for one, true in zip(found, truth, strict=True)
        ]
    return dict(zip(EFFECTS, (hits / trials).tolist(), strict=True))


def half_coverage(population: Population, size: int, trials: int, seed: int) -> tuple[float, float]:
    """Return the coverage of the mean and of the lead of the best system on the half that did not choose it.

    The truth is the mean, over trials and splits, of the chosen systems' values in the population.
    """
    scores, _ = population
    means = scores.reshape(len(scores), -1).mean(axis=0)
    generator = np.random.default_rng(seed)
    truth, found = [], []
    for drawn, own in samples(population, size, trials, generator):
        halves = halves_of(
            drawn.reshape(len(drawn), -1).T, own, int(generator.integers(2**31)), SPLITS
        )
        truth.append(
            (means[halves.chosen].mean(), (means[halves.chosen] - means[halves.second]).mean())
        )
        found.append((halves.other, halves.other_lead))
    value, lead = np.mean(truth, axis=0)
    covers = [
        (one.low <= value <= one.high, other.low <= lead <= other.high) for one, other in found
    ]
    first, second = np.mean(covers, axis=0).tolist()
    return first, second


def family_error(population: Population, size: int, trials: int, seed: int) -> float:
    """Return the share of trials in which any swap is significant although all systems are equal."""
    scores, _ = population
    wordings, rankers = scores.shape[1:]
    grid = Grid(
        tuple((f"w{one}", f"r{other}") for one in range(wordings) for other in range(rankers))
    )
    places = {cell: row * rankers + column for cell, (row, column) in grid.places.items()}
    pairs = [(places[old], places[new]) for old, new in single_changes(grid)]
    generator = np.random.default_rng(seed)
    rejected = 0
    for drawn, own in samples(population, size, trials, generator):
        by_unit = own.sums(drawn.reshape(len(drawn), -1).T)
        by_unit = generator.permuted(by_unit, axis=0)
        sums = np.array([by_unit[new] - by_unit[old] for old, new in pairs])
        rejected += bool(
            (max_t(sums, int(generator.integers(2**31)), draws=PATTERNS) <= 0.05).any()
        )
    return rejected / trials


def main() -> None:
    """Print both tables of docs/components.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("ROBUSTCS_DATA", ROOT.parent / "shared" / "data")),
    )
    parser.add_argument("--part", choices=["effects", "halves"], help="only one of the two tables")
    given = parser.parse_args()
    every = populations(given.data)
    if given.part != "halves":
        print(f"| population | conversations | {' | '.join(EFFECTS)} |", flush=True)
        for name, (scores, turns) in every.items():
            for size in SIZES:
                found = effect_coverage(scores, turns, size, given.trials, size)
                print(
                    f"| {name} | {size} | {' | '.join(f'{100 * share:.1f}' for share in found.values())} |",
                    flush=True,
                )
    if given.part == "effects":
        return
    print(
        "| population | conversations | mean, other half | lead, other half | family-wise error |",
        flush=True,
    )
    for name in ("CAsT 2019", "MTRAG clapnq"):
        for size in SIZES:
            covered = half_coverage(every[name], size, given.trials, size)
            shares = (*covered, family_error(every[name], size, given.trials, size))
            print(
                f"| {name} | {size} | {' | '.join(f'{100 * share:.1f}' for share in shares)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
