"""The sweep in the report: a part of the breakdown of rankings, and of that of answers."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.document import Table
from robustcs.project.workspace import Workspace
from robustcs.studies.study import Answer, Question
from robustcs.studies.sweep.analysis import sweep
from robustcs.studies.sweep.show import show


def _answer(workspace: Workspace) -> Answer:
    scores, evaluated = workspace.formulation_scores()
    result = sweep(scores.graded(), evaluated)
    blocks = (replace(block, slug=f"sweep-{block.slug}") if isinstance(block, Table) else block for block in show(result))
    return Answer((), "", tuple(blocks), evaluated, {"sweep": result})


QUESTIONS = tuple(Question(section, "", (), answer=_answer, joins=True) for section in ("breakdown", "answers"))
