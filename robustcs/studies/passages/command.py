"""``robustcs passages``."""

from __future__ import annotations

import click

from robustcs.cli.options import Options, load_project, shared_options


@click.command()
@click.option("--collection", metavar="FILE", help="Texts of the passages: JSONL with id and contents, or id TAB text.")
@click.option("--per-turn", type=click.IntRange(1, 100), default=5, show_default=True, metavar="N", help="Passages to choose.")
@shared_options
def passages(options: Options, collection: str | None, per_turn: int) -> None:
    """Which passages of each turn should be annotated?

    The best graded passages of every turn, none below the relevance level. Of a grade that has more passages than
    there are places left, their texts are clustered (k-means over TF-IDF) and one of each cluster is drawn, by --seed: what is
    annotated is relevant and says different things. Needs scikit-learn: pip install 'robustcs[passages]'.

    \b
    Examples:
      robustcs passages --relevance-level 2 --output passages.csv
      robustcs passages --qrels qrels.txt --collection passages.jsonl.gz --per-turn 3 --seed 7
    """
    from pathlib import Path

    from robustcs.cli.output import emit
    from robustcs.errors import UsageError
    from robustcs.inputs.collection import read_passages
    from robustcs.project.workspace import Workspace
    from robustcs.result import Evaluated
    from robustcs.studies.passages.analysis import choose_passages
    from robustcs.studies.passages.show import present_passages

    project = load_project(options)
    path = Path(collection) if collection else project.collection
    if path is None:
        raise UsageError("no-collection", "no collection is given", "name it with --collection FILE")
    workspace = Workspace(project)
    qrels = workspace.qrels
    level = project.policy.relevance_level
    documents = qrels.documents.to_pylist()
    wanted = {documents[code] for code in qrels.document_codes[qrels.grades >= level].tolist()}
    if not wanted:
        raise UsageError("nothing-relevant", f"no passage has a grade of at least {level}", "give a lower --relevance-level")
    texts = read_passages(path, wanted)
    if not texts:
        raise UsageError("no-common-passages", f"{path} has none of the judged passages", "check that their ids agree")
    workspace.remember("collection", path, len(texts))
    lacking = len(wanted) - len(texts)
    notes = qrels.notes
    if lacking:
        notes = (*notes, f"{lacking:,} relevant passages have no text in the collection and were left out")
    evaluated = Evaluated(project.policy, "texts", len(qrels.turns), 0, notes)
    result = choose_passages(qrels, texts, evaluated, per_turn, project.seed)
    emit("passages", result, present_passages(result, per_turn), workspace.inputs, options)
