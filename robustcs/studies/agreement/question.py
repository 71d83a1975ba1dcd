"""Annotators in the report: what they choose, and how they rate."""

from __future__ import annotations

from robustcs.documents.order import figures_first
from robustcs.project.model import AgreementFiles, Project
from robustcs.project.parts import needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.agreement.ask import compare_ratings, compare_snippets
from robustcs.studies.agreement.findings import rating_findings, snippet_findings
from robustcs.studies.agreement.show import show
from robustcs.studies.agreement.show_snippets import present_layers
from robustcs.studies.study import Answer, Question

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


def _agreement(project: Project) -> AgreementFiles:
    return project.agreement or AgreementFiles()


def _part_snippets(project: Project) -> Project:
    needs(_agreement(project).snippets, "no-annotations", "no snippets", "name them with [agreement] snippets = …")
    return only(project, ("agreement", "policy", "seed"))


def _part_ratings(project: Project) -> Project:
    needs(_agreement(project).ratings, "no-ratings", "no ratings", "name them with [agreement] ratings = …")
    return only(project, ("agreement", "policy", "seed"))


def _snippets(workspace: Workspace) -> Answer:
    compared = compare_snippets(workspace)
    result = compared.result
    blocks = (*figures_first(show(result)), present_layers(result, compared.texts, compared.references, _TEXTS))
    return Answer(snippet_findings(result), _READING_SNIPPETS, blocks, result.evaluated, {"agreement": result})


def _ratings(workspace: Workspace) -> Answer:
    result = compare_ratings(workspace)
    blocks = figures_first(show(result))
    return Answer(rating_findings(result), _READING_RATINGS, blocks, result.evaluated, {"agreement": result})


QUESTIONS = (
    Question(
        "snippets", "Do annotators choose the same snippets?", ("jaccard", "reference", "workers"), _part_snippets,
        given=lambda project: bool(_agreement(project).snippets), answer=_snippets,
    ),
    Question("ratings", "Do raters agree?", ("kappa", "alpha"), _part_ratings,
             given=lambda project: bool(_agreement(project).ratings), answer=_ratings),
)  # fmt: skip
