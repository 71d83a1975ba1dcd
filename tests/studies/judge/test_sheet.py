from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import InputError, UsageError
from robustcs.inputs.qrels import read_qrels
from robustcs.studies.judge.session import GradeScale
from robustcs.studies.judge.sheet import read_sheet, write_sheet

Pair = tuple[str, str]
PAIRS: list[Pair] = [("1_1", "a"), ("1_1", "=cmd|' /C calc'!A0"), ("1-3", "000123"), ("1_1", "b;c")]


def scale_for(folder: Path, turns: set[str]) -> GradeScale:
    (folder / "qrels").write_text(
        "".join(f"{turn} 0 judged 4\n" for turn in sorted(turns)), encoding="utf-8"
    )
    return GradeScale(read_qrels(folder / "qrels"), 4)


@pytest.fixture
def scale(tmp_path: Path) -> GradeScale:
    return scale_for(tmp_path, {"1_1", "1-3"})


def filled(sheet: Path, grades: dict[int, str], delimiter: str = ",") -> Path:
    """The sheet as a spreadsheet saves it after people filled in some rows."""
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.reader(stream))
    for row, grade in grades.items():
        rows[row][-1] = grade
    with sheet.open("w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)
    return sheet


def test_there_and_back(tmp_path: Path, scale: GradeScale) -> None:
    sheet = tmp_path / "sheet.csv"
    write_sheet(sheet, PAIRS, {"1_1": "Was kostet Brot?"}, {"a": "Zwei\n東京 Euro"})
    head = "\ufefftopic,turn,question,document,passage,grade\r\n"
    assert sheet.read_bytes().startswith(head.encode())
    assert "\r\n1,1_1,Was kostet Brot?,a,Zwei 東京 Euro,\r\n" in sheet.read_bytes().decode()
    assert read_sheet(sheet, scale, frozenset(PAIRS), {}) == ({}, 4)
    for delimiter in (",", ";", "\t"):
        filled(sheet, {}, ",")
        content = sheet.read_bytes()
        grades, blank = read_sheet(
            filled(sheet, {1: "4", 2: "0", 3: " 3.0 "}, delimiter), scale, frozenset(PAIRS), {}
        )
        assert grades == {PAIRS[0]: 4, PAIRS[1]: 0, PAIRS[2]: 3}
        assert blank == 1
        sheet.write_bytes(content)


def test_a_spreadsheet_runs_nothing_and_keeps_every_id(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    write_sheet(sheet, PAIRS, {"1_1": "+1 or @2"}, {"a": "=HYPERLINK(1)", "b;c": "\x1b[2J-\u202e"})
    with sheet.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["document"] for row in rows] == ["a", "'=cmd|' /C calc'!A0", "'000123", "b;c"]
    assert rows[0]["question"] == "'+1 or @2"
    assert [row["passage"] for row in rows] == ["'=HYPERLINK(1)", "", "", "␛[2J-⟨U+202E⟩"]
    assert rows[2]["turn"] == "'1-3"
    for row in rows:
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row.values())


IDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)
RISKY = st.sampled_from(
    ["'", "''=1", "=1", "0", "007", "1e5", "1/2", "-3", "12345678901234567890", "@x", "'x"]
)


@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(st.tuples(IDS | RISKY, IDS | RISKY), min_size=1, max_size=5, unique=True))
def test_any_id_comes_back(tmp_path_factory: pytest.TempPathFactory, pairs: list[Pair]) -> None:
    folder = tmp_path_factory.mktemp("sheet")
    # "#" starts a comment of a qrels file, and words such as "turn" its header
    # (and "judged" is what scale_for judges)
    pairs = [(turn, document) for turn, document in pairs if document != "judged"]
    pairs = [
        (f"t{turn}", document) if turn.startswith("#") or turn.isalpha() else (turn, document)
        for turn, document in pairs
    ]
    scale = scale_for(folder, {"0_0"} | {turn for turn, _ in pairs})
    sheet = folder / "sheet.csv"
    write_sheet(sheet, pairs, {}, {})
    found, _ = read_sheet(
        filled(sheet, dict.fromkeys(range(1, len(pairs) + 1), "2")), scale, frozenset(pairs), {}
    )
    assert found == dict.fromkeys(pairs, 2)


