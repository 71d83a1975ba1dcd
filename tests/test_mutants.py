"""``bench/mutants.py``: what it changes, and that a change which no test notices is told."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from bench import mutants
from tests.conftest import ROOT


@pytest.mark.parametrize("name", ["evaluation/answers.py", "studies/crowd/findings.py"])
def test_each_mutant_is_another_program(name: str) -> None:
    source = (ROOT / "robustcs" / name).read_bytes()
    every = mutants.mutants(Path(name))
    texts = [mutants.changed(one, source)[0] for one in every]
    assert len(texts) > 10 and ast.unparse(ast.parse(source)) not in texts
    for text in texts:
        compile(text, name, "exec")


def test_kinds_of_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = (
        "def f(x: int, row, best, worst) -> float:\n    if not x < 2 and row['p_corrected'] <= .05:\n"
        "        return x + max(1, 2)\n    raise ValueError(1 + 1)\ng = f'{best.iloc[0].ci_low}' + 'text'\nh = worst\n"
    )
    (tmp_path / "robustcs" / "studies").mkdir(parents=True)
    (tmp_path / "robustcs" / "studies" / "findings.py").write_text(source)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    mutants._names.cache_clear()
    found = {
        mutants.changed(one, source.encode())[0]
        for one in mutants.mutants(Path("studies/findings.py"))
    }
    for part in (
        "not not x < 2", "x <= 2", "x >= 2", " or row", "row['p']", "< 0.05", "> 0.05", "<= 0.1", "x - max", "min(1, 2)",
        "return -(x + max(1, 2))", "best.iloc[-1]", "worst.iloc[0]", "ci_high",
    ):  # fmt: skip
        assert sum(part in text for text in found) == 1, part
    assert all("raise ValueError(1 + 1)" in text and "'text'" in text for text in found)


@pytest.mark.long
def test_a_change_that_a_test_notices_is_killed() -> None:
    command = [
        sys.executable,
        "bench/mutants.py",
        "--sample",
        "1",
        "--rooms",
        "robustcs/statistics/families.py",
    ]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600
    )
    assert (
        ended.stdout.startswith("1 of ")
        and "1 of 1 mutants killed (100.0%), 0 of them by the time limit" in ended.stdout
    )
    assert ended.stderr.count(" killed ") == 1
