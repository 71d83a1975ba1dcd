"""What a gate finds wrong with the data, on states made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robustcs.studies.compare.analysis import compare
from robustcs.studies.compare.cases import EVERY, Drawn, Gate
from robustcs.studies.compare.changes import Rescored
from robustcs.studies.compare.gate import no_worse, parse_condition
from robustcs.studies.compare.states import ProjectState, SystemState
from tests.studies.compare.test_analysis import EVALUATED, METRIC, TURNS, compared, state, system

SCORES = dict.fromkeys(TURNS, 0.5)
WORSE = dict.fromkeys(TURNS, 0.4)


def gate(
    old: ProjectState, new: ProjectState, *conditions: str, **more: int
) -> list[tuple[str, str, str, str]]:
    """(condition, run, outcome, reason) of every row."""
    rows = compared(old, new, *(conditions or ("drop>0.2",)), **more).gate.itertuples()  # type: ignore[arg-type]
    return [(row.condition, row.system, row.outcome, row.reason) for row in rows]


def test_a_run_that_is_gone() -> None:
    old, new = state({"a": system(SCORES), "t5": system(SCORES)}), state({"a": system(SCORES)})
    gone = (EVERY, "t5", "cannot tell", "the run exists only in the old state")
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
        ("map:both p<0.05", "neither state has map of both"),
        (
            "qr>0.1",
            "a condition on errors needs Human and a rewriter with a common measure in both states",
        ),
    ],
)
def test_a_condition_that_matches_nothing(condition: str, reason: str) -> None:
    old, new = ({"both": system(SCORES), name: system(SCORES)} for name in ("old", "new"))
    assert gate(state(old), state(new), condition)[0][2:] == ("cannot tell", reason)


def test_states_without_anything_in_common() -> None:
    rows = gate(state({"a": system(SCORES)}), state({"b": system(SCORES)}), "drop>0.1")
    assert [(row[0], row[2]) for row in rows] == [
        ("drop>0.1", "cannot tell"),
        (EVERY, "cannot tell"),
    ]
    assert rows[0][3] == "the states have no run and measure in common"


def test_a_measure_that_is_gone() -> None:
    both = replace(system(SCORES), scores={METRIC: SCORES, "map": SCORES})
    old, new = state({"a": both}), state({"a": system(SCORES)})
    assert gate(old, new)[1:] == [
        ("drop>0.2", "a", "cannot tell", "only the old state has map of a")
    ]
    assert gate(old, new, f"{METRIC} drop>0.2") == [
        (f"{METRIC} drop>0.2", "a", "passed", "no turn differs")
    ]


def without(scores: dict[str, float], *turns: str) -> dict[str, float]:
    return {turn: score for turn, score in scores.items() if turn not in turns}


def test_turns_that_are_gone() -> None:
    """From the scores, or from the run, so that they score 0; more than are allowed."""
    old = state({"a": system(SCORES), "b": system(SCORES)})
    fewer = state({"a": system(without(SCORES, "1_2")), "b": system(SCORES)})
    assert gate(old, fewer) == [
        ("drop>0.2", "a", "cannot tell", "1 turn is gone (1_2)"), ("drop>0.2", "b", "passed", "no turn differs")
    ]  # fmt: skip
    lacking = replace(
        system({**SCORES, "1_1": 0.0, "1_2": 0.0}),
        rankings={**dict.fromkeys(TURNS, "a"), "1_1": "", "1_2": ""},
    )
    new = state({"a": lacking, "b": system(SCORES)})
    assert gate(old, new)[0][2:] == (
        "cannot tell",
        "the mean drops by 0.014; 2 turns are gone (1_1, 1_2)",
    )
    assert gate(old, new, allow_missing=1)[0][2] == "cannot tell"
    assert gate(old, new, allow_missing=2)[0][2:] == (
        "passed",
        "the mean drops by 0.014, which the condition allows",
    )
    assert gate(new, new)[0][2] == "passed"  # they were missing before


def test_turns_that_files_of_scores_lack() -> None:
    given = SystemState("qr", {METRIC: SCORES}, {}, {}, {}, {})
    lacking = replace(given, scores={METRIC: {**SCORES, "1_1": 0.0}}, lacking=["1_1"])
    assert gate(state({"a": given}), state({"a": lacking}))[0][2:] == (
        "cannot tell", "the mean drops by 0.007; 1 turn is gone (1_1)"
    )  # fmt: skip


def test_answers_that_are_gone() -> None:
    """A condition on an outcome needs the turns' answers; their scores do not count."""
    answers = dict.fromkeys(TURNS, "correct")
    old = state({"a": replace(system(SCORES), outcomes=answers)})
    new = state(
        {"a": replace(system(SCORES), outcomes={turn: answers[turn] for turn in TURNS[2:]})}
    )
    assert gate(old, new, "refused>0.1") == [
        ("refused>0.1", "a", "cannot tell", "2 turns are gone (1_1, 1_2)")
    ]
    assert (
        gate(old, old, "refused>0.1")[0][2]
        == gate(old, new, "refused>0.1", allow_missing=2)[0][2]
        == "passed"
    )


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
        assert set(
            compared(
                old, new, "drop>0.2", rescored={"a": Rescored({METRIC: SCORES}, zero, zero)}
            ).gate["outcome"]
        ) == {"passed"}
    given = replace(system(SCORES), rankings={})
    assert (
        gate(state({"a": given}), replace(state({"a": given}), policy=ruled.policy))[0][2]
        == "passed"
    )


