"""Question similarity against answer similarity, from the files of a workspace: what ``robustcs correlate`` computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robustcs.project.workspace import Workspace
from robustcs.similarity.questions import check_similarities, question_similarities
from robustcs.studies.correlate.analysis import Corners, Correlate, correlate_similarity
from robustcs.studies.correlate.pairs import read_question_pairs
from robustcs.studies.encoders import load_encoders

#: The first one places the outliers.
DEFAULT_SIMILARITIES = ("rouge1_f", "rouge1_recall", "rouge1_precision", "rougeL_f")


def ask(
    workspace: Workspace,
    *,
    answers_by: Sequence[str] = (),
    similarities: Sequence[str] = (),
    use: str | None = None,
    sentence_transformer: str | None = None,
    stem: bool = True,
    corners: tuple[float, float, float, float] = (0.9, 0.4, 0.8, 0.8),
    with_original: bool = False,
) -> Correlate:
    """Every similarity of QR and Human text against every measure of the answers, for every rewriter of the project.

    answers_by
        Measures of the answers: see :func:`~robustcs.studies.correlate.pairs.read_question_pairs`.
    similarities
        Names of similarities of the texts; by default ROUGE-1, ROUGE-L and the encoders given.
    use, sentence_transformer
        Folder (or, for USE, handle) of a sentence encoder.
    stem
        ROUGE with the Porter stemmer.
    corners
        A, B, C, D of the outliers: similarity > A but answers < B, or similarity < C but answers > D.
    with_original
        Compare Original with Human as well, like one more rewriter.
    """
    import pandas as pd

    models = {"use": use, "sentence_transformer": sentence_transformer}
    given = [name for name, model in models.items() if model]
    similarities = tuple(dict.fromkeys(similarities)) or (*DEFAULT_SIMILARITIES, *given)
    check_similarities(similarities, given)
    encoders = load_encoders(*(model if name in similarities else None for name, model in models.items()))
    pairs, evaluated = read_question_pairs(workspace, answers_by, with_original)
    filled = []
    for pair in pairs:
        columns = question_similarities(pair.qr, pair.human, similarities, encoders, stem=stem, track=workspace.track)
        filled.append(replace(pair, similarity=pd.DataFrame(columns, index=pair.answers.index)))
    return correlate_similarity(filled, evaluated, encoders, Corners(*corners))
