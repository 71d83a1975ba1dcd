"""Missing scores of files in two states: they come before a test, and no conclusion is drawn from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robustcs
from robustcs.errors import UsageError
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.compare.missing import OPEN
from robustcs.studies.compare.states import SystemState
from tests.case_files import CASES
from tests.conftest import Command, _runner
from tests.studies.compare.test_analysis import METRIC, TURNS, compared, state

MONDAY, TUESDAY = (CASES / "missing-scores" / name for name in ("monday.tsv", "tuesday.tsv"))


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    return _runner(tmp_path, monkeypatch, capfd)


def given(scores: Mapping[str, float], unscored: tuple[str, ...] = ()) -> SystemState:
    """A file of per-turn scores."""
    return SystemState(
        "", {METRIC: scores}, {}, {}, {}, {}, unscored=unscored, absent_is_missing=True
    )


def written(path: Path, scores: Mapping[str, float]) -> Path:
    path.write_text(
        "turn\tfaithfulness\n" + "".join(f"{turn}\t{score}\n" for turn, score in scores.items())
    )
    return path


def drop(size: float, turns: int = 70) -> list[tuple[str, str, str]]:
    """The gate's outcome, rule and reason, if a drop is known on the first turns only."""
    old = dict.fromkeys(TURNS, 0.8)
    new = dict.fromkeys(TURNS[:turns], 0.8 - size)
    result = compared(state({"a": given(old)}), state({"a": given(new)}), "drop>0.02")
    return [(row.outcome, row.rule, row.reason) for row in result.gate.itertuples()]


def test_a_significant_drop_does_not_fail_with_many_missing_scores() -> None:
    """Absent rows of one state; up to 5% missing, the gate fails."""
    assert drop(0.1)[0][0] == drop(0.1, 67)[0][0] == "failed"
    ((outcome, rule, reason),) = drop(0.1, 66)
    assert (outcome, rule) == ("cannot tell", "missing scores")
    assert reason.startswith("4 of 70 scores are missing in the new state; ")


def test_scores_without_a_value_are_missing_too() -> None:
    old, new = (dict.fromkeys(TURNS, score) for score in (0.8, 0.6))
    part = {turn: old[turn] for turn in TURNS[10:]}
    first, second = state({"a": given(part, tuple(TURNS[:10]))}), state({"a": given(new)})
    (row,) = compared(first, second, "p<0.05").gate.itertuples()
    assert (row.outcome, row.reason) == (
        "cannot tell",
        "10 of 70 scores are missing in the old state",
    )
    result = compared(first, second)
    (row,) = result.measures.itertuples()
    assert (row.missing_old, row.missing_new, row.scored, row.turns) == (10, 0, 70, 60)
    assert (
        result.evaluated.unscored == 10
        and "missing scores left out (10 turns)" in result.evaluated.policy_line
    )


def test_a_turn_that_only_the_other_judgments_have_is_no_missing_score() -> None:
    """Output of trec_eval, with qrels: an absent turn is not judged there."""
    old, new = (dict.fromkeys(TURNS, score) for score in (0.8, 0.6))
    run = replace(given({turn: old[turn] for turn in TURNS[30:]}), absent_is_missing=False)
    result = compared(
        state({"a": run}), state({"a": replace(given(new), absent_is_missing=False)}), "drop>0.02"
    )
    assert result.outcome == "failed" and not result.missing and result.evaluated.unscored == 0


def flips(lost: int) -> Comparison:
    """A is better in the old state; in the new one, B is on the turns where both have scores."""
    draw = np.random.default_rng(3).uniform(0, 0.1, len(TURNS))
    high, low = (
        {turn: base + one for turn, one in zip(TURNS, draw, strict=True)} for base in (0.6, 0.3)
    )
    kept = TURNS[lost:]
    new = {
        "a": given({turn: low[turn] for turn in kept}, tuple(TURNS[:lost])),
        "b": given({turn: high[turn] for turn in kept}),
    }
    return compared(state({"a": given(high), "b": given(low)}), state(new))


def test_missing_scores_flip_no_conclusion() -> None:
    (row,) = flips(0).conclusions.itertuples()
    assert (row.old, row.new, row.flipped) == ("a", "b", True)
    (row,) = flips(1).conclusions.itertuples()  # b is better for any value of the missing score
    assert (row.old, row.new, row.flipped) == ("a", "b", True)
    result = flips(30)
    (row,) = result.conclusions.itertuples()
    assert (row.old, row.new, row.flipped) == ("a", OPEN, False)
    assert list(result.missing.values()) == [
        "30 of 70 scores of a are missing in the new state (s)."
    ]


def test_the_output_begins_with_missing_scores(call: Command) -> None:
    out = " ".join(call(f"compare {MONDAY} {TUESDAY}").out.split())
    assert out.startswith("8 of 45 scores are missing in the new state (")
    assert (
        "on 37 turns with scores in both states." in out
        and "missing scores left out (8 turns)" in out
    )
    out = " ".join(call(f"compare {TUESDAY} {MONDAY} --fail-if 'drop>0.02'", code=5).out.split())
    assert out.startswith("8 of 45 scores are missing in the old state (")


def test_states_without_a_common_turn(call: Command, tmp_path: Path) -> None:
    """Files of scores and, as ``--missing drop`` and ``own`` leave out turns, runs."""
    written(tmp_path / "a.tsv", {"1_1": 0.5, "1_2": 0.25})
    written(tmp_path / "b.tsv", {"2_1": 0.5, "2_2": 0.75})
    says = (
        "robustcs: no turn is scored in both a.{0} and b.{0}; compare states with the same turns\n"
    )
    assert call("compare a.tsv b.tsv", code=2).err == says.format("tsv")
    for turn, name in (("1_1", "a"), ("2_1", "b")):
        (tmp_path / f"{name}.run").write_text(f"{turn} Q0 d1 1 1.5 x\n")
    (tmp_path / "q.txt").write_text("1_1 0 d1 1\n2_1 0 d1 1\n")
    for missing in ("drop", "own"):
        line = f"compare a.run b.run --qrels q.txt --missing {missing}"
        assert call(line, code=2).err == says.format("run")
        told = call(f"{line} --fail-if 'drop>0.02'", code=5)
        assert (
            "no turn is scored in both states" in " ".join(told.out.split())
            and "No score changed" not in told.out
        )
    with pytest.raises(UsageError, match="no turn is scored in both"):
        robustcs.compare(tmp_path / "a.tsv", tmp_path / "b.tsv")
