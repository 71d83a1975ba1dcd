"""What a project says at one moment, small enough to be kept: so that a later state can be compared without the inputs.

``state_of`` makes it from a project; a report keeps it as ``state.json``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from robustcs.errors import InputError, Problem
from robustcs.evaluation.bounds import measure_bounds
from robustcs.evaluation.holes import JudgedRun, grades_by_pair, judged_run, only_turns
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import NATIVE, evaluate
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.state import FORMAT, State, SystemState
from robustcs.inputs.arrays import as_arrow
from robustcs.inputs.files import read_json
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.model import Project
from robustcs.project.scoring import DEFAULT_MEASURES, file_of
from robustcs.project.workspace import Workspace

#: In a report's folder.
STATE = "state.json"
_DIGITS = 16


def read_state(path: Path) -> State:
    """A state that a report keeps. Raises :class:`InputError` where the file is none."""
    try:
        data = dict(read_json(path))
        if data.pop("format", None) != FORMAT:
            raise ValueError
        systems = {str(name): SystemState(**system) for name, system in data.pop("systems").items()}
        return State(systems=systems, **data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        advice = "make the report again, or name the project"
        raise InputError([Problem(path, None, "this is no state of a robustcs report", advice, "bad-state")]) from None


def state_of(workspace: Workspace) -> tuple[State, dict[str, JudgedRun]]:
    """The state of a project, and its runs joined with the judgments, on the turns that count.

    Every run is a system; so is a formulation with per-turn scores. Measures are the project's, or those of the paper's tables.

    Raises :class:`UsageError` where the project has neither, and where they cannot be scored.
    """
    project = workspace.project
    measures, _ = workspace.ranking_measures(())
    systems = project.systems
    parts = {part.name: part for part in project.formulations.values()}
    texts = workspace.texts
    given = [file for part in parts.values() if not part.run and (file := file_of(part, answers=False))]
    if not systems and not given:
        workspace.require_runs()
    found: dict[str, SystemState] = {}
    runs: dict[str, JudgedRun] = {}
    judgments: dict[str, str] = {}
    missing = 0
    if systems:
        wanted = measures or list(DEFAULT_MEASURES)
        rankings, runs = judged_runs(workspace, systems)
        missing = sum(any(turn) for turn in zip(*(run.matrix.missing.tolist() for run in runs.values()), strict=True))
        highest = max(int(workspace.qrels.grades.max()), 0)
        for name, run in runs.items():
            role = parts[name].role if name in parts else ""
            found[name] = _of_run(run, rankings[name], wanted, project, highest, role, texts.get(name, {}))
        judgments = _judgments(workspace.qrels)
        measures = wanted
    if given:
        frames, evaluated = workspace.scores_of(given, measures)
        missing = max(missing, evaluated.missing)
        for name, frame in frames.items():
            turns = list(map(str, frame.index))
            scores = {str(metric): dict(zip(turns, values.tolist(), strict=True)) for metric, values in frame.items()}
            found[name] = SystemState(parts[name].role, scores, {}, {}, {}, dict(texts.get(name, {})))
    state = State(
        name=project.name,
        policy={**project.policy.as_dict(), "line": project.policy.describe()},
        thresholds=tuple(map(str, project.thresholds)),
        inputs=workspace.inputs,
        systems=found,
        judgments=judgments,
        missing=missing,
    )
    return state, runs


def judged_runs(workspace: Workspace, files: Mapping[str, Path]) -> tuple[dict[str, dict[str, str]], dict[str, JudgedRun]]:
    """Runs joined with the workspace's judgments, on the turns that count: a digest of every ranking, and the runs."""
    qrels = workspace.qrels

    def build(ranking: Ranking) -> tuple[dict[str, str], JudgedRun]:
        return _digests(ranking), judged_run(ranking, qrels, 0)

    listed = list(files.items())
    built = workspace.per_run(listed, build)
    turns = workspace.count_turns(list(files), listed, [run.matrix for _, run in built], holes=True)
    runs = [run if turns.counted.all() else only_turns(run, turns.counted) for _, run in built]
    return dict(zip(files, (digests for digests, _ in built), strict=True)), dict(zip(files, runs, strict=True))


def _of_run(
    run: JudgedRun,
    rankings: Mapping[str, str],
    measures: Sequence[Measure],
    project: Project,
    highest: int,
    role: str,
    texts: Mapping[str, str],
) -> SystemState:
    turns = run.matrix.turns
    frame = evaluate(run.matrix, measures, project.policy)
    scores = {metric: dict(zip(turns, frame[metric].tolist(), strict=True)) for metric in frame}
    low, high = {}, {}
    for measure in measures:
        if measure.family in NATIVE:
            ends = measure_bounds(run.matrix, measure, project.policy, highest, "run")
            low[measure.name] = dict(zip(turns, ends.low.tolist(), strict=True))
            high[measure.name] = dict(zip(turns, ends.high.tolist(), strict=True))
    kept = {turn: rankings.get(turn, "") for turn in turns}
    return SystemState(role, scores, low, high, kept, {turn: texts[turn] for turn in turns if turn in texts})


def _digests(ranking: Ranking) -> dict[str, str]:
    """Turn → digest of its documents in order."""
    found = {}
    for turn, start, end in zip(ranking.turns, ranking.starts[:-1], ranking.starts[1:], strict=True):
        names = ranking.documents.take(as_arrow(ranking.document_codes[start:end])).to_pylist()
        found[turn] = _digest("\n".join(names))
    return found


def _judgments(qrels: Qrels) -> dict[str, str]:
    lines: dict[str, list[str]] = {}
    for (turn, document), grade in grades_by_pair(qrels).items():
        lines.setdefault(turn, []).append(f"{document} {grade}")
    return {turn: _digest("\n".join(sorted(lines[turn]))) for turn in sorted(lines, key=turn_sort_key)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
