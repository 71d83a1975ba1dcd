"""The command ``robustcs correlate``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from robustcs.errors import refuse_unknown
from robustcs.studies.signature import Names, Opt
from robustcs.studies.study import FORMULATIONS, SCORING, UNIT, Call, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.correlate.analysis import Correlate


#: The first one defines the outliers.
DEFAULT_SIMILARITIES = ("rouge1_f", "rouge1_recall", "rouge1_precision", "rougeL_f")


def ask(
    workspace: Workspace,
    *,
    answers_by: Annotated[tuple[str, ...], Opt("NAME", flag="--y")] = (),
    similarities: Annotated[tuple[str, ...], Opt("NAME", flag="--x")] = (),
    use: Annotated[str, Opt("MODEL")] | None = None,
    sentence_transformer: Annotated[str, Opt("FOLDER")] | None = None,
    stem: Annotated[bool, Opt(flag="--stemmer/--no-stemmer", rare=True)] = True,
    with_original: Annotated[bool, Opt(rare=True)] = False,
) -> Correlate:
    """Do similar questions get similar answers? Correlate the two similarities over turns and list the exceptions.

    If --output ends in .png, .svg or .pdf, the file contains the scatter plot of the first --x and the first --y. The first
    --metric that is not binary (default: NDCG@3) and the --threshold nearest to 0.5 decide which answers are correct, as in
    the report. Several rewriters are compared in one table and one figure.

    answers_by
        Similarity of the answers: overlap_1000, jaccard_10, rbo, answer_jaccard, or a column of --scores answers=FILE. A
        measure (ndcg_cut_3) gives the difference QR − Human; with a threshold (P_1=1), whether QR is correct.

    similarities
        Similarity of the QR and Human texts: rouge1_recall (also rouge2, rougeL; precision, f), use, sentence_transformer
        (default: rouge1_f, rouge1_recall, rouge1_precision, rougeL_f and the given encoders).

    use
        Universal Sentence Encoder: a SavedModel folder or a TensorFlow Hub handle. Requires pip install 'robustcs[use]'.

    sentence_transformer
        Folder of a sentence-transformers model. Requires pip install 'robustcs[sentence-transformers]'.

    stem
        Compute ROUGE with or without the Porter stemmer.

    with_original
        Compare Original with Human as well, as if it were a rewriter.

    Examples:
      robustcs correlate
      robustcs correlate --x rouge1_recall --y overlap_1000 --y ndcg_cut_3
      robustcs correlate --rewrites qr=t5.tsv --rewrites human=manual.tsv \\
          --scores answers=overlap.txt --output scatter.pdf
      robustcs correlate --use models/use-4 --output correlate.json
      robustcs correlate --details T5
    """
    from robustcs.lazy import pd
    from robustcs.similarity.encoders import (
        check_similarities,
        load_encoders,
        question_similarities,
    )
    from robustcs.studies.correlate.analysis import correlate_similarity
    from robustcs.studies.correlate.pairs import read_question_pairs

    models = {"use": use, "sentence_transformer": sentence_transformer}
    given = [name for name, model in models.items() if model]
    similarities = tuple(dict.fromkeys(similarities)) or (*DEFAULT_SIMILARITIES, *given)
    check_similarities(similarities, given)
    encoders = load_encoders(
        *(model if name in similarities else None for name, model in models.items())
    )
    pairs, evaluated = read_question_pairs(workspace, answers_by, with_original)
    workspace.note_names("formulations")
    filled = []
    for pair in pairs:
        columns = question_similarities(
            pair.qr, pair.human, similarities, encoders, stem, workspace.track
        )
        filled.append(replace(pair, similarity=pd.DataFrame(columns, index=pair.answers.index)))
    return correlate_similarity(filled, evaluated, encoders)


def _run(call: Call, details: Names, **settings: Any) -> None:
    """Run the study for the command line.

    details
        With several rewriters: also show all tables, the scatter plot and the outliers of this rewriter.
    """
    from robustcs.studies.correlate.show import show

    workspace = call.with_runs()
    result = ask(workspace, **settings)
    refuse_unknown(details, list(dict.fromkeys(result.pairs["rewriter"])), "rewriter")
    call.emit(workspace, result, lambda: show(result, details))


COMMAND = Command(ask, (*FORMULATIONS, "threshold", *SCORING, *UNIT), run=_run)
