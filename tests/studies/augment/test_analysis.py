from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import pytrec_eval

from robustcs.evaluation.judgments import merge_qrels
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.statistics.families import max_t
from robustcs.statistics.ranks import RANK_CORRELATIONS
from robustcs.statistics.units import units_of
from robustcs.studies.augment.analysis import augment
from tests.evaluation.test_augmentation import Pairs, as_pairs, as_qrels
from tests.evaluation.test_run_pool import as_ranking, pool_of

POLICY = EvaluationPolicy(relevance_level=2)
NAMES = ("ndcg_cut_3", "recall_1000", "map")


def compare(
    runs: list[Ranking],
    old: Pairs,
    new: Pairs,
    names: tuple[str, ...] = NAMES,
    counted: list[bool] | None = None,
) -> SimpleNamespace:
    before, more = as_qrels(old, "old"), as_qrels(new, "new")
    merge = merge_qrels(before, [more], "replace")
    # the pool knows the old turns and all judgments
    pool = pool_of(runs, merge.qrels, before.turns)
    every = np.ones(len(pool.turns), dtype=bool) if counted is None else np.array(counted)
    measures = [parse_measure(name) for name in names]
    units = units_of([turn for turn, known in zip(pool.turns, every, strict=True) if known])
    sources = [("old", "qrels", pool.grades(before)), ("new", "new judgments", pool.grades(more))]
    found = augment(
        pool,
        sources,
        pool.grades(merge.qrels),
        merge,
        measures,
        POLICY,
        every,
        units,
        seed=0,
        depth=3,
    )
    return SimpleNamespace(**found)


@pytest.fixture(scope="module")
def real(shared_data: Path) -> tuple[list[Ranking], Pairs, Pairs]:
    """The runs of CAsT 2020, and its judgments with those withheld that only the raw run finds in its top 3."""
    folder = shared_data / "cast2020"
    rankings = [
        rank_run(read_run(path, path.name), POLICY)
        for path in sorted((folder / "runs").glob("*.gz"))
    ]
    tops = []
    for ranking in rankings:
        documents = ranking.ids.take(ranking.document_codes).texts()
        bounds = zip(
            ranking.turns, ranking.starts.tolist(), ranking.starts[1:].tolist(), strict=False
        )
        tops.append(
            {
                (turn, documents[row])
                for turn, start, end in bounds
                for row in range(start, min(end, start + 3))
            }
        )
    judged = as_pairs(read_qrels(folder / "qrels.txt.gz"))
    raw = next(i for i, ranking in enumerate(rankings) if "raw" in ranking.name)
    others = set().union(*(top for i, top in enumerate(tops) if i != raw))
    new = {
        pair: judged.pop(pair) for pair in [pair for pair in judged if pair in tops[raw] - others]
    }
    assert len(new) > 100
    return rankings, judged, new


def trec_eval_mean(ranking: Ranking, judged: Pairs, turns: list[str], name: str) -> float:
    nested: dict[str, dict[str, int]] = {turn: {} for turn in turns}
    for (turn, document), grade in judged.items():
        if turn in nested:
            nested[turn][document] = grade
    documents = ranking.ids.take(ranking.document_codes).texts()
    run = {
        turn: {documents[row]: -float(row) for row in range(start, end)}
        for turn, start, end in zip(
            ranking.turns, ranking.starts.tolist(), ranking.starts[1:].tolist(), strict=False
        )
    }
    scores = pytrec_eval.RelevanceEvaluator(nested, {name}, relevance_level=2).evaluate(run)
    return sum(scores.get(turn, {name: 0.0})[name] for turn in turns) / len(turns)


def test_withheld_real_judgments_come_back(real: tuple[list[Ranking], Pairs, Pairs]) -> None:
    rankings, old, new = real
    change = compare(rankings, old, new)
    turns = list(dict.fromkeys(turn for turn, _ in old))
    for number, ranking in enumerate(rankings):
        for name in NAMES:
            row = change.measures[
                (change.measures["system"] == ranking.name) & (change.measures["metric"] == name)
            ].iloc[0]
            assert row["before"] == pytest.approx(
                trec_eval_mean(ranking, old, turns, name), abs=1e-9
            ), number
            assert row["after"] == pytest.approx(
                trec_eval_mean(ranking, {**old, **new}, turns, name), abs=1e-9
            )
            if not math.isnan(row["ci_low"]):
                assert row["ci_low"] <= row["difference"] <= row["ci_high"]
            few = "no interval: only" in row["note"] or "none of" in row["note"]
            assert math.isnan(row["ci_low"]) == few
    raw = change.measures.set_index(["system", "metric"]).loc[("bert_raw.trec.gz", "ndcg_cut_3")]
    assert raw["difference"] > 0 and raw["ci_low"] > 0 and raw["p_corrected"] < 0.01
    assert len(change.ranking) == 3 * len(NAMES)
    assert change.ranking["value"].between(-1, 1).all()
    # on these topics, and a lower limit: no interval of two sides covers
    assert (change.ranking["ci_low"] <= change.ranking["value"]).all()
    assert change.files.to_dict("records") == [
        {
            "file": "new",
            "judgments": len(new),
            "added": len(new),
            "added_turns": 0,
            "repeated": 0,
            "conflicts": 0,
        }
    ]


