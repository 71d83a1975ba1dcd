"""The command ``robustcs agreement``: agreement of annotators on snippets or ratings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from robustcs.errors import UsageError
from robustcs.studies.signature import File, Opt, at_least
from robustcs.studies.study import SEED, UNIT, Call, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.agreement.analysis import SnippetAgreement
    from robustcs.studies.agreement.ratings import RatingAgreement


def ask(workspace: Workspace) -> SnippetAgreement | RatingAgreement:
    """Measure how well annotators agree on snippets or on ratings.

    FILE... contain snippets selected in paragraphs or sentences, selections of whole sentences, or ratings. Several files are
    combined. Each row is one annotation by one annotator. Without FILE, the command uses [agreement] in robustcs.toml: its
    snippets, or its ratings if it has no snippets.

    Snippets and selections are CSV of MTurk or Prolific as in CAsT-snippets, or JSONL with turn, passage, worker, and either
    text and snippets, or sentences and chosen. References of paragraphs are cut to sentences if sentences were annotated.

    Ratings are CSV or JSONL with item, worker, grade, and optionally turn and criterion.

    Examples:
      robustcs agreement
      robustcs agreement masters.csv --reference experts.csv --html snippets.html
      robustcs agreement masters.csv --majority 4 --table reference
      robustcs agreement sentences.csv --reference experts.csv
      robustcs agreement ratings.csv --output ratings.svg
    """
    from robustcs.studies.agreement.steps import ask_ratings, ask_snippets, files_of_project

    files = files_of_project(workspace.project)
    return (
        ask_ratings(workspace) if files.ratings and not files.snippets else ask_snippets(workspace)
    )


def _run(
    call: Call,
    files: Annotated[tuple[str, ...], Opt("[FILE...]", argument=True)],
    majority: Annotated[int, at_least(1, rare=True)] | None,
    html: File | None,
) -> None:
    """Run the command.

    majority
        Number of annotators that make a majority (default: more than half of the annotators of the text or item).

    html
        Write a page with all tables. For snippets, it shows every text with one layer per annotator.
    """
    from robustcs.studies.agreement.analysis import SnippetAgreement
    from robustcs.studies.agreement.show import present_layers, show
    from robustcs.studies.agreement.steps import chosen_files, files_of_project

    known = files_of_project(call.project).given(
        **({} if majority is None else {"majority": majority})
    )
    chosen = chosen_files(known, files, call.given["reference"])
    if not chosen.snippets and call.given["reference"]:
        raise UsageError(
            "no-snippets",
            "--reference needs snippets, but these files contain ratings",
            "remove --reference",
        )
    workspace = call.workspace(replace(call.project, agreement=chosen))
    result = ask(workspace)
    if html:
        from robustcs.documents.html import result_page

        layers = (present_layers(result),) if isinstance(result, SnippetAgreement) else ()
        call.write(
            html,
            result_page(
                "Agreement of annotators", result, (*show(result), *layers), workspace.read, {}
            ),
        )
    if not html or any(call.given[name] for name in ("output", "format", "table")):
        call.emit(workspace, result)
    if chosen.snippets and chosen.ratings:
        call.tell("[agreement] also has ratings; to compare them, name their files")


COMMAND = Command(ask, ("agreement.reference", *UNIT, *SEED), retrieves=False, run=_run)
