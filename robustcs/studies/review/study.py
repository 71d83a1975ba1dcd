"""``robustcs review``: the frequency of the kinds of failures that coders found in the turns of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from robustcs.documents.files import require_writable
from robustcs.documents.headline import at, headline_cut, shown_cuts
from robustcs.documents.words import cut_label
from robustcs.errors import UsageError
from robustcs.inputs.reviews import Review, read_reviews
from robustcs.inputs.sniff import refuse_other_kinds
from robustcs.lazy import pd
from robustcs.policy import Basis, Evaluated
from robustcs.project.conversations import conversations_of
from robustcs.project.model import Project, ReviewFiles, needs
from robustcs.project.workspace import Workspace
from robustcs.studies.review.analysis import Reviews, Value, review, slices_of
from robustcs.studies.review.findings import findings, verdicts
from robustcs.studies.review.show import show
from robustcs.studies.signature import File, Opt
from robustcs.studies.study import SEED, UNIT, Answer, Call, Command, Question

#: Study with a table of turns → name of its property, its column, and the columns that name the system.
PROPERTIES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "breakdown": ("bin", "bin", ("rewriter",)),
    "components": ("component", "cause", ("wording", "ranker")),
    "answers": ("outcome", "outcome", ("system",)),
}


def ask(workspace: Workspace) -> Reviews:
    """Estimate how frequent each kind of failure is, from categories that coders assigned to turns.

    FILE... are exports of the page (review.jsonl); several files are combined. Without FILE, the command uses [review] in
    robustcs.toml. Each line is one turn that a coder reviewed: turn, systems, categories, note, coder and sample.

    From a random sample, the command estimates the share of each category among all turns from which the sample was drawn. The
    intervals are exact for this finite number of turns. For other samples, the command only counts, and a note says so.

    The command also crosses the categories with the bins, components and outcomes of the turns, if the project has their
    inputs. For several systems, it compares their categories on the same turns. For several coders, it measures agreement.

    Examples:
      robustcs review review.jsonl
      robustcs review ann.jsonl ben.jsonl --table coders
      robustcs review review.jsonl --write-slices reviewed.tsv
      robustcs breakdown --slices reviewed.tsv
    """
    return prepare(workspace)()


def prepare(workspace: Workspace) -> Callable[[], Reviews]:
    """Read the reviews. Return the function that crosses them with the results of other studies."""
    reviews = _read(workspace)
    return lambda: _crossed(workspace, reviews)


def _crossed(workspace: Workspace, reviews: Sequence[Review]) -> Reviews:
    values, basis = _values(workspace)
    turns = list(dict.fromkeys(one.turn for one in reviews))
    conversations = conversations_of(workspace, turns)
    evaluated = Evaluated(
        workspace.project.policy, basis, len(turns), 0, conversations=conversations
    )
    return review(reviews, values, evaluated, workspace.project.seed)


def _read(workspace: Workspace) -> list[Review]:
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


def _run(
    call: Call,
    files: Annotated[tuple[str, ...], Opt("[FILE...]", argument=True)],
    write_slices: File | None,
) -> None:
    """Run the command.

    write_slices
        Also write a TSV with one row per reviewed turn and one column per category (yes, no; empty if coders disagree), for
        --slices of other commands.
    """
    project = call.project
    if files:
        project = replace(project, review=ReviewFiles(tuple(map(Path, files))))
    if write_slices:
        require_writable(write_slices)
    workspace = call.workspace(project)
    reviews = _read(workspace)
    result = _crossed(workspace, reviews)
    if write_slices:
        call.write(write_slices, slices_of(reviews))
    call.emit(workspace, result)


COMMAND = Command(ask, (*UNIT, *SEED), retrieves=False, run=_run)


_READING = (
    "How to read it: each reviewed turn may have several categories, or none. The intervals are for all turns from which the"
    " sample was drawn, not for other conversations, and each belongs to one share. κ is 1 for full agreement of two coders and"
    " 0 for agreement expected by chance; report only categories on which the coders agree."
)


def _inputs(project: Project) -> Project:
    needs(
        project.review and project.review.files,
        "no-reviews",
        "no reviews",
        "add files = … under [review]",
    )
    return project


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    return Answer(result, show(result), findings(result), _READING, verdicts=verdicts(result))


QUESTIONS = (
    Question("review", "Which failures did coders find?", ("categories", "differences", "coders"), _inputs, _answer),
)  # fmt: skip
