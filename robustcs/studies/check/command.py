"""``robustcs check``."""

from __future__ import annotations

from robustcs.studies.study import FORMULATIONS, Call, Command


def _run(call: Call) -> None:
    from robustcs.errors import InputError
    from robustcs.studies.check.ask import ask
    from robustcs.studies.check.show import show

    workspace = call.workspace()
    result = ask(workspace)
    call.emit(workspace, result, show(result))
    problems, total = result.problems
    if problems:
        raise InputError(problems, total)


COMMAND = Command(
    """Do the inputs fit together? Reads everything and changes nothing.

    Says which files are unusable and why, which judged turns a run lacks, how deep it is, how much of its top is judged, and
    which texts are missing or have no run. Exit code 3 if a file is unusable: it cannot be read, or has no judged turn.

    \b
    Examples:
      robustcs check
      robustcs check --qrels qrels.txt --run bm25=bm25.trec --table runs
    """,
    uses=(
        *FORMULATIONS, "runs", "new_judgments", "judges", "paraphrases", "collection", "texts", "raw_texts",
        "relevance_level", "missing", "order", "depth", "documents", "jobs", "dask",
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
