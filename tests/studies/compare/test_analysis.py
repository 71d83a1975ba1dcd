"""Two states by their numbers: tests, reasons, conclusions, and the gate's promise on equal and on worse systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from robustcs.documents.document import Cards, TableBlock
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.families import max_t
from robustcs.studies.compare.analysis import Comparison, compare
from robustcs.studies.compare.cases import Drawn, Gate
from robustcs.studies.compare.changes import Aligned, Rescored
from robustcs.studies.compare.gate import Evidence, parse_condition
from robustcs.studies.compare.show import show
from robustcs.studies.compare.states import ProjectState, SystemState

EVALUATED = Evaluated(EvaluationPolicy(), "runs", 0, 0)
METRIC = "ndcg_cut_3"
TURNS = [f"{topic}_{depth}" for topic in range(1, 11) for depth in range(1, 8)]


def system(
    scores: Mapping[str, float],
    ranking: str = "a",
    text: str = "q",
    role: str = "qr",
    room: float = 0.0,
) -> SystemState:
    """One measure; grades of unjudged passages move every score by up to ``room``."""
    return SystemState(
        role,
        {METRIC: scores},
        {METRIC: {turn: score - room for turn, score in scores.items()}},
        {METRIC: {turn: score + room for turn, score in scores.items()}},
        dict.fromkeys(scores, ranking),
        dict.fromkeys(scores, text),
    )


def state(
    systems: Mapping[str, SystemState],
    judgments: str = "j",
    thresholds: tuple[str, ...] = (">0", ">=0.5"),
) -> ProjectState:
    turns = {turn for one in systems.values() for scores in one.scores.values() for turn in scores}
    policy = {**EvaluationPolicy().as_dict(), "line": "p"}
    return ProjectState("s", policy, thresholds, [], systems, dict.fromkeys(turns, judgments), 0)


def compared(
    old: ProjectState,
    new: ProjectState,
    *conditions: str,
    rescored: Mapping[str, Rescored] | None = None,
    evidence: Evidence = "test",
    allow_missing: int = 0,
) -> Comparison:
    gate = Gate([parse_condition(text) for text in conditions], evidence, allow_missing)
    return compare(old, new, EVALUATED, rescored, gate)


def numbers(values: np.ndarray) -> dict[str, float]:
    return dict(zip(TURNS, np.clip(values, 0, 1).tolist(), strict=True))


def scores_of_conversations(generator: np.random.Generator) -> np.ndarray:
    """Scores whose turns depend on their conversation."""
    topics = generator.normal(0.5, 0.15, 10)
    return np.repeat(topics, 7) + generator.normal(0, 0.15, 70)


def test_the_same_drop_cannot_be_told_where_grades_could_undo_it() -> None:
    """With --evidence bounds alone: the test on the judgments at hand fails it."""
    old = np.full(70, 0.6)
    new = old - 0.1 - np.linspace(0, 0.01, 70)
    states = [state({"a": system(numbers(values), room=0.06)}) for values in (old, new)]
    (row,) = compared(*states, "drop>0.02").gate.itertuples()
    assert row.outcome == "failed" and row.p_corrected < 0.05 and row.low < 0.02
    (row,) = compared(*states, "drop>0.02", evidence="bounds").gate.itertuples()
    assert row.outcome == "cannot tell"
    assert row.reason == (
        "the mean drops by 0.105, significantly more than 0.02 (adjusted p = 0.0010);"
        " grades of unjudged passages could reduce this to −0.015"
    )
    # both runs hold the same unjudged passages: whatever their grades, the drop stays
    fixed = Rescored(
        {METRIC: numbers(old)}, {METRIC: numbers_(new - old)}, {METRIC: numbers_(new - old)}
    )
    (row,) = compared(
        *states, "drop>0.02", rescored={"a": fixed}, evidence="bounds"
    ).gate.itertuples()
    assert (
        row.outcome == "failed" and row.low == pytest.approx(float((old - new).mean())) == row.high
    )
    assert row.reason.endswith("and at least by 0.105 for any grades of unjudged passages")


def numbers_(values: np.ndarray) -> dict[str, float]:
    return dict(zip(TURNS, values.tolist(), strict=True))


def test_p_is_the_share_of_sign_patterns() -> None:
    generator = np.random.default_rng(7)
    old = np.clip(scores_of_conversations(generator), 0, 1)
    new = np.clip(old + generator.normal(-0.02, 0.1, 70), 0, 1)
    result = compared(
        state({"a": system(numbers(old))}), state({"a": system(numbers(new))}), "drop>0.01"
    )
    sums = (old - new - 0.01).reshape(10, 7).sum(axis=1)
    totals = np.array(list(product((1, -1), repeat=10))) @ sums
    assert result.gate["p"][0] == pytest.approx(float((totals >= sums.sum() - 1e-12).mean()))
    both = (new - old).reshape(10, 7).sum(axis=1)
    totals = np.array(list(product((1, -1), repeat=10))) @ both
    assert result.measures["p"][0] == pytest.approx(
        float((np.abs(totals) >= abs(both.sum()) - 1e-12).mean())
    )


def test_runs_without_a_change_are_no_comparisons() -> None:
    generator = np.random.default_rng(8)
    same = {name: system(numbers(scores_of_conversations(generator))) for name in "bcdefg"}
    old = scores_of_conversations(generator)
    new = old - 0.05 - 0.02 * generator.random(70)
    result = compared(
        state({"a": system(numbers(old)), **same}),
        state({"a": system(numbers(new)), **same}),
        "drop>0",
    )
    changed = result.measures.set_index("system")
    assert changed["p_corrected"]["a"] == pytest.approx(changed["p"]["a"])
    assert (changed["p_corrected"].drop("a") == 1).all() and list(
        result.turns["system"].unique()
    ) == ["a"]


@pytest.mark.parametrize(
    ("new", "judgments", "again", "why"),
    [
        (system({"1_1": 0.2}, ranking="b"), "j", 0.6, "ranking"),
        (system({"1_1": 0.2}, ranking="b", text="other"), "j", 0.6, "words"),
        (system({"1_1": 0.2}), "k", 0.2, "judgments"),
        (system({"1_1": 0.2}, ranking="b"), "k", 0.4, "ranking and judgments"),
        (system({"1_1": 0.2}, ranking="b"), "k", 0.6, "ranking"),
        (system({"1_1": 0.2}, ranking="b", text="other"), "k", 0.2, "judgments"),
        (system({"1_1": 0.2}), "j", 0.2, "policy"),
    ],
)
def test_why_a_score_changed(new: SystemState, judgments: str, again: float, why: str) -> None:
    rescored = {
        "a": Rescored({METRIC: {"1_1": again}}, {METRIC: {"1_1": -1.0}}, {METRIC: {"1_1": 1.0}})
    }
    result = compared(
        state({"a": system({"1_1": 0.6})}), state({"a": new}, judgments), rescored=rescored
    )
    (row,) = result.turns.itertuples()
    assert (row.why, row.crossed, row.change) == (why, "−>=0.5", pytest.approx(-0.4))


def test_a_run_without_texts_beside_one_with_texts() -> None:
    """Such as a set of paraphrases, of which nothing but its run is known."""
    states = [
        state(
            {"a": system({"1_1": score}, text="q"), "b": replace(system({"1_1": score}), texts={})}
        )
        for score in (0.6, 0.2)
    ]
    (cards,) = (block for block in show(compared(*states)) if isinstance(block, Cards))
    assert [(card.title, [name for name, _ in card.fields]) for card in cards.cards] == [
        ("1_1 · a", ["Scores", "What changed", "Text"]), ("1_1 · b", ["Scores", "What changed"])
    ]  # fmt: skip


def test_judgments_that_could_not_be_used_again_are_told() -> None:
    first = state({"a": system({"1_1": 0.6})})
    said = "the judgments changed, and the old runs cannot be scored under the new ones"
    notes = compared(first, state({"a": system({"1_1": 0.2})}, "k")).evaluated.notes
    assert any(note.startswith(said) for note in notes)
    assert not any(note.startswith(said) for note in compared(first, first).evaluated.notes)


def test_conclusions_that_flip() -> None:
    generator = np.random.default_rng(9)
    low = scores_of_conversations(generator) - 0.2
    old = state({"a": system(numbers(low + 0.15)), "b": system(numbers(low))})
    new = state({"a": system(numbers(low + 0.15)), "b": system(numbers(low + 0.3))})
    (row,) = compared(old, new).conclusions.itertuples()
    assert (row.first, row.second, row.old, row.new, row.flipped) == ("a", "b", "a", "b", True)
    (row,) = compared(old, old).conclusions.itertuples()
    assert (row.old, row.new, row.flipped) == ("a", "a", False)


def test_shares_of_errors() -> None:
    """The rewriter's errors grow from none to half of the turns; those of the QA component stay."""
    human = system(dict.fromkeys(TURNS, 1.0), role="human")
    worse = {turn: 1.0 if int(turn.split("_")[1]) % 2 else 0.0 for turn in TURNS}
    old = state({"qr": system(dict.fromkeys(TURNS, 1.0)), "human": human})
    new = state({"qr": system(worse), "human": human})
    gate = compared(old, new, "qr>0.1", "qa>0.1").gate.set_index(["condition", "metric"])
    assert gate["drop"]["qr>0.1", f"{METRIC} >=0.5"] == pytest.approx(3 / 7)
    assert set(gate["outcome"]["qr>0.1"]) == {"failed"} and set(gate["outcome"]["qa>0.1"]) == {
        "passed"
    }
    assert gate["low"]["qr>0.1", f"{METRIC} >=0.5"] == pytest.approx(3 / 7)


