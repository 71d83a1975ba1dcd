"""What robustcs takes beside what people use otherwise: ``python bench/run.py [--rows NAME …] [--repeats N] [--write]``.

Every tool does the same work in a fresh process; they take turns, and must print the same numbers. ``--write`` keeps what was
measured in bench/results.json and makes the tables of bench/README.md and the figures from all that is kept there.
``make bench`` measures all rows and the reports. bench/README.md tells what each row is, and how long it takes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import LONG, Cost, environment, machine, measure, run_once
from pages import put
from rows import ALIKE, HERE, LIMITS, ROWS, Row, absent, trec_eval

RESULTS = HERE / "results.json"
PACKAGES = ("numpy", "pandas", "pyarrow", "scipy", "statsmodels", "pytrec-eval-terrier", "ir-measures", "ranx", "numba",
            "trectools", "rouge-score", "sacrebleu")  # fmt: skip
#: What is told of a tool with means of its own.
OTHER = "prints other means"


def measured(
    row: Row,
    repeats: int,
    c: str | None,
    cache: Path,
    started: set[str],
    tiny: bool = False,
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What the tools of a row took; ``tiny``: on its small input; ``before``: what is kept of it, whose long tools stay.

    Unless ``tiny``, a tool that is not yet in ``started`` first does the small input, which is not counted: it writes the byte
    code that every installation has, and tells whether the tool can be used here. Raises ``SystemExit`` where a tool that
    follows trec_eval prints other numbers than robustcs.
    """
    given = environment(cache)
    told = {}
    costs_before = before["costs"] if before else {}
    anew = ("robustcs", *LIMITS)  # all others stand beside these
    kept = {tool: cost for tool, cost in costs_before.items() if cost[0] > LONG and tool not in anew}
    if "ranx, cold" in kept and (warm := costs_before.get("ranx, warm")):
        kept["ranx, warm"] = warm  # needs what the other compiled
    with TemporaryDirectory() as small, TemporaryDirectory() as name:
        for folder, made in ((small, row.tiny), (name, row.tiny if tiny else row.made)):
            run_once([sys.executable, str(HERE / "collection.py"), folder, *made.split()], given)
        commands = row.commands(Path(name), c)
        for tool, command in row.commands(Path(small), c).items():
            call = " ".join(part for part in command if not part.startswith(small))
            if tool in kept:
                del commands[tool]
            elif absent(tool):
                told[tool] = "not installed"
            elif call not in started and not tiny:
                try:
                    run_once(command, given)
                    started.add(call)
                except RuntimeError as error:
                    if tool in anew:
                        raise
                    told[tool] = str(error)
            if tool in told:
                del commands[tool]
        load = os.getloadavg()[0]
        costs, outputs = measure(commands, repeats, given)
    ours = row.read("robustcs", outputs["robustcs"])
    for tool in costs.keys() - set(anew):
        theirs = row.read(tool, outputs[tool])
        both = zip(ours, theirs, strict=False)
        same = len(ours) == len(theirs) and all(isclose(*two, abs_tol=1.01 * row.within) for two in both)
        if not same and tool in ALIKE:
            raise SystemExit(f"{row.label}: {tool} prints other numbers: {list(theirs)[:9]}, robustcs {list(ours)[:9]}")
        if not same:
            told[tool] = OTHER
    return {
        "repeats": repeats,
        "load": round((load + os.getloadavg()[0]) / 2, 1),
        "with": f"{machine()}, {versions(c)}",
        "costs": {tool: [round(part, 3) for part in cost] for tool, cost in (costs | kept).items()},
        "told": {tool: before["told"][tool] for tool in kept if before and tool in before["told"]} | told,
        "earlier": sorted(kept),
    }


