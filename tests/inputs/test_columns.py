"""Columns: the fast reader, the line reader and what was written are one and the same; every problem has its line."""

from __future__ import annotations

import gzip
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from robustcs.errors import InputError
from robustcs.inputs import columns as module
from robustcs.inputs.columns import Columns, Layout, line_of_row, read_columns
from robustcs.inputs.ids import Ids
from robustcs.inputs.text import line_chunks

RUN = Layout(
    what="run",
    columns=("turn", "Q0", "document", "rank", "score", "tag"),
    kinds={"turn": "label", "document": "text", "score": "single", "rank": "integer"},
    advice="the advice",
    more="rank",
)
QRELS = Layout(
    what="qrels file",
    columns=("turn", "iteration", "document", "grade"),
    kinds={"turn": "label", "document": "text", "grade": "integer"},
    advice="the advice",
)

# ids of any script, with quotes, commas, backslashes, # and no-break spaces, but no ASCII white space
labels = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" \ufeff", codec="utf-8"),
    min_size=1,
    max_size=6,
) | st.sampled_from(
    ["31_1", "31_10", "MARCO_1", 'd"1', "WAPO_a-b-7", "#2", "0", "Q0", "nan", "NULL", "é"]
)
numbers = st.sampled_from(
    ["1", "-1", "+1.5", ".5", "5.", "1e5", "1E-7", "+.5e+3", "infinity", "-inf", "Infinity", "1e400", "-0", "007",
     "3.7593469619750977", "1" * 40, "4.9e-324", "1e-400"]
) | st.floats(allow_nan=False).map(repr)  # fmt: skip
integers = st.sampled_from(["0", "1", "-2", "+3", "007", "-0", "9" * 18]) | st.integers(
    -5, 2000
).map(str)
tags = st.lists(st.sampled_from(["tag", "my", '"quoted', "#1", "ü"]), min_size=1, max_size=3)
separators = st.sampled_from([" ", "\t", "  ", " \t", "\t\t "])
edges = st.sampled_from(["", "", "", " ", "\t", "   "])
line_ends = st.sampled_from(["\n", "\n", "\r\n"])
skipped = st.sampled_from(["", " ", "\t ", "# ir_metadata", "#", '# a "quoted comment', "#a\tb c"])


#: One-byte changes that both readers are given.
CHANGES = 500


def starts_right(cells: list[str]) -> bool:
    # JSON begins with a bracket
    return not cells[0].startswith(("#", "{", "[")) and cells[0].lower() not in module._HEADER_WORDS


run_rows = (
    st.tuples(labels, st.sampled_from(["Q0", "0"]), labels, integers, numbers, tags)
    .map(lambda row: [*row[:5], *row[5]])
    .filter(starts_right)
)
# what no conversion may let pass, and what no message may get wrong
broken_rows = st.sampled_from(
    [
        ["31_1", "Q0", "d", "1", "high", "t"], ["31_1", "Q0", "d", "1", "nan", "t"], ["31_1", "Q0", "d", "1", "1_0", "t"],
        ["31_1", "Q0", "d", "1", "1,5", "t"], ["31_1", "Q0", "d", "1", "0x10", "t"], ["31_1", "Q0", "d", "0x1", "1", "t"],
        ["31_1", "Q0", "d", "1.0", "1", "t"], ["31_1", "Q0", "d", "9" * 19, "1", "t"], ["31_1", "Q0", "d"],
        ["31_1"], ["31_1", "Q0", "d", "1", "1"], ["31_1", "Q0", "d\0", "1", "1", "t"], ["31_1", "Q0", "d", "1", "1\0", "t"],
        ["31\udce9", "Q0", "d", "1", "1", "t"], ["x", "Q0", "x", "x", "1", "t"], ["x", "Q0", "x", "1", "x", "x"],
        ["", "\v", "31_1", "Q0", "d"], ["31_1\r31_2", "Q0", "d", "1"],
    ]
)  # fmt: skip


