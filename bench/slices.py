"""Measure the coverage of intervals for slices, and the false and true finds of the search for slices.

    PYTHONPATH=. python bench/slices.py [--trials 1000] [--jobs 2] [--data FOLDER] [--print]

The script writes its tables between their markers in docs/slices.md; ``--print`` only prints them. FOLDER defaults to
``$ROBUSTCS_DATA`` or ``../shared/data``.

Turns, texts and scores are those of public runs. For the null hypothesis, the script shuffles scores, either over all turns or
over whole conversations: then every conversation gets the scores of another one in the same cyclic order, which keeps the
correlation within conversations. For a planted slice, it subtracts 0.3 from the scores of the turns of one rule.
"""

from __future__ import annotations

import os

# set before numpy is imported: two workers with two threads each would compete for two cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import multiprocessing
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from bench.coverage import ROOT
from bench.coverage_cells import Collection, read_collection
from bench.coverage_items import turns_of
from bench.pages import put
from robustcs.inputs.texts import read_texts
from robustcs.slicing import TEXTS
from robustcs.slicing.estimates import slices_of
from robustcs.slicing.search import SliceRule, find_slices, rules_of
from robustcs.slicing.table import Slicing, turn_slicings
from robustcs.statistics.units import Units

PAGE = ROOT / "docs" / "slices.md"
COLLECTIONS = ("CAsT 2019", "CAsT 2020")
MEASURES = ("ndcg_cut_3", "P_1")
SHUFFLES = ("turns", "conversations")
#: Loss of a planted slice, and its smallest size.
LOWER = 0.3
LEAST_TURNS = 0.15
LEAST_UNITS = 8
#: A find counts as the planted slice if their turns have this Jaccard similarity.
SHARED = 0.5
#: Draws per p-value; the program uses more.
DRAWS = 499
#: Conversations drawn in a coverage trial.
UNITS = (10, 20, 25, 50)

Task = tuple[str, str, str, int, int]


@dataclass(frozen=True, eq=False)
class Sliced:
    """A collection with the slicings of its turns and all rules."""

    some: Collection
    slicings: tuple[Slicing, ...]
    rules: list[SliceRule]


@cache
def read(data: Path, name: str) -> Sliced:
    """Read CAsT 2019 or 2020."""
    some, turns = read_collection(data, name), turns_of(data, name)
    if name == "CAsT 2019":
        texts = {"original": read_texts(data / "cast2019" / "topics.json", "original"),
                 "human": read_texts(data / "cast2019" / "topics_resolved.tsv", "human")}  # fmt: skip
    else:
        topics = data / "cast2020" / "topics_manual.json"
        texts = {"original": read_texts(topics, "original"), "human": read_texts(topics, "human")}
    slicings, _ = turn_slicings(("depth", TEXTS), turns, texts, {})
    return Sliced(some, slicings, rules_of(slicings, some.units))


def shuffled(
    scores: np.ndarray, units: Units, how: str, generator: np.random.Generator
) -> np.ndarray:
    """Return ``scores`` [T] moved to other ``turns``, or to other ``conversations`` in the same order, repeated as needed."""
    if how == "turns":
        return generator.permutation(scores)
    moved = np.empty_like(scores)
    own = [np.flatnonzero(units.codes == code) for code in range(units.count)]
    for code, other in enumerate(generator.permutation(units.count)):
        moved[own[code]] = np.resize(
            np.roll(scores[own[other]], int(generator.integers(len(own[other])))), len(own[code])
        )
    return moved


def false_finds(
    sliced: Sliced, measure: str, how: str, trials: int, generator: np.random.Generator
) -> np.ndarray:
    """Return [2]: trials with any find, and trials."""
    table = sliced.some.scores[measure]
    found = 0
    for _ in range(trials):
        values = shuffled(table[generator.integers(len(table))], sliced.some.units, how, generator)
        found += bool(
            find_slices(
                values, [sliced.rules], sliced.some.units, int(generator.integers(2**31)), DRAWS
            )
        )
    return np.array([found, trials])