@pytest.mark.parametrize(
    ("right", "wrong", "threshold", "room"), [(0.8, 0.2, ">=0.5", 0.3), (0.2, 0.8, "=0.2", 0.6)]
)
def test_grades_that_could_undo_the_growth_of_a_share(
    right: float, wrong: float, threshold: str, room: float
) -> None:
    """If the bounds of the wrong scores reach the threshold, no new error is certain."""
    fine = dict.fromkeys(TURNS, right)
    worse = {turn: right if int(turn.split("_")[1]) % 2 else wrong for turn in TURNS}
    human = system(fine, role="human")
    old = state({"qr": system(fine), "human": human}, thresholds=(threshold,))
    for bound, low, outcome in ((room - 0.01, 3 / 7, "failed"), (room + 0.01, 0.0, "cannot tell")):
        new = state({"qr": system(worse, room=bound), "human": human}, thresholds=(threshold,))
        (row,) = compared(old, new, "qr>0.1", evidence="bounds").gate.itertuples()
        assert (row.low, row.outcome) == (pytest.approx(low), outcome)
        (row,) = compared(new, old, "qr>0.1", evidence="bounds").gate.itertuples()
        assert (row.low, row.outcome) == (
            -1.0 if threshold == "=0.2" or low == 0 else -3 / 7,
            "passed",
        )


