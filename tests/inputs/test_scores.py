"""Per-turn scores as trec_eval -q prints them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robustcs.errors import InputError
from robustcs.inputs.scores import read_scores
from tests.skipped_rows import without_count


def write(folder: Path, content: str) -> Path:
    path = folder / "scores.txt"
    path.write_text(content)
    return path


def test_turns_are_in_natural_order_and_averages_are_left_out(tmp_path: Path) -> None:
    frame = read_scores(
        write(
            tmp_path,
            "# trec_eval\nP_1  \t31_10\t1.0000\nP_1  \t31_9\t0.0000\nmap\t31_9\t1e-1\n\r\n"
            "runid\tall\tmy own tag\nnum_q all 2\nP_1 all 0.5\n",
        )
    )
    assert list(frame.index) == ["31_9", "31_10"]
    assert list(frame.columns) == ["P_1", "map"]
    assert frame.index.name == "turn"
    assert frame["P_1"].tolist() == [0.0, 1.0]
    assert frame["map"].tolist()[0] == 0.1
    assert np.isnan(frame["map"]["31_10"]), "a measure that a turn lacks"


def test_every_problem_is_listed(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "P_1 31_1 0.5\nP_1 31_1 0.5\nP_1 31_2 high\nP_1 31_3 nan\nP_1 31_4 inf\nP_1 31_5 1_0\n31_1 0 d 1\n"
        "31_1 Q0 d 1 2 t\nP_1 31_1\nP_1\nask about this turn\n",
    )
    with pytest.raises(InputError) as error:
        read_scores(path)
    assert [line.removeprefix(str(path)) for line in without_count(error.value).split("\n")] == [
        ":2: P_1 of turn 31_1 is already in line 1; keep one of the two lines",
        ":3: P_1 of turn 31_2: 'high' is not a number; write a decimal number",
        ":5: P_1 of turn 31_4: 'inf' is not a number; write a decimal number",
        ":6: P_1 of turn 31_5: '1_0' is not a number; write a decimal number",
        ":7: 4 columns, but per-turn scores have 3 (measure turn value); write the output of trec_eval -q",
        ":8: 6 columns, but per-turn scores have 3 (measure turn value); write the output of trec_eval -q",
        ":9: 2 columns, but per-turn scores have 3 (measure turn value); write the output of trec_eval -q",
        ":10: 1 column, but per-turn scores have 3 (measure turn value); write the output of trec_eval -q",
        ":11: 4 columns, but per-turn scores have 3 (measure turn value); write the output of trec_eval -q",
    ]


@pytest.mark.parametrize("separator", [",", "\t", " "])
def test_one_column_of_any_name(tmp_path: Path, separator: str) -> None:
    frame = read_scores(write(tmp_path, separator.join(["query_id", "satisfaction\n1_1", "0.5\n"])))
    assert frame.to_dict() == {"satisfaction": {"1_1": 0.5}}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("P_1 all 0.5\n", "the file contains only averages (turn 'all')"),
        ("# nothing\n", "the file has no scores"),
        ("turn,kind\n1_1,a\n", "the file has no scores"),
    ],
)
def test_a_file_without_turns(tmp_path: Path, content: str, found: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        read_scores(path)
    assert str(error.value) == f"{path}: {found}; write per-turn scores with trec_eval -q"


@pytest.mark.parametrize(
    "name",
    ["original_query_metrics", "human_query_metrics", "Transformer_Plus_Plus_Q_query_metrics"],
)
def test_real_scores_average_to_their_own_all_row(shared_data: Path, name: str) -> None:
    path = shared_data / "cast2019" / "qrqa" / f"{name}.txt"
    frame = read_scores(path)
    assert len(frame) == 173
    averages = {
        cells[0]: float(cells[2])
        for cells in map(str.split, path.read_text().splitlines())
        if cells[1] == "all"
    }
    assert {"P_1", "ndcg_cut_3", "map"} <= set(averages)
    for measure in ("P_1", "ndcg_cut_3", "map"):
        assert frame[measure].mean() == pytest.approx(averages[measure], abs=1e-4)


def test_authors_overlap_file_has_every_turn(shared_data: Path) -> None:
    frame = read_scores(shared_data / "cast2019" / "qrqa" / "answer_overlap_r1000.txt")
    assert frame.shape == (479, 1)
    assert frame["overlap_1000"].between(0, 1).all()


def test_digits_of_other_scripts_are_no_number_here_either(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=":1: P_1 of turn 31_1: '１' is not a number"):
        read_scores(write(tmp_path, "P_1 31_1 １\n"))
