"""Notes of one kind are one note: of many runs, files and turns, in every format."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.errors import InputError, Problem
from robustcs.policy import Evaluated, EvaluationPolicy
from robustcs.wording import Note, merged

TURNS = [f"{talk}_{turn}" for talk in range(1, 7) for turn in (1, 2)]


def test_notes_of_one_kind_name_up_to_five_subjects() -> None:
    notes = [Note.of(f"r{number}", f"{number} rows", "skipped") for number in range(1, 9)]
    assert notes[0] == "r1: 1 rows skipped"
    assert merged(notes[:1]) == ("r1: 1 rows skipped",)
    assert merged([*notes[:2], *notes[:2]]) == ("r1 (1 rows), r2 (2 rows): skipped",)
    several = (
        "r1 (1 rows), r2 (2 rows), r3 (3 rows), r4 (4 rows), r5 (5 rows) and 3 others: skipped",
        "other",
    )
    assert merged([*notes, "other", "other"]) == several
    # merged notes can be merged again, also after a worker process returned them
    again = pickle.loads(pickle.dumps(merged(notes[:5])))
    assert merged([*again, "other", *notes[5:]]) == several
    assert merged([Note.of("a", "", "first"), Note.of("b", "", "second")]) == (
        "a: first",
        "b: second",
    )
    evaluated = Evaluated(EvaluationPolicy(), "runs", 1, 0, tuple(notes))
    assert evaluated.notes == several[:1]


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments and 12 runs; run number n misses n mod 4 turns and has n mod 3 repeated documents."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text(
        "".join(f"{turn} 0 d{place} {place % 2}\n" for turn in TURNS for place in range(3))
    )
    for number in range(12):
        lines = [
            f"{turn} Q0 d{place} 1 {9 - place} x\n"
            for turn in TURNS[number % 4 :]
            for place in range(3)
        ]
        lines += [f"{turn} Q0 d0 4 1 x\n" for turn in TURNS[-(number % 3) :] if number % 3]
        Path(f"r{number}").write_text("".join(lines))
    return tmp_path


def test_many_runs_that_miss_turns(many: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = [
        "--qrels",
        "qrels",
        *(f"--run=r{number}=r{number}" for number in range(12)),
        "--metric",
        "recip_rank",
    ]
    missing = (
        "r1 (1 turn: 1_1), r2 (2 turns: 1_1, 1_2), r3 (3 turns: 1_1, 1_2 …), r5 (1 turn: 1_1), r6 (2 turns: 1_1, 1_2)"
        " and 4 others: missing turns"
    )
    for command in ("evaluate", "unjudged", "check"):
        given = options if command != "check" else options[:-2]
        assert run([command, *given, "--format", "json"]) == 0
        notes = json.loads(capfd.readouterr().out)["notes"]
        assert missing in notes
        assert sum("missing turns" in note or "misses" in note for note in notes) == 1
        assert sum("the best-ranked row of each counts" in note for note in notes) == 1
        assert len(notes) == len(set(notes)) < 6
        assert run([command, *given]) == 0
        # the note, and the policy line
        assert " ".join(capfd.readouterr().out.split()).count("missing turns") <= 2
    result = robustcs.evaluate(
        qrels="qrels", runs={f"r{number}": f"r{number}" for number in range(12)}
    )
    assert missing in result.evaluated.notes


def test_notes_of_a_report_are_merged_over_its_sections(many: Path) -> None:
    lines = [
        'qrels = "qrels"\nmetrics = ["recip_rank"]\n[runs]\n',
        *(f'r{one} = "r{one}"\n' for one in range(6)),
    ]
    Path("robustcs.toml").write_text("".join(lines))
    assert run(["report", "--output", "out"]) == 0
    page = (many / "out/report.html").read_text()
    assert page.count(": missing turns") == 1


def test_many_files_with_skipped_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    turns = [f"{talk}_{turn}" for talk in range(1, 11) for turn in (1, 2, 3)]
    options = []
    for role in ("original", "human", *(f"qr:m{number}" for number in range(6))):
        path = Path(f"{role.replace(':', '_')}.tsv")
        path.write_text(
            "".join(f"{turn}\t{'' if turn == '3_2' else f'{role} asks {turn}'}\n" for turn in turns)
        )
        options += ["--rewrites", f"{role}={path}"]
    assert run(["check", *options, "--format", "json"]) == 0
    result = json.loads(capfd.readouterr().out)
    (note,) = (one for one in result["notes"] if one.startswith("More than 1%"))
    assert note.startswith(
        "More than 1% of rows were skipped: original texts (1 of 30 texts empty), "
    )
    assert note.endswith(" and 3 others")
    assert len(result["policy"]["skipped"]) == 8
    assert result["policy"]["line"].endswith(" · rows of 3 other files skipped")


def test_repeats_of_a_key_are_one_problem() -> None:
    def problems(count: int, slug: str) -> list[Problem]:
        return [
            Problem("f.tsv", line, f"m of turn {line} is already in line 1", "keep one", slug)
            for line in range(2, count + 2)
        ]

    one = "f.tsv:2: m of turn 2 is already in line 1; keep one"
    assert (
        str(InputError(problems(6, "repeated-score")))
        == f"{one} (and 5 more repeats, in lines: 3, 4, 5, 6, 7)"
    )
    assert str(InputError(problems(30, "repeated-score"))).splitlines() == [
        f"{one} (and 19 more repeats, in lines: 3, 4, 5, 6, 7 and 14 others)", "… and 10 more problems",
    ]  # fmt: skip
    assert len(str(InputError(problems(5, "repeated-score"))).splitlines()) == 5
    assert len(str(InputError(problems(9, "not-a-number"))).splitlines()) == 9


def test_a_file_of_repeated_scores(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("".join(f"map\t{turn}\t0.5\n" for turn in TURNS) * 2)
    assert run(["evaluate", "--scores", f"original={path}", "--metric", "map"]) == 3
    (line,) = capfd.readouterr().err.splitlines()
    assert "map of turn 1_1 is already in line 1" in line
    assert "(and 11 more repeats, in lines: 14, 15, 16, 17, 18 and 6 others)" in line
