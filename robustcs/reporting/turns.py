"""Collect the texts, scores and top passages of every turn; a page shows them as cards.

``turn_cards`` returns one JSON object:

formulations
    Names: Original, then the rewriters, then Human. Lists "per formulation" go in this order.
systems
    Names of the scored systems: the formulations, or every run if they cannot be compared (no Human).
measures, headline
    Labels of the measures, and the index of the one that lists show if there are no cuts.
cuts
    Conditions for a correct answer: ``name`` (``NDCG@3 ≥ 0.5``, with the rewriter if there are several), ``label`` (without
    it), ``measure`` (index), ``formulations`` (indices of Original, the rewriter and Human) and ``main`` (shown in lists).
labels
    Bin → meaning.
runs, depth, relevant
    Names of the runs, the number of passages shown of each, and the relevance level.
passages
    (id, text or "").
readable
    Systems that readers can review: ``name``, ``label``, and its index among ``runs``, ``systems``, ``formulations`` and the
    ``responses`` of turns (null if there is none).
turns
    ``turn``, ``topic``, ``texts`` (per formulation, null if unknown), ``scores`` (per measure and system, null if not
    scored), ``bins`` (per cut, "" if not scored), ``top`` (per run the passages as (index in ``passages``, grade or null)),
    and, if there are answers, ``answers`` (per formulation) and ``gold``, and, if systems generated answers, ``responses``.
left_out
    Number of turns that are not in ``turns``, because there are too many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustcs.documents.figures import BIN_LABELS
from robustcs.documents.headline import headline_cut, headline_measure
from robustcs.documents.text import beginning
from robustcs.documents.words import cut_label, measure_label
from robustcs.errors import UsageError
from robustcs.evaluation.bins import Binned, Formulations
from robustcs.evaluation.measures import TurnScores
from robustcs.evaluation.ranking import GradedTop
from robustcs.evaluation.thresholds import reachable_thresholds
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.collection import read_passages
from robustcs.inputs.readings import read_once
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.conversations import conversations_of
from robustcs.project.model import ROLES, Project, measures
from robustcs.project.scoring import DEFAULT_ANSWER_MEASURES
from robustcs.project.workspace import Workspace
from robustcs.result import Basis
from robustcs.wording import system_name

#: Limits that keep a page below ten megabytes: passages of every run, characters of a passage and of all passages, turns,
#: scores of systems, and characters of a generated answer and of all such answers.
DEPTH = 5
PASSAGE_LENGTH = 300
ALL_PASSAGES = 9_000_000
MOST_TURNS = 10_000
ALL_SCORES = 500_000
RESPONSE_LENGTH = 1_000
ALL_RESPONSES = 9_000_000


def turn_cards(workspace: Workspace) -> dict[str, Any]:
    """Return the object described above for all turns of the project."""
    project = workspace.project
    parts = sorted(project.formulations.values(), key=lambda part: ROLES.index(part.role))
    names = [part.name for part in parts]
    compared = _compared(workspace)
    tops = workspace.tops(project.systems, DEPTH)
    answers, gold = _answers(project)
    responses = _responses(project)
    systems = {} if compared else _systems(workspace)
    # all systems have the same turns
    every_score = [
        *(scores.human for scores, *_ in compared),
        *list(systems.values())[:1],
    ]
    scored = list(dict.fromkeys(turn for one in every_score for turn in one.turns))
    texts = workspace.texts_of(scored, compared[0][2]) if compared else workspace.texts
    others = set().union(*(texts.get(name, {}) for name in names)) or set().union(
        *tops.values(), gold, *responses.values()
    )
    chosen = (
        scored[:MOST_TURNS]
        + sorted(others - set(scored), key=turn_sort_key)[: max(0, MOST_TURNS - len(scored))]
    )
    chosen.sort(key=turn_sort_key)
    conversations = conversations_of(workspace, chosen)
    labels, cuts, scores, bins = _scores(compared, names)
    every = names + [name for name in systems if name not in names]
    measured = list(next(iter(systems.values()))) if systems else []
    labels += map(measure_label, measured)
    scores += (_by_turn(systems, metric) for metric in measured)
    passages = {passage: place for place, passage in enumerate(_wanted(tops, chosen))}
    collection = (
        read_passages(project.collection, passages) if project.collection and passages else {}
    )
    length = min(PASSAGE_LENGTH, ALL_PASSAGES // max(1, len(passages)))
    scored_names = {name for values in scores for name, _ in values}
    answer_length = min(RESPONSE_LENGTH, ALL_RESPONSES // max(1, len(chosen) * len(responses)))
    listed: dict[str, Iterable[str]] = {
        "run": tops,
        "score": every,
        "text": names,
        "response": responses,
    }
    places = {key: {name: place for place, name in enumerate(some)} for key, some in listed.items()}
    turns = []
    for turn in chosen:
        entry: dict[str, Any] = {
            "turn": turn,
            "topic": conversations.of(turn),
            "texts": [texts.get(name, {}).get(turn) for name in names],
            "scores": [[values.get((name, turn)) for name in every] for values in scores],
            "bins": [values.get(turn, "") for values in bins],
            "top": [
                [(passages[passage], grade) for passage, grade in top.get(turn, ())]
                for top in tops.values()
            ],
        }
        if answers:
            entry |= {
                "answers": [answers.get(name, {}).get(turn) for name in names],
                "gold": list(gold.get(turn, ())),
            }
        if responses:
            entry["responses"] = [
                beginning(one.get(turn, ""), answer_length) for one in responses.values()
            ]
            entry["gold"] = [beginning(one, answer_length) for one in gold.get(turn, ())]
        turns.append(entry)
    return {
        "formulations": [system_name(name) for name in names],
        "systems": [system_name(name) for name in every],
        "measures": labels,
        "headline": measured.index(headline_measure(measured)) if measured else 0,
        "cuts": cuts,
        "labels": dict(BIN_LABELS),
        "runs": list(tops),
        "depth": DEPTH,
        "relevant": project.policy.relevance_level,
        "passages": [
            (passage, beginning(collection.get(passage, ""), length)) for passage in passages
        ],
        "readable": [
            {
                "name": name,
                "label": system_name(name),
                **{key: known.get(name) for key, known in places.items()},
            }
            for name in _read_by_people(
                [*names, *tops, *every, *responses], scored_names | {*tops, *answers, *responses}
            )
        ],
        "turns": turns,
        "left_out": len({*scored, *others}) - len(chosen),
    }


def _compared(workspace: Workspace) -> list[tuple[Formulations, Binned, Basis]]:
    """Return scores and bins by rankings (or given scores) and by answers, as far as the inputs allow, with their basis."""
    project = workspace.project
    thresholds = reachable_thresholds(project.thresholds, project.metrics)
    found = []
    for of_answers in (False, True):
        metrics = measures(project, of_answers) or (DEFAULT_ANSWER_MEASURES if of_answers else ())
        if of_answers and not project.gold:
            continue
        if not of_answers and not any(
            part.run or part.scores for part in project.formulations.values()
        ):
            continue
        without_metrics = Workspace(replace(project, metrics=()), workspace.jobs, workspace.track)
        try:
            scores, evaluated = without_metrics.formulation_scores(metrics)
        except UsageError:
            continue  # the question itself reports it
        found.append((scores, Binned.of(scores, thresholds), evaluated.basis))
    return found


def _systems(workspace: Workspace) -> dict[str, TurnScores]:
    """Return the scores of all systems for a project whose formulations cannot be compared.

    The number of systems is limited by the size of the page; formulations come first.
    """
    try:
        measures, _ = workspace.ranking_measures(())
        found, _ = workspace.scores_of(workspace.scored_systems(), measures)
    except UsageError:
        return {}
    first = next(iter(found.values()))
    most = max(1, ALL_SCORES // max(1, len(first.turns) * len(first)))
    return dict(list(found.items())[:most])


def _by_turn(systems: Mapping[str, TurnScores], metric: str) -> dict[tuple[str, str], float]:
    """Return (system, turn) → score."""
    return {
        (name, turn): round(value, 4)
        for name, one in systems.items()
        for turn, value in zip(one.turns, one[metric].tolist(), strict=True)
    }


def _scores(
    compared: Sequence[tuple[Formulations, Binned, Basis]], names: list[str]
) -> tuple[
    list[str], list[dict[str, Any]], list[dict[tuple[str, str], float]], list[dict[str, str]]
]:
    """Return labels of measures, cuts, (formulation, turn) → score per measure, and turn → bin per cut."""
    labels: list[str] = []
    cuts: list[dict[str, Any]] = []
    scores: list[dict[tuple[str, str], float]] = []
    bins: list[dict[str, str]] = []
    for found, binned, _ in compared:
        systems = {"original": found.original, **found.rewriters, "human": found.human}
        main = headline_cut([(cut.metric, str(cut.threshold)) for cut in binned.cuts])
        for metric in found.measures:
            labels.append(measure_label(metric))
            scores.append(
                _by_turn({name: one for name, one in systems.items() if one is not None}, metric)
            )
            for cut, places in zip(binned.cuts, binned.places.tolist(), strict=True):
                if cut.metric != metric:
                    continue
                shown = (cut.metric, str(cut.threshold))
                label, several = cut_label(shown), len(found.rewriters) > 1
                cuts.append({
                    "name": f"{label}, {cut.rewriter}" if several else label, "label": label, "measure": len(labels) - 1,
                    "formulations": [names.index(name) for name in ("original", cut.rewriter, "human") if name in names],
                    "main": shown == main,
                })  # fmt: skip
                bins.append(
                    {
                        turn: binned.bins[place]
                        for turn, place in zip(found.turns, places, strict=True)
                    }
                )
    return labels, cuts, scores, bins


def _read_by_people(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return the systems with a score, passages or answers, each once; if there are none, all, for their texts."""
    every = list(dict.fromkeys(names))
    return [name for name in every if name in known] or every


def _responses(project: Project) -> dict[str, dict[str, str]]:
    """Return system → turn → the answer that it generated."""
    given = project.answers.of_systems if project.answers else {}
    return {
        name: dict(read_once(read_predicted_answers, path, name)) for name, path in given.items()
    }


def _wanted(tops: Mapping[str, GradedTop], turns: list[str]) -> list[str]:
    """Return the ids of all passages shown, each once."""
    found = (passage for turn in turns for top in tops.values() for passage, _ in top.get(turn, ()))
    return list(dict.fromkeys(found))


def _answers(project: Project) -> tuple[dict[str, dict[str, str]], Mapping[str, tuple[str, ...]]]:
    """Return formulation → turn → predicted answer, and the gold answers."""
    predicted = {
        part.name: read_once(read_predicted_answers, part.answers)
        for part in project.formulations.values()
        if isinstance(part.answers, Path)
    }
    return predicted, read_once(read_gold_answers, project.gold) if project.gold else {}
