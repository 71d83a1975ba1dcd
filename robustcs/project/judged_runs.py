"""The runs of a project joined with its judgments, as a comparison of two states needs them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from robustcs.evaluation.holes import JudgedRun, judged_run, only_turns
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.ranking import GradedTop, Ranking
from robustcs.inputs.qrels import Qrels
from robustcs.project.text_run_match import digest
from robustcs.project.workspace import Workspace
from robustcs.records.record import DEEPEST


class RunState(NamedTuple):
    """A run.

    judged
        The run on the turns that count.
    digests
        Turn → a checksum of its ranking.
    top
        Turn → its best passages with their grades.
    """

    judged: JudgedRun
    digests: Mapping[str, str]
    top: GradedTop


def judged_runs(
    workspace: Workspace, files: Mapping[str, Path], depth: int | None = None
) -> dict[str, RunState]:
    """Join runs with the workspace's judgments on the turns that count; sets of paraphrases on those that they ask.

    ``depth``: rank to which checksums of rankings reach; None: to their end.
    """
    listed = list(files.items())
    read = workspace.per_run(listed, partial(_read, workspace.qrels, depth))
    matrices = [run.judged.matrix for run in read]
    turns = workspace.count_turns(
        list(files), listed, matrices, holes=True, asked=workspace.asked, apart=True
    )
    workspace.note(*turns.notes)
    found = {}
    for name, run in zip(files, read, strict=True):
        mask = turns.counted & turns.asked.get(name, turns.counted)
        judged = run.judged if mask.all() else only_turns(run.judged, mask)
        found[name] = run._replace(judged=judged)
    return found


def _read(qrels: Qrels, depth: int | None, ranking: Ranking) -> RunState:
    run = judged_run(ranking, qrels, 0)
    rows = {turn: row for row, turn in enumerate(run.matrix.turns)}
    digests, top = {}, {}
    for turn, names in ranking.by_turn():
        digests[turn] = digest(names[:depth])
        best = names[:DEEPEST]
        grades: list[int | None] = [None] * len(best)
        if turn in rows:
            known = run.matrix.grades[rows[turn], : len(best)].tolist()
            grades = [None if grade == UNJUDGED else grade for grade in known]
        top[turn] = list(zip(best, grades, strict=True))
    return RunState(run, digests, top)
