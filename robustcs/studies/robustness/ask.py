"""How far scores drop under other words, from the runs of a workspace; or the whole experiment, from paraphrases on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from robustcs.errors import UsageError
from robustcs.project.requirements import groups
from robustcs.project.retrieved import Retrieval, plan_of
from robustcs.project.slices import slicings
from robustcs.project.workspace import Workspace
from robustcs.studies.robustness.analysis import ALPHA, ALWAYS, DEFAULT_MEASURES, Robustness, robustness
from robustcs.studies.robustness.experiment import SETS, Experiment, experiment, is_experiment, with_testsets
from robustcs.studies.robustness.variations import categories_of
from robustcs.wording import counted, verb


def ask(
    workspace: Workspace,
    *,
    slices: Any = None,
    alpha: float = ALPHA,
    margin: float | None = None,
    sets: int | None = None,
    tell: Callable[[str], None] = lambda message: None,
) -> Robustness | Experiment:
    """Every test set of the project's groups beside its baseline.

    With paraphrases and an index, and no groups, test sets are drawn and retrieved first, and the result is the whole
    :class:`~robustcs.studies.robustness.experiment.Experiment`; ``tell`` gets a line for people about every step.

    slices
        What drops are split by beside ``first`` and ``depth``, one or several: ``conversation``, ``pronoun``, ``ellipsis``,
        ``length``, ``shift``, ``name``, ``texts`` for all that texts say, or a TSV (or frame, or records) of properties of
        turns.
    alpha
        In U_Risk and T_Risk a loss weighs 1 + ``alpha`` times a gain.
    margin
        Say which drops are no larger than this: their whole 95 % interval lies inside ± ``margin``.

    sets
        Test sets of each kind that the experiment draws, 3 by default.

    Raises :class:`UsageError` without groups of runs, for ``sets`` where groups are given, and where
    rewritten sets have an unrewritten baseline.
    """
    if not (math.isfinite(alpha) and alpha >= 0):
        raise UsageError("bad-alpha", f"--alpha {alpha}", "write a number from 0")
    plan = None
    if sets is not None and not is_experiment(workspace.project):
        found = "--sets is for the whole experiment, which needs paraphrases and an index, and no groups"
        raise UsageError("no-experiment", found, "leave it out, or draw sets with robustcs testsets")
    if is_experiment(workspace.project):
        retrieval = Retrieval(workspace.of(with_testsets(workspace, tell, sets or SETS)), tell)
        workspace = workspace.of(retrieval.complete())
        plan = plan_of(retrieval)
    project = workspace.project
    groups(workspace)
    names = [name for part in project.groups.values() for name in (part.baseline, *part.sets)]
    scores, evaluated = workspace.system_scores(names, project.metrics or DEFAULT_MEASURES)
    turns = list(scores[names[0]].index)
    texts = workspace.texts_of(turns).get("human")
    cut, told = slicings(workspace, turns, slices, always=ALWAYS)
    categories, notes = _categories(workspace, turns)
    evaluated = replace(evaluated, notes=(*evaluated.notes, *told, *notes))
    result = robustness(project.groups, scores, evaluated, cut, texts, alpha, margin, project.seed, categories)
    return result if plan is None else experiment(workspace, names, result, plan)


def _categories(workspace: Workspace, turns: Sequence[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Set → turn → category of its paraphrase, told by the texts of the sets; and notes. Empty where no paraphrase has any."""
    project = workspace.project
    if project.paraphrases is None:
        return {}, []
    paraphrases = workspace.paraphrases
    if not any(row.category for rows in paraphrases.values() for row in rows):
        return {}, []
    found: dict[str, dict[str, str]] = {}
    several = 0
    sets = dict.fromkeys(name for group in project.groups.values() for name in group.sets)
    for raw, sources in ((False, project.texts), (True, project.raw_texts)):
        unchanged = workspace.texts.get("original" if raw else "human", {})
        for name in sets:
            if name in sources:
                texts = workspace.text_file(sources[name], "original" if raw else "human", name)
                workspace.refuse_strangers([(sources[name].path, texts)], turns)
                found[name], ambiguous = categories_of(paraphrases, texts, raw, unchanged)
                several += ambiguous
    notes = list(paraphrases.notes)
    if several:
        notes.append(f"{counted(several, 'text')} of several categories {verb(several, 'counts', 'count')} for none")
    lacking = [name for name in sets if name not in found]
    if lacking:
        notes.append(f"no drops by category of {', '.join(lacking)}: name their texts in [texts] or [raw_texts]")
    return found, notes
