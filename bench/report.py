"""A full report on CAsT 2019 with three runs: ``python bench/report.py [DATA]``; DATA is the folder of the public data."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import ROOT, machine, run_once

CONFIG = """
name = "CAsT 2019"
qrels = "{0}/qrels.txt.gz"
policy = {{ relevance_level = 2 }}
[formulations]
original = {{ run = "{0}/runs/bert_base_raw.trec.gz", rewrites = "{0}/topics.json" }}
qr = {{ run = "{0}/runs/bert_base_cv.trec.gz", rewrites = "{0}/runs/rewrites_cv.jsonl" }}
human = {{ run = "{0}/runs/bert_base_oracle.trec.gz", rewrites = "{0}/topics_resolved.tsv" }}
"""


def main() -> None:
    """Print what the report takes the first time and again, and the sizes of page and PDF."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "data"
    print(f"{machine()} · CAsT 2019, three runs, with texts\n")
    print("| | wall s | CPU s | peak MB |\n|---|--:|--:|--:|")
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "robustcs.toml").write_text(CONFIG.format(data.resolve() / "cast2019"), encoding="utf-8")
        command = [sys.executable, str(ROOT / "cli.py"), "report", "--config", str(folder / "robustcs.toml"), "--output", name]
        for label in ("first time", "again, nothing changed"):
            cost, _ = run_once(command)
            print(f"| {label} | {cost.wall:.1f} | {cost.cpu:.1f} | {cost.memory:.0f} |")
        sizes = {path.name: path.stat().st_size / 1e6 for path in folder.glob("report.*")}
        print("\n" + " · ".join(f"{name} {size:.2f} MB" for name, size in sorted(sizes.items())))


if __name__ == "__main__":
    main()
