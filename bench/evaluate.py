"""Reading and evaluating a run beside pytrec_eval and trec_eval: ``python bench/evaluate.py [REPEATS]``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import machine, measure, run_once
from tools import MEASURES

HERE = Path(__file__).parent
DEPTH = 1000
#: Turns; a single one shows what a tool takes before it works.
SIZES = (1, 500, 7000)


def commands(folder: Path) -> dict[str, list[str]]:
    """Tool → what evaluates the run of ``folder``; trec_eval only where it is on the path."""
    run, qrels = str(folder / "run.trec"), str(folder / "qrels.txt")
    tools = {name: [sys.executable, str(HERE / "tools.py"), name, run, qrels] for name in ("pytrec_eval", "robustcs")}
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


def main() -> None:
    """Print one table row per size and tool; ratios are to pytrec_eval."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"{machine()} · medians of {repeats} fresh processes · {', '.join(MEASURES)}\n")
    print("| turns × depth | tool | wall s | CPU s | peak MB | wall ratio | CPU ratio | memory ratio |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for turns in SIZES:
        with TemporaryDirectory() as name:
            folder = Path(name)
            run_once([sys.executable, str(HERE / "collection.py"), name, str(turns), str(DEPTH)])
            measured = measure(commands(folder), repeats)
        results = {tool: means(tool, output) for tool, (_, output) in measured.items()}
        if len(set(map(tuple, results.values()))) > 1:
            raise SystemExit(f"the tools disagree: {results}")
        base = measured["pytrec_eval"][0]
        for tool, (cost, _) in measured.items():
            print(
                f"| {turns} × {DEPTH} | {tool} | {cost.wall:.2f} | {cost.cpu:.2f} | {cost.memory:.0f} "
                f"| {cost.wall / base.wall:.2f} | {cost.cpu / base.cpu:.2f} | {cost.memory / base.memory:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
