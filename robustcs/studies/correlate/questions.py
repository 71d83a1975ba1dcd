"""Questions that ``robustcs correlate`` answers in the report."""

from __future__ import annotations

from robustcs.documents.document import Cards
from robustcs.messages import Either, Message
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.workspace import Workspace
from robustcs.studies.correlate.findings import correlate_findings, turns_to_read, verdicts
from robustcs.studies.correlate.show import show
from robustcs.studies.correlate.study import ask
from robustcs.studies.study import Question, SectionContent

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


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    # the page lists turns
    blocks = tuple(block for block in show(result) if not isinstance(block, Cards))
    return SectionContent(
        result,
        blocks,
        correlate_findings(result),
        _READING,
        turns_to_read(result),
        verdicts(result),
    )


def _given(project: Project) -> bool:
    return any(part.rewrites for part in project.formulations.values() if part.role == "qr")


QUESTIONS = (
    Question("correlate", "Do similar questions get similar answers?", ("correlations",), _inputs, _content,
             given=_given),
)  # fmt: skip
