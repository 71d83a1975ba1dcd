"""The format of what robustcs keeps, and its lock; tests/fuzz/test_stored.py damages what is kept."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest

from robustcs import stored
from robustcs.errors import OutputError
from robustcs.project.report_files import checksums, files_of_report
from robustcs.reporting.folder import write_report
from robustcs.stored import locked, sealed, typed, unsealed


@dataclass(frozen=True)
class Point:
    x: float
    name: str | None


class Named(TypedDict):
    of: Literal["a", "b"]


@pytest.mark.parametrize(
    "content",
    [{}, {"a": [1, 1.0, True, None, "é\ud800"], "b": {"c": {}}}, {"x": 0.1 + 0.2, "y": 10**40}],
)
def test_what_was_sealed_comes_back(content: dict[str, Any]) -> None:
    made = json.loads(json.dumps(sealed("f 1", content)))
    assert unsealed("f 1", made) == content
    assert unsealed("f 1", dict(reversed(made.items()))) == content, "the order of keys is no value"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": 2}, "its values do not match its checksum"), ({"a": 1.0}, "its values do not match"), ({"b": 1}, "do not match"),
        ({"a": True}, "do not match"), ({"sha256": ""}, "do not match"), ({"sha256": None}, "do not match"),
        ({"format": "f 2"}, "its format is 'f 2', not 'f 1'"), ({"format": [1]}, "its format is unknown, not 'f 1'"),
        ({"format": None}, "its format is unknown"),
    ],
)  # fmt: skip
def test_every_change_is_seen(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unsealed("f 1", sealed("f 1", {"a": 1}) | change)


def test_what_is_no_object_or_goes_too_deep() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value, message in (
        ([], "unknown"),
        (None, "unknown"),
        (sealed("f", {}) | {"a": deep}, "nested too deeply"),
    ):
        with pytest.raises(ValueError, match=message):
            unsealed("f", value)


@pytest.mark.parametrize(
    ("value", "shape", "found"),
    [
        ([["a", 1]], Sequence[tuple[str, int | None]], [("a", 1)]), ([1, 2], tuple[int, ...], (1, 2)), (3, float, 3),
        ({"x": 0.5, "name": None}, Point, Point(0.5, None)),
        ({"x": 1, "name": "n"}, Point | Named, Point(1, "n")),
        ({"of": "b"}, Point | Named, {"of": "b"}), ({"t": {"u": 1}}, Mapping[str, dict[str, int]], {"t": {"u": 1}}),
        ([{}], list[Any], [{}]),
    ],
)  # fmt: skip
def test_types(value: Any, shape: Any, found: Any) -> None:
    made = typed(value, shape)
    assert made == found and type(made) is type(found)


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ([["a", 1.0]], list[tuple[str, int]]), ([["a"]], list[tuple[str, int]]), ("ab", list[str]), (1, str), (True, int),
        (True, float), (float("nan"), float), (float("inf"), float), (10**400, float), ("1", float), (None, str),
        ({"x": 1}, Point), ({"x": 1, "name": "", "z": 1}, Point), ([], Point),
        ({"of": "c"}, Named), ({"of": ["a"]}, Named), ([1], Mapping[str, int]),
    ],
)  # fmt: skip
def test_other_types_are_refused(value: Any, shape: Any) -> None:
    with pytest.raises(ValueError, match="not those that robustcs writes"):
        typed(value, shape)


# ---------------------------------------------------------------- the lock


def test_a_second_one_waits_and_no_file_is_left(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with locked(tmp_path):
            order.append("second")

    with locked(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.2)
        order.append("first")
        assert not list(tmp_path.iterdir())
    thread.join(10)
    assert order == ["first", "second"]


def test_it_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "PATIENCE", 0.1)
    with (
        locked(tmp_path),
        pytest.raises(
            OutputError,
            match=rf"{re.escape(str(tmp_path))}: not written, another robustcs process .*; wait for that process, or",
        ),
        locked(tmp_path),
    ):
        pytest.fail("both have it")
    with locked(tmp_path):
        pass
    with pytest.raises(OutputError, match="its folder does not exist"), locked(tmp_path / "gone"):
        pass
    monkeypatch.setattr(stored, "fcntl", None)  # as on Windows
    with locked(tmp_path), locked(tmp_path):
        pass


def hold(folder: Path, ready: Any) -> None:
    with locked(folder):
        ready.set()
        time.sleep(60)


def test_a_killed_process_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "PATIENCE", 5)
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=hold, args=(tmp_path, ready))
    holder.start()
    assert ready.wait(30)
    os.kill(holder.pid or 0, signal.SIGKILL)
    holder.join()
    with locked(tmp_path):
        pass


def report_of(name: str) -> dict[str, bytes]:
    return {"report.html": name.encode()} | {
        f"tables/{name}-{number}.csv": name.encode() * 9 for number in range(20)
    }


def write_often(folder: Path, name: str) -> None:
    for _ in range(12):
        write_report(folder, report_of(name))


def test_two_reports_in_one_folder_leave_one_of_them_whole(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=write_often, args=(tmp_path / "out", name))
        for name in ("one", "two")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(120)
    assert [writer.exitcode for writer in writers] == [0, 0]
    whole = [
        name
        for name in ("one", "two")
        if checksums(report_of(name)).items() <= files_of_report(tmp_path / "out").items()
    ]
    files = {
        path.relative_to(tmp_path / "out").as_posix()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }
    assert len(whole) == 1 and files == {*report_of(whole[0]), "manifest.json"}
