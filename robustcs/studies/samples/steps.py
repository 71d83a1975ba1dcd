"""Steps of ``robustcs samples``: runs of samples, and the overlap of their rankings."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from robustcs.evaluation.ranking import Ranking
from robustcs.inputs.turns import turn_sort_key
from robustcs.project.model import Formulation, Project
from robustcs.project.scoring import ScoredFile
from robustcs.project.workspace import Workspace
from robustcs.similarity.rankings import pair_rankings, ranking_rbo


def files_of_samples(part: Formulation) -> list[ScoredFile]:
    """Return the runs of a rewriter's samples, the first under the rewriter's name."""
    role = "qr" if part.name == "qr" else f"qr:{part.name}"
    assert part.run is not None
    named = {part.name: part.run, **Project(formulations={role: part}).sample_runs}
    return [ScoredFile(name, role, path, "runs") for name, path in named.items()]


def _whole(ranking: Ranking) -> Ranking:
    return ranking


def overlap_of_rankings(workspace: Workspace, files: list[ScoredFile]) -> dict[str, float]:
    """Return turn → mean overlap of pairs of rankings, for the turns that all runs answer."""
    rankings = workspace.per_run([(file.role, file.path) for file in files], _whole)
    common = set.intersection(*(set(ranking.turns) for ranking in rankings))
    turns = sorted(common, key=turn_sort_key)
    total = np.zeros(len(turns))
    pairs = list(combinations(rankings, 2))
    for first, second in pairs:
        matched = pair_rankings(first, second)
        value = dict(zip(matched.turns, ranking_rbo(matched).tolist(), strict=True))
        total += [value[turn] for turn in turns]
    return dict(zip(turns, (total / len(pairs)).tolist(), strict=True))
