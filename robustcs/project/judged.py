"""People and judges over one list of pairs, with the runs that find them: what studies of judges work on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from robustcs.evaluation.augmentation import merge_qrels
from robustcs.evaluation.judges import Judge, OffScale, on_scale, scale_of
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.run_pool import Grades, PoolBuilder, RunPool, collect_run
from robustcs.evaluation.turns import Answered, Expected, Turns, count_turns
from robustcs.inputs.qrels import Qrels
from robustcs.project.workspace import Workspace
from robustcs.wording import counted


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """All pairs that people, a judge or a run has, N of them, in the turns that people or a judge judged, T of them.

    human
        int16[N + 1]: the grades of people, :data:`~robustcs.evaluation.matrix.UNJUDGED` where they gave none.
    judges
        Name → the judge; ``grades`` has its labels as ``human`` has those of people.
    scale
        The lowest and the highest grade.
    turns
        Which turns count, by what the runs answer.
    """

    pool: RunPool
    human: Grades
    judges: Mapping[str, Judge]
    grades: Mapping[str, Grades]
    scale: tuple[int, int]
    turns: Turns

    @property
    def counted(self) -> npt.NDArray[np.bool_]:
        """bool[T]: the turn counts."""
        return self.turns.counted

    def notes(self, off_scale: OffScale) -> list[str]:
        """What a reader should know about the judges' files: labels that are left out, and grades off the scale."""
        notes: list[str] = []
        for name, judge in self.judges.items():
            labels, off = judge.labels, sum(judge.off_scale.values())
            told = [
                (labels.unlabelled, "row", "without a grade"),
                (labels.fallback, "answer", "that its parser could not read (result_status 0)"),
                (labels.unknown, "label", "for texts that no turn or passage has"),
            ]
            notes += labels.qrels.notes
            notes += [f"{name}: {counted(number, what)} {why} left out" for number, what, why in told if number]
            if off:
                notes.append(f"{name}: {counted(off, 'grade')} off the scale {'clipped' if off_scale == 'clip' else 'dropped'}")
        return notes


def judged_pool(workspace: Workspace, human: Qrels | None, off_scale: OffScale) -> JudgedPool:
    """Read the project's judges and runs beside the judgments ``human``, None where people judged nothing so far.

    Raises :class:`InputError` for grades off the scale where they are refused, and for runs that have nothing to do with the
    judgments; :class:`UsageError` without judges.
    """
    project = workspace.project
    labels = workspace.judges
    sides = [human] if human is not None else [one.qrels for one in labels.values()]
    lowest, highest = zip(*map(scale_of, sides), strict=True)
    scale = min(lowest), max(highest)
    judges = {name: on_scale(one, scale, off_scale, project.judges[name]) for name, one in labels.items()}
    # the judges' grades are left out again: what is merged here are the pairs
    every = [*([human] if human is not None else []), *(judge.qrels for judge in judges.values())]
    pairs = merge_qrels(every[0], every[1:], "keep").qrels
    builder = PoolBuilder(pairs.turns, pairs)
    files = workspace.system_files(list(project.systems))
    workspace.per_run(files, partial(collect_run, builder.turns), keep=builder.add)
    pool = builder.build()
    known = pool.grades(pairs)
    answered = [
        Answered(name, path, lacks, *first, pool.extra_turns, bool((known[places] > UNJUDGED).any()))
        for (name, path), lacks, first, places in zip(files, pool.missing, pool.first, pool.places, strict=True)
    ]
    expected = Expected(pool.turns, "the judgments", passage=pairs.documents[0].as_py())
    turns = count_turns(expected, answered, project.policy.missing)
    grades = {name: pool.grades(judge.qrels) for name, judge in judges.items()}
    nothing = np.full(len(pool) + 1, UNJUDGED, dtype=np.int16)
    return JudgedPool(pool, nothing if human is None else pool.grades(human), judges, grades, scale, turns)