def heads(judged: int) -> dict[str, list[tuple[str, int | None]]]:
    """Five passages for each of 70 turns; of those in the top 3 ``judged`` are judged, and none below."""
    flags = iter([1] * judged + [None] * (210 - judged))
    return {
        turn: [(f"d{rank}", next(flags) if rank < 3 else None) for rank in range(5)]
        for turn in TURNS
    }


@pytest.mark.parametrize(
    ("after", "outcome"), [(189, "passed"), (188, "cannot tell"), (210, "passed")]
)
def test_a_judged_share_that_falls(after: int, outcome: str) -> None:
    """By more than five points, down to the measure's cutoff: 200 of 210 judged, then 189 (5.2 points) or 190 of 210."""
    old, new = (
        replace(system(scores), heads=heads(judged))
        for scores, judged in ((SCORES, 199), (WORSE, after))
    )
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
    assert (
        drawn.of("c", METRIC, ("1_1",), old=True) is None
        and drawn.of("a", "map", ("1_1",), old=True) is None
    )


# ---------------------------------------------------------------- shares of errors

ONES = dict.fromkeys(TURNS, 1.0)
ZEROS = dict.fromkeys(TURNS, 0.0)
HUMAN = system(ONES, role="human")
ONE_CUT = (">=0.5",)


def errors(
    old: dict[str, SystemState], new: dict[str, SystemState], condition: str = "qr>0.05"
) -> list[tuple[str, str, str]]:
    """(run, outcome, reason) of the rows of a condition on errors, without those of every condition."""
    rows = gate(state(old, thresholds=ONE_CUT), state(new, thresholds=ONE_CUT), condition)
    return [row[1:] for row in rows if row[0] != EVERY]


