"""Compare the cost of robustcs with other tools: ``python bench/run.py [--rows NAME …] [--repeats N] [--write]``.

Every tool does the same work in a fresh process. The tools alternate and must print the same numbers. ``--write`` saves the
results in bench/results.json, and makes the tables of bench/README.md and the figures from all saved results. ``make bench``
measures all rows and the reports. bench/README.md describes each row and its duration.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
#: Remark on a tool with different means.
OTHER = "prints other means"
#: The evaluation as calls from Python, which the aims do not compare with other tools.
FUNCTION = "robustcs, function"


def measured(
    row: Row,
    repeats: int,
    c: str | None,
    cache: Path,
    started: set[str],
    tiny: bool = False,
    before: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Measure the tools of a row.

    tiny
        Use the small input.
    started
        Commands that have already run here. Unless ``tiny``, any other tool first runs on the small input. That run is not
        measured: it writes byte code and shows whether the tool works here.
    before
        Earlier results of the row. Slow tools are not measured again; those of tools that are missing here are kept.

    Raises ``SystemExit`` if a tool that follows trec_eval prints other numbers than robustcs.
    """
    given = environment(cache)
    told = {}
    costs_before = before["costs"] if before else {}
    always = ("robustcs", *LIMITS)  # all others are compared with these
    kept = {
        tool: cost for tool, cost in costs_before.items()
        if tool not in (*always, FUNCTION) and (cost[0] > LONG or absent(tool) or (tool == "trec_eval" and not c))
    }  # fmt: skip
    if "ranx, cold" in kept and (warm := costs_before.get("ranx, warm")):
        kept["ranx, warm"] = warm  # uses the code that the cold run compiled
    with TemporaryDirectory() as small, TemporaryDirectory() as name:
        for folder, made in ((small, row.tiny), (name, row.tiny if tiny else row.made)):
            run_once([sys.executable, str(HERE / "collection.py"), folder, *made.split()], given)
        commands = row.commands(Path(name), c)
        for tool, command in row.commands(Path(small), c).items():
            call = " ".join(part for part in command if not part.startswith(small))
            if tool in kept:
                commands.pop(tool, None)
            elif absent(tool):
                told[tool] = "not installed"
            elif call not in started and not tiny:
                try:
                    run_once(command, given)
                    started.add(call)
                except RuntimeError as error:
                    if tool in always:
                        raise
                    told[tool] = str(error)
            if tool in told:
                del commands[tool]
        load = os.getloadavg()[0]
        costs, outputs = measure(commands, repeats, given)
    ours = row.read("robustcs", outputs["robustcs"])
    for tool in costs.keys() - set(always):
        theirs = row.read(tool, outputs[tool])
        both = zip(ours, theirs, strict=False)
        same = len(ours) == len(theirs) and all(
            isclose(*two, abs_tol=1.01 * row.within) for two in both
        )
        if not same and tool in ALIKE:
            raise SystemExit(
                f"{row.label}: {tool} prints other numbers: {list(theirs)[:9]}, robustcs {list(ours)[:9]}"
            )
        if not same:
            told[tool] = OTHER
    return {
        "repeats": repeats,
        "load": round((load + os.getloadavg()[0]) / 2, 1),
        "with": f"{machine()}, {versions(c)}",
        "costs": {tool: [round(part, 3) for part in cost] for tool, cost in (costs | kept).items()},
        "told": {tool: before["told"][tool] for tool in kept if before and tool in before["told"]}
        | told,
        "earlier": sorted(kept),
    }


