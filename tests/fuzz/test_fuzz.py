"""Mutated files of every format: a value or a clear refusal, nothing else, and never a value with another meaning.

The suite tries the same mutations of every format each time, ``make test-long`` more of them. ``make fuzz`` goes on with new
ones for ``$FUZZ_SECONDS`` and writes what it finds, made small, to ``corpus/``, where the suite tries it from then on.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import time
from itertools import cycle
from pathlib import Path
from random import Random

import pytest

import robustcs.inputs
from tests.fuzz.formats import FORMATS
from tests.fuzz.harness import CORPUS, find, keep, smaller
from tests.fuzz.mutators import mutate

#: The first and the last mutation of every format in the suite.
CASES = [pytest.param(0, 30, id="30"), pytest.param(30, 200, id="the rest", marks=pytest.mark.long)]
_SEED = 20260
#: Endings by which some readers could tell files apart; none may.
_NAME = "file.txt"
FINDINGS = sorted(path for path in CORPUS.iterdir() if "--" in path.name)


def test_every_reader_has_a_format() -> None:
    # readings keeps what the other modules read
    names = [
        one.name
        for one in pkgutil.iter_modules(robustcs.inputs.__path__, "robustcs.inputs.")
        if not one.name.endswith(".readings")
    ]
    modules = [importlib.import_module(name) for name in names]
    readers = {
        value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("read_")
        and inspect.isfunction(value)
        and value.__module__ == module.__name__
    }
    assert readers - {reader for form in FORMATS.values() for reader in form.readers} == set()


@pytest.mark.parametrize("name", FORMATS)
def test_valid_examples_are_read(name: str, tmp_path: Path) -> None:
    random = Random(_SEED)
    for example in FORMATS[name].examples:
        for _ in range(10):
            (tmp_path / _NAME).write_text(example(random), encoding="utf-8")
            FORMATS[name].read(tmp_path / _NAME)


@pytest.mark.parametrize("finding", FINDINGS, ids=[path.name for path in FINDINGS])
def test_what_was_found_once_stays_mended(finding: Path, tmp_path: Path) -> None:
    name = finding.name.partition("--")[0]
    found = find(FORMATS[name], tmp_path / _NAME, finding.read_bytes())
    assert found is None, found


@pytest.mark.parametrize(("first", "last"), CASES)
@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files(name: str, first: int, last: int, tmp_path: Path) -> None:
    form, random = FORMATS[name], Random(f"{_SEED} {name}")
    found = {}
    for case in range(last):
        data = mutate(random, random.choice(form.examples)(random).encode())
        if case < first:
            continue
        finding = find(form, tmp_path / _NAME, data)
        if finding is not None:
            found.setdefault(finding.key, f"case {case}: {finding.detail}\n{data[:300]!r}")
    assert not found, "\n\n".join(f"{key}\n{detail}" for key, detail in found.items())


@pytest.mark.skipif(
    "FUZZ_SECONDS" not in os.environ, reason="runs with FUZZ_SECONDS=N, as make fuzz does"
)
def test_new_mutations(tmp_path: Path) -> None:
    end = time.monotonic() + float(os.environ["FUZZ_SECONDS"])
    seed = int(os.environ.get("FUZZ_SEED", time.time_ns()))
    random, cases = Random(seed), 0
    found: dict[tuple[str, str], Path] = {}
    for name in cycle(FORMATS):
        if time.monotonic() > end:
            break
        form = FORMATS[name]
        for _ in range(50):
            cases += 1
            data = mutate(random, random.choice(form.examples)(random).encode())
            finding = find(form, tmp_path / _NAME, data)
            if finding is not None and (name, finding.key) not in found:
                found[name, finding.key] = keep(
                    name, smaller(form, tmp_path / _NAME, data, finding.key), finding
                )
    print(f"{cases} mutations with FUZZ_SEED={seed}, {len(found)} findings")
    assert not found, "\n".join(map(str, found.values()))
