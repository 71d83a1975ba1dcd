"""The sweep in the report: a part of the breakdown of rankings, and of that of answers."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.document import Table
from robustcs.documents.headline import headline_of
from robustcs.evaluation.thresholds import reachable_thresholds
from robustcs.project.workspace import Workspace
from robustcs.studies.study import Answer, Question
from robustcs.studies.sweep.analysis import sweep
from robustcs.studies.sweep.findings import finding
from robustcs.studies.sweep.show import show


def _answer(workspace: Workspace) -> Answer:
    scores, evaluated = workspace.formulation_scores()
    result = sweep(scores.graded(), evaluated, seed=workspace.project.seed)
    names = [measure.name for measure in workspace.project.metrics] or scores.measures
    cut = headline_of(names, reachable_thresholds(workspace.project.thresholds, workspace.project.metrics))
    blocks = (
        replace(block, slug=f"sweep-{block.slug}") if isinstance(block, Table) else block for block in show(result, marked=cut)
    )
    return Answer(finding(result, cut[:1]), "", tuple(blocks), evaluated, {"sweep": result})


QUESTIONS = tuple(Question(section, "", ("blame",), answer=_answer, joins=True) for section in ("breakdown", "answers"))
