"""What retrieval has to do, and doing it, from the texts of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from robustcs.errors import UsageError
from robustcs.project.model import Project
from robustcs.project.open_questions import Maker, import_runs
from robustcs.project.requirements import collection, systems_with_texts
from robustcs.project.retrieved import Plan, Retrieval, index_states, plan_of
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.retrieval.segments import by_rules, by_spacy, segment_collection
from robustcs.retrieval.settings import CONTEXT, RetrievalSettings, in_words
from robustcs.retrieval.store import RankingStore
from robustcs.studies.retrieve.analysis import Explanation, StoreSize
from robustcs.studies.retrieve.show import show
from robustcs.studies.signature import MOST, Folder, Opt
from robustcs.studies.study import Call, command
from robustcs.wording import counted

_NOTHING = "nothing to do: every question has its run"


def ask(workspace: Workspace, *, dry_run: bool = False, tell: Callable[[str], None] = lambda message: None) -> Plan:
    """Answer the questions that no run answers yet: with the store where it knows them, else with BM25 on an index.

    Prints a plan, retrieves what is missing with pyserini, and writes a TREC run for every formulation and test set that has
    texts but no run. --jobs N is the number of threads. Further settings, such as RM3: [retrieval] of robustcs.toml.

    dry_run
        Say what is answered and what would be retrieved, and stop.

    Raises :class:`UsageError` where no system has texts, or questions are left and no index is configured.

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
    retrieval = Retrieval(workspace, tell, systems_with_texts(workspace))
    if any(system.open for system in retrieval.systems) and not dry_run:
        retrieval.prepare()
    plan = plan_of(retrieval)
    if not dry_run:
        retrieval.complete()
    return plan


def explain(retrieval: Retrieval, turn: str) -> Explanation:
    """Why the questions of one turn are known or not."""
    notes = (retrieval.settings.describe(),)
    evaluated = Evaluated(retrieval.workspace.project.policy, "texts", 1, 0, notes)
    return Explanation(evaluated, Explanation.declared[0].frame(retrieval.explain(turn)), turn)


def store_of(workspace: Workspace, prune: bool, tell: Callable[[str], None]) -> StoreSize:
    """What the store of known rankings holds; ``prune``: after what belongs to indexes that changed or are gone is deleted."""
    settings = workspace.project.retrieval
    store = RankingStore(settings.store if settings else None)
    rankers = store.rankers()
    states = index_states([ranker for _, ranker, *_ in rankers], Maker(settings).index if settings else "")
    found = list(zip(rankers, states, strict=True))
    if prune:
        gone = store.prune([key for (key, *_), state in found if state != "current"])
        tell(f"deleted {counted(gone, 'ranking')} of indexes that changed or are gone")
        found = [(ranker, state) for ranker, state in found if state == "current"]
    rows = [
        (ranker["index"], state, in_words(ranker["parameters"]), ranker["software"], *counts)
        for (_, ranker, *counts), state in found
    ]
    evaluated = Evaluated(workspace.project.policy, "texts", 0, 0)
    return StoreSize(evaluated, StoreSize.declared[0].frame(rows), str(store.path))


