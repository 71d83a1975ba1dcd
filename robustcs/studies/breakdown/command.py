"""``robustcs breakdown``."""

from __future__ import annotations

import click

from robustcs.cli.options import Options, shared_options
from robustcs.cli.retrieved import load_project_with_runs


@click.command(short_help="Wrong answer or wrong question?")
@click.option("--show", metavar="BIN", help="Also list the turns of a bin with their texts; BIN is Original, QR, Human"
              " as 0 or 1: 001.")  # fmt: skip
@shared_options
def breakdown(options: Options, show: str | None) -> None:
    """Wrong answer or wrong question? Bins of Original / QR / Human, and who is to blame.

    \b
    Examples:
      robustcs breakdown
      robustcs breakdown --show 001 --metric ndcg_cut_3 --threshold 0.5
      robustcs breakdown --original raw.trec --qr t5.trec --human manual.trec \\
          --qrels qrels.txt --relevance-level 2
      robustcs breakdown --metric f1 --gold gold.json --answers original=a.json \\
          --answers qr=b.json --answers human=c.json
    """
    from robustcs.cli.formulations import refuse_runs, thresholds
    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.project.workspace import Workspace
    from robustcs.studies.breakdown.analysis import breakdown as analyse
    from robustcs.studies.breakdown.show import present_breakdown, present_turns

    refuse_runs(options)
    project = load_project_with_runs(options)
    workspace = Workspace(project, options.jobs, track)
    scores, evaluated = workspace.formulation_scores()
    texts = workspace.texts_of(scores.turns, evaluated.basis)
    result = analyse(scores, evaluated, thresholds(project), texts, project.seed)
    blocks = present_breakdown(result)
    if show is not None:
        blocks += (present_turns(result, show),)
    emit("breakdown", result, blocks, workspace.inputs, options)
