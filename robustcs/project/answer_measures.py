"""The measures that only the answers of a project have."""

from __future__ import annotations

from robustcs.evaluation.measure import GOLD_MEASURES
from robustcs.inputs.readings import read_once
from robustcs.project.model import Project


def answer_measures(project: Project) -> set[str]:
    """Return the metrics in the project's files of answers and the measures of gold items; empty without answers."""
    from robustcs.inputs.answer_traces import read_trace

    if not project.answers:
        return set()
    traces = [read_once(read_trace, path, name) for name, path in project.answers.answered.items()]
    return {metric for trace in traces for metric in trace.scores}.union(*GOLD_MEASURES.values())
