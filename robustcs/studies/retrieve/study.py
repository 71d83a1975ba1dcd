"""The command ``robustcs retrieve``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from robustcs.errors import UsageError
from robustcs.studies.signature import MOST, Folder, Opt
from robustcs.studies.study import Call, Command
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.project.retrieved import Plan
    from robustcs.project.workspace import Workspace


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
    from robustcs.project.requirements import systems_with_texts
    from robustcs.project.retrieved import Retrieval, plan_of, retrievals_of_cells

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


def _run(
    call: Call,
    index: Annotated[str, Opt("FOLDER")] | None,
    depth: Annotated[int, Opt("K", 1, MOST, flag="--top")] | None,
    rewriter: Annotated[str, Opt("HOW")] | None,
    reranker: Annotated[str, Opt("FOLDER")] | None,
    model: Annotated[Literal["bm25", "ql"], Opt(rare=True)] | None,
    k1: Annotated[float, Opt("X", rare=True)] | None,
    b: Annotated[float, Opt("X", rare=True)] | None,
    rm3: Annotated[bool, Opt(rare=True)],
    heap: Annotated[str, Opt("SIZE", rare=True)] | None,
    folder: Folder | None,
    dry_run: bool,
    explain: Annotated[str, Opt("TURN")] | None,
    record: Annotated[bool, Opt(rare=True)],
    segment: Annotated[int, Opt("WORDS", 1, MOST)] | None,
    spacy: Annotated[str, Opt("MODEL", needs="--segment", rare=True)] | None,
    size: Annotated[bool, Opt(rare=True)],
    prune: Annotated[bool, Opt(rare=True)],
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
            Model of spaCy that splits sentences and words for --segment, such as en_core_web_sm (default: NLTK rules).

    size
            Print the size of the store of rankings, and stop.

    prune
            Delete the rankings of indexes that have changed or no longer exist from the store.
    """
    from robustcs.project.open_questions import import_runs
    from robustcs.studies.retrieve.steps import configured, retrieve_runs, store_of, write_passages

    if sum(map(bool, (segment, size or prune, record, explain or dry_run))) > 1:
        found = (
            "--segment, --size or --prune, --record, and --explain or --dry-run cannot be combined"
        )
        raise UsageError("two-modes", found, "use one of them per call")
    given = {"index": index, "depth": depth, "rewriter": rewriter, "reranker": reranker, "model": model, "k1": k1, "b": b,
             "rm3": rm3 or None, "heap": heap, "folder": folder}  # fmt: skip
    workspace = call.workspace(
        configured(call.project, {name: one for name, one in given.items() if one is not None})
    )
    if segment:
        write_passages(call, workspace, segment, spacy, folder)
    elif size or prune:
        stored = store_of(workspace, prune, call.tell)
        call.emit(workspace, stored)
    elif record:
        for name, path, turns in import_runs(workspace):
            call.tell(f"{name}: {counted(turns, 'turn')} noted in {path}")
    else:
        retrieve_runs(call, workspace, explain, dry_run)


COMMAND = Command(
    ask, ("qrels", "original", "qr", "human", "runs", "rewrites", "texts", "raw_texts", "collection", "jobs"),
    retrieves=False, run=_run,
)  # fmt: skip
