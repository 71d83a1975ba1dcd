"""Rewriters that vary, from the texts and runs of a workspace: what ``robustcs samples`` computes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.texts import without_empty
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.model import Formulation, Project
from robustcs.project.requirements import sampled
from robustcs.project.scoring import ScoredFile
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.similarity.rankings import pair_rankings, rbo
from robustcs.studies.samples.analysis import WITHIN, Sampled, Samples, compare_samples
from robustcs.wording import counted, some_of

if TYPE_CHECKING:
    import pandas as pd


def ask(workspace: Workspace, *, within: float = WITHIN) -> Samples:
    """How far the samples of every rewriter differ, in words, in what they find, and in scores.

    within
        How far the average of several samples may move: says how many of them it takes.
    """
    workspace.takes_samples = True
    parts = sampled(workspace)
    files = {part.name: _files(part) for part in parts if part.run and part.sample_runs}
    scores: dict[str, pd.DataFrame] = {}
    evaluated = Evaluated(workspace.project.policy, "texts", 0, 0)
    if files and workspace.project.qrels:
        measures, notes = workspace.ranking_measures(())
        scores, evaluated = workspace.scores_of([file for some in files.values() for file in some], measures)
        evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    rankings = {part.name: _rankings(workspace, files[part.name]) for part in parts if part.name in files}
    answered = set(next(iter(scores.values())).index) if scores else {turn for some in rankings.values() for turn in some}
    samples = workspace.samples_of(sorted(answered, key=turn_sort_key)) if answered else workspace.samples
    found, notes = [], list[str]()
    for part in parts:
        texts = samples[part.name]
        frames = [scores[file.name] for file in files.get(part.name, []) if scores]
        turns = list(frames[0].index) if frames else []
        # one set of texts stands beside several runs: then no turn has a text for each
        each = any(len(some) >= len(frames) for some in texts.values())
        fewer = {turn for turn, some in texts.items() if each and len(some) < len(frames)} & set(turns)
        if fewer:
            some = some_of(sorted(fewer, key=turn_sort_key))
            notes.append(f"{counted(len(fewer), 'turn')} of {part.name} with fewer texts than runs left out: {some}")
        turns = [turn for turn in turns if turn not in fewer]
        found.append(
            Sampled(
                part.name,
                dict(sorted(without_empty(texts).items(), key=lambda item: turn_sort_key(item[0]))),
                {
                    metric: np.column_stack([frame[metric][turns] for frame in frames])
                    for metric in (frames[0] if turns else ())
                },
                turns,
                rankings.get(part.name, {}),
                len(files.get(part.name, [])),
            )
        )
    evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    return compare_samples(found, evaluated, within, workspace.project.seed)


def _files(part: Formulation) -> list[ScoredFile]:
    """The runs of a rewriter's samples, the first under its own name."""
    role = "qr" if part.name == "qr" else f"qr:{part.name}"
    assert part.run is not None
    named = {part.name: part.run, **Project(formulations={role: part}).sample_runs}
    return [ScoredFile(name, role, path, "runs") for name, path in named.items()]


def _whole(ranking: Ranking) -> Ranking:
    return ranking


def _rankings(workspace: Workspace, files: list[ScoredFile]) -> dict[str, float]:
    """Turn → mean overlap of every two rankings, of the turns that all runs answer."""
    rankings = workspace.per_run([(file.role, file.path) for file in files], _whole)
    common = set.intersection(*(set(ranking.turns) for ranking in rankings))
    turns = sorted(common, key=turn_sort_key)
    total = np.zeros(len(turns))
    pairs = list(combinations(rankings, 2))
    for first, second in pairs:
        matched = pair_rankings(first, second)
        value = dict(zip(matched.turns, rbo(matched).tolist(), strict=True))
        total += [value[turn] for turn in turns]
    return dict(zip(turns, (total / len(pairs)).tolist(), strict=True))
