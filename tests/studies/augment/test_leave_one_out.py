from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.studies.augment.analysis import contributed_alone, guessed_groups, leave_one_out
from tests.evaluation.test_augmentation import as_pairs, as_qrels
from tests.evaluation.test_run_pool import as_ranking, pool_of

POLICY = EvaluationPolicy(relevance_level=2)


def test_by_hand() -> None:
    qrels = as_qrels({("1_1", "a"): 2, ("1_1", "b"): 2, ("1_1", "c"): 0, ("2_1", "d"): 3})
    runs = [
        as_ranking("one", {"1_1": ["a", "c", "b"], "2_1": ["e"]}),
        as_ranking("two", {"1_1": ["b", "c"], "2_1": ["d"]}),
    ]
    pool = pool_of(runs, qrels)
    grades = pool.grades(qrels)
    # c is found by both, e is not judged
    assert [np.flatnonzero(row).tolist() for row in contributed_alone(pool, grades, 2)] == [
        [0],
        [1, 3],
    ]
    table = leave_one_out(pool, grades, 2, [parse_measure("P_1")], POLICY, np.array([True, True]))
    assert table.to_dict("records") == [
        {"metric": "P_1", "system": "one", "unique": 1, "unique_relevant": 1, "before": 0.5, "after": 0.0,
         "difference": -0.5, "rank_before": 2, "rank_after": 2},
        {"metric": "P_1", "system": "two", "unique": 2, "unique_relevant": 2, "before": 1.0, "after": 0.0,
         "difference": -1.0, "rank_before": 1, "rank_after": 2},
    ]  # fmt: skip


@pytest.mark.parametrize("depth", [3, 10])
def test_real_runs_equal_brute_force(shared_data: Path, depth: int) -> None:
    """The judgments withdrawn in dictionaries, the run scored again by trec_eval, ranked by the reader's own sort."""
    folder = shared_data / "cast2020"
    qrels = read_qrels(folder / "qrels.txt.gz")
    rankings = [
        rank_run(read_run(path, path.name), POLICY)
        for path in sorted((folder / "runs").glob("*.gz"))
    ]
    runs = []
    for ranking in rankings:
        documents = ranking.ids.take(ranking.document_codes).texts()
        starts = ranking.starts.tolist()
        runs.append(
            {turn: documents[starts[i] : starts[i + 1]] for i, turn in enumerate(ranking.turns)}
        )
    judged = as_pairs(qrels)
    pool = pool_of(rankings, qrels)
    names = ["ndcg_cut_3", "recall_100", "map"]
    measures = [parse_measure(name) for name in names]
    table = leave_one_out(
        pool, pool.grades(qrels), depth, measures, POLICY, np.ones(len(pool.turns), dtype=bool)
    )
    tops = [
        {(turn, document) for turn, ranked in run.items() for document in ranked[:depth]}
        for run in runs
    ]
    for number, run in enumerate(runs):
        alone = {
            pair
            for pair in tops[number]
            if pair in judged and sum(pair in top for top in tops) == 1
        }
        nested: dict[str, dict[str, int]] = {turn: {} for turn, _ in judged}
        for (turn, document), grade in judged.items():
            if (turn, document) not in alone:
                nested[turn][document] = grade
        scored = pytrec_eval.RelevanceEvaluator(nested, set(names), relevance_level=2).evaluate(
            {
                turn: {document: -float(rank) for rank, document in enumerate(ranked)}
                for turn, ranked in run.items()
            }
        )
        for name in names:
            row = table[
                (table["system"] == rankings[number].name) & (table["metric"] == name)
            ].iloc[0]
            expected = sum(scored.get(turn, {name: 0.0})[name] for turn in nested) / len(nested)
            assert row["after"] == pytest.approx(expected, abs=1e-9)
            assert row["unique"] == len(alone) > 0
            assert row["unique_relevant"] == sum(judged[pair] >= 2 for pair in alone)


