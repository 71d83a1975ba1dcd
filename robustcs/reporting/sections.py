"""Build the report from its sections: the first screen, and one section per question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from robustcs.documents.document import (
    Block,
    Cards,
    Fold,
    Heading,
    Opening,
    Paragraph,
    Picture,
    TableBlock,
    TurnLinks,
    Verdict,
)
from robustcs.project.model import Project
from robustcs.project.trust import cannot, limited, limits_of_sources
from robustcs.reporting.contents import Kind, Section
from robustcs.reporting.headlines import headlines, in_order
from robustcs.studies.study import Question
from robustcs.wording import counted, some_of


def tables_of(project: Project, content: Section) -> list[TableBlock]:
    """Return all tables of a section as the report shows them."""
    blocks = [*content.overview, *(block for block, _ in content.blocks)]
    return [_named(block, project, content) for block in blocks if isinstance(block, TableBlock)]


def opening(project: Project, contents: Sequence[tuple[Question, Section]]) -> Opening:
    """Return the first screen: what was compared, the verdicts, and the first table and figure that a question offers."""
    every = {question.key: _verdicts(project, question, content) for question, content in contents}
    content = opens(contents)
    blocks = [_named(block, project, content) for block in content.overview]
    return Opening(_what(project, content), headlines(every), tuple(blocks))


def opens(contents: Sequence[tuple[Question, Section]]) -> Section:
    """Return the section whose table and figure open the report."""
    every = [content for _, content in contents]
    return next((content for content in every if content.overview), every[0])


def section(
    project: Project, question: Question, content: Section, opened: bool
) -> list[Block | Picture | Fold | TurnLinks]:
    """Return a section: the question, its answer in one sentence, one figure, one table, and links to turns.

    Everything else is folded.

    ``opened``: its table and figure are on the first screen and are not repeated.
    """
    verdicts = in_order(_verdicts(project, question, content))
    told = [Paragraph(verdict.sentence, verdict.read) for verdict in verdicts]
    if verdicts and verdicts[0].barred and verdicts[0].caveat:
        # then all are barred, since such verdicts come last
        told.insert(0, Paragraph(verdicts[0].caveat))
    # what the judgments cannot tell is not claimed in other words either
    findings = () if _void(content) else content.findings
    sentences = told[:1] or [Paragraph(text) for text in findings[:1]]
    more = told[1:]
    shown: list[Block | Picture | Fold | TurnLinks] = [Heading(question.title), *sentences]
    overview: list[tuple[Any, Kind]] = (
        [] if opened else [(block, "main") for block in content.overview]
    )
    placed = [
        (_named(block, project, content), kind) for block, kind in [*overview, *content.blocks]
    ]
    main = _of_kind(placed, "main")
    first = list(takewhile(lambda block: not isinstance(block, Heading), main))
    lead = [
        block
        for kind in (Picture, TableBlock)
        for block in [one for one in first if isinstance(one, kind)][:1]
    ]
    folded = [block for block in main if block not in lead]
    first_text = sentences[0].text if sentences else ""
    more += [Paragraph(text) for text in findings if text != first_text]
    more += [Paragraph(content.reading)] if content.reading else []
    links = [TurnLinks(content.turns)] if content.turns else []
    shown += [
        *lead,
        *links,
        Fold(_summary(folded), (*more, *folded, Paragraph(f"Evaluated: {content.policy_line}."))),
    ]
    if others := _of_kind(placed, "other"):
        tables = counted(sum(isinstance(block, TableBlock) for block in others), "further table")
        shown.append(Fold(tables, tuple(others), page_only=True))
    if to_read := tuple(block for block, _ in placed if isinstance(block, Cards)):
        shown.append(Fold("Texts to read", to_read, page_only=True))
    return shown


def _verdicts(project: Project, question: Question, content: Section) -> list[Verdict]:
    """Return the verdicts of a question; those based on judgments have the conditions that limit the qrels of ``project``."""
    limits = [*content.limits, *(limits_of_sources(project) if content.judged else [])]
    found: dict[str, Verdict] = {}
    for verdict in content.verdicts:
        told = limited(replace(verdict, about=question.title), limits)
        found.setdefault(told.text, told)
    return list(found.values())


def _of_kind(placed: Sequence[tuple[Any, Kind]], wanted: Kind) -> list[Any]:
    """Return the blocks of a kind with the headings above them, without empty headings."""
    found = [block for block, kind in placed if kind in (wanted, "heading")]
    headings = [isinstance(block, Heading) for block in found]
    return [block for place, block in enumerate(found) if not all(headings[place : place + 2])]


def _summary(folded: Sequence[Any]) -> str:
    kinds = (("figure", Picture), ("table", TableBlock))
    counts = [(sum(isinstance(block, kind) for block in folded), what) for what, kind in kinds]
    parts = [counted(number, what) for number, what in counts if number]
    return f"More on this: {some_of(['how to read it', *parts], 3)}"


def _named(block: Any, project: Project, content: Section) -> Any:
    """Return the block with the project and the turns in its caption, so that a table or figure can be copied elsewhere.

    The caption begins with what the judgments cannot tell.
    """
    if not isinstance(block, TableBlock | Picture):
        return block
    end = "" if block.caption.endswith((".", "?")) else "."
    return replace(
        block, caption=f"{_void(content)}{block.caption}{end} {project.name}, {_turns(content)}."
    )


def _void(content: Section) -> str:
    """Return as a sentence what the judgments cannot tell, where a limit replaces the first verdict; else an empty string."""
    barred = {
        subject
        for limit in content.limits
        if limit.first and limit.bars
        for subject in limit.subjects
    }
    subject = next(
        (verdict.subject for verdict in content.verdicts if verdict.subject in barred), None
    )
    return f"{cannot(subject).capitalize()}. " if subject else ""


def _turns(content: Section) -> str:
    return content.policy.split(" · ")[0]


def _what(project: Project, content: Section) -> str:
    """Return in one line what was compared, and on which turns."""
    roles = [part.role for part in project.formulations.values()]
    parts = [counted(roles.count("qr"), "rewriter")] if "qr" in roles else []
    others = any(part.run or part.scores for part in project.formulations.values())
    parts += (
        [counted(len(project.runs), "further run" if others else "run")] if project.runs else []
    )
    parts += [f"grid of {counted(len(project.components), 'cell')}"] if project.components else []
    of_systems = project.answers.of_systems if project.answers and "qr" not in roles else ()
    parts += [f"answers of {counted(len(of_systems), 'system')}"] if of_systems else []
    parts += [counted(len(project.judges), "judge")] if project.judges else []
    return " · ".join([", ".join(parts), _turns(content)] if parts else [_turns(content)])
