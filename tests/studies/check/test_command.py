"""``robustcs check``: what fits together and what does not, without changing anything."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from robustcs.cli.main import run
from tests.conftest import Command


def test_the_demo_collection_fits_together(in_demo: Command) -> None:
    result = json.loads(in_demo("check --format json").out)
    tables = result["tables"]
    assert list(tables) == ["files", "runs", "texts", "commands", "skipped"]
    assert [entry["problem"] for entry in tables["files"]] == [None] * 52
    assert [entry["skipped"] for entry in tables["files"]] == [0] * 52 and tables["skipped"] == []
    assert {entry["role"]: entry["rows"] for entry in tables["files"]}.items() >= {
        "qrels": 782, "original": 2555, "gold answers": 70, "new judgments": 634, "paraphrases": 350,
    }.items()  # fmt: skip
    runs = {row["system"]: row for row in tables["runs"]}
    assert runs["raw_2"] == {
        "system": "raw_2", "turns": 69, "missing": 1, "extra": 0, "depth_min": 1, "depth_median": 35.0, "depth_max": 100,
        "judged_3": runs["raw_2"]["judged_3"], "judged_10": runs["raw_2"]["judged_10"],
    }  # fmt: skip
    # the pool is the top 5 of the six baseline runs
    assert [name for name, row in runs.items() if row["judged_3"] == 1] == [
        "original", "qr", "human", "plain_original", "plain_qr", "plain_human"
    ]  # fmt: skip
    assert tables["texts"] == [
        {
            "formulation": name,
            "texts": 70,
            "without": 0,
            "extra": 0,
            "unanswered": 0,
            "unchanged": unchanged,
        }
        for name, unchanged in (("original", 70), ("qr", 7), ("human", 19))
    ]
    assert result["notes"] == ["raw_2 misses 1 turn: 4_4"]
    assert result["policy"]["missing_turns"] == 1


def test_nothing_is_changed(in_copy: Command, tmp_path: Path) -> None:
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    in_copy("check")
    assert {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in tmp_path.rglob("*")
        if path.is_file()
    } == before


def test_one_broken_file_does_not_hide_the_rest(in_copy: Command, tmp_path: Path) -> None:
    broken = tmp_path / "demo" / "runs" / "stem_qr.trec"
    lines = broken.read_text().splitlines()
    broken.write_text("\n".join([*lines[:9], lines[9].rsplit(" ", 2)[0], *lines[10:]]) + "\n")
    (tmp_path / "demo" / "runs" / "stem_raw_1.trec").unlink()
    answer = in_copy("check --format json", code=3)
    result = json.loads(answer.out)
    problems = {
        entry["role"]: entry["problem"] for entry in result["tables"]["files"] if entry["problem"]
    }
    assert list(problems) == ["qr", "raw_1"]
    assert answer.err.splitlines() == list(problems.values())
    assert problems["qr"].startswith("runs/stem_qr.trec:10: 4 columns, but a run has 6")
    assert [row["system"] for row in result["tables"]["runs"]][:3] == [
        "original",
        "human",
        "plain_original",
    ]


def test_texts_alone(in_demo: Command) -> None:
    result = json.loads(
        in_demo("check --config /dev/null --rewrites original=topics.json --format json").out
    )
    assert result["tables"]["texts"] == [
        {
            "formulation": "original",
            "texts": 70,
            "without": None,
            "extra": None,
            "unanswered": 70,
            "unchanged": 70,
        }
    ]
    assert result["notes"] == [
        "no qrels or scores could be read, so the turns of other files cannot be checked",
        "no run answers 70 turns (1_1, 1_2, 1_3, 1_4, 1_5 …) of original; robustcs retrieve creates one",
    ]


def test_further_texts_are_files_like_others(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    (folder / "m.tsv").write_text(
        "1_1\tWhere do bees live?\n1_2\tWhat do bees eat?\n99_1\tWhat else?\n"
    )
    (folder / "r.tsv").write_text("1_1\tWhat is it?\n1_2\tWhat do they eat?\n")
    (folder / "t.tsv").write_text("1_1\tWhat?\n1_1\tWhere?\n")
    with (folder / "robustcs.toml").open("a") as config:
        config.write(
            '\n[texts]\nm = "m.tsv"\nt = "t.tsv"\n[raw_texts]\nraw_1 = "r.tsv"\nqr = "r.tsv"\nnone = "no.tsv"\n'
        )
    answer = in_copy("check --format json", code=3)
    result = json.loads(answer.out)
    files = {entry["role"]: entry for entry in result["tables"]["files"]}
    assert [files[f"{name} texts"]["rows"] for name in ("m", "t", "raw_1", "none")] == [
        3,
        None,
        2,
        None,
    ]
    assert answer.err.splitlines() == [files["t texts"]["problem"], files["none texts"]["problem"]]
    assert files["t texts"]["problem"].startswith("t.tsv:2: ") and files["none texts"][
        "problem"
    ].startswith("no.tsv: ")
    texts = {row.pop("formulation"): row for row in result["tables"]["texts"]}
    assert texts["m"] == {"texts": 3, "without": 68, "extra": 1, "unanswered": 3, "unchanged": 0}
    assert texts["raw_1"] == {
        "texts": 2,
        "without": 68,
        "extra": 0,
        "unanswered": 0,
        "unchanged": 0,
    }
    assert result["notes"] == [
        "raw_2 misses 1 turn: 4_4",
        "m has texts for 1 turn (99_1) that no formulation has",
        "two systems with texts are named qr: robustcs retrieve needs different names",
        "no run answers 3 turns (1_1, 1_2, 99_1) of m; robustcs retrieve creates one",
    ]
    assert (
        "m                 3       68      1            3                  0\n"
        in in_copy("check", code=3).out
    )


def test_ids_cut_at_the_document_are_told(
    shared_data: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = shared_data / "cast2021"
    runs = [
        f"--run={name}={folder / 'runs' / f'org_convdr.{name}.gz'}"
        for name in ("passages.trec", "run")
    ]
    assert (
        run(["check", "--qrels", str(folder / "qrels-docs.txt.gz"), *runs, "--format", "json"]) == 0
    )
    notes = " ".join(json.loads(capfd.readouterr().out)["notes"])
    assert (
        notes.count(
            "; use --documents (documents = true in [policy]) to evaluate passages DOC-N as documents DOC"
        )
        == 1
    )
    assert "passages.trec: none of its passages is judged" in notes
    assert (
        run(
            [
                "check",
                "--qrels",
                str(folder / "qrels-docs.txt.gz"),
                *runs,
                "--documents",
                "--format",
                "json",
            ]
        )
        == 0
    )
    result = json.loads(capfd.readouterr().out)
    assert "passage ids" not in " ".join(result["notes"]) and result["policy"]["documents"] is True


def test_files_of_other_studies_are_read_too(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    text = config.read_text()
    others = "[policy]\nrelevance_level = 2\n" + text[text.index("[clariq]") :]
    config.write_text(others)
    files = json.loads(in_copy("check --format json").out)["tables"]["files"]
    assert {row["role"]: row["rows"] for row in files} == {
        "clariq topics": 46, "clariq questions": 22, "clariq run stem": 14, "clariq run overlap": 13, "clariq qrels": 50,
        "clariq performance": 476, "clariq needs stem": 6, "clariq needs overlap": 5, "clariq preferences": 28,
        "snippets": 18, "reference": 12, "ratings": 118,
        **{f"answers responses {name}": 70 for name in ("original", "qr", "human")}, "answers snippets": 114,
        **{f"answers assignments {name}": 60 for name in ("original", "qr", "human")}, "answers nuggets": 118,
        "crowd grades": 149, "crowd gold checks": 3, "crowd bank": 11,
        "crowd subset": 3, "crowd run ids": 14, "crowd run texts": 8, "review files": 24,
    }  # fmt: skip
    config.write_text(
        others.replace("need_hasty", "nope").replace(
            '"annotations/workers.jsonl"', '"paraphrases.csv"'
        )
    )
    broken = in_copy("check", code=3)
    assert "clariq/nope.txt: no such file" in broken.err and "paraphrases.csv:1: " in broken.err
    config.write_text(others.replace('qrels = "clariq/qrels.txt"\n', ""))
    told = " ".join(in_copy("check").out.split())
    assert (
        "Note: [clariq]: no qrels of facets are given; add --qrels FILE, or qrels in [clariq]"
        in told
    )


def test_a_run_that_answers_no_judged_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("1_1 0 a 1\n1_2 0 a 1\n1_10 0 b 0\n")
    Path("run.trec").write_text("9_1 Q0 a 1 2 t\n9_2 Q0 b 1 2 t\n")
    Path("half.trec").write_text("1_1 Q0 a 1 2 t\n1_1 Q0 x 2 1 t\n")
    assert (
        run(
            [
                "check",
                "--qrels",
                "qrels.txt",
                "--run",
                "other=run.trec",
                "--run",
                "half=half.trec",
                "--format",
                "json",
            ]
        )
        == 3
    )
    out, err = capfd.readouterr()
    refused = (
        "run.trec: none of its turns is in the qrels: its turn ids look like '9_1', those of the qrels like '1_1'; check that"
        " the files belong together"
    )
    assert err == f"{refused}\n"
    result = json.loads(out)
    other, half = result["tables"]["runs"]
    assert other == {
        "system": "other", "turns": 0, "missing": 3, "extra": 2, "depth_min": 0, "depth_median": 0.0, "depth_max": 0,
        "judged_3": None, "judged_10": None,
    }  # fmt: skip
    assert half == {
        "system": "half", "turns": 1, "missing": 2, "extra": 0, "depth_min": 2, "depth_median": 2.0, "depth_max": 2,
        "judged_3": 0.5, "judged_10": 0.5,
    }  # fmt: skip
    assert result["notes"] == [
        "half misses 2 turns: 1_2, 1_10",
        "The sampling unit is the turn, because there is only 1 conversation: intervals may be too narrow and p too small",
    ]
    assert [file["problem"] for file in result["tables"]["files"]] == [None, refused, None]
    assert result["policy"]["missing_turns"] == 3
    assert run(["check", "--qrels", "qrels.txt", "--run", "other=run.trec"]) == 3
    assert "–" in capfd.readouterr().out


def test_what_is_not_known_of_a_run_is_null(in_copy: Command, tmp_path: Path) -> None:
    """Texts whose run cannot be read, and texts with scores in its place, lack nothing that could be counted."""
    folder = tmp_path / "demo"
    (folder / "runs" / "stem_qr.trec").write_text("1_1 Q0 d 1 high x\n")
    printed = json.loads(in_copy("check --format json", code=3).out)
    lacking = {row["formulation"]: row["unanswered"] for row in printed["tables"]["texts"]}
    assert lacking["qr"] is None and lacking["human"] == 0


def test_commands_that_can_run_come_first(in_demo: Command) -> None:
    """Then in one line those for which nothing was given, each once, by what they need."""
    line = "check --config /dev/null --qrels qrels.txt --run bm25=runs/plain_human.trec"
    rows = json.loads(in_demo(f"{line} --format json").out)["tables"]["commands"]
    assert list(rows[0]) == ["command", "runs", "because", "give"] and len(rows) == 24
    printed = in_demo(line).out
    assert "Which commands cannot run" not in printed
    ready = printed.index(
        "These commands can run: turns, evaluate, unjudged, judge --list, report.\n"
    )
    further = " ".join(
        printed[printed.index("Further inputs answer further questions: ") :].split()
    )
    assert ready < printed.index("Further inputs")
    told = further[: further.index(" 70 turns")]
    assert told.endswith("(crowd), another state (compare).")
    assert "runs or scores of a rewriter and of Human (breakdown, sweep)" in told
    lacking = [row["command"] for row in rows if not row["runs"]]
    named = [name for part in re.findall(r"\((.*?)\)", told) for name in part.split(", ")]
    assert sorted(named) == sorted(lacking)


def test_commands_with_some_of_their_inputs_have_a_row(in_demo: Command) -> None:
    line = (
        "check --config /dev/null --qrels qrels.txt --qr runs/plain_qr.trec"
        " --new-judgments new_judgments.txt"
    )
    printed = in_demo(line).out
    rows = printed[printed.index("Which commands cannot run, and what do they need?") :]
    rows = rows[: rows.index("Further inputs")]
    assert re.search(r"breakdown +no run or scores of the human formulation", rows)
    assert "sweep" in rows and "correlate" in rows
    assert not any(name in rows for name in ("augment", "crowd", "audit", "passages", "compare"))


def test_a_project_without_a_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bm25.trec"
    path.write_text("1_1 Q0 a 1 2.0 x\n")
    assert run(["check", "--config", "/dev/null", "--run", f"bm25={path}"]) == 0
    printed = capfd.readouterr().out
    assert "These commands can run: turns.\n" in printed
    assert "evaluate      no qrels are given; add --qrels FILE\n" in printed


def test_a_measure_that_runs_do_not_allow(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    config.write_text(f'metrics = ["made_up"]\n{config.read_text()}')
    rows = json.loads(in_copy("check --format json").out)["tables"]["commands"]
    (row,) = (row for row in rows if row["command"] == "evaluate")
    assert not row["runs"] and row["because"] == "unknown measure 'made_up'"