@st.composite
def files(
    draw: st.DrawFn, rows: st.SearchStrategy[list[str]]
) -> tuple[bytes, list[tuple[int, list[str]]], int, bool]:
    """Bytes of a file, its (line number, cells), its number of comments, and whether it has a header."""
    header = draw(st.booleans())
    lines: list[str] = []
    expected: list[tuple[int, list[str]]] = []
    comments = 0
    todo = draw(st.lists(rows, min_size=1, max_size=12))
    if header:
        todo.insert(
            0,
            draw(
                st.sampled_from(
                    [["query_id", "Q0", "passage_id", "1", "999", "x"], ["Topic", "iter", "doc"]]
                )
            ),
        )
    for i, cells in enumerate(todo):
        for line in draw(st.lists(skipped, max_size=2)):
            comments += line.startswith("#")
            lines.append(line + draw(line_ends))
        separator = draw(separators)
        lead = draw(edges)
        if not header or i:
            expected.append((len(lines) + 1, cells))
        lines.append(lead + separator.join(cells) + draw(edges) + draw(line_ends))
    if draw(st.booleans()):
        lines[-1] = lines[-1].rstrip("\r\n")
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return (mark + "".join(lines)).encode("utf-8", "surrogateescape"), expected, comments, header


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("columns") / "file"


def pieces_of(size: int) -> AbstractContextManager[Any]:
    return mock.patch.object(
        module, "line_chunks", lambda path, _, longest: line_chunks(path, size, longest)
    )


def read(path: Path, layout: Layout, size: int, fast: bool) -> Columns | str:
    """What was read, or the message, with pieces of ``size`` bytes and with or without the fast reader."""
    with pieces_of(size):
        try:
            if fast:
                return read_columns(path, layout)
            with mock.patch.object(module, "_read_regular", return_value=None):
                return read_columns(path, layout)
        except InputError as error:
            return f"{error.total}\n{error}"


def values(columns: Columns) -> dict[str, list[Any]]:
    found = {}
    for name, column in columns.values.items():
        found[name] = column.texts() if isinstance(column, Ids) else column.tolist()
    return found | {"turn": [columns.labels[code] for code in found["turn"]]}


sizes = st.integers(1, 40) | st.just(1 << 20)


@settings(deadline=None)
@given(file=files(run_rows), size=sizes, fast=st.booleans())
def test_what_was_written_is_read_by_both_readers_in_pieces_of_any_size(
    scratch: Path, file: tuple, size: int, fast: bool
) -> None:
    content, expected, comments, header = file
    scratch.write_bytes(content)
    columns = read(scratch, RUN, size, fast)
    assert isinstance(columns, Columns), columns
    with np.errstate(over="ignore"):
        scores = np.array([float(cells[4]) for _, cells in expected], np.float32)
    assert values(columns) == {
        "turn": [cells[0] for _, cells in expected],
        "document": [cells[2] for _, cells in expected],
        "score": scores.tolist(),
        "rank": [int(cells[3]) for _, cells in expected],
    }
    assert (columns.comments, columns.header) == (comments, header)
    assert list(columns.labels) == list(dict.fromkeys(cells[0] for _, cells in expected)), (
        "each once, in order of first appearance"
    )
    with pieces_of(size):
        assert [line_of_row(scratch, row) for row in range(len(expected))] == [
            number for number, _ in expected
        ]


@settings(deadline=None)
@given(file=files(run_rows | broken_rows), size=sizes)
@example(file=(b"31_1 Q0 d\n31_1 Q0 d",), size=1)  # only the second of two equal lines is cut
def test_both_readers_see_the_same_problems(scratch: Path, file: tuple, size: int) -> None:
    scratch.write_bytes(file[0])
    reference = read(scratch, RUN, 1 << 20, fast=False)
    got = read(scratch, RUN, size, fast=True)
    if isinstance(reference, str):
        assert got == reference
    else:
        assert isinstance(got, Columns)
        assert values(got) == values(reference)


@settings(deadline=None)
@given(
    rows=st.lists(
        st.tuples(labels, labels, st.sampled_from(["0", "-2", "+4", "0x1", "1.0", "2", "a", ""])),
        min_size=1,
    ),
    size=sizes,
)
def test_both_readers_agree_on_qrels(
    scratch: Path, rows: list[tuple[str, str, str]], size: int
) -> None:
    assume(starts_right([rows[0][0]]))
    scratch.write_bytes(
        "".join(f"{turn} 0 {document} {grade}\n" for turn, document, grade in rows).encode()
    )
    reference, got = (
        read(scratch, QRELS, 1 << 20, fast=False),
        read(scratch, QRELS, size, fast=True),
    )
    if isinstance(reference, str):
        assert got == reference
    else:
        assert isinstance(got, Columns)
        assert values(got) == values(reference)


