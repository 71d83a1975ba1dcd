"""Evaluate all runs of a folder with one tool: ``python bench/tools.py TOOL FOLDER`` prints three means per run.

Each tool reads the files with its own readers and computes ndcg_cut_3, map and recall_1000 as its documentation says.
``columns`` only reads the columns that an evaluation needs, with pyarrow's CSV reader, as a lower limit of the cost of reading.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

MEASURES = ("ndcg_cut_3", "map", "recall_1000")
Means = Iterator[list[float]]


def with_robustcs(qrels: str, runs: list[str]) -> Means:
    """Call the functions that the studies call."""
    from robustcs.evaluation.matrix import graded_run
    from robustcs.evaluation.measure import parse_measure
    from robustcs.evaluation.measures import score_columns
    from robustcs.inputs.qrels import read_qrels
    from robustcs.policy import EvaluationPolicy

    policy, judged = EvaluationPolicy(), read_qrels(qrels)
    measures = [parse_measure(name) for name in MEASURES]
    for run in runs:
        scores = score_columns(graded_run(run, "run", policy, judged)[0], measures, policy)
        yield [float(scores[name].mean()) for name in MEASURES]


def with_pytrec_eval(qrels: str, runs: list[str]) -> Means:
    """Evaluate with pytrec_eval; missing judged turns count as 0, as with all tools here."""
    import pytrec_eval

    with open(qrels) as stream:
        judged = pytrec_eval.parse_qrel(stream)
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.3", "map", "recall.1000"})
    for run in runs:
        with open(run) as stream:
            scores = evaluator.evaluate(pytrec_eval.parse_run(stream)).values()
        yield [sum(turn[name] for turn in scores) / len(judged) for name in MEASURES]


def with_ir_measures(qrels: str, runs: list[str]) -> Means:
    """Evaluate with one evaluator for all runs."""
    import ir_measures
    from ir_measures import AP, R, nDCG

    measures = [nDCG @ 3, AP, R @ 1000]
    evaluator = ir_measures.evaluator(measures, ir_measures.read_trec_qrels(qrels))
    for run in runs:
        means = evaluator.calc_aggregate(ir_measures.read_trec_run(run))
        yield [means[measure] for measure in measures]


def with_ranx(qrels: str, runs: list[str]) -> Means:
    """Evaluate with functions that numba compiled for the same files before.

    numba compiles again if ids have another length.
    """
    from ranx import Qrels, Run, evaluate

    judged = Qrels.from_file(qrels, kind="trec")
    for run in runs:
        found = evaluate(
            judged,
            Run.from_file(run, kind="trec"),
            ["ndcg@3", "map", "recall@1000"],
            make_comparable=True,
        )
        yield [float(found[name]) for name in ("ndcg@3", "map", "recall@1000")]


def with_ranx_cold(qrels: str, runs: list[str]) -> Means:
    """Evaluate and let numba compile everything, as in the first call after an installation."""
    shutil.rmtree(os.environ["NUMBA_CACHE_DIR"], ignore_errors=True)
    return with_ranx(qrels, runs)


def with_trectools(qrels: str, runs: list[str]) -> Means:
    """Evaluate with ties ordered by passage id."""
    from trectools import TrecEval, TrecQrel, TrecRun

    judged = TrecQrel(qrels)
    for run in runs:
        evaluated = TrecEval(TrecRun(run), judged)
        yield [
            evaluated.get_ndcg(depth=3),
            evaluated.get_map(depth=1000),
            evaluated.get_recall(depth=1000),
        ]


def columns(qrels: str, runs: list[str]) -> Means:
    """Read turn, document and score or grade of every line without evaluating them."""
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    for path, width, wanted in (
        (qrels, 4, ("0", "2", "3")),
        *((run, 6, ("0", "2", "4")) for run in runs),
    ):
        names = [str(place) for place in range(width)]
        options = (
            ReadOptions(column_names=names, use_threads=False),
            ParseOptions(delimiter=" ", quote_char=False),
        )
        read_csv(path, *options, ConvertOptions(include_columns=wanted))
    yield from ()


TOOLS = {
    "robustcs, function": with_robustcs,
    "columns": columns,
    "pytrec_eval": with_pytrec_eval,
    "ir_measures": with_ir_measures,
    "ranx, cold": with_ranx_cold,
    "ranx, warm": with_ranx,
    "trectools": with_trectools,
}

if __name__ == "__main__":
    folder = Path(sys.argv[2])
    for means in TOOLS[sys.argv[1]](
        str(folder / "qrels.txt"), [str(path) for path in sorted((folder / "runs").iterdir())]
    ):
        print(*(f"{mean:.4f}" for mean in means))
