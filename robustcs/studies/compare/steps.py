"""Steps of ``robustcs compare``: score the old runs again, and find passages that changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np

from robustcs.conversations import NONE, PATTERN, Conversations
from robustcs.errors import UsageError
from robustcs.evaluation.bounds import PairMeasure, run_pairs
from robustcs.evaluation.extremes import BOUNDED
from robustcs.evaluation.hole_expectation import fill_holes
from robustcs.evaluation.holes import (
    JudgedRun,
    judged_run,
    only_turns,
    passage_numbers,
    pool_holes,
)
from robustcs.evaluation.matrix import ABSENT, UNJUDGED
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.measures import evaluate
from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels
from robustcs.messages import Message, OptionName
from robustcs.policy import EvaluationPolicy
from robustcs.project.conversations import conversations_of
from robustcs.project.hole_imputation import read_pool, run_sources, selection_warnings
from robustcs.project.judged_runs import judged_runs
from robustcs.project.scoring import DEFAULT_MEASURES
from robustcs.project.workspace import Workspace
from robustcs.records.record import DEEPEST
from robustcs.records.schema import Graded
from robustcs.records.table import rounded
from robustcs.statistics.units import units_of
from robustcs.studies.compare.cases import NO_RANKINGS, Drawn
from robustcs.studies.compare.changes import Rescored
from robustcs.studies.compare.fit import Passage, open_passages
from robustcs.studies.compare.sides import Opened
from robustcs.studies.compare.states import ProjectState
from robustcs.wording import some_of, verb


def conversations_of_states(workspace: Workspace, sides: Sequence[Opened]) -> Conversations:
    """Return the conversations of both states: those of the options, of fields that a state has, or else of all turn ids."""
    turns = list(dict.fromkeys(turn for side in sides for turn in side.state.turns))
    if workspace.project.policy.conversation:
        return conversations_of(workspace, turns)
    for side in reversed(sides):
        if side.state.conversations:
            return Conversations.from_fields(side.state.conversations, turns, side.state.name)
    words = (side.state.policy.get("conversation", "") for side in reversed(sides))
    return Conversations.from_ids(
        turns, next((word for word in words if word in (NONE, PATTERN)), "")
    )


def refuse_without_condition(**given: object) -> None:
    """Raise :class:`UsageError` for a setting of the gate; ``given``: option → whether it is given."""
    for option, value in given.items():
        if value:
            raise UsageError(
                "no-condition",
                Message(OptionName(option), " needs a condition"),
                Message(
                    "add ",
                    OptionName("fail-if", "CONDITION"),
                    " or ",
                    OptionName("no-worse-than", "D"),
                ),
            )


def rescored_runs(old: Opened, new: Opened) -> dict[str, Rescored]:
    """Return the old runs under the new judgments, read from their files or from the passages that a report kept."""
    if new.workspace is None or not new.runs:
        return {}
    project, qrels = new.workspace.project, new.workspace.qrels
    measures = list(project.metrics or DEFAULT_MEASURES)
    below: dict[str, Mapping[str, int]] = {}
    if old.workspace is None:
        if any(
            old.state.policy.get(key) != getattr(project.policy, key)
            for key in ("order", "depth", "documents")
        ):
            return {}
        kept = {name: own for name, own in old.rankings.items() if name in new.runs}
        again: Mapping[str, JudgedRun] = {
            name: _rejudged(name, rankings, qrels) for name, rankings in kept.items()
        }
        below = {name: old.state.systems[name].below for name in kept}
        if old.kept is not None:
            measures = [one for one in measures if (one.cutoff or math.inf) <= old.kept]
    else:
        earlier = {name: path for name, path in old.files.items() if name in new.runs}
        if not earlier:
            return {}
        if (
            old.state.judgments == new.state.judgments
            and old.workspace.project.policy == project.policy
        ):
            again = old.runs
        else:
            read = judged_runs(new.workspace.of(project), earlier)
            again = {name: run.judged for name, run in read.items()}
    highest = max(int(qrels.grades.max()), 0)
    return {
        name: _pair_scores(
            run, new.runs[name], measures, project.policy, highest, below.get(name, {})
        )
        for name, run in again.items()
        if name in new.runs and set(run.matrix.turns) & set(new.runs[name].matrix.turns)
    }


def _rejudged(name: str, rankings: Mapping[str, Sequence[Graded]], qrels: Qrels) -> JudgedRun:
    """Join the passages of a run that a report keeps with other judgments, on the turns that it scores."""
    names = {
        turn: [passage for passage, _ in ranking] for turn, ranking in rankings.items() if ranking
    }
    starts = np.cumsum([0, *map(len, names.values())])
    ids = Ids.of(passage for ranking in names.values() for passage in ranking)
    places = np.arange(len(ids), dtype=np.int32)
    constant = np.zeros(len(ids), dtype=bool)
    ranking = Ranking(name, tuple(names), starts, ids, places, constant, 0, ())
    run = judged_run(ranking, qrels, 0)
    return only_turns(run, np.array([turn in rankings for turn in run.matrix.turns]))


def depth_notes(sides: Sequence[Opened], called: Sequence[str]) -> list[str]:
    """Return a note if a report does not keep whole rankings; ``called``: the names of the sides."""
    cut = [name for name, side in zip(called, sides, strict=True) if side.kept is not None]
    if not cut:
        return []
    depth = sides[1].state.depth
    systems = [system for side in sides for system in side.state.systems.values()]
    metrics = dict.fromkeys(metric for system in systems for metric in system.scores)
    measures = [parse_measure(metric, given=True) for metric in metrics]
    deeper = [
        one.label
        for one in measures
        if one.family in BOUNDED and (one.cutoff or math.inf) > (depth or 0)
    ]
    note = f"rankings are compared at the depth kept ({depth}) of {' and '.join(cut)}"
    if deeper:
        note += f", where {some_of(deeper)} {verb(len(deeper), 'has', 'have')} no bounds; name the project instead"
    return [note]


def retrieved_deeper(old: Opened, new: ProjectState) -> Set[Passage]:
    """Return the unjudged passages of new tops that the old state retrieves below its tops."""
    wanted = open_passages(old.state, new)
    if not wanted:
        return set()
    turns = {turn for turn, _ in wanted}
    found = set[Passage]()
    for run in old.runs.values():
        rows = np.nonzero(run.top.grades == UNJUDGED)[0]
        some = np.array([turn in turns for turn in run.matrix.turns], dtype=bool)[rows]
        names = (run.matrix.turns[row] for row in rows[some])
        found |= wanted & set(zip(names, run.unjudged.take(some).texts(), strict=True))
    for rankings in old.rankings.values():
        for turn in turns & rankings.keys():
            found |= wanted & {(turn, passage) for passage, _ in rankings[turn]}
    return found


def common_turns(old: ProjectState, new: ProjectState) -> Iterator[Set[str]]:
    """Yield the turns that both states score, for each system and measure that both have."""
    for name, system in old.systems.items():
        after = new.systems[name].scores if name in new.systems else {}
        yield from (
            scores.keys() & after[metric].keys()
            for metric, scores in system.scores.items()
            if metric in after
        )


def _pair_scores(
    old: JudgedRun,
    new: JudgedRun,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    highest: int,
    below: Mapping[str, int],
) -> Rescored:
    """Return the scores of two runs under the same judgments, on their common turns.

    below
        Turn → number of unjudged passages of the old run without known ids. They may differ from those of the new run.
    """
    common = set(old.matrix.turns) & set(new.matrix.turns)
    first, second = (
        only_turns(run, np.array([turn in common for turn in run.matrix.turns]))
        for run in (new, old)
    )
    turns = second.matrix.turns
    frame = evaluate(second.matrix, measures, policy)
    # with as many digits as records, so that equal scores are equal
    scores = {
        metric: dict(zip(turns, rounded(frame[metric]).tolist(), strict=True)) for metric in frame
    }
    numbers = passage_numbers([first, second])
    pool = pool_holes([first, second], numbers) + np.array(
        [below.get(turn, 0) for turn in turns], dtype=np.int64
    )
    low, high, tops = {}, {}, [first.top, second.top]
    (pair,) = run_pairs(tops, numbers, pool)
    for measure in measures:
        if measure.family in BOUNDED:
            bounds = PairMeasure(tops, measure, policy, highest, "pool").bounds(pair)
            low[measure.name] = dict(zip(turns, bounds.low.tolist(), strict=True))
            high[measure.name] = dict(zip(turns, bounds.high.tolist(), strict=True))
    grades = {
        turn: [None if grade == UNJUDGED else grade for grade in row if grade != ABSENT]
        for turn, row in zip(turns, second.matrix.grades[:, :DEEPEST].tolist(), strict=True)
    }
    return Rescored(scores, low, high, grades)


def drawn_grades(old: Opened, new: Opened, seed: int) -> Drawn | str:
    """Return all new runs and the old runs that differ, under drawn grades, or the reason why there are none."""
    for when, side in (("old", old), ("new", new)):
        if side.workspace is None:
            return f"the {when} state is a report, which lacks the data for the hole model; name its project instead"
    assert old.workspace is not None and new.workspace is not None
    project, kept = new.workspace.project, (old.state.systems, new.state.systems)
    if warnings := selection_warnings(project):
        return warnings[0]
    both = [name for name in old.runs if name in new.runs]
    differ = [name for name in both if kept[0][name].rankings != kept[1][name].rankings]
    if not differ:
        return NO_RANKINGS
    space = new.workspace.of(project)
    files = [
        *new.files.items(),
        *((f"{name}, old", old.files[name]) for name in differ),
    ]
    pool = read_pool(space, space.qrels, files=files).build()
    measures = new.workspace.ranking_measures(DEFAULT_MEASURES)[0]
    every = np.ones(len(pool.turns), dtype=bool)
    sources = run_sources(project, (*new.files, *differ))
    try:
        units = units_of(pool.turns, "turn")
        filled = fill_holes(
            pool, pool.grades(space.qrels), measures, project.policy, every, units, seed, sources
        )
    except UsageError as error:
        if error.slug != "one-grade":
            raise
        return str(error)
    return Drawn(
        pool.names,
        [measure.name for measure in measures],
        pool.turns,
        filled.sums,
        filled.holes,
        filled.warnings,
    )
