"""Sentences about systems, on hand-made tables: a swapped sign, a raw p, another measure or another denominator fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from robustcs.documents.document import Figure, Table
from robustcs.evaluation.measures import TurnScores
from robustcs.policy import EvaluationPolicy
from robustcs.reporting.headlines import in_order
from robustcs.result import Evaluated
from robustcs.statistics.families import Family
from robustcs.statistics.units import units_of
from robustcs.studies.evaluate.analysis import Evaluation, evaluate
from robustcs.studies.evaluate.findings import _others as others_than
from robustcs.studies.evaluate.findings import verdicts
from robustcs.studies.evaluate.show import show

#: (first, second) → difference, p, adjusted p.
Tests = Mapping[tuple[str, str], tuple[float, float, float]]
TESTS: Tests = {
    ("low", "top"): (-0.30, 0.001, 0.010), ("low", "mid"): (-0.25, 0.002, 0.050), ("low", "near"): (-0.20, 0.010, 0.051),
    ("top", "mid"): (0.05, 0.001, 0.030), ("top", "near"): (0.10, 0.040, 0.200), ("mid", "near"): (0.05, 0.500, 0.900),
}  # fmt: skip
MEANS = {"low": 0.2, "top": 0.5, "mid": 0.45, "near": 0.4}


def told(tests: Tests = TESTS, other: float = 0.001, baseline: str | None = None) -> Evaluation:
    """Four systems by NDCG@3 with these tests; by MAP every pair has the p ``other`` and the difference is 0.009."""
    turns = [f"{place}_1" for place in range(8)]
    frames = {
        name: TurnScores(turns, {"ndcg_cut_3": np.full(8, mean), "map": np.full(8, 1 - mean)}) for name, mean in MEANS.items()
    }
    bounded = {"ndcg_cut_3": True, "map": True}
    result = evaluate(frames, bounded, units_of(turns), Evaluated(EvaluationPolicy(), "scores", 8, 0), baseline)
    pairs = result.pairs.copy()
    for place, row in pairs.iterrows():
        values = tests[row["first"], row["second"]] if row["metric"] == "ndcg_cut_3" else (0.009, other, other)
        pairs.loc[place, ["difference", "p", "p_corrected"]] = values
    families = {name: Family(own["p_corrected"].to_numpy(), 0.001, "") for name, own in pairs.groupby("metric", sort=False)}
    # a sentence takes the rows of its measure wherever they stand
    return result.changed(pairs=pairs.sample(frac=1, random_state=1).reset_index(drop=True), families=families)


def sentences(result: Evaluation) -> Sequence[str]:
    return [f"{'' if one.number in one.text else one.number + ' '}{one.text} [{one.basis}]" for one in verdicts(result)]


def test_verdicts_use_the_adjusted_p_of_the_headline_measure() -> None:
    best, apart = sentences(told())
    assert best == (
        "top has the highest mean NDCG@3, 0.500; 1 system does not score significantly lower (near) [8 turns, 4 systems]"
    )
    assert replace(verdicts(told())[0], interval="0.400 to 0.600").sentence == (
        "top has the highest mean NDCG@3, 0.500 (95% CI 0.400 to 0.600; 8 turns, 4 systems); 1 system does not score"
        " significantly lower (near)."
    )
    assert apart == (
        "3 of 6 pairs of systems differ significantly in NDCG@3 (adjusted p ≤ 0.05); the smallest of these"
        " differences is 0.050 [8 turns, max-T over 6 pairs]"
    )
    # what is certain in another measure changes nothing
    assert sentences(told(other=1.0)) == [best, apart]


def test_none_and_all() -> None:
    best, apart = sentences(told({pair: (one, 0.04, 0.06) for pair, (one, _, _) in TESTS.items()}))
    assert best.startswith("top has the highest mean NDCG@3, 0.500; 3 systems do not score significantly lower (mid, near, low")
    assert apart.startswith("0 of 6 pairs of systems differ significantly in NDCG@3 (adjusted p ≤ 0.05) [")
    best, apart = sentences(told({pair: (one, 0.04, 0.05) for pair, (one, _, _) in TESTS.items()}))
    assert "top has the highest mean NDCG@3, 0.500; all others score significantly lower [" in best
    assert apart.startswith("6 of 6 pairs of systems differ significantly")


def test_of_two_systems_the_other_scores_lower() -> None:
    pairs = pd.DataFrame({"first": ["top"], "second": ["low"], "p_corrected": [0.01]})
    assert others_than(pairs, "top", ["low"]) == "; the other scores significantly lower"


def test_a_verdict_names_three_of_many_systems() -> None:
    pairs = pd.DataFrame([{"first": "top", "second": name, "p_corrected": 0.9} for name in "abcde"])
    assert others_than(pairs, "top", [*"abcde"]) == "; 5 systems do not score significantly lower (a, b, c …)"
    assert others_than(pairs[:3], "top", [*"abc"]) == "; 3 systems do not score significantly lower (a, b, c)"


def test_the_more_pairs_are_undecided_the_earlier_a_report_says_so() -> None:
    """All undecided pairs count like a difference of 0.1 between components, half of them like one of 0.05."""
    _, half = verdicts(told())
    _, none = verdicts(told({pair: (one, 0.04, 0.06) for pair, (one, _, _) in TESTS.items()}))
    _, every = verdicts(told({pair: (one, 0.04, 0.05) for pair, (one, _, _) in TESTS.items()}))
    components = [replace(half, number=str(size), weight=size) for size in (0.01, 0.04, 0.06, 0.09, 0.11)]
    found = [one.number for one in in_order([every, half, none, *components])]
    assert found == ["0.11", "0 of 6", "0.09", "0.06", "3 of 6", "0.04", "0.01", "6 of 6"]


def test_a_best_system_that_was_not_compared_with_all_others_is_not_said_to_differ() -> None:
    tests = {(name, "low"): (0.1, 0.001, 0.001) for name in MEANS if name != "low"}
    best, apart = sentences(told(tests, baseline="low"))
    assert best == "top has the highest mean NDCG@3, 0.500 [8 turns, 4 systems]"
    assert apart.startswith("3 of 3 pairs of systems differ significantly")


def test_pairs_without_the_best_system_say_nothing_of_it() -> None:
    tests = {pair: (one, 0.001, 0.9 if "top" in pair else 0.001) for pair, (one, _, _) in TESTS.items()}
    assert "; 3 systems do not score significantly lower (mid, near, low" in sentences(told(tests))[0]


def test_runs_over_their_own_turns_have_no_common_number_of_turns() -> None:
    whole = told()
    own = replace(whole, evaluated=replace(whole.evaluated, own_turns={"top": 8, "low": 5}))
    best, apart = sentences(own)
    assert best == sentences(whole)[0] and apart == sentences(whole)[1].replace("[8 turns, ", "[")
    line = own.evaluated.policy_line
    assert "each run over the turns that it answers (5 to 8), as trec_eval without -c · " in line
    assert "missing" not in line and own.evaluated.as_dict()["missing"] == "zero"


def test_totals_are_no_headline() -> None:
    """They stand first here, and nothing is said of them."""
    whole = told()
    totals = whole.measures.assign(metric="num_ret", value=99.0, note="a total over turns: no interval")
    both = whole.changed(measures=pd.concat([totals, whole.measures], ignore_index=True))
    assert sentences(both) == sentences(whole)


def test_the_table_of_means_counts_the_same_pairs() -> None:
    notes = {block.slug: block.note for block in show(told()) if getattr(block, "of", "") == "measures"}
    assert (
        "3 of 6 pairs of systems differ significantly (adjusted p ≤ 0.05, max-T over 6 pairs)." in notes["measures-ndcg_cut_3"]
    )
    assert "6 of 6 pairs of systems differ significantly" in notes["measures-map"]


def test_one_system_is_compared_with_nothing() -> None:
    turns = [f"{place}_1" for place in range(8)]
    scores = {"bm25": TurnScores(turns, {"ndcg_cut_3": np.arange(8) / 10})}
    alone = evaluate(scores, {"ndcg_cut_3": True}, units_of(turns), Evaluated(EvaluationPolicy(), "scores", 8, 0))
    assert sentences(alone) == ["bm25 has a mean NDCG@3 of 0.350 [8 turns, 1 system]"]
    assert "verlapping" not in "".join(block.caption for block in show(alone) if isinstance(block, Figure | Table))
