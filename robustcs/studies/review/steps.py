"""Steps of ``robustcs review``: read reviews, and cross them with properties of the turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from robustcs.documents.headline import at, headline_cut, shown_cuts
from robustcs.documents.words import cut_label
from robustcs.errors import UsageError
from robustcs.inputs.reviews import Review, read_reviews
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.lazy import pd
from robustcs.policy import Basis, Evaluated
from robustcs.project.conversations import conversations_of
from robustcs.project.model import Project, ReviewFiles
from robustcs.project.workspace import Workspace
from robustcs.studies.review.analysis import Reviews, Value, review

#: Study with a table of turns → name of its property, its column, and the columns that name the system.
PROPERTIES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "breakdown": ("bin", "bin", ("rewriter",)),
    "components": ("component", "cause", ("wording", "ranker")),
    "answers": ("outcome", "outcome", ("system",)),
}


def crossed(workspace: Workspace, reviews: Sequence[Review]) -> Reviews:
    """Return the frequency of each kind of failure, also by properties that other studies give the turns."""
    values, basis = _values(workspace)
    turns = list(dict.fromkeys(one.turn for one in reviews))
    conversations = conversations_of(workspace, turns)
    evaluated = Evaluated(
        workspace.project.policy, basis, len(turns), 0, conversations=conversations
    )
    return review(reviews, values, evaluated, workspace.project.seed)


def read_given_reviews(workspace: Workspace) -> list[Review]:
    """Read the reviews of all files.

    Raises :class:`UsageError` without files, :class:`InputError` for an invalid one.
    """
    files = (workspace.project.review or ReviewFiles()).files
    if not files:
        raise UsageError(
            "no-reviews", "no reviews are given", "name the files that the page of a report exports"
        )
    found: list[Review] = []
    for path in files:
        refuse_other_kinds(path, "reviews")
        reviews = read_reviews(path)
        workspace.remember("review", path, len(reviews))
        found += reviews
    return found


def _values(workspace: Workspace) -> tuple[list[Value], Basis]:
    """Return the bins, components and outcomes of all turns if the project has their inputs, and what the first are scores of.

    Raises :class:`InputError` if these inputs are broken.
    """
    from robustcs.studies.registry import STUDIES

    found: list[Value] = []
    basis: list[Basis] = []
    for one in STUDIES:
        by, column, names = PROPERTIES.get(one.name, ("", "", ()))
        if not by:
            continue
        try:
            result = one.part("study").ask(workspace)
        except UsageError:
            continue  # without its inputs
        turns = result.tables["turns"]
        found += _by_system(turns, by, column, names, workspace.project) if column in turns else []
        basis.append(result.evaluated.basis)
    return found, basis[0] if basis else "texts"


def _by_system(
    turns: pd.DataFrame, by: str, column: str, names: tuple[str, ...], project: Project
) -> list[Value]:
    """Return the values of each system at the headline cut; the first of several rows of a turn counts."""
    if {"metric", "threshold"} <= set(turns):
        cut = headline_cut(shown_cuts(turns))
        turns, by = at(turns, cut), f"{by} at {cut_label(cut)}"
    turns = turns[turns[column].notna()]
    found = []
    for parts, part in turns.groupby(list(names), sort=False):
        name = "/".join(map(str, parts))
        cell = [
            system for system, run in project.systems.items() if run == project.components.get(name)
        ]
        own = dict(zip(part["turn"][::-1], part[column][::-1].astype(str), strict=True))
        found.append(Value(by, name, own, ("original", "human") if column == "bin" else cell))
    return found
