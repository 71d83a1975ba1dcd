"""``robustcs passages``."""

from __future__ import annotations

import click

from robustcs.studies.study import SEED, Command

COMMAND = Command(
    """Which passages of each turn should be annotated?

    The best graded passages of every turn, none below the relevance level. Of a grade that has more passages than
    there are places left, their texts are clustered (k-means over TF-IDF) and one of each cluster is drawn, by --seed: what is
    annotated is relevant and says different things. Needs scikit-learn: pip install 'robustcs[passages]'.

    \b
    Examples:
      robustcs passages --relevance-level 2 --output passages.csv
      robustcs passages --qrels qrels.txt --collection passages.jsonl.gz \\
          --per-turn 3 --seed 7
    """,
    uses=("qrels", "collection", "relevance_level", *SEED),
    parameters=(
        click.Option(["--per-turn"], type=click.IntRange(1, 100), default=5, show_default=True, metavar="N",
                     help="Passages to choose."),
    ),
    retrieves=False,
)  # fmt: skip
