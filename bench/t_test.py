"""``robustcs evaluate`` beside ir_measures and a paired t-test: ``python bench/t_test.py QRELS RUN RUN … [REPEATS]``.

Both score every run by NDCG@3 and P(rel=2)@1 and compare every two. ``$IR_MEASURES`` names a Python that has ir_measures and
scipy, which robustcs itself does not need.
"""

from __future__ import annotations

import os
import sys

from measure import ROOT, machine, measure

#: What people write today, as they write it.
SCRIPT = """
import itertools, sys
import ir_measures
from ir_measures import P, nDCG
from scipy.stats import ttest_rel
evaluator = ir_measures.evaluator([nDCG @ 3, P(rel=2) @ 1], list(ir_measures.read_trec_qrels(sys.argv[1])))
scores = {}
for run in sys.argv[2:]:
    for found in evaluator.iter_calc(ir_measures.read_trec_run(run)):
        scores.setdefault(str(found.measure), {}).setdefault(run, {})[found.query_id] = found.value
for measure, runs in scores.items():
    for first, second in itertools.combinations(runs, 2):
        turns = sorted(runs[first])
        pair = [[runs[name].get(turn, 0) for turn in turns] for name in (first, second)]
        print(measure, first, second, *(sum(one) / len(one) for one in pair), ttest_rel(*pair).pvalue)
"""


def main() -> None:
    """Print one table row per tool; ratios are to ir_measures."""
    repeats = int(sys.argv.pop()) if sys.argv[-1].isdigit() else 5
    qrels, *runs = sys.argv[1:]
    named = [part for place, run in enumerate(runs) for part in ("--run", f"r{place}={run}")]
    robustcs = [sys.executable, str(ROOT / "cli.py"), "evaluate", "--config", os.devnull, "--qrels", qrels]
    measured = measure(
        {
            "ir_measures and t-test": [os.environ.get("IR_MEASURES", sys.executable), "-c", SCRIPT, qrels, *runs],
            "robustcs evaluate": [*robustcs, "--metric", "ndcg_cut_3", "--metric", "P(rel=2)@1", *named],
        },
        repeats,
    )
    print(f"{machine()} · {len(runs)} runs · medians of {repeats} fresh processes\n")
    print("| tool | wall s | CPU s | peak MB |\n|---|--:|--:|--:|")
    for tool, (cost, _) in measured.items():
        print(f"| {tool} | {cost.wall:.2f} | {cost.cpu:.2f} | {cost.memory:.0f} |")


if __name__ == "__main__":
    main()
