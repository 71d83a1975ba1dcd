"""``robustcs evaluate``."""

from __future__ import annotations

from typing import Any

import click

from robustcs.studies.slicing import find_option, slices_option
from robustcs.studies.study import BY, SCORING, SEED, SYSTEMS, UNIT, Call, Command


def _run(call: Call, scores: tuple[str, ...], **settings: Any) -> None:
    from robustcs.project.naming import assigned, distinct
    from robustcs.studies.evaluate.show import show

    named = [assigned("--scores", "NAME", text) for text in scores]
    distinct("--scores", [name for name, _ in named])
    files = dict(named)
    workspace = call.answered()
    result = call.ask(workspace, scores=files, pairs="pairs" in call.given["table"] or None, **settings)
    call.emit(workspace, result, show(result))


COMMAND = Command(
    """Which systems differ significantly? Means with intervals, and every pair compared.

    The sampling unit is the conversation, for turns of a conversation depend on each other. Pairs are tested by flipping the
    signs of whole conversations; p-values are adjusted for the number of pairs (step-down max-T). Beside every difference stand
    its effect size and the smallest difference that the design could have found.

    \b
    Examples:
      robustcs evaluate
      robustcs evaluate --metric ndcg_cut_3 --baseline human --margin 0.02
      robustcs evaluate --scores ours=ours.eval --scores theirs=theirs.eval
      robustcs evaluate --slices depth --slices texts --slices turn_types.tsv
      robustcs evaluate --find-slices
    """,
    uses=(*SYSTEMS, *SCORING, *BY, *UNIT, *SEED),
    parameters=(
        click.Option(["--scores"], multiple=True, metavar="NAME=FILE",
                     help="Per-turn output of trec_eval -q; further systems, or in place of those of the same name."),
        click.Option(["--baseline"], metavar="NAME", help="Compare all others with this system, instead of every pair."),
        click.Option(["--margin"], type=float, metavar="D",
                     help="Say which pairs differ by less than D: the whole 95 % interval lies inside ±D."),
        slices_option(),
        find_option("low scores"),
    ),
    run=_run,
)  # fmt: skip
