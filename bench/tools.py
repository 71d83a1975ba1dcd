"""One evaluation by one tool: ``python bench/tools.py TOOL RUN QRELS`` prints the mean of every measure.

Each tool reads the files with its own readers and computes ndcg_cut_3, map and recall_1000. ``columns`` evaluates nothing: it
reads the columns that an evaluation needs with pyarrow's reader of CSV, below which no reader gets.
"""

from __future__ import annotations

import sys

MEASURES = ("ndcg_cut_3", "map", "recall_1000")


def with_robustcs(run: str, qrels: str) -> list[float]:
    """Means by robustcs."""
    from robustcs.evaluation.matrix import graded_run
    from robustcs.evaluation.measures import parse_measure, score_columns
    from robustcs.inputs.qrels import read_qrels
    from robustcs.policy import EvaluationPolicy

    policy = EvaluationPolicy()
    matrix, _ = graded_run(run, "run", policy, read_qrels(qrels))
    scores = score_columns(matrix, [parse_measure(name) for name in MEASURES], policy)
    return [float(scores[name].mean()) for name in MEASURES]


def with_pytrec_eval(run: str, qrels: str) -> list[float]:
    """Means by pytrec_eval-terrier."""
    import pytrec_eval

    with open(qrels) as stream:
        judgments = pytrec_eval.parse_qrel(stream)
    with open(run) as stream:
        ranking = pytrec_eval.parse_run(stream)
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {"ndcg_cut.3", "map", "recall.1000"})
    scores = evaluator.evaluate(ranking).values()
    return [sum(turn[name] for turn in scores) / len(scores) for name in MEASURES]


def columns(run: str, qrels: str) -> list[float]:
    """Turn, document and score or grade of every line, and nothing made of them."""
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    for path, width, wanted in ((run, 6, ("0", "2", "4")), (qrels, 4, ("0", "2", "3"))):
        names = [str(place) for place in range(width)]
        options = ReadOptions(column_names=names, use_threads=False), ParseOptions(delimiter=" ", quote_char=False)
        read_csv(path, *options, ConvertOptions(include_columns=wanted))
    return []


TOOLS = {"robustcs": with_robustcs, "pytrec_eval": with_pytrec_eval, "columns": columns}

if __name__ == "__main__":
    print(*(f"{mean:.4f}" for mean in TOOLS[sys.argv[1]](*sys.argv[2:])))
