"""What retrieval has to do, and doing it, from the texts of a workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from robustcs.lazy import pd
from robustcs.project.open_questions import Maker
from robustcs.project.requirements import systems_with_texts
from robustcs.project.retrieved import Plan, Retrieval, index_states, plan_of
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.retrieval.settings import in_words
from robustcs.retrieval.store import RankingStore
from robustcs.studies.retrieve.analysis import Explanation, StoreSize


def ask(workspace: Workspace, *, dry_run: bool = False, tell: Callable[[str], None] = lambda message: None) -> Plan:
    """What was answered before; then, unless ``dry_run``, what is missing is retrieved and the runs are written.

    ``tell`` gets a line for people about every lasting step.

    Raises :class:`UsageError` where no system has texts, or questions are left and no index is configured.
    """
    retrieval = Retrieval(workspace, tell, systems_with_texts(workspace))
    if any(system.open for system in retrieval.systems) and not dry_run:
        retrieval.prepare()
    plan = plan_of(retrieval)
    if not dry_run:
        retrieval.complete()
    return plan


def explain(retrieval: Retrieval, turn: str) -> Explanation:
    """Why the questions of one turn are known or not."""
    rows = pd.DataFrame(retrieval.explain(turn), columns=["system", "question", "found", "why"])
    evaluated = Evaluated(retrieval.workspace.project.policy, "texts", 1, 0, (retrieval.settings.describe(),))
    return Explanation(evaluated, rows, turn)


def store_of(workspace: Workspace) -> RankingStore:
    """The project's store of known rankings."""
    settings = workspace.project.retrieval
    return RankingStore(settings.store if settings else None)


def prune(workspace: Workspace, store: RankingStore) -> int:
    """Delete what belongs to indexes that changed or are gone; the number of rankings."""
    found = store.rankers()
    states = _states(workspace, found)
    return store.prune([key for (key, *_), state in zip(found, states, strict=True) if state != "current"])


def _states(workspace: Workspace, found: Sequence[tuple[Any, ...]]) -> list[str]:
    settings = workspace.project.retrieval
    return index_states([ranker for _, ranker, *_ in found], Maker(settings).index if settings else "")


def size(workspace: Workspace, store: RankingStore) -> StoreSize:
    """What the store holds."""
    found = store.rankers()
    states = _states(workspace, found)
    rows = [
        (ranker["index"], state, in_words(ranker["parameters"]), ranker["software"], *counts)
        for (_, ranker, *counts), state in zip(found, states, strict=True)
    ]
    columns = ["index", "state", "ranker", "software", "questions", "passages", "bytes"]
    evaluated = Evaluated(workspace.project.policy, "texts", 0, 0)
    return StoreSize(evaluated, pd.DataFrame(rows, columns=columns), str(store.path))
