"""``robustcs clariq``."""

from __future__ import annotations

from robustcs.studies.study import SEED, Call, Command


def _run(call: Call) -> None:
    from robustcs.errors import UsageError
    from robustcs.studies.clariq.ask import ask
    from robustcs.studies.clariq.show import document_measures, show

    shown = document_measures(call.project.metrics if call.given["metric"] else ())
    workspace = call.workspace()
    result = ask(workspace)
    have = set(result.document_relevance["metric"])
    for name in shown:
        if call.given["metric"] and name not in have:
            raise UsageError("no-such-measure", f"no document relevance by {name}", f"there is {', '.join(sorted(have))}")
    call.emit(workspace, result, show(result, shown))


COMMAND = Command(
    """Which clarifying question is asked, does it help to find documents, and is it asked at the right time?

    Every --run ranks questions: topic_id 0 question_id rank score tag, or, in a multi-turn run, of which only the documents
    can be evaluated, context_id 0 "question" rank score tag. The best question is the one that is asked; what is no candidate
    scores the facet's worst, and no output 0. --qrels are those of facets. --metric chooses measures of document relevance.
    What is given is evaluated; where no file is given, those of [clariq] in robustcs.toml are. Topics or questions alone give
    the statistics of the data.

    A pickle is never loaded, since loading one can run any program. One line makes JSON of a pickle that you trust:

    \b
      python -c "import json, pickle, sys;
      json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'))"
      single_turn_train_eval.pkl single_turn_train_eval.json

    \b
    Examples:
      robustcs clariq
      robustcs clariq --topics dev.tsv
      robustcs clariq --topics dev.tsv --run bm25=dev_bm25 --run bert=dev_bert
      robustcs clariq --topics dev.tsv --run bm25=dev_bm25 --performance eval.json
      robustcs clariq --topics dev.tsv --evaluations no=dev_no_q.eval
        --evaluations worst=dev_worst_q.eval --evaluations bm25=dev_bm25.eval
      robustcs clariq --topics dev.tsv --need bm25=dev_need.txt
      robustcs clariq --preferences judgments.tsv
    """,
    uses=(
        "clariq.topics", "clariq.questions", "clariq.runs", "clariq.qrels", "clariq.performance", "clariq.evaluations",
        "clariq.needs", "clariq.preferences", "clariq.conversations", "metric", "missing", "order", *SEED,
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
