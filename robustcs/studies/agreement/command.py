"""``robustcs agreement``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from robustcs.studies.study import MOST, SEED, UNIT, Call, Command

if TYPE_CHECKING:
    from robustcs.documents.document import Block
    from robustcs.project.model import AgreementFiles
    from robustcs.project.workspace import Workspace
    from robustcs.result import Result


def _run(
    call: Call,
    files: tuple[str, ...],
    majority: int | None,
    min_agreement: float | None,
    group: tuple[str, ...],
    html: str | None,
) -> None:
    from dataclasses import replace

    from robustcs.errors import UsageError
    from robustcs.project.model import AgreementFiles
    from robustcs.studies.agreement.ask import compare_ratings, compare_snippets
    from robustcs.studies.agreement.show import show
    from robustcs.studies.agreement.show_snippets import present_layers

    project = call.project
    settings = {"majority": majority, "min_agreement": min_agreement, "groups": _groups(group) or None}
    given = {name: value for name, value in settings.items() if value is not None}
    known = (project.agreement or AgreementFiles()).given(**given)
    reference = call.given["reference"]
    chosen = _chosen(known, files, reference)
    if chosen.snippets and group:
        raise UsageError("no-ratings", "--group is about ratings, and these files hold snippets", "leave it out")
    if not chosen.snippets and reference:
        raise UsageError("no-snippets", "--reference is about snippets, and these files hold ratings", "leave it out")
    workspace = call.workspace(replace(project, agreement=chosen))
    result: Result
    if chosen.snippets:
        compared = compare_snippets(workspace)
        result = compared.result
        blocks: tuple[Block, ...] = show(result)
        page: Sequence[Block] = (*blocks, present_layers(compared.result, compared.texts, compared.references))
    else:
        result = compare_ratings(workspace)
        page = blocks = show(result)
    if html:
        _write_page(html, result, page, workspace)
        call.tell(f"wrote {html}")
    if not html or call.given["output"] or call.given["format"]:
        call.emit(workspace, result, blocks)
    if chosen.snippets and chosen.ratings:
        call.tell("the ratings of [agreement] are another question: name their files to see them")


def _chosen(known: AgreementFiles, files: Sequence[str], reference: Sequence[str]) -> AgreementFiles:
    """The files of the call, else those of the project."""
    from pathlib import Path

    from robustcs.errors import UsageError
    from robustcs.inputs.annotations import is_annotations
    from robustcs.inputs.ratings import is_rating_sheet, is_ratings
    from robustcs.inputs.rows import columns_of

    references = {"reference": tuple(map(Path, reference))} if reference else {}
    if files:
        columns, paths = columns_of(files[0]), tuple(map(Path, files))
        of_ratings = (is_ratings(columns) or is_rating_sheet(columns)) and not is_annotations(columns)
        return known.given(**{"ratings" if of_ratings else "snippets": paths}, **references)
    if not (known.snippets or known.ratings):
        advice = "name their files, or write [agreement] with snippets or ratings in robustcs.toml"
        raise UsageError("no-inputs", "no annotations are given", advice)
    return known.given(snippets=known.snippets, ratings=known.ratings, **references) if reference else known


def _groups(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    from robustcs.errors import UsageError

    groups: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, members = text.partition("=")
        ratings = tuple(part.strip() for part in members.split(","))
        if not (name and equals and all(ratings)) or name in groups:
            raise UsageError("bad-group", f"--group {text}", "write --group NAME=RATING,RATING, every NAME once")
        groups[name] = ratings
    return groups


def _write_page(path: str, result: Result, blocks: Sequence[Block], workspace: Workspace) -> None:
    import os

    from robustcs.documents.document import Document
    from robustcs.documents.files import write_text
    from robustcs.documents.html import render_html

    inputs = tuple((entry["role"], f"{os.path.basename(entry['path'])} · {entry['rows']} rows") for entry in workspace.inputs)
    evaluated = result.evaluated
    document = Document("Agreement of annotators", tuple(blocks), evaluated.policy_line, evaluated.notes, inputs)
    write_text(path, render_html(document))


COMMAND = Command(
    """How far do annotators agree, on snippets or on ratings?

    FILE... are snippet annotations of paragraphs or of sentences, or choices of sentences (CSV of MTurk or Prolific as
    CAsT-snippets has them, or JSONL with turn, passage, worker, and text, snippets or sentences, chosen), or ratings (CSV or
    JSONL with item, worker, grade, and turn and criterion where there are several). Several files are taken together; each row
    is one annotation by one annotator. References of paragraphs are cut to sentences where sentences were annotated. Where no
    FILE is given, those of [agreement] in robustcs.toml are taken: its snippets, or its ratings where it has no snippets.

    \b
    Examples:
      robustcs agreement
      robustcs agreement masters.csv --reference experts.csv --html snippets.html
      robustcs agreement masters.csv --majority 4 --table reference
      robustcs agreement sentences.csv --reference experts.csv
      robustcs agreement ratings.csv --group low=1,2 --group high=3,4,5
      robustcs agreement ratings.csv --output ratings.svg
    """,
    uses=("agreement.reference", *UNIT, *SEED),
    parameters=(
        click.Argument(["files"], nargs=-1, metavar="[FILE...]"),
        click.Option(["--majority"], type=click.IntRange(1, MOST), metavar="N",
                     help="How many annotators make a majority (default: more than half of those of the text or item)."),
        click.Option(["--min-agreement"], type=click.FloatRange(0, 1), metavar="SHARE",
                     help="Ratings: an item is kept where at least this share of its pairs of ratings are the same (default"
                     " 0.4)."),
        click.Option(["--group"], multiple=True, metavar="NAME=RATING,…",
                     help="Ratings that count as the same (default for 1 to 5: poor=1,2 undecided=3 good=4,5)."),
        click.Option(["--html"], metavar="FILE",
                     help="Write a page with all tables and, for snippets, every text with its layers."),
    ),
    run=_run,
    retrieves=False,
)  # fmt: skip