@pytest.mark.parametrize("condition", ["qr>0.05", "qa>0.05"])
def test_rewriters_without_a_case_are_told(condition: str) -> None:
    good = system(ONES)
    old = {"a": good, "b": good, "human": HUMAN}
    here = ("a", "passed", "no turn differs")
    assert errors(old, {"a": good, "human": HUMAN}, condition) == [
        here, ("b", "cannot tell", "only the old state has a run named b")
    ]  # fmt: skip
    renamed = replace(good, scores={"map": ONES})
    assert errors(old, {**old, "b": renamed}, condition) == [
        here, ("b", "cannot tell", f"only the old state has {METRIC} of b")
    ]  # fmt: skip
    elsewhere = system({"99_1": 1.0})
    assert errors({**old, "b": replace(good, scores={METRIC: {**ONES, "99_1": 1.0}})}, {**old, "b": elsewhere}, condition) == [
        here, ("b", "cannot tell", "no turn is scored in both states")
    ]  # fmt: skip
    assert errors({"a": good, "human": HUMAN}, {"a": good}, condition) == [
        ("a", "cannot tell", "only the old state has a run named human")
    ]
    assert errors({"a": good}, {"a": good, "human": HUMAN}, condition) == [
        ("a", "cannot tell", "only the new state has a run named human")
    ]
    assert errors(
        old, {**old, "human": replace(HUMAN, scores={"map": ONES})}, f"{METRIC}:a {condition}"
    ) == [("a", "cannot tell", f"only the old state has {METRIC} of human")]


def test_a_rewriter_with_another_role_is_still_one() -> None:
    """In the new state it is a further run: its role in the old one counts."""
    old = {"a": system(ONES), "human": HUMAN}
    ((run, outcome, reason),) = errors(
        old, {"a": system(ZEROS, role=""), "human": replace(HUMAN, role="")}
    )
    assert (run, outcome) == ("a", "failed") and reason.startswith(
        "the share of rewriter errors grows by 100.0 percentage points"
    )


def test_errors_on_the_turns_of_rewriter_and_human() -> None:
    """Human answers one turn fewer, in both states: the other 69 are compared."""
    human = system(without(ONES, "1_1"), role="human")
    worse = system({**ZEROS, "1_1": 1.0})
    result = compared(
        *(state({"a": one, "human": human}, thresholds=ONE_CUT) for one in (system(ONES), worse)), "qr>0.05"
    )  # fmt: skip
    (row,) = result.gate.itertuples()
    assert (row.system, row.outcome, row.drop) == ("a", "failed", 1.0)


# ---------------------------------------------------------------- rankings, judgments, groups, measures


def test_other_rankings_with_the_same_scores() -> None:
    """They are no proof that nothing got worse; grades of unjudged passages may or may not make a difference."""

    def outcomes(room: float, evidence: str) -> list[tuple[str, str]]:
        states = [state({"a": system(SCORES, ranking, room=room)}) for ranking in "ab"]
        both = Gate([no_worse(0.01), parse_condition("drop>0.01")], evidence)  # type: ignore[arg-type]
        return [
            (row.outcome, row.reason)
            for row in compare(*states, EVALUATED, {}, both).gate.itertuples()
        ]

    said = "no score differs, but rankings do"
    undone = f"{said}; grades of unjudged passages could cause a larger drop"
    assert (
        outcomes(0.3, "test")
        == outcomes(0.3, "bounds")
        == [("cannot tell", undone), ("passed", said)]
    )
    sure = f"{said}; no grades of unjudged passages can cause a drop larger than 0.01"
    assert (
        outcomes(0.004, "bounds") == outcomes(0.0, "test") == [("passed", sure), ("passed", said)]
    )
    assert outcomes(0.004, "test")[0][0] == "cannot tell"


def again(scores: dict[str, float], grade: int | None = None) -> dict[str, Rescored]:
    """The old run under other judgments, of which the five passages of every turn have this grade."""
    zero = {METRIC: ZEROS}
    return {"a": Rescored({METRIC: scores}, zero, zero, {turn: [grade] * 5 for turn in TURNS})}


def test_judgments_that_old_runs_lose() -> None:
    """The new run has as many judged passages as before: the old one does not."""
    old, new = (
        state({"a": replace(system(SCORES), heads=heads(210))}, judgments) for judgments in "jk"
    )
    (row,) = compared(old, new, "drop>0.2", rescored=again(SCORES)).gate.itertuples()
    assert (row.outcome, row.reason) == (
        "cannot tell", "the new judgments cover 0.0% of the old top 3, the old ones 100.0%"
    )  # fmt: skip
    assert compared(old, new, "drop>0.2", rescored=again(SCORES, 1)).outcome == "passed"


