"""Files of properties of turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.scores import read_scores, read_slices
from tests.skipped_rows import without_count


def problem(folder: Path, text: str) -> str:
    path = folder / "slices.tsv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_slices(path)
    return without_count(caught.value).replace(str(path), "S")


def test_columns(tmp_path: Path) -> None:
    path = tmp_path / "slices.tsv"
    path.write_bytes(
        '\ufefftype\tQID\tsays "hard"\r\nwhat\t1_1\t yes\r\n\r\n\t1_2\tno\r\n'.encode()
    )
    assert read_slices(path) == {
        "type": {"1_1": "what"},
        'says "hard"': {"1_1": "yes", "1_2": "no"},
    }


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "exported.csv"
    path.write_text(",turn_id,kind,hits\n0,1_1,a,2\n1,1_2,b,0\n")
    assert read_slices(path) == {"kind": {"1_1": "a", "1_2": "b"}, "hits": {"1_1": "2", "1_2": "0"}}
    assert list(read_scores(path)) == ["hits"]


def test_a_real_file(shared_data: Path) -> None:
    found = read_slices(shared_data / "cast2020" / "rewrites" / "Human.tsv")
    assert all(len(column) == 216 for column in found.values()) and found


def test_messages(tmp_path: Path) -> None:
    assert problem(tmp_path, "topic\tx\n1\t2\n") == (
        "S:1: no column 'id'; the columns are: topic, x; rename one of them to id or qid or query_id or turn_id or turn"
        " or _id or sample_id or query-id or q_id"
    )
    assert problem(tmp_path, "turn\n1_1\n") == (
        "S:1: no column besides the turn ids; name every column in the first line, separated by tabs"
    )
    assert problem(tmp_path, "turn\tx\tx\n") == (
        "S:1: two columns have the same name; give every column its own name in the first line"
    )
    assert problem(tmp_path, "turn\tx\n1_1\n1_2\ta\n1_2\tb\n\ta\n") == (
        "S:2: 1 column, but the header has 2; complete the row or delete it\n"
        "S:4: turn 1_2 is already in line 3; give every turn one line\n"
        "S:5: no turn id; complete the row or delete it"
    )
    assert problem(tmp_path, "turn\tx\n") == "S: the file has no rows; check the path"
