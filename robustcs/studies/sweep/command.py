"""``robustcs sweep``."""

from __future__ import annotations

import click

from robustcs.studies.study import BY, FORMULATIONS, SCORING, SEED, UNIT, Call, Command


def _run(call: Call, step: str, details: tuple[str, ...]) -> None:
    from robustcs.studies.sweep.show import show

    workspace = call.answered()
    result = call.ask(workspace, step=step)
    call.emit(workspace, result, show(result, details))


COMMAND = Command(
    """How do the bins change with the threshold? Counts, areas, and the stacked figure.

    Measures that are 0 or 1, such as P_1, are swept only where --metric or the project file names them. Several measures, or
    several rewriters, stand side by side. An --output that ends in .png, .svg or .pdf gets the figure.

    \b
    Examples:
      robustcs sweep --metric ndcg_cut_3
      robustcs sweep --metric ndcg_cut_3 --output sweep.pdf
      robustcs sweep --qr T5=t5.trec --qr GPT=gpt.trec --output sweep.svg
    """,
    uses=(*FORMULATIONS, *SCORING, *BY, *UNIT, *SEED),
    parameters=(
        click.Option(["--step"], default="0.02", show_default=True, metavar="T",
                     help="Distance of the thresholds from 0 to 1."),
        click.Option(["--details"], multiple=True, metavar="NAME",
                     help="Of several rewriters, also show the bins of this one."),
    ),
    run=_run,
)  # fmt: skip
