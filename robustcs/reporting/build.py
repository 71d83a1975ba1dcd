"""Make the report of a project: the document and the files of its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from robustcs.documents.dates import report_day, source_date
from robustcs.documents.document import Document
from robustcs.documents.html import render_html
from robustcs.documents.latex import render_latex
from robustcs.documents.page.pack import packed_turns
from robustcs.documents.pdf import render_pdf
from robustcs.errors import UsageError
from robustcs.inputs.readings import reading_once
from robustcs.project.conversations import with_fields
from robustcs.project.model import (
    Project,
    input_files,
    needs,
    new_judgment_files,
    protect_inputs,
)
from robustcs.project.parallel_io import HERE, Jobs
from robustcs.project.reader import Track, untracked
from robustcs.project.requirements import turns_to_read
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.record import TURNS
from robustcs.records.schema import InputFile
from robustcs.reporting.contents import Section, limited_by_others, section_of, shown_inputs
from robustcs.reporting.names import Names
from robustcs.reporting.sections import opening, opens, section, tables_of
from robustcs.studies.fields import turns_of
from robustcs.studies.registry import questions
from robustcs.studies.study import Question
from robustcs.version import __version__
from robustcs.wording import counted, merged

#: Packages that affect numbers or drawings of a report.
LIBRARIES = (
    "matplotlib",
    "nltk",
    "numpy",
    "pandas",
    "pytrec-eval-terrier",
    "rouge-score",
    "sacrebleu",
    "scipy",
    "typst",
)
_START = "name your files in robustcs.toml, which robustcs init writes from a folder"


@dataclass(frozen=True)
class Report:
    """A report.

    files
        Name inside its folder → contents.
    sections
        Question and content of each section, in order.
    lacking
        The questions without an answer, with the reason.
    """

    document: Document
    files: Mapping[str, bytes]
    sections: Sequence[tuple[Question, Section]]
    lacking: Sequence[str]


@reading_once()
def make_report(
    project: Project,
    *,
    folder: Path = Path(),
    command: str = "",
    jobs: Jobs = HERE,
    track: Track = untracked,
    tell: Callable[[str], None] = lambda message: None,
) -> Report:
    """Answer every question that the project's inputs allow, in one document and a folder of files.

    Parameters
    ----------
    folder
        The folder of the project file; inputs are named relative to it.
    command
        The command line, for the provenance.
    jobs
        The processes that read runs.
    tell
        Receives the title of every question before it is answered.

    A note names each question that has only some of its inputs, and the missing ones.

    Raises :class:`UsageError` if no question can be answered, and :class:`InputError` for a broken file.
    """
    protect_inputs(project)
    project = with_fields(project)
    source_date()  # an invalid date is an error before the work, not after it
    names = Names(folder, [*input_files(project), *new_judgment_files(project)])
    every = list(questions(project))
    some = [question for question in every if question.title and question.given(project)]
    needs(some, "nothing-to-report", "no analysis has all its inputs", _START)
    workspace = Workspace(project, jobs, track)
    contents: dict[str, tuple[Question, Section]] = {}
    failed: dict[str, UsageError] = {}
    for question in every:
        if question.key in failed:
            continue
        if question.title:
            tell(question.title)
        try:
            found = section_of(question, workspace, names)
        except UsageError as error:
            failed[question.key] = error
            contents.pop(question.key, None)
            continue
        first = contents.get(question.key)
        contents[question.key] = (
            (first[0], first[1].continued(found)) if first else (question, found)
        )
    lacking = [
        names.hide(f"{question.title} ({failed[question.key]})")
        for question in some
        if question.key in failed
    ]
    if not contents:
        raise UsageError(
            "nothing-to-report", "no analysis has all its inputs", "; ".join(lacking) or _START
        )
    tell("Every turn")
    read = workspace.of(project)
    turns, records, left_out = _turns(read, names)
    inputs = _unique(
        [entry for _, one in contents.values() for entry in one.inputs] + shown_inputs(read, names)
    )
    limited = limited_by_others([one for _, one in contents.values()])
    sections = list(zip((question for question, _ in contents.values()), limited, strict=True))
    document = _document(project, sections, lacking, inputs, names.hide(turns), command)
    document = replace(document, notes=(*document.notes, *map(names.hide, left_out)))
    files = {name: data for _, one in contents.values() for name, data in one.files.items()}
    files |= {
        f"tables/{slug}.tex": text.encode("utf-8", "replace")
        for slug, text in document.latex.items()
    }
    files |= records
    tell("HTML and PDF")
    files |= {
        "report.html": render_html(document).encode("utf-8", "replace"),
        "report.pdf": render_pdf(document),
    }
    return Report(
        document,
        files,
        sections,
        [note for note in document.notes if note.startswith("Not answered: ")],
    )


def _turns(
    workspace: Workspace, names: Names
) -> tuple[dict[str, Any], dict[str, bytes], list[str]]:
    """Return all turns of the project for the page, as the file of their records, and a note if they cannot be listed."""
    project = workspace.project
    try:
        turns_to_read(workspace)
    except UsageError:
        return {}, {}, []  # a project without turns
    try:
        turns = turns_of(TurnInputs(workspace), lambda: shown_inputs(workspace, names))
        if not turns.table.ids:
            return {}, {}, []
        packed = packed_turns(turns, project.policy.relevance_level, project.seed)
        data, _ = turns.contents()
        return packed, {TURNS: data}, []
    except UsageError as error:
        return {}, {}, [f"Turns are not listed: {error}"]


def _unique(entries: Iterable[InputFile]) -> list[InputFile]:
    """Return each file once, under the first role that it was read for."""
    found: dict[str, InputFile] = {}
    for entry in entries:
        found.setdefault(entry["path"], entry)
    return list(found.values())


def _document(
    project: Project,
    contents: Sequence[tuple[Question, Section]],
    lacking: Sequence[str],
    inputs: Sequence[InputFile],
    turns: Mapping[str, Any],
    command: str,
) -> Document:
    """Return the document: the first screen and one section per question."""
    notes: list[str] = [note for _, content in contents for note in content.notes]
    first = opens(contents)
    notes += [f"Not answered: {what}" for what in lacking]
    return Document(
        title=project.name,
        blocks=tuple(block for question, content in contents for block in section(project, question, content, content is first)),
        policy=_policy(contents),
        notes=merged(notes),
        provenance=_provenance(project, inputs, command),
        opening=opening(project, contents),
        latex={
            table.slug: render_latex([table], content.policy_line, merged(content.notes))
            for _, content in contents for table in tables_of(project, content)
        },
        turns=turns,
    )  # fmt: skip


def _policy(contents: Sequence[tuple[Question, Section]]) -> str:
    """Return the policy line of the section that opens the report."""
    line = opens(contents).policy_line
    return (
        line
        if all(content.policy_line == line for _, content in contents)
        else f"{line} · each section ends with its own policy"
    )


def _provenance(
    project: Project, inputs: Sequence[InputFile], command: str
) -> tuple[tuple[str, str], ...]:
    libraries = []
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            libraries.append(f"{name} {version(name)}")
    rows = [("Program", f"robustcs {__version__}")]
    rows += [("Command", command)] if command else []
    rows += [
        # Python is left out: with any version of it, results and a committed report are the same
        ("Libraries", ", ".join(libraries)),
        ("Date", report_day()),
        ("Seed", str(project.seed)),
    ]
    for entry in inputs:
        count = f" · {counted(entry['rows'], 'row')}" if entry["rows"] is not None else ""
        count += f", {entry['skipped']:,} skipped" if "skipped" in entry else ""
        digest = f" · SHA-256 {entry['sha256']}" if entry["sha256"] else ""
        rows.append((f"Input: {entry['role']}", f"{entry['path']}{count}{digest}"))
    return tuple(rows)
