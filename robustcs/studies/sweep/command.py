"""``robustcs sweep``."""

from __future__ import annotations

import click

from robustcs.studies.study import FORMULATIONS, SCORING, UNIT, Command

COMMAND = Command(
    """How do the bins change with the threshold? Counts, areas, and the stacked figure.

    Measures that are 0 or 1, such as P_1, are swept only where --metric names them. Several measures, or several rewriters,
    stand side by side. An --output that ends in .png, .svg or .pdf gets the figure.

    \b
    Examples:
      robustcs sweep --metric ndcg_cut_3
      robustcs sweep --metric ndcg_cut_3 --output sweep.pdf
      robustcs sweep --qr T5=t5.trec --qr GPT=gpt.trec --output sweep.svg
    """,
    uses=(*FORMULATIONS, *SCORING, *UNIT),
    parameters=(
        click.Option(["--step"], default="0.02", show_default=True, metavar="T",
                     help="Distance of the thresholds from 0 to 1."),
    ),
)  # fmt: skip
