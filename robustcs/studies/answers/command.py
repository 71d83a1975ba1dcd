"""``robustcs answers``."""

from __future__ import annotations

from typing import Any

import click

from robustcs.studies.study import MOST, SEED, UNIT, Call, Command


def _run(call: Call, **settings: Any) -> None:
    from dataclasses import replace

    from robustcs.project.model import AnswerFiles
    from robustcs.studies.answers.ask import ask
    from robustcs.studies.answers.show import show

    given = {name: value for name, value in settings.items() if value is not None}
    files = (call.project.answers or AnswerFiles()).given(**given)
    workspace = call.workspace(replace(call.project, answers=files))
    result = ask(workspace)
    call.emit(workspace, result, show(result))


COMMAND = Command(
    """How much of what they should say do answers say, and why do they miss the rest?

    Answers of several systems (JSON {turn: answer}, JSONL with id and answer, answers of TREC RAG, MTRAG tasks) are held
    against snippets that people chose in passages, against nuggets, or both: recall, precision and length, with intervals and
    tests of every pair of systems. Nuggets count by a judge's assignments where these are given (nuggetizer's JSONL), else by
    their words.

    What an answer misses is the generator's fault where the passages that it was made of held it, the rewriter's where only
    those of the human question did, else that of retrieval. The passages are the first of the run with the system's name, in
    --run or in the project, or what the file of answers lists.

    \b
    Examples:
      robustcs answers
      robustcs answers --response t5=t5.json --snippets experts.csv
      robustcs answers --response ours=ours.jsonl --nuggets nuggets.jsonl \\
          --run ours=ours.trec --human human.trec
      robustcs answers --assignments a=a.jsonl --assignments b=b.jsonl
      robustcs answers --output answers.svg
    """,
    uses=(
        "answers.responses", "answers.snippets", "answers.nuggets", "answers.assignments", "answers.runs", "answers.human",
        "collection", "missing", "order", "documents", *UNIT, *SEED,
    ),
    parameters=(
        click.Option(["--read-depth", "depth"], type=click.IntRange(1, MOST), metavar="K",
                     help="How many passages of a run an answer is made of (default 5)."),
        click.Option(["--covered"], type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
                     help="An item counts as covered from this share of its words on (default 0.5; partial support is 0.5)."),
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
