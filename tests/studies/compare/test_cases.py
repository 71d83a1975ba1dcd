"""What a gate finds wrong with the data, on states made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robustcs.evaluation.state import State, SystemState
from robustcs.studies.compare.cases import EVERY, Drawn
from robustcs.studies.compare.changes import Rescored
from tests.studies.compare.test_analysis import METRIC, TURNS, compared, state, system

SCORES = dict.fromkeys(TURNS, 0.5)
WORSE = dict.fromkeys(TURNS, 0.4)


def gate(old: State, new: State, *conditions: str, **more: int) -> list[tuple[str, str, str, str]]:
    """(condition, run, outcome, reason) of every row."""
    rows = compared(old, new, *(conditions or ("drop>0.2",)), **more).gate.itertuples()  # type: ignore[arg-type]
    return [(row.condition, row.run, row.outcome, row.reason) for row in rows]


def test_a_run_that_is_gone() -> None:
    old, new = state({"a": system(SCORES), "t5": system(SCORES)}), state({"a": system(SCORES)})
    gone = (EVERY, "t5", "cannot tell", "the run is gone: only the old state has it")
    assert gate(old, new) == [("drop>0.2", "a", "passed", "no turn differs"), gone]
    assert gate(old, new, ":a drop>0.2")[1:] == [gone]
    assert gate(new, old) == [("drop>0.2", "a", "passed", "no turn differs")]
    result = compared(old, replace(new, systems={"a": system(WORSE)}), "drop>0.05")
    assert result.outcome == "failed" and set(result.gate["outcome"]) == {"failed", "cannot tell"}


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        (":t5 drop>0.1", "neither state has a run named t5"),
        (":old drop>0.1", "only the old state has a run named old"),
        (":new drop>0.1", "only the new state has a run named new"),
        ("map p<0.05", "neither state has map"),
        ("map:both p<0.05", "neither state has map"),
        ("qr>0.1", "shares of errors need Human and a rewriter with a common measure in both states"),
    ],
)
def test_a_condition_that_matches_nothing(condition: str, reason: str) -> None:
    old, new = ({"both": system(SCORES), name: system(SCORES)} for name in ("old", "new"))
    assert gate(state(old), state(new), condition)[0][2:] == ("cannot tell", reason)


def test_states_without_anything_in_common() -> None:
    rows = gate(state({"a": system(SCORES)}), state({"b": system(SCORES)}), "drop>0.1")
    assert [(row[0], row[2]) for row in rows] == [("drop>0.1", "cannot tell"), (EVERY, "cannot tell")]
    assert rows[0][3] == "the states have no run and measure in common"


def test_a_measure_that_is_gone() -> None:
    both = replace(system(SCORES), scores={METRIC: SCORES, "map": SCORES})
    old, new = state({"a": both}), state({"a": system(SCORES)})
    assert gate(old, new)[1:] == [("drop>0.2", "a", "cannot tell", "the measure is gone: only the old state has it")]
    assert gate(old, new, f"{METRIC} drop>0.2") == [(f"{METRIC} drop>0.2", "a", "passed", "no turn differs")]


def without(scores: dict[str, float], *turns: str) -> dict[str, float]:
    return {turn: score for turn, score in scores.items() if turn not in turns}


def test_turns_that_are_gone() -> None:
    """From the scores, or from the run, so that they score 0; more than are allowed."""
    old = state({"a": system(SCORES), "b": system(SCORES)})
    fewer = state({"a": system(without(SCORES, "1_2")), "b": system(SCORES)})
    assert gate(old, fewer) == [
        ("drop>0.2", "a", "cannot tell", "1 turn is gone (1_2)"), ("drop>0.2", "b", "passed", "no turn differs")
    ]  # fmt: skip
    lacking = replace(system({**SCORES, "1_1": 0.0, "1_2": 0.0}), rankings={**dict.fromkeys(TURNS, "a"), "1_1": "", "1_2": ""})
    new = state({"a": lacking, "b": system(SCORES)})
    assert gate(old, new)[0][2:] == ("cannot tell", "the mean drops by 0.014; 2 turns are gone (1_1, 1_2)")
    assert gate(old, new, allow_missing=1)[0][2] == "cannot tell"
    assert gate(old, new, allow_missing=2)[0][2:] == ("passed", "the mean drops by 0.014, which the condition allows")
    assert gate(new, new)[0][2] == "passed"  # they were missing before


def test_turns_that_files_of_scores_lack() -> None:
    given = SystemState("qr", {METRIC: SCORES}, {}, {}, {}, {})
    lacking = replace(given, scores={METRIC: {**SCORES, "1_1": 0.0}}, lacking=["1_1"])
    assert gate(state({"a": given}), state({"a": lacking}))[0][2:] == (
        "cannot tell", "the mean drops by 0.007; 1 turn is gone (1_1)"
    )  # fmt: skip


def test_judgments_that_are_lost() -> None:
    fewer = without(SCORES, "1_1", "1_2", "2_1")
    new = state({"a": system(without(SCORES, "1_1", "1_2", "2_1"))})
    new = replace(new, judgments=dict.fromkeys([*fewer, "2_1"], "j"))
    assert gate(state({"a": system(SCORES)}), new)[0][2:] == (
        "cannot tell", "1 turn is gone (2_1); 2 turns have lost their judgments (1_1, 1_2)"
    )  # fmt: skip


def test_scores_that_cannot_be_made_alike() -> None:
    """Other judgments, or another policy: what they did cannot be told from what the system did, unless it is scored again."""
    old = state({"a": system(SCORES)})
    judged, ruled = (
        replace(old, judgments={**old.judgments, "1_1": "k"}),
        replace(old, policy={**old.policy, "relevance_level": 3}),
    )
    why = ", and the old run cannot be scored under the new one"
    assert gate(old, judged)[0][2:] == ("cannot tell", f"the judgments changed{why}s")
    assert gate(old, ruled)[0][2:] == ("cannot tell", f"the policy changed{why}")
    zero = {METRIC: dict.fromkeys(TURNS, 0.0)}
    for new in (judged, ruled):
        assert set(compared(old, new, "drop>0.2", rescored={"a": Rescored({METRIC: SCORES}, zero, zero)}).gate["outcome"]) == {
            "passed"
        }
    given = replace(system(SCORES), rankings={})
    assert gate(state({"a": given}), replace(state({"a": given}), policy=ruled.policy))[0][2] == "passed"


def heads(judged: int) -> dict[str, list[tuple[str, int | None]]]:
    """Five passages for each of 70 turns; of those in the top 3 ``judged`` are judged, and none below."""
    flags = iter([1] * judged + [None] * (210 - judged))
    return {turn: [(f"d{rank}", next(flags) if rank < 3 else None) for rank in range(5)] for turn in TURNS}


@pytest.mark.parametrize(("after", "outcome"), [(189, "passed"), (188, "cannot tell"), (210, "passed")])
def test_a_judged_share_that_falls(after: int, outcome: str) -> None:
    """By more than five points, down to the measure's cutoff: 200 of 210 judged, then 189 (5.2 points) or 190 of 210."""
    old, new = (replace(system(scores), heads=heads(judged)) for scores, judged in ((SCORES, 199), (WORSE, after)))
    result = compared(state({"a": old}), state({"a": new}), "drop>0.2")
    (row,) = result.gate.itertuples()
    assert (row.judged_old, row.judged_new) == pytest.approx((199 / 210, after / 210))
    assert row.outcome == outcome
    said = f"the judged share of the top 3 falls from 94.8% to {after / 210:.1%}"
    assert (said in row.reason) == (outcome == "cannot tell")


