"""``robustcs retrieve``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from robustcs.cli.options import Options, load_project, shared_options
from robustcs.cli.terminal import tell

if TYPE_CHECKING:
    from robustcs.project.model import Project
    from robustcs.project.retrieved import Retrieval
    from robustcs.project.workspace import Workspace

_NOTHING = "nothing to do: every question has its run"


@click.command(short_help="Answer the questions that no run answers yet.")
@click.option("--index", metavar="FOLDER", help="Lucene index (Anserini); made from --collection where it is absent.")
@click.option("--collection", metavar="FILE", help="Passages: JSONL with id and contents, or id TAB text.")
@click.option("--texts", multiple=True, metavar="NAME=FILE[:COLUMN]", help="Further questions, such as a manual test set.")
@click.option("--raw-texts", multiple=True, metavar="NAME=FILE[:COLUMN]",
              help="Questions that lean on their conversation, such as a raw test set: the rewriter comes first.")
@click.option("--rewriter", metavar="HOW",
              help="For --raw-texts: previous or first (these turns before the question), a file of rewrites, or the folder of"
              " a sequence-to-sequence model.")
@click.option("--reranker", metavar="FOLDER", help="A monoT5 or cross-encoder model that orders the top passages anew.")
@click.option("--model", type=click.Choice(["bm25", "ql"]), help="BM25 (default) or query likelihood (Dirichlet).")
@click.option("--k1", type=click.FloatRange(min=0), metavar="X", help="Of BM25 (default 0.9).")
@click.option("--b", type=click.FloatRange(0, 1), metavar="X", help="Of BM25 (default 0.4).")
@click.option("--mu", type=click.FloatRange(min=0), metavar="X", help="Of query likelihood (default 1000).")
@click.option("--rm3", is_flag=True, help="Expand questions by RM3 (10 terms of 10 passages, weight 0.5).")
@click.option("--heap", metavar="SIZE", help="Most memory of Java, such as 512m (default 2g).")
@click.option("--folder", metavar="DIR", help="Where runs are written (default: retrieved).")
@click.option("--dry-run", is_flag=True, help="Say what is answered and what would be retrieved, and stop.")
@click.option("--explain", metavar="TURN", help="Say why a turn's questions are known or not, and stop.")
@click.option("--import", "import_", is_flag=True,
              help="Note beside the given runs for which texts they were made, so that only texts that change later are"
              " retrieved.")
@click.option("--size", is_flag=True, help="Say what the store holds, and stop.")
@click.option("--prune", is_flag=True, help="Delete from the store what belongs to indexes that changed or are gone.")
@shared_options
def retrieve(options: Options, explain: str | None, import_: bool, dry_run: bool, size: bool, prune: bool,
             **settings: object) -> None:  # fmt: skip
    """Answer the questions that no run answers yet: with the store where it knows them, else with BM25 on an index.

    Prints a plan, retrieves what is missing with pyserini, and writes a TREC run for every formulation and test set that has
    texts but no run. Here --depth K is the number of passages per question (default 1000), and --jobs N the number of threads.

    \b
    Examples:
      robustcs retrieve --dry-run
      robustcs retrieve --index index --collection passages.jsonl.gz \\
          --rewrites original=topics.json:raw --rewrites human=topics.json:manual
      robustcs retrieve --texts m1=sets/manual_1.tsv --raw-texts r1=sets/raw_1.tsv --rewriter previous
      robustcs retrieve --explain 31_4
    """
    from dataclasses import replace

    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.errors import UsageError
    from robustcs.project.open_questions import import_runs, systems_of
    from robustcs.project.retrieved import Retrieval, plan_of
    from robustcs.project.workspace import Workspace
    from robustcs.studies.retrieve.show import present_plan

    project = _configured(load_project(replace(options, depth=None)), options, settings)
    workspace = Workspace(project, options.jobs, track)
    if size or prune:
        _store(workspace, options, prune)
        return
    if import_:
        for name, path, turns in import_runs(workspace):
            tell(f"{name}: {turns} turns noted in {path}")
        return
    systems = systems_of(workspace)
    if not systems:
        raise UsageError("no-texts", "no questions are given", "name them with --rewrites ROLE=FILE or --texts NAME=FILE")
    left = any(system.open for system in systems)
    if not (left or explain or project.retrieval):
        tell(_NOTHING)
        return
    retrieval = Retrieval(workspace, tell, systems)
    if explain:
        _explain(retrieval, explain, options)
        return
    if left and not dry_run:
        _ = retrieval.index
    result = plan_of(retrieval)
    emit("retrieve", result, present_plan(result), workspace.inputs, options)
    if not dry_run:
        retrieval.complete()
        if not retrieval.changed:
            tell(_NOTHING)


def _configured(project: Project, options: Options, settings: dict[str, object]) -> Project:
    """The project with the command's own options in place of what its file says."""
    from dataclasses import replace
    from pathlib import Path

    from robustcs.errors import UsageError
    from robustcs.project.open_questions import named_sources
    from robustcs.retrieval.settings import CONTEXT, RetrievalSettings

    given = {name: value for name, value in settings.items() if value not in (None, False, ())}
    if collection := given.pop("collection", None):
        project = replace(project, collection=Path(str(collection)))
    for name in ("texts", "raw_texts"):
        if name in given:
            project = replace(project, **{name: named_sources(given.pop(name))})  # type: ignore[arg-type]
    for name in ("index", "folder", "reranker"):
        if name in given:
            given[name] = Path(str(given[name]))
    rewriter = given.get("rewriter")
    if rewriter is not None and rewriter not in CONTEXT and not Path(str(rewriter).partition(":")[0]).exists():
        advice = f"or write {' or '.join(CONTEXT)}"
        raise UsageError("no-such-rewriter", f"--rewriter {rewriter}: no such file or folder", advice)
    if options.depth:
        given["depth"] = options.depth
    if project.retrieval is not None:
        return replace(project, retrieval=replace(project.retrieval, **given))  # type: ignore[arg-type]
    return replace(project, retrieval=RetrievalSettings(**given)) if "index" in given else project  # type: ignore[arg-type]


