"""``robustcs audit``."""

from __future__ import annotations

import click

from robustcs.studies.study import SCORING, SEED, SYSTEMS, UNIT, Command

COMMAND = Command(
    """Can this judge be trusted? A model's judgments beside those of people, on the same passages.

    Agreement on grades, the direction of the errors, by the depth of the turn and by the runs that found a passage, and what
    becomes of the ranking of systems. A judge may also be a second person, or the same people at another time. Where people
    and judge judged different topics, only the rankings of systems are compared.

    \b
    Examples:
      robustcs audit
      robustcs audit --qrels people.txt --judge gpt=gpt.txt --relevance-level 2
      robustcs audit --judge u=umbrela.jsonl --rewrites human=manual.tsv \\
          --collection passages.jsonl
    """,
    uses=("qrels", "judges", *SYSTEMS[1:], "collection", *SCORING, *UNIT, *SEED),
    parameters=(
        click.Option(["--off-scale"], type=click.Choice(["refuse", "drop", "clip"]), default="refuse", show_default=True,
                     help="What becomes of grades that people do not use: the file is refused, the labels are dropped, or"
                     " they are clipped to the nearest grade."),
    ),
)  # fmt: skip
