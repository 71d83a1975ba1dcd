"""``robustcs correlate``."""

from __future__ import annotations

from typing import Any

import click

from robustcs.studies.encoders import ENCODERS
from robustcs.studies.study import FORMULATIONS, SCORING, UNIT, Call, Command


def _run(call: Call, details: tuple[str, ...], **settings: Any) -> None:
    from robustcs.studies.correlate.ask import ask
    from robustcs.studies.correlate.show import show

    workspace = call.answered()
    result = ask(workspace, **settings)
    call.emit(workspace, result, show(result, details))


COMMAND = Command(
    """Do similar questions get similar answers? Correlations, and the turns that are exceptions.

    An --output that ends in .png, .svg or .pdf gets the scatter plot of the first --x against the first --y. An answer is
    correct by the first --metric that is not binary (default: NDCG@3) and the --threshold nearest to 0.5, as in the report.
    Several rewriters stand side by side in one table and one figure.

    \b
    Examples:
      robustcs correlate
      robustcs correlate --x rouge1_recall --y overlap_1000 --y ndcg_cut_3
      robustcs correlate --rewrites qr=t5.tsv --rewrites human=manual.tsv \\
          --scores answers=overlap.txt --output scatter.pdf
      robustcs correlate --use models/use-4 --output correlate.json
      robustcs correlate --details T5
    """,
    uses=(*FORMULATIONS, "threshold", *SCORING, *UNIT),
    parameters=(
        click.Option(["--x", "similarities"], multiple=True, metavar="NAME",
                     help="Similarity of QR and Human text: rouge1_recall (also rouge2, rougeL; precision, f), use,"
                     " sentence_transformer (default: rouge1_f, rouge1_recall, rouge1_precision, rougeL_f and the encoders"
                     " given)."),
        click.Option(["--y", "answers_by"], multiple=True, metavar="NAME",
                     help="Similarity of the answers: overlap_1000, jaccard_10, rbo, answer_jaccard, a column of --scores"
                     " answers=FILE; or a measure (QR − Human), or with a threshold whether QR is correct: P_1=1."),
        click.Option(["--stemmer/--no-stemmer", "stem"], default=True, help="ROUGE with or without the Porter stemmer."),
        click.Option(["--corners"], type=float, nargs=4, metavar="A B C D", default=(0.9, 0.4, 0.8, 0.8), show_default=True,
                     help="Outliers: similarity > A but answers < B, or similarity < C but answers > D."),
        click.Option(["--with-original"], is_flag=True, help="Compare Original with Human as well, like one more rewriter."),
        *ENCODERS,
        click.Option(["--details"], multiple=True, metavar="NAME",
                     help="Of several rewriters, also show all tables, the scatter plot and the outliers of this one."),
    ),
    run=_run,
)  # fmt: skip
