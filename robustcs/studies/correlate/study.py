"""The command ``robustcs correlate`` and its section of the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from robustcs.errors import refuse_unknown
from robustcs.lazy import pd
from robustcs.messages import Either, Message
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.workspace import Workspace
from robustcs.similarity.encoders import check_similarities, load_encoders, question_similarities
from robustcs.studies.correlate.analysis import Correlate, correlate_similarity
from robustcs.studies.correlate.findings import correlate_findings, verdicts
from robustcs.studies.correlate.pairs import read_question_pairs
from robustcs.studies.correlate.show import show
from robustcs.studies.signature import Names, Opt
from robustcs.studies.study import FORMULATIONS, SCORING, UNIT, Answer, Call, Command, Question

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
    workspace = call.answered()
    result = ask(workspace, **settings)
    refuse_unknown(details, list(dict.fromkeys(result.pairs["rewriter"])), "rewriter")
    call.emit(workspace, result, lambda: show(result, details))


COMMAND = Command(ask, (*FORMULATIONS, "threshold", *SCORING, *UNIT), run=_run)


_READING = (
    "How to read it: each point is a turn. The further right it is, the closer the rewrite is to the Human question; the"
    " further up, the more similar their answers. Points near the diagonal are expected. At the lower right, a small change of"
    " the wording changed the answers: the ranker is sensitive. At the upper left, a different question got the same answers:"
    " the wording did not matter. A correlation shows how well one similarity predicts the other over turns. It does not show"
    " that one causes the other, and it does not justify comparing systems by their questions: measures that correlate over"
    " turns may rank systems differently."
)


def _inputs(project: Project) -> Project:
    texts = {part.role for part in project.formulations.values() if part.rewrites}
    needs(
        {"qr", "human"} <= texts,
        "no-texts",
        "no question texts of QR and Human",
        Message(
            "give ",
            Either("--rewrites qr=FILE and human=FILE", "rewrites={'qr': FILE, 'human': FILE}"),
        ),
    )
    keys = ("qrels", "gold", "answer_similarity", "thresholds", "policy")
    return of_rankings(project, keys, ("run", "scores", "answers", "rewrites"))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(
        result, show(result), correlate_findings(result), _READING, verdicts=verdicts(result)
    )


def _given(project: Project) -> bool:
    return any(part.rewrites for part in project.formulations.values() if part.role == "qr")


QUESTIONS = (
    Question("correlate", "Do similar questions get similar answers?", ("correlations",), _inputs, _answer,
             given=_given),
)  # fmt: skip
