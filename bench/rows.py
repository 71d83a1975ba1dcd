"""Rows of the benchmark: the inputs, the tools that do the same work, and the comparison of their output."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

from measure import ROOT
from tools import MEASURES, TOOLS

HERE = Path(__file__).parent
CLI = [sys.executable, str(ROOT / "cli.py")]
#: Tools that follow trec_eval; their numbers must equal those of robustcs. Others order ties differently, as the table says.
ALIKE = ("robustcs, function", "trec_eval", "pytrec_eval", "ir_measures", "notebook", "package")
#: Lower limits, which do only a part of the work; no aim compares with them.
LIMITS = ("columns", "import click")
#: Tool → the package that it needs.
NEEDS = {"ranx, cold": "ranx", "ranx, warm": "ranx", "columns": "pyarrow"}

Commands = dict[str, list[str]]
#: Numbers printed by a tool.
Numbers = Sequence[float]


@dataclass(frozen=True)
class Row:
    """One row.

    label
        Name of the row in the table.
    made, tiny
        Arguments of ``collection.py`` for the measured input and for a small input of the same kind.
    commands
        Folder of the input, trec_eval or None → tool → command.
    read
        Tool, output → the numbers that all tools must print.
    within
        Largest allowed difference between tools, from printed digits or random draws.
    large
        An evaluation of 500 × 1000 lines or more.
    growth
        Name of the figure and position on its axis, if the row is a point of a figure.
    """

    label: str
    made: str
    tiny: str
    commands: Callable[[Path, str | None], Commands]
    read: Callable[[str, str], Numbers]
    within: float = 1e-4
    large: bool = False
    repeats: int = 5
    growth: tuple[str, int] | None = None


def trec_eval(folder: Path) -> str | None:
    """Return ``trec_eval`` from the path, or build it in ``folder`` from ``$TREC_EVAL_SOURCE``; None without either."""
    if found := shutil.which("trec_eval"):
        return found
    source = os.environ.get("TREC_EVAL_SOURCE")
    if not source or not shutil.which("cc"):
        return None
    # the Makefile knows the files of its version; without -O3 it would be a debug build
    shutil.copytree(source, folder / "source")
    subprocess.run(
        ["make", "--silent", "-C", str(folder / "source"), "CC=cc -O3", "trec_eval"], check=True
    )
    return str(folder / "source" / "trec_eval")


def absent(tool: str) -> bool:
    """Return whether a Python package that the tool needs is missing."""
    package = NEEDS.get(tool, tool)
    return (
        package in {"pytrec_eval", "ir_measures", "ranx", "trectools", "pyarrow"}
        and find_spec(package) is None
    )


def _runs(folder: Path) -> list[str]:
    return [str(path) for path in sorted((folder / "runs").iterdir())]


def _evaluation(folder: Path, c: str | None) -> Commands:
    """Return ``robustcs evaluate`` as users run it, the same as function calls, and the other tools."""
    wanted = [part for measure in MEASURES for part in ("--metric", measure)]
    runs = [part for run in _runs(folder) for part in ("--run", f"{Path(run).stem}={run}")]
    given = ["--config", os.devnull, "--qrels", str(folder / "qrels.txt"), *runs, *wanted]
    found = {"robustcs": [*CLI, "evaluate", *given, "--table", "measures", "--format", "csv"]}
    found |= {tool: [sys.executable, str(HERE / "tools.py"), tool, str(folder)] for tool in TOOLS}
    if c:
        asked = "-c -m ndcg_cut.3 -m map -m recall.1000"
        script = f'set -e; qrels=$1; shift; for run; do "{c}" {asked} "$qrels" "$run"; done'
        found["trec_eval"] = ["sh", "-c", script, "sh", str(folder / "qrels.txt"), *_runs(folder)]
    return found


def _once_compiled(folder: Path, c: str | None) -> Commands:
    """Return the same commands with ranx only once, since compiling takes a small part of the largest rows."""
    return {
        tool: command for tool, command in _evaluation(folder, c).items() if tool != "ranx, warm"
    }


def _means(tool: str, output: str) -> Numbers:
    if tool == "robustcs":
        values = {
            (row["system"], row["metric"]): float(row["value"])
            for row in csv.DictReader(StringIO(output))
        }
        return [
            values[system, measure]
            for system in sorted({system for system, _ in values})
            for measure in MEASURES
        ]
    if tool != "trec_eval":
        return [float(cell) for cell in output.split()]
    cells = [line.split() for line in output.splitlines()]
    by_measure = [
        [float(value) for name, _, value in cells if name == measure] for measure in MEASURES
    ]
    return [mean for run in zip(*by_measure, strict=True) for mean in run]


def _study(name: str, table: str, **asked: Sequence[str]) -> Callable[[Path, str | None], Commands]:
    """Return ``robustcs NAME`` on Original, QR and Human, the same from Python, and the equivalent notebook.

    The command writes ``table`` as CSV, or all tables as JSON if it is empty. ``asked``: shared options by name.
    """

    def commands(folder: Path, _: str | None) -> Commands:
        runs = zip(("original", "qr", "human"), ([path] for path in _runs(folder)), strict=True)
        inputs = {"qrels": [str(folder / "qrels.txt")], **dict(runs), **asked}
        given = [*CLI, name, "--config", os.devnull, "--format", "csv" if table else "json"]
        given += ["--table", table] if table else []
        given += [
            part
            for option, values in inputs.items()
            for value in values
            for part in (f"--{option}", value)
        ]
        shown = f"found.to_csv(table={table!r})" if table else "found.to_json()"
        keywords = {
            option: values if option in asked else values[0] for option, values in inputs.items()
        }
        called = f"import robustcs\nfound = robustcs.{name}(**{keywords})\nprint({shown})"
        study = {"breakdown": "bins", "sweep": "sweep", "evaluate": "pairs"}[name]
        notebook = [sys.executable, str(HERE / "notebook.py"), study, str(folder)]
        return {
            "robustcs": given,
            "robustcs, function": [sys.executable, "-c", called],
            "notebook": notebook,
        }

    return commands


def _bins(tool: str, output: str) -> Numbers:
    if tool == "notebook":
        rows = [line.split() for line in output.splitlines()]
    else:
        names = ("threshold", "original", "qr", "human", "count")
        rows = [
            [row[name].lstrip(">=") for name in names] for row in csv.DictReader(StringIO(output))
        ]
    return [
        float(cell) for row in sorted([float(cell) for cell in row] for row in rows) for cell in row
    ]


def _run_means(tool: str, output: str) -> Numbers:
    if tool == "notebook":
        return sorted(float(line.split()[-1]) for line in output.splitlines())
    return sorted(row["value"] for row in json.loads(output)["tables"]["measures"])


def _part(name: str) -> Callable[[Path, str | None], Commands]:
    def commands(folder: Path, _: str | None) -> Commands:
        return {
            who: [sys.executable, str(HERE / "parts.py"), name, who, str(folder)]
            for who in ("robustcs", "package")
        }

    return commands


def _printed(tool: str, output: str) -> Numbers:
    return [float(cell) for cell in output.split()]


def _help(folder: Path, _: str | None) -> Commands:
    return {"robustcs": [*CLI, "--help"], "import click": [sys.executable, "-c", "import click"]}


def _turns(number: int, repeats: int) -> Row:
    label = f"{number} × 1000" if number > 1 else "one turn × 1000"
    made, growth = f"made 1 {number} 1000", ("turns", number)
    commands = _once_compiled if number > 2000 else _evaluation
    return Row(
        label,
        made,
        "made 1 3 20",
        commands,
        _means,
        large=number >= 500,
        repeats=repeats,
        growth=growth,
    )


def _many(number: int, repeats: int) -> Row:
    label = f"{number} run{'s' * (number > 1)} × 208 × 1000"
    made, growth = f"made {number} 208 1000", ("runs", number)
    commands = _once_compiled if number > 10 else _evaluation
    return Row(
        label,
        made,
        "made 2 3 20",
        commands,
        _means,
        large=number >= 10,
        repeats=repeats,
        growth=growth,
    )


_BINS = _study("breakdown", "bins", metric=["ndcg_cut_3"], threshold=[">0", ">=0.5", ">=1"])
_SWEEP = _study("sweep", "bins", metric=["ndcg_cut_3"])
_PAIRS = _study("evaluate", "", metric=["ndcg_cut_3", "P(rel=2)@1"])

ROWS: Mapping[str, Row] = {
    "help": Row("robustcs --help", "scores 2 2", "scores 2 2", _help, lambda tool, output: [], repeats=7),
    "one-turn": _turns(1, 7),
    "turns-50": _turns(50, 3),
    "turns-500": _turns(500, 5),
    "turns-2000": _turns(2000, 1),
    "turns-7000": _turns(7000, 1),
    "digits": Row("500 × 1000, scores of 16 digits", "made 1 500 1000 15", "made 1 3 20 15", _evaluation, _means,
                  large=True, repeats=3),
    "cast": Row("CAsT 2019: 3 runs × 173 × 100", "cast2019", "made 3 3 20", _evaluation, _means),
    "runs-1": _many(1, 3),
    "runs-10": _many(10, 1),
    "runs-100": _many(100, 1),
    "dl2021": Row("DL 2021: 500 runs × 53 × 100", "dl2021 500", "made 2 3 20", _once_compiled, _means,
                  large=True, repeats=5),
    "bins": Row("breakdown of CAsT 2019", "cast2019", "made 3 12 20", _BINS, _bins),
    "sweep": Row("sweep of CAsT 2019, 51 thresholds", "cast2019", "made 3 12 20", _SWEEP, _bins),
    "pairs": Row("evaluate CAsT 2019, all pairs tested", "cast2019", "made 3 12 20", _PAIRS, _run_means),
    "pairs-500": Row("evaluate 3 × 500 × 1000, all pairs tested", "made 3 500 1000", "made 3 12 20",
                     _PAIRS, _run_means, repeats=3),
    "permutation": Row("sign-flip tests of 45 pairs × 53 turns, Holm", "scores 10 53", "scores 3 20",
                       _part("permutation"), _printed, within=0.03, repeats=3),
    "bootstrap": Row("bootstrap of the ranking of 40 systems", "scores 40 106", "scores 5 20",
                     _part("bootstrap"), _printed, within=0.05, repeats=3),
    "jackknife": Row("3 correlations of 479 turns with intervals", "scores 2 479", "scores 2 20",
                     _part("jackknife"), _printed, within=1e-6, repeats=3),
    "rouge": Row("ROUGE-1, 2, L of 10,000 pairs of questions", "pairs 10000", "pairs 40",
                 _part("rouge"), _printed, within=1e-9, repeats=3),
    "bleu": Row("BLEU of 10,000 pairs, 501 groups", "pairs 10000", "pairs 40", _part("bleu"), _printed, within=1e-9, repeats=3),
}  # fmt: skip
