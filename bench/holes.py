"""Measure the coverage of the hole model's 95% intervals: ``python bench/holes.py [--data FOLDER] [--hidings N] [--write]``.

The benchmark removes unjudged passages from the runs, so that the true scores are known. It then hides judged passages at
random, by depth, or if only one group of runs retrieved them, and predicts their grades. It prints how often the intervals of
200 draws contain the true mean of every run and the true difference of every pair, and how wide they are compared with the
exact bounds over all hidden passages. ``--write`` puts the table into docs/holes.md. It uses two processes and takes about
fifteen minutes with 50 hidings.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from bench.pages import put  # noqa: E402
from robustcs.evaluation.bounds import measure_bounds  # noqa: E402
from robustcs.evaluation.hole_check import draws_interval  # noqa: E402
from robustcs.evaluation.hole_model import fit_hole_model  # noqa: E402
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, GradeMatrix  # noqa: E402
from robustcs.evaluation.measure import parse_measure  # noqa: E402
from robustcs.evaluation.ranking import rank_run  # noqa: E402
from robustcs.evaluation.run_pool import NEVER, Grades, PoolBuilder, RunPool, collect_run  # noqa: E402
from robustcs.inputs.qrels import read_qrels  # noqa: E402
from robustcs.inputs.runs import read_run  # noqa: E402
from robustcs.policy import EvaluationPolicy  # noqa: E402

DRAWS = 200
POLICY = EvaluationPolicy(relevance_level=2)
MEASURES = tuple(parse_measure(name) for name in ("ndcg_cut_3", "P_5", "map"))
RANDOM, DEPTHS = (10, 20, 40), (10, 20)
PAGE = ROOT / "docs" / "holes.md"


@dataclass(frozen=True)
class Collection:
    """Judgments and runs: prefixes of the run files' names, and the group of each run."""

    title: str
    folder: str
    qrels: str
    runs: dict[str, str]
    tuned: bool = True


def _own(*names: str) -> dict[str, str]:
    return {name: name for name in names}


COLLECTIONS = {
    "cast2019": Collection(
        "CAsT 2019, 6 runs", "cast2019", "qrels.txt.gz",
        {"runs/bert_base_raw": "raw", "runs/bert_base_cv": "rewritten", "runs/bert_base_oracle": "manual",
         "decaf/bm25_bert_raw.run": "raw", "decaf/bm25_bert_t5.run": "rewritten", "decaf/bm25_bert_manual.run": "manual"},
    ),
    "cast2020": Collection(
        "CAsT 2020, 3 runs", "cast2020", "qrels.txt.gz", _own("runs/bert_raw", "runs/bert_auto", "runs/bert_manual")
    ),
    "dl2021": Collection(
        "DL 2021, 6 runs", "dl2021", "qrels_human.txt.gz",
        _own("runs/p_bm25.", "runs/NLE_P", "runs/p_unicoil", "runs/TUW_TAS-B_768", "runs/pash_f3", "runs/watpff"),
    ),
    "dl2021-gpt4": Collection(
        "DL 2021 judged by GPT-4, 6 other runs", "dl2021", "qrels_gpt4.txt.gz",
        _own("runs/p_fusion00", "runs/Fast_Forward_3", "runs/ielab-robertav1", "runs/bcai_p_vbert", "runs/paug_bm25",
             "runs/yorku21"), tuned=False,
    ),
    "cast2021": Collection(
        "CAsT 2021 (documents), 3 runs", "cast2021", "qrels-docs.txt.gz",
        _own("runs/org_convdr.run", "runs/org_manual_ance.run", "runs/org_manual_bm25.run"), tuned=False,
    ),
}  # fmt: skip


@cache
def truth(name: str, data: Path) -> tuple[RunPool, Grades, tuple[str, ...]]:
    """Return the pool without unjudged passages, its grades, and the group of every run."""
    collection = COLLECTIONS[name]
    folder = data / collection.folder
    paths = [next(folder.glob(f"{start}*.gz")) for start in collection.runs]
    qrels = read_qrels(folder / collection.qrels)
    builder = PoolBuilder(qrels.turns, qrels)
    for path in paths:
        builder.add(collect_run(builder.turns, rank_run(read_run(path), POLICY)))
    whole = builder.build()
    pool, grades = stripped(whole, whole.grades(qrels))
    return pool, grades, tuple(collection.runs.values())


def stripped(pool: RunPool, grades: Grades) -> tuple[RunPool, Grades]:
    """Return the pool with judged pairs only; passages below an unjudged passage move up."""
    judged = np.append(grades[:-1] > UNJUDGED, False)
    number = np.where(judged, np.cumsum(judged) - 1, judged.sum())
    places = []
    for place in pool.places:
        order = np.argsort(~judged[place], axis=1, kind="stable")
        places.append(number[np.take_along_axis(place, order, axis=1)].astype(np.int32))
    kept = judged[:-1]
    left = replace(
        pool,
        pair_turns=pool.pair_turns[kept],
        pair_documents=pool.pair_documents[kept],
        places=tuple(places),
    )
    return left, np.append(grades[:-1][kept], np.int16(ABSENT)).astype(np.int16)


def ways(name: str, data: Path, hidings: int) -> Iterator[tuple[str, str, int]]:
    """Yield (collection, way of hiding, number) of every trial."""
    groups = sorted(set(COLLECTIONS[name].runs.values()))
    for share in RANDOM:
        yield from ((name, f"random {share}%", number) for number in range(hidings))
    yield from ((name, f"below rank {depth}", 0) for depth in DEPTHS)
    yield from ((name, "unique to a group", number) for number in range(len(groups)))


