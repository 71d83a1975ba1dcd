"""``robustcs samples``, how samples are given, and what other commands take of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.project.guess import guess, write_config
from robustcs.project.reading import read_project
from robustcs.studies.samples.questions import QUESTIONS
from tests.conftest import Command

PEOPLE = " ".join(f"--qr people=runs/stem_manual_{number}.trec" for number in (1, 2, 3))
FIRST = "people: 3 runs given, one per sample; the first is used"


def tables(out: str) -> dict[str, list[dict[str, Any]]]:
    return dict(json.loads(out)["tables"])


def test_the_rewrites_of_llm4cs(shared_data: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path,
                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    texts = shared_data / "formats" / "llm4cs" / "cast19_rewrites.jsonl"
    assert run(["samples", "--rewrites", f"qr={texts}", "--format", "json"]) == 0
    (row,) = tables(capfd.readouterr().out)["samples"]
    assert (row["texts"], row["turns"], row["differing"]) == (5, 479, 232)
    assert (
        round(100 * row["differ"]) == 48 and row["differ_low"] < row["differ"] < row["differ_high"]
    )
    assert 0.9 < row["wording"] < 1
    assert run(["samples", "--rewrites", f"qr={texts}"]) == 0
    out = " ".join(capfd.readouterr().out.split())
    assert "479 232 48% (" in out
    assert (
        "Turns of qr whose texts differ (232 of 479 turns with at least two texts; 5 are shown)"
        in out
    )


def test_runs_by_options_by_the_project_file_and_in_python(
    in_copy: Command, tmp_path: Path
) -> None:
    found = tables(in_copy(f"samples {PEOPLE} --format json").out)
    heads = in_copy(f"samples {PEOPLE} --table sample_variance").out.partition("Shares of")[0]
    assert heads.count("95% CI") == 1  # of the cells
    (row,) = found["samples"]
    assert (row["rewriter"], row["runs"], row["answered"], row["texts"]) == ("people", 3, 70, 0)
    folder = tmp_path / "demo"
    runs = [f"runs/stem_manual_{number}.trec" for number in (1, 2, 3)]
    config = folder / "robustcs.toml"
    config.write_text(
        f'{config.read_text()}\n[formulations."qr:people"]\nrun = {json.dumps(runs)}\n'
    )
    assert tables(in_copy("samples --format json").out) == found
    result = robustcs.samples(qr={"people": runs})
    assert result.sample_scores["mean"].tolist() == pytest.approx(
        [one["mean"] for one in found["sample_scores"]], abs=1e-11
    )
    for command in ("breakdown --metric ndcg_cut_3", "evaluate", "unjudged"):
        printed = json.loads(in_copy(f"{command} --format json").out)
        assert FIRST in printed["notes"]
    evaluated = tables(in_copy("evaluate --metric ndcg_cut_3 --format json").out)["measures"]
    means = {one["system"]: one["value"] for one in evaluated}
    scored = next(one for one in found["sample_scores"] if one["metric"] == "ndcg_cut_3")
    assert (
        means["people"] == pytest.approx(scored["first"]) and means["manual_1"] == means["people"]
    )
    every = [means[f"manual_{number}"] for number in (1, 2, 3)]
    assert (scored["lowest"], scored["highest"]) == pytest.approx((min(every), max(every)))
    assert scored["mean"] == pytest.approx(sum(every) / 3)
    rows = json.loads(in_copy("check --format json").out)["tables"]["commands"]
    assert next(row["runs"] for row in rows if row["command"] == "samples")


def test_texts_of_samples_in_files_of_their_own(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "one.tsv").write_text("1_1\twhat is it\n1_2\twho made it\n1_3\twhy\n")
    (folder / "two.tsv").write_text("1_1\twhat is it\n1_2\twho makes it\n")
    config = (folder / "robustcs.toml").read_text()
    (folder / "robustcs.toml").write_text(
        f'{config}\n[formulations."qr:llm"]\nrewrites = "one.tsv"\nsamples = ["two.tsv"]\n'
    )
    row = next(
        one
        for one in tables(in_copy("samples --format json").out)["samples"]
        if one["rewriter"] == "llm"
    )
    assert (row["texts"], row["turns"], row["differing"], row["runs"]) == (2, 2, 1, 0)
    given = tables(
        in_copy(
            "samples --config /dev/null --rewrites qr:llm=one.tsv --samples qr:llm=two.tsv --format json"
        ).out
    )
    assert given["samples"][0]["wording"] == row["wording"]


def test_turns_with_fewer_texts_than_runs_are_left_out(in_copy: Command, tmp_path: Path) -> None:
    texts = tmp_path / "texts.jsonl"
    some = {turn: ["a", "b", "c"][: 2 if turn == 4 else 3] for turn in range(1, 6)}
    several = [
        {"sample_id": f"1_{turn}", "predicted_rewrite": words} for turn, words in some.items()
    ]
    texts.write_text("".join(f"{json.dumps(one)}\n" for one in several))
    printed = json.loads(
        in_copy(f"samples {PEOPLE} --rewrites qr:people={texts} --format json").out
    )
    assert "1 turn of people excluded, with fewer texts than runs: 1_4" in printed["notes"]
    assert {row["turns"] for row in printed["tables"]["sample_scores"]} == {69} and printed[
        "policy"
    ]["turns"] == 69


def test_one_set_of_texts_beside_several_runs(in_copy: Command, tmp_path: Path) -> None:
    texts = tmp_path / "texts.tsv"
    texts.write_text("1_1\twhat is it\n1_2\twho made it\n")
    line = f"samples {PEOPLE} --rewrites qr:people={texts}"
    printed = json.loads(in_copy(f"{line} --format json").out)
    assert (
        not any("fewer texts" in note for note in printed["notes"])
        and printed["policy"]["turns"] == 70
    )
    assert {row["turns"] for row in printed["tables"]["sample_scores"]} == {70}


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (
            "samples",
            2,
            "no rewriter has several samples; repeat --qr NAME=FILE with the same NAME, or give texts",
        ),
        (
            "samples --samples human=topics.json:manual",
            2,
            "samples of human; write samples only for a rewriter (qr or qr:NAME)",
        ),
        (f"samples {PEOPLE} --margin 0", 2, "margin is 0; write a number above 0"),
    ],
)
def test_wrong_use(in_demo: Command, line: str, code: int, message: str) -> None:
    assert f"robustcs: {message}" in in_demo(line, code=code).err


def test_only_rewriters_have_samples_in_the_project_file(tmp_path: Path) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text('[formulations.human]\nsamples = ["a.tsv", "b.tsv"]\n')
    with pytest.raises(
        robustcs.errors.InputError,
        match=r"samples of human; write samples only for a rewriter \(qr or qr:NAME\)",
    ):
        read_project(path)
    path.write_text(
        '[formulations.qr]\nrun = ["a.trec", "b.trec"]\nsamples = ["b.tsv"]\nrewrites = "a.tsv"\n'
    )
    part = read_project(path).formulations["qr"]
    assert (part.run, part.sample_runs) == (tmp_path / "a.trec", (tmp_path / "b.trec",))
    assert [one.path for one in part.samples] == [tmp_path / "b.tsv"]
    path.write_text("[formulations.qr]\nrun = []\n")
    assert read_project(path).formulations["qr"].run is None


def test_the_report_asks_only_where_there_are_samples(demo: Path, tmp_path: Path) -> None:
    (question,) = QUESTIONS
    project = read_project(demo / "robustcs.toml")
    assert any(part.rewrites for part in project.formulations.values() if part.role == "qr")
    with pytest.raises(robustcs.errors.UsageError, match="no rewriter has several samples"):
        question.inputs(project)
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"sample_id": "1_1", "predicted_rewrite": ["a", "b"]}) + "\n")
    (tmp_path / "robustcs.toml").write_text('[formulations.qr]\nrewrites = "texts.jsonl"\n')
    assert list(question.inputs(read_project(tmp_path / "robustcs.toml")).formulations) == ["qr"]


def test_init_knows_samples_by_their_names(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels.txt").write_bytes((demo / "qrels.txt").read_bytes())
    for name, run_of in (
        ("original", "original"),
        ("human", "human"),
        ("llm_seed1", "qr"),
        ("llm_seed2", "manual_1"),
    ):
        (tmp_path / "runs" / f"stem_{name}.trec").write_bytes(
            (demo / "runs" / f"stem_{run_of}.trec").read_bytes()
        )
    config = write_config(guess(tmp_path), "x")
    assert 'run = ["runs/stem_llm_seed1.trec", "runs/stem_llm_seed2.trec"]' in config
    assert "one run per sample" in config
