"""Runs: columnar, in file order, equal to a plain reading of every real run."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from robustcs.errors import ExitCode, InputError
from robustcs.inputs.runs import read_run, run_pieces

RUN = "31_1 Q0 d1 1 2.5 t\n31_2 Q0 d1 1 2.5 t\n31_1 Q0 d2 2 1.5 t\n"


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "my.run"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_run_is_columns_in_file_order(tmp_path: Path) -> None:
    run = read_run(write(tmp_path, RUN))
    assert (run.name, run.turns, run.ids.texts()) == (
        "my.run",
        ("31_1", "31_2"),
        ["d1", "d1", "d2"],
    )
    assert run.turn_codes.tolist() == [0, 1, 0]
    assert run.scores.tolist() == [2.5, 2.5, 1.5]
    assert (run.scores.dtype, run.turn_codes.dtype) == (np.float32, np.int32)
    assert (run.ranks, run.notes, len(run)) == (None, (), 3)


def test_ranks_are_read_on_request(tmp_path: Path) -> None:
    path = write(tmp_path, RUN)
    assert read_run(path, ranks=True).ranks.tolist() == [1, 1, 2]
    path = write(tmp_path, "31_1 Q0 d1 first 2.5 t\n")
    assert len(read_run(path)) == 1, "an unread column cannot be wrong"
    with pytest.raises(InputError) as error:
        read_run(path, ranks=True)
    assert str(error.value) == f"{path}:1: rank 'first' is not a whole number; write a whole number"


def test_notes_say_what_was_passed_over_under_the_name_of_the_run(tmp_path: Path) -> None:
    path = write(tmp_path, "# a\n# b\nquery_id Q0 passage_id 1 999 x\n" + RUN)
    assert read_run(path, "qr").notes == (
        "qr: skipped the header line",
        "qr: skipped 2 comment lines",
    )


@pytest.mark.parametrize(
    ("scores", "noted"),
    [("12345", True), ("01357", True), ("1234", False), ("12344", False), ("54321", False)],
)
def test_a_score_column_that_holds_ranks_is_noted(tmp_path: Path, scores: str, noted: bool) -> None:
    """The columns rank and score may be swapped, or the scores be distances. trec_eval says nothing."""
    path = write(
        tmp_path,
        "".join(
            f"1_1 Q0 d{score} {20.5 - place} {score} t\n" for place, score in enumerate(scores)
        ),
    )
    note = "my.run: the scores of turn 1_1 ascend, and the passage in its last row counts as best; if they are ranks"
    for notes in (read_run(path).notes, [*run_pieces(path)][-1].notes):
        assert [one.startswith(note) for one in notes] == [True] * noted


def test_ascending_scores_do_not_matter_if_ranks_order_the_passages(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f"1_1 Q0 d{place} {place} {place} t\n" for place in range(9)))
    assert read_run(path).notes and not read_run(path, ranks=True).notes


def test_scores_beyond_float32_stay_in_order(tmp_path: Path) -> None:
    run = read_run(
        write(tmp_path, "1 Q0 a 1 1e300 t\n1 Q0 b 2 1 t\n1 Q0 c 3 -1e300 t\n1 Q0 d 4 1e-300 t\n")
    )
    assert run.scores.tolist() == [np.inf, 1.0, -np.inf, 0.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("31_1 0 d1 2\n", ": these are TREC qrels; use them with --qrels"),
        ("P_1\t31_1\t0.5\n", ": these are per-turn scores; use them with --scores"),
        ("31_1 Q0 d1 1 2.5 t\n31_1 Q0 d2", ":2: 3 columns, but a run has 6 (turn Q0 document rank score tag); "
         "the file may be cut: its last line has no line end"),
        ("31_1 Q0 d2\n31_1 Q0 d1 1 2.5 t\n", ":1: 3 columns, but a run has 6 (turn Q0 document rank score tag); "
         "write the six columns of a TREC run"),
        ("31_1 Q0 d1 1 2.5\n", ":1: 5 columns, but a run has 6 (turn Q0 document rank score tag); "
         "write the six columns of a TREC run"),
        ("31_1 Q0 d1 1 high t\n", ":1: score 'high' is not a number; write a decimal number"),
        ("", ": the file is empty; write lines of: turn Q0 document rank score tag"),
    ],
)  # fmt: skip
def test_what_is_not_a_run_is_told_what_it_looks_like(
    tmp_path: Path, content: str, message: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        read_run(path)
    assert str(error.value) == f"{path}{message}"
    assert error.value.exit_code is ExitCode.BAD_INPUT


@pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["one of each kind", "all"]
)
def test_every_real_run_equals_a_plain_reading(shared_data: Path, every: bool) -> None:
    files = [
        path
        for folder in ("cast2019", "cast2020", "cast2021")
        for path in (shared_data / folder).rglob("*.gz")
    ]
    files = [path for path in files if path.parent.name in ("runs", "decaf")]
    assert len(files) == 18
    if not every:
        files = list({path.parent: path for path in sorted(files)}.values())
        assert len(files) == 4
    for path in files:
        run = read_run(path, ranks=True)
        with gzip.open(path, "rt") as stream:
            rows = [line.split() for line in stream if not line.startswith("query_id")]
        assert [run.turns[code] for code in run.turn_codes] == [row[0] for row in rows]
        assert run.ids.texts() == [row[2] for row in rows]
        assert run.ranks.tolist() == [int(row[3]) for row in rows]
        assert np.array_equal(
            run.scores, np.array([float(row[4]) for row in rows]).astype(np.float32)
        )
