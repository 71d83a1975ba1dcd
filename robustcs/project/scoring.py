"""Scores of files over the same turns: runs joined with qrels, per-turn scores, or predicted answers.

Runs and per-turn scores may be mixed; then the qrels determine which turns count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Literal

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.measure import (
    ANSWER_FAMILIES,
    GIVEN,
    Measure,
    grade_notes,
    is_averaged,
    known_measure,
    parse_measure,
    usual_name,
)
from robustcs.evaluation.measures import TurnScores, evaluate
from robustcs.evaluation.turns import (
    AskedTurns,
    CoveredTurns,
    Expected,
    count_turns,
    covered_by_run,
    covered_by_turns,
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
        return (
            ScoredFile(part.name, f"{role} answers", part.answers, "answers")
            if part.answers
            else None
        )
    if part.run:
        return ScoredFile(part.name, role, part.run, "runs")
    return ScoredFile(part.name, f"{role} scores", part.scores, "scores") if part.scores else None


def score(
    inputs: Inputs,
    files: Sequence[ScoredFile],
    measures: Sequence[Measure],
    alone: bool = False,
    asked: Mapping[str, AskedTurns] | None = None,
    apart: bool = False,
) -> tuple[list[TurnScores], Evaluated]:
    """Score each file on the turns that count.

    Without ``measures``, default ones that all files have are used. Files of answers cannot be mixed with others. If runs and
    per-turn scores are mixed, the turns are those of the qrels. A turn does not count if its score in a file is missing.

    alone
        Aggregate each file separately: totals and geometric means are allowed, missing scores of files are nan, and so are,
        with ``missing = "own"``, those of turns that a run misses.
    asked
        The turns that each set of paraphrases asks; its scores of other turns are nan.
    apart
        Systems are not compared with each other: a turn that no set asks counts, and a run without judged passages gives a
        note instead of an error.

    Raises :class:`UsageError` if qrels or gold answers are missing, or if a file does not have a measure; :class:`InputError`
    for a file that shares no turn with the others.
    """
    kinds = {file.kind for file in files}
    if "answers" in kinds:
        frames, expected, covered, notes = _answers(
            inputs, files, inputs.averaged(measures or DEFAULT_ANSWER_MEASURES)
        )
    else:
        only_given = "runs" not in kinds
        frames, expected, covered, notes = _rankings(
            inputs, files, inputs.averaged(measures, alone, only_given), alone
        )
    policy = inputs.project.policy
    turns = count_turns(
        expected, covered, policy.missing, holes=apart, alone=alone, asked=asked, apart=apart
    )
    own = {}
    if alone and policy.missing == "own":
        counts = [
            found.missing if found.unscored is None else found.missing | found.unscored
            for found in covered
        ]
        own = {file.name: int((~lacks).sum()) for file, lacks in zip(files, counts, strict=True)}
        frames = [one.without(found.missing) for one, found in zip(frames, covered, strict=True)]
    for place, file in enumerate(files):
        if file.name in turns.asked:
            frames[place] = frames[place].without(~turns.asked[file.name])
    there = [int((turns.counted & ~found.missing).sum()) for found in covered]
    few = {
        file.name: some
        for file, some in zip(files, there, strict=True)
        if 2 * some < turns.counted.sum()
    }
    lost = {
        file.name: int(found.unscored.sum())
        for file, found in zip(files, covered, strict=True)
        if found.unscored is not None
    }
    evaluated = Evaluated(
        policy,
        next(kind for kind in ("answers", "runs", "scores") if kind in kinds),
        int(turns.counted.sum()),
        int(turns.lacking.sum()),
        tuple(dict.fromkeys([*notes, *turns.notes])),
        as_given=tuple(file.name for file in files if file.kind == "scores")
        if len(kinds) > 1
        else (),
        own_turns=own,
        unscored=int(turns.unscored.sum()),
        unscored_by={
            name: (number, len(expected.turns)) for name, number in lost.items() if number
        },
        few=few,
        conversations=conversations_of(
            inputs, expected.turns, [file.path for file in files if file.kind != "runs"]
        ),
    )
    return [frame.take(turns.counted) for frame in frames], evaluated


#: Scores by turn, per file; the expected turns; the covered turns, per file; notes.
ScoredFrames = tuple[list[TurnScores], Expected, list[CoveredTurns], list[str]]


def _rankings(
    inputs: Inputs, files: Sequence[ScoredFile], measures: Sequence[Measure], alone: bool
) -> ScoredFrames:
    runs = [file for file in files if file.kind == "runs"]
    given = [file for file in files if file.kind == "scores"]
    tables = score_files(inputs, given, measures, bool(runs), alone) if given else []
    if not runs and not (inputs.project.qrels and any(table.of_run for table in tables)):
        return join_scores(given, tables)
    if given:
        measures = [parse_measure(name, given=True) for name in tables[0].scores]
    measures = measures or DEFAULT_MEASURES
    matrices = inputs.matrices([(file.role, file.path) for file in runs])
    expected = expected_of(inputs.qrels, inputs.project.policy.documents)
    notes = [note for matrix in matrices for note in matrix.notes] + list(inputs.qrels.notes)
    notes += grade_notes(measures, inputs.qrels.grades, inputs.project.policy.relevance_level)
    frames = {
        file: evaluate(matrix, measures, inputs.project.policy)
        for file, matrix in zip(runs, matrices, strict=True)
    }
    covered = {
        file: covered_by_run(file.name, file.path, matrix)
        for file, matrix in zip(runs, matrices, strict=True)
    }
    for file, table in zip(given, tables, strict=True):
        frames[file] = table.over(expected.turns, True)
        covered[file] = table.covered(file, expected, True)
        if covered[file].extra:
            notes.append(no_judgments(covered[file].extra, f"the scores of {file.name}"))
    return [frames[file] for file in files], expected, [covered[file] for file in files], notes


@dataclass(frozen=True, eq=False)
class Given:
    """Scores of one file, nan where missing.

    of_run
        Whether they are a run's, so that a judged turn that the file lacks found nothing.
    """

    scores: TurnScores
    of_run: bool

    @property
    def unscored(self) -> list[str]:
        """The turns of the file without a score by some measure."""
        return list(
            compress(
                self.scores.turns,
                np.any([np.isnan(values) for values in self.scores.values()], axis=0),
            )
        )

    def over(self, turns: Sequence[str], judged: bool) -> TurnScores:
        """Return the scores on other turns; ``judged``: the turns are those of the qrels."""
        return self.scores.over(turns, None if judged and self.of_run else np.nan)

    def covered(self, file: ScoredFile, expected: Expected, judged: bool) -> CoveredTurns:
        """Return which turns the file has, and which scores are missing."""
        found = covered_by_turns(file.name, file.path, self.scores.turns, expected)
        unscored = set(self.unscored)
        missing = np.array([turn in unscored for turn in expected.turns], dtype=bool)
        return replace(
            found, unscored=missing if judged and self.of_run else missing | found.missing
        )


def score_files(
    inputs: Inputs,
    files: Sequence[ScoredFile],
    measures: Sequence[Measure],
    with_runs: bool = False,
    alone: bool = False,
) -> list[Given]:
    """Read per-turn scores, of the turns with any measure; only the measures that are used are parsed.

    Without ``measures``: :func:`default_measures`. If several systems have one file with a column for each of them, the columns
    are their scores by the requested measure, or else by ``score``.

    Raises :class:`UsageError` for a file without a requested measure, or without any known measure.
    """
    from robustcs.inputs.scores import read_score_file

    read = [read_once(read_score_file, file.path, file.name) for file in files]
    requested = [measure.name for measure in measures]
    by_file: list[dict[str, str]] = []  # name of the measure → column
    for file, source in zip(files, read, strict=True):
        inputs.remember(file.role, file.path, source.size)
        if source.texts:
            inputs.note(
                f"{', '.join(source.texts)} of {source.path} skipped, because their values are text"
            )
        shared = [one.name for one in files if one.path == file.path]
        if len(shared) > 1 and len(requested) < 2 and {*shared} <= {*source.measures}:
            by_file.append({requested[0] if requested else "score": file.name})
            continue
        usual = {name: usual_name(name) for name in measure_columns(source.measures)}
        by_file.append({usual[name] if usual.get(name, name) not in source.measures else name: name
                        for name in source.measures if name in usual or name in source.known or name in requested})  # fmt: skip
    if not requested:
        requested = default_measures(inputs, by_file, with_runs, alone)
    for file, names in zip(files, by_file, strict=True):
        lacking = [name for name in requested if name not in names]
        if lacking or not requested:
            found = f"{file.path} has no {lacking[0] if lacking else ' or '.join(map(str, DEFAULT_MEASURES))}"
            raise UsageError("no-such-measure", found, f"it has {some_of(list(names), 12)}")
    frames = [
        source.frame([names[name] for name in requested])
        for source, names in zip(read, by_file, strict=True)
    ]
    ranked = all(
        parse_measure(name, given=True).family not in (GIVEN, *ANSWER_FAMILIES)
        for name in requested
    )
    return [
        Given(
            TurnScores(
                frame.index, dict(zip(requested, frame.to_numpy(np.float64).T, strict=True))
            ),
            source.lines and ranked,
        )
        for frame, source in zip(frames, read, strict=True)
    ]


#: The first of these measures are used by default if files have more than so many measures.
PREFERRED = ("ndcg_cut_3", "ndcg_cut_10", "recip_rank", "map", "P_1", "recall_1000")
MOST_MEASURES, FEW_MEASURES = 8, 3


def default_measures(
    inputs: Inputs, files: Sequence[Mapping[str, str]], with_runs: bool, alone: bool
) -> list[str]:
    """Return the measures to use of files of scores if none are requested; ``files``: the measures that each has.

    These are all known means that all files have, if they are at most :data:`MOST_MEASURES`, in the order of
    :data:`PREFERRED`; otherwise the first :data:`FEW_MEASURES` of :data:`PREFERRED` that are there. A note names the others.
    Unless ``alone``, the default measures of rankings are used if all files have one. ``with_runs``: only measures that can be
    computed from runs.
    """
    common = [name for name in files[0] if all(name in names for names in files)]
    if not alone and (found := [name for name in map(str, DEFAULT_MEASURES) if name in common]):
        return found
    known = {name: parsed.family for name in common if (parsed := known_measure(name))}
    usable = [
        name
        for name, family in known.items()
        if not (with_runs and family in (GIVEN, *ANSWER_FAMILIES))
    ]
    means = [name for name in usable if is_averaged(name)] or (usable if alone else [])
    found = sorted(
        means, key=lambda name: PREFERRED.index(name) if name in PREFERRED else len(PREFERRED)
    )
    if len(found) > MOST_MEASURES:
        found = [name for name in found if name in PREFERRED][:FEW_MEASURES] or found[:FEW_MEASURES]
    if found and (
        left := [
            name
            for name in dict.fromkeys(name for names in files for name in names)
            if name not in found
        ]
    ):
        inputs.note(f"measures not used: {some_of(left, 12)}; choose with --metric")
    return found


def join_scores(files: Sequence[ScoredFile], given: Sequence[Given]) -> ScoredFrames:
    """Join per-turn scores by turn id (never by row) over the union of their turns; missing scores are nan.

    Raises :class:`InputError` for a file that shares no turn with the others.
    """
    expected = union_of_turns(
        [(file.path, one.scores.turns) for file, one in zip(files, given, strict=True)],
        "the scores",
    )
    covered = [one.covered(file, expected, False) for file, one in zip(files, given, strict=True)]
    return [one.over(expected.turns, False) for one in given], expected, covered, []


def _answers(
    inputs: Inputs, files: Sequence[ScoredFile], measures: Sequence[Measure]
) -> ScoredFrames:
    from robustcs.inputs.answers import read_predicted_answers

    predicted = []
    inputs.require("gold")
    for file in files:
        predicted.append(read_once(read_predicted_answers, file.path))
        inputs.remember(file.role, file.path, rows_of(predicted[-1]))
    return scored_answers(inputs, files, predicted, measures)


def scored_answers(
    inputs: Inputs,
    files: Sequence[ScoredFile],
    predicted: Sequence[Mapping[str, str]],
    measures: Sequence[Measure],
) -> ScoredFrames:
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
    frames, covered, notes = [], [], []
    for file, answers in zip(files, predicted, strict=True):
        scores, unmatched = answer_scores(answers, gold)
        if unmatched.extra:
            notes.append(
                f"{counted(unmatched.extra, 'answer')} of {file.name} to turns without gold answers excluded"
            )
        frames.append(scores.only(names))
        covered.append(covered_by_turns(file.name, file.path, answers, expected))
    return frames, expected, covered, notes
