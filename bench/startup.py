"""What a command takes from start to end: ``python bench/startup.py [--data FOLDER] [REPEATS]``.

FOLDER holds qrels.txt.gz and runs/bert_base_{raw,cv,oracle}.trec.gz (CAsT 2019); without it the demo collection is used.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from measure import ROOT, machine, measure

#: Formulation → part of the file name of its run.
ROLES = (("original", "raw"), ("qr", "cv"), ("human", "oracle"))


def main() -> None:
    """Print one table row per command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("repeats", type=int, nargs="?", default=7)
    given = parser.parse_args()
    robustcs = [sys.executable, str(ROOT / "cli.py")]
    if given.data:
        qrels, folder = given.data / "qrels.txt.gz", given.data / "runs"
        runs = {role: folder / f"bert_base_{name}.trec.gz" for role, name in ROLES}
        arguments = ["--qrels", str(qrels), "--relevance-level", "2"]
        for role, run in runs.items():
            arguments += [f"--{role}", str(run)]
    else:
        arguments = ["--config", str(ROOT / "fixtures" / "robustcs.toml")]
    measured = measure(
        {
            "python -c 'import click'": [sys.executable, "-c", "import click"],
            "robustcs --help": [*robustcs, "--help"],
            "python -c 'import numpy, pandas, rich.console'": [sys.executable, "-c", "import numpy, pandas, rich.console"],
            "robustcs breakdown": [*robustcs, "breakdown", *arguments],
        },
        given.repeats,
    )
    print(f"{machine()} · medians of {given.repeats} fresh processes\n")
    print("| command | wall s | CPU s | peak MB |\n|---|--:|--:|--:|")
    for name, (cost, _) in measured.items():
        print(f"| `{name}` | {cost.wall:.2f} | {cost.cpu:.2f} | {cost.memory:.0f} |")


if __name__ == "__main__":
    main()
