"""The command ``robustcs diversity``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from robustcs.studies.signature import Opt
from robustcs.studies.study import MOST_COMPARED, SEED, UNIT, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.diversity.analysis import Diversity


def ask(
    workspace: Workspace,
    *,
    sources: Annotated[Any, Opt("FILE[:FIELD]", flag="--source", many=True)] = (),
    targets: Annotated[Any, Opt("FILE[:FIELD]", flag="--target", many=True)] = (),
    use: Annotated[str, Opt("MODEL")] | None = None,
    sentence_transformer: Annotated[str, Opt("FOLDER")] | None = None,
) -> Diversity:
    """Measure how much texts differ from their source and from each other: BLEU, ROUGE, self-BLEU, duplicates.

    FILE contains question texts in any format that --rewrites accepts, or paraphrases (ECAsT CSV; FIELD is manual or raw). All
    samples of a rewriter count. Several targets are compared in pairs: which one is more similar to the source, with adjusted
    p-values. Without --source and --target, compares the formulations and paraphrases of the project.

    Without FIELD, the content of the files decides. If a target is the output of a rewriter, its rewrites are compared with the
    manual turns of the source; otherwise, the manual turns of the target with the raw turns of the source.

    sources
            Texts to compare with, such as the turns that were paraphrased; the references of BLEU.

    targets
            Texts to measure; repeat to compare several, such as two prompts, or texts before and after editing.

    use
            Universal Sentence Encoder: a SavedModel folder or a TensorFlow Hub handle. Requires pip install 'robustcs[use]'.

    sentence_transformer
            Folder of a sentence-transformers model. Requires pip install 'robustcs[sentence-transformers]'.

    Examples:
      robustcs diversity
      robustcs diversity --source topics.json:raw_utterance \\
          --target topics.json:manual_rewritten_utterance
      robustcs diversity --source topics.json:manual --target before.csv \\
          --target after.csv
      robustcs diversity --source cast19_test.json --target REW/rewrites.jsonl \\
          --target COT/rewrites.jsonl
    """
    from robustcs.similarity.encoders import embed, load_encoders
    from robustcs.studies.diversity.analysis import diversity
    from robustcs.studies.diversity.steps import read_text_sets

    pairs, evaluated = read_text_sets(workspace, sources, targets)
    loaded = load_encoders(use, sentence_transformer)
    encoders = [(encoder, partial(embed, encoder, track=workspace.track)) for encoder in loaded]
    many = len({target.name for _, target in pairs})
    if many > MOST_COMPARED:
        left = f"pairs of targets skipped: {many} targets, more than the limit of {MOST_COMPARED}"
        evaluated = replace(evaluated, notes=(*evaluated.notes, left))
    return diversity(pairs, evaluated, encoders, workspace.project.seed, many <= MOST_COMPARED)


COMMAND = Command(ask, ("rewrites", "samples", "paraphrases", *UNIT, *SEED), retrieves=False)
