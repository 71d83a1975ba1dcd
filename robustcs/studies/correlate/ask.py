"""Question similarity against answer similarity, from the files of a workspace: what ``robustcs correlate`` computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robustcs.evaluation.thresholds import Threshold
from robustcs.project.workspace import Workspace
from robustcs.similarity.encoders import Encoder
from robustcs.similarity.questions import question_similarities
from robustcs.studies.correlate.analysis import Corners, Correlate, correlate_similarity
from robustcs.studies.correlate.pairs import Choose, read_question_pairs

#: The first one places the outliers.
DEFAULT_SIMILARITIES = ("rouge1_f", "rouge1_recall", "rouge1_precision", "rougeL_f")


def correlate_questions(
    workspace: Workspace,
    correct: Threshold | Choose,
    answers: Sequence[str] = (),
    similarities: Sequence[str] = DEFAULT_SIMILARITIES,
    encoders: Sequence[Encoder] = (),
    stem: bool = True,
    corners: Corners | None = None,
) -> Correlate:
    """Every similarity of QR and Human text against every measure of ``answers``, for every rewriter of the project.

    See :func:`~robustcs.studies.correlate.pairs.read_question_pairs` for ``answers`` and ``correct``.
    """
    import pandas as pd

    pairs, evaluated = read_question_pairs(workspace, answers, correct)
    filled = []
    for pair in pairs:
        columns = question_similarities(pair.qr, pair.human, similarities, encoders, stem=stem, track=workspace.track)
        filled.append(replace(pair, similarity=pd.DataFrame(columns, index=pair.answers.index)))
    return correlate_similarity(filled, evaluated, encoders, corners, workspace.project.seed)
