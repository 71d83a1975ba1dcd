"""Turns that a set of paraphrases does not ask are left out of the set and of its baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustcs.cli.main import run
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measures import TurnScores
from robustcs.policy import EvaluationPolicy
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.robustness.analysis import Robustness, robustness
from robustcs.studies.robustness.questions import QUESTIONS
from tests.case_files import case


@pytest.fixture
def subset(tmp_path: Path) -> Path:
    """A set of paraphrases that asks 12 of 30 turns; one of the 12 finds nothing."""
    return case("paraphrase-subset", tmp_path)


def asked(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Return the JSON of the command, with the only row of the tables ``measures`` and ``groups``."""
    code = run(
        ["robustness", "--config", str(folder / "robustcs.toml"), "--format", "json", *arguments]
    )
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    (row,), (group,) = found["tables"]["measures"], found["tables"]["groups"]
    return found | {"row": row, "group": group}


def test_only_the_turns_of_the_set_are_compared(
    subset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(subset, capsys)
    row = found["row"]
    assert (row["value"], row["baseline"], row["drop"], row["drop_percent"], row["turns"]) == (
        0.75,
        1.0,
        0.25,
        25.0,
        12,
    )
    assert (found["group"]["mean_drop"], found["group"]["turns"]) == (0.25, 12)
    assert (found["policy"]["turns"], found["policy"]["missing_turns"]) == (12, 1)
    assert (
        "typo covers 12 of 30 turns; the other 18 are left out of it and its baseline"
        in found["notes"]
    )
    assert "typo misses 1 turn: 4_3" in found["notes"]
    assert len(found["tables"]["turns"]) == 12
    assert [row["turns"] for row in found["tables"]["slices"] if row["slicing"] == "first"] == [
        4,
        8,
    ]


def test_a_turn_that_found_nothing_can_be_dropped(
    subset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(subset, capsys, "--missing", "drop")
    assert (found["row"]["turns"], found["row"]["drop"]) == (11, pytest.approx(2 / 11))
    assert (found["policy"]["turns"], found["policy"]["missing_turns"]) == (11, 1)


def test_without_texts_the_turns_of_the_run_count(
    subset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = subset / "robustcs.toml"
    config.write_text(config.read_text().replace('[texts]\ntypo = "typo.tsv"\n', ""))
    found = asked(subset, capsys)
    assert (found["row"]["turns"], found["row"]["drop"]) == (11, pytest.approx(2 / 11))
    (note,) = [note for note in found["notes"] if "assumption" in note]
    assert note == (
        "typo has passages for 11 of 30 turns; the other 19 are left out of it and its baseline, on the assumption that they"
        " were not asked, because the texts of typo are unknown (add them to [texts] or [raw_texts])"
    )


def test_without_texts_a_turn_of_another_set_of_the_group_was_asked(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # raw_2 lacks one turn that raw_1 and raw_3 have
    assert (
        run(
            [
                "robustness",
                "--config",
                str(demo / "robustcs.toml"),
                "--metric",
                "P_1",
                "--format",
                "json",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert {row["turns"] for row in found["tables"]["measures"]} == {70}
    assert not any("assumption" in note for note in found["notes"])


def test_the_report_tells_the_drop_of_the_turns_that_were_asked(subset: Path) -> None:
    answer = QUESTIONS[0].content
    assert answer is not None
    found = answer(Workspace(read_project(subset / "robustcs.toml")))
    assert "MRR drops by 0.250 on average, 25% of the baseline" in found.findings[0]
    (verdict,) = found.verdicts
    assert (
        verdict.text.startswith("MRR drops by 0.250 with the paraphrases of typos")
        and "12 turns" in verdict.basis
    )


def test_a_set_that_asks_few_turns_is_not_compared_as_a_system(
    subset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["evaluate", "--config", str(subset / "robustcs.toml"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["system"] for row in found["tables"]["measures"]] == ["human"]
    assert (
        "typo covers 12 of 30 turns, so it is not compared here; see robustcs robustness"
        in found["notes"]
    )


def test_without_texts_a_set_with_few_turns_is_not_compared_either(
    subset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = subset / "robustcs.toml"
    config.write_text(config.read_text().replace('[texts]\ntypo = "typo.tsv"\n', ""))
    assert run(["evaluate", "--config", str(config), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["system"] for row in found["tables"]["measures"]] == ["human"]
    (note,) = [note for note in found["notes"] if "assumption" in note]
    assert note.startswith(
        "typo has passages for 11 of 30 turns; the other 19 are left out, on the assumption that they were not"
    )
    assert note.endswith("so it is not compared here; see robustcs robustness")


@pytest.mark.parametrize(("texts", "value", "turns"), [(True, 0.75, 12), (False, 9 / 11, 11)])
def test_compare_scores_a_set_over_the_turns_that_it_asks(
    subset: Path, capsys: pytest.CaptureFixture[str], texts: bool, value: float, turns: int
) -> None:
    config = subset / "robustcs.toml"
    if not texts:
        config.write_text(config.read_text().replace('[texts]\ntypo = "typo.tsv"\n', ""))
    assert run(["compare", str(config), str(config), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    human, typo = found["tables"]["measures"]
    assert (human["old"], human["turns"]) == (1.0, 30)
    assert (typo["old"], typo["new"], typo["turns"]) == (
        pytest.approx(value),
        pytest.approx(value),
        turns,
    )
    does = "covers" if texts else "has passages for"
    assert any(
        note.startswith(f"typo {does} {turns} of 30 turns; the other {30 - turns} are left")
        for note in found["notes"]
    )


def drops(sets: dict[str, list[float]], base: list[float]) -> Robustness:
    """Return the result of one group over turns 1_1, 1_2, 1_3, 2_1, …; nan: not asked."""
    turns = [f"{1 + place // 3}_{1 + place % 3}" for place in range(len(base))]
    scores = {
        name: TurnScores(turns, {"map": np.array(values)})
        for name, values in {"base": base, **sets}.items()
    }
    evaluated = Evaluated(EvaluationPolicy(), "runs", len(base), 0)
    return robustness({"g": Group("base", tuple(sets))}, scores, evaluated)


def test_sets_that_ask_different_turns() -> None:
    generator = np.random.default_rng(3)
    base, first, second = generator.random((3, 30)).round(3)
    first[20:] = np.nan
    second[:6] = np.nan
    result = drops({"a": first.tolist(), "b": second.tolist()}, base.tolist())
    # each set is compared as if it were alone
    for name, values, own in (("a", first, slice(20)), ("b", second, slice(6, 30))):
        alone = drops({name: values[own].tolist()}, base[own].tolist()).measures.iloc[0]
        row = result.measures.set_index("set").loc[name]
        assert row["turns"] == alone["turns"] == len(base[own])
        assert row[["value", "baseline", "drop"]].tolist() == pytest.approx(
            alone[["value", "baseline", "drop"]].tolist()
        )
    group = result.groups.iloc[0]
    both = np.nanmean([first, second], axis=0)
    assert group[["turns", "mean_drop"]].tolist() == [30, pytest.approx((base - both).mean())]
    assert result.turns["mean"].tolist() == pytest.approx(both.tolist())
    assert result.turns["sd"].notna().sum() == result.spread["turns"].iloc[0] - 6 - 10
    assert not result.fully_asked


def test_turns_that_no_set_of_a_group_asks_are_in_none_of_its_tables() -> None:
    base, values = [1.0] * 9, [0.5] * 6 + [np.nan] * 3
    result = drops({"a": values, "b": values}, base)
    assert result.measures["turns"].tolist() == [6, 6] and result.measures["drop"].tolist() == [
        0.5,
        0.5,
    ]
    assert len(result.turns) == 6 and result.slices.query("slicing == 'first'")[
        "turns"
    ].tolist() == [2, 4]
    assert result.risk[["wins", "losses", "ties"]].to_numpy().tolist() == [[0, 6, 0]] * 2
