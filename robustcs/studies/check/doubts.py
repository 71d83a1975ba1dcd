"""What is odd about inputs that can all be read: roles that look swapped, texts that were not run, levels, depths."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from robustcs.evaluation.measure import ANSWER_FAMILIES, Measure, averaged, parse_measure
from robustcs.evaluation.measures import evaluate
from robustcs.project.conventions import customary_level
from robustcs.project.model import Formulation, Project
from robustcs.project.open_questions import turns_in_words
from robustcs.project.text_run_match import FEW, fit, ranked_alike
from robustcs.studies.check.survey import Survey
from robustcs.wording import told_once, verb

#: What tells Human from Original where the project names no measure.
_MEASURE = parse_measure("ndcg_cut_3")
#: Rewriting by hand makes questions longer; these are odd the other way round.
_LONGER = 1.05


def doubts(project: Project, survey: Survey) -> list[str]:
    """Notes, each on what somebody should look at before believing a number."""
    return [*_levels(project, survey), *_depths(project, survey), *_swapped(project, survey), *_texts(project, survey)]


def _levels(project: Project, survey: Survey) -> list[str]:
    qrels, level = survey.qrels, project.policy.relevance_level
    if qrels is None or not len(qrels):
        return []
    highest = int(qrels.grades.max())
    usual, collection = customary_level(qrels.turns, qrels.documents.take(slice(100)).texts(), highest)
    if highest < level:
        return [f"no passage has a grade of {level} or more: binary measures are 0 (relevance_level)"]
    if collection and level < usual:
        return [f"relevance_level is {level}; {collection} counts passages as relevant from grade {usual} (binary measures)"]
    return []


def _depths(project: Project, survey: Survey) -> list[str]:
    notes = []
    deepest = {matrix.name: int(matrix.retrieved.max(initial=0)) for matrix in survey.matrices}
    for measure in averaged(project.metrics, totals=True):
        short = [f"{name} ({depth})" for name, depth in deepest.items() if 0 < depth < (measure.cutoff or 0)]
        if short and measure.family not in ANSWER_FAMILIES:
            whose = verb(len(short), "this run has", "these runs have")
            notes.append(f"{measure.name} looks at more passages than {whose} for any turn: {', '.join(short)}")
    own = {part.name: deepest[part.name] for part in project.formulations.values() if deepest.get(part.name)}
    if own and max(own.values()) > 2 * min(own.values()):
        depths = ", ".join(f"{name} {depth}" for name, depth in own.items())
        notes.append(f"formulations are not equally deep ({depths} passages): overlaps, recall and MAP compare unlike lists")
    return notes


def _swapped(project: Project, survey: Survey) -> list[str]:
    """Human questions are answered better than Original ones, and are longer."""
    notes = []
    means = {
        matrix.name: float(np.mean(evaluate(matrix, [_MEASURE], project.policy)[_MEASURE.name]))
        for matrix in survey.matrices
        if matrix.name in ("original", "human") and not matrix.missing.all()
    }
    if len(means) == 2 and means["human"] < means["original"]:
        notes.append(
            f"Human questions score below Original ones ({_label(_MEASURE)} {means['human']:.3f} and {means['original']:.3f}):"
            " are the two files swapped?"
        )
    words = {
        name: float(np.mean([len(text.split()) for text in survey.texts[name].values()]))
        for name in ("original", "human")
        if survey.texts.get(name)
    }
    if len(words) == 2 and words["original"] > _LONGER * words["human"]:
        notes.append(
            f"Original texts are longer than Human ones ({words['original']:.1f} and {words['human']:.1f} words): are the two"
            " swapped?"
        )
    return notes


def _label(measure: Measure) -> str:
    return measure.name.replace("ndcg_cut_", "NDCG@")


def _texts(project: Project, survey: Survey) -> list[str]:
    """Texts that judged turns lack, and those that the run of their formulation did not answer."""
    judged = survey.qrels.turns if survey.qrels else ()
    without = []
    for part in project.formulations.values():
        texts = survey.texts.get(part.name)
        lacking = [turn for turn in judged if turn not in texts] if texts else []
        if lacking and len(lacking) < len(judged):
            which = f"{turns_in_words(lacking)} that {verb(len(lacking), 'is', 'are')} judged"
            without.append(("no text of ", part.name, f" for {which}"))
    notes = told_once(without)
    order = ("human", "qr", "original")
    parts = sorted(project.formulations.values(), key=lambda part: order.index(part.role))
    for one, other in combinations(parts, 2):
        notes += _apart(survey, other, one)
    return notes


def _apart(survey: Survey, part: Formulation, other: Formulation) -> list[str]:
    """Equal questions get equal rankings: where they do not, one of the runs answered other texts."""
    name, than = part.name, "Human" if other.role == "human" else other.name
    orders, theirs = survey.orders.get(part.name), survey.orders.get(other.name)
    if not orders or not theirs:
        return []
    alike = ranked_alike(orders, theirs)
    if len(alike) >= FEW and all(alike.values()):
        return [f"{name} and {other.name} rank alike on every turn: is one run in both roles?"]
    return fit(survey.texts.get(part.name, {}), survey.texts.get(other.name, {}), alike).doubts(name, than)
