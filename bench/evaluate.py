"""Reading and evaluating a run beside what else does it: ``python bench/evaluate.py [--sizes N …] [--repeats N] [--write]``.

Beside robustcs: pytrec_eval, trec_eval where it is on the path, and what reading the columns alone takes. ``--write`` puts the
table into bench/README.md.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import machine, measure, run_once
from pages import put
from tools import MEASURES, TOOLS

HERE = Path(__file__).parent
DEPTH = 1000
#: Turns; a single one shows what a tool takes before it works.
SIZES = (1, 500, 7000)


def commands(folder: Path) -> dict[str, list[str]]:
    """Tool → what evaluates the run of ``folder``; trec_eval only where it is on the path."""
    run, qrels = str(folder / "run.trec"), str(folder / "qrels.txt")
    tools = {name: [sys.executable, str(HERE / "tools.py"), name, run, qrels] for name in TOOLS}
    if shutil.which("trec_eval"):
        asked = [part for name in ("ndcg_cut.3", "map", "recall.1000") for part in ("-m", name)]
        tools["trec_eval"] = ["trec_eval", "-q", *asked, qrels, run]
    return tools


def means(tool: str, output: str) -> list[str]:
    """The mean of every measure as the tool printed it, in the order of ``MEASURES``."""
    if tool != "trec_eval":
        return output.split()
    last = {cells[0]: cells[2] for cells in map(str.split, output.splitlines()) if cells[1] == "all"}
    return [last[name] for name in MEASURES]


def rows(turns: int, repeats: int) -> list[str]:
    """A row for every tool; ratios are those of robustcs to the tool. Raises ``SystemExit`` where tools print other means."""
    with TemporaryDirectory() as name:
        run_once([sys.executable, str(HERE / "collection.py"), name, str(turns), str(DEPTH)])
        measured = measure(commands(Path(name)), repeats)
    found = {tool: means(tool, output) for tool, (_, output) in measured.items()}
    if any(printed not in ([], found["robustcs"]) for printed in found.values()):
        raise SystemExit(f"the tools disagree: {found}")
    ours = measured["robustcs"][0]
    return [
        f"| {turns} × {DEPTH} | {tool} | {cost.wall:.2f} | {cost.cpu:.2f} "
        f"| {cost.memory:.0f} | {ours.wall / cost.wall:.2f} | {ours.cpu / cost.cpu:.2f} | {ours.memory / cost.memory:.2f} |"
        for tool, (cost, _) in measured.items()
    ]


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="TURNS")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    options = parser.parse_args()
    versions = ", ".join(f"{package} {version(package)}" for package in ("numpy", "pyarrow", "pytrec-eval-terrier"))
    absent = "" if shutil.which("trec_eval") else " trec_eval was not at hand."
    lines = [
        f"{machine()}, {versions}; medians of {options.repeats} fresh processes; load {os.getloadavg()[2]:.0f}.{absent}",
        "",
        "| turns × depth | tool | wall s | CPU s | peak MB | robustcs by it: wall | CPU | memory |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for turns in options.sizes:
        lines += rows(turns, options.repeats)
    print("\n".join(lines))
    if options.write:
        put(HERE / "README.md", "evaluate", lines)


if __name__ == "__main__":
    main()
