"""People: annotators who choose snippets, raters, and crowd workers whose grades become judgments."""

from __future__ import annotations

from robustcs.documents.order import figures_first
from robustcs.project.model import AgreementFiles, Project
from robustcs.project.parts import needs, only
from robustcs.project.workspace import Workspace
from robustcs.reporting.question import Answer, Question
from robustcs.studies.agreement.ask import compare_ratings, compare_snippets
from robustcs.studies.agreement.findings import crowd_findings, rating_findings, snippet_findings
from robustcs.studies.agreement.show import present_agreement, present_layers, present_ratings
from robustcs.studies.crowd.ask import evaluate_crowd
from robustcs.studies.crowd.show import present_crowd

#: Texts shown with what everybody chose in them, those with the least agreement.
_TEXTS = 10

_READING_SNIPPETS = (
    "How to read it: J is the part of all chosen characters that every annotator chose, J_k the part that at least k did. Low"
    " values are usual, because people choose different passages of a text; compare with other data of the same kind."
)
_READING_RATINGS = (
    "How to read it: κ and alpha are 1 for full agreement and 0 for that of chance. Fleiss' κ takes every difference for a"
    " disagreement; ordinal alpha minds near ratings less, so a large gap between the two means that raters differ by one step."
)
_READING_CROWD = (
    "How to read it: workers who contradict what is known about an item lose their grades of that topic; agreement before and"
    " after says what that does. Scores of the runs are only as good as these judgments: a run whose questions nobody graded"
    " scores low."
)


def _agreement(project: Project) -> AgreementFiles:
    return project.agreement or AgreementFiles()


def _part_snippets(project: Project) -> Project:
    needs(_agreement(project).snippets, "no-annotations", "no snippets", "name them with [agreement] snippets = …")
    return only(project, ("agreement", "policy", "seed"))


def _part_ratings(project: Project) -> Project:
    needs(_agreement(project).ratings, "no-ratings", "no ratings", "name them with [agreement] ratings = …")
    return only(project, ("agreement", "policy", "seed"))


def _part_crowd(project: Project) -> Project:
    needs(project.crowd, "no-crowd", "no crowd judgments", "name their files with [crowd] in robustcs.toml")
    return only(project, ("crowd", "policy", "seed"))


def _snippets(workspace: Workspace) -> Answer:
    compared = compare_snippets(workspace)
    result = compared.result
    blocks = (*figures_first(present_agreement(result)), present_layers(result, compared.texts, compared.references, _TEXTS))
    return Answer(snippet_findings(result), _READING_SNIPPETS, blocks, result.evaluated, {"agreement": result})


def _ratings(workspace: Workspace) -> Answer:
    result = compare_ratings(workspace)
    blocks = figures_first(present_ratings(result))
    return Answer(rating_findings(result), _READING_RATINGS, blocks, result.evaluated, {"agreement": result})


def _crowd(workspace: Workspace) -> Answer:
    result = evaluate_crowd(workspace).result
    blocks = figures_first(present_crowd(result))
    return Answer(crowd_findings(result), _READING_CROWD, blocks, result.evaluated, {"crowd": result})


SNIPPETS = Question(
    "snippets", "Do annotators choose the same snippets?", ("jaccard", "reference", "workers"), _part_snippets, _snippets
)
RATINGS = Question("ratings", "Do raters agree?", ("kappa", "alpha"), _part_ratings, _ratings)
CROWD = Question("crowd", "What do the crowd's judgments say?", ("qrels", "agreement", "measures"), _part_crowd, _crowd)
