"""Questions that ``robustcs robustness`` answers in the report."""

from __future__ import annotations

from robustcs.documents.headline import headline_measure
from robustcs.messages import Message, OptionName
from robustcs.project.hole_imputation import filled_drops
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.workspace import Workspace
from robustcs.studies.robustness.analysis import Robustness
from robustcs.studies.robustness.findings import robustness_findings, verdicts
from robustcs.studies.robustness.show import show
from robustcs.studies.robustness.study import ask
from robustcs.studies.study import Question, SectionContent

_READING = (
    "How to read it: every test set paraphrases the same turns and is compared with its baseline turn by turn. If the interval"
    " of a loss includes zero, the loss may be due to chance. Unjudged passages count as not relevant; the sentence after each"
    " drop gives the expected drop if the hole model grades them."
)


def _inputs(project: Project) -> Project:
    needs(
        project.qrels,
        "no-qrels",
        "no qrels",
        Message("add qrels = … to robustcs.toml or use ", OptionName("qrels")),
    )
    keys = ["qrels", "qrels_selection", "runs", "groups", "run_groups", "policy", "seed"]
    if project.texts or project.raw_texts:  # they determine the variation of a set for each turn
        keys += ["paraphrases", "texts", "raw_texts"]
    # all runs: the hole model learns from all of them
    return of_rankings(project, keys, ("run", "rewrites"))


def _content(workspace: Workspace) -> SectionContent:
    result = ask(workspace)
    assert isinstance(result, Robustness)  # groups are needed here, so it is no experiment
    drops = filled_drops(
        workspace,
        [headline_measure(result.groups["metric"])],
        result.turns["turn"],
        result.fully_asked,
    )
    result = result.changed(drops=drops)
    findings = robustness_findings(result, drops)
    return SectionContent(
        result, show(result), findings, _READING, verdicts=verdicts(result, drops)
    )


QUESTIONS = (
    Question("robustness", "How much do scores drop when questions are paraphrased?", ("measures", "turns"), 
             _inputs, _content),
)  # fmt: skip
