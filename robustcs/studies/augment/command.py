"""``robustcs augment``."""

from __future__ import annotations

import click

from robustcs.cli.options import MOST, Options, shared_options
from robustcs.cli.retrieved import load_project_with_runs
from robustcs.cli.terminal import tell


@click.command(short_help="What changes once more passages are judged?")
@click.option("--new-judgments", multiple=True, metavar="FILE",
              help="Judgments to join the qrels; several files join one after the other.")
@click.option("--conflicts", "rule", type=click.Choice(["keep", "replace", "max", "fail"]), default="keep",
              show_default=True,
              help="Which grade stands where a passage was judged twice with different ones: the earlier file's, so that"
              " only filled holes change scores; the later file's; the higher one; or none, and the command stops.")
@click.option("--write-qrels", metavar="FILE", help="Write the merged judgments here.")
@click.option("--what-if", type=click.IntRange(min=1, max=100_000), metavar="N",
              help="Draw grades for unjudged passages N times: how is every score distributed?")
@click.option("--rates", metavar="GRADE=P,...",
              help="How probable each grade is, such as 0=.8,1=.1,2=.1 (default: as observed at each rank).")
@click.option("--leave-one-out", is_flag=True,
              help="Withdraw, run by run, the judgments that it alone contributed, and score it again.")
@click.option("--pool-depth", type=click.IntRange(1, MOST), default=10, show_default=True, metavar="K",
              help="For --what-if and --leave-one-out the pool is the top K of every run.")
@shared_options
def augment(
    options: Options,
    new_judgments: tuple[str, ...],
    rule: str,
    write_qrels: str | None,
    what_if: int | None,
    rates: str | None,
    leave_one_out: bool,
    pool_depth: int,
) -> None:
    """What changes once more passages are judged? Scores before and after, and whether systems change places.

    Scores before and after go over the turns that the old judgments judge. --what-if and --leave-one-out go over the merged
    judgments and need no new ones. All runs of the project are scored: those of the formulations and every --run. An
    --output that ends in .png, .svg or .pdf gets the figure.

    \b
    Examples:
      robustcs augment --new-judgments new.txt --write-qrels merged.txt
      robustcs augment --conflicts max --metric ndcg_cut_3 --output table14.tex
      robustcs augment --what-if 1000 --rates 0=.7,1=.2,2=.1
      robustcs augment --leave-one-out --pool-depth 5
    """
    from robustcs.cli.output import check_outputs, emit
    from robustcs.cli.progress import track
    from robustcs.documents.files import write_text
    from robustcs.errors import UsageError
    from robustcs.evaluation.augmentation import qrels_text
    from robustcs.inputs.qrels import IRDS_PREFIX
    from robustcs.project.workspace import Workspace
    from robustcs.protected import protect
    from robustcs.studies.augment.analysis import Augmentation
    from robustcs.studies.augment.analysis import augment as compare
    from robustcs.studies.augment.ask import pool_runs
    from robustcs.studies.augment.leave_one_out import leave_one_out as leave_out
    from robustcs.studies.augment.show import present_augmentation
    from robustcs.studies.augment.whatif import given_rates, observed_rates, parse_rates
    from robustcs.studies.augment.whatif import what_if as draw

    project = load_project_with_runs(options)
    files = list(new_judgments) or ([str(project.new_judgments)] if project.new_judgments else [])
    if not files and (write_qrels or not (what_if or leave_one_out)):
        raise UsageError(
            "no-new-judgments", "no new judgments are given",
            "name them with --new-judgments FILE, or ask for --what-if N or --leave-one-out",
        )  # fmt: skip
    if rates and not what_if:
        raise UsageError("rates-alone", "--rates says what --what-if draws", "add --what-if 1000")
    given = given_rates(parse_rates(rates), pool_depth) if rates else None
    workspace = Workspace(project, options.jobs, track)
    if what_if or leave_one_out or not write_qrels:
        workspace.require_runs()
    protect(path for path in files if not path.startswith(IRDS_PREFIX))
    check_outputs([*options.output, *([write_qrels] if write_qrels else [])])

    pooled = pool_runs(workspace, files, rule)  # type: ignore[arg-type]
    pool, merge, counted = pooled.pool, pooled.merge, pooled.counted
    before, after = pool.grades(workspace.qrels), pool.grades(merge.qrels)
    measures, policy, seed = pooled.measures, project.policy, project.seed

    change = compare(pool, before, after, merge, measures, policy, counted, seed) if files else None
    draws = None
    if what_if:
        chosen = given or observed_rates(pool, after, pool_depth)
        draws = draw(pool, after, chosen, what_if, measures, policy, counted, seed)
    left = leave_out(pool, after, pool_depth, measures, policy, counted) if leave_one_out else None
    result = Augmentation(pooled.evaluated, change, draws, left, pool_depth)
    if write_qrels:
        write_text(write_qrels, qrels_text(merge.qrels))
        tell(f"wrote {write_qrels}")
    emit("augment", result, present_augmentation(result), workspace.inputs, options)
