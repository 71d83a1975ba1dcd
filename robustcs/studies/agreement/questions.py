"""Questions that ``robustcs agreement`` answers in the report."""

from __future__ import annotations

from robustcs.project.model import Project, needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.agreement.findings import rating_findings, snippet_findings
from robustcs.studies.agreement.show import present_layers, show
from robustcs.studies.agreement.steps import ask_ratings, ask_snippets, files_of_project
from robustcs.studies.study import Question, SectionContent

#: Number of texts with layers in the report: those with the lowest agreement.
_TEXTS = 10

_READING_SNIPPETS = (
    "How to read it: J is the share of all selected characters that every annotator selected; J_k is the share that at least k"
    " annotators selected. Low values are usual, because annotators select different parts of a text. Compare them with similar"
    " data."
)
_READING_RATINGS = (
    "How to read it: κ and alpha are 1 for full agreement and 0 for chance agreement. Fleiss' κ counts every difference as a"
    " disagreement; ordinal alpha penalizes near ratings less. If alpha is much larger than κ, raters mostly differ by one"
    " step."
)


def _snippet_inputs(project: Project) -> Project:
    needs(
        files_of_project(project).snippets,
        "no-annotations",
        "no snippets",
        "add snippets = … under [agreement]",
    )
    return only(project, ("agreement", "policy", "seed"))


def _rating_inputs(project: Project) -> Project:
    needs(
        files_of_project(project).ratings,
        "no-ratings",
        "no ratings",
        "add ratings = … under [agreement]",
    )
    return only(project, ("agreement", "policy", "seed"))


def _snippets(workspace: Workspace) -> SectionContent:
    result = ask_snippets(workspace)
    blocks = (*show(result), present_layers(result, _TEXTS))
    return SectionContent(result, blocks, snippet_findings(result), _READING_SNIPPETS)


def _ratings(workspace: Workspace) -> SectionContent:
    result = ask_ratings(workspace)
    return SectionContent(result, show(result), rating_findings(result), _READING_RATINGS)


QUESTIONS = (
    Question(
        "snippets", "Do annotators select the same snippets?", ("jaccard", "reference", "workers"),
        _snippet_inputs, _snippets, given=lambda project: bool(files_of_project(project).snippets)
    ),
    Question("ratings", "Do raters agree?", ("kappa", "alpha"), _rating_inputs, _ratings,
             given=lambda project: bool(files_of_project(project).ratings)),
)  # fmt: skip
