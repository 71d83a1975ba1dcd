"""What other words do: test sets of paraphrases, and how different the texts are."""

from __future__ import annotations

from dataclasses import replace

from robustcs.documents.order import figures_first
from robustcs.project.model import Project
from robustcs.project.parts import measures, needs, only
from robustcs.project.rewritten import check_baselines
from robustcs.project.workspace import Workspace
from robustcs.reporting.findings import diversity_findings, robustness_findings
from robustcs.reporting.question import Answer, Question
from robustcs.studies.diversity.analysis import diversity
from robustcs.studies.diversity.ask import read_text_sets
from robustcs.studies.diversity.show import present_diversity
from robustcs.studies.robustness.analysis import DEFAULT_METRICS, robustness
from robustcs.studies.robustness.show import present_robustness

_READING = (
    "How to read it: every test set asks the same turns in other words and is compared with its baseline, turn by turn. A"
    " point right of zero is a loss; an interval that crosses zero says that the loss may be chance. Paraphrases find passages"
    " that nobody judged, so part of a drop may be holes: compare the question before."
)
_READING_DIVERSITY = (
    "How to read it: BLEU says how much of its source's wording a text repeats (100: all of it), self-BLEU how alike the texts"
    " of one turn are; low is diverse. Copies and duplicates add nothing to a test set."
)


def _part_robustness(project: Project) -> Project:
    needs(project.groups, "no-groups", "no groups of runs", "name them with [groups.NAME] in robustcs.toml")
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    members = {name for group in project.groups.values() for name in (group.baseline, *group.sets)}
    part = only(project, ("qrels", "groups", "policy", "seed"), ("run", "rewrites"))
    runs = {name: path for name, path in project.runs.items() if name in members}
    return replace(part, runs=runs, metrics=measures(project, of_answers=False))


def _robustness(workspace: Workspace) -> Answer:
    project = workspace.project
    names = [name for group in project.groups.values() for name in (group.baseline, *group.sets)]
    check_baselines(project)
    scores, evaluated = workspace.system_scores(names, project.metrics or DEFAULT_METRICS)
    texts = workspace.texts_of(scores[names[0]].index).get("human")
    result = robustness(project.groups, scores, evaluated, texts=texts, seed=project.seed)
    blocks = figures_first(present_robustness(result))
    return Answer(robustness_findings(result), _READING, blocks, result.evaluated, {"robustness": result})


def _part_diversity(project: Project) -> Project:
    needs(project.paraphrases, "no-paraphrases", "no paraphrases", "name them with paraphrases = …")
    return only(project, ("paraphrases",), ("rewrites",))


def _diversity(workspace: Workspace) -> Answer:
    pairs, evaluated = read_text_sets(workspace, (), ())
    result = diversity(pairs, evaluated)
    blocks = figures_first(present_diversity(result))
    return Answer(diversity_findings(result), _READING_DIVERSITY, blocks, evaluated, {"diversity": result})


ROBUSTNESS = Question(
    "robustness", "How far do scores drop under other words?", ("measures", "turns"), _part_robustness, _robustness
)
DIVERSITY = Question("diversity", "How different are the texts?", ("bleu", "diversity"), _part_diversity, _diversity)