def teams(seed: int = 0) -> tuple[list[Ranking], dict[tuple[str, str], int]]:
    """Three teams of two runs: runs of a team find much the same, of which other teams lack a part. All is judged."""
    rng = np.random.default_rng(seed)
    runs: dict[str, dict[str, list[str]]] = {
        f"{team}{number}": {} for team in "abc" for number in (1, 2)
    }
    judged = {}
    for turn in (f"{topic}_{place}" for topic in range(6) for place in (1, 2, 3)):
        for team in "abc":
            found = [
                *rng.permutation([f"s{i}" for i in range(8)])[:4],
                *(f"{team}{i}" for i in range(8)),
            ]
            for number in (1, 2):
                runs[f"{team}{number}"][turn] = rng.permutation(found)[:10].tolist()
                judged |= {
                    (turn, document): int(rng.integers(0, 3))
                    for document in runs[f"{team}{number}"][turn]
                }
    return [as_ranking(name, found) for name, found in runs.items()], judged


def ranked(run: Ranking) -> list[tuple[str, str]]:
    documents = run.ids.take(run.document_codes).texts()
    return list(zip(np.repeat(run.turns, np.diff(run.starts)).tolist(), documents, strict=True))


def test_groups_of_single_runs_are_leave_one_out() -> None:
    runs, judged = teams()
    pool = pool_of(runs, as_qrels(judged))
    measures, every = (
        [parse_measure("ndcg_cut_3"), parse_measure("map")],
        np.ones(len(pool.turns), dtype=bool),
    )
    asked = pool, pool.grades(as_qrels(judged)), 10, measures, POLICY, every
    one, groups = (
        leave_one_out(*asked),
        leave_one_out(*asked, range(6), dict(enumerate(pool.names))),
    )
    assert (
        groups["group"].tolist() == groups["system"].tolist()
        and (groups["runs"] == 1).all()
        and not groups["guessed"].any()
    )
    for column in one.columns:
        assert groups[column].tolist() == one[column].tolist()


def test_a_sister_run_hides_what_a_new_team_would_meet() -> None:
    """The group's own judgments, withdrawn by hand; leaving one of its runs out withdraws nearly nothing."""
    runs, judged = teams()
    qrels = as_qrels(judged)
    pool = pool_of(runs, qrels)
    measures, every = [parse_measure("ndcg_cut_3")], np.ones(len(pool.turns), dtype=bool)
    numbers = guessed_groups(pool, pool.grades(qrels), 10)
    assert (
        numbers[0]
        == numbers[1]
        != numbers[2]
        == numbers[3]
        != numbers[4]
        == numbers[5]
        != numbers[0]
    )
    table = leave_one_out(pool, pool.grades(qrels), 10, measures, POLICY, every, numbers).set_index(
        "system"
    )
    assert (
        table["guessed"].all()
        and table.loc["b2", "group"] == "b1 and 1 more"
        and (table["runs"] == 2).all()
    )
    found = [
        {(t, d) for run in runs[place : place + 2] for t, d in ranked(run)} for place in (0, 2, 4)
    ]
    own = found[1] - found[0] - found[2]
    left = as_qrels({pair: grade for pair, grade in judged.items() if pair not in own})
    expected = pool.score(pool.grades(left)[None], measures, POLICY)[0, :, 0].mean(axis=1)
    assert table.loc["b1", "unique"] == len(own)
    assert table.loc["b1", "after"] == pytest.approx(expected[2]) and table.loc[
        "b2", "after"
    ] == pytest.approx(expected[3])
    alone = leave_one_out(pool, pool.grades(qrels), 10, measures, POLICY, every).set_index("system")
    assert (alone["unique"] < 0.7 * table["unique"]).all()


def test_order_of_runs_does_not_change_the_guess_and_few_runs_are_not_joined() -> None:
    runs, judged = teams(1)
    qrels = as_qrels(judged)
    there, back = (pool_of(some, qrels) for some in (runs, runs[::-1]))
    one, other = (
        guessed_groups(there, there.grades(qrels), 10),
        guessed_groups(back, back.grades(qrels), 10),
    )
    assert one == other[::-1]
    few = pool_of(runs[:3], qrels)
    assert sorted(guessed_groups(few, few.grades(qrels), 10)) == [0, 1, 2]
