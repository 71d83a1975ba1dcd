"""The command ``robustcs retrieve``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from robustcs.errors import UsageError
from robustcs.project.model import Project
from robustcs.project.open_questions import Maker, import_runs
from robustcs.project.requirements import systems_with_texts
from robustcs.project.retrieved import Plan, Retrieval, index_states, plan_of, retrievals_of_cells
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.retrieval.index import by_rules, by_spacy, segment_collection
from robustcs.retrieval.settings import CONTEXT, RetrievalSettings, in_words
from robustcs.retrieval.store import RankingStore
from robustcs.studies.retrieve.analysis import Explanation, StoreSize
from robustcs.studies.signature import MOST, Folder, Opt
from robustcs.studies.study import Call, Command
from robustcs.wording import counted

_NOTHING = "nothing to do: every question has a run"


def ask(
    workspace: Workspace,
    *,
    dry_run: bool = False,
    tell: Callable[[str], None] = lambda message: None,
) -> Plan:
    """Retrieve passages for questions without a run.

    Prints a plan, searches with BM25 (pyserini) for questions that are not in the store of rankings, and writes a TREC run for
    each formulation and test set with texts but no run. With [retrieval.rankers.NAME], it also fills the grid of robustcs
    components: a run of every ranker for all texts, missing cells only. --jobs N sets the number of threads. See [retrieval]
    in robustcs.toml for more settings, such as RM3.

    dry_run
            Print the plan without retrieving.

    Raises :class:`UsageError` if no system has texts, or if questions are open and no index is configured.

    Examples:
      robustcs retrieve --dry-run
      robustcs retrieve --index index --collection passages.jsonl.gz \\
          --rewrites original=topics.json:raw --rewrites human=topics.json:manual
      robustcs retrieve --texts m1=sets/manual_1.tsv \\
          --raw-texts r1=sets/raw_1.tsv \\
          --rewriter previous
      robustcs retrieve --explain 31_4
      robustcs retrieve --segment 250 --collection documents.jsonl.gz
    """
    every = [
        Retrieval(workspace, tell, systems_with_texts(workspace)),
        *retrievals_of_cells(workspace, tell),
    ]
    for retrieval in () if dry_run else every:
        if any(system.open for system in retrieval.systems):
            retrieval.prepare()
    plan = plan_of(*every)
    for retrieval in () if dry_run else every:
        retrieval.complete()
    return plan


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


def _run(
    call: Call,
    index: Annotated[str, Opt("FOLDER")] | None,
    depth: Annotated[int, Opt("K", 1, MOST, flag="--top")] | None,
    rewriter: Annotated[str, Opt("HOW")] | None,
    reranker: Annotated[str, Opt("FOLDER")] | None,
    model: Literal["bm25", "ql"] | None,
    k1: Annotated[float, Opt("X")] | None,
    b: Annotated[float, Opt("X")] | None,
    rm3: bool,
    heap: Annotated[str, Opt("SIZE")] | None,
    folder: Folder | None,
    dry_run: bool,
    explain: Annotated[str, Opt("TURN")] | None,
    record: bool,
    segment: Annotated[int, Opt("WORDS", 1, MOST)] | None,
    spacy: Annotated[str, Opt("MODEL", needs="--segment")] | None,
    size: bool,
    prune: bool,
) -> None:
    """Run the command.

    index
            Lucene index (Anserini); created from --collection if it does not exist.

    depth
            Passages per question (default: 1000).

    rewriter
            Rewriter of --raw-texts: previous or first (put these turns before the question), a file of rewrites, or the folder
            of a sequence-to-sequence model.

    reranker
            Folder of a monoT5 or cross-encoder model that re-ranks the top passages.

    model
            Retrieval model: BM25 (default) or query likelihood (Dirichlet).

    k1
            BM25 parameter k1 (default: 0.9).

    b
            BM25 parameter b (default: 0.4).

    rm3
            Expand questions with RM3 (10 terms from 10 passages, weight 0.5).

    heap
            Memory limit of Java, such as 512m (default: 2g).

    folder
            Folder for the runs (default: retrieved).

    dry_run
            Print the plan without retrieving.

    explain
            Explain which questions of TURN are answered and why, then stop.

    record
            Record for which texts the given runs were made; later, only questions whose text changed are retrieved.

    segment
            Split the documents of --collection at sentence boundaries into passages of at most WORDS words (DOC-1, DOC-2 …),
            write them to --folder, and stop.

    spacy
            spaCy model that splits sentences and words for --segment, such as en_core_web_sm (default: NLTK rules).

    size
            Print the size of the store of rankings, and stop.

    prune
            Delete the rankings of indexes that have changed or no longer exist from the store.
    """
    if sum(map(bool, (segment, size or prune, record, explain or dry_run))) > 1:
        found = "--segment, --set size or prune, --set record, and --explain or --dry-run cannot be combined"
        raise UsageError("two-modes", found, "use one of them per call")
    given = {"index": index, "depth": depth, "rewriter": rewriter, "reranker": reranker, "model": model, "k1": k1, "b": b,
             "rm3": rm3 or None, "heap": heap, "folder": folder}  # fmt: skip
    workspace = call.workspace(
        _configured(call.project, {name: one for name, one in given.items() if one is not None})
    )
    if segment:
        _segment(call, workspace, segment, spacy, folder)
    elif size or prune:
        stored = store_of(workspace, prune, call.tell)
        call.emit(workspace, stored)
    elif record:
        for name, path, turns in import_runs(workspace):
            call.tell(f"{name}: {counted(turns, 'turn')} noted in {path}")
    else:
        _retrieve(call, workspace, explain, dry_run)


def _retrieve(call: Call, workspace: Workspace, turn: str | None, dry_run: bool) -> None:
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


def _segment(
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


def _configured(project: Project, given: dict[str, Any]) -> Project:
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


COMMAND = Command(
    ask, ("qrels", "original", "qr", "human", "runs", "rewrites", "texts", "raw_texts", "collection", "jobs"),
    retrieves=False, run=_run,
)  # fmt: skip
