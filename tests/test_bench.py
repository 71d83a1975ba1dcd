"""The benchmark on small inputs: all tools at hand do the same work, and its tables say what was measured."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bench.pages import between
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """``bench/run.py``, whose modules import each other as scripts do."""
    sys.path.append(str(ROOT / "bench"))
    try:
        return importlib.import_module("bench.run")
    finally:
        sys.path.remove(str(ROOT / "bench"))


@pytest.fixture(autouse=True)
def byte_code(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """That which is there, not all of it anew."""
    monkeypatch.setattr(
        bench,
        "environment",
        lambda cache: dict(os.environ, PYTHONPATH=str(ROOT), NUMBA_CACHE_DIR=str(cache)),
    )


@pytest.mark.parametrize(
    ("name", "tools"), [("cast", {"pytrec_eval", "columns"}), ("sweep", {"notebook"})]
)
def test_tools_print_the_same_numbers(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, tools: set[str]
) -> None:
    absent = bench.absent
    # compiles for half a minute
    monkeypatch.setattr(bench, "absent", lambda tool: tool.startswith("ranx") or absent(tool))
    found = bench.measured(bench.ROWS[name], 1, None, tmp_path, set(), tiny=True)
    assert {"robustcs", *tools} <= set(found["costs"])
    known = {"ir_measures", "ranx, cold", "ranx, warm", "trectools"}
    assert {tool for tool, why in found["told"].items() if why == "not installed"} <= known
    wall, cpu, memory = found["costs"]["robustcs"]
    assert wall > 0 and cpu > 0 and memory > 20, "numpy alone takes more"


def test_a_tool_with_other_numbers_ends_it(bench: ModuleType, tmp_path: Path) -> None:
    def commands(folder: Path, c: str | None) -> dict[str, list[str]]:
        return {"robustcs": ["echo", "0.5"], "pytrec_eval": ["echo", "0.6"]}

    row = bench.Row(
        "a row", "scores 2 2", "scores 2 2", commands, lambda tool, output: [float(output)]
    )
    with pytest.raises(SystemExit, match="a row: pytrec_eval prints other numbers"):
        bench.measured(row, 1, None, tmp_path, set(), tiny=True)


def test_a_tool_that_fails_is_told(bench: ModuleType, tmp_path: Path) -> None:
    def commands(folder: Path, c: str | None) -> dict[str, list[str]]:
        return {"robustcs": ["echo", "0.5"], "notebook": ["sh", "-c", "echo broken >&2; exit 3"]}

    row = bench.Row(
        "a row", "scores 2 2", "scores 2 2", commands, lambda tool, output: [float(output)]
    )
    found = bench.measured(row, 1, None, tmp_path, set())
    assert set(found["costs"]) == {"robustcs"}
    assert found["told"]["notebook"].endswith("failed: broken")


def _results(one_turn: float, theirs: float) -> dict[str, dict[str, object]]:
    common = {"repeats": 3, "load": 1.25, "with": "2 cores, numpy 2", "told": {}, "earlier": []}
    costs = {
        "robustcs": [0.3, one_turn, 29.0],
        "pytrec_eval": [0.4, theirs, 40.0],
        "columns": [0.1, 0.05, 60.0],
    }
    return {"one-turn": {**common, "costs": costs}}


def test_aims_are_told_with_what_is_behind(bench: ModuleType) -> None:
    met = "\n".join(bench.aims(_results(0.07, 0.1)))
    assert "| less CPU time than every Python tool, in every row | met |  |" in met
    assert "| one turn within 0.08 CPU s | met |  |" in met
    assert "trec_eval" not in met and "import click" not in met, "nothing of the kind was measured"
    missed = "\n".join(bench.aims(_results(0.12, 0.1)))
    assert (
        "every Python tool, in every row | not met | one turn × 1000: robustcs 0.12, pytrec_eval 0.1 |"
        in missed
    )
    assert "reading the columns alone | not met | one turn × 1000: 2.40 times |" in missed
    assert "| one turn within 0.08 CPU s | not met | actual: 0.120 s |" in missed


def test_the_table_has_what_tools_take_beside_robustcs(bench: ModuleType) -> None:
    rows = bench.table(_results(0.1, 0.2))
    assert rows[0] == "2 cores, numpy 2."
    assert rows[-2] == "|  | pytrec_eval | 0.40 | 0.20 | 40 | 1.33 | 2.00 | 1.38 |  |  |"
    assert (
        rows[-3]
        == "| one turn × 1000 | robustcs | 0.30 | 0.10 | 29 | 1.00 | 1.00 | 1.00 | 3 | 1.2 |"
    )


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("make")), reason="no compiler of C")
def test_trec_eval_is_built_from_a_folder_of_source(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source of it"
    source.mkdir()
    (source / "trec_eval.c").write_text("int main(void) { return 0; }\n")
    (source / "Makefile").write_text("trec_eval: trec_eval.c\n\t$(CC) -o trec_eval trec_eval.c\n")
    monkeypatch.setattr(
        shutil, "which", lambda name: None if name == "trec_eval" else f"/usr/bin/{name}"
    )
    assert bench.trec_eval(tmp_path) is None
    monkeypatch.setenv("TREC_EVAL_SOURCE", str(source))
    built = bench.trec_eval(tmp_path)
    assert built == str(tmp_path / "source" / "trec_eval")
    assert bench.run_once([built])[1] == ""
    assert sorted(path.name for path in source.iterdir()) == ["Makefile", "trec_eval.c"], (
        "nothing is written into it"
    )


def test_what_was_measured_is_what_the_page_says(bench: ModuleType) -> None:
    kept = json.loads(bench.RESULTS.read_text("utf-8"))
    page = (ROOT / "bench" / "README.md").read_text("utf-8")
    assert page == between(between(page, "results", bench.table(kept)), "aims", bench.aims(kept))
