from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import InputError, OutputError, UsageError
from robustcs.inputs.qrels import read_qrels
from robustcs.studies.judge.session import GradeScale, JudgmentFile, Session, read_judgments

PAIRS = [("1_1", "a"), ("1_1", "b"), ("1_2", "a"), ("2_1", "ü")]
ADVICE = (
    "judge only adds to files that it created for these qrels; name another file with --judgments"
)


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> GradeScale:
    file = tmp_path_factory.mktemp("qrels") / "qrels"
    file.write_text("1_1 0 j 4\n1_2 0 j 0\n2_1 0 j 1\n")
    return GradeScale(read_qrels(file), 4)


def test_every_grade_is_a_line_of_qrels_at_once(tmp_path: Path, scale: GradeScale) -> None:
    path = tmp_path / "new"
    with JudgmentFile(path, scale) as file:
        session = Session(PAIRS, file)
        session.grade(3)
        assert path.read_bytes() == b"1_1 0 a 3\n"
        session.skip()
        session.grade(0)
        assert path.read_bytes() == b"1_1 0 a 3\n1_2 0 a 0\n"
        assert session.progress() == (2, 4)
        assert session.progress(lambda turn: turn.startswith("1_")) == (2, 3)
    assert read_qrels(path).grades.tolist() == [3, 0]


def test_the_next_sitting_goes_on_and_asks_for_what_was_skipped(
    tmp_path: Path, scale: GradeScale
) -> None:
    path = tmp_path / "new"
    with JudgmentFile(path, scale) as file:
        session = Session(PAIRS, file)
        session.skip()
        session.grade(1)
    with JudgmentFile(path, scale) as file:
        session = Session(PAIRS, file)
        assert session.current() == ("1_1", "a")
        for _ in range(3):
            session.grade(2)
        assert session.current() is None
    assert read_judgments(path, scale) == {PAIRS[1]: 1, PAIRS[0]: 2, PAIRS[2]: 2, PAIRS[3]: 2}


def test_undo_goes_back_through_grades_and_skips_and_earlier_sittings(
    tmp_path: Path, scale: GradeScale
) -> None:
    path = tmp_path / "new"
    with JudgmentFile(path, scale) as file:
        Session(PAIRS, file).grade(4)
    with JudgmentFile(path, scale) as file:
        session = Session(PAIRS, file)
        session.skip()
        session.grade(2)
        assert session.undo() == ("1_2", "a")
        assert session.current() == ("1_2", "a")
        assert session.undo() == ("1_1", "b")
        assert session.undo() == ("1_1", "a")
        assert session.undo() is None
        assert session.current() == ("1_1", "a")
        assert path.read_bytes() == b""
        session.grade(0)
        assert session.current() == ("1_1", "b")
    assert path.read_bytes() == b"1_1 0 a 0\n"


def test_what_is_not_asked_for_is_not_taken_back(tmp_path: Path, scale: GradeScale) -> None:
    path = tmp_path / "new"
    path.write_text("1_1 0 elsewhere 2\n")
    with JudgmentFile(path, scale) as file:
        assert Session(PAIRS, file).undo() is None
    assert path.read_text() == "1_1 0 elsewhere 2\n"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("01234us!"), max_size=14))
def test_the_file_always_holds_what_the_session_believes(
    tmp_path_factory: pytest.TempPathFactory, scale: GradeScale, keys: list[str]
) -> None:
    """Against a model: a list of grades. ``!`` stands for a process that is killed and started again."""
    path = tmp_path_factory.mktemp("x") / "new"
    file = JudgmentFile(path, scale)
    session = Session(PAIRS, file)
    graded: list[tuple[tuple[str, str], int]] = []
    for key in keys:
        pair = session.current()
        if key == "!":
            os.close(file._file)
            file = JudgmentFile(path, scale)
            session = Session(PAIRS, file)
        elif key == "u":
            back = session.undo()
            if back and graded and graded[-1][0] == back:
                graded.pop()
        elif pair and key == "s":
            session.skip()
        elif pair:
            session.grade(int(key))
            graded.append((pair, int(key)))
        assert path.read_text("utf-8") == "".join(
            f"{turn} 0 {document} {grade}\n" for (turn, document), grade in graded
        )
    file.close()


@pytest.mark.parametrize("cut", ["1", "1_2", "1_2 0", "1_2 0 a", "1_2 0 a "])
def test_a_line_that_a_killed_process_left_unfinished_goes(
    tmp_path: Path, scale: GradeScale, cut: str
) -> None:
    path = tmp_path / "new"
    path.write_text(f"1_1 0 a 3\n{cut}")
    assert read_judgments(path, scale) == {("1_1", "a"): 3}
    with JudgmentFile(path, scale) as file:
        Session(PAIRS, file).grade(1)
    assert path.read_text() == "1_1 0 a 3\n1_1 0 b 1\n"


