"""``robustcs crowd``."""

from __future__ import annotations

import click

from robustcs.cli.options import MOST, Options, as_path, load_project, only_given, shared_options
from robustcs.cli.terminal import tell


@click.command(short_help="From grades of crowd workers to qrels.")
@click.argument("grades", required=False, metavar="[GRADES]")
@click.option("--gold-checks", metavar="FILE", help="Grades that items are known to deserve: turn, item, criterion, grade.")
@click.option("--tolerance", type=click.IntRange(0, MOST), metavar="N",
              help="How far a worker's grade may be from a gold check (default 1).")
@click.option("--bank", metavar="FILE", help="JSON {id: text} of questions or responses, for runs that hold texts.")
@click.option("--subset", metavar="FILE", help="Turns to evaluate separately: a list, or qrels or a run with them.")
@click.option("--folder", metavar="DIR", help="Write qrels, pool and converted runs here; without it they are described.")
@click.option("--overwrite", is_flag=True, help="Replace files of --folder that hold something else.")
@shared_options
def crowd(
    options: Options,
    grades: str | None,
    gold_checks: str | None,
    tolerance: int | None,
    bank: str | None,
    subset: str | None,
    folder: str | None,
    overwrite: bool,
) -> None:
    """From single grades of workers to qrels, a pool and scores of runs.

    GRADES is CSV or JSONL with turn, item, worker, criterion and grade (or the published judgments of CAsT-ReGIn). A worker who
    contradicts a gold check by more than the tolerance loses all grades of that topic. An item's grade is the mode of its
    workers' grades, or without a clear mode their mean, rounded half up.

    --run NAME=FILE names runs (TREC, or mixed-initiative JSON): they are pooled to --depth K (default 1) and evaluated on the
    judgments, or on --qrels FILE, at relevance level 2: on all turns, on those with a relevant grade, and on --subset.
    Where no file is given, those of [crowd] in robustcs.toml are taken.

    \b
    Examples:
      robustcs crowd
      robustcs crowd grades.csv --gold-checks checks.csv --folder judged
      robustcs crowd --bank bank.json --run a=a.json --run b=b.json --depth 3 --folder pool
      robustcs crowd --qrels relevance.qrel --bank bank.json --run a=a.json --subset turns.txt
      robustcs crowd grades.csv --run a=a.trec --output grades.svg --output crowd.json
    """
    from dataclasses import replace

    from robustcs.cli.output import emit
    from robustcs.project.model import CrowdFiles
    from robustcs.project.workspace import Workspace
    from robustcs.studies.crowd.ask import evaluate_crowd
    from robustcs.studies.crowd.show import present_crowd

    project = load_project(options)
    given = only_given(
        grades=as_path(grades),
        gold_checks=as_path(gold_checks),
        bank=as_path(bank),
        qrels=options.qrels and project.qrels,
        subset=as_path(subset),
        runs=options.run and project.runs,
        tolerance=tolerance,
        depth=options.depth,
        relevance_level=options.relevance_level,
    )
    files = (project.crowd or CrowdFiles()).given(**given)
    workspace = Workspace(replace(project, crowd=files))
    evaluated = evaluate_crowd(workspace, options.metric)
    written = []
    if folder:
        from robustcs.documents.files import write_folder
        from robustcs.studies.crowd.files import files_of_crowd

        parts = files_of_crowd(evaluated.judgments, evaluated.result.pool, evaluated.converted)
        written = write_folder(folder, parts, overwrite)
    emit("crowd", evaluated.result, present_crowd(evaluated.result), workspace.inputs, options)
    if written:
        tell(f"wrote {len(written)} files to {folder}: {', '.join(path.name for path in written)}")
    else:
        tell("--folder DIR writes the judgments as qrels, the pool and converted runs")
