"""``robustcs agreement``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from robustcs.cli.options import Options, load_project, shared_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robustcs.analyses.result import Result
    from robustcs.inputs.annotations import AnnotatedText, TextKey
    from robustcs.inputs.ratings import Rating
    from robustcs.reports.document import Block
    from robustcs.workspace import Workspace


@click.command(short_help="How far do annotators agree, on snippets or on ratings?")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--reference", multiple=True, metavar="FILE", help="Snippets chosen by experts, to compare the others with.")
@click.option("--majority", type=click.IntRange(min=1), metavar="N",
              help="How many annotators make a majority (default: more than half of those of the text or item).")
@click.option("--min-agreement", type=click.FloatRange(0, 1), default=0.4, show_default=True, metavar="SHARE",
              help="Ratings: an item is kept where at least this share of its pairs of ratings are the same.")
@click.option("--group", multiple=True, metavar="NAME=RATING,…",
              help="Ratings that count as the same (default for 1 to 5: poor=1,2 undecided=3 good=4,5).")
@click.option("--html", metavar="FILE", help="Write a page with all tables and, for snippets, every text with its layers.")
@shared_options
def agreement(
    options: Options,
    files: tuple[str, ...],
    reference: tuple[str, ...],
    majority: int | None,
    min_agreement: float,
    group: tuple[str, ...],
    html: str | None,
) -> None:
    """How far do annotators agree, on snippets or on ratings?

    FILE... are snippet annotations (CSV of MTurk or Prolific as CAsT-snippets has them, or JSONL with turn, passage, worker,
    text, snippets), or ratings (CSV or JSONL with item, worker, grade, and turn and criterion where there are several).
    Several files are taken together; each row is one annotation by one annotator.

    \b
    Examples:
      robustcs agreement masters.csv --reference experts.csv --html snippets.html
      robustcs agreement masters.csv --majority 4 --table reference
      robustcs agreement ratings.csv --group low=1,2 --group high=3,4,5
      robustcs agreement ratings.csv --output ratings.svg
    """
    from robustcs.cli.output import emit
    from robustcs.errors import UsageError
    from robustcs.inputs.annotations import is_annotations
    from robustcs.inputs.ratings import is_ratings
    from robustcs.inputs.rows import columns_of
    from robustcs.workspace import Workspace

    workspace = Workspace(load_project(options))
    columns = columns_of(files[0])
    if is_annotations(columns) or not is_ratings(columns):
        if group:
            raise UsageError("no-ratings", "--group is about ratings, and these files hold snippets", "leave it out")
        result, blocks, page = _snippets(workspace, files, reference, majority)
    else:
        if reference:
            raise UsageError("no-snippets", "--reference is about snippets, and these files hold ratings", "leave it out")
        result, blocks = _ratings(workspace, files, majority, min_agreement, group)
        page = blocks
    if html:
        _write_page(html, result, page, workspace)
    if not html or options.output or options.format:
        emit("agreement", result, blocks, workspace.inputs, options)


def _snippets(
    workspace: Workspace, files: Sequence[str], reference: Sequence[str], majority: int | None
) -> tuple[Result, Sequence[Block], Sequence[Block]]:
    """The result, its blocks, and the blocks of the page, which has the texts besides."""
    from robustcs.analyses.agreement import snippet_agreement
    from robustcs.analyses.result import Evaluated
    from robustcs.reports.present.agreement import present_agreement, present_layers

    texts, notes = _read_annotations(workspace, "annotations", files)
    references, more = _read_annotations(workspace, "reference", reference)
    told = [*notes, *more]
    without = len(texts.keys() - references.keys()) if references else 0
    if without:
        told.append(f"without a reference and left out of that comparison: {without} of {len(texts)} texts")
    numbers = {len(text.annotations) for text in texts.values()}
    if len(numbers) > 1:
        told.append(f"texts have {min(numbers)} to {max(numbers)} annotators: J_k goes over the texts with at least k")
    turns = len({turn for turn, _ in texts})
    evaluated = Evaluated(workspace.project.policy, "texts", turns, 0, tuple(told))
    result = snippet_agreement(texts, references, evaluated, majority, workspace.project.seed)
    blocks = present_agreement(result)
    return result, blocks, (*blocks, present_layers(result, texts, references))


def _read_annotations(
    workspace: Workspace, role: str, files: Sequence[str]
) -> tuple[dict[TextKey, AnnotatedText], list[str]]:
    from robustcs.inputs.annotations import join_annotations, read_annotations

    read: list[tuple[str, dict[TextKey, AnnotatedText]]] = []
    notes: list[str] = []
    for path in files:
        texts, told = read_annotations(path)
        workspace.remember(role, path, sum(len(text.annotations) for text in texts.values()))
        read.append((path, texts))
        notes += told
    return join_annotations(read), notes


def _ratings(
    workspace: Workspace, files: Sequence[str], majority: int | None, min_agreement: float, group: Sequence[str]
) -> tuple[Result, Sequence[Block]]:
    from robustcs.analyses.ratings import rating_agreement
    from robustcs.analyses.result import Evaluated
    from robustcs.inputs.ratings import read_ratings
    from robustcs.reports.present.agreement import present_ratings

    ratings: list[Rating] = []
    notes: list[str] = []
    for path in files:
        some, told = read_ratings(path)
        workspace.remember("ratings", path, len(some))
        ratings += some
        notes += told
    turns = {rating.turn or rating.item for rating in ratings}
    evaluated = Evaluated(workspace.project.policy, "texts", len(turns), 0, tuple(notes))
    result = rating_agreement(
        ratings, evaluated, _groups(group), min_agreement, majority, workspace.project.seed
    )
    return result, present_ratings(result, min_agreement)


def _groups(texts: Sequence[str]) -> dict[str, tuple[str, ...]] | None:
    from robustcs.errors import UsageError

    groups: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, members = text.partition("=")
        ratings = tuple(part.strip() for part in members.split(","))
        if not (name and equals and all(ratings)) or name in groups:
            raise UsageError("bad-group", f"--group {text}", "write --group NAME=RATING,RATING, every NAME once")
        groups[name] = ratings
    return groups or None


def _write_page(path: str, result: Result, blocks: Sequence[Block], workspace: Workspace) -> None:
    import os

    from robustcs.reports.document import Document
    from robustcs.reports.files import write_text
    from robustcs.reports.html import render_html

    inputs = tuple((entry["role"], f"{os.path.basename(entry['path'])} · {entry['rows']} rows") for entry in workspace.inputs)
    evaluated = result.evaluated
    document = Document("Agreement of annotators", tuple(blocks), evaluated.policy_line, evaluated.notes, inputs)
    write_text(path, render_html(document))
    click.echo(f"wrote {path}", err=True)
