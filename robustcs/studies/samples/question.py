"""Rewriters that vary, in the report."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.requirements import sampled
from robustcs.project.workspace import Workspace
from robustcs.studies.samples.ask import ask
from robustcs.studies.samples.findings import samples_findings
from robustcs.studies.samples.show import show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: a sample is one draw of a rewriter that gives another text each time it is asked; one draw is what a paper"
    " usually reports. The share of the variance that is no turn's is what the draw decides. The best of several samples is"
    " what a perfect choice would give, and a part of it is the maximum over noise: compare the gain with that by chance."
)


def _part(project: Project) -> Project:
    varies = any(
        part.role == "qr" and (part.sample_runs or part.samples or part.rewrites) for part in project.formulations.values()
    )
    needs(varies, "no-samples", "no rewriter has several samples", "name several runs, or texts with several samples")
    part = only(project, ("qrels", "policy", "seed"), ("run", "rewrites", "samples", "sample_runs"))
    part = replace(part, formulations={key: one for key, one in part.formulations.items() if one.role == "qr"})
    sampled(Workspace(part))  # a file of texts may hold several samples: only its turns tell
    return replace(part, metrics=measures(project, of_answers=False))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(samples_findings(result), _READING, figures_first(show(result)), result.evaluated, {"samples": result})


QUESTIONS = (
    Question(
        "samples", "How much does a rewriter vary from draw to draw?", ("samples", "sample_scores"), _part,
        given=lambda project: any(part.sample_runs or part.samples for part in project.formulations.values()), answer=_answer,
    ),
)  # fmt: skip
