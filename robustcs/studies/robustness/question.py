"""Other words in the report."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.headline import headline_measure
from robustcs.documents.order import figures_first
from robustcs.project.filled import filled_drops
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.workspace import Workspace
from robustcs.studies.robustness.analysis import Robustness
from robustcs.studies.robustness.ask import ask
from robustcs.studies.robustness.findings import robustness_findings, verdicts
from robustcs.studies.robustness.show import show
from robustcs.studies.study import Answer, Question

_READING = (
    "How to read it: every test set asks the same turns in other words and is compared with its baseline, turn by turn. A"
    " point right of zero is a loss; an interval that crosses zero says that the loss may be chance. Paraphrases find passages"
    " that are unjudged, and here these count as not relevant: the sentence after each drop says what is expected of it with"
    " unjudged passages filled in by the model, and the question before has more of that."
)


def _part(project: Project) -> Project:
    needs(project.groups, "no-groups", "no groups of runs", "name them with [groups.NAME] in robustcs.toml")
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    keys = ["qrels", "qrels_selection", "runs", "groups", "run_groups", "policy", "seed"]
    if project.texts or project.raw_texts:  # they tell what kind of variation a set has for a turn
        keys += ["paraphrases", "texts", "raw_texts"]
    # all runs: what is expected of holes is learned from all of them
    part = only(project, keys, ("run", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=False))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    assert isinstance(result, Robustness)  # groups are needed here, so it is no experiment
    drops = filled_drops(workspace, [headline_measure(result.groups["metric"])], result.turns["turn"])
    result = replace(result, drops=drops)
    return Answer(
        robustness_findings(result, drops), _READING, figures_first(show(result)), result.evaluated,
        {"robustness": result}, verdicts=verdicts(result, drops),
    )  # fmt: skip


QUESTIONS = (
    Question(
        "robustness",
        "How far do scores drop under other words?",
        ("measures", "turns"),
        _part,
        given=lambda project: bool(project.groups),
        answer=_answer,
    ),
)