def test_tests_and_turns_follow_from_the_scores(real: tuple[list[Ranking], Pairs, Pairs]) -> None:
    rankings, old, new = real
    change = compare(rankings, old, new, ("map",))
    turns = list(dict.fromkeys(turn for turn, _ in old))
    conversations = units_of(turns).codes
    sizes = np.bincount(conversations)
    signs = np.random.default_rng(9).choice([-1.0, 1.0], size=(40_000, len(sizes)))
    assert len(sizes) == 25 and len(change.turns) > 15
    table = []
    for row in change.measures.itertuples():
        moved = change.turns[change.turns["system"] == row.system].set_index("turn")["difference"]
        differences = moved.reindex(turns, fill_value=0.0).to_numpy()
        assert differences.mean() == pytest.approx(row.difference, abs=1e-9)
        # whole conversations change their sign
        sums = np.bincount(conversations, weights=differences)
        table.append(sums)
        p = (np.abs(signs @ sums) >= abs(sums.sum()) - 1e-12).mean()
        assert row.p == pytest.approx(p, abs=0.02) and row.p >= row.p_floor > 0
        assert math.isnan(row.ci_low) or (row.p <= 0.05) == (row.ci_low > 0 or row.ci_high < 0)
        assert (row.turns_up, row.turns_down) == ((moved > 0).sum(), (moved < 0).sum())
    adjusted = np.maximum(change.measures["p"], max_t(np.array(table), 7))  # other patterns
    np.testing.assert_allclose(change.measures["p_corrected"], adjusted, atol=0.005)
    assert (change.turns["difference"].abs().diff().dropna() <= 1e-12).all()


def test_small_case_by_hand() -> None:
    runs = [
        as_ranking("one", {"1_1": ["a", "u", "b"], "1_2": ["x"], "9_1": ["a"]}),
        as_ranking("two", {"1_1": ["u", "b"], "1_2": ["y"]}),
    ]
    old = {("1_1", "a"): 2, ("1_1", "b"): 0, ("1_2", "x"): 2}
    new = {("1_1", "u"): 4, ("1_1", "b"): 2, ("1_2", "y"): 0, ("9_1", "a"): 4}
    change = compare(runs, old, new, ("P_2",))
    assert change.measures[["system", "before", "after", "rank_before", "rank_after"]].to_dict(
        "records"
    ) == [
        {"system": "one", "before": 0.5, "after": 0.75, "rank_before": 1, "rank_after": 1},
        {"system": "two", "before": 0.0, "after": 0.5, "rank_before": 2, "rank_after": 2},
    ]
    assert change.turns.to_dict("records") == [
        {"system": "two", "turn": "1_1", "metric": "P_2", "before": 0.0, "after": 1.0, "difference": 1.0,
         "new_grades": "1:4 2:0→2"},
        {"system": "one", "turn": "1_1", "metric": "P_2", "before": 0.5, "after": 1.0, "difference": 0.5, "new_grades": "2:4"},
    ]  # fmt: skip
    assert change.conflicts.to_dict("records") == [
        {
            "turn": "1_1",
            "document": "b",
            "old": 0,
            "new": 2,
            "kept": 2,
            "old_file": "old",
            "new_file": "new",
        }
    ]
    assert change.files.loc[0, "added_turns"] == 1
    assert change.ranking["value"].tolist() == pytest.approx([1.0] * 3)
    assert change.ranking["method"].tolist() == list(RANK_CORRELATIONS)
    # two turns are too few for an interval or a limit
    assert change.measures["ci_low"].isna().all() and change.ranking["ci_low"].isna().all()
    assert change.measures["note"].str.contains("no interval: only 2 turns").all()


def test_only_counted_turns() -> None:
    runs = [as_ranking("one", {"1_1": ["a"], "1_2": ["u"]})]
    change = compare(
        runs, {("1_1", "a"): 2, ("1_2", "x"): 2}, {("1_2", "u"): 2}, ("P_1",), [True, False]
    )
    assert change.measures[["before", "after", "p"]].to_numpy().tolist() == [[1.0, 1.0, 1.0]]
    assert change.turns.empty
    assert change.ranking.empty  # one run has no order


def test_without_runs_there_is_only_the_merge() -> None:
    change = compare([], {("1_1", "a"): 2}, {("1_1", "a"): 1})
    assert change.measures.empty and change.turns.empty
    assert change.conflicts["kept"].tolist() == [1]


def test_nothing_new_changes_nothing() -> None:
    runs = [as_ranking("one", {"1_1": ["a", "b"]}), as_ranking("two", {"1_1": ["b"]})]
    pool = pool_of(runs, as_qrels({("1_1", "a"): 2}))
    change = compare(runs, {("1_1", "a"): 2}, {("1_1", "a"): 2})
    assert len(pool.names) * len(NAMES) == len(change.measures)
    assert (change.measures["difference"] == 0).all() and (change.measures["p"] == 1).all()
    assert change.measures["ci_low"].isna().all()
