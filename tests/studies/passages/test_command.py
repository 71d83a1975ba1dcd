"""``robustcs passages``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import Command


def test_a_project_needs_no_argument(in_demo: Command) -> None:
    out = in_demo("passages").out
    assert "Which passages should be annotated?" in out and max(map(len, out.splitlines())) <= 80
    found = json.loads(in_demo("passages --format json").out)
    assert found["policy"]["relevance_level"] == 2
    assert min(row["grade"] for row in found["tables"]["passages"]) == 2
    assert found["inputs"][1]["role"] == "collection"


def test_few_places_need_clusters(
    in_copy: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    subjects = ("sourdough", "tides", "coffee")
    lines = [f"1_1 0 {subject}_{number:02} 2\n" for subject in subjects for number in (1, 2, 3)]
    (tmp_path / "demo" / "few.txt").write_text("".join(lines))
    command = "passages --qrels few.txt --number 3 --format csv"
    first = in_copy(f"{command} --seed 1").out
    assert first == in_copy(f"{command} --seed 1").out != in_copy(f"{command} --seed 2").out
    assert [line.split(",")[2:5] for line in first.splitlines()[1:]] == [
        ["2", "cluster", str(n)] for n in (1, 2, 3)
    ]
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    answer = in_copy(command, code=4)
    assert answer.err.startswith("robustcs: scikit-learn cannot be imported (")
    assert answer.err.endswith("; install it with: pip install 'robustcs[passages]'\n")


def test_wrong_use(in_copy: Command, tmp_path: Path) -> None:
    no_grade = "no passage has a grade of 9 or more; lower --relevance-level"
    assert in_copy("passages --relevance-level 9", code=2).err == f"robustcs: {no_grade}\n"
    (tmp_path / "demo" / "foreign.tsv").write_text("x1\tA passage of another collection.\n")
    foreign = (
        "foreign.tsv contains none of the relevant passages; compare its passage ids with the qrels"
    )
    assert in_copy("passages --collection foreign.tsv", code=2).err == f"robustcs: {foreign}\n"
