"""The state of a project: scores and rankings in a small file, so that later states can be compared without the inputs.

``state_of`` computes it from a project; a report stores it as ``state.json``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from robustcs.errors import UsageError, input_error
from robustcs.evaluation.bounds import measure_bounds
from robustcs.evaluation.extremes import BOUNDED
from robustcs.evaluation.holes import JudgedRun, judged_run, only_turns
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import (
    ANSWER_FAMILIES,
    GIVEN,
    Measure,
    highest_score,
    parse_measure,
)
from robustcs.evaluation.measures import evaluate
from robustcs.evaluation.outcomes import OUTCOMES
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.state import DEEPEST, FORMAT, SHOWN, ProjectState, SystemState
from robustcs.evaluation.thresholds import TOLERANCE, parse_threshold
from robustcs.inputs.ids import MAX_GRADE, Ids
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.text import read_json
from robustcs.inputs.turns import turn_sort_key
from robustcs.policy import EvaluationPolicy
from robustcs.project.answer_inputs import AnswerInputs
from robustcs.project.answer_support import MadeOf
from robustcs.project.conversations import conversations_of
from robustcs.project.scoring import DEFAULT_MEASURES, ScoredFile, file_of, score_files
from robustcs.project.text_run_match import digest
from robustcs.project.workspace import Workspace
from robustcs.stored import typed, unsealed

#: Name of the file in a report's folder.
STATE = "state.json"


def read_state(path: Path) -> ProjectState:
    """Read the state of a report. Raises :class:`InputError` if the file is not a state, or was changed."""
    try:
        state: ProjectState = typed(
            {"conversations": {}, **unsealed(FORMAT, read_json(path))}, ProjectState
        )
        policy = dict(state.policy)
        typed(policy.pop("line", None), str)
        typed(policy.pop("conversation", ""), str)  # here also the name of a file
        # strict changes no score
        typed({**policy, "conversation": "", "strict": False}, EvaluationPolicy)
        for text in state.thresholds:
            parse_threshold(text)
        for name, system in state.systems.items():
            _check(name, system)
    except (ValueError, UsageError) as error:
        found = error.found if isinstance(error, UsageError) else str(error)
        raise input_error(
            path, None, found, "run robustcs report again, or name the project file", "bad-state"
        ) from None
    return state


def _check(name: str, system: SystemState) -> None:
    """Raise ``ValueError`` for values that :func:`state_of` cannot produce."""
    columns = [*system.scores.items(), *system.low.items(), *system.high.items()]
    turns = next(iter(system.scores.values()), {}).keys()
    for metric, scores in columns:
        highest = highest_score(parse_measure(metric, given=True))
        for turn, score in scores.items():
            if highest is not None and not -TOLERANCE <= score <= highest + TOLERANCE:
                raise ValueError(
                    f"{metric} of turn {turn} of {name} is {score:g}, not in 0 to {highest:g}"
                )
        if metric not in system.scores or scores.keys() != turns:
            raise ValueError(f"{metric} of {name} does not have the turns of its other scores")
    for metric, lowest in system.low.items():
        if any(
            low > system.high.get(metric, lowest)[turn] + TOLERANCE for turn, low in lowest.items()
        ):
            raise ValueError(f"the lower bound of {metric} of {name} is above the upper bound")
    if strange := sorted({*system.outcomes.values()} - {*OUTCOMES}):
        raise ValueError(f"{name} has the outcome {strange[0]!r}")
    grades = [grade for head in system.heads.values() for _, grade in head if grade is not None]
    if max(map(abs, grades), default=0) > MAX_GRADE or min(system.below.values(), default=0) < 0:
        raise ValueError(
            f"{name} has a grade above {MAX_GRADE}, or a negative number of unjudged passages"
        )
    if not turns >= {*system.rankings, *system.heads, *system.below, *system.lacking}:
        raise ValueError(f"{name} has turns without a score")


def state_of(
    workspace: Workspace, scores: Mapping[str, Path] | None = None
) -> tuple[ProjectState, dict[str, JudgedRun]]:
    """Return the state of a project, and its runs joined with the judgments, on the turns that count.

    Each run is a system, and so is each formulation with per-turn scores, and each file of ``scores`` (name → file). Measures
    are the project's, or P@1 and NDCG@3.

    Raises :class:`UsageError` if the project has neither, or if they cannot be scored.
    """
    project = workspace.project
    measures, _ = workspace.ranking_measures((), given=True)
    systems = project.systems
    parts = {part.name: part for part in project.formulations.values()}
    texts = workspace.texts
    given = [
        file for part in parts.values() if not part.run and (file := file_of(part, answers=False))
    ]
    given += [ScoredFile(name, name, path, "scores") for name, path in (scores or {}).items()]
    outcomes = _of_answers(workspace)
    if not systems and not given and not outcomes:
        workspace.require_runs()
    found: dict[str, SystemState] = {}
    runs: dict[str, JudgedRun] = {}
    judgments: dict[str, str] = {}
    missing = 0
    if systems:
        wanted = [one for one in measures if one.family not in (GIVEN, *ANSWER_FAMILIES)] or list(
            DEFAULT_MEASURES
        )
        # passages of a turn to store
        depth = min(DEEPEST, max([SHOWN, *(measure.cutoff or 0 for measure in wanted)]))
        rankings, runs, missing = judged_runs(workspace, systems, depth)
        highest = max(int(workspace.qrels.grades.max()), 0)
        for name, run in runs.items():
            known = {
                turn: texts[name][turn] for turn in run.matrix.turns if turn in texts.get(name, {})
            }
            kept = _of_run(run, rankings[name], wanted, project.policy, highest, depth)
            found[name] = replace(kept, role=parts[name].role if name in parts else "", texts=known)
        judgments = _judgments(workspace.qrels)
        measures = wanted
    if given:
        frames, evaluated = workspace.scores_of(given, measures)
        missing = max(missing, evaluated.missing)
        own = score_files(
            workspace,
            given,
            [parse_measure(name, given=True) for name in next(iter(frames.values()))],
        )
        every = dict.fromkeys(turn for read in own for turn in read.scores.turns)
        for (name, frame), read in zip(frames.items(), own, strict=True):
            of_run = bool(project.qrels) and read.of_run
            lost = set(read.unscored) | (set() if of_run else every.keys() - set(read.scores.turns))
            turns = frame.turns
            lacking = sorted(set(turns) - set(read.scores.turns), key=turn_sort_key)
            values = {
                metric: dict(zip(turns, column.tolist(), strict=True))
                for metric, column in frame.items()
            }
            role = parts[name].role if name in parts else ""
            unscored = sorted(lost, key=turn_sort_key)
            found[name] = SystemState(
                role, values, {}, {}, {}, dict(texts.get(name, {})), lacking=lacking, unscored=unscored,
                absent_is_missing=not of_run,
            )  # fmt: skip
    for name, answered in outcomes.items():
        found[name] = (
            replace(found[name], outcomes=answered.outcomes) if name in found else answered
        )
    state = ProjectState(
        name=project.name,
        policy={**project.policy.as_dict(), "line": project.policy.describe()},
        thresholds=tuple(map(str, project.thresholds)),
        inputs=workspace.inputs,  # type: ignore[arg-type]
        systems=found,
        judgments=judgments,
        missing=missing,
        formulations=list(parts),
        groups={
            name: {"baseline": one.baseline, "sets": list(one.sets)}
            for name, one in project.groups.items()
        },
    )
    places = conversations_of(workspace, state.turns).places
    return replace(
        state, conversations={turn: places[turn] for turn in state.turns if turn in places}
    ), runs


def _of_answers(workspace: Workspace) -> dict[str, SystemState]:
    """Return the outcomes of every system with answers, and the scores in their files; empty without answers.

    Only scores of the files and labels make an answer correct here: nuggets and snippets do not.
    """
    if not (
        workspace.project.answers
        and (workspace.project.answers.of_systems or workspace.project.answers.assignments)
    ):
        return {}
    inputs = AnswerInputs(workspace)
    turns, _ = inputs.counted()
    made_of = MadeOf(workspace, inputs.traces, sorted(inputs.gold, key=turn_sort_key), inputs.notes)
    metric = inputs.metric()
    _, correct = inputs.criterion(metric, inputs.scores(metric))
    requested = [one.name for one in workspace.project.metrics if one.family == GIVEN]
    found = {}
    kinds = inputs.kinds(turns, ())
    for name in inputs.responses:
        one = inputs.traced(name, turns, kinds, made_of.given[name], correct.get(name, {}))
        scores = {
            metric: values
            for metric, values in one.scores.items()
            if not requested or metric in requested
        }
        found[name] = SystemState(
            "", {metric: dict(zip(turns, np.nan_to_num(values).tolist(), strict=True)) for metric, values in scores.items()},
            {}, {}, {}, {}, lacking=[turn for turn in turns if turn not in inputs.responses[name]],
            outcomes=dict(zip(turns, one.outcomes, strict=True)),
        )  # fmt: skip
    return found


#: A ranking as a state stores it: turn → digest and top passages.
KeptRanking = Mapping[str, tuple[str, Sequence[str]]]


def judged_runs(
    workspace: Workspace, files: Mapping[str, Path], depth: int = 0
) -> tuple[dict[str, KeptRanking], dict[str, JudgedRun], int]:
    """Join runs with the workspace's judgments on the turns that count; a set of paraphrases, on those of them that it asks.

    Returns the stored part of each ranking, the runs, and the number of judged turns that at least one run does not answer.
    """
    listed = list(files.items())
    built = workspace.per_run(listed, partial(_read, workspace.qrels, depth))
    matrices = [run.matrix for _, run in built]
    turns = workspace.count_turns(
        list(files), listed, matrices, holes=True, asked=workspace.asked, apart=True
    )
    masks = [turns.counted & turns.asked.get(name, turns.counted) for name in files]
    runs = [
        run if mask.all() else only_turns(run, mask)
        for (_, run), mask in zip(built, masks, strict=True)
    ]
    rankings = dict(zip(files, (kept for kept, _ in built), strict=True))
    workspace.note(*turns.notes)
    return rankings, dict(zip(files, runs, strict=True)), int(turns.lacking.sum())


def _read(qrels: Qrels, depth: int, ranking: Ranking) -> tuple[KeptRanking, JudgedRun]:
    kept = {turn: (digest(names), names[:depth]) for turn, names in ranking.by_turn()}
    return kept, judged_run(ranking, qrels, 0)


def rejudged(name: str, system: SystemState, qrels: Qrels) -> JudgedRun:
    """Join the stored passages of a run with other judgments, on the turns that the state scores."""
    turns = list(system.rankings)
    names = [[document for document, _ in system.heads.get(turn, ())] for turn in turns]
    starts = np.cumsum([0, *map(len, names)])
    ids = Ids.of(document for head in names for document in head)
    covered = [place for place, head in enumerate(names) if head]
    ranking = Ranking(
        name, tuple(turns[place] for place in covered), np.append(starts[covered], starts[-1]), ids,
        np.arange(len(ids), dtype=np.int32), np.zeros(len(ids), dtype=bool), 0, (),
    )  # fmt: skip
    run = judged_run(ranking, qrels, 0)
    known = set(turns)
    return only_turns(run, np.array([turn in known for turn in run.matrix.turns]))


def _of_run(
    run: JudgedRun,
    ranking: KeptRanking,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    highest: int,
    depth: int,
) -> SystemState:
    """Return the state of a run without role and texts."""
    turns = run.matrix.turns

    def by_turn(values: Iterable[Any]) -> dict[str, Any]:
        return dict(zip(turns, values, strict=True))

    frame = evaluate(run.matrix, measures, policy)
    bounds = {
        measure.name: measure_bounds(run.matrix, measure, policy, highest, "run")
        for measure in measures
        if measure.family in BOUNDED
    }
    grades = [
        [None if grade == UNJUDGED else grade for grade in row]
        for row in run.matrix.grades[:, :depth].tolist()
    ]
    return SystemState(
        "",
        {metric: by_turn(frame[metric].tolist()) for metric in frame},
        {name: by_turn(ends.low.tolist()) for name, ends in bounds.items()},
        {name: by_turn(ends.high.tolist()) for name, ends in bounds.items()},
        {turn: ranking[turn][0] if turn in ranking else "" for turn in turns},
        {},
        {
            turn: list(zip(ranking[turn][1] if turn in ranking else (), row, strict=False))
            for turn, row in by_turn(grades).items()
        },
        by_turn((run.matrix.grades[:, depth:] == UNJUDGED).sum(axis=1).tolist()),
    )


def _judgments(qrels: Qrels) -> dict[str, str]:
    lines: dict[str, list[str]] = {turn: [] for turn in sorted(qrels.turns, key=turn_sort_key)}
    for turn, document, grade in qrels.rows():
        lines[turn].append(f"{document} {grade}")
    return {turn: digest(sorted(judged)) for turn, judged in lines.items()}