def test_long_passages_fit_a_cell(tmp_path: Path) -> None:
    write_sheet(tmp_path / "s.csv", [("1_1", "a")], {}, {"a": "x" * 50_000})
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as stream:
        passage = list(csv.DictReader(stream))[0]["passage"]
    assert len(passage) < 32_767
    assert passage.endswith(" … (cut: 50000 characters)")


def test_a_sheet_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("hours of work")
    with pytest.raises(UsageError, match="exists and may contain grades; name another file"):
        write_sheet(tmp_path / "s.csv", PAIRS, {}, {})
    assert (tmp_path / "s.csv").read_text() == "hours of work"


def test_every_bad_grade_and_unknown_pair_is_named_with_its_line(
    tmp_path: Path, scale: GradeScale
) -> None:
    sheet = tmp_path / "s.csv"
    sheet.write_text(
        'turn;document;passage;grade\n1_1;a;"two\nlines";7\n1_1;a;;2,5\n1_1;a;;good\n\n'
        "1_1;zzz;;1\n5_5;a;;1\n1_1;judged;;1\n1_1;a;;1\n1_1;a;;2\n1-3;'000123;;3\n1_1;b;c\n"
    )
    with pytest.raises(InputError) as error:
        read_sheet(sheet, scale, frozenset(PAIRS), {PAIRS[2]: 4})
    number = "correct the grade, or clear the cell"
    other = "check the id, which the spreadsheet may have changed; clear the grade if the sheet is of other runs or another --top"
    agree = "clear the cell, or write the same grade"
    assert str(error.value).splitlines() == [
        f"{sheet}:2: grade '7' of turn 1_1 document a is not an integer from 0 to 4; {number}",
        f"{sheet}:4: grade '2,5' of turn 1_1 document a is not an integer from 0 to 4; {number}",
        f"{sheet}:5: grade 'good' of turn 1_1 document a is not an integer from 0 to 4; {number}",
        f"{sheet}:7: turn 1_1 document zzz is not in the worklist; {other}",
        f"{sheet}:8: turn 5_5 is not in the qrels; {other}",
        f"{sheet}:9: turn 1_1 document judged is already judged in the qrels; {other}",
        f"{sheet}:11: turn 1_1 document a has grade 2 but grade 1 in an earlier line; {agree}",
        f"{sheet}:12: turn 1-3 document 000123 has grade 3 but grade 4 in the judgments; {agree}",
    ]


def test_semicolons_and_old_line_ends(tmp_path: Path, scale: GradeScale) -> None:
    sheet = tmp_path / "s.csv"
    sheet.write_bytes("\ufeffGrade;Document;TURN\r\n4;a;1_1\r\n9;a;1_1\r\n".encode())
    with pytest.raises(InputError, match=r"s\.csv:3: grade '9'"):
        read_sheet(sheet, scale, frozenset(PAIRS), {})
    sheet.write_bytes("\ufeffGrade;Document;TURN\r\n4;a;1_1\r\n".encode())
    assert read_sheet(sheet, scale, frozenset(PAIRS), {}) == ({PAIRS[0]: 4}, 0)


def test_a_file_that_is_no_sheet(tmp_path: Path, scale: GradeScale) -> None:
    (tmp_path / "s.csv").write_text("id,text\n1,x\n")
    with pytest.raises(InputError, match=r"s\.csv:1: no column 'turn'; the columns are: id, text"):
        read_sheet(tmp_path / "s.csv", scale, frozenset(PAIRS), {})
