"""``robustcs crowd``."""

from __future__ import annotations

import click

from robustcs.studies.study import MOST, SEED, UNIT, Call, Command

#: Files of the call that GRADES stand beside; without them GRADES take the place of all files of the project.
_FILES = ("gold_checks", "bank", "qrels", "subset", "run")


def _run(call: Call, grades: str | None, folder: str | None, overwrite: bool, **settings: int | None) -> None:
    from dataclasses import replace
    from pathlib import Path

    from robustcs.documents.files import write_folder
    from robustcs.project.model import CrowdFiles
    from robustcs.studies.crowd.ask import evaluate_crowd
    from robustcs.studies.crowd.files import files_of_crowd
    from robustcs.studies.crowd.show import show

    files = (call.project.crowd or CrowdFiles()).given(**{name: value for name, value in settings.items() if value is not None})
    if grades:
        beside = any(call.given[name] for name in _FILES)
        files = replace(files, grades=Path(grades)) if beside else files.given(grades=Path(grades))
    workspace = call.workspace(replace(call.project, crowd=files))
    evaluated = evaluate_crowd(workspace, call.project.metrics if call.given["metric"] else ())
    written = []
    if folder:
        parts = files_of_crowd(evaluated.judgments, evaluated.result.pool, evaluated.converted)
        written = write_folder(folder, parts, overwrite)
    call.emit(workspace, evaluated.result, show(evaluated.result))
    if written:
        call.tell(f"wrote {len(written)} files to {folder}: {', '.join(path.name for path in written)}")
    else:
        call.tell("--folder DIR writes the judgments as qrels, the pool and converted runs")


COMMAND = Command(
    """From single grades of workers to qrels, a pool and scores of runs.

    GRADES is CSV or JSONL with turn, item, worker, criterion and grade (or the published judgments of CAsT-ReGIn). A worker who
    contradicts a gold check by more than the tolerance loses all grades of that topic. An item's grade is the mode of its
    workers' grades, or without a clear mode their mean, rounded half up.

    --run NAME=FILE names runs (TREC, or mixed-initiative JSON): they are pooled to --pool-depth K (default 1) and evaluated on
    the judgments, or on --qrels FILE, at relevance level 2: on all turns, on those with a relevant grade, and on --subset.
    Where no file is given, those of [crowd] in robustcs.toml are taken.

    \b
    Examples:
      robustcs crowd
      robustcs crowd grades.csv --gold-checks checks.csv --folder judged
      robustcs crowd --bank bank.json --run a=a.json --run b=b.json \\
          --pool-depth 3 --folder pool
      robustcs crowd --qrels relevance.qrel --bank bank.json --run a=a.json \\
          --subset turns.txt
      robustcs crowd grades.csv --run a=a.trec --output grades.svg
    """,
    uses=(
        "crowd.gold_checks", "crowd.bank", "crowd.qrels", "crowd.subset", "crowd.runs", "metric", "relevance_level", "missing",
        "order", *UNIT, *SEED,
    ),
    parameters=(
        click.Argument(["grades"], required=False, metavar="[GRADES]"),
        click.Option(["--tolerance"], type=click.IntRange(0, MOST), metavar="N",
                     help="How far a worker's grade may be from a gold check (default 1)."),
        click.Option(["--pool-depth", "depth"], type=click.IntRange(1, MOST), metavar="K",
                     help="How deep runs are pooled (default 1)."),
        click.Option(["--folder"], metavar="DIR",
                     help="Write qrels, pool and converted runs here; without it they are described."),
        click.Option(["--overwrite"], is_flag=True, help="Replace files of --folder that hold something else."),
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
