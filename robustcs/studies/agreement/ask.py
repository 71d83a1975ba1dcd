"""Agreement of annotators: the snippets they chose, or the ratings they gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robustcs.errors import UsageError
from robustcs.inputs.annotations import AnnotatedText, TextKey, join_annotations, read_annotations
from robustcs.inputs.ratings import Rating, read_ratings
from robustcs.project.model import AgreementFiles
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.agreement.analysis import SnippetAgreement, snippet_agreement
from robustcs.studies.agreement.cut import cut_references
from robustcs.studies.agreement.ratings import RatingAgreement, rating_agreement

Texts = dict[TextKey, AnnotatedText]


@dataclass(frozen=True)
class ComparedSnippets:
    """The result, and the texts that it is about; references as they were compared, cut to sentences where that was done."""

    result: SnippetAgreement
    texts: Texts
    references: Texts


def _files(workspace: Workspace) -> AgreementFiles:
    return workspace.project.agreement or AgreementFiles()


def ask(workspace: Workspace) -> SnippetAgreement | RatingAgreement:
    """Agreement of annotators on the project's snippets, else on its ratings."""
    files = _files(workspace)
    return compare_ratings(workspace) if files.ratings and not files.snippets else compare_snippets(workspace).result


def compare_snippets(workspace: Workspace) -> ComparedSnippets:
    """How much of what annotators chose they chose together, and how close they are to the references.

    Raises :class:`UsageError` without snippets, :class:`InputError` for a broken file.
    """
    files = _files(workspace)
    if not files.snippets:
        raise UsageError("no-annotations", "no snippets are given", "write [agreement] with snippets = …")
    texts, notes = _read(workspace, "annotations", files.snippets)
    references, more = _read(workspace, "reference", files.reference)
    told = [*notes, *more]
    numbers = {len(text.annotations) for text in texts.values()}
    if len(numbers) > 1:
        told.append(f"texts have {min(numbers)} to {max(numbers)} annotators: J_k goes over the texts with at least k")
    turns = len({turn for turn, _ in texts})
    evaluated = Evaluated(workspace.project.policy, "texts", turns, 0, tuple(told))
    result = snippet_agreement(texts, references, evaluated, files.majority, workspace.project.seed)
    return ComparedSnippets(result, texts, dict(cut_references(texts, references)[0]))


def _read(workspace: Workspace, role: str, files: Sequence[Path]) -> tuple[Texts, list[str]]:
    read: list[tuple[Path, Texts]] = []
    notes: list[str] = []
    for path in files:
        texts, told = read_annotations(path)
        workspace.remember(role, path, sum(len(text.annotations) for text in texts.values()))
        read.append((path, texts))
        notes += told
    return join_annotations(read), notes


def compare_ratings(workspace: Workspace) -> RatingAgreement:
    """How far raters agree, criterion by criterion.

    Raises :class:`UsageError` without ratings, :class:`InputError` for a broken file.
    """
    files = _files(workspace)
    if not files.ratings:
        raise UsageError("no-ratings", "no ratings are given", "write [agreement] with ratings = …")
    ratings: list[Rating] = []
    notes: list[str] = []
    for path in files.ratings:
        some, told = read_ratings(path)
        workspace.remember("ratings", path, len(some))
        ratings += some
        notes += told
    turns = {rating.turn or rating.item for rating in ratings}
    evaluated = Evaluated(workspace.project.policy, "texts", len(turns), 0, tuple(notes))
    return rating_agreement(
        ratings, evaluated, files.groups or None, files.min_agreement, files.majority, workspace.project.seed
    )
