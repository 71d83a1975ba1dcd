"""The usual notebook code that a study replaces: ``python bench/notebook.py STUDY FOLDER``.

``bins`` and ``sweep`` join the per-turn scores of Original, QR and Human in a frame, apply thresholds and count the eight bins.
``pairs`` compares all pairs of runs by paired t-tests over turns, adjusted by Holm.
"""

from __future__ import annotations

import sys
from itertools import combinations, product
from pathlib import Path


def scores_per_turn(folder: Path):
    """Return a frame of NDCG@3: turns × Original, QR, Human."""
    import pandas as pd
    import pytrec_eval

    with (folder / "qrels.txt").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.3"})
    frames = []
    for name, path in zip(
        ("original", "qr", "human"), sorted((folder / "runs").iterdir()), strict=True
    ):
        with path.open() as file:
            scores = evaluator.evaluate(pytrec_eval.parse_run(file))
        frames.append(pd.DataFrame.from_dict(scores, orient="index")["ndcg_cut_3"].rename(name))
    return pd.concat(frames, axis=1).reindex(list(qrels)).fillna(0)


def count_bins(scores, threshold: float) -> None:
    """Print the eight bins at one threshold."""
    hits = (scores > 0 if threshold == 0 else scores >= threshold).astype(int)
    counts = hits.groupby(["original", "qr", "human"]).size()
    for one in product((0, 1), repeat=3):
        print(threshold, *one, counts.get(one, 0))


def bins(folder: Path) -> None:
    """Print the table of the papers at three thresholds."""
    scores = scores_per_turn(folder)
    for threshold in (0.0, 0.5, 1.0):
        count_bins(scores, threshold)


def sweep(folder: Path) -> None:
    """Print the bins at 51 thresholds."""
    scores = scores_per_turn(folder)
    for step in range(51):
        count_bins(scores, step / 50)


def pairs(folder: Path) -> None:
    """Print all pairs, with means by ir_measures, p by scipy and Holm by statsmodels."""
    import ir_measures
    from ir_measures import P, nDCG
    from scipy.stats import ttest_rel
    from statsmodels.stats.multitest import multipletests

    evaluator = ir_measures.evaluator(
        [nDCG @ 3, P(rel=2) @ 1], list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    )
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for run in sorted((folder / "runs").iterdir()):
        for found in evaluator.iter_calc(ir_measures.read_trec_run(str(run))):
            scores.setdefault(str(found.measure), {}).setdefault(run.stem, {})[found.query_id] = (
                found.value
            )
    for measure, runs in scores.items():
        turns = sorted(set().union(*runs.values()))
        rows = {name: [some.get(turn, 0) for turn in turns] for name, some in runs.items()}
        p = [ttest_rel(rows[one], rows[two]).pvalue for one, two in combinations(rows, 2)]
        multipletests(p, method="holm")
        for name, row in rows.items():
            print(name, measure, sum(row) / len(row))


if __name__ == "__main__":
    {one.__name__: one for one in (bins, sweep, pairs)}[sys.argv[1]](Path(sys.argv[2]))
