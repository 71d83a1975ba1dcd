"""The judgments of people and of judges, and the runs that both may rank."""

from __future__ import annotations

from robustcs.evaluation.judges import OffScale
from robustcs.evaluation.trec_eval import sampling_notes
from robustcs.project.judged import judged_pool
from robustcs.project.scoring import DEFAULT_MEASURES
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.audit.analysis import Audit, People, audit


def ask(workspace: Workspace, *, off_scale: OffScale = "refuse") -> Audit:
    """Agreement, bias and reversed conclusions of every judge of the project, held against its qrels.

    off_scale
        What becomes of grades that people do not use: ``refuse`` the file, ``drop`` the labels, or ``clip`` them to the nearest
        grade.

    Without runs, agreement and bias alone.
    """
    human = workspace.qrels
    measures, notes = workspace.ranking_measures(DEFAULT_MEASURES)
    judged = judged_pool(workspace, human, off_scale)
    notes += [*sampling_notes(measures, human.grades), *human.notes, *judged.pool.notes, *judged.turns.notes]
    notes += judged.notes(off_scale)
    evaluated = Evaluated(workspace.project.policy, "runs", 0, int(judged.turns.lacking.sum()), tuple(notes))
    people = People(judged.human, judged.scale)
    sides = {name: (judge, judged.grades[name]) for name, judge in judged.judges.items()}
    return audit(judged.pool, people, sides, off_scale == "clip", judged.counted, measures, evaluated, workspace.project.seed)
