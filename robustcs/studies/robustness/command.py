"""``robustcs robustness``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from robustcs.studies.slicing import slices_option
from robustcs.studies.study import BY, SEED, SYSTEMS, UNIT, Call, Command

if TYPE_CHECKING:
    from robustcs.evaluation.groups import Group


def _run(
    call: Call,
    group: tuple[str, ...],
    slices: tuple[str, ...],
    alpha: float,
    margin: float | None,
    sets: int | None,
    figure: str,
) -> None:
    from dataclasses import replace

    from robustcs.documents.document import Figure
    from robustcs.errors import UsageError
    from robustcs.studies.robustness.experiment import is_experiment
    from robustcs.studies.robustness.show import show

    project = call.project
    if group:
        given = dict(map(_group, group))
        if len(given) < len(group):
            raise UsageError("repeated-group", "two groups have the same name", "give every --group a NAME of its own")
        project = replace(project, groups=given)
    workspace = call.workspace(project) if is_experiment(project) else call.answered(project)
    result = call.ask(workspace, slices=list(slices), alpha=alpha, margin=margin, sets=sets, tell=call.tell)
    blocks = [block for block in show(result) if not isinstance(block, Figure) or block.slug == figure]
    call.emit(workspace, result, blocks)


def _group(text: str) -> tuple[str, Group]:
    from robustcs.errors import UsageError
    from robustcs.evaluation.groups import Group

    name, equals, members = text.partition("=")
    baseline, *sets = members.split(",")
    if not (name and equals and sets and all(part.strip() for part in (baseline, *sets))):
        raise UsageError("bad-group", f"--group {text}", "write --group NAME=BASELINE,SET,SET")
    return name, Group(baseline.strip(), tuple(part.strip() for part in sets))


COMMAND = Command(
    """How far do scores drop when the same is asked in other words?

    Every test set of paraphrases beside its baseline: drops in points and per cent with intervals and tests, gains and
    losses per turn, how much of the variance is wording, and where in the conversation scores drop.

    With paraphrases and an index in robustcs.toml, and no groups, the whole experiment is run: paraphrases are cleaned as by
    robustcs testsets --clean, test sets are drawn (--sets) and retrieved, and how much of the top 3 nobody judged is added.

    \b
    Examples:
      robustcs robustness
      robustcs robustness --metric ndcg_cut_3 --slices turns.tsv --margin 0.05
      robustcs robustness --qrels qrels.txt --run base=human.trec \\
          --run m1=manual_1.trec \\
          --run m2=manual_2.trec --group manual=base,m1,m2
      robustcs robustness --figure spread --output spread.pdf
    """,
    uses=(
        *SYSTEMS, "paraphrases", "texts", "raw_texts", "new_judgments", "metric", "relevance_level", "missing", "order",
        "depth", "documents", "jobs", "dask",
        *BY, *UNIT, *SEED,
    ),
    parameters=(
        click.Option(["--group"], multiple=True, metavar="NAME=BASELINE,SET,…",
                     help="Runs that are compared with a baseline run, by the names of --run or of the project (original,"
                     " human, …). In place of the project's groups."),
        slices_option(" first and depth stand in any case."),
        click.Option(["--alpha"], type=click.FloatRange(min=0), default=1.0, show_default=True, metavar="A",
                     help="In U_Risk and T_Risk a loss weighs 1 + A times a gain."),
        click.Option(["--margin"], type=float, metavar="D",
                     help="Say which drops are no larger than D: the whole 95 % interval lies inside ±D."),
        click.Option(["--sets"], type=click.IntRange(1, 100), metavar="N",
                     help="Test sets of each kind that the whole experiment draws (default 3)."),
        click.Option(["--figure"], type=click.Choice(["drops", "spread", "variations"]), default="drops", show_default=True,
                     help="Which figure an --output that ends in .png, .svg or .pdf gets."),
    ),
    run=_run,
)  # fmt: skip