def test_a_regular_file_goes_the_fast_way(scratch: Path) -> None:
    regular = [
        "31_1 Q0 d1 1 2.5 t\n31_1 Q0 d2 2 1.5 t\n",
        "\ufeff# comment\r\n31_1\tQ0\td1\t0\t2.5\tmy tag\r\n\r\n31_1\tQ0\td2\t0\t1.5\tmy tag\r\n",
        "query_id Q0 passage_id 1 999 run.txt extra\n  31_1   Q0  d1    -1 -2.5   t  \n",
    ]
    for content in regular:
        scratch.write_bytes(content.encode())
        with mock.patch.object(module, "_read_lines", side_effect=AssertionError("the slow way")):
            read_columns(scratch, RUN)


def problems(path: Path, content: bytes, layout: Layout = RUN) -> list[str]:
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_columns(path, layout)
    return [line.removeprefix(f"{path}") for line in str(error.value).split("\n")]


def test_every_malformed_line_is_listed_with_its_number_and_what_stands_there(
    scratch: Path,
) -> None:
    content = (
        b"# comment\r\n"
        b"31_1 Q0 d1 1 2.5 t\n"
        b"31_1 Q0 d2 2 high t\n"
        b"\n"
        b"31_1 Q0 d3 3\n"
        b"31_1\n"
        b"31_1 Q0 d4 4 nan t\n"
        b"31_1 Q0 d5 five 1 t\n"
        b"31_1 Q0 caf\xe9 6 1 t\n"
        b"31_1 Q0 d\x007 7 1 t\n"
        b"x x x x 1 x\n"
    )
    assert problems(scratch, content) == [
        ":3: score 'high' is not a number; write a decimal number",
        ":5: 4 columns, but a run has 6 (turn Q0 document rank score tag); the advice",
        ":6: 1 column, but a run has 6 (turn Q0 document rank score tag); the advice",
        ":7: score 'nan' is not a number; write a decimal number",
        ":8: rank 'five' is not a whole number; write a whole number",
        ":9: document 'caf\ufffd' is not UTF-8; save the file as UTF-8",
        ":10: document 'd\\x007' is not text; the file seems to be binary",
        ":11: rank 'x' is not a whole number; write a whole number",
    ]


def test_twenty_problems_are_listed_and_all_are_counted(scratch: Path) -> None:
    lines = problems(
        scratch,
        b"31_1 Q0 d 1 2 t\n" * 5 + b"".join(b"31_1 Q0 d 1 x%d t\n" % i for i in range(1000)),
    )
    assert len(lines) == 21
    assert [line.split(":")[1] for line in lines[:20]] == [str(number) for number in range(6, 26)]
    assert lines[20] == "… and 980 more problems"


def test_many_problems_alike_are_said_once(scratch: Path) -> None:
    few, many = (problems(scratch, b"31_1 Q0 d 1 x t\n" * count) for count in (5, 6))
    assert [line.split(":")[1] for line in few] == ["1", "2", "3", "4", "5"]
    assert many == [
        ":1: score 'x' is not a number; write a decimal number (the same in 5 more lines)"
    ]


def test_too_many_columns_matter_only_where_no_tag_may_hold_spaces(scratch: Path) -> None:
    content = b"31_1 0 d 1 more\n"
    assert problems(scratch, content, QRELS) == [
        ":1: 5 columns, but a qrels file has 4 (turn iteration document grade); the advice"
    ]
    scratch.write_bytes(b"31_1 Q0 d 1 2 my long tag\n")
    assert len(read_columns(scratch, RUN)) == 1


@pytest.mark.parametrize("count", [1, 5], ids=["one row", "all rows"])
def test_a_passage_id_with_a_space_is_no_tag_with_a_space(scratch: Path, count: int) -> None:
    """Its second part would be the rank, and the rank the score."""
    content = b"31_1 Q0 a 1 9 t\n" * (5 - count) + b"31_1 Q0 my passage 2 8 t\n" * count
    found = "7 columns, but a run has 6 (turn Q0 document rank score tag); the advice"
    for layout in (
        RUN,
        RUN._replace(kinds={name: kind for name, kind in RUN.kinds.items() if name != "rank"}),
    ):
        assert problems(scratch, content, layout) == [
            f":{line}: {found}" for line in range(6 - count, 6)
        ]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", ": the file is empty"),
        (b"\n \n\t\r\n", ": the file has no rows"),
        (b"# only\n# comments\n", ": the file has no rows"),
        (b"query_id Q0 document rank score tag\n", ": the file has no rows"),
    ],
)
def test_a_file_without_rows(scratch: Path, content: bytes, found: str) -> None:
    assert problems(scratch, content) == [
        f"{found}; write lines of: turn Q0 document rank score tag"
    ]


