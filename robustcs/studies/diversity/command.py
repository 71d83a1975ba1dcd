"""``robustcs diversity``."""

from __future__ import annotations

import click

from robustcs.studies.encoders import ENCODERS
from robustcs.studies.study import SEED, UNIT, Command

COMMAND = Command(
    """How different are texts from their source, and from each other? BLEU, ROUGE, self-BLEU, duplicates.

    Files are question texts in any form that --rewrites takes, or paraphrases (CSV in the ECAsT form, FIELD manual or raw).
    All samples of a rewriter count. Several targets are compared in pairs: which is more similar to the source, with adjusted
    p-values. Without --source and --target, the formulations and paraphrases of the project are compared.

    Without FIELD, the texts of known kinds of files are found: the rewrites of a rewriter's file and, beside them, the manual
    turns of the source; else the raw turns of the source and the manual ones of the target.

    \b
    Examples:
      robustcs diversity
      robustcs diversity --source topics.json:raw_utterance \\
          --target topics.json:manual_rewritten_utterance
      robustcs diversity --source topics.json:manual --target before.csv \\
          --target after.csv
      robustcs diversity --source cast19_test.json --target REW/rewrites.jsonl \\
          --target COT/rewrites.jsonl
    """,
    uses=("rewrites", "samples", "paraphrases", *UNIT, *SEED),
    parameters=(
        click.Option(["--source", "sources"], multiple=True, metavar="FILE[:FIELD]",
                     help="Texts that the others start from, such as the turns that were paraphrased; the references of BLEU."),
        click.Option(["--target", "targets"], multiple=True, metavar="FILE[:FIELD]",
                     help="Texts to look at; several, such as two prompts, or before and after an edit, are compared."),
        *ENCODERS,
    ),
    retrieves=False,
)  # fmt: skip
