"""What a question of the report is, and what an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from robustcs.documents.document import Block
from robustcs.project.model import Project
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated, Result


@dataclass(frozen=True)
class Answer:
    """What was found.

    findings
        Plain sentences with their numbers; they open the report.
    reading
        How to read the figures and tables.
    results
        Command → result; its tables are written as CSV and JSON.
    """

    findings: tuple[str, ...]
    reading: str
    blocks: tuple[Block, ...]
    evaluated: Evaluated
    results: Mapping[str, Result]


@dataclass(frozen=True)
class Question:
    """One question.

    key
        Lower-case name; the names of its files and anchors start with it.
    tables
        How the slugs of the tables start that everybody should see, in this order; the others stand further down in the
        page and not in the PDF.
    part
        The part of a project that the answer may look at. Raises :class:`UsageError` where that does not suffice.
        An answer is computed from this part alone, so it can be kept until something in the part changes.
    answer
        Raises :class:`UsageError` where the files do not have what is needed.
    """

    key: str
    title: str
    tables: tuple[str, ...]
    part: Callable[[Project], Project]
    answer: Callable[[Workspace], Answer]
