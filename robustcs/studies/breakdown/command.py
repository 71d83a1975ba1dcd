"""``robustcs breakdown``."""

from __future__ import annotations

from typing import Any

import click

from robustcs.studies.slicing import find_option, slices_option
from robustcs.studies.study import BY, FORMULATIONS, SCORING, SEED, UNIT, Call, Command


def _run(call: Call, show: str | None, details: tuple[str, ...], **split: Any) -> None:
    from robustcs.studies.breakdown import show as shown

    workspace = call.answered()
    pairs = bool({"rewriter_tests", "rewriter_scores"} & set(call.given["table"]))
    result = call.ask(workspace, pairs=pairs or None, **split)
    blocks = shown.show(result, details)
    if show is not None:
        blocks += (shown.show_turns(result, show),)
    call.emit(workspace, result, blocks)


COMMAND = Command(
    """Wrong answer or wrong question? Bins of Original / QR / Human, and who is to blame.

    \b
    Examples:
      robustcs breakdown
      robustcs breakdown --show 001 --metric ndcg_cut_3 --threshold 0.5
      robustcs breakdown --slices depth --slices pronoun --find-slices
      robustcs breakdown --original raw.trec --qr t5.trec --human manual.trec \\
          --qrels qrels.txt --relevance-level 2
      robustcs breakdown --metric f1 --gold gold.json --answers original=a.json \\
          --answers qr=b.json --answers human=c.json
    """,
    uses=(*FORMULATIONS, "threshold", *SCORING, *BY, *UNIT, *SEED),
    parameters=(
        click.Option(["--details"], multiple=True, metavar="NAME",
                     help="Of several rewriters, also show all tables of this one."),
        click.Option(["--show"], metavar="BIN",
                     help="Also list the turns of a bin with their texts; BIN is Original, QR, Human as 0 or 1: 001."),
        slices_option(),
        find_option("high losses against Human"),
    ),
    run=_run,
)  # fmt: skip