def planted(
    sliced: Sliced, measure: str, how: str, trials: int, generator: np.random.Generator
) -> np.ndarray:
    """Return [3]: planted slices found, planted slices with any find, and all planted slices."""
    table, units = sliced.some.scores[measure], sliced.some.units
    large = [rule for rule in sliced.rules if _is_planted(rule, units)]
    counts = np.zeros(3)
    for _ in range(trials):
        rule = large[generator.integers(len(large))]
        values = (
            shuffled(table[generator.integers(len(table))], units, how, generator)
            - LOWER * rule.mask
        )
        finds = find_slices(values, [sliced.rules], units, int(generator.integers(2**31)), DRAWS)
        masks = {str(other): other.mask for other in sliced.rules}
        shares = [
            (masks[one.rule] & rule.mask).sum() / (masks[one.rule] | rule.mask).sum()
            for one in finds
        ]
        counts += [max(shares, default=0) >= SHARED, bool(finds), 1]
    return counts


def _is_planted(rule: SliceRule, units: Units) -> bool:
    return (
        bool(LEAST_TURNS <= rule.mask.mean() <= 0.5)
        and len(np.unique(units.codes[rule.mask])) >= LEAST_UNITS
    )


def coverage(
    sliced: Sliced, measure: str, units: int, trials: int, generator: np.random.Generator
) -> np.ndarray:
    """Return [4]: covering intervals and intervals, for means and for differences, over the slices of all slicings."""
    some = sliced.some
    values = some.scores[measure][-1]
    own = [np.flatnonzero(some.units.codes == code) for code in range(some.units.count)]
    bounds = (0.0, 1.0)
    truth = [
        (one.estimate.value, one.contrast.difference)
        for one in slices_of([values], sliced.slicings, some.units, 0)[0]
    ]
    counts = np.zeros(4)
    for _ in range(trials):
        drawn = generator.integers(some.units.count, size=units)
        rows = np.concatenate([own[code] for code in drawn])
        codes = np.repeat(np.arange(units), [len(own[code]) for code in drawn])
        taken = [replace(one, codes=one.codes[rows]) for one in sliced.slicings]
        seed = int(generator.integers(2**31))
        again = Units("conversation", codes, tuple(map(str, range(units))))
        for one, (mean, difference) in zip(
            slices_of([values[rows]], taken, again, seed, bounds=bounds, draws=DRAWS)[0],
            truth,
            strict=True,
        ):
            own_, found = one.estimate, one.contrast
            counts += [own_.low <= mean <= own_.high, own_.low == own_.low,
                       found.low <= difference <= found.high, found.low == found.low]  # fmt: skip
    return counts


def level(
    sliced: Sliced, measure: str, how: str, trials: int, generator: np.random.Generator
) -> np.ndarray:
    """Return [4]: counts of p ≤ 0.05, of p ≤ 0.01 and of tests on shuffled scores, and trials with any adjusted p ≤ 0.05."""
    table = sliced.some.scores[measure]
    counts = np.zeros(4)
    for _ in range(trials):
        values = shuffled(table[generator.integers(len(table))], sliced.some.units, how, generator)
        seed = int(generator.integers(2**31))
        contrasts = [
            one.contrast
            for one in slices_of([values], sliced.slicings, sliced.some.units, seed, draws=DRAWS)[0]
        ]
        p = np.array([one.p for one in contrasts if one.p == one.p])
        corrected = [one.p_corrected for one in contrasts if one.p_corrected == one.p_corrected]
        counts += [
            (p <= 0.05).sum(),
            (p <= 0.01).sum(),
            len(p),
            min(corrected, default=1.0) <= 0.05,
        ]
    return counts


def tasks(trials: int, part: int) -> Iterator[Task]:
    """Return every cell in parts of ``part`` trials."""
    for name in COLLECTIONS:
        for measure in MEASURES:
            for start in range(0, trials, part):
                some = min(part, trials - start)
                for how in SHUFFLES:
                    for what in ("false", "planted", "level"):
                        yield what, name, f"{measure} {how}", start, some
                for units in UNITS:
                    yield "coverage", name, f"{measure} {units}", start, some


