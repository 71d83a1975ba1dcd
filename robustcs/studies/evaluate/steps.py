"""Steps of ``robustcs evaluate``: compare the rankings of systems, and the ranges of measures."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from robustcs.errors import UsageError
from robustcs.evaluation.measure import ANSWER_FAMILIES, is_averaged, parse_measure
from robustcs.evaluation.measures import NATIVE, Scores
from robustcs.evaluation.ranking import Ranking
from robustcs.project.scoring import ScoredFile
from robustcs.project.workspace import Workspace
from robustcs.studies.evaluate.analysis import Evaluation


def ranked_alike(
    workspace: Workspace, result: Evaluation, files: Sequence[ScoredFile]
) -> frozenset[str]:
    """Return the systems with the same ranking of every turn as the first one with the same scores in all measures."""
    same: dict[str, set[str]] = {}
    for row in result.rows("measures"):
        if is_averaged(row.metric):
            same.setdefault(row.system, set()).add(row.equal)
    firsts = {name: next(iter(equal)) for name, equal in same.items() if len(equal) == 1}
    runs = [file for file in files if file.kind == "runs" and firsts.get(file.name)]
    if not runs:
        return frozenset()
    found = workspace.per_run([(file.role, file.path) for file in runs], _order)
    orders = dict(zip((file.name for file in runs), found, strict=True))
    return frozenset(name for name in orders if orders[name] == orders.get(firsts[name]))


def _order(ranking: Ranking) -> str:
    """Return a digest of the passages of every turn in their order: hundreds of runs would not fit into memory."""
    digest = sha256()
    for turn, passages in ranking.by_turn():
        digest.update(repr((turn, passages)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def is_share(metric: str, scores: Sequence[Scores]) -> bool:
    """Return whether the measure lies between 0 and 1; False if only trec_eval computes it, as its range is unknown."""
    try:
        family = parse_measure(metric).family
    except UsageError:
        return False
    known = family in NATIVE or family in ANSWER_FAMILIES
    return known and not any(((values < 0) | (values > 1)).any() for values in scores)
