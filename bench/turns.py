"""Measure records of turns: ``python bench/turns.py [DATA]``; DATA is the folder of the public data.

For several projects, the script prints the size of ``turns.jsonl``, the depth that it keeps, and the CPU time to write it, to list
turns by a filter as a command, and to filter from Python: the first filter reads the inputs, and the next ones do not. Each task
runs in a fresh process. A command includes the start of Python.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import ROOT, environment, machine, run_once
from report import MADE, _make

#: Project → its file, with the folder of the data in place of ``{0}``, and a filter.
PROJECTS: Mapping[str, tuple[str, str]] = {
    "CAsT 2019": (
        """
qrels = "{0}/cast2019/qrels.txt.gz"
policy = {{ relevance_level = 2 }}
[formulations]
original = {{ run = "{0}/cast2019/runs/bert_base_raw.trec.gz", rewrites = "{0}/cast2019/topics.json" }}
qr = {{ run = "{0}/cast2019/runs/bert_base_cv.trec.gz", rewrites = "{0}/cast2019/runs/rewrites_cv.jsonl" }}
human = {{ run = "{0}/cast2019/runs/bert_base_oracle.trec.gz", rewrites = "{0}/cast2019/topics_resolved.tsv" }}
""",
        "cause:rewriter first@qr>3 throat",
    ),
    "CAsT 2020 with passages": (
        """
qrels = "{0}/cast2020/qrels.txt.gz"
collection = "{0}/cast2020/passages.jsonl.gz"
policy = {{ relevance_level = 2 }}
[formulations]
original = {{ run = "{0}/cast2020/runs/bert_raw.trec.gz", rewrites = "{0}/cast2020/topics_manual.json:raw" }}
qr = {{ run = "{0}/cast2020/runs/bert_auto.trec.gz", rewrites = "{0}/cast2020/topics_manual.json:automatic" }}
human = {{ run = "{0}/cast2020/runs/bert_manual.trec.gz", rewrites = "{0}/cast2020/topics_manual.json:manual" }}
""",
        "cause:rewriter first@qr>3 garage",
    ),
    "MTRAG answers": (
        """
qrels = ["{0}/mtrag-answers/qrels_clapnq.tsv", "{0}/mtrag-answers/qrels_cloud.tsv"]
gold = ["{0}/mtrag-answers/clapnq.jsonl.gz", "{0}/mtrag-answers/cloud.jsonl.gz"]
[answers]
tasks = {{ system = ["{0}/mtrag-answers/clapnq.jsonl.gz", "{0}/mtrag-answers/cloud.jsonl.gz"] }}
""",
        "outcome:answered,wrong cloud",
    ),
    "DL 2021, 40 runs": (
        """
qrels = "{0}/dl2021/qrels_human.txt.gz"
policy = {{ relevance_level = 2 }}
[runs]
{1}
""",
        "place:deeper,absent ndcg_cut_3<0.2",
    ),
}  # fmt: skip


def main() -> None:
    """Print the table, or with ``--one`` the costs of one project as JSON."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(_one(*map(str, sys.argv[2:4]))))
        return
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "data"
    print(f"{machine()}\n")
    print(
        "| | turns | systems | MB | depth | write: CPU s | command: CPU s | first filter: CPU s | next: ms |\n"
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    with TemporaryDirectory() as cache, TemporaryDirectory() as name:
        given, folder = environment(Path(cache)), Path(name)
        given["PYTHONPATH"] += f":{ROOT / 'bench'}"
        _show(
            "demo",
            ROOT / "fixtures" / "robustcs.toml",
            'cause:rewriter type:"words dropped"',
            given,
        )
        for label, (text, where) in PROJECTS.items():
            runs = sorted((data / "dl2021" / "runs").glob("*.gz"))
            listed = "\n".join(f'"{path.name.partition(".")[0]}" = "{path}"' for path in runs)
            config = folder / "robustcs.toml"
            config.write_text(text.format(data.resolve(), listed), "utf-8")
            _show(label, config, where, given)
        made = folder / "made"
        made.mkdir()
        _make(made, 1.0)
        assert (made / "robustcs.toml").read_text() == MADE
        _show("10,000 turns", made / "robustcs.toml", "cause:rewriter first@qr>3", given)


def _show(label: str, config: Path, where: str, given: Mapping[str, str]) -> None:
    """Print the row of one project."""
    robustcs = [sys.executable, str(ROOT / "cli.py"), "turns", "--config", str(config)]
    listing = [*robustcs, "--where", where, "--limit", "1"]
    run_once(listing, given)  # compiles
    command, _ = run_once(listing, given)
    one = [sys.executable, str(Path(__file__).resolve()), "--one", str(config), where]
    found = json.loads(run_once(one, given)[1])
    print(
        f"| {label} | {found['turns']:,} | {found['systems']} | {found['bytes'] / 1e6:.2f} | {found['depth']}"
        f" | {found['write']:.2f} | {command.cpu:.2f} | {found['first']:.2f} | {found['next']:.1f} |",
        flush=True,
    )


def _one(config: str, where: str) -> dict[str, float]:
    """Return the costs of one project within this process."""
    import robustcs
    from robustcs.inputs.readings import reading_once
    from robustcs.project.reading import read_project
    from robustcs.project.turns import TurnInputs
    from robustcs.project.workspace import Workspace
    from robustcs.studies.fields import turns_of

    started = time.process_time()
    result = robustcs.turns(config, limit=1)
    result.turns_where(where)
    first = time.process_time() - started
    again = time.process_time()
    for _ in range(10):
        result.turns_where(where)
    following = (time.process_time() - again) / 10 * 1000
    with TemporaryDirectory() as folder, reading_once():
        path = Path(folder) / "turns.jsonl"
        started = time.process_time()
        turns = turns_of(TurnInputs(Workspace(read_project(config))))
        depth = turns.write(path)
        write = time.process_time() - started
        return {
            "turns": len(turns.table.ids), "systems": len(turns.details.systems),
            "bytes": path.stat().st_size, "depth": depth, "write": write, "first": first, "next": following,
        }  # fmt: skip


if __name__ == "__main__":
    main()