def _run(
    call: Call,
    index: Annotated[str, Opt("FOLDER")] | None,
    depth: Annotated[int, Opt("K", 1, MOST, flag="--hits")] | None,
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
    import_: Annotated[bool, Opt(flag="--import")],
    segment: Annotated[int, Opt("WORDS", 1, MOST)] | None,
    spacy: Annotated[str, Opt("MODEL")] | None,
    size: bool,
    prune: bool,
) -> None:
    """Run it for the command line.

    index
        Lucene index (Anserini); made from --collection where it is absent.

    depth
        Passages per question (default 1000).

    rewriter
        For --raw-texts: previous or first (these turns before the question), a file of rewrites, or the folder of a
        sequence-to-sequence model.

    reranker
        A monoT5 or cross-encoder model that orders the top passages anew.

    model
        BM25 (default) or query likelihood (Dirichlet).

    k1
        Of BM25 (default 0.9).

    b
        Of BM25 (default 0.4).

    rm3
        Expand questions by RM3 (10 terms of 10 passages, weight 0.5).

    heap
        Most memory of Java, such as 512m (default 2g).

    folder
        Where runs are written (default: retrieved).

    dry_run
        Say what is answered and what would be retrieved, and stop.

    explain
        Say why a turn's questions are known or not, and stop.

    import_
        Note beside the given runs for which texts they were made, so that only texts that change later are retrieved.

    segment
        Split the documents of --collection at sentence boundaries into passages of at most WORDS words (DOC-1, DOC-2 …),
        write them to --folder, and stop.

    spacy
        Model of spaCy that finds sentences and words for --segment, such as en_core_web_sm (default: NLTK's rules).

    size
        Say what the store holds, and stop.

    prune
        Delete from the store what belongs to indexes that changed or are gone.
    """
    given = {"index": index, "depth": depth, "rewriter": rewriter, "reranker": reranker, "model": model, "k1": k1, "b": b,
             "rm3": rm3 or None, "heap": heap, "folder": folder}  # fmt: skip
    workspace = call.workspace(_configured(call.project, {name: one for name, one in given.items() if one is not None}))
    if spacy and not segment:
        raise UsageError("no-segment", "spacy without --segment", "add --segment WORDS, such as 250")
    if segment:
        _segment(call, workspace, segment, spacy, folder)
    elif size or prune:
        stored = store_of(workspace, prune, call.tell)
        call.emit(workspace, stored, show(stored))
    elif import_:
        for name, path, turns in import_runs(workspace):
            call.tell(f"{name}: {turns} turns noted in {path}")
    else:
        _retrieve(call, workspace, explain, dry_run)


def _retrieve(call: Call, workspace: Workspace, turn: str | None, dry_run: bool) -> None:
    systems = systems_with_texts(workspace)
    left = any(system.open for system in systems)
    if not (left or turn or workspace.project.retrieval):
        call.tell(_NOTHING)
        return
    retrieval = Retrieval(workspace, call.tell, systems)
    if left and not (dry_run or turn):
        retrieval.prepare()
    found = explain(retrieval, turn) if turn else plan_of(retrieval)
    call.emit(workspace, found, show(found))
    if not (dry_run or turn):
        retrieval.complete()
        if not retrieval.changed:
            call.tell(_NOTHING)


def _segment(call: Call, workspace: Workspace, words: int, spacy: str | None, folder: str | None) -> None:
    """Write the collection's documents as passages into ``folder``."""
    path, settings = collection(workspace), workspace.project.retrieval
    target = Path(folder or (settings.folder if settings else "retrieved")) / f"{path.name.partition('.')[0]}-{words}.jsonl"
    split = by_spacy(spacy) if spacy else by_rules
    documents, passages = segment_collection(path, target, words, split, workspace.track)
    call.tell(f"wrote {target}: {counted(passages, 'passage')} of {counted(documents, 'document')}; give it as --collection")


def _configured(project: Project, given: dict[str, Any]) -> Project:
    """The project with the command's own options in place of what its file says."""
    given |= {name: Path(given[name]) for name in ("index", "folder", "reranker") if name in given}
    rewriter = given.get("rewriter")
    if rewriter is not None and rewriter not in CONTEXT and not Path(rewriter.partition(":")[0]).exists():
        advice = f"or write {' or '.join(CONTEXT)}"
        raise UsageError("no-such-rewriter", f"--rewriter {rewriter}: no such file or folder", advice)
    if project.retrieval is not None:
        return replace(project, retrieval=replace(project.retrieval, **given))
    return replace(project, retrieval=RetrievalSettings(**given)) if "index" in given else project


COMMAND = command(
    ask, ("qrels", "original", "qr", "human", "runs", "rewrites", "texts", "raw_texts", "collection", "jobs"),
    retrieves=False, run=_run,
)  # fmt: skip