def test_turns_and_systems_of_one_state_only_are_told() -> None:
    old = state({"a": system({"1_1": 0.5, "1_2": 0.5}), "gone": system({"1_1": 1.0})})
    new = state({"a": system({"1_1": 0.5, "1_3": 0.5})})
    result = compared(old, new)
    assert result.evaluated.turns == 1
    assert result.evaluated.notes[:2] == (
        "runs only in the old state: gone",
        "turns scored in only one state are excluded: 1_2, 1_3",
    )


def test_p_is_adjusted_over_the_runs_of_a_measure() -> None:
    """Three runs and two measures: max-T over three comparisons each, not over six and not over one."""
    generator = np.random.default_rng(3)
    values = {
        (run, metric): generator.normal(0.4, 0.1, 70) for run in "abc" for metric in (METRIC, "P_1")
    }
    moved = {
        key: value + generator.normal(0, 0.1, 10).repeat(7) + 0.06 for key, value in values.items()
    }

    def of(scores: Mapping[tuple[str, str], np.ndarray]) -> ProjectState:
        systems = {}
        for run in "abc":
            by_metric = {metric: numbers_(scores[run, metric]) for metric in (METRIC, "P_1")}
            systems[run] = replace(system(by_metric[METRIC]), scores=by_metric, low={}, high={})
        return state(systems)

    result = compared(of(values), of(moved)).measures.set_index(["metric", "system"])
    for metric in (METRIC, "P_1"):
        sums = np.array(
            [(moved[run, metric] - values[run, metric]).reshape(10, 7).sum(axis=1) for run in "abc"]
        )
        assert list(result["p_corrected"][metric]) == pytest.approx(max_t(sums, 0).tolist())
        assert (result["p_corrected"][metric] > result["p"][metric]).any()


def test_a_conclusion_needs_the_adjusted_p() -> None:
    """Of six systems one pair differs at p < .05, but not among 15 pairs."""
    generator = np.random.default_rng(2)
    scores = {name: np.repeat(generator.normal(0.5, 0.1, 10), 7) for name in "abcdef"}
    difference = np.repeat(
        0.13 + np.array([0.2, -0.2, 0.15, -0.15, 0.1, -0.1, 0.05, -0.05, 0.12, -0.12]), 7
    )
    scores["b"] = scores["a"] - difference
    one = state({name: system(numbers_(values)) for name, values in scores.items()})
    alone = state({name: system(numbers_(scores[name])) for name in "ab"})
    assert compared(alone, alone).conclusions["old"][0] == "a"
    assert compared(one, one).conclusions["old"][0] == "no significant difference"


