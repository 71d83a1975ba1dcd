"""What must not matter: the order of lines and columns, line ends, compression, threads, the environment. No number changes."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import math
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from robustcs.cli.main import run
from tests.conftest import options_of

#: Command lines on the demo collection.
LINES = (
    "breakdown", "breakdown --metric f1", "sweep --metric ndcg_cut_3", "correlate", "unjudged --scope run", "augment",
    "augment --leave-one-out", "augment --what-if 5 --metric ndcg_cut_3", "robustness", "clariq", "agreement",
    "agreement annotations/ratings.csv", "crowd", "diversity", "paraphrase", "testsets",
    "testsets --clean", "judge", "passages",
)  # fmt: skip
#: Those that read files of other kinds than those before them; of the rest only ``make test-long`` changes the files.
SOME = tuple(
    line
    for line in LINES
    if line.split()[0] not in ("sweep", "correlate", "augment", "robustness", "judge")
)
#: Those that read several files at the same time.
THREADED = tuple(
    line for line in LINES if any("--jobs" in option.opts for option in options_of(line.split()[0]))
)
#: Command line → table → rows.
Tables = dict[str, dict[str, list[Any]]]
Change = Callable[[Path, bytes], bytes]


def tables(folder: Path, lines: Sequence[str] = LINES, *options: str) -> Tables:
    """All tables of all commands on the project in ``folder``."""
    found: Tables = {}
    with contextlib.chdir(folder):
        for command in lines:
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run([*shlex.split(command), "--format", "json", *options])
            assert code == 0, f"{command}: {err.getvalue()}"
            found[command] = json.loads(out.getvalue())["tables"]
    return found


#: Drawn at random in the order of the file, until that order is taken out of them.
DRAWING_COMMANDS = ("augment --what-if 5 --metric ndcg_cut_3",)


def without_draws(found: Tables) -> Tables:
    """The tables without what is drawn in the order of the file."""
    return {command: parts for command, parts in found.items() if command not in DRAWING_COMMANDS}


def different(one: Tables, other: Tables) -> list[str]:
    """The tables that differ, whatever the order of their rows, with the first rows in which they do."""
    assert one.keys() == other.keys()
    found = []
    for command in one:
        assert one[command].keys() == other[command].keys()
        for name, rows in one[command].items():
            ours, theirs = (sorted(some, key=_sort_key) for some in (rows, other[command][name]))
            if len(ours) != len(theirs):
                found.append(f"{command}, {name}: {len(ours)} rows and {len(theirs)}")
            pair = next(
                (pair for pair in zip(ours, theirs, strict=False) if not _same(*pair)), None
            )
            if pair:
                found.append(f"{command}, {name}: {pair[0]} and {pair[1]}")
    return found


def _sort_key(row: dict[str, Any]) -> str:
    # the last bits of a sum may depend on its order
    return json.dumps(
        {
            name: round(value, 9) if isinstance(value, float) else value
            for name, value in row.items()
        }
    )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
    return bool(one == other)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, demo: Path) -> Path:
    target = tmp_path_factory.mktemp("metamorphic") / "demo"
    shutil.copytree(demo, target, ignore=shutil.ignore_patterns("*.py", "*.md"))
    return target


@pytest.fixture(scope="module")
def plain(folder: Path) -> Callable[[Sequence[str]], Tables]:
    """The tables of lines on the files as they are, each computed once."""
    known: Tables = {}

    def of(lines: Sequence[str]) -> Tables:
        known.update(tables(folder, [line for line in lines if line not in known]))
        return {line: known[line] for line in lines}

    return of


# ---------------------------------------------------------------- changes that mean nothing


def _headed(path: Path) -> bool:
    return path.suffix in (".tsv", ".csv")


def shuffled(path: Path, data: bytes) -> bytes:
    """The lines in another order, below a header; not where their order decides: which paraphrase is drawn, which of two
    equally similar annotators counts."""
    if path.suffix in (".json", ".toml") or path.name in (
        "paraphrases.csv",
        "workers.jsonl",
        "experts.jsonl",
    ):
        return data
    lines = data.splitlines(keepends=True)
    head = lines[: _headed(path)]
    return b"".join(head + Random(7).sample(lines[len(head) :], len(lines) - len(head)))


def other_line_ends(path: Path, data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def packed(path: Path, data: bytes) -> bytes:
    return data if path.suffix == ".toml" else gzip.compress(data)


def marked(path: Path, data: bytes) -> bytes:
    """A byte order mark in front, and more white space between columns."""
    return b"\xef\xbb\xbf" + (
        data.replace(b" ", b" \t ") if path.suffix in (".trec", ".txt") else data
    )


def other_columns(path: Path, data: bytes) -> bytes:
    """Columns and fields the other way round, where their names stand in the file."""
    text = data.decode()
    if path.suffix == ".jsonl":
        records = [json.loads(line) for line in text.splitlines()]
        return "".join(
            json.dumps(dict(reversed(record.items()))) + "\n" for record in records
        ).encode()
    if path.suffix == ".tsv":
        return "".join(
            "\t".join(reversed(line.split("\t"))) + "\n" for line in text.splitlines()
        ).encode()
    if path.suffix == ".csv":
        out = io.StringIO()
        csv.writer(out).writerows(list(reversed(row)) for row in csv.reader(io.StringIO(text)))
        return out.getvalue().encode()
    return data


def everything(path: Path, data: bytes) -> bytes:
    for change in (shuffled, other_columns, other_line_ends, marked, packed):
        data = change(path, data)
    return data


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        pytest.param(everything, SOME, id="everything-some"),
        *(
            pytest.param(one, LINES, id=f"{one.__name__}-all", marks=pytest.mark.long)
            for one in (everything, shuffled, other_columns, other_line_ends, packed, marked)
        ),
    ],
)
def test_other_forms_of_the_files(
    change: Change,
    lines: Sequence[str],
    folder: Path,
    plain: Callable[[Sequence[str]], Tables],
    tmp_path: Path,
) -> None:
    copy = tmp_path / "demo"
    shutil.copytree(folder, copy)
    changed = 0
    for path in copy.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            path.write_bytes(change(path, data))
            changed += path.read_bytes() != data
    assert changed >= 5
    before, after = plain(lines), tables(copy, lines)
    if change in (shuffled, everything):
        before, after = without_draws(before), without_draws(after)
    assert different(before, after) == []


#: Commands that join runs with judgments, or rankings with each other.
OF_RUNS = (
    "evaluate --metric ndcg_cut_3 --metric map", "breakdown", "sweep --metric ndcg_cut_3", "correlate", "unjudged --scope run",
    "augment", "robustness", "audit", "judge", "compare ../first .",
)  # fmt: skip


@pytest.mark.parametrize(
    "lines", [OF_RUNS[::3], pytest.param(OF_RUNS, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_passages_are_evaluated_as_their_documents(
    folder: Path, tmp_path: Path, lines: Sequence[str]
) -> None:
    """Runs of passages ``DOC-N``, two of each document: with ``documents`` every command gives what the documents give."""
    for name in ("first", "same", "passages"):
        shutil.copytree(folder, tmp_path / name)
    copy = tmp_path / "passages"
    for path in (copy / "runs").iterdir():
        rows = [line.split() for line in path.read_text().splitlines()]
        best = [
            f"{turn} Q0 {document}-1 {rank} {score} t" for turn, _, document, rank, score, _ in rows
        ]
        worse = [
            f"{turn} Q0 {document}-22 {rank} -{rank} t" for turn, _, document, rank, *_ in rows
        ]
        path.write_text("\n".join([*worse, *best]))
    config = copy / "robustcs.toml"
    config.write_text(config.read_text().replace("[policy]", "[policy]\ndocuments = true"))
    expected, found = tables(tmp_path / "same", lines), tables(copy, lines)
    changed = {row["state"] for row in found[lines[-1]].pop("inputs")}
    assert changed == {"same", "changed"} and expected[lines[-1]].pop("inputs")
    assert different(expected, found) == []
    config.write_text(config.read_text().replace("documents = true", ""))
    assert tables(copy, lines[:1], "--documents")[lines[0]] == found[lines[0]]


@pytest.mark.parametrize(
    "lines", [THREADED[::3], pytest.param(THREADED, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_threads(
    folder: Path, plain: Callable[[Sequence[str]], Tables], lines: Sequence[str]
) -> None:
    assert len(THREADED) > 5
    assert different(plain(lines), tables(folder, lines, "--jobs", "3")) == []


@pytest.mark.parametrize(
    "lines", [LINES[:6:3], pytest.param(LINES, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_environment(
    folder: Path, plain: Callable[[Sequence[str]], Tables], lines: Sequence[str]
) -> None:
    """Locale, seed of hashes, time zone, working in UTF-8 or not, and the processor that OpenBLAS computes for, all changed.

    Processors add in different orders. Written numbers are rounded, so that they are equal nevertheless.
    """
    environment = {
        **os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHASHSEED": "4242",
        "TZ": "Pacific/Kiritimati", "COLUMNS": "37", "PYTHONPATH": str(Path(__file__).parent.parent),
        "OPENBLAS_CORETYPE": "Prescott",
    }  # fmt: skip
    program = "import json, pathlib, sys; from tests.test_metamorphic import tables;" \
              " print(json.dumps(tables(pathlib.Path(sys.argv[1]), sys.argv[2:])))"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), *lines],
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(plain(lines)))
