"""``robustcs init``: from a folder of files to a project that works."""

from __future__ import annotations

import json
import os
import socket
import tomllib
from pathlib import Path

import pytest

from robustcs.cli.main import run
from tests.conftest import ROOT, Command
from tests.small_project import BROKEN, FILES

BY_NAME = (
    "reference of agreement, gold_checks of crowd, judge lexical, judge six_conversations, original, qr, human, group manual,"
    " group raw"
)


def test_init_then_check_then_what_check_says(in_copy: Command, tmp_path: Path) -> None:
    (tmp_path / "demo" / "robustcs.toml").unlink()
    answer = in_copy("init")
    assert answer.out.splitlines() == [
        "wrote robustcs.toml; review it, then run robustcs check",
        f"9 roles guessed from file names: {BY_NAME}; to confirm one, delete its mark # by name;"
        " to confirm all, run robustcs check --accept",
        "conversations from turn ids: 1_2 is turn 2 of conversation 1",
        "ignored 9 files; robustcs init --why lists them with reasons",
    ]
    checked = json.loads(in_copy("check --format json").out)
    assert checked["notes"][0] == "stem_raw_2 misses 1 turn: 4_4"
    confirm = "to confirm one, delete its mark; to confirm all, run robustcs check --accept"
    assert checked["notes"][1:] == [f"Roles by file name: {BY_NAME}; {confirm}"]
    assert [row["command"] for row in checked["tables"]["commands"] if not row["runs"]] == [
        "samples",
        "compare",
    ]
    result = json.loads(in_copy("breakdown --format json").out)
    assert result["policy"]["basis"] == "runs"
    assert [entry["path"] for entry in result["inputs"]] == [
        "qrels.txt", "runs/stem_original.trec", "runs/stem_qr.trec", "runs/stem_human.trec", "collection.jsonl", "topics.json",
    ]  # fmt: skip
    assert sum(row["unchanged"] for row in result["tables"]["bins"][:8]) == 19
    in_copy("robustness")
    in_copy("breakdown --metric f1")


