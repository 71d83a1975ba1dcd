"""Measure how many judgments early stopping saves: ``python bench/stopping.py [--data FOLDER] [--write]``.

The script compares two runs by NDCG@3. It hides some of their judged passages and judges them again one by one until the order
of the runs is settled. It tries three orders of work: expected influence (as ``judge --with``), influence, and the usual order
by rank over all turns. ``--write`` puts the table into docs/judge.md. It uses two processes and takes some minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from bench.holes import COLLECTIONS, truth  # noqa: E402
from robustcs.evaluation.hole_model import fit_hole_model  # noqa: E402
from robustcs.evaluation.hole_order import (  # noqa: E402
    Contest,
    drawn_grades,
    hole_effects,
    influences,
    judgments_needed,
    orders,
    with_known,
)
from robustcs.evaluation.matrix import UNJUDGED  # noqa: E402
from robustcs.evaluation.measure import parse_measure  # noqa: E402
from robustcs.evaluation.run_pool import NEVER, Grades  # noqa: E402
from robustcs.policy import EvaluationPolicy  # noqa: E402

POLICY = EvaluationPolicy(relevance_level=2)
MEASURE = parse_measure("ndcg_cut_3")
TOP = 3
#: Pairs of runs per collection, checks until everything is judged, and the collections.
PAIRS, LOOKS = 6, 25
NAMES = ("cast2019", "cast2020", "dl2021")
#: The hidden passages in the top of the two runs.
WAYS = ("a random half", "what the second alone found")
PAGE = ROOT / "docs" / "judge.md"
BEGIN, END = "<!-- table of bench/stopping.py -->", "<!-- end of table -->"


@dataclass(frozen=True)
class Replay:
    """Judgments until the order is proven and until it is certain, by order of work; whether it was right; the forecast."""

    hidden: int
    proven: dict[str, int]
    certain: dict[str, int]
    right: dict[str, bool]
    forecast: tuple[int, int, int] | None


def replay(job: tuple[str, int, int, str, int, Path]) -> tuple[str, str, Replay] | None:
    """Replay one pair of runs with one way of hiding; None if the runs are equal or nothing is hidden."""
    name, first, second, way, seed, data = job
    pool, grades, groups = truth(name, data)
    _, codes = np.unique(groups, return_inverse=True)
    ranks = pool.best_ranks()
    mine, other = ranks[first], ranks[second]
    inside = np.minimum(mine, other) <= TOP
    rng = np.random.default_rng([seed, first, second])
    if way == WAYS[0]:
        pairs = np.flatnonzero(inside & (rng.random(len(pool)) < 0.5))
    else:
        pairs = np.flatnonzero(inside & (np.delete(ranks, second, axis=0).min(axis=0) == NEVER))
    left = grades.copy()
    left[pairs] = UNJUDGED
    highest = int(grades[:-1].max())
    counted = np.ones(len(pool.turns), dtype=bool)
    asked = Contest(pool, ((first, second),), (MEASURE,), POLICY, counted, TOP, highest)
    [truly] = orders(asked, grades, None)
    holes = asked.holes(left)
    if not truly.difference or not len(holes):
        return None
    model = fit_hole_model(pool, left, TOP, codes.tolist(), seed)
    assert model is not None
    effects = hole_effects(asked, left, model.pairs, model.levels)
    drawn = drawn_grades(model, left)
    changes = influences(effects, asked.compared)
    works = {
        "expected influence": -(changes * model.probabilities()).sum(axis=1),
        "influence": -changes.max(axis=1),
        "rank": np.minimum(mine, other)[model.pairs].astype(float),
    }
    now = orders(asked, left, drawn)
    queues = {work: np.argsort(key, kind="stable") for work, key in works.items()}
    needed, _ = judgments_needed(
        asked, now, model, effects, left, drawn, queues["expected influence"]
    )
    proven, certain, right = {}, {}, {}
    for work, queue in queues.items():
        known = left.copy()
        looks = np.unique(np.linspace(0, len(queue), LOOKS + 1).astype(int))
        for done in looks.tolist():
            known[model.pairs[queue[:done]]] = grades[model.pairs[queue[:done]]]
            open_ = work not in certain
            [order] = orders(
                asked,
                known,
                relearned(asked, known, codes.tolist(), seed, drawn, work) if open_ else None,
            )
            if open_ and order.state != "open":
                certain[work] = done
                says = order.difference if order.state == "proven" else order.expected
                right[work] = np.sign(says) == np.sign(truly.difference)
            if order.state == "proven":
                proven[work] = done
                break
    forecast = (needed[0].median, needed[0].low, needed[0].high) if now[0].state == "open" else None
    return name, way, Replay(len(holes), proven, certain, right, forecast)


def relearned(
    asked: Contest, known: Grades, groups: list[int], seed: int, drawn: Grades, work: str
) -> Grades:
    """Return the draws with the known grades; for expected influence from a refitted model, as in ``judge --with``."""
    if work == "expected influence":
        model = fit_hole_model(asked.pool, known, TOP, groups, seed)
        if model is not None:
            return drawn_grades(model, known)
    return with_known(drawn, known)


def jobs(data: Path) -> list[tuple[str, int, int, str, int, Path]]:
    """Return all replays: the closest pairs of runs of every collection, with enough hidings for six replays each."""
    found = []
    for name in NAMES:
        pool, grades, _ = truth(name, data)
        means = pool.score(grades[None], (MEASURE,), POLICY)[0, :, 0].mean(axis=-1)
        pairs = sorted(
            combinations(range(len(means)), 2),
            key=lambda pair: abs(means[pair[0]] - means[pair[1]]),
        )[:PAIRS]
        for way in WAYS:
            times = PAIRS if way == WAYS[0] else len(pairs)
            found += [
                (name, *pairs[number % len(pairs)], way, number, data) for number in range(times)
            ]
    return found


def table(results: list[tuple[str, str, Replay]]) -> str:
    """Return the Markdown table."""
    lines = [
        "| collection | hidden | replays | passages | certain: by expected influence | by influence | by rank"
        " | proven: by influence | by rank | right | within the forecast |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in NAMES:
        for way in WAYS:
            some = [one for other, its, one in results if (other, its) == (name, way)]
            if not some:
                continue

            def mean(values: list[float]) -> str:
                return f"{np.mean(values):.0f}" if values else "–"

            open_ = [one for one in some if one.forecast]
            inside = [
                one.forecast[1]
                <= one.certain["expected influence"]
                <= one.forecast[2] + one.hidden / LOOKS
                for one in open_
            ]
            rights = [one.right["expected influence"] for one in some]
            cells = [
                COLLECTIONS[name].title.split(",")[0], way, str(len(some)), mean([one.hidden for one in some]),
                *(mean([one.certain[work] for one in some]) for work in ("expected influence", "influence", "rank")),
                *(mean([one.proven[work] for one in some]) for work in ("influence", "rank")),
                f"{sum(rights)} of {len(rights)}", f"{sum(inside)} of {len(inside)}",
            ]  # fmt: skip
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Replay, print the table, and write it with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("ROBUSTCS_DATA", ROOT / ".." / "shared" / "data")),
    )
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with ProcessPoolExecutor(2) as pool:
        results = [one for one in pool.map(replay, jobs(given.data), chunksize=1) if one]
    made = table(results)
    print(made)
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
        PAGE.write_text(f"{text[:start]}\n{made}\n{text[end:]}", encoding="utf-8")


if __name__ == "__main__":
    main()
