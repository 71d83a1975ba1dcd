"""Measure the coverage of intervals for sampling and unjudged passages together.

    python bench/holes_sampling.py [--data FOLDER] [--trials N]

As in bench/holes.py, runs contain only judged passages. The conversations of a collection are the population, and their
differences between runs are the truth. Every trial draws conversations with replacement, hides judged passages, predicts their
grades, and checks whether the 95% interval of each pair's expected difference contains the truth. A conversation that is drawn
twice has different passages each time, so one copy does not reveal hidden grades of the other.

The table also shows two other intervals: one that treats unjudged passages as not relevant, and one for unjudged passages
without sampling. ``--write`` puts it into docs/holes.md. It uses two processes.
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

from bench.holes import COLLECTIONS, MEASURES, PAGE, POLICY, hidden, truth  # noqa: E402
from bench.pages import put  # noqa: E402
from robustcs.evaluation.groups import RunSources  # noqa: E402
from robustcs.evaluation.hole_expectation import EXPECTED, fill_holes  # noqa: E402
from robustcs.evaluation.matrix import ABSENT, UNJUDGED  # noqa: E402
from robustcs.evaluation.run_pool import Grades, RunPool  # noqa: E402
from robustcs.inputs.ids import Ids  # noqa: E402
from robustcs.statistics.sign_flip import paired_tests  # noqa: E402
from robustcs.statistics.units import units_of  # noqa: E402

#: (collection, way of hiding) of the trials.
WAYS = tuple(
    (name, way)
    for name in ("cast2019", "cast2020")
    for way in ("random 20%", "random 40%", "unique to a group")
)


def resampled(
    pool: RunPool, grades: Grades, chosen: np.ndarray, codes: np.ndarray
) -> tuple[RunPool, Grades]:
    """Return the pool of the ``chosen`` conversations; each copy has its own turns and passages.

    ``codes`` are the conversations of the turns.
    """
    turns, pair_turns, pair_documents, kept_grades = [], [], [], []
    places: list[list[np.ndarray]] = [[] for _ in pool.places]
    size, count = len(pool), 0
    total = sum(int((codes[pool.pair_turns] == conversation).sum()) for conversation in chosen)
    for copy, conversation in enumerate(chosen):
        rows = np.flatnonzero(codes == conversation)
        pairs = np.flatnonzero(codes[pool.pair_turns] == conversation)
        number = np.full(size + 1, total, dtype=np.int32)
        number[pairs] = np.arange(count, count + len(pairs))
        row_of = np.zeros(len(pool.turns), dtype=np.int64)
        row_of[rows] = np.arange(len(turns), len(turns) + len(rows))
        turns += [f"{copy}_{place}" for place in range(1, len(rows) + 1)]
        pair_turns.append(row_of[pool.pair_turns[pairs]])
        pair_documents.append(pool.pair_documents[pairs] + copy * len(pool.documents))
        kept_grades.append(grades[pairs])
        for run, matrix in enumerate(pool.places):
            places[run].append(number[matrix[rows]])
        count += len(pairs)
    names = pool.documents.texts()
    used = np.unique(np.concatenate(pair_documents), return_inverse=True)
    documents = Ids.of(f"{names[code % len(names)]} {code // len(names)}" for code in used[0])
    made = replace(
        pool, turns=tuple(turns), pair_turns=np.concatenate(pair_turns), pair_documents=used[1], documents=documents,
        places=tuple(np.concatenate(rows) for rows in places),
    )  # fmt: skip
    return made, np.append(np.concatenate(kept_grades), np.int16(ABSENT)).astype(np.int16)


def trial(job: tuple[str, str, int, Path]) -> tuple[str, str, np.ndarray]:
    """Return float64[5, M]: coverage of the intervals for both, for sampling and for unjudged passages; mean widths."""
    name, way, number, data = job
    pool, grades, groups = truth(name, data)
    codes = units_of(pool.turns).codes
    first, second = np.triu_indices(len(pool.names), 1)
    scores = pool.score(grades[None], MEASURES, POLICY)[0].mean(axis=-1)
    true = scores[first] - scores[second]
    # the seeds of the published table
    rng = np.random.default_rng([number, len(way) + way.startswith("random")])
    conversations = int(codes.max()) + 1
    some, known = resampled(pool, grades, rng.integers(0, conversations, conversations), codes)
    left = known.copy()
    left[
        hidden(way, number if way.startswith("random") else number % len(set(groups)), some, groups)
    ] = UNJUDGED
    units = units_of(some.turns)
    counted = np.ones(len(some.turns), dtype=bool)
    _, of_group = np.unique(groups, return_inverse=True)
    filled = fill_holes(
        some,
        left,
        MEASURES,
        POLICY,
        counted,
        units,
        number,
        RunSources(tuple(of_group.tolist())),
        check=False,
    )
    contrasts = np.zeros((len(first), len(pool.names)))
    contrasts[np.arange(len(first)), first], contrasts[np.arange(len(first)), second] = 1, -1
    names = [field.name for field in EXPECTED]
    out = np.zeros((5, len(MEASURES)))
    for column in range(len(MEASURES)):
        found = dict(zip(names, filled.differences(contrasts, column).T, strict=True))
        tests = paired_tests(contrasts @ filled.now[:, column], units.sizes, number)
        ends = [
            (found["expected_low"], found["expected_high"]),
            (np.array([test.low for test in tests]), np.array([test.high for test in tests])),
            (found["holes_low"], found["holes_high"]),
        ]
        for row, (low, high) in enumerate(ends):
            out[row, column] = ((low <= true[:, column]) & (true[:, column] <= high)).mean()
        out[3:, column] = [(high - low).mean() for low, high in ends[:2]]
    return name, way, out


def table(results: list[tuple[str, str, np.ndarray]]) -> str:
    """Return the Markdown table."""
    head = ["collection", "hidden", "trials", *(f"{measure.label} {what}" for measure in MEASURES
            for what in ("together", "sampling alone", "unjudged alone", "width, together / sampling alone"))]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|---|---" + "|--:" * (len(head) - 2) + "|"]
    for name, way in dict.fromkeys((name, way) for name, way, _ in results):
        values = np.array([value for *key, value in results if key == [name, way]])
        mean = values.mean(axis=0)
        cells = [COLLECTIONS[name].title, way, str(len(values))]
        for column in range(len(MEASURES)):
            cells += [f"{100 * share:.0f}" for share in mean[:3, column]]
            cells.append(" / ".join(f".{1000 * width:03.0f}" for width in mean[3:, column]))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run all trials and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the table into docs/holes.md")
    options = parser.parse_args()
    jobs = [
        (name, way, number, options.data) for name, way in WAYS for number in range(options.trials)
    ]
    with ProcessPoolExecutor(options.processes) as executor:
        text = table(list(executor.map(trial, jobs, chunksize=4)))
    print(text)
    if options.write:
        put(PAGE, "samples", text.splitlines())


if __name__ == "__main__":
    main()