def versions(c: str | None) -> str:
    """Of every package that is installed, and of trec_eval."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    if c:
        # "trec_eval version 9.0.4"
        said = subprocess.run([c, "--version"], capture_output=True, text=True, check=False)
        found.append(f"trec_eval {(said.stdout + said.stderr).split()[-1]}")
    return ", ".join(found)


def table(results: Mapping[str, Any]) -> list[str]:
    """A line for each tool of a row. What a tool takes beside robustcs: 2.00 is twice as much."""
    lines = [f"{line}." for line in dict.fromkeys(results[name]["with"] for name in ROWS if name in results)]
    lines += [
        "",
        "| row | tool | wall s | CPU s | peak MB | wall | CPU | memory | rounds | load |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in (name for name in ROWS if name in results):
        found, label = results[name], ROWS[name].label
        ours = Cost(*found["costs"]["robustcs"])
        how = f"{found['repeats']} | {found['load']:.1f}"
        for tool, costs in found["costs"].items():
            cost = Cost(*costs)
            beside = " | ".join(f"{theirs / max(own, 1e-3):.2f}" for theirs, own in zip(cost, ours, strict=True))
            mark = " ¹" * (tool in found["told"]) + " ²" * (tool in found["earlier"])
            took = f"{cost.wall:.2f} | {cost.cpu:.2f} | {cost.memory:.0f}"
            lines.append(f"| {label} | {tool}{mark} | {took} | {beside} | {how} |")
            label, how = "", " | "
    told = {(tool, why) for found in results.values() for tool, why in found["told"].items()}
    if any(why == OTHER for _, why in told):
        lines += ["", "¹ Prints other means than trec_eval: it orders ties in its own way."]
    if any(found["earlier"] for found in results.values()):
        lines += ["", f"² Takes, or needs what takes, more than {LONG:.0f} s: measured before, not again beside the others."]
    for tool, why in sorted(told):
        lines += ["", f"Without {tool}: {why}."] if why != OTHER else []
    return lines


def aims(results: Mapping[str, Any]) -> list[str]:
    """Each aim that these rows can tell of, with met or not met, and what is behind where."""
    costs = {name: {tool: Cost(*cost) for tool, cost in results[name]["costs"].items()} for name in ROWS if name in results}
    lines = ["| aim | | where not |", "|---|---|---|"]

    def line(aim: str, compared: Iterable[tuple[float, str, str]]) -> None:
        """``compared``: what it takes as a share of what is allowed, where, and in words."""
        if compared := list(compared):
            behind = [f"{where}: {what}" for share, where, what in compared if share > 1]
            lines.append(f"| {aim} | {'not met' if behind else 'met'} | {'; '.join(behind)} |")

    def beside(field: str, tools: Callable[[str], bool], rows: Iterable[str]) -> Iterator[tuple[float, str, str]]:
        for name in rows:
            ours = getattr(costs[name]["robustcs"], field)
            for tool, cost in costs[name].items():
                # wall time says nothing beside that of another hour
                if tools(tool) and not (field == "wall" and tool in results[name]["earlier"]):
                    theirs = getattr(cost, field)
                    yield ours / max(theirs, 1e-3), ROWS[name].label, f"{ours:.3g} beside {theirs:.3g} of {tool}"

    for field, what in (("cpu", "CPU time"), ("memory", "memory"), ("wall", "wall time")):
        compared = beside(field, lambda tool: tool not in ("robustcs", "trec_eval", *LIMITS), costs)
        line(f"less {what} than every tool of Python, in every row", compared)
    large = [name for name in costs if ROWS[name].large]
    for field, what in (("cpu", "CPU time"), ("memory", "memory")):
        line(f"less {what} than trec_eval in C, from 500 × 1000 on", beside(field, lambda tool: tool == "trec_eval", large))
    for aim, limit, most in (
        ("an evaluation within 1.5 times the CPU time of reading the columns alone", "columns", 1.5),
        ("`robustcs --help` within 3 times the CPU time of `import click`", "import click", 3),
    ):
        rows = [(found["robustcs"].cpu / found[limit].cpu, ROWS[name].label) for name, found in costs.items() if limit in found]
        line(aim, [(times / most, label, f"{times:.2f} times") for times, label in rows])
    if one := costs.get("one-turn", {}).get("robustcs"):
        line("one turn within 0.08 CPU s", [(one.cpu / 0.08, "it takes", f"{one.cpu:.3f} s")])
        line("one turn within 30 MB", [(one.memory / 30, "it takes", f"{one.memory:.1f} MB")])
    return lines


def main() -> None:
    """Measure, print, and keep."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", nargs="*", choices=(*ROWS, []), default=list(ROWS), metavar="NAME", help=", ".join(ROWS))
    parser.add_argument("--repeats", type=int, help="rounds of every row (default: 7 of small rows, 1 of large ones)")
    parser.add_argument("--quick", action="store_true", help="take what is kept of tools that took more than 20 s")
    parser.add_argument("--write", action="store_true", help="keep the results, and write tables and figures")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    with TemporaryDirectory() as cache:
        c, started = trec_eval(Path(cache)), set[str]()
        for name in options.rows:
            row = ROWS[name]
            before = kept.get(name) if options.quick else None
            results[name] = measured(row, options.repeats or row.repeats, c, Path(cache), started, before=before)
            print("\n".join(table({name: results[name]})[1 if len(results) > 1 else 0 :]), flush=True)
            if options.write:
                kept[name] = results[name]
                RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if results:
        print("\n".join(["", *aims(results)]))
    if options.write:
        put(HERE / "README.md", "results", table(kept))
        put(HERE / "README.md", "aims", aims(kept))
        # in a process of its own: figures take packages that measuring does without
        subprocess.run([sys.executable, str(HERE / "growth.py")], check=True)


if __name__ == "__main__":
    main()
