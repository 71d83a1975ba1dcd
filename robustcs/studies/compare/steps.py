"""Steps of ``robustcs compare``: score the old runs again, and find passages that changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

import numpy as np

from robustcs.conversations import NONE, PATTERN, Conversations
from robustcs.errors import UsageError
from robustcs.evaluation.bounds import PairMeasure, run_pairs
from robustcs.evaluation.extremes import BOUNDED
from robustcs.evaluation.hole_expectation import fill_holes
from robustcs.evaluation.holes import JudgedRun, only_turns, passage_numbers, pool_holes
from robustcs.evaluation.matrix import ABSENT, UNJUDGED
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import evaluate
from robustcs.evaluation.ranking import GradedTop
from robustcs.evaluation.state import DEEPEST, SHOWN, ProjectState
from robustcs.inputs.collection import read_passages
from robustcs.messages import Message, OptionName
from robustcs.policy import EvaluationPolicy
from robustcs.project.conversations import conversations_of
from robustcs.project.hole_imputation import read_pool, run_sources, selection_warnings
from robustcs.project.scoring import DEFAULT_MEASURES
from robustcs.project.state import judged_runs, rejudged
from robustcs.project.workspace import Workspace
from robustcs.statistics.units import units_of
from robustcs.studies.compare.cases import NO_RANKINGS, Drawn
from robustcs.studies.compare.changes import Rescored
from robustcs.studies.compare.sides import Opened


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
        kept = {
            name: system
            for name, system in old.state.systems.items()
            if name in new.runs and system.heads
        }
        if any(
            old.state.policy.get(key) != getattr(project.policy, key)
            for key in ("order", "depth", "documents")
        ):
            return {}
        again: Mapping[str, JudgedRun] = {
            name: rejudged(name, system, qrels) for name, system in kept.items()
        }
        below = {name: system.below for name, system in kept.items()}
        deepest = max(
            (len(head) for system in kept.values() for head in system.heads.values()), default=0
        )
        measures = [one for one in measures if one.cutoff is not None and one.cutoff <= deepest]
    else:
        earlier = {
            name: path for name, path in old.workspace.project.systems.items() if name in new.runs
        }
        if not earlier:
            return {}
        if (
            old.state.judgments == new.state.judgments
            and old.workspace.project.policy == project.policy
        ):
            again = old.runs or {}
        else:
            again = judged_runs(new.workspace.of(project), earlier)[1]
    highest = max(int(qrels.grades.max()), 0)
    return {
        name: _pair_scores(
            run, new.runs[name], measures, project.policy, highest, below.get(name, {})
        )
        for name, run in again.items()
        if name in new.runs and set(run.matrix.turns) & set(new.runs[name].matrix.turns)
    }


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
    scores = {metric: dict(zip(turns, frame[metric].tolist(), strict=True)) for metric in frame}
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
    both = [name for name in old.runs or () if name in (new.runs or ())]
    differ = [name for name in both if kept[0][name].rankings != kept[1][name].rankings]
    if not differ:
        return NO_RANKINGS
    space = new.workspace.of(project)
    files = [
        *project.systems.items(),
        *((f"{name}, old", old.workspace.project.systems[name]) for name in differ),
    ]
    pool = read_pool(space, space.qrels, files=files).build()
    measures = new.workspace.ranking_measures(DEFAULT_MEASURES)[0]
    every = np.ones(len(pool.turns), dtype=bool)
    sources = run_sources(project, (*project.systems, *differ))
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


def best_passages(sides: Sequence[Opened], runs: Sequence[str]) -> dict[str, GradedTop]:
    """Return the best passages of these runs in both states, as far as they are known."""
    return {
        f"{name}, {when}": {turn: list(top[:SHOWN]) for turn, top in system.heads.items()}
        for when, side in zip(("old", "new"), sides, strict=True)
        for name, system in side.state.systems.items() if name in runs and system.heads
    }  # fmt: skip


def texts_of_passages(sides: Sequence[Opened], tops: Mapping[str, GradedTop]) -> dict[str, str]:
    """Return the texts of these passages from the collections of both states."""
    wanted = {document for top in tops.values() for best in top.values() for document, _ in best}
    found: dict[str, str] = {}
    for side in sides:
        collection = side.workspace.project.collection if side.workspace else None
        if collection and wanted - found.keys():
            found |= read_passages(collection, wanted - found.keys())
    return found
