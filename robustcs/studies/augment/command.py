"""``robustcs augment``."""

from __future__ import annotations

from typing import Any

import click

from robustcs.studies.study import MOST, SEED, SYSTEMS, UNIT, Call, Command


def _run(call: Call, write_qrels: str | None, **asked: Any) -> None:
    from robustcs.documents.files import write_text
    from robustcs.errors import UsageError
    from robustcs.evaluation.augmentation import qrels_text
    from robustcs.protected import refuse_protected
    from robustcs.studies.augment.ask import ask
    from robustcs.studies.augment.show import show

    workspace = call.answered()
    if write_qrels is not None:
        refuse_protected(write_qrels)
        if not workspace.project.new_judgments:
            raise UsageError("no-new-judgments", "no new judgments are given", "name them with --new-judgments FILE")
    else:
        workspace.require_runs()
    result = ask(workspace, **asked)
    if write_qrels is not None and result.merged is not None:
        write_text(write_qrels, qrels_text(result.merged))
        call.tell(f"wrote {write_qrels}")
    call.emit(workspace, result, show(result))


COMMAND = Command(
    """What changes once more passages are judged? Scores before and after, and whether systems change places.

    Scores before and after go over the turns that the old judgments judge. --what-if and --leave-one-out go over the merged
    judgments and need no new ones. --judge corrects the scores that a model gives to all conversations by what people say of
    those that they judged. All runs of the project are scored: those of the formulations and every --run. An
    --output that ends in .png, .svg or .pdf gets the figure.

    \b
    Examples:
      robustcs augment --new-judgments new.txt --write-qrels merged.txt
      robustcs augment --conflicts max --metric ndcg_cut_3 --output table14.tex
      robustcs augment --what-if 1000 --rates 0=.7,1=.2,2=.1
      robustcs augment --leave-one-out --pool-depth 5
      robustcs augment --judge gpt=gpt.txt --within 0.03
    """,
    uses=(
        *SYSTEMS, "new_judgments", "judges", "collection", "metric", "relevance_level", "missing", "order", "depth",
        "documents", "jobs", "dask", *UNIT, *SEED,
    ),
    parameters=(
        click.Option(["--conflicts"], type=click.Choice(["keep", "replace", "max", "fail"]), default="keep", show_default=True,
                     help="Which grade stands where a passage was judged twice with different ones: the earlier file's, so that"
                     " only filled holes change scores; the later file's; the higher one; or none, and the command stops."),
        click.Option(["--write-qrels"], metavar="FILE", help="Write the merged judgments here."),
        click.Option(["--what-if"], type=click.IntRange(1, 100_000), metavar="N",
                     help="Draw grades for unjudged passages N times: how is every score distributed?"),
        click.Option(["--rates"], metavar="GRADE=P,...",
                     help="How probable each grade is, such as 0=.8,1=.1,2=.1 (default: as the hole model predicts it)."),
        click.Option(["--leave-one-out"], is_flag=True,
                     help="Withdraw, run by run, the judgments that it alone contributed, and score it again; then group by"
                     " group, those of [run_groups]."),
        click.Option(["--pool-depth"], type=click.IntRange(1, MOST), default=10, show_default=True, metavar="K",
                     help="For --what-if and --leave-one-out the pool is the top K of every run."),
        click.Option(["--within"], type=float, metavar="X",
                     help="With --judge: how many conversations must people judge for 95 % intervals of ±X?"),
        click.Option(["--off-scale"], type=click.Choice(["refuse", "drop", "clip"]), default="refuse", show_default=True,
                     help="What becomes of a judge's grades that people do not use."),
    ),
    run=_run,
)  # fmt: skip
