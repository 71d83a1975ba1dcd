"""How much of a drop is real: what nobody judged, and what new judgments change."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.rewritten import comparable_groups
from robustcs.project.workspace import Workspace
from robustcs.reporting.findings import augment_findings, unjudged_findings
from robustcs.reporting.question import Answer, Question
from robustcs.studies.augment.ask import compare_judgments
from robustcs.studies.augment.show import present_augmentation
from robustcs.studies.unjudged.ask import find_unjudged
from robustcs.studies.unjudged.show import present_unjudged

_READING = (
    "How to read it: nobody judged every passage, and an unjudged one counts as not relevant. The dot is the score as it is"
    " computed; the line around it goes from the lowest to the highest score that any grades of the run's own unjudged passages"
    " would give. Whether two runs can be told apart these lines do not say: a passage that both found has one grade in both,"
    " and a good one that one run alone found enters the ideal ranking of the other too. The table of pairs tries all grades"
    " for both at once."
)
_READING_NEW = (
    "How to read it: open marks are scores under the old judgments, filled ones after the new ones joined. A score rises where"
    " passages of the run turn out relevant, and falls where others' do, because the ideal ranking gets better. Watch whether"
    " the order of the runs changes, not only whether the scores do."
)


def _runs(project: Project, keys: tuple[str, ...]) -> Project:
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    needs(project.systems, "no-runs", "no runs", "name them in robustcs.toml or with --run NAME=FILE")
    part = only(project, ("qrels", "runs", "policy", "new_judgments", *keys), ("run",))
    return replace(part, metrics=measures(project, of_answers=False))


def _part_unjudged(project: Project) -> Project:
    return _runs(project, ("groups",))


def _part_new(project: Project) -> Project:
    needs(project.new_judgments, "no-new-judgments", "no new judgments", "name them with new_judgments = …")
    return _runs(project, ("seed",))


def _unjudged(workspace: Workspace) -> Answer:
    result = find_unjudged(workspace)
    roles = {part.name: part.role for part in workspace.project.formulations.values()}
    blocks = figures_first(present_unjudged(result))
    findings = unjudged_findings(result, roles, comparable_groups(workspace.project))
    return Answer(findings, _READING, blocks, result.evaluated, {"unjudged": result})


def _new(workspace: Workspace) -> Answer:
    result = compare_judgments(workspace)
    blocks = figures_first(present_augmentation(result))
    return Answer(augment_findings(result), _READING_NEW, blocks, result.evaluated, {"augment": result})


UNJUDGED = Question(
    "unjudged", "How much of the drop is only holes in the judgments?", ("rates", "bounds", "pairs", "grades"),
    _part_unjudged, _unjudged,
)  # fmt: skip
NEW_JUDGMENTS = Question(
    "augment", "What do new judgments change?", ("measures", "ranking", "conflicts"), _part_new, _new
)
