"""``robustcs unjudged``."""

from __future__ import annotations

import click

from robustcs.cli.options import Options, shared_options
from robustcs.cli.retrieved import load_project_with_runs


@click.command(short_help="How much is not judged, and how far could scores move?")
@click.option("--scope", type=click.Choice(["cutoff", "run"]), default="cutoff", show_default=True,
              help="Which unjudged passages could get a grade: those inside the measure's cut-off, or all of the run.")
@click.option("--new-judgments", metavar="FILE", help="Judgments made since: the grades that the unjudged passages got.")
@click.option("--max-grade", type=click.IntRange(0, 1000), metavar="N",
              help="Highest grade that an unjudged passage could get (default: the highest in the qrels).")
@click.option("--documents", is_flag=True,
              help="The runs hold passages DOC-N and the qrels documents DOC: cut ids at the last hyphen, the first passage of"
              " a document counts (CAsT 2021).")
@shared_options
def unjudged(
    options: Options, scope: str, new_judgments: str | None, max_grade: int | None, documents: bool
) -> None:
    """How much of the top K did nobody judge, and how far could scores move if somebody did?

    Here --depth K is the depth of the judged shares (default 3); measures go as deep as their own cut-off. Every measure gets
    the lowest and the highest value that any grades of the unjudged passages could give, exactly. All runs of the project
    count: those of the formulations and every --run. An --output that ends in .png, .svg or .pdf gets the figure.

    \b
    Examples:
      robustcs unjudged
      robustcs unjudged --depth 10 --metric ndcg_cut_10 --metric map --scope run
      robustcs unjudged --new-judgments new.txt --output unjudged.pdf --output unjudged.json
      robustcs unjudged --qrels docs.txt --run ance=passages.trec --documents
    """
    from dataclasses import replace
    from pathlib import Path

    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.inputs.qrels import IRDS_PREFIX
    from robustcs.project.workspace import Workspace
    from robustcs.studies.unjudged.ask import find_unjudged
    from robustcs.studies.unjudged.show import present_unjudged

    # here --depth is that of the shares, not of the evaluation
    project = load_project_with_runs(replace(options, depth=None))
    if new_judgments:
        given = new_judgments if new_judgments.startswith(IRDS_PREFIX) else Path(new_judgments)
        project = replace(project, new_judgments=given)
    workspace = Workspace(project, options.jobs, track)
    result = find_unjudged(workspace, options.depth, scope, max_grade, documents)  # type: ignore[arg-type]
    emit("unjudged", result, present_unjudged(result), workspace.inputs, options)
