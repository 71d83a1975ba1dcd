from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from robustcs.evaluation.measures import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.studies.augment.leave_one_out import contributed_alone, leave_one_out
from tests.evaluation.test_augmentation import as_pairs, as_qrels
from tests.evaluation.test_run_pool import as_ranking, pool_of

POLICY = EvaluationPolicy(relevance_level=2)


def test_by_hand() -> None:
    qrels = as_qrels({("1_1", "a"): 2, ("1_1", "b"): 2, ("1_1", "c"): 0, ("2_1", "d"): 3})
    runs = [as_ranking("one", {"1_1": ["a", "c", "b"], "2_1": ["e"]}), as_ranking("two", {"1_1": ["b", "c"], "2_1": ["d"]})]
    pool = pool_of(runs, qrels)
    grades = pool.grades(qrels)
    # c is found by both, e is not judged
    assert [np.flatnonzero(row).tolist() for row in contributed_alone(pool, grades, 2)] == [[0], [1, 3]]
    table = leave_one_out(pool, grades, 2, [parse_measure("P_1")], POLICY, np.array([True, True]))
    assert table.to_dict("records") == [
        {"metric": "P_1", "run": "one", "unique": 1, "unique_relevant": 1, "before": 0.5, "after": 0.0,
         "difference": -0.5, "rank_before": 2, "rank_after": 2},
        {"metric": "P_1", "run": "two", "unique": 2, "unique_relevant": 2, "before": 1.0, "after": 0.0,
         "difference": -1.0, "rank_before": 1, "rank_after": 2},
    ]  # fmt: skip


@pytest.mark.parametrize("depth", [3, 10])
def test_real_runs_equal_brute_force(shared_data: Path, depth: int) -> None:
    """The judgments withdrawn in dictionaries, the run scored again by trec_eval, ranked by the reader's own sort."""
    folder = shared_data / "cast2020"
    qrels = read_qrels(folder / "qrels.txt.gz")
    rankings = [rank_run(read_run(path, path.name), POLICY) for path in sorted((folder / "runs").glob("*.gz"))]
    runs = []
    for ranking in rankings:
        documents = ranking.documents.take(ranking.document_codes).to_pylist()
        starts = ranking.starts.tolist()
        runs.append({turn: documents[starts[i] : starts[i + 1]] for i, turn in enumerate(ranking.turns)})
    judged = as_pairs(qrels)
    pool = pool_of(rankings, qrels)
    names = ["ndcg_cut_3", "recall_100", "map"]
    measures = [parse_measure(name) for name in names]
    table = leave_one_out(pool, pool.grades(qrels), depth, measures, POLICY, np.ones(len(pool.turns), dtype=bool))
    tops = [{(turn, document) for turn, ranked in run.items() for document in ranked[:depth]} for run in runs]
    for number, run in enumerate(runs):
        alone = {pair for pair in tops[number] if pair in judged and sum(pair in top for top in tops) == 1}
        nested: dict[str, dict[str, int]] = {turn: {} for turn, _ in judged}
        for (turn, document), grade in judged.items():
            if (turn, document) not in alone:
                nested[turn][document] = grade
        scored = pytrec_eval.RelevanceEvaluator(nested, set(names), relevance_level=2).evaluate(
            {turn: {document: -float(rank) for rank, document in enumerate(ranked)} for turn, ranked in run.items()}
        )
        for name in names:
            row = table[(table["run"] == rankings[number].name) & (table["metric"] == name)].iloc[0]
            expected = sum(scored.get(turn, {name: 0.0})[name] for turn in nested) / len(nested)
            assert row["after"] == pytest.approx(expected, abs=1e-9)
            assert row["unique"] == len(alone) > 0
            assert row["unique_relevant"] == sum(judged[pair] >= 2 for pair in alone)
