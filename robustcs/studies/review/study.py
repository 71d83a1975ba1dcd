"""The command ``robustcs review``: the frequency of the kinds of failures that coders found in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from robustcs.studies.signature import File, Opt, at_least
from robustcs.studies.study import SEED, UNIT, Call, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.review.analysis import Reviews


def ask(workspace: Workspace) -> Reviews:
    """Estimate how frequent each kind of failure is, from categories that coders assigned to turns.

    FILE... are exports of the page (review.jsonl), or sheets of --export that a coder completed; several files are combined.
    Without FILE, the command uses [review] in robustcs.toml. Each line is one turn that a coder reviewed: turn, systems,
    categories, note, coder and sample.

    From a random sample, the command estimates the share of each category among all turns from which the sample was drawn. The
    intervals are exact for this finite number of turns. For other samples, the command only counts, and a note says so.

    The command also crosses the categories with the bins, components and outcomes of the turns, if the project has their
    inputs. For several systems, it compares their categories on the same turns. For several coders, it measures agreement.

    --export writes a sheet: a random sample of the turns that --where selects (default: turns with scores). For each turn, write
    a list of categories in place of null. Turns with null are not read yet.

    Examples:
      robustcs review --export sheet.jsonl --where cause:rewriter --limit 50
      robustcs review review.jsonl
      robustcs review ann.jsonl ben.jsonl --table coders
      robustcs review review.jsonl --write-slices reviewed.tsv
      robustcs breakdown --slices reviewed.tsv
    """
    return prepare(workspace)()


def prepare(workspace: Workspace) -> Callable[[], Reviews]:
    """Read the reviews. Return the function that crosses them with the results of other studies."""
    from robustcs.studies.review.steps import crossed, read_given_reviews

    reviews = read_given_reviews(workspace)
    return lambda: crossed(workspace, reviews)


def _run(
    call: Call,
    files: Annotated[tuple[str, ...], Opt("[FILE...]", argument=True)],
    write_slices: File | None,
    export: File | None,
    where: Annotated[str, Opt("FILTER", needs="--export")] = "",
    limit: Annotated[int, at_least(1, needs="--export")] = 30,
    show: Annotated[tuple[str, ...], Opt("SYSTEM", needs="--export")] = (),
) -> None:
    """Run the command.

    export
        Write a sheet with a random sample of turns to this file, and stop.

    where
        Draw from the turns that this filter selects, as in robustcs turns (default: turns with a score).

    limit
        Number of turns to draw (default: 30).

    show
        Systems that the coder reads (default: the rewriters, else all). Repeatable.

    write_slices
        Also write a TSV with one row per reviewed turn and one column per category (yes, no; empty if coders disagree), for
        --slices of other commands.
    """
    from robustcs.documents.files import require_writable
    from robustcs.errors import UsageError
    from robustcs.project.model import ReviewFiles
    from robustcs.studies.review.analysis import slices_of
    from robustcs.studies.review.sheet import sheet
    from robustcs.studies.review.steps import crossed, read_given_reviews

    project = call.project
    if export is not None:
        if files or write_slices:
            raise UsageError(
                "conflicting-options",
                "--export writes a sheet and reads no reviews",
                "leave out FILE and --write-slices",
            )
        require_writable(export)
        call.write(export, sheet(call.workspace(project), where, limit, show))
        return
    if files:
        project = replace(project, review=ReviewFiles(tuple(map(Path, files))))
    if write_slices:
        require_writable(write_slices)
    workspace = call.workspace(project)
    reviews = read_given_reviews(workspace)
    result = crossed(workspace, reviews)
    if write_slices:
        call.write(write_slices, slices_of(reviews))
    call.emit(workspace, result)


COMMAND = Command(ask, (*UNIT, *SEED), retrieves=False, run=_run)