def test_a_rejected_case_fails_whatever_else_is_wrong() -> None:
    old = replace(system(SCORES), heads=heads(210))
    new = replace(system(without(WORSE, "1_1")), heads=heads(100))
    result = compared(state({"a": old, "gone": old}), state({"a": new}), "drop>0.05")
    assert result.outcome == "failed"
    assert result.gate["reason"][0] == (
        "the mean drops by 0.100, significantly more than 0.05 (adjusted p = 0.0010); 1 turn has lost its"
        " judgments (1_1); the judged share of the top 3 falls from 100.0% to 46.9%"
    )


def test_draws_of_either_state() -> None:
    """Scores under draws by run, measure and turn; a run that did not change is drawn once."""
    scores = np.arange(2 * 3 * 1 * 2, dtype=float).reshape(2, 3, 1, 2)
    drawn = Drawn(("a", "b", "a, old"), (METRIC,), ("1_1", "1_2"), scores, 5, ())
    assert drawn.of("a", METRIC, ("1_2",), old=False).tolist() == [[1.0], [7.0]]  # type: ignore[union-attr]
    assert drawn.of("a", METRIC, ("1_2", "1_1"), old=True).tolist() == [[5.0, 4.0], [11.0, 10.0]]  # type: ignore[union-attr]
    assert drawn.of("b", METRIC, ("1_1",), old=True).tolist() == [[2.0], [8.0]]  # type: ignore[union-attr]
    assert drawn.of("c", METRIC, ("1_1",), old=True) is None and drawn.of("a", "map", ("1_1",), old=True) is None
