"""``robustcs retrieve``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robustcs.studies.devices import device_options
from robustcs.studies.study import MOST, Call, Command
from robustcs.wording import counted

if TYPE_CHECKING:
    from robustcs.project.model import Project
    from robustcs.project.workspace import Workspace

_NOTHING = "nothing to do: every question has its run"


def _run(
    call: Call, explain: str | None, import_: bool, dry_run: bool, size: bool, prune: bool, segment: int | None,
    spacy: str | None, **settings: Any,
) -> None:  # fmt: skip
    from robustcs.errors import UsageError
    from robustcs.project.open_questions import import_runs
    from robustcs.project.requirements import systems_with_texts
    from robustcs.project.retrieved import Retrieval, plan_of
    from robustcs.studies.retrieve import ask
    from robustcs.studies.retrieve.show import show

    workspace = call.workspace(_configured(call.project, settings))
    if spacy and not segment:
        raise UsageError("no-segment", "--spacy without --segment", "add --segment WORDS, such as 250")
    if segment:
        _segment(call, workspace, segment, spacy, settings["folder"])
        return
    if size or prune:
        store = ask.store_of(workspace)
        if prune:
            gone = ask.prune(workspace, store)
            call.tell(f"deleted {counted(gone, 'ranking')} of indexes that changed or are gone")
        stored = ask.size(workspace, store)
        call.emit(workspace, stored, show(stored))
        return
    if import_:
        for name, path, turns in import_runs(workspace):
            call.tell(f"{name}: {turns} turns noted in {path}")
        return
    systems = systems_with_texts(workspace)
    left = any(system.open for system in systems)
    if not (left or explain or workspace.project.retrieval):
        call.tell(_NOTHING)
        return
    retrieval = Retrieval(workspace, call.tell, systems)
    if explain:
        explained = ask.explain(retrieval, explain)
        call.emit(workspace, explained, show(explained))
        return
    if left and not dry_run:
        retrieval.prepare()
    plan = plan_of(retrieval)
    call.emit(workspace, plan, show(plan))
    if not dry_run:
        retrieval.complete()
        if not retrieval.changed:
            call.tell(_NOTHING)


def _segment(call: Call, workspace: Workspace, words: int, spacy: str | None, folder: str | None) -> None:
    """Write the collection's documents as passages into ``folder``."""
    from robustcs.project.requirements import collection
    from robustcs.retrieval.segments import by_rules, by_spacy, segment_collection

    path, settings = collection(workspace), workspace.project.retrieval
    target = Path(folder or (settings.folder if settings else "retrieved")) / f"{path.name.partition('.')[0]}-{words}.jsonl"
    split = by_spacy(spacy) if spacy else by_rules
    documents, passages = segment_collection(path, target, words, split, workspace.track)
    call.tell(f"wrote {target}: {counted(passages, 'passage')} of {counted(documents, 'document')}; give it as --collection")


def _configured(project: Project, settings: dict[str, Any]) -> Project:
    """The project with the command's own options in place of what its file says."""
    from robustcs.errors import UsageError
    from robustcs.retrieval.settings import CONTEXT, RetrievalSettings

    given = {name: value for name, value in settings.items() if value not in (None, False)}
    for name in ("index", "folder", "reranker"):
        if name in given:
            given[name] = Path(given[name])
    rewriter = given.get("rewriter")
    if rewriter is not None and rewriter not in CONTEXT and not Path(rewriter.partition(":")[0]).exists():
        advice = f"or write {' or '.join(CONTEXT)}"
        raise UsageError("no-such-rewriter", f"--rewriter {rewriter}: no such file or folder", advice)
    if project.retrieval is not None:
        return replace(project, retrieval=replace(project.retrieval, **given))
    return replace(project, retrieval=RetrievalSettings(**given)) if "index" in given else project


COMMAND = Command(
    """Answer the questions that no run answers yet: with the store where it knows them, else with BM25 on an index.

    Prints a plan, retrieves what is missing with pyserini, and writes a TREC run for every formulation and test set that has
    texts but no run. --jobs N is the number of threads.

    \b
    Examples:
      robustcs retrieve --dry-run
      robustcs retrieve --index index --collection passages.jsonl.gz \\
          --rewrites original=topics.json:raw --rewrites human=topics.json:manual
      robustcs retrieve --texts m1=sets/manual_1.tsv \\
          --raw-texts r1=sets/raw_1.tsv \\
          --rewriter previous
      robustcs retrieve --explain 31_4
      robustcs retrieve --segment 250 --collection documents.jsonl.gz
    """,
    uses=(
        "qrels", "original", "qr", "human", "runs", "rewrites", "texts", "raw_texts", "collection", "jobs",
    ),
    parameters=(
        click.Option(["--index"], metavar="FOLDER", help="Lucene index (Anserini); made from --collection where it is absent."),
        click.Option(["--hits", "depth"], type=click.IntRange(1, MOST), metavar="K",
                     help="Passages per question (default 1000)."),
        click.Option(["--rewriter"], metavar="HOW",
                     help="For --raw-texts: previous or first (these turns before the question), a file of rewrites, or the"
                     " folder of a sequence-to-sequence model."),
        click.Option(["--reranker"], metavar="FOLDER",
                     help="A monoT5 or cross-encoder model that orders the top passages anew."),
        *device_options(None, None),
        click.Option(["--model"], type=click.Choice(["bm25", "ql"]), help="BM25 (default) or query likelihood (Dirichlet)."),
        click.Option(["--k1"], type=click.FloatRange(min=0), metavar="X", help="Of BM25 (default 0.9)."),
        click.Option(["--b"], type=click.FloatRange(0, 1), metavar="X", help="Of BM25 (default 0.4)."),
        click.Option(["--mu"], type=click.FloatRange(min=0), metavar="X", help="Of query likelihood (default 1000)."),
        click.Option(["--rm3"], is_flag=True, help="Expand questions by RM3 (10 terms of 10 passages, weight 0.5)."),
        click.Option(["--heap"], metavar="SIZE", help="Most memory of Java, such as 512m (default 2g)."),
        click.Option(["--folder"], metavar="DIR", help="Where runs are written (default: retrieved)."),
        click.Option(["--ir-metadata"], is_flag=True, help="Begin each run with ir_metadata: how it was made."),
        click.Option(["--dry-run"], is_flag=True, help="Say what is answered and what would be retrieved, and stop."),
        click.Option(["--explain"], metavar="TURN", help="Say why a turn's questions are known or not, and stop."),
        click.Option(["--import", "import_"], is_flag=True,
                     help="Note beside the given runs for which texts they were made, so that only texts that change later are"
                     " retrieved."),
        click.Option(["--segment"], type=click.IntRange(1, MOST), metavar="WORDS",
                     help="Split the documents of --collection at sentence boundaries into passages of at most WORDS words"
                     " (DOC-1, DOC-2 …), write them to --folder, and stop."),
        click.Option(["--spacy"], metavar="MODEL",
                     help="Model of spaCy that finds sentences and words for --segment, such as en_core_web_sm (default:"
                     " NLTK's rules)."),
        click.Option(["--size"], is_flag=True, help="Say what the store holds, and stop."),
        click.Option(["--prune"], is_flag=True,
                     help="Delete from the store what belongs to indexes that changed or are gone."),
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
