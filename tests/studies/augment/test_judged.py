"""``augment --judge``: what people judged corrects what the judge says of all of it, and nothing is mixed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.statistics.prediction_powered import corrected, judged_sums
from robustcs.statistics.units import units_of


def answer(capfd: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capfd.readouterr()
    code = run(["augment", *map(str, arguments), "--format", "json"])
    out, err = capfd.readouterr()
    assert code == 0, err
    return dict(json.loads(out))


def fail(capfd: pytest.CaptureFixture[str], code: int, *arguments: object) -> str:
    capfd.readouterr()
    assert run(["augment", *map(str, arguments)]) == code
    return capfd.readouterr().err


@pytest.fixture
def project(demo: Path) -> tuple[object, ...]:
    """Six of ten conversations judged by people, all by the lexical judge."""
    return "--config", demo / "judges" / "six_conversations.toml", "--metric", "ndcg_cut_3"


def test_contract_and_wording(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...]
) -> None:
    found = answer(capfd, *project)
    tables = found["tables"]
    assert list(tables) == ["estimates", "estimate_pairs", "sample"]
    contract = {"system", "metric", "judge", "human_only", "human_ci_low", "human_ci_high", "judge_only", "corrected", "ci_low",
                "ci_high", "weight", "judged_units", "worth"}  # fmt: skip
    assert contract < tables["estimates"][0].keys()
    assert {
        "first",
        "second",
        "metric",
        "corrected",
        "ci_low",
        "ci_high",
        "p",
        "p_corrected",
    } < tables["estimate_pairs"][0].keys()
    assert (found["policy"]["unit"], found["policy"]["units"], found["policy"]["turns"]) == (
        "conversation",
        10,
        70,
    )
    for row in tables["estimates"]:
        assert (row["judged_units"], row["units"]) == (6, 10)
        assert (
            row["ci_low"] < row["corrected"] < row["ci_high"] and row["judge_only"] > row["ci_high"]
        )
        assert row["others_low"] < row["ci_low"] and "6 conversations" in row["note"]
    assert len(tables["estimate_pairs"]) == 3
    assert run(["augment", *map(str, project)]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert (
        "lexical judged 10 conversations; 6 of them also have human judgments." in shown
        and "Judge only: not an estimate" in shown
    )


def test_intervals_hold_what_people_say_of_all(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...], demo: Path
) -> None:
    """The judgments that were hidden are in the demo."""
    found = answer(capfd, *project)["tables"]
    whole = robustcs.augment(demo / "robustcs.toml", metrics="ndcg_cut_3").tables["measures"]
    after = whole.set_index("system")["after"]
    for row in found["estimates"]:
        assert row["ci_low"] <= after[row["system"]] <= row["ci_high"]


def test_numbers_are_those_of_scores_by_turn(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...], demo: Path
) -> None:
    """Scores of the two sides from ``evaluate``, each on its own qrels, put together by hand."""
    runs = {name: demo / "runs" / f"stem_{name}.trec" for name in ("original", "qr", "human")}
    sides = []
    for qrels in ("six_conversations.txt", "lexical.txt"):
        turns = robustcs.evaluate(
            None, qrels=demo / "judges" / qrels, runs=runs, metrics="ndcg_cut_3"
        ).turns
        sides.append(turns.pivot(index="turn", columns="system", values="value")[list(runs)])
    people, model = sides[0].reindex(sides[1].index), sides[1]
    units = units_of(list(model.index))
    judged = np.array(
        [
            not people[people.index.str.startswith(f"{label}_")].isna().any(axis=None)
            for label in units.labels
        ]
    )
    expected = corrected(
        judged_sums(people.fillna(0).to_numpy().T, model.to_numpy().T, units, judged)
    )
    found = answer(capfd, *project)["tables"]["estimates"]
    assert [row["corrected"] for row in found] == pytest.approx(expected.value.tolist())
    assert [row["ci_high"] - row["ci_low"] for row in found] == pytest.approx(
        (2 * expected.half_width()).tolist()
    )
    assert [row["worth"] for row in found] == pytest.approx(expected.worth.tolist())
    assert found[0]["weight"] == pytest.approx(expected.weight)


def test_below_five_conversations_it_is_refused(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...], demo: Path, tmp_path: Path
) -> None:
    lines = (demo / "judges" / "six_conversations.txt").read_text("utf-8").splitlines(keepends=True)
    few = tmp_path / "few.txt"
    few.write_text(
        "".join(line for line in lines if line.split("_")[0] in ("1", "3", "6", "7")),
        encoding="utf-8",
    )
    said = fail(capfd, 2, *project, "--qrels", few)
    assert (
        said
        == "robustcs: only 4 of 10 conversations judged by lexical have human judgments; judge at least 5, drawn at random\n"
    )
    # beside what else is asked it is a note
    notes = answer(capfd, *project, "--qrels", few, "--leave-one-out")["notes"]
    assert any(
        note.startswith("no estimates with judges: only 4 of 10 conversations") for note in notes
    )


def test_sampled_pairs_are_refused(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...], demo: Path, tmp_path: Path
) -> None:
    lines = (demo / "judges" / "six_conversations.txt").read_text("utf-8").splitlines(keepends=True)
    for step, refused in ((5, True), (3, True)):
        some = tmp_path / "some.txt"
        some.write_text("".join(lines[::step]), encoding="utf-8")
        said = fail(capfd, 2, *project, "--qrels", some)
        assert ("judge all passages of some conversations" in said) == refused
    most = tmp_path / "most.txt"
    most.write_text(
        "".join(line for place, line in enumerate(lines) if place % 4), encoding="utf-8"
    )
    notes = answer(capfd, *project, "--qrels", most)["notes"]
    assert any(
        note.startswith("human judgments cover ") and "judged by lexical; the others count" in note
        for note in notes
    )


def test_a_chosen_sample_is_told(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...], demo: Path, tmp_path: Path
) -> None:
    """People judged only the conversations that the judge likes best."""
    runs = {name: demo / "runs" / f"stem_{name}.trec" for name in ("original", "qr", "human")}
    model = robustcs.evaluate(
        None, qrels=demo / "judges" / "lexical.txt", runs=runs, metrics="ndcg_cut_3"
    ).turns
    means = (
        model.groupby(model["turn"].str.split("_").str[0])["value"]
        .mean()
        .sort_values(ascending=False)
    )
    grades = (demo / "qrels.txt").read_text("utf-8").splitlines(keepends=True)
    new = (demo / "new_judgments.txt").read_text("utf-8").splitlines(keepends=True)
    chosen = tmp_path / "chosen.txt"
    best = set(means.index[:5])
    known = {tuple(line.split()[:3]) for line in grades}
    rows = [*grades, *(line for line in new if tuple(line.split()[:3]) not in known)]
    chosen.write_text(
        "".join(line for line in rows if line.split("_")[0] in best), encoding="utf-8"
    )
    found = answer(capfd, *project, "--qrels", chosen)
    assert found["tables"]["sample"][0]["p"] <= 0.05
    assert any("are probably not a random sample" in note for note in found["notes"])


def test_planning(capfd: pytest.CaptureFixture[str], project: tuple[object, ...]) -> None:
    tables = answer(capfd, *project, "--unit", "turn", "--within", "0.03")["tables"]
    for row in tables["plan"]:
        assert (
            row["judged_units"] == 42
            and 42 < row["with_judge"] <= row["people_alone"] <= row["units"] == 70
        )
    wide = answer(capfd, *project, "--unit", "turn", "--within", "0.2")["tables"]["plan"]
    assert all(row["with_judge"] < 42 for row in wide)
    assert "use a width above 0" in fail(capfd, 2, *project, "--within", "-1")


def test_planning_before_people_judged_much_or_anything(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...], demo: Path
) -> None:
    six = answer(capfd, *project, "--within", "0.05")
    assert len(six["tables"]["estimates"]) == 3
    for row in six["tables"]["plan"]:
        assert (row["with_judge"], row["judged_units"], row["units"]) == (None, 6, 10) and 2 <= row[
            "people_alone"
        ] <= 10
    [said] = [note for note in six["notes"] if "drawn at random" in note]
    left = {"2", "4", "5", "9"}
    assert (
        "with seed 0 the next are" in said and set(said.rpartition(" are ")[2].split(", ")) < left
    )
    runs = [
        "--run",
        f"h={demo / 'runs' / 'stem_human.trec'}",
        "--run",
        f"q={demo / 'runs' / 'stem_qr.trec'}",
    ]
    judge = ["--judge", f"lexical={demo / 'judges' / 'lexical.txt'}"]
    nothing = answer(capfd, *runs, *judge, "--within", "0.05", "--metric", "ndcg_cut_3")
    assert nothing["tables"]["estimates"] == nothing["tables"]["sample"] == []
    plan = {row["system"]: row for row in nothing["tables"]["plan"]}
    assert plan["h"]["judged_units"] == 0 and plan["h"]["with_judge"] is None
    # the judge finds all Human questions easy, so that they vary less
    assert plan["h"]["people_alone"] < plan["q"]["people_alone"]
    assert len(nothing["notes"][-1].rpartition(" are ")[2].split(", ")) == 8
    assert "no qrels are given" in fail(capfd, 2, *runs, *judge)


def test_where_people_judged_all_there_is_nothing_to_estimate(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...], demo: Path
) -> None:
    said = fail(capfd, 2, *project, "--qrels", demo / "judges" / "lexical.txt")
    assert said.startswith(
        "robustcs: every conversation judged by lexical has human judgments; compare the two with robustcs audit"
    )
    # the demo's own project has judges that go no further: nothing changes there
    assert (
        "estimates"
        not in answer(capfd, "--config", demo / "robustcs.toml", "--metric", "ndcg_cut_3")["tables"]
    )
    assert "--within requires judges; add --judge NAME=FILE" in fail(
        capfd,
        2,
        "--qrels",
        demo / "qrels.txt",
        "--run",
        f"h={demo / 'runs' / 'stem_human.trec'}",
        "--within",
        "0.1",
    )


def test_turns_that_people_passed_over_count_for_neither_side(
    capfd: pytest.CaptureFixture[str], project: tuple[object, ...], demo: Path, tmp_path: Path
) -> None:
    lines = (demo / "judges" / "six_conversations.txt").read_text("utf-8").splitlines(keepends=True)
    some = tmp_path / "some.txt"
    some.write_text(
        "".join(line for line in lines if not line.startswith(("1_7 ", "3_6 "))), encoding="utf-8"
    )
    found = answer(capfd, *project, "--qrels", some)
    assert found["policy"]["turns"] == 68
    assert "2 turns without human judgments in judged conversations are excluded" in found["notes"]