def test_utf16_without_a_mark_is_binary(scratch: Path) -> None:
    assert problems(scratch, "31_1 Q0 d 1 2 t\n".encode("utf-16-le"))[0] == (
        ":1: turn '3\\x001\\x00_\\x001\\x00' is not text; the file seems to be binary"
    )


def test_header_is_known_by_its_first_word_and_only_in_the_first_row(scratch: Path) -> None:
    scratch.write_bytes(
        b"# made by x\n\n" * 300 + b"Query_ID Q0 passage_id 1 999 res.txt\n31_1 Q0 d 1 2 t\n"
    )
    columns = read_columns(scratch, RUN)
    assert (len(columns), columns.header, columns.comments) == (1, True, 300)
    scratch.write_bytes(b"31_1 Q0 d 1 2 t\nquery Q0 d 1 2 t\n")
    assert list(read_columns(scratch, RUN).labels) == ["31_1", "query"]


def test_line_of_row_beyond_the_end(scratch: Path) -> None:
    scratch.write_bytes(b"31_1 Q0 d 1 2 t\n")
    with pytest.raises(IndexError):
        line_of_row(scratch, 1)


def test_a_row_that_is_neither_regular_nor_utf8_is_told_and_nothing_else(
    scratch: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scratch.write_bytes(b"1_1 Q0 a 1 9 t\n1_1 Q0 caf\xe9 2 8\n")
    with pytest.raises(InputError, match="file:2: 5 columns, but a run has 6"):
        read_columns(scratch, RUN)
    assert capfd.readouterr() == ("", "")


def test_a_line_of_columns_is_not_longer_than_a_piece(scratch: Path) -> None:
    scratch.write_bytes(gzip.compress(b"1_1 Q0 a 1 9 t\n" + bytes(3 << 20)))
    with pytest.raises(InputError) as error:
        read_columns(scratch, RUN)
    assert (
        str(error.value)
        == f"{scratch}:2: this line is longer than 1 MiB; check that this is the right file"
    )


def test_a_carriage_return_inside_a_line_hides_no_row(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(
        b"1_1 Q0 d1 1 9.5 t\n1_1 Q0 d2 2 8.5 t\r1_1 Q0 d3 3 7.5 t\n1_2 Q0 d1 1 9.5 t\r\n"
    )
    with pytest.raises(InputError) as error:
        read_columns(path, RUN)
    assert (
        str(error.value)
        == f"{path}:2: a carriage return inside the line; save the file with LF or CRLF line ends"
    )


def test_a_carriage_return_inside_the_header_hides_no_row(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"query_id Q0 docno rank score tag\r1_1 Q0 d1 1 9.5 t\n1_1 Q0 d2 2 8.5 t\n")
    with pytest.raises(InputError, match=":1: a carriage return inside the line"):
        read_columns(path, RUN)


def test_json_is_no_table_even_where_its_words_fit(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text('{"id": "d1", "contents": "Text 7 of bread"}\n')
    with pytest.raises(InputError) as error:
        read_columns(
            path, RUN._replace(kinds={"turn": "label", "document": "text", "score": "single"})
        )
    assert (
        str(error.value)
        == f"{path}:1: JSON, not a run; write lines of: turn Q0 document rank score tag"
    )


def test_no_changed_byte_makes_the_two_readers_differ(scratch: Path) -> None:
    """What a reader that assumes much gets wrong first: one byte of a regular file replaced, taken out or put in."""
    random = Random(19)
    lines = [
        f"31_{turn} Q0 MARCO_{turn * 977 + rank} {rank} {12.5 - rank / 7:.5f} tag"
        for turn in (1, 2)
        for rank in range(4)
    ]
    content = (
        "\n".join([*lines, "31_3 Q0 d\u00e9 1 -1e3 t", "31_3 Q0 e 2 3.7593469619750977 t"]) + "\n"
    ).encode()
    interesting = b" \t\n\r\v\f\0#._-+eE09\x80\xc3\xff\x1f{"
    for _ in range(CHANGES):
        place, byte = (
            random.randrange(len(content)),
            bytes([random.choice([*interesting, random.randrange(256)])]),
        )
        end = place + random.randrange(2)
        scratch.write_bytes(content[:place] + random.choice([byte, byte, b""]) + content[end:])
        found, reference = (read(scratch, RUN, 1 << 20, fast) for fast in (True, False))
        if isinstance(reference, str):
            assert found == reference
        else:
            assert isinstance(found, Columns) and values(found) == values(reference)
