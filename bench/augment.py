"""Time what-if draws, leave-one-run-out and bootstrap on the five largest runs of CAsT 2019.

    PYTHONPATH=. python bench/augment.py [DATA]

An evaluation scores one run under one set of grades with three measures, per turn. pytrec_eval gets run and judgments as
ready-made dictionaries, and its time covers only scoring. It repeats the evaluations of leave-one-run-out, and its means must
equal those of robustcs.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.ranking import rank_run
from robustcs.evaluation.run_pool import PoolBuilder, RunPool, collect_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.statistics.ranks import RANK_CORRELATIONS, RESAMPLES, rank_stability
from robustcs.studies.augment.analysis import DEFAULT_MEASURES, contributed_alone, leave_one_out
from robustcs.studies.augment.whatif import what_if

DRAWS = 1000
DEPTH = 10
RUNS = 5
POLICY = EvaluationPolicy(relevance_level=2)


def main(data: Path) -> None:
    """Print CPU seconds, which do not depend on other programs, and evaluations per CPU second."""
    folder = data / "cast2019"
    largest = sorted(folder.glob("*/*.gz"), key=lambda path: path.stat().st_size)[-RUNS:]
    measures = list(DEFAULT_MEASURES)
    start = time.process_time()
    qrels = read_qrels(folder / "qrels.txt.gz")
    builder = PoolBuilder(qrels.turns, qrels)
    for path in largest:
        builder.add(collect_run(builder.turns, rank_run(read_run(path), POLICY)))
    pool = builder.build()
    grades = pool.grades(qrels)
    named = ", ".join(map(str, measures))
    print(
        f"{RUNS} runs of CAsT 2019, {len(pool.turns)} turns, {len(pool):,} pairs; measures {named}"
    )
    rows = [("read, rank and pool the runs", time.process_time() - start, 0)]
    counted = np.ones(len(pool.turns), dtype=bool)

    start = time.process_time()
    drawn = what_if(pool, grades, DEPTH, DRAWS, measures, POLICY, counted, seed=0)
    rows.append((f"what-if, {DRAWS} draws", time.process_time() - start, (DRAWS + 1) * RUNS))
    start = time.process_time()
    what_if(pool, grades, DEPTH, DRAWS, measures[:1], POLICY, counted, seed=0)
    rows.append(
        (
            f"what-if, {DRAWS} draws, {measures[0]} alone",
            time.process_time() - start,
            (DRAWS + 1) * RUNS,
        )
    )
    start = time.process_time()
    left = leave_one_out(pool, grades, DEPTH, measures, POLICY, counted)
    rows.append(("leave one run out", time.process_time() - start, (RUNS + 1) * RUNS))
    scores = pool.score(grades[None], measures, POLICY)[0]
    start = time.process_time()
    for column in range(len(measures)):
        other = np.roll(scores[:, column], 1, axis=0)
        for method in RANK_CORRELATIONS:
            rank_stability(
                scores[:, column], other, np.ones(scores.shape[-1]), 0, method, noun="turn"
            )
    rows.append(
        (
            f"{len(RANK_CORRELATIONS)} rank correlations, {RESAMPLES} resamples",
            time.process_time() - start,
            0,
        )
    )

    alone = contributed_alone(pool, grades, DEPTH)
    seconds, means = with_pytrec_eval(pool, grades, alone)
    expected = left["after"].to_numpy().reshape(len(measures), RUNS)
    np.testing.assert_allclose(means, expected, atol=1e-9)
    rows.append(("leave one run out, pytrec_eval", seconds, RUNS))
    print(
        f"{drawn.holes:,} unjudged passages drawn, {alone.sum():,} judgments that only one run contributed\n"
    )
    print(f"{'':48}{'CPU s':>9}{'evaluations/s':>15}")
    for name, took, evaluations in rows:
        print(f"{name:48}{took:>9.2f}{f'{evaluations / took:,.0f}' if evaluations else '':>15}")


def with_pytrec_eval(
    pool: RunPool, grades: np.ndarray, alone: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return CPU seconds of pytrec_eval, and means[measure, run] without the judgments that only this run contributed."""
    import pytrec_eval

    seconds = 0.0
    means = np.empty((len(DEFAULT_MEASURES), len(pool.names)))
    names = {"ndcg_cut.3", "recall.1000", "map"}
    for number, places in enumerate(pool.places):
        left = grades[:-1].copy()
        left[alone[number]] = UNJUDGED
        judgments: dict[str, dict[str, int]] = {turn: {} for turn in pool.turns}
        for pair in np.flatnonzero(left > UNJUDGED).tolist():
            judgments[pool.turns[pool.pair_turns[pair]]][str(pair)] = int(left[pair])
        run = {
            turn: {
                str(pair): -float(rank)
                for rank, pair in enumerate(row.tolist())
                if pair < len(pool)
            }
            for turn, row in zip(pool.turns, places, strict=True)
        }
        run = {turn: ranking for turn, ranking in run.items() if ranking}
        start = time.process_time()
        scores = pytrec_eval.RelevanceEvaluator(judgments, names, relevance_level=2).evaluate(run)
        seconds += time.process_time() - start
        for column, name in enumerate(map(str, DEFAULT_MEASURES)):
            means[column, number] = sum(turn[name] for turn in scores.values()) / len(pool.turns)
    return seconds, means


if __name__ == "__main__":
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
