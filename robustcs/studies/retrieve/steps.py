"""Steps of ``robustcs retrieve``: retrieve runs, explain a query, split documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from robustcs.errors import UsageError
from robustcs.project.model import Project
from robustcs.project.open_questions import Maker
from robustcs.project.requirements import systems_with_texts
from robustcs.project.retrieved import Retrieval, index_states, plan_of, retrievals_of_cells
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.retrieval.index import by_rules, by_spacy, segment_collection
from robustcs.retrieval.settings import CONTEXT, RetrievalSettings, in_words
from robustcs.retrieval.store import RankingStore
from robustcs.studies.retrieve.analysis import Explanation, StoreSize
from robustcs.studies.study import Call
from robustcs.wording import counted

_NOTHING = "nothing to do: every question has a run"


def explain(retrieval: Retrieval, turn: str) -> Explanation:
    """Explain why the questions of one turn are answered or not."""
    notes = (retrieval.settings.describe(),)
    evaluated = Evaluated(retrieval.workspace.project.policy, "texts", 1, 0, notes)
    return Explanation(
        evaluated, turn, content=Explanation.built(explanation=retrieval.explain(turn))
    )


def store_of(workspace: Workspace, prune: bool, tell: Callable[[str], None]) -> StoreSize:
    """Return the size of the store; ``prune`` first deletes the rankings of indexes that changed or no longer exist."""
    settings = workspace.project.retrieval
    store = RankingStore(settings.store if settings else None)
    rankers = store.rankers()
    states = index_states(
        [ranker for _, ranker, *_ in rankers], Maker(settings).index if settings else ""
    )
    found = list(zip(rankers, states, strict=True))
    if prune:
        gone = store.prune([key for (key, *_), state in found if state != "current"])
        tell(f"deleted {counted(gone, 'ranking')} of indexes that changed or no longer exist")
        found = [(ranker, state) for ranker, state in found if state == "current"]
    rows = [
        (ranker["index"], state, in_words(ranker["parameters"]), ranker["software"], *counts)
        for (_, ranker, *counts), state in found
    ]
    evaluated = Evaluated(workspace.project.policy, "texts", 0, 0)
    return StoreSize(evaluated, str(store.path), content=StoreSize.built(store=rows))


def retrieve_runs(call: Call, workspace: Workspace, turn: str | None, dry_run: bool) -> None:
    """Retrieve the missing runs and write the plan; only explain the query of ``turn`` if it is given."""
    systems = systems_with_texts(workspace)
    left = any(system.open for system in systems)
    if not (left or turn or workspace.project.retrieval):
        call.tell(_NOTHING)
        return
    every = [Retrieval(workspace, call.tell, systems), *retrievals_of_cells(workspace, call.tell)]
    for retrieval in () if dry_run or turn else every:
        if any(system.open for system in retrieval.systems):
            retrieval.prepare()
    found = explain(every[0], turn) if turn else plan_of(*every)
    call.emit(workspace, found)
    if not (dry_run or turn):
        for retrieval in every:
            retrieval.complete()
        if not any(retrieval.changed for retrieval in every):
            call.tell(_NOTHING)


def write_passages(
    call: Call, workspace: Workspace, words: int, spacy: str | None, folder: str | None
) -> None:
    """Write the documents of the collection as passages into ``folder``."""
    path, settings = workspace.require("collection"), workspace.project.retrieval
    target = (
        Path(folder or (settings.folder if settings else "retrieved"))
        / f"{path.name.partition('.')[0]}-{words}.jsonl"
    )
    split = by_spacy(spacy) if spacy else by_rules
    documents, passages = segment_collection(path, target, words, split, workspace.track)
    call.tell(
        f"wrote {target}: {counted(passages, 'passage')} of {counted(documents, 'document')}; use it with --collection"
    )


def configured(project: Project, given: dict[str, Any]) -> Project:
    """Return the project with the options of the command in place of its settings."""
    given |= {name: Path(given[name]) for name in ("index", "folder", "reranker") if name in given}
    rewriter = given.get("rewriter")
    if (
        rewriter is not None
        and rewriter not in CONTEXT
        and not Path(rewriter.partition(":")[0]).exists()
    ):
        advice = f"check the path, or write {' or '.join(CONTEXT)}"
        raise UsageError(
            "no-such-rewriter", f"--rewriter {rewriter}: no such file or folder", advice
        )
    if project.retrieval is not None:
        return replace(project, retrieval=replace(project.retrieval, **given))
    return replace(project, retrieval=RetrievalSettings(**given)) if "index" in given else project
