"""Paraphrase files: ECAsT as it is published, the demo's, and every way to get one wrong."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.errors import InputError
from robustcs.inputs.paraphrases import Paraphrase, read_paraphrases
from tests.skipped_rows import without_count

HEADER = "TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "paraphrases.csv"
    path.write_bytes(text.encode())
    return path


def problem(folder: Path, text: str) -> str:
    path = write(folder, text)
    with pytest.raises(InputError) as caught:
        read_paraphrases(path)
    return without_count(caught.value).replace(str(path), "P")


def test_ecast(shared_data: Path) -> None:
    found = read_paraphrases(shared_data / "ECAsT.csv.gz")
    counts = [len(rows) for rows in found.values()]
    assert (sum(counts), len(found), min(counts), max(counts)) == (9214, 1203, 5, 22)
    with gzip.open(shared_data / "ECAsT.csv.gz", "rt", encoding="utf-8-sig", newline="") as stream:
        expected = [[" ".join(cell.split()) for cell in row] for row in csv.reader(stream)][1:]
    ours = sorted((row for rows in found.values() for row in rows), key=lambda row: row.line)
    assert [[row.turn, row.manual, row.raw] for row in ours] == expected
    assert list(found) == sorted(found, key=lambda turn: tuple(map(int, turn.split("_"))))


def test_demo(demo: Path) -> None:
    found = read_paraphrases(demo / "paraphrases.csv")
    assert {len(rows) for rows in found.values()} == {5} and len(found) == 70
    assert found["1_1"][1].raw == "What is in that sourdough jar?"


def test_what_csv_allows(tmp_path: Path) -> None:
    text = '\ufeffnote,raw_paraphrase,Turn ID,manual paraphrase\r\n\r\nx,"a ""b"",\r\n c",1_2,d\t e \r\n,f,1_1,g\u00a0\r\n'
    assert read_paraphrases(write(tmp_path, text)) == {
        "1_1": (Paraphrase("1_1", "g", "f", 5),),
        "1_2": (Paraphrase("1_2", "d e", 'a "b", c', 3),),
    }


def test_all_bad_rows_together(tmp_path: Path) -> None:
    text = (
        HEADER
        + '1_1,a\n,b,c\n,b,c\n1_2,,c\n1_2,b, \n1_3,"b"x,c\n1_4,b,c,d\n1_5,b,c\n1_6,"b,c\n1_7,b,c\n'
    )
    assert problem(tmp_path, text).splitlines() == [
        "P:2: 2 columns, but the header has 3; complete the row or delete it",
        "P:3: no turn id; complete the row or delete it",
        "P:4: no turn id; complete the row or delete it",
        "P:5: turn 1_2: empty MANUAL PARAPHRASE; write the text or delete the row",
        "P:6: turn 1_2: empty RAW PARAPHRASE; write the text or delete the row",
        "P:7: not CSV (',' expected after '\"'); double the quotes inside a quoted text, and close the text",
        "P:8: 4 columns, but the header has 3; put texts with commas in quotes",
        "P:10: not CSV (unexpected end of data); double the quotes inside a quoted text, and close the text",
    ]


def test_nothing_to_read(tmp_path: Path) -> None:
    assert problem(tmp_path, "\n") == ("P: the file is empty; check the path")
    assert problem(tmp_path, HEADER) == "P: the file has no rows; check the path"
    assert problem(tmp_path, "1_1,a,b\n1_2,a,b\n") == (
        "P:1: no column 'TURN_ID'; the columns are: 1_1, a, b; rename one of them to TURN_ID"
    )
    assert "no column 'RAW PARAPHRASE'; the columns are: TURN_ID, MANUAL PARAPHRASE;" in problem(
        tmp_path, "TURN_ID,MANUAL PARAPHRASE\n1_1,a\n"
    )


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1).filter(
    str.strip
)


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), TEXT, TEXT), min_size=1, max_size=8)
)
def test_reads_what_a_csv_writer_wrote(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, str, str]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "p.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(HEADER.strip().split(","))
        writer.writerows((f"{topic}_{depth}", manual, raw) for topic, depth, manual, raw in rows)
    found = [row for turn in read_paraphrases(path).values() for row in turn]
    expected = [
        (f"{topic}_{depth}", " ".join(manual.split()), " ".join(raw.split()))
        for topic, depth, manual, raw in rows
    ]
    assert [
        (row.turn, row.manual, row.raw) for row in sorted(found, key=lambda row: row.line)
    ] == expected


def test_a_text_as_long_as_a_book_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_text(f"TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n1_1,a,{'b ' * 200_000}\n")
    assert len(read_paraphrases(path)["1_1"][0].raw) == 399_999
    path.write_text(f"TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n1_1,{'b' * 1_000_001},a\n")
    with pytest.raises(
        InputError,
        match="file.csv:2: turn 1_1: the text has 1,000,001 characters; the limit is 1,000,000",
    ):
        read_paraphrases(path)


def test_labelled_variations(shared_data: Path) -> None:
    path = shared_data / "formats" / "variations" / "variations_trec2019_labeled.csv"
    found = read_paraphrases(path)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    valid = sorted(
        (row["q_id"], row["transformation_type"], " ".join(row["variation"].split()))
        for row in rows
        if row["valid"] == "True"
    )
    assert (
        sorted((one.turn, one.category, one.raw) for some in found.values() for one in some)
        == valid
    )
    assert all(one.raw == one.manual for some in found.values() for one in some)
    assert (len(found), len(valid), len(rows)) == (43, 334, 429)
    assert found.notes == ("variations skipped because the file marks them as invalid: 95",)


def test_categories(tmp_path: Path) -> None:
    text = f"category,{HEADER.strip()}\n typo ,1_1,a,b\n,1_2,c,d\n"
    found = read_paraphrases(write(tmp_path, text))
    assert [found[turn][0].category for turn in ("1_1", "1_2")] == [
        "typo",
        "",
    ] and found.notes == ()


def test_broken_variations(tmp_path: Path) -> None:
    header = "q_id,transformation_type,variation,valid\n"
    text = (
        header + "1,typo,a,yes\n,typo,a,True\n2,,a,True\n3,typo,,True\n4,typo,,False\n5,typo,a,1\n"
    )
    assert problem(tmp_path, text).splitlines() == [
        "P:2: valid is 'yes'; write True or False",
        "P:3: no turn id; complete the row or delete it",
        "P:4: turn 2: empty transformation_type; write the text or delete the row",
        "P:5: turn 3: empty variation; write the text or delete the row",
    ]
    assert problem(tmp_path, "q_id,variation\n1,a\n") == (
        "P:1: no column 'transformation_type'; the columns are: q_id, variation; rename one of them to transformation_type"
    )
    assert problem(tmp_path, "variation,transformation_type\n1,a\n").startswith(
        "P:1: no column 'q_id'; the columns are:"
    )
    assert (
        problem(tmp_path, header + "1,typo,a,False\n")
        == "P: the file has no paraphrases; check the path"
    )
