"""``robustcs clariq``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from robustcs.cli.options import Options, as_path, assigned, load_project, named, only_given, shared_options

#: Shared options for which this command has no use.
_MEANINGLESS = ("original", "qr", "human", "scores", "rewrites", "answers", "gold", "threshold")


@click.command(short_help="Which clarifying question is asked, and does it help?")
@click.option("--topics", metavar="FILE", help="ClariQ's train.tsv, dev.tsv or test_with_labels.tsv.")
@click.option("--questions", metavar="FILE",
              help="The question bank (question_bank.tsv): gives question texts of runs their ids.")
@click.option("--performance", metavar="FILE",
              help="Document relevance after every question: JSON of single_turn_*_eval.pkl or multi_turn_*_eval.pkl, or with"
              " --qrels a run of documents whose ids are FACET_QUESTION.")
@click.option("--evaluations", multiple=True, metavar="NAME=FILE",
              help="Document relevance that a system reached per facet: JSON (*.eval), or with --qrels its run of documents;"
              " NAME no, worst or best is that baseline.")
@click.option("--need", multiple=True, metavar="[NAME=]FILE", help="Predicted labels of clarification need: topic_id label.")
@click.option("--preferences", metavar="FILE",
              help="Judgments of people (Acute-eval): TSV or JSONL with criterion, first, second, winner (or tie) and pair.")
@click.option("--conversations", metavar="FILE",
              help="Multi-turn conversations (JSON of *_synthetic.pkl, or TSV): what topic a context belongs to.")
@shared_options
def clariq(
    options: Options,
    topics: str | None,
    questions: str | None,
    performance: str | None,
    evaluations: tuple[str, ...],
    need: tuple[str, ...],
    preferences: str | None,
    conversations: str | None,
) -> None:
    """Which clarifying question is asked, does it help to find documents, and is it asked at the right time?

    Every --run ranks questions: topic_id 0 question_id rank score tag, or, in a multi-turn run, of which only the documents
    can be evaluated, context_id 0 "question" rank score tag. The best question is the one that is asked; what is no candidate
    scores the facet's worst, and no output 0. --qrels are those of facets. --metric chooses measures of document relevance.
    What is given is evaluated; where no file is given, those of [clariq] in robustcs.toml are.

    A pickle is never loaded, since loading one can run any program. One line makes JSON of a pickle that you trust:

    \b
      python -c "import json, pickle, sys;
      json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'))"
      single_turn_train_eval.pkl single_turn_train_eval.json

    \b
    Examples:
      robustcs clariq
      robustcs clariq --topics dev.tsv --run bm25=dev_bm25 --run bert=dev_bert
      robustcs clariq --topics dev.tsv --run bm25=dev_bm25 --performance eval.json
      robustcs clariq --topics dev.tsv --evaluations no=dev_no_q.eval
        --evaluations worst=dev_worst_q.eval --evaluations bm25=dev_bm25.eval
      robustcs clariq --topics dev.tsv --need bm25=dev_need.txt
      robustcs clariq --preferences judgments.tsv
    """
    from robustcs.cli.output import emit
    from robustcs.errors import UsageError
    from robustcs.project.model import ClariqFiles
    from robustcs.project.workspace import Workspace
    from robustcs.studies.clariq.ask import evaluate_clariq
    from robustcs.studies.clariq.show import present_clariq

    for name in _MEANINGLESS:
        if getattr(options, name):
            raise UsageError("meaningless-option", f"--{name} has no meaning for clariq", "leave it out")
    project = load_project(options)
    shown = _document_measures(options.metric)
    given = only_given(
        topics=as_path(topics),
        questions=as_path(questions),
        runs=options.run and project.runs,
        performance=as_path(performance),
        evaluations=_by_name([assigned("--evaluations", "NAME", text) for text in evaluations]),
        qrels=options.qrels and project.qrels,
        needs=_by_name([(name or Path(path).stem, path) for name, path in map(named, need)]),
        preferences=as_path(preferences),
        conversations=as_path(conversations),
    )
    files = (project.clariq or ClariqFiles()).given(**given)
    workspace = Workspace(replace(project, clariq=files))
    result = evaluate_clariq(workspace)
    have = set(result.document_relevance["metric"])
    for name in shown:
        if options.metric and name not in have:
            raise UsageError("no-such-measure", f"no document relevance by {name}", f"there is {', '.join(sorted(have))}")
    emit("clariq", result, present_clariq(result, shown), workspace.inputs, options)


def _by_name(pairs: Sequence[tuple[str, str]]) -> dict[str, Path]:
    from robustcs.errors import UsageError

    files = {name: Path(path) for name, path in pairs}
    if len(files) < len(pairs):
        raise UsageError("repeated-run", "two files have the same name", "give every file a NAME of its own")
    return files


def _document_measures(metrics: Sequence[str]) -> tuple[str, ...]:
    """ClariQ's names of the measures asked for; those of its tables where none is."""
    from robustcs.errors import UsageError
    from robustcs.evaluation.clarification import DOCUMENT_MEASURES, clariq_name
    from robustcs.evaluation.measures import parse_measure
    from robustcs.studies.clariq.show import SHOWN

    names = [clariq_name(parse_measure(metric)) for metric in metrics]
    for metric, name in zip(metrics, names, strict=True):
        if name not in DOCUMENT_MEASURES:
            have = "there are ndcg_cut_K and P_K for K = 1, 3, 5, 10, 20, and recip_rank_cut_100"
            raise UsageError("no-such-measure", f"ClariQ has no {metric}", have)
    return tuple(names) or SHOWN