def hidden(way: str, number: int, pool: RunPool, groups: tuple[str, ...]) -> np.ndarray:
    """Return the pairs to hide."""
    ranks = pool.best_ranks()
    best = ranks.min(axis=0)
    retrieved = np.flatnonzero(best < NEVER)
    if way.startswith("random"):
        count = int(float(way.split()[1].rstrip("%")) / 100 * len(retrieved))
        return np.random.default_rng([number, count]).choice(retrieved, count, replace=False)
    if way.startswith("below"):
        return retrieved[best[retrieved] > int(way.split()[-1])]
    inside = np.array(groups) == sorted(set(groups))[number]
    return np.flatnonzero(
        (ranks[inside].min(axis=0) < NEVER) & (ranks[~inside].min(axis=0) == NEVER)
    )


def trial(job: tuple[str, str, int, Path]) -> tuple[str, str, np.ndarray]:
    """Return float64[5, M]: coverage of scores and of differences, width, width of the exact bounds, and CPU seconds.

    Runs and pairs that no hidden passage affects are excluded; NaN if that excludes all of them.
    """
    name, way, number, data = job
    pool, grades, groups = truth(name, data)
    pairs = hidden(way, number, pool, groups)
    left = grades.copy()
    left[pairs] = UNJUDGED
    _, codes = np.unique(groups, return_inverse=True)
    true = pool.score(grades[None], MEASURES, POLICY)[0].mean(axis=-1)
    start = time.process_time()
    model = fit_hole_model(pool, left, groups=codes.tolist(), seed=number)
    assert model is not None
    sets = list(model.draws(left, DRAWS, pool.batch(MEASURES)))
    seconds = time.process_time() - start
    drawn = np.concatenate([pool.score(some, MEASURES, POLICY).mean(axis=-1) for some in sets])
    first, second = np.triu_indices(len(pool.names), 1)
    out = np.full((5, len(MEASURES)), np.nan)
    for row, (values, actual) in enumerate(
        ((drawn, true), (drawn[:, first] - drawn[:, second], true[first] - true[second]))
    ):
        low, high = draws_interval(values)
        inside = (low - 1e-9 <= actual) & (actual <= high + 1e-9)
        for column in range(len(MEASURES)):
            touched = (high - low)[:, column] > 1e-12
            if touched.any():
                out[row, column] = inside[touched, column].mean()
        if row == 0:
            out[2] = (high - low).mean(axis=0)
    out[3] = (
        bounds_width(pool, left, int(grades[:-1].max()))
        if number < 3 or way.startswith("unique")
        else np.nan
    )
    out[4] = seconds
    return name, way, out


def bounds_width(pool: RunPool, left: Grades, highest: int) -> np.ndarray:
    """Return float64[M]: mean width of the exact bounds of the runs' means over all grades of the hidden passages."""
    size = len(pool.turns)
    holes = np.bincount(pool.pair_turns[left[:-1] == UNJUDGED], minlength=size)
    known = np.flatnonzero(left[:-1] > UNJUDGED)
    known = known[np.lexsort((-left[known].astype(int), pool.pair_turns[known]))]
    counts = np.bincount(pool.pair_turns[known], minlength=size)
    judged = np.full((size, counts.max()), ABSENT, dtype=np.int16)
    judged[np.arange(counts.max()) < counts[:, None]] = left[known]
    widths = np.zeros((len(pool.names), len(MEASURES)))
    for run, places in enumerate(pool.places):
        retrieved = (places < len(pool)).sum(axis=1)
        matrix = GradeMatrix(
            pool.names[run], pool.turns, left[places], judged, retrieved, retrieved == 0, 0, ()
        )  # fmt: skip
        for column, measure in enumerate(MEASURES):
            bounds = measure_bounds(matrix, measure, POLICY, highest, "pool", holes)
            widths[run, column] = (bounds.high - bounds.low).mean()
    return widths.mean(axis=0)


def table(results: list[tuple[str, str, np.ndarray]]) -> str:
    """Return the Markdown table."""
    head = ["collection", "hidden", "times", *(f"{measure.label} {what}" for measure in MEASURES
            for what in ("scores", "differences", "width / bounds")), "CPU s"]  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|---|---" + "|--:" * (len(head) - 2) + "|"]
    for key in dict.fromkeys((name, way) for name, way, _ in results):
        values = np.array([value for name, way, value in results if (name, way) == key])
        there = np.isfinite(values)
        mean = np.where(
            there.any(axis=0),
            np.where(there, values, 0).sum(axis=0) / np.maximum(there.sum(axis=0), 1),
            np.nan,
        )
        cells = [COLLECTIONS[key[0]].title, key[1], str(len(values))]
        for column in range(len(MEASURES)):
            scores, differences, width, bounds = mean[:4, column]
            shares = (
                f"{100 * share:.0f}" if np.isfinite(share) else "–"
                for share in (scores, differences)
            )
            cells += [
                *shares,
                f".{1000 * width:03.0f} / .{1000 * bounds:03.0f}" if np.isfinite(scores) else "–",
            ]
        lines.append("| " + " | ".join([*cells, f"{mean[4, 0]:.1f}"]) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run all trials, print the table, and write it with --write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--hidings", type=int, default=50)
    parser.add_argument("--collections", nargs="*", default=list(COLLECTIONS))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="put the table into docs/holes.md")
    options = parser.parse_args()
    jobs = [
        (*way, options.data)
        for name in options.collections
        for way in ways(
            name, options.data, options.hidings if COLLECTIONS[name].tuned else options.hidings // 2
        )
    ]
    with ProcessPoolExecutor(options.processes) as executor:
        text = table(list(executor.map(trial, jobs)))
    print(text)
    if options.write:
        put(PAGE, "hidings", text.splitlines())


if __name__ == "__main__":
    main()
