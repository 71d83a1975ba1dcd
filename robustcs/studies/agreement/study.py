"""``robustcs agreement``: agreement of annotators on snippets or ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

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
from robustcs.project.model import AgreementFiles, Project, needs, only
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.studies.agreement.analysis import SnippetAgreement, Texts, snippet_agreement
from robustcs.studies.agreement.findings import rating_findings, snippet_findings
from robustcs.studies.agreement.ratings import RatingAgreement, rating_agreement
from robustcs.studies.agreement.show import present_layers, show
from robustcs.studies.signature import File, Opt, at_least
from robustcs.studies.study import SEED, UNIT, Answer, Call, Command, Question


def _files(project: Project) -> AgreementFiles:
    return project.agreement or AgreementFiles()


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
    files = _files(workspace.project)
    return (
        ask_ratings(workspace) if files.ratings and not files.snippets else ask_snippets(workspace)
    )


def ask_snippets(workspace: Workspace) -> SnippetAgreement:
    """Compare the snippets of the project's annotators with each other and with the references.

    Raises :class:`UsageError` without snippets, :class:`InputError` for an invalid file.
    """
    files = _files(workspace.project)
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


def _read(workspace: Workspace, role: str, files: Sequence[Path]) -> tuple[Texts, list[str]]:
    read: list[tuple[Path, Texts]] = []
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
    files = _files(workspace.project)
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
    known = _files(call.project).given(**({} if majority is None else {"majority": majority}))
    chosen = _chosen(known, files, call.given["reference"])
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


def _chosen(
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


COMMAND = Command(ask, ("agreement.reference", *UNIT, *SEED), retrieves=False, run=_run)


#: Number of texts with layers in the report: those with the lowest agreement.
_TEXTS = 10

_READING_SNIPPETS = (
    "How to read it: J is the share of all selected characters that every annotator selected; J_k is the share that at least k"
    " annotators selected. Low values are usual, because annotators select different parts of a text. Compare them with similar"
    " data."
)
_READING_RATINGS = (
    "How to read it: κ and alpha are 1 for full agreement and 0 for chance agreement. Fleiss' κ counts every difference as a"
    " disagreement; ordinal alpha penalizes near ratings less. If alpha is much larger than κ, raters mostly differ by one"
    " step."
)


def _snippet_inputs(project: Project) -> Project:
    needs(
        _files(project).snippets,
        "no-annotations",
        "no snippets",
        "add snippets = … under [agreement]",
    )
    return only(project, ("agreement", "policy", "seed"))


def _rating_inputs(project: Project) -> Project:
    needs(_files(project).ratings, "no-ratings", "no ratings", "add ratings = … under [agreement]")
    return only(project, ("agreement", "policy", "seed"))


def _snippets(workspace: Workspace) -> Answer:
    result = ask_snippets(workspace)
    blocks = (*show(result), present_layers(result, _TEXTS))
    return Answer(result, blocks, snippet_findings(result), _READING_SNIPPETS)


def _ratings(workspace: Workspace) -> Answer:
    result = ask_ratings(workspace)
    return Answer(result, show(result), rating_findings(result), _READING_RATINGS)


QUESTIONS = (
    Question(
        "snippets", "Do annotators select the same snippets?", ("jaccard", "reference", "workers"),
        _snippet_inputs, _snippets, given=lambda project: bool(_files(project).snippets)
    ),
    Question("ratings", "Do raters agree?", ("kappa", "alpha"), _rating_inputs, _ratings,
             given=lambda project: bool(_files(project).ratings)),
)  # fmt: skip
