"""Measure the coverage of scores from human and model judgments together.

    PYTHONPATH=. python bench/judges.py [--labellings 50] [--jobs 2] [--data FOLDER] [--print]

The script writes its tables between their markers in docs/audit.md; ``--print`` only prints them. FOLDER defaults to
``$ROBUSTCS_DATA`` or ``../shared/data``.

The truth are the mean scores of public runs under all human judgments. A simulated judge labels the same passages with the
confusion matrix of one of the 23 judges of LLMJudge. Its errors are independent or correlated within a conversation. Human
judgments remain for some conversations, drawn at random.
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
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from bench.coverage import ROOT
from bench.pages import put
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.evaluation.run_pool import PoolBuilder, RunPool, collect_run
from robustcs.inputs.labels import read_labels
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.statistics.means import cluster_ratio
from robustcs.statistics.prediction_powered import (
    LEAST_PILOT,
    Corrected,
    corrected,
    judged_sums,
    selection_test,
    units_to_judge,
)
from robustcs.statistics.student import t_quantile
from robustcs.statistics.units import Units, units_of

PAGE = ROOT / "docs" / "audit.md"
POLICY = EvaluationPolicy(relevance_level=2)
MEASURES = [parse_measure(name) for name in ("ndcg_cut_3", "P_5")]
COLLECTIONS = ("CAsT 2019", "CAsT 2020", "DL 2021")
#: Shares of conversations with human judgments.
SHARES = (0.2, 0.4, 0.6)
#: Correlation of a judge's errors within a conversation, on the normal scale behind the labels.
ERRORS = {"independent": 0.0, "correlated": 0.25}
#: Counts per cell, for scores and for differences.
FIELDS = ("corrected", "people", "model", "mixed", "estimates", "width", "people_width")


@dataclass(frozen=True, eq=False)
class Truth:
    """A collection with partly hidden judgments.

    human
        int16[N + 1]: human grades.
    scores
        float64[R, M, T]: scores under these grades.
    pair_units
        int64[N]: the unit of every pair.
    """

    pool: RunPool
    human: np.ndarray
    scores: np.ndarray
    units: Units
    pair_units: np.ndarray


@cache
def read_truth(data: Path, name: str) -> Truth:
    """Return the runs of a collection: all of them, or six of DL 2021."""
    folder = data / name.lower().replace(" ", "")
    qrels = read_qrels(folder / ("qrels_human.txt.gz" if name == "DL 2021" else "qrels.txt.gz"))
    files = sorted((folder / "runs").glob("*.gz"))
    files = files[:: len(files) // 6][:6] if name == "DL 2021" else files
    files += sorted((folder / "decaf").glob("*.run.gz"))
    builder = PoolBuilder(qrels.turns, qrels)
    for file in files:
        builder.add(collect_run(builder.turns, rank_run(read_run(file), POLICY)))
    pool = builder.build()
    human = pool.grades(qrels)
    units = units_of(pool.turns)
    return Truth(
        pool,
        human,
        pool.score(human[None], MEASURES, POLICY)[0],
        units,
        units.codes[pool.pair_turns],
    )


@cache
def read_confusions(data: Path) -> np.ndarray:
    """Return float64[23, 4, 4]: the cumulative distribution of each judge's labels for every human grade."""
    people = read_qrels(data / "llmjudge" / "human.qrels.gz")
    pool = PoolBuilder(people.turns, people).build()
    human = pool.grades(people)[:-1].astype(int)
    found = []
    for file in sorted((data / "llmjudge" / "judges").iterdir()):
        labels = np.minimum(pool.grades(read_labels(file).qrels)[:-1].astype(int), 3)
        counts = np.bincount(human * 4 + labels, minlength=16).reshape(4, 4).astype(float)
        found.append(np.cumsum(counts / counts.sum(axis=1, keepdims=True), axis=1))
    return np.array(found)