def test_a_last_line_without_its_end_stays(tmp_path: Path, scale: GradeScale) -> None:
    path = tmp_path / "new"
    path.write_bytes(b"\xef\xbb\xbf1_1 0 a 3\r\n1_1 0 b 2")
    with JudgmentFile(path, scale) as file:
        session = Session(PAIRS, file)
        session.grade(1)
        session.undo()
        session.undo()
        session.grade(4)
    assert read_judgments(path, scale) == {("1_1", "a"): 3, ("1_1", "b"): 4}


def test_other_qrels_are_refused_line_by_line(tmp_path: Path, scale: GradeScale) -> None:
    path = tmp_path / "new"
    path.write_text(
        "1_1 0 a 3\n1_1 0 j 4\n7_7 0 a 1\n1_1 0 b 5\n1_1 0 b -1\n1_1 0 a 2\n1_1 Q0 b 1 2.0 tag\n"
    )
    with pytest.raises(InputError) as error:
        JudgmentFile(path, scale)
    assert str(error.value).splitlines() == [
        f"{path}:2: turn 1_1 document j is already judged in the qrels; {ADVICE}",
        f"{path}:3: turn 7_7 is not in the qrels; {ADVICE}",
        f"{path}:4: grade '5' of turn 1_1 document b is not an integer from 0 to 4; {ADVICE}",
        f"{path}:5: grade '-1' of turn 1_1 document b is not an integer from 0 to 4; {ADVICE}",
        f"{path}:6: turn 1_1 document a has grade 2 but grade 3 in an earlier line; {ADVICE}",
        f"{path}:7: 6 columns instead of 4 (turn 0 document grade); {ADVICE}",
    ]
    assert path.read_text().startswith("1_1 0 a 3\n1_1 0 j 4\n")


def test_the_qrels_themselves_and_compressed_files_are_refused(
    tmp_path: Path, scale: GradeScale
) -> None:
    path = tmp_path / "qrels"
    path.write_text("")
    with pytest.raises(UsageError, match="is the qrels file; name another file with --judgments"):
        JudgmentFile(path, scale, path)
    for content, message in (
        (b"\x1f\x8b\x08\x00", "not a plain text file"),
        (b"my notes", "2 columns instead of 4"),
        (b"1_1 0 a 3\nnotes", "1 column instead of 4"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            JudgmentFile(path, scale)
        assert path.read_bytes() == content


def test_two_sessions_do_not_share_a_file(tmp_path: Path, scale: GradeScale) -> None:
    path = tmp_path / "new"
    with JudgmentFile(path, scale) as file:
        with pytest.raises(UsageError, match="in use by another session"):
            JudgmentFile(path, scale)
        Session(PAIRS, file).grade(1)
    with JudgmentFile(path, scale) as file:
        assert file.grades == {PAIRS[0]: 1}


def test_a_file_without_grades_is_not_left_behind(tmp_path: Path, scale: GradeScale) -> None:
    with JudgmentFile(tmp_path / "new", scale) as file:
        Session(PAIRS, file).skip()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_another_program_replaced_is_not_written_past(
    tmp_path: Path, scale: GradeScale
) -> None:
    path = tmp_path / "new"
    with JudgmentFile(path, scale) as file:
        session = Session(PAIRS, file)
        session.grade(1)
        (tmp_path / "edited").write_text("1_1 0 b 2\n")
        os.replace(tmp_path / "edited", path)
        with pytest.raises(InputError, match="another program changed or removed this file"):
            session.grade(1)
    assert path.read_text() == "1_1 0 b 2\n"


def test_taking_back_does_not_touch_a_line_that_was_edited(
    tmp_path: Path, scale: GradeScale
) -> None:
    path = tmp_path / "new"
    with JudgmentFile(path, scale) as file:
        session = Session(PAIRS, file)
        session.grade(1)
        with path.open("a") as other:
            other.write("2_1 0 x 4\n")
        with pytest.raises(InputError, match="another program changed"):
            session.undo()
    assert path.read_text() == "1_1 0 a 1\n2_1 0 x 4\n"


def test_a_full_disk_leaves_no_half_line(
    tmp_path: Path, scale: GradeScale, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new"
    with JudgmentFile(path, scale) as file:
        session = Session(PAIRS, file)
        session.grade(1)

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(
            OutputError,
            match="new: not written, no space left on device; free some space and start again",
        ):
            session.grade(2)
        assert path.read_text() == "1_1 0 a 1\n"
        assert file.grades == {PAIRS[0]: 1}