def versions(c: str | None) -> str:
    """Return the versions of installed packages and of trec_eval."""
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
    """Return the table, one line per tool. The relative costs divide by robustcs: 2.00 means twice the cost."""
    lines = [
        f"{line}."
        for line in dict.fromkeys(results[name]["with"] for name in ROWS if name in results)
    ]
    lines += [
        "",
        "| row | tool | wall s | CPU s | peak MB | wall | CPU | memory | rounds | load |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in (name for name in ROWS if name in results):
        found, label = results[name], ROWS[name].label
        ours = _ours(found["costs"])
        how = f"{found['repeats']} | {found['load']:.1f}"
        for tool, costs in found["costs"].items():
            cost = Cost(*costs)
            relative = " | ".join(
                f"{theirs / max(own, 1e-3):.2f}" for theirs, own in zip(cost, ours, strict=True)
            )
            mark = " ¹" * (tool in found["told"]) + " ²" * (tool in found["earlier"])
            took = f"{cost.wall:.2f} | {cost.cpu:.2f} | {cost.memory:.0f}"
            lines.append(f"| {label} | {tool}{mark} | {took} | {relative} | {how} |")
            label, how = "", " | "
    told = {(tool, why) for found in results.values() for tool, why in found["told"].items()}
    if any(why == OTHER for _, why in told):
        lines += ["", "¹ Prints other means than trec_eval, because it orders ties differently."]
    if any(found["earlier"] for found in results.values()):
        lines += [
            "",
            f"² Takes more than {LONG:.0f} s, or its tool does or was missing: measured earlier than the others.",
        ]
    for tool, why in sorted(told):
        lines += ["", f"Without {tool}: {why}."] if why != OTHER else []
    return lines


def _ours(costs: Mapping[str, Sequence[float]], name: str = "robustcs") -> Cost:
    """Return the cost of robustcs as a command or as a function; if it was not measured, that of the other."""
    return Cost(*(costs.get(name) or costs.get(FUNCTION) or costs["robustcs"]))


def aims(results: Mapping[str, Any]) -> list[str]:
    """Return the table of aims that these rows can show, met or not met, with the rows that miss them."""
    costs = {
        name: {tool: Cost(*cost) for tool, cost in results[name]["costs"].items()}
        for name in ROWS
        if name in results
    }
    lines = ["| aim | | missed by |", "|---|---|---|"]

    def line(aim: str, compared: Iterable[tuple[float, str, str]]) -> None:
        """Add a line. ``compared``: cost as a share of the allowed cost, row, and text."""
        if compared := list(compared):
            behind = [f"{where}: {what}" for share, where, what in compared if share > 1]
            lines.append(f"| {aim} | {'not met' if behind else 'met'} | {'; '.join(behind)} |")

    def against(
        field: str, tools: Callable[[str], bool], rows: Iterable[str]
    ) -> Iterator[tuple[float, str, str]]:
        for name in rows:
            ours = getattr(_ours(costs[name]), field)
            for tool, cost in costs[name].items():
                # wall times from different hours are not comparable
                if tools(tool) and not (field == "wall" and tool in results[name]["earlier"]):
                    theirs = getattr(cost, field)
                    yield (
                        ours / max(theirs, 1e-3),
                        ROWS[name].label,
                        f"robustcs {ours:.3g}, {tool} {theirs:.3g}",
                    )

    for field, what in (("cpu", "CPU time"), ("memory", "memory"), ("wall", "wall time")):
        compared = against(
            field, lambda tool: tool not in ("robustcs", FUNCTION, "trec_eval", *LIMITS), costs
        )
        line(f"less {what} than every Python tool, in every row", compared)
    large = [name for name in costs if ROWS[name].large]
    for field, what in (("cpu", "CPU time"), ("memory", "memory")):
        line(
            f"less {what} than trec_eval in C, from 500 × 1000 on",
            against(field, lambda tool: tool == "trec_eval", large),
        )
    for aim, limit, most in (
        (
            "an evaluation within 1.5 times the CPU time of reading the columns alone",
            "columns",
            1.5,
        ),
        ("`robustcs --help` within 3 times the CPU time of `import click`", "import click", 3),
    ):
        rows = [
            (_ours(found, FUNCTION).cpu / found[limit].cpu, ROWS[name].label)
            for name, found in costs.items()
            if limit in found
        ]
        line(aim, [(times / most, label, f"{times:.2f} times") for times, label in rows])
    for name, most, limit, tool in (
        ("turns-50", 2.0, "within twice", "pytrec_eval"),
        ("turns-500", 1.0, "within", "pytrec_eval"),
        ("turns-500", 1.0, "within", "trec_eval"),
        ("dl2021", 0.5, "within half", "pytrec_eval"),
        ("bins", 1.0, "within", "notebook"),
        ("sweep", 1.0, "within", "notebook"),
    ):
        if name in costs and tool in costs[name]:
            times = _ours(costs[name]).cpu / costs[name][tool].cpu
            shown = [(times / most, "actual", f"{times:.2f} times")]
            line(f"{ROWS[name].label} {limit} the CPU time of {tool}", shown)
    if "turns-500" in costs:
        memory = _ours(costs["turns-500"]).memory
        line("500 × 1000 within 60 MB", [(memory / 60, "actual", f"{memory:.1f} MB")])
    if "one-turn" in costs:
        one = _ours(costs["one-turn"], FUNCTION)
        line("one turn within 0.08 CPU s", [(one.cpu / 0.08, "actual", f"{one.cpu:.3f} s")])
        line("one turn within 30 MB", [(one.memory / 30, "actual", f"{one.memory:.1f} MB")])
    return lines


def main() -> None:
    """Measure, print, and save with --write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--rows",
        nargs="*",
        choices=(*ROWS, []),
        default=list(ROWS),
        metavar="NAME",
        help=", ".join(ROWS),
    )
    parser.add_argument(
        "--repeats", type=int, help="rounds per row (default: 1 to 7, fewer for large rows)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="reuse saved results of tools that took more than 20 s"
    )
    parser.add_argument(
        "--write", action="store_true", help="save the results, and write tables and figures"
    )
    options = parser.parse_args()
    results: dict[str, Any] = {}
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    with TemporaryDirectory() as cache:
        c, started = trec_eval(Path(cache)), set[str]()
        for name in options.rows:
            row = ROWS[name]
            before = kept.get(name) if options.quick else None
            results[name] = measured(
                row, options.repeats or row.repeats, c, Path(cache), started, before=before
            )
            print(
                "\n".join(table({name: results[name]})[1 if len(results) > 1 else 0 :]), flush=True
            )
            if options.write:
                kept[name] = results[name]
                RESULTS.write_text(
                    json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
                )
    if results:
        print("\n".join(["", *aims(results)]))
    if options.write:
        put(HERE / "README.md", "results", table(kept))
        put(HERE / "README.md", "aims", aims(kept))
        # in a separate process: figures need packages that the measurement avoids
        subprocess.run([sys.executable, str(HERE / "growth.py")], check=True)


if __name__ == "__main__":
    main()
