"""Questions that ``robustcs samples`` answers in the report."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.document import Cards
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.requirements import sampled
from robustcs.project.workspace import Workspace
from robustcs.studies.samples.findings import samples_findings, turns_to_read
from robustcs.studies.samples.show import show
from robustcs.studies.samples.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: a language model writes another text each time, so a sample is one of several possible rewrites. Papers"
    " usually report one sample. The shares of sample and interaction in the variance show how much scores depend on the"
    " sample. The best of several samples is the result of a perfect choice. Part of its gain is noise, so compare it with the"
    " gain by chance."
)


def _inputs(project: Project) -> Project:
    varies = any(
        part.role == "qr" and (part.sample_runs or part.samples or part.rewrites)
        for part in project.formulations.values()
    )
    needs(
        varies,
        "no-samples",
        "no rewriter has several samples",
        "add several runs, or texts with several samples",
    )
    part = of_rankings(
        project, ("qrels", "policy", "seed"), ("run", "rewrites", "samples", "sample_runs")
    )
    part = replace(
        part, formulations={key: one for key, one in part.formulations.items() if one.role == "qr"}
    )
    sampled(Workspace(part))  # a file of texts may contain several samples: only its turns show it
    return part


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    # the page lists turns
    blocks = tuple(block for block in show(result) if not isinstance(block, Cards))
    return SectionContent(result, blocks, samples_findings(result), _READING, turns_to_read(result))


QUESTIONS = (
    Question(
        "samples", "How much does a rewriter vary between samples?", ("samples", "sample_scores"), _inputs, _content,
        given=lambda project: any(part.sample_runs or part.samples for part in project.formulations.values())
    ),
)  # fmt: skip
