"""Steps of ``robustcs agreement``: read the snippets or ratings of annotators, and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robustcs.errors import UsageError
from robustcs.inputs.annotations import (
    is_annotations,
    join_annotations,
    read_annotations,
    shared_workers,
)
from robustcs.inputs.ratings import Rating, is_rating_sheet, is_ratings, join_ratings, read_ratings
from robustcs.inputs.tables import columns_of
from robustcs.project.conversations import conversations_of
from robustcs.project.model import AgreementFiles, Project
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.agreement.analysis import SnippetAgreement, snippet_agreement
from robustcs.studies.agreement.effort import AnnotatedTexts
from robustcs.studies.agreement.ratings import RatingAgreement, rating_agreement


def files_of_project(project: Project) -> AgreementFiles:
    """Return the files of ``[agreement]``; none if the project has no such table."""
    return project.agreement or AgreementFiles()


def ask_snippets(workspace: Workspace) -> SnippetAgreement:
    """Compare the snippets of the project's annotators with each other and with the references.

    Raises :class:`UsageError` without snippets, :class:`InputError` for an invalid file.
    """
    files = files_of_project(workspace.project)
    if not files.snippets:
        raise UsageError(
            "no-annotations",
            "no snippets are given",
            "add snippets = … under [agreement] in robustcs.toml",
        )
    texts, told = _read(workspace, "annotations", files.snippets)
    references, more = _read(workspace, "reference", files.reference)
    told += more
    numbers = {len(text.annotations) for text in texts.values()}
    if len(numbers) > 1:
        told.append(
            f"texts have {min(numbers)} to {max(numbers)} annotators: J_k uses the texts with at least k annotators"
        )
    turns = list(dict.fromkeys(turn for turn, _ in texts))
    conversations = conversations_of(workspace, filter(None, turns))
    evaluated = Evaluated(
        workspace.project.policy, "texts", len(turns), 0, tuple(told), conversations=conversations
    )
    return snippet_agreement(texts, references, evaluated, files.majority, workspace.project.seed)


def _read(
    workspace: Workspace, role: str, files: Sequence[Path]
) -> tuple[AnnotatedTexts, list[str]]:
    read: list[tuple[Path, AnnotatedTexts]] = []
    notes: list[str] = []
    for path in files:
        texts, told = read_annotations(path)
        workspace.remember(role, path, sum(len(text.annotations) for text in texts.values()))
        read.append((path, texts))
        notes += told
    joined = join_annotations(read)
    # an annotator may also be in two files, such as a file given twice
    return joined, notes or list(
        shared_workers(", ".join(path.name for path in files), joined.values())
    )


def ask_ratings(workspace: Workspace) -> RatingAgreement:
    """Compute the agreement of the project's raters by criterion.

    Raises :class:`UsageError` without ratings, :class:`InputError` for an invalid file.
    """
    files = files_of_project(workspace.project)
    if not files.ratings:
        raise UsageError(
            "no-ratings",
            "no ratings are given",
            "add ratings = … under [agreement] in robustcs.toml",
        )
    read: list[tuple[Path, list[Rating]]] = []
    notes: list[str] = []
    for path in files.ratings:
        some, told = read_ratings(path)
        workspace.remember("ratings", path, len(some))
        read.append((path, some))
        notes += told
    ratings, told = join_ratings(read)
    notes += told
    turns = {rating.turn or rating.item for rating in ratings}
    counts = "turn" if any(rating.turn for rating in ratings) else "item"
    conversations = conversations_of(
        workspace, dict.fromkeys(rating.turn or rating.item for rating in ratings)
    )
    evaluated = Evaluated(
        workspace.project.policy,
        "texts",
        len(turns),
        0,
        tuple(notes),
        counts=counts,
        conversations=conversations,
    )
    seed = workspace.project.seed
    return rating_agreement(
        ratings, evaluated, files.groups or None, files.min_agreement, files.majority, seed
    )


def chosen_files(
    known: AgreementFiles, files: Sequence[str], reference: Sequence[str]
) -> AgreementFiles:
    """Return the files of the call, else those of the project."""
    references = {"reference": tuple(map(Path, reference))} if reference else {}
    if files:
        columns, paths = columns_of(files[0]), tuple(map(Path, files))
        of_ratings = (is_ratings(columns) or is_rating_sheet(columns)) and not is_annotations(
            columns
        )
        return known.given(**{"ratings" if of_ratings else "snippets": paths}, **references)
    if not (known.snippets or known.ratings):
        advice = "name their files, or add snippets or ratings under [agreement] in robustcs.toml"
        raise UsageError("no-inputs", "no annotations are given", advice)
    return (
        known.given(snippets=known.snippets, ratings=known.ratings, **references)
        if reference
        else known
    )
