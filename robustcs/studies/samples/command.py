"""``robustcs samples``."""

from __future__ import annotations

import click

from robustcs.studies.study import SCORING, SEED, UNIT, Call, Command


def _run(call: Call, within: float) -> None:
    from robustcs.studies.samples.ask import ask
    from robustcs.studies.samples.show import show

    workspace = call.answered(samples=True)
    result = ask(workspace, within=within)
    call.emit(workspace, result, show(result))


COMMAND = Command(
    """How much does a rewriter vary from draw to draw? Samples of one rewriter, in words, rankings and scores.

    A rewriter that is a language model gives another text each time it is asked. Its samples are several texts of a turn in one
    file, several files of texts (--rewrites and --samples), or several runs (--qr with the same NAME). Every other command
    takes the first. Without runs the texts are compared; where [retrieval] names an index, each different text is retrieved
    once.

    \b
    Examples:
      robustcs samples
      robustcs samples --qr llm=draw1.trec --qr llm=draw2.trec --qr llm=draw3.trec
      robustcs samples --rewrites qr=llm4cs.jsonl --output samples.json
      robustcs samples --within 0.005 --output best_of_n.pdf
    """,
    uses=("qrels", "qr", "rewrites", "samples", *SCORING, *UNIT, *SEED),
    parameters=(
        click.Option(["--within"], type=float, default=0.01, show_default=True, metavar="D",
                     help="Say how many samples an average needs to move by no more than D."),
    ),
    run=_run,
)  # fmt: skip
