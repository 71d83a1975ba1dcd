"""The runs of a workspace as one pool, with judgments that join the qrels: what ``robustcs augment`` works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from robustcs.errors import MAX_PROBLEMS, InputError, Problem, UsageError
from robustcs.evaluation.augmentation import Conflict, Merge, merge_qrels
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measures import ANSWER_FAMILIES, Measure
from robustcs.evaluation.run_pool import PoolBuilder, RunPool
from robustcs.evaluation.trec_eval import sampling_notes
from robustcs.evaluation.turns import Answered, Expected, count_turns
from robustcs.inputs.files import text_lines
from robustcs.inputs.qrels import IRDS_PREFIX, Qrels, read_qrels
from robustcs.project.workspace import Workspace, parse_measures
from robustcs.result import Evaluated
from robustcs.studies.augment.analysis import DEFAULT_METRICS, Augmentation, augment

#: Which grade stands where a passage was judged twice with different ones; ``fail`` refuses.
Rule = Literal["keep", "replace", "max", "fail"]

#: Depth of the pool without ``--pool-depth``.
POOL_DEPTH = 10


@dataclass(frozen=True)
class Pooled:
    """All runs of a project over the turns of its qrels; ``counted`` (bool[T]) are those that means go over."""

    pool: RunPool
    merge: Merge
    measures: list[Measure]
    evaluated: Evaluated
    counted: npt.NDArray[np.bool_]


def pool_runs(workspace: Workspace, files: Sequence[str], rule: Rule = "keep") -> Pooled:
    """Read all runs, and the new judgments of ``files``, which join the qrels one after the other.

    Raises :class:`InputError` for contradictions where ``rule`` is ``fail`` and for runs that have nothing to do with the
    judgments, :class:`UsageError` where no turn is left.
    """
    old = workspace.qrels
    measures, notes = _measures(workspace.project.metrics)
    notes += sampling_notes(measures, old.grades)
    merge = merge_qrels(old, _read_new(workspace, files), "keep" if rule == "fail" else rule)
    if rule == "fail" and merge.conflicts:
        raise _conflict_error(merge.conflicts)
    builder = PoolBuilder(old.turns, merge.qrels)
    files_of_runs = workspace.system_files(list(workspace.project.systems))
    runs = workspace.per_run(files_of_runs, builder.collect)
    pool = builder.build(runs)
    evaluated, counted = _evaluated(workspace, files_of_runs, pool, merge, notes)
    return Pooled(pool, merge, measures, evaluated, counted)


def compare_judgments(workspace: Workspace) -> Augmentation:
    """Scores of all runs before and after the project's new judgments.

    Raises :class:`UsageError` without new judgments or runs.
    """
    project = workspace.project
    if project.new_judgments is None:
        raise UsageError("no-new-judgments", "no new judgments are given", "name them with --new-judgments FILE")
    workspace.require_runs()
    pooled = pool_runs(workspace, [str(project.new_judgments)])
    pool, merge = pooled.pool, pooled.merge
    # a result that is kept or sent names files without their folders
    merge = replace(merge, joined=tuple(replace(file, file=Path(file.file).name) for file in merge.joined),
                    conflicts=tuple(replace(one, new_file=Path(one.new_file).name) for one in merge.conflicts))  # fmt: skip
    change = augment(
        pool, pool.grades(workspace.qrels), pool.grades(merge.qrels), merge, pooled.measures, project.policy,
        pooled.counted, project.seed,
    )  # fmt: skip
    return Augmentation(pooled.evaluated, change, None, None, POOL_DEPTH)


def _measures(names: Sequence[str]) -> tuple[list[Measure], list[str]]:
    """The project's measures of rankings, or those of Table 14; measures of answers are passed over with a note."""
    measures = parse_measures(names or DEFAULT_METRICS)
    left = [measure.name for measure in measures if measure.family in ANSWER_FAMILIES]
    kept = [measure for measure in measures if measure.family not in ANSWER_FAMILIES]
    notes = [f"{', '.join(left)} left out: answers are not judged passages"] if left else []
    return kept or parse_measures(DEFAULT_METRICS), notes


def _read_new(workspace: Workspace, files: Sequence[str]) -> list[Qrels]:
    """The new judgments, each file under the name that the user gave."""
    read = []
    for file in files:
        qrels = replace(read_qrels(file), name=file)
        workspace.remember("new judgments", file, len(qrels))
        read.append(qrels)
    return read


def _evaluated(
    workspace: Workspace, files: Sequence[tuple[str, Path]], pool: RunPool, merge: Merge, notes: Sequence[str]
) -> tuple[Evaluated, npt.NDArray[np.bool_]]:
    """Which turns count, bool[T], and what a reader should know about them."""
    policy = workspace.project.policy
    notes = [*notes, *merge.qrels.notes, *pool.notes]
    added = sum(file.added_turns for file in merge.joined)
    if added:
        notes.append(
            f"the new judgments judge {added} turn{'s' * (added != 1)} that had no judgment: part of the merged qrels, but"
            " not of the scores, which go over the same turns before and after"
        )
    grades = pool.grades(merge.qrels)
    answered = [
        Answered(name, path, lacks, *first, pool.extra_turns, bool((grades[places] > UNJUDGED).any()))
        for (name, path), lacks, first, places in zip(files, pool.missing, pool.first, pool.places, strict=True)
    ]
    expected = Expected(pool.turns, passage=merge.qrels.documents[0].as_py())
    turns = count_turns(expected, answered, policy.missing)
    notes = list(dict.fromkeys([*notes, *turns.notes]))
    evaluated = Evaluated(policy, "runs", int(turns.counted.sum()), int(turns.lacking.sum()), tuple(notes))
    return evaluated, turns.counted


def _conflict_error(conflicts: Sequence[Conflict]) -> InputError:
    """Every contradiction with the line of the new file that makes it."""
    problems = [
        Problem(
            conflict.new_file, _line_of(conflict),
            f"turn {conflict.turn} document {conflict.document} has grade {conflict.new} but grade {conflict.old} in"
            f" {conflict.old_file}",
            "correct one of the files, or choose --conflicts keep, replace or max", "contradicting-grades",
        )
        for conflict in conflicts[:MAX_PROBLEMS]
    ]  # fmt: skip
    return InputError(problems, len(conflicts))


def _line_of(conflict: Conflict) -> int | None:
    if conflict.new_file.startswith(IRDS_PREFIX):
        return None
    for number, line in text_lines(conflict.new_file):
        fields = line.split()
        if fields[:1] == [conflict.turn] and fields[2:3] == [conflict.document]:
            return number
    return None