@pytest.mark.parametrize(("condition", "allowed"), [("drop>0.2", 0.2), ("p<0.05", 0.05)])
def test_old_scores_that_other_judgments_change(condition: str, allowed: float) -> None:
    """Both states score the same under the new judgments, because those, or the policy, leave nothing to find."""
    old = state({"a": replace(system(SCORES), heads=heads(210))})
    for policy in ({}, {"relevance_level": 3}):
        for score, outcome in ((0.5 - allowed, "passed"), (0.5 - allowed - 0.01, "cannot tell")):
            scores = dict.fromkeys(TURNS, score)
            new = replace(
                state({"a": replace(system(scores), heads=heads(210))}, "k"),
                policy={**old.policy, **policy},
            )
            result = compared(old, new, condition, rescored=again(scores, 1 if policy else 0))
            assert result.outcome == outcome
            reason = f"changed judgments or policy move the old score from 0.500 to {score:.3f}"
            assert (result.gate["reason"][0] == reason) == (outcome == "cannot tell")
    # the earlier judgments all stay
    added = state({"a": replace(system(ZEROS), heads=heads(210))}, "k")
    assert compared(old, added, condition, rescored=again(ZEROS, 1)).outcome == "passed"


def test_errors_that_another_policy_hides() -> None:
    """Nothing is relevant any more, so that no turn of Human is correct and no rewriter makes an error."""
    old, new = (
        state({"a": system(one), "human": system(other, role="human")}, thresholds=ONE_CUT)
        for one, other in ((SCORES, ONES), (ZEROS, ZEROS))
    )
    zero = {METRIC: ZEROS}
    rescored = dict.fromkeys(("a", "human"), Rescored({METRIC: ZEROS}, zero, zero))
    (row,) = compared(
        old, replace(new, policy={**new.policy, "relevance_level": 3}), "qr>0.5", rescored=rescored
    ).gate.itertuples()
    assert (
        row.outcome == "cannot tell"
        and "move the old score of human from 1.000 to 0.000" in row.reason
    )


def test_groups_and_formulations_that_are_gone(tmp_path: Path) -> None:
    group = {"baseline": "a", "sets": ["s", "t"]}
    old = replace(
        state({"a": system(SCORES)}),
        formulations=["a", "texts"],
        groups={"g": group, "h": group, "k": group},
    )
    new = replace(
        old,
        formulations=["a"],
        groups={"h": {**group, "sets": ["t"]}, "k": {**group, "baseline": "b"}},
    )
    assert gate(old, old)[1:] == []
    assert gate(old, new)[1:] == [
        (EVERY, "texts", "cannot tell", "the formulation exists only in the old state"),
        (EVERY, "g", "cannot tell", "the group exists only in the old state"),
        (EVERY, "h", "cannot tell", "the group has lost a system, or has another baseline"),
        (EVERY, "k", "cannot tell", "the group has lost a system, or has another baseline"),
    ]


def test_a_measure_that_was_asked_for_and_is_new() -> None:
    both = replace(system(SCORES), scores={METRIC: SCORES, "map": SCORES})
    asked = Gate(
        [parse_condition("drop>0.2"), parse_condition(f"{METRIC} drop>0.2")],
        requested=[METRIC, "map"],
    )
    rows = compare(state({"a": system(SCORES)}), state({"a": both}), EVALUATED, {}, asked).gate
    assert list(zip(rows["metric"], rows["outcome"], rows["reason"], strict=True)) == [
        (METRIC, "passed", "no turn differs"),
        ("map", "cannot tell", "only the new state has map of a"),
        (METRIC, "passed", "no turn differs"),
    ]