def work(job: tuple[Path, Task]) -> tuple[tuple[str, str, str], np.ndarray]:
    """Return the counts of one part of a cell."""
    data, (what, name, cell, start, trials) = job
    sliced = read(data, name)
    measure, _, how = cell.partition(" ")
    generator = np.random.default_rng(
        [len(what), COLLECTIONS.index(name), MEASURES.index(measure), start, len(how)]
    )
    if what == "coverage":
        counts = coverage(sliced, measure, int(how), trials, generator)
    else:
        counts = {"false": false_finds, "planted": planted, "level": level}[what](
            sliced, measure, how, trials, generator
        )
        if what == "level":
            counts = np.append(counts, trials)
    return (what, name, cell), counts


def simulate(data: Path, trials: int, jobs: int) -> dict[tuple[str, str, str], np.ndarray]:
    """Return (what, collection, measure and how) → counts."""
    found: dict[tuple[str, str, str], np.ndarray] = defaultdict(lambda: np.zeros(1))
    every = [(data, task) for task in tasks(trials, 100)]
    with multiprocessing.Pool(jobs) as pool:
        for done, (key, counts) in enumerate(pool.imap_unordered(work, every), 1):
            found[key] = found[key] + counts
            print(f"\r{done} of {len(every)}", end="", file=sys.stderr)
    return dict(found)


def search_table(found: dict[tuple[str, str, str], np.ndarray], data: Path) -> list[str]:
    """Return the Markdown table of false finds and recall."""
    lines = [
        "| collection | measure | rules | shuffled | false finds, % | planted slices found, % |",
        "|---|---|---|---|---|---|",
    ]
    for name in COLLECTIONS:
        for measure in MEASURES:
            for how in SHUFFLES:
                false, trials = found["false", name, f"{measure} {how}"]
                hits, _, all_ = found["planted", name, f"{measure} {how}"]
                rules = len(read(data, name).rules)
                lines.append(
                    f"| {name} | {measure} | {rules} | {how} | {100 * false / trials:.1f} | {100 * hits / all_:.1f} |"
                )
    return lines


def interval_table(found: dict[tuple[str, str, str], np.ndarray]) -> list[str]:
    """Return the Markdown table of coverage of means and differences."""
    cells = " | ".join(map(str, UNITS))
    lines = [
        f"| estimate | collection | measure | {cells} |",
        "|---|---|---|" + "---|" * len(UNITS),
    ]
    for place, what in ((0, "mean of a slice"), (2, "slice − rest")):
        for name in COLLECTIONS:
            for measure in MEASURES:
                counts = [found["coverage", name, f"{measure} {units}"] for units in UNITS]
                covers = " | ".join(f"{100 * one[place] / one[place + 1]:.1f}" for one in counts)
                lines.append(f"| {what} | {name} | {measure} | {covers} |")
    return lines


def test_table(found: dict[tuple[str, str, str], np.ndarray]) -> list[str]:
    """Return the Markdown table of rejected tests on shuffled scores."""
    lines = [
        "| collection | measure | shuffled | p ≤ .05, % | p ≤ .01, % | any adjusted p ≤ .05, % of the trials |",
        "|---|---|---|---|---|---|",
    ]
    for name in COLLECTIONS:
        for measure in MEASURES:
            for how in SHUFFLES:
                at_05, at_01, tests, family, trials = found["level", name, f"{measure} {how}"]
                lines.append(
                    f"| {name} | {measure} | {how} | {100 * at_05 / tests:.1f} | {100 * at_01 / tests:.1f}"
                    f" | {100 * family / trials:.1f} |"
                )
    return lines


def main() -> None:
    """Simulate, and write or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=1000, help="trials of every cell")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("ROBUSTCS_DATA", ROOT.parent / "shared" / "data")),
    )
    parser.add_argument("--print", action="store_true", help="do not write docs/slices.md")
    options = parser.parse_args()
    start = time.monotonic()
    found = simulate(options.data, options.trials, options.jobs)
    minutes = (time.monotonic() - start) / 60
    print(
        f"\n{options.trials} trials per cell, {minutes:.1f} minutes with {options.jobs} processes",
        file=sys.stderr,
    )
    tables = {
        "search": search_table(found, options.data),
        "intervals": interval_table(found),
        "tests": test_table(found),
    }
    for name, lines in tables.items():
        print("\n".join(lines), end="\n\n")
        if not options.print:
            put(PAGE, name, lines)


if __name__ == "__main__":
    main()