def test_the_gate_compares_under_the_new_judgments() -> None:
    """The old run falls from 0.6 to 0.5 where the new judgments count: the drop is what is left."""
    old, new = (
        state({"a": system(dict.fromkeys(TURNS, 0.6))}),
        state({"a": system(dict.fromkeys(TURNS, 0.4))}, "k"),
    )
    bounds = {METRIC: dict.fromkeys(TURNS, -0.1)}
    rescored = {"a": Rescored({METRIC: dict.fromkeys(TURNS, 0.5)}, bounds, bounds)}
    (row,) = compared(old, new, "drop>0.02", rescored=rescored).gate.itertuples()
    assert row.drop == pytest.approx(0.1) and row.reason.startswith(
        "the mean drops by 0.100, significantly"
    )


def test_expected_drops_are_old_minus_new() -> None:
    """Scores under draws of both states; for shares of errors, of the rewriter and of Human."""
    old = {
        "qr": system(dict.fromkeys(TURNS, 0.6), "a"),
        "human": system(dict.fromkeys(TURNS, 1.0), "a", role="human"),
    }
    new = {"qr": system(dict.fromkeys(TURNS, 0.5), "b"), "human": old["human"]}
    scores = np.empty((4, 3, 1, 70))
    scores[:, 0], scores[:, 1], scores[:, 2] = 0.3, 1.0, 0.7
    drawn = Drawn(("qr", "human", "qr, old"), (METRIC,), TURNS, scores, 9, ("a warning",))
    gate = Gate([parse_condition(":qr drop>0.02"), parse_condition("qr>0.1")], "expected", 0, drawn)
    result = compare(
        state(old, thresholds=(">=0.5",)), state(new, thresholds=(">=0.5",)), EVALUATED, None, gate
    )
    assert list(result.gate["expected"]) == pytest.approx([0.4, 1.0])
    assert list(result.gate["drop"]) == pytest.approx([0.1, 0.0]) and set(
        result.gate["outcome"]
    ) == {"failed"}
    assert result.evaluated.notes[-2:] == (
        "gate: one-sided paired test, with grades of unjudged passages drawn by the hole model, p adjusted by max-T over 2"
        " cases, 10 conversations; 9 unjudged passages filled in",
        "a warning",
    )


def test_the_table_of_the_gate() -> None:
    """Rows that did not pass, failures first, with their drops; all rows where all passed."""
    same, worse = system(dict.fromkeys(TURNS, 0.5)), system(dict.fromkeys(TURNS, 0.4))
    old = state({"gone": same, "b": same, "a": same})
    table = show(compared(old, state({"b": same, "a": worse}), "drop>0.05"))[0]
    assert isinstance(table, TableBlock) and table.caption == "Gate: failed (drop>0.05)"
    assert [column.title for column in table.columns] == [
        "System",
        "Measure",
        "Drop",
        "p adj.",
        "Outcome",
    ]
    assert table.rows == (
        ("a", "NDCG@3", "+0.100", "0.0010", "failed"),
        ("gone", "", "–", "–", "cannot tell"),
    )
    assert table.note == (
        "a, NDCG@3: the mean drops by 0.100, significantly more than 0.05 (adjusted p = 0.0010); gone: the run exists only in"
        " the old state. 1 other case passed."
    )
    table = show(compared(old, old, "drop>0.05", "p<0.1"))[0]
    assert (
        isinstance(table, TableBlock) and table.caption == "Gate: passed" and len(table.rows) == 6
    )
    assert table.rows[0] == ("drop>0.05", "gone", "NDCG@3", "+0.000", "–", "passed")


def test_sums_are_aligned_by_conversation() -> None:
    """Comparisons over turns of their own, in any order; 0 where one has no turns."""
    at = Aligned([("2_1", "1_1", "1_2"), ("3_1", "4_1", "5_1", "5_2")], "conversation")
    assert at.units.labels == ("1", "2", "3", "4", "5")
    assert at.sums([np.array([1.0, 10.0, 100.0]), np.array([1.0, 2.0, 3.0, 1e-12])]).tolist() == [
        [110, 1, 0, 0, 0], [0, 0, 1, 2, 3]
    ]  # fmt: skip
    assert at.sizes.tolist() == [[2, 1, 0, 0, 0], [0, 0, 1, 1, 2]]
