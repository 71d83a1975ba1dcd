"""Build the report from the kept answers: the first screen, and one section per question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from robustcs.documents.document import Block, Cards, Fold, Heading, Opening, Paragraph, Picture, Table, Verdict
from robustcs.project.model import Project
from robustcs.project.trust import limited, limits_of_sources
from robustcs.reporting.answers import OTHER, READ, Kept
from robustcs.reporting.headlines import headlines, in_order
from robustcs.studies.study import Question
from robustcs.wording import counted, some_of


def policy_of(kept: Kept) -> str:
    """Return the policy line of an answer, with the rows of its inputs that were skipped."""
    return " · ".join([kept["policy"], *kept["skipped"]])


def opening(project: Project, answers: Sequence[tuple[Question, Kept]]) -> Opening:
    """Return the first screen: what was compared, the verdicts, and the first table and figure that a question offers."""
    every = {question.key: _verdicts(project, question, kept) for question, kept in answers}
    kept = opens(answers)
    blocks = [_named(block, project, kept) for block in kept["overview"]]
    return Opening(_what(project, kept), headlines(every), tuple(blocks))


def opens(answers: Sequence[tuple[Question, Kept]]) -> Kept:
    """Return the answer whose table and figure open the report."""
    every = [kept for _, kept in answers]
    return next((kept for kept in every if kept["overview"]), every[0])


def section(project: Project, question: Question, kept: Kept, opened: bool) -> list[Block | Picture | Fold]:
    """Return a section: the question, its answer in one sentence, one figure and one table; everything else is folded.

    ``opened``: its table and figure are on the first screen and are not repeated.
    """
    verdicts = in_order(_verdicts(project, question, kept))
    told = [verdict.sentence for verdict in verdicts]
    if verdicts and verdicts[0].barred:  # then all are, since barred verdicts come last
        told.insert(0, verdicts[0].caveat)
    sentences = told[:1] or kept["findings"][:1]
    more = [Paragraph(sentence) for sentence in told[1:]]
    shown: list[Block | Picture | Fold] = [Heading(question.title), *map(Paragraph, sentences)]
    placed = kept["blocks"]
    if not opened:
        placed = [(block, 0 if isinstance(block, Picture) else 1) for block in kept["overview"]] + placed
    placed = [(_named(block, project, kept), place) for block, place in placed]
    lead = [_first(placed, lambda place: place == 0), _first(placed, lambda place: 0 < place < READ)]
    shown += [block for block in lead if block is not None]
    rest = [(block, place) for block, place in placed if block not in lead]
    more += [Paragraph(text) for text in kept["findings"] if text not in sentences]
    more += [Paragraph(kept["reading"])] if kept["reading"] else []
    folded = _parts(rest, lambda block, place: place == 0 or 0 < place < READ)
    shown.append(Fold(_summary(folded), (*more, *folded, Paragraph(f"Evaluated: {policy_of(kept)}."))))
    others = _parts(rest, lambda block, place: place == OTHER)
    if others:
        shown.append(Fold(counted(len(_tables(others)), "further table"), tuple(others), page_only=True))
    to_read = [block for block, place in rest if isinstance(block, Cards)]
    if to_read:
        shown.append(Fold("Turns to read", tuple(to_read), page_only=True))
    return shown


def _verdicts(project: Project, question: Question, kept: Kept) -> list[Verdict]:
    """Return the verdicts of a question; those based on judgments have the conditions that limit the qrels of ``project``."""
    judged = any("qrels" in entry["role"].split(", ") for entry in kept["inputs"])
    limits = kept["limits"] + (limits_of_sources(project) if judged else [])
    return [limited(replace(verdict, about=question.title), limits) for verdict in kept["verdicts"]]


def _first(placed: Sequence[tuple[Any, int]], wanted: Callable[[int], bool]) -> Any:
    """Return the wanted block with the smallest place before the first heading; None if there is none."""
    before: list[tuple[int, int, Any]] = []
    for block, place in placed:
        if isinstance(block, Heading):
            break
        if wanted(place):
            before.append((place, len(before), block))
    return min(before, key=lambda item: item[:2])[2] if before else None


def _parts(placed: Sequence[tuple[Any, int]], wanted: Callable[[Any, int], bool]) -> list[Any]:
    """Return the wanted blocks sorted by place under each heading, without empty headings."""
    parts: list[tuple[Heading | None, list[tuple[int, Any]]]] = [(None, [])]
    for block, place in placed:
        if isinstance(block, Heading):
            parts.append((block, []))
        elif wanted(block, place):
            parts[-1][1].append((place, block))
    found: list[Any] = []
    for heading, blocks in parts:
        if blocks:
            found += [heading] if heading else []
            found += [block for _, block in sorted(blocks, key=lambda item: item[0])]
    return found


def _tables(blocks: Sequence[Any]) -> list[Table]:
    return [block for block in blocks if isinstance(block, Table)]


def _summary(folded: Sequence[Any]) -> str:
    tables, figures = len(_tables(folded)), sum(isinstance(block, Picture) for block in folded)
    parts = [counted(number, what) for number, what in ((figures, "figure"), (tables, "table")) if number]
    return f"More on this: {some_of(['how to read it', *parts], 3)}"


def _named(block: Any, project: Project, kept: Kept) -> Any:
    """Return the block with the project and the turns in its caption, so that a table or figure can be copied elsewhere."""
    if not isinstance(block, Table | Picture):
        return block
    end = "" if block.caption.endswith((".", "?")) else "."
    return replace(block, caption=f"{block.caption}{end} {project.name}, {_turns(kept)}.")


def _turns(kept: Kept) -> str:
    return str(kept["policy"]).split(" · ")[0]


def _what(project: Project, kept: Kept) -> str:
    """Return in one line what was compared, and on which turns."""
    roles = [part.role for part in project.formulations.values()]
    parts = [counted(roles.count("qr"), "rewriter")] if "qr" in roles else []
    parts += [counted(len(project.runs), "further run" if roles else "run")] if project.runs else []
    parts += [f"grid of {counted(len(project.components), 'cell')}"] if project.components else []
    answered = project.answers.answered if project.answers and "qr" not in roles else ()
    parts += [f"answers of {counted(len(answered), 'system')}"] if answered else []
    parts += [counted(len(project.judges), "judge")] if project.judges else []
    return " · ".join([", ".join(parts), _turns(kept)] if parts else [_turns(kept)])
