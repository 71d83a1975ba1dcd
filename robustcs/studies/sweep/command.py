"""``robustcs sweep``."""

from __future__ import annotations

import click

from robustcs.cli.options import Options, shared_options
from robustcs.cli.retrieved import load_project_with_runs


@click.command(short_help="How do the bins change with the threshold?")
@click.option("--step", default="0.02", show_default=True, metavar="T", help="Distance of the thresholds from 0 to 1.")
@shared_options
def sweep(options: Options, step: str) -> None:
    """How do the bins change with the threshold? Counts, areas, and the stacked figure.

    Measures that are 0 or 1, such as P_1, are swept only where --metric names them. Several measures, or several rewriters,
    stand side by side. An --output that ends in .png, .svg or .pdf gets the figure.

    \b
    Examples:
      robustcs sweep --metric ndcg_cut_3
      robustcs sweep --metric ndcg_cut_3 --output sweep.pdf
      robustcs sweep --qr T5=t5.trec --qr GPT=gpt.trec --output sweep.svg --output sweep.json
    """
    from robustcs.cli.formulations import refuse_runs
    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.errors import UsageError
    from robustcs.project.workspace import Workspace
    from robustcs.studies.sweep.analysis import sweep as analyse
    from robustcs.studies.sweep.analysis import threshold_grid
    from robustcs.studies.sweep.show import present_sweep

    refuse_runs(options)
    if options.threshold:
        raise UsageError("no-threshold", "a sweep goes over all thresholds", "use --step, or robustcs breakdown")
    grid = threshold_grid(step)
    workspace = Workspace(load_project_with_runs(options), options.jobs, track)
    scores, evaluated = workspace.formulation_scores()
    result = analyse(scores if options.metric else scores.graded(), evaluated, grid)
    emit("sweep", result, present_sweep(result), workspace.inputs, options)
