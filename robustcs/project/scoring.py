"""Scores of files over the same turns: runs joined with qrels, per-turn scores, or predicted answers.

Runs and per-turn scores may be mixed; then the qrels determine which turns count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.measure import ANSWER_FAMILIES, Measure, grade_notes, parse_measure, usual_name
from robustcs.evaluation.measures import TurnScores, evaluate
from robustcs.evaluation.turns import (
    Answered,
    Expected,
    answered_by_run,
    answered_by_turns,
    count_turns,
    expected_of,
    no_judgments,
    union_of_turns,
)
from robustcs.inputs.readings import read_once, rows_of
from robustcs.inputs.trec_lines import measure_columns
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.conversations import conversations_of
from robustcs.project.model import Formulation
from robustcs.project.reader import Inputs
from robustcs.result import Evaluated
from robustcs.wording import counted, some_of

#: Sources of scores.
Kind = Literal["runs", "scores", "answers"]
#: Measures in Tables 1 and 2 of the error-analysis paper.
DEFAULT_MEASURES = (parse_measure("P_1"), parse_measure("ndcg_cut_3"))
DEFAULT_ANSWER_MEASURES = (parse_measure("f1"),)


@dataclass(frozen=True)
class ScoredFile:
    """A file from which a system is scored.

    name
        Name of the system.
    role
        Role of the file in the inputs of a result.
    """

    name: str
    role: str
    path: Path
    kind: Kind


def of_answers(measures: Sequence[Measure]) -> bool:
    """Return whether these are measures of answers. Raises :class:`UsageError` if they are mixed with measures of rankings."""
    found = {measure.family in ANSWER_FAMILIES for measure in measures}
    if len(found) == 2:
        told = "measures of answers (f1, em) and of rankings use different turns"
        raise UsageError("mixed-measures", told, "run two commands")
    return True in found


def file_of(part: Formulation, answers: bool) -> ScoredFile | None:
    """Return the file that scores a formulation: its predicted answers, or its run, else its per-turn scores."""
    role = part.role if part.role == part.name else f"{part.role}:{part.name}"
    if answers:
        return ScoredFile(part.name, f"{role} answers", part.answers, "answers") if part.answers else None
    if part.run:
        return ScoredFile(part.name, role, part.run, "runs")
    return ScoredFile(part.name, f"{role} scores", part.scores, "scores") if part.scores else None


def score(
    inputs: Inputs, files: Sequence[ScoredFile], measures: Sequence[Measure], alone: bool = False
) -> tuple[list[TurnScores], Evaluated]:
    """Score each file on the turns that count.

    Without ``measures``, the default measures that all files have are used. Files of answers cannot be mixed with others. If
    runs and per-turn scores are mixed, the turns are those of the qrels. ``alone``: each file is aggregated separately, so
    totals and geometric means are allowed, and with ``missing = "own"`` the scores of its missing turns are nan.

    Raises :class:`UsageError` if qrels or gold answers are missing, or if a file does not have a measure; :class:`InputError`
    for a file that shares no turn with the others.
    """
    kinds = {file.kind for file in files}
    if "answers" in kinds:
        frames, expected, answered, notes = _answers(inputs, files, inputs.averaged(measures or DEFAULT_ANSWER_MEASURES))
    else:
        only_given = "runs" not in kinds
        frames, expected, answered, notes = _rankings(inputs, files, inputs.averaged(measures, alone, only_given))
    policy = inputs.project.policy
    turns = count_turns(expected, answered, policy.missing, alone=alone)
    own = {}
    if alone and policy.missing == "own":
        own = {file.name: int((~found.missing).sum()) for file, found in zip(files, answered, strict=True)}
        frames = [
            TurnScores(one.turns, {name: np.where(found.missing, np.nan, values) for name, values in one.items()})
            for one, found in zip(frames, answered, strict=True)
        ]
    evaluated = Evaluated(
        policy,
        next(kind for kind in ("answers", "runs", "scores") if kind in kinds),
        int(turns.counted.sum()),
        int(turns.lacking.sum()),
        tuple(dict.fromkeys([*notes, *turns.notes])),
        as_given=tuple(file.name for file in files if file.kind == "scores") if len(kinds) > 1 else (),
        own_turns=own,
        conversations=conversations_of(inputs, expected.turns, [file.path for file in files if file.kind != "runs"]),
    )
    return [frame.take(turns.counted) for frame in frames], evaluated


#: Scores by turn, per file; the expected turns; the answered turns, per file; notes.
Scored = tuple[list[TurnScores], Expected, list[Answered], list[str]]


def _rankings(inputs: Inputs, files: Sequence[ScoredFile], measures: Sequence[Measure]) -> Scored:
    runs = [file for file in files if file.kind == "runs"]
    given = [file for file in files if file.kind == "scores"]
    tables = score_files(inputs, given, measures) if given else []
    if not runs:
        return join_scores(given, tables)
    if given:
        measures = [parse_measure(name, given=True) for name in tables[0]]
    measures = measures or DEFAULT_MEASURES
    matrices = inputs.matrices([(file.role, file.path) for file in runs])
    expected = expected_of(inputs.qrels, inputs.project.policy.documents)
    notes = [note for matrix in matrices for note in matrix.notes] + list(inputs.qrels.notes)
    notes += grade_notes(measures, inputs.qrels.grades, inputs.project.policy.relevance_level)
    frames = {file: evaluate(matrix, measures, inputs.project.policy) for file, matrix in zip(runs, matrices, strict=True)}
    answered = {file: answered_by_run(file.name, file.path, matrix) for file, matrix in zip(runs, matrices, strict=True)}
    for file, table in zip(given, tables, strict=True):
        frames[file] = table.over(expected.turns)
        answered[file] = answered_by_turns(file.name, file.path, table.turns, expected)
        if answered[file].extra:
            notes.append(no_judgments(answered[file].extra, f"the scores of {file.name}"))
    return [frames[file] for file in files], expected, [answered[file] for file in files], notes


def score_files(inputs: Inputs, files: Sequence[ScoredFile], measures: Sequence[Measure]) -> list[TurnScores]:
    """Read per-turn scores, of the turns with all measures.

    Without ``measures``, the default measures that all files have are used.

    Raises :class:`UsageError` for a file without a requested measure, or without any default measure.
    """
    from robustcs.inputs.scores import read_scores

    frames = []
    for file in files:
        frame = read_scores(file.path, file.name)
        inputs.remember(file.role, file.path, int(frame.notna().to_numpy().sum()))
        usual = {name: usual_name(name) for name in measure_columns(list(frame))}
        frames.append(frame.rename(columns={name: known for name, known in usual.items() if known not in frame}))
    names = [measure.name for measure in measures]
    if not measures:
        names = [name for name in map(str, DEFAULT_MEASURES) if all(name in frame for frame in frames)]
    for file, frame in zip(files, frames, strict=True):
        lacking = [name for name in names if name not in frame]
        if lacking or not names:
            found = f"{file.path} has no {lacking[0] if lacking else ' or '.join(map(str, DEFAULT_MEASURES))}"
            raise UsageError("no-such-measure", found, f"it has {some_of(list(frame), 12)}")
    return [TurnScores.of(frame[names].dropna()) for frame in frames]


def join_scores(files: Sequence[ScoredFile], frames: Sequence[TurnScores]) -> Scored:
    """Join per-turn scores by turn id (never by row) over the union of their turns; missing turns score 0.

    Raises :class:`InputError` for a file that shares no turn with the others.
    """
    own = [list(frame.turns) for frame in frames]
    expected = union_of_turns([(file.path, turns) for file, turns in zip(files, own, strict=True)], "the scores")
    answered = [answered_by_turns(file.name, file.path, turns, expected) for file, turns in zip(files, own, strict=True)]
    return [frame.over(expected.turns) for frame in frames], expected, answered, []


def _answers(inputs: Inputs, files: Sequence[ScoredFile], measures: Sequence[Measure]) -> Scored:
    from robustcs.inputs.answers import read_predicted_answers

    predicted = []
    inputs.require("gold")
    for file in files:
        predicted.append(read_once(read_predicted_answers, file.path))
        inputs.remember(file.role, file.path, rows_of(predicted[-1]))
    return scored_answers(inputs, files, predicted, measures)


def scored_answers(
    inputs: Inputs, files: Sequence[ScoredFile], predicted: Sequence[Mapping[str, str]], measures: Sequence[Measure]
) -> Scored:
    """Score predicted answers (turn → answer, per file) over the turns of the gold answers.

    Raises :class:`UsageError` if no gold answers are given.
    """
    from robustcs.evaluation.answers import answer_scores
    from robustcs.inputs.answers import read_gold_answers

    source = inputs.require("gold")
    gold = read_once(read_gold_answers, source)
    inputs.remember("gold answers", source, rows_of(gold))
    names = [measure.name for measure in measures]
    expected = Expected(tuple(sorted(gold, key=turn_sort_key)), "the gold answers")
    frames, answered, notes = [], [], []
    for file, answers in zip(files, predicted, strict=True):
        scores, unmatched = answer_scores(answers, gold)
        if unmatched.extra:
            notes.append(f"{counted(unmatched.extra, 'answer')} of {file.name} to turns without gold answers excluded")
        frames.append(scores.only(names))
        answered.append(answered_by_turns(file.name, file.path, answers, expected))
    return frames, expected, answered, notes
