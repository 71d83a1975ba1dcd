"""Questions that ``robustcs sweep`` answers in the report."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.document import TableBlock
from robustcs.documents.headline import headline_of
from robustcs.evaluation.thresholds import reachable_thresholds
from robustcs.project.requirements import formulations_by_answers, formulations_by_rankings
from robustcs.project.workspace import Workspace
from robustcs.studies.study import Question, SectionContent
from robustcs.studies.sweep.analysis import sweep
from robustcs.studies.sweep.findings import finding
from robustcs.studies.sweep.show import show


def _content(workspace: Workspace) -> SectionContent:
    scores, evaluated = workspace.formulation_scores()
    result = sweep(scores.graded(), evaluated, seed=workspace.project.seed)
    cut = headline_of(
        scores.measures,
        reachable_thresholds(workspace.project.thresholds, workspace.project.metrics),
    )
    blocks = (
        replace(block, slug=f"sweep-{block.slug}") if isinstance(block, TableBlock) else block
        for block in show(result, marked=cut)
    )
    return SectionContent(result, tuple(blocks), finding(result, cut[:1]))


#: They continue the sections of the breakdown.
QUESTIONS = (
    Question("breakdown", "", ("blame",), formulations_by_rankings, _content),
    Question("answers", "", ("blame",), formulations_by_answers, _content),
)
