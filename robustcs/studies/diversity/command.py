"""``robustcs diversity``."""

from __future__ import annotations

import click

from robustcs.studies.encoders import ENCODERS
from robustcs.studies.study import Command

COMMAND = Command(
    """How different are texts from their source, and from each other? BLEU, self-BLEU, duplicates.

    Files are question texts in any form that --rewrites takes, or paraphrases (CSV in the ECAsT form, FIELD manual or raw).
    Without --source and --target, the formulations and paraphrases of the project are compared.

    \b
    Examples:
      robustcs diversity
      robustcs diversity --source topics.json:raw_utterance \\
          --target topics.json:manual_rewritten_utterance
      robustcs diversity --source topics.json:manual --target before.csv \\
          --target after.csv
    """,
    uses=("rewrites", "paraphrases"),
    parameters=(
        click.Option(["--source", "sources"], multiple=True, metavar="FILE[:FIELD]",
                     help="Texts that the others start from, such as the turns that were paraphrased; the references of BLEU."),
        click.Option(["--target", "targets"], multiple=True, metavar="FILE[:FIELD]",
                     help="Texts to look at; several, such as before and after an edit, stand side by side."),
        *ENCODERS,
    ),
    retrieves=False,
)  # fmt: skip
