"""How far scores drop under other words, from the runs of a workspace; or the whole experiment, from paraphrases on."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from robustcs.errors import UsageError
from robustcs.project import readers
from robustcs.project.given import file_of
from robustcs.project.requirements import groups
from robustcs.project.retrieved import Retrieval, plan_of
from robustcs.project.workspace import Workspace
from robustcs.studies.robustness.analysis import ALPHA, DEFAULT_MEASURES, Robustness, robustness
from robustcs.studies.robustness.experiment import Experiment, experiment, is_experiment, with_testsets


def ask(
    workspace: Workspace,
    *,
    slices: Any = None,
    alpha: float = ALPHA,
    margin: float | None = None,
    tell: Callable[[str], None] = lambda message: None,
) -> Robustness | Experiment:
    """Every test set of the project's groups beside its baseline.

    With paraphrases and an index, and no groups, test sets are drawn and retrieved first, and the result is the whole
    :class:`~robustcs.studies.robustness.experiment.Experiment`; ``tell`` gets a line for people about every step.

    slices
        A TSV of properties of turns (or a frame, or records), by which drops are split as well.
    alpha
        In U_Risk and T_Risk a loss weighs 1 + ``alpha`` times a gain.
    margin
        Say which drops are no larger than this: their whole 95 % interval lies inside ± ``margin``.

    Raises :class:`UsageError` without groups of runs, and where rewritten sets have an unrewritten baseline.
    """
    if not (math.isfinite(alpha) and alpha >= 0):
        raise UsageError("bad-alpha", f"--alpha {alpha}", "write a number from 0")
    plan = None
    if is_experiment(workspace.project):
        retrieval = Retrieval(workspace.of(with_testsets(workspace, tell)), tell)
        workspace = workspace.of(retrieval.complete())
        plan = plan_of(retrieval)
    project = workspace.project
    groups(workspace)
    names = [name for part in project.groups.values() for name in (part.baseline, *part.sets)]
    cut = workspace.slices(file_of(readers.slices, "slices", slices)) if slices is not None else None
    scores, evaluated = workspace.system_scores(names, project.metrics or DEFAULT_MEASURES)
    texts = workspace.texts_of(scores[names[0]].index).get("human")
    result = robustness(project.groups, scores, evaluated, cut, texts, alpha, margin, project.seed)
    return result if plan is None else experiment(workspace, names, result, plan)
