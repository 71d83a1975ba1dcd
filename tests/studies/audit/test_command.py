"""``robustcs audit`` as users run it, with the published figures on real labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run

#: κ on four grades, κ at grade 2, share called relevant over that of people.
PUBLISHED = {
    "willia-umbrela1": (0.286272, 0.398530, 0.7232), "h2oloo-fewself": (0.277434, 0.427999, 1.0304),
    "Olz-gpt4o": (0.262472, 0.365683, 0.7519), "TREMA-4prompts": (0.182944, 0.269702, 2.2321),
    "TREMA-rubric0": (0.077933, 0.030792, 0.0759),
}  # fmt: skip


def answer(capfd: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    capfd.readouterr()
    code = run(["audit", *map(str, arguments), "--format", "json"])
    out, err = capfd.readouterr()
    assert code == 0, err
    return dict(json.loads(out))


def fail(capfd: pytest.CaptureFixture[str], code: int, *arguments: object) -> str:
    capfd.readouterr()
    assert run(["audit", *map(str, arguments)]) == code
    return capfd.readouterr().err


def judges(folder: Path) -> list[str]:
    return [
        f"--judge={path.name.split('.')[0]}={path}"
        for path in sorted((folder / "llmjudge" / "judges").iterdir())
    ]


def test_published_figures(shared_data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = shared_data / "llmjudge"
    named = [f"--judge={name}={data / 'judges' / name}.qrels.gz" for name in PUBLISHED]
    found = answer(capfd, "--qrels", data / "human.qrels.gz", *named, "--relevance-level", 2)[
        "tables"
    ]
    whole = {row["judge"]: row for row in found["bias"] if row["slice"] == "all"}
    for row in found["agreement"]:
        kappa, level, ratio = PUBLISHED[row["judge"]]
        assert (round(row["kappa"], 6), round(row["kappa_level"], 6)) == (kappa, level)
        assert round(whole[row["judge"]]["ratio"], 4) == ratio
        assert (row["pairs"], row["human_only"], row["judge_only"], row["units"]) == (
            4423,
            0,
            0,
            25,
        )
        assert row["ci_low"] < row["kappa"] < row["ci_high"]
    assert found["systems"] == found["reversals"] == found["off_scale"] == []


def test_a_grade_off_the_scale(shared_data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = shared_data / "llmjudge"
    path = data / "judges" / "RMITIR-llama70B.qrels.gz"
    line = ["--qrels", data / "human.qrels.gz", "--judge", f"r={path}", "--relevance-level", 2]
    said = fail(capfd, 3, *line)
    assert (
        f"{path}:" in said
        and "grade 5 is outside the scale 0 to 3 of the judgments; use --off-scale drop or clip"
        in said
    )
    dropped, clipped = (answer(capfd, *line, "--off-scale", rule) for rule in ("drop", "clip"))
    assert dropped["tables"]["off_scale"] == [{"judge": "r", "grade": 5, "count": 2, "kept": False}]
    assert clipped["tables"]["off_scale"][0]["kept"] is True
    assert [one["tables"]["agreement"][0]["pairs"] for one in (dropped, clipped)] == [4421, 4423]
    assert "r: 2 grades outside the scale dropped" in dropped["notes"]


@pytest.mark.long
def test_twelve_of_the_judges_call_more_relevant_than_people(
    shared_data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = [
        "--qrels",
        shared_data / "llmjudge" / "human.qrels.gz",
        *judges(shared_data),
        "--off-scale",
        "clip",
    ]
    found = answer(capfd, *line, "--relevance-level", 2)["tables"]
    ratios = [row["ratio"] for row in found["bias"]]
    assert len(ratios) == 23 and sum(ratio > 1 for ratio in ratios) == 12
    kappas = [row["kappa_level"] for row in found["agreement"]]
    assert (round(min(kappas), 2), round(max(kappas), 2)) == (0.03, 0.43)


def test_different_topics(shared_data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = shared_data / "dl2021"
    runs = [f"--run={path.name.split('.')[0]}={path}" for path in sorted((data / "runs").iterdir())]
    judged = [
        "--qrels",
        data / "qrels_human.txt.gz",
        "--judge",
        f"gpt4={data / 'qrels_gpt4.txt.gz'}",
    ]
    found = answer(capfd, *judged, *runs, "--metric", "ndcg_cut_10")
    tables = found["tables"]
    tau = next(row for row in tables["systems"] if row["method"] == "kendall")
    assert (round(tau["value"], 6), tau["turns"], tau["judge_turns"], tau["ci_high"]) == (
        0.889602,
        53,
        60,
        None,
    )
    assert tau["ci_low"] < tau["value"] and "different topics" in tau["note"]
    means = {
        row["system"]: (round(row["human"], 6), round(row["model"], 6)) for row in tables["means"]
    }
    assert means["p_bm25"] == (0.445831, 0.569627) and means["NLE_P_V1andV2"] == (
        0.672365,
        0.839900,
    )
    assert tables["bias"] == tables["confusion"] == []
    assert tables["agreement"][0]["pairs"] == 0 and tables["agreement"][0]["kappa"] is None
    assert (
        "gpt4 and the human judgments have no pair in common: only the ranking of systems is compared"
        in found["notes"]
    )
    assert tables["conclusions"][0]["pairs"] == 780
    # without runs there is nothing to compare
    assert "no pair in common" in fail(capfd, 2, *judged)


def test_people_agree_with_themselves(demo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    line = ["--config", demo / "robustcs.toml", "--judge", f"self={demo / 'qrels.txt'}"]
    tables = answer(capfd, *line)["tables"]
    [row] = tables["agreement"]
    assert row["agree"] == row["kappa"] == row["alpha"] == 1
    assert all(row["mean_difference"] == 0 for row in tables["bias"])
    assert tables["reversals"] == []
    assert {row["value"] for row in tables["systems"] if row["method"] != "rbo"} == {1.0}


def test_slices_of_the_demo(demo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = answer(capfd, "--config", demo / "robustcs.toml", "--metric", "ndcg_cut_3")
    tables = found["tables"]
    slices = {row["slice"]: row for row in tables["bias"]}
    assert {
        f"depth {depth}" for depth in range(1, 8)
    } < slices.keys() and "found by manual_1" in slices
    assert (
        sum(slices[f"depth {depth}"]["pairs"] for depth in range(1, 8))
        == slices["all"]["pairs"]
        == 782
    )
    # first turns need no rewriting
    assert slices["depth 1"]["mean_difference"] > slices["depth 6"]["mean_difference"]
    assert tables["agreement"][0]["judge_only"] == 1413 - 782
    assert found["policy"]["unit"] == "conversation" and found["policy"]["units"] == 10
    turned = tables["conclusions"][0]["reversed"] + tables["conclusions"][0]["swapped"]
    assert len(tables["conflicts"]) == sum(
        row["count"] for row in tables["confusion"] if abs(row["human"] - row["model"]) >= 2
    )
    assert (
        len([row for row in tables["reversals"] if row["change"] in ("reversed", "swapped")])
        == turned
        == 10
    )


def test_what_is_missing_is_said(demo: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = fail(capfd, 2, "--qrels", demo / "qrels.txt")
    assert said == "robustcs: no judges are given; add --judge NAME=FILE\n"
    assert "two files of --judge have the same name" in fail(
        capfd, 2, "--judge", "a=x", "--judge", "a=y"
    )


def test_labels_of_other_turns_are_an_error(
    demo: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels.txt"
    labels.write_text(
        (demo / "judges" / "lexical.txt")
        .read_text()
        .replace("\n", "\ndl_")
        .join(["dl_", ""])
        .removesuffix("dl_")
    )
    said = fail(capfd, 3, "--config", demo / "robustcs.toml", "--judge", f"m={labels}")
    assert (
        "none of its turns is in the runs: its turn ids look like 'dl_1_1', those of the runs like '1_1'"
        in said
    )


def test_a_figure_of_several_judges(
    demo: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "audit.svg"
    line = ["--config", demo / "robustcs.toml", "--judge", f"self={demo / 'qrels.txt'}", "--judge"]
    assert (
        run(
            [
                "audit",
                *map(str, line),
                f"lexical={demo / 'judges' / 'lexical.txt'}",
                "--output",
                str(path),
            ]
        )
        == 0
    )
    text = path.read_text("utf-8")
    assert "grade of the judge" in text and ">self<" in text and ">lexical<" in text


def test_labels_for_texts_say_what_labels_for_ids_say(
    demo: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The lexical judge as umbrela would have written it, with three answers that could not be read."""
    topics = json.loads((demo / "topics.json").read_text("utf-8"))
    questions = {
        f"{topic['number']}_{turn['number']}": turn["manual_rewritten_utterance"]
        for topic in topics
        for turn in topic["turn"]
    }
    rows = map(json.loads, (demo / "collection.jsonl").read_text("utf-8").splitlines())
    passages = {row["id"]: row["contents"] for row in rows}
    labels = [
        line.split() for line in (demo / "judges" / "lexical.txt").read_text("utf-8").splitlines()
    ]
    path = tmp_path / "umbrela.jsonl"
    path.write_text("".join(json.dumps({
        "model": "lexical", "query": questions[turn], "passage": passages[document], "prompt": "…", "prediction": "…",
        "judgment": 0 if place < 3 else int(grade), "result_status": int(place >= 3),
    }) + "\n" for place, (turn, _, document, grade) in enumerate(labels)), encoding="utf-8")  # fmt: skip
    by_ids = tmp_path / "ids.txt"
    by_ids.write_text("".join(" ".join(row) + "\n" for row in labels[3:]), encoding="utf-8")
    line = ["--config", demo / "robustcs.toml", "--metric", "ndcg_cut_3"]
    found, expected = (answer(capfd, *line, "--judge", f"j={file}") for file in (path, by_ids))
    assert found["tables"] == expected["tables"]
    assert "j: 3 answers that its parser could not read (result_status 0) skipped" in found["notes"]
    assert {entry["role"] for entry in found["inputs"]} >= {"judge j", "collection"}
