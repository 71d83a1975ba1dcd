"""Question and answer similarity in the report."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.correlate.ask import ask
from robustcs.studies.correlate.findings import correlate_findings, verdicts
from robustcs.studies.correlate.show import show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: every point is a turn; further right the rewrite is closer to the Human question, further up the two get"
    " more of the same answers. Points near the diagonal are what one expects. At the lower right, a small change of words"
    " changed the answers: a sensitive ranker. At the upper left, another question found the same: the words did not matter."
    " A correlation says how well one predicts the other over turns, not that one causes the other; and it is no licence to"
    " compare systems by their questions: measures that go together over turns may order systems differently."
)


def _part(project: Project) -> Project:
    texts = {part.role for part in project.formulations.values() if part.rewrites}
    needs({"qr", "human"} <= texts, "no-texts", "no question texts of QR and Human", "give --rewrites qr=FILE and human=FILE")
    keys = ("qrels", "gold", "answer_similarity", "thresholds", "policy")
    part = only(project, keys, ("run", "scores", "answers", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=False))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(
        correlate_findings(result), _READING, figures_first(show(result)), result.evaluated, {"correlate": result},
        verdicts=verdicts(result),
    )  # fmt: skip


def _given(project: Project) -> bool:
    return any(part.rewrites for part in project.formulations.values() if part.role == "qr")


QUESTIONS = (
    Question("correlate", "Do similar questions get similar answers?", ("correlations", "differences"), _part,
             given=_given, answer=_answer),
)  # fmt: skip
