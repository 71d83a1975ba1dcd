"""``robustcs diversity``."""

from __future__ import annotations

import click

from robustcs.cli.encoders import encoder_options
from robustcs.cli.options import Options, load_project, shared_options


@click.command(short_help="How different are paraphrases from their turns?")
@click.option("--source", "sources", multiple=True, metavar="FILE[:FIELD]",
              help="Texts that the others start from, such as the turns that were paraphrased; the references of BLEU.")
@click.option("--target", "targets", multiple=True, metavar="FILE[:FIELD]",
              help="Texts to look at; several, such as before and after an edit, stand side by side.")
@encoder_options
@shared_options
def diversity(
    options: Options,
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    use: str | None,
    sentence_transformer: str | None,
) -> None:
    """How different are texts from their source, and from each other? BLEU, self-BLEU, duplicates.

    Files are question texts in any form that --rewrites takes, or paraphrases (CSV in the ECAsT form, FIELD manual or raw).
    Without --source and --target, the formulations and paraphrases of the project are compared.

    \b
    Examples:
      robustcs diversity
      robustcs diversity --source topics.json:raw_utterance \\
          --target topics.json:manual_rewritten_utterance
      robustcs diversity --source topics.json:manual --target before.csv --target after.csv
    """
    from functools import partial

    from robustcs.cli.encoders import load_encoders
    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.project.workspace import Workspace
    from robustcs.similarity.encoders import embed
    from robustcs.similarity.store import EmbeddingStore
    from robustcs.studies.diversity.analysis import diversity as analyse
    from robustcs.studies.diversity.ask import read_text_sets
    from robustcs.studies.diversity.show import present_diversity

    workspace = Workspace(load_project(options), options.jobs, track)
    pairs, evaluated = read_text_sets(workspace, sources, targets)
    store = EmbeddingStore()
    encoders = [
        (encoder, partial(embed, encoder, store=store, track=track)) for encoder in load_encoders(use, sentence_transformer)
    ]
    result = analyse(pairs, evaluated, encoders)
    emit("diversity", result, present_diversity(result), workspace.inputs, options)