def label(
    truth: Truth, confusion: np.ndarray, shared: float, random: np.random.Generator
) -> np.ndarray:
    """Return int16[N + 1]: a judge's labels for all passages with human judgments."""
    known = np.flatnonzero(truth.human[:-1] > UNJUDGED)
    common = random.normal(size=truth.units.count)[truth.pair_units[known]]
    chance = ndtr(np.sqrt(shared) * common + np.sqrt(1 - shared) * random.normal(size=len(known)))
    rows = confusion[np.clip(truth.human[known], 0, 3)]
    labels = truth.human.copy()
    labels[known] = (chance[:, None] > rows[:, :-1]).sum(axis=1)
    return labels


def trial(
    truth: Truth, model: np.ndarray, count: int, random: np.random.Generator
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return counts by kind (scores, differences), of plans (reached, all), and of tests of the sample (rejected, all)."""
    units = truth.units
    judged = np.zeros(units.count, dtype=bool)
    judged[random.choice(units.count, count, replace=False)] = True
    first, second = np.array(list(combinations(range(len(truth.pool.names)), 2))).T
    tallies = {kind: np.zeros(len(FIELDS)) for kind in ("scores", "differences")}
    other = np.zeros(4)
    for place in range(len(MEASURES)):
        people, labels = truth.scores[:, place], model[:, place]
        sides = {
            "scores": (people, labels),
            "differences": (people[first] - people[second], labels[first] - labels[second]),
        }
        for kind, (own, theirs) in sides.items():
            found = corrected(judged_sums(own, theirs, units, judged))
            tallies[kind] += _covers(found, own, theirs, units, judged)
        found = corrected(judged_sums(people, labels, units, judged))
        if count >= LEAST_PILOT:
            other[:2] += _plan(found, people, labels, units, random)
        p = selection_test(
            units.sums(labels.mean(axis=0)), units.sizes, judged, int(random.integers(2**31))
        )
        other[2:] += (p <= 0.05, 1)
    return tallies, other


def _covers(
    found: Corrected, people: np.ndarray, model: np.ndarray, units: Units, judged: np.ndarray
) -> np.ndarray:
    true = people.mean(axis=1)
    half, alone = found.half_width(), found.half_width(alone=True)
    held = [
        np.abs(value - true) <= width + 1e-9
        for value, width in ((found.value, half), (found.people, alone))
    ]
    for scores in (model, np.where(judged[units.codes], people, model)):
        # common practice: treat the labels as judgments, with the usual interval over all conversations
        value, variance, count = cluster_ratio(units.sums(scores), units.sizes)
        held.append(np.abs(value - true) <= t_quantile(count) * np.sqrt(variance))
    return np.array([*(part.sum() for part in held), len(true), half.sum(), alone.sum()])


def _plan(
    found: Corrected,
    people: np.ndarray,
    model: np.ndarray,
    units: Units,
    random: np.random.Generator,
) -> np.ndarray:
    """Plan for two thirds of the current width, judge the planned number of conversations, and check the width."""
    within = 2 / 3 * float(found.half_width()[0])
    if not within > 0:
        return np.zeros(2)
    count = units_to_judge(float(found.variance[0]), found.judged, found.units, within)
    judged = np.zeros(units.count, dtype=bool)
    judged[random.choice(units.count, count, replace=False)] = True
    if count == units.count:
        return np.ones(2)
    reached = corrected(judged_sums(people, model, units, judged)).half_width()[0] <= within
    return np.array([reached, 1.0])


def work(task: tuple[Path, str, str, int, int]) -> dict[tuple[str, ...], np.ndarray]:
    """Run all shares for some labellings of every judge."""
    data, name, errors, labellings, seed = task
    truth, confusions = read_truth(data, name), read_confusions(data)
    random = np.random.default_rng(seed)
    counts: dict[tuple[str, ...], np.ndarray] = defaultdict(lambda: np.zeros(len(FIELDS)))
    for confusion in np.repeat(confusions, labellings, axis=0):
        model = truth.pool.score(
            label(truth, confusion, ERRORS[errors], random)[None], MEASURES, POLICY
        )[0]
        for share in SHARES:
            number = max(5, round(share * truth.units.count))
            tallies, other = trial(truth, model, number, random)
            for kind, tally in tallies.items():
                counts[kind, name, errors, f"{number} of {truth.units.count}"] += tally
            counts["other", name, errors, f"{number} of {truth.units.count}"][:4] += other
    return dict(counts)


def tasks(data: Path, labellings: int) -> Iterator[tuple[Path, str, str, int, int]]:
    """Return one task for each collection, kind of errors, and chunk of labellings."""
    for place, (name, errors) in enumerate(
        (name, errors) for name in COLLECTIONS for errors in ERRORS
    ):
        for start in range(0, labellings, 10):
            yield data, name, errors, min(10, labellings - start), 1000 * place + start


def simulate(data: Path, labellings: int, jobs: int) -> dict[tuple[str, ...], np.ndarray]:
    """Return (kind, collection, errors, judged) → counts."""
    found: dict[tuple[str, ...], np.ndarray] = defaultdict(lambda: np.zeros(len(FIELDS)))
    with multiprocessing.Pool(jobs) as pool:
        for counts in pool.imap_unordered(work, list(tasks(data, labellings))):
            for key, tally in counts.items():
                found[key] += tally
            print(".", end="", flush=True, file=sys.stderr)
    return found


# ---------------------------------------------------------------- tables


def estimate_table(found: dict[tuple[str, ...], np.ndarray]) -> list[str]:
    """Return the Markdown table of coverage and width of the corrected estimates and of the alternatives."""
    lines = [
        "| estimate | collection | errors | judged | corrected: coverage, % | width | human alone | model alone | mixed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in ("scores", "differences"):
        for name in COLLECTIONS:
            for errors in ERRORS:
                cells = [
                    (key[3], tally)
                    for key, tally in sorted(found.items())
                    if key[:3] == (kind, name, errors)
                ]
                cells.sort(key=lambda cell: int(cell[0].split()[0]))
                covers = [
                    " · ".join(f"{100 * tally[place] / tally[4]:.1f}" for _, tally in cells)
                    for place in (0, 1, 2, 3)
                ]
                widths = " · ".join(f"{tally[5] / tally[6]:.2f}" for _, tally in cells)
                judged = (
                    " · ".join(number.split()[0] for number, _ in cells)
                    + " of "
                    + cells[0][0].split()[-1]
                )
                lines.append(
                    f"| {kind} | {name} | {errors} | {judged} | {covers[0]} | {widths} | {' | '.join(covers[1:])} |"
                )
    return lines


def other_table(found: dict[tuple[str, ...], np.ndarray]) -> list[str]:
    """Return the Markdown table of plans that reach their width, and of random samples that the test rejects."""
    lines = [
        "| collection | errors | plans that reach their width, % | random samples rejected at .05, % |",
        "|---|---|---|---|",
    ]
    for name in COLLECTIONS:
        for errors in ERRORS:
            reached, plans, rejected, tests = sum(
                tally[:4] for key, tally in found.items() if key[:3] == ("other", name, errors)
            )
            lines.append(
                f"| {name} | {errors} | {100 * reached / plans:.0f} | {100 * rejected / tests:.1f} |"
            )
    return lines


def main() -> None:
    """Simulate, and write or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--labellings", type=int, default=50, help="labellings of each of the 23 judges"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("ROBUSTCS_DATA", ROOT.parent / "shared" / "data")),
    )
    parser.add_argument("--print", action="store_true", help="do not write docs/audit.md")
    options = parser.parse_args()
    start = time.monotonic()
    found = simulate(options.data, options.labellings, options.jobs)
    minutes = (time.monotonic() - start) / 60
    print(
        f"\n{23 * options.labellings} trials per cell, {minutes:.1f} minutes with {options.jobs} processes",
        file=sys.stderr,
    )
    for name, lines in {"estimates": estimate_table(found), "plans": other_table(found)}.items():
        print("\n".join(lines), end="\n\n")
        if not options.print:
            put(PAGE, name, lines)


if __name__ == "__main__":
    main()
