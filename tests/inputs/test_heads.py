"""The first record of JSON, also where it does not end in what is read of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.inputs.heads import first_record

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=9,
)  # fmt: skip


@pytest.mark.parametrize("form", ["[{}, 5]", "{}\n{{}}\n", "{}", " \n[\n{}]"])
def test_the_first_record(tmp_path: Path, form: str) -> None:
    record = {"a": [1, {"b": '}]\\"'}], "c": "x"}
    (tmp_path / "file").write_text(form.format(json.dumps(record)))
    assert first_record(tmp_path / "file") == record


def test_a_record_longer_than_what_is_read(tmp_path: Path) -> None:
    record = {
        "conv_id": 1,
        "ctxs": [{"id": str(place), "text": "word " * 1000} for place in range(500)],
        "last": 1,
    }
    (tmp_path / "file").write_text(json.dumps([record]))
    found = first_record(tmp_path / "file")
    assert found is not None
    assert list(found) == ["conv_id", "ctxs"]
    assert found["ctxs"][:100] == record["ctxs"][:100]  # type: ignore[index]


@settings(deadline=None)
@given(
    record=st.dictionaries(st.text(max_size=3), VALUE, min_size=1, max_size=4),
    share=st.floats(0, 1),
)
def test_what_is_cut_has_a_part_of_what_was_there(
    tmp_path_factory: pytest.TempPathFactory, record: dict[str, Any], share: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut"
    text = json.dumps(record)
    path.write_text(text[: 1 + int(share * (len(text) - 1))])
    found = first_record(path)
    assert found is not None
    assert set(found) <= set(record)


@pytest.mark.parametrize(
    "text", ['{"a": 1, "b, c', '{"a": 1, "b": "c, [\\', '{"a": 1, "b": {"c": "}, \\"']
)
def test_what_is_cut_within_a_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    found = first_record(tmp_path / "file")
    assert found is not None
    assert found["a"] == 1


@pytest.mark.parametrize("text", ["", "5", '["a"]', "[[1]]", "{oops", '"text"'])
def test_what_has_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    assert first_record(tmp_path / "file") in (None, {})