def _explain(retrieval: Retrieval, turn: str, options: Options) -> None:
    import pandas as pd

    from robustcs.cli.output import emit
    from robustcs.result import Evaluated
    from robustcs.studies.retrieve.analysis import Explanation
    from robustcs.studies.retrieve.show import present_explanation

    workspace = retrieval.workspace
    rows = pd.DataFrame(retrieval.explain(turn), columns=["system", "question", "found", "why"])
    result = Explanation(Evaluated(workspace.project.policy, "texts", 1, 0, (retrieval.settings.describe(),)), rows)
    emit("retrieve", result, present_explanation(result, turn), workspace.inputs, options)


def _store(workspace: Workspace, options: Options, prune: bool) -> None:
    import pandas as pd

    from robustcs.cli.output import emit
    from robustcs.project.retrieved import index_states
    from robustcs.result import Evaluated
    from robustcs.retrieval.settings import in_words
    from robustcs.retrieval.store import RankingStore
    from robustcs.studies.retrieve.analysis import StoreSize
    from robustcs.studies.retrieve.show import present_store

    settings = workspace.project.retrieval
    store = RankingStore(settings.store if settings else None)
    found = store.rankers()
    states = index_states([ranker for _, ranker, *_ in found])
    if prune:
        stale = [key for (key, *_), state in zip(found, states, strict=True) if state != "current"]
        gone = store.prune(stale)
        tell(f"deleted {gone} ranking{'s' * (gone != 1)} of indexes that changed or are gone")
        found = store.rankers()
        states = ["current"] * len(found)
    rows = [
        (ranker["index"], state, in_words(ranker["parameters"]), ranker["software"], *counts)
        for (_, ranker, *counts), state in zip(found, states, strict=True)
    ]
    columns = ["index", "state", "ranker", "software", "questions", "passages", "bytes"]
    result = StoreSize(Evaluated(workspace.project.policy, "texts", 0, 0), pd.DataFrame(rows, columns=columns))
    emit("retrieve", result, present_store(result, str(store.path)), workspace.inputs, options)