def test_the_config_explains_itself(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    config.unlink()
    in_copy("init .")
    text = config.read_text()
    assert tomllib.loads(text)["policy"] == {"relevance_level": 1}
    for comment in ("# Paths are relative", "# 70 turns, 782 judgments, grades 0 to 4", "# 70 turns, up to 100 deep",
                    "CAsT and iKAT use 2", "# by its name; texts and rankings agree on 50 of 58 turns"):  # fmt: skip
        assert comment in text
    assert max(map(len, text.splitlines())) <= 120 and len(text.splitlines()) < 120


def test_explain_says_what_became_of_every_file_and_writes_nothing(
    in_copy: Command, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    taken, left = in_copy("init --why").out.split("\n\n")
    assert (
        taken.startswith("Used\n")
        and "  runs/stem_qr.trec\n    [formulations.qr] run, by its name; [components] qr/stem, by its name\n"
        in taken
    )
    assert left.startswith("Ignored\n")
    assert (
        "  grades.txt\n    other judgments of the turns in qrels.txt; add it to new_judgments, or with"
        in left
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_an_existing_config_is_left_alone(in_copy: Command, tmp_path: Path) -> None:
    before = (tmp_path / "demo" / "robustcs.toml").read_bytes()
    assert (
        in_copy("init", code=2).err
        == "robustcs: robustcs.toml exists already; edit it, or move it first\n"
    )
    assert (tmp_path / "demo" / "robustcs.toml").read_bytes() == before


def linked(source: Path, target: Path) -> Path:
    """A folder with links to all files of another, whose bytes nobody copies; of DL 2021's forty runs to eight."""
    for path in source.rglob("*"):
        if path.is_file() and (
            source.name != "dl2021" or path.name.startswith(("qrels", "p_f", "p_t", "uog"))
        ):
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path)
    return target


#: Folder of the public data → the commands that run after init, and what of the project file proves that roles were found.
PUBLIC: dict[str, tuple[str, dict[str, str]]] = {
    "cast2019": ("breakdown sweep components correlate turns evaluate unjudged judge paraphrase retrieve diversity report", {
        "original": "runs/bert_base_raw.trec.gz", "qr": "runs/bert_base_cv.trec.gz", "human": "runs/bert_base_oracle.trec.gz",
    }),
    "cast2019/qrqa": ("breakdown sweep correlate evaluate paraphrase diversity report", {}),
    "cast2019/decaf": ("", {"original": "bm25_raw.run.gz", "qr": "bm25_t5.run.gz", "human": "bm25_manual.run.gz"}),
    "cast2020": ("breakdown sweep correlate evaluate unjudged judge paraphrase retrieve diversity passages report", {
        "original": "runs/bert_raw.trec.gz", "qr": "runs/bert_auto.trec.gz", "human": "runs/bert_manual.trec.gz",
    }),
    "cast2021": ("evaluate unjudged judge paraphrase diversity report", {}),
    "cast2022-regin": ("crowd report", {}),
    "clariq": ("clariq report", {}),
    "snippets": ("agreement report", {}),
    "formats/ikat": ("turns paraphrase diversity", {}),
    "formats/llm4cs": ("turns samples paraphrase diversity report", {}),
    "dl2021": ("evaluate unjudged judge report", {}),
}  # fmt: skip


#: Folders whose commands all run in seconds.
_SMALL = ("clariq", "snippets", "formats/ikat", "formats/llm4cs")

#: Folders of further years and runs of CAsT: only by ``make test-long``.
_LONG = ("cast2019/qrqa", "cast2019/decaf", "cast2020", "cast2021", "dl2021")


@pytest.mark.parametrize(
    ("name", "every"),
    [*((name, name in _SMALL) for name in PUBLIC if name not in _LONG),
     *(pytest.param(name, True, marks=pytest.mark.long) for name in PUBLIC if name not in _SMALL)],
)  # fmt: skip
def test_folders_of_public_data(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    name: str, every: bool,
) -> None:  # fmt: skip
    """``every``: also run the commands that can run, not only those that cannot."""
    commands, runs = PUBLIC[name]
    monkeypatch.chdir(linked(shared_data / name, tmp_path / "here"))
    assert run(["init"]) == 0
    made = tomllib.loads(Path("robustcs.toml").read_text())
    assert {
        key: part["run"] for key, part in made.get("formulations", {}).items() if "run" in part
    } == runs
    if name in ("cast2019", "cast2020", "cast2021"):
        assert made["policy"] == {"relevance_level": 2}
    capfd.readouterr()
    assert run(["check", "--format", "json"]) == 0
    rows = json.loads(capfd.readouterr().out)["tables"]["commands"]
    assert " ".join(row["command"].split()[0] for row in rows if row["runs"]) == commands
    for row in rows[:-1]:
        if row["command"] != "passages" and (every or not row["runs"]):  # k-means takes its time
            assert (run(row["command"].split()) == 0) == row["runs"], row


def test_the_page_shows_what_init_writes_for_cast_2019(shared_data: Path, tmp_path: Path) -> None:
    folder = linked(shared_data / "cast2019" / "runs", tmp_path / "cast2019" / "runs").parent
    for name in ("qrels.txt.gz", "topics.json", "topics_resolved.tsv"):
        (folder / name).symlink_to(shared_data / "cast2019" / name)
    assert run(["init", str(folder)]) == 0
    page = (ROOT / "docs" / "check-and-init.md").read_text("utf-8")
    shown = page.partition("```toml\n")[2].partition("```")[0]
    assert (folder / "robustcs.toml").read_text().endswith(f"\n\n{shown}")


def test_pipes_sockets_and_endless_brackets_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("qrels.fifo")
    Path("raw.trec").symlink_to("qrels.fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("human.trec")
        for number, opening in enumerate(
            ("[", '{"a":', '[{"turn":[', '[{"utterance":[', '{"id":"1_1","text":[')
        ):
            Path(f"deep{number}.json").write_text(opening * 100_000)
            Path(f"line{number}.jsonl").write_text(f"{opening * 20_000}\n" * 2)
        Path("qrels.txt").write_text("1_1 0 d1 2\n1_2 0 d1 0\n")
        assert run(["init"]) == 0
    assert capfd.readouterr().err == ""
    config = tomllib.loads(Path("robustcs.toml").read_text())
    assert config["qrels"] == "qrels.txt"
    assert "formulations" not in config


def test_human_texts_of_all_judged_turns_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("1_1 0 d1 2\n1_2 0 d1 1\n")
    line = (
        '{"topic_number": 1, "query_number": 2, "input": ["a", "b"], "target": "c", "output": "d"}'
    )
    Path("rewrites_t5.jsonl").write_text(line + "\n")
    Path("human.tsv").write_text("1_1\ta\n1_2\tc\n")
    Path("other_human.tsv").write_text("".join(f"9_{turn}\ttext\n" for turn in range(50)))
    assert run(["init"]) == 0
    parts = tomllib.loads(Path("robustcs.toml").read_text())["formulations"]
    assert {role: part["rewrites"] for role, part in parts.items()} == {
        "original": "rewrites_t5.jsonl:original", "qr": "rewrites_t5.jsonl:qr", "human": "human.tsv",
    }  # fmt: skip


def test_the_encoding_of_a_file_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bm25.csv").write_text("query_id;doc_id;score\n1_1;d1;2\n", "utf-16")
    Path("human.tsv").write_text("1_1\ta\r1_2\tb\r", newline="")
    assert run(["init", "--why"]) == 0
    out = capfd.readouterr().out
    assert "bm25.csv\n    cannot be read: the file is UTF-16; save it as UTF-8" in out
    assert (
        "human.tsv\n    cannot be read: lines end in carriage returns only; save it with LF or CRLF line ends"
        in out
    )


def test_spreadsheets_with_semicolons_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("nothing to read")
    assert run(["init"]) == 2
    found = "no runs, qrels, texts or answers in .; name the folder with these files"
    assert f"{found}; robustcs init --why lists why 1 file cannot be read" in capfd.readouterr().err
    rows = [f"{turn}_1;d{place};{place},5\n" for turn in range(9) for place in range(3)]
    Path("bm25.csv").write_text("query_id;doc_id;score\n" + "".join(rows), "utf-8-sig")
    Path("judged.csv").write_text(
        "query_id;doc_id;relevance\n"
        + "".join(f"{turn}_1;d{turn % 2};{turn % 2}\n" for turn in range(9))
    )
    assert run(["init"]) == 0
    project = tomllib.loads(Path("robustcs.toml").read_text())
    assert (project["qrels"], project["runs"]) == ("judged.csv", {"bm25": "bm25.csv"})
    assert run(["evaluate", "--metric", "P_1", "--format", "json"]) == 0


def test_broken_files_of_every_kind_stop_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every file of the small project in every broken form, in one folder with the sound ones."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
        for number, break_it in enumerate(BROKEN.values()):
            Path(f"{Path(name).stem}_{number}{Path(name).suffix}").write_bytes(
                break_it(text.encode())
            )
    assert run(["init"]) == 0
    assert run(["check", "--format", "json"]) in (0, 3)
    out, err = capfd.readouterr()
    assert "internal error" not in err
    made = tomllib.loads(Path("robustcs.toml").read_text())
    assert {role: part["run"] for role, part in made["formulations"].items()} == {
        "original": "raw.trec", "qr": "qr.trec", "human": "human.trec",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("folder", "qrels", "runs"),
    [("mtrag-grid", "mtrag-answers/qrels_clapnq.tsv", "evaluate"), ("mtrag-answers", "", "report"),
     ("mtragun", "", "paraphrase")],
)  # fmt: skip
def test_mtrag_as_it_is_downloaded(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    folder: str, qrels: str, runs: str, undrawn: None,
) -> None:  # fmt: skip
    """Nothing is edited between init, check and a command that check says can run."""
    for path in (*(shared_data / folder).iterdir(), *([shared_data / qrels] if qrels else [])):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    capfd.readouterr()
    assert run(["check", "--format", "json"]) == 0
    checked = json.loads(capfd.readouterr().out)
    assert all(row["problem"] is None for row in checked["tables"]["files"])
    assert runs in [row["command"] for row in checked["tables"]["commands"] if row["runs"]]
    # without Human, a system of the grid has one name in all questions
    assert folder != "mtrag-grid" or "[formulations" not in Path("robustcs.toml").read_text()
    if runs != "paraphrase":
        assert run([runs]) == 0, capfd.readouterr().err
