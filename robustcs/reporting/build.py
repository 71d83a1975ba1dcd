"""Make the report of a project: the document and the files of its folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from robustcs.documents.dates import report_day, source_date
from robustcs.documents.document import Document
from robustcs.documents.html import render_html
from robustcs.documents.latex import render_latex
from robustcs.documents.pdf import render_pdf
from robustcs.errors import UsageError
from robustcs.inputs.readings import reading_once
from robustcs.project.conversations import with_fields
from robustcs.project.model import Project, needs, only, protect_inputs
from robustcs.project.parallel_io import HERE, Jobs
from robustcs.project.reader import Track, untracked
from robustcs.project.state import STATE, state_of
from robustcs.project.workspace import Workspace
from robustcs.reporting.answers import Kept, Turns, ask, files_of, joined, limited_by_others, shown_inputs
from robustcs.reporting.names import Names
from robustcs.reporting.sections import notes_of, opening, opens, policy_of, section, tables_of
from robustcs.reporting.store import Store, library_versions
from robustcs.reporting.turns import turn_cards
from robustcs.studies.registry import questions
from robustcs.studies.study import Question
from robustcs.version import __version__
from robustcs.wording import counted, merged

#: Parts that answer no question: the cards of turns, and the state that ``robustcs compare`` reads later.
_SHAPES = {"turns": Turns, "state": str}


@dataclass(frozen=True)
class Report:
    """A report. ``files``: name inside its folder → contents. ``computed``: the parts that were not kept from before."""

    document: Document
    files: Mapping[str, bytes]
    computed: Sequence[str]


@reading_once()
def make_report(
    project: Project,
    *,
    folder: Path = Path(),
    command: str = "",
    jobs: Jobs = HERE,
    track: Track = untracked,
    tell: Callable[[str], None] = lambda message: None,
    store: Store | None = None,
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
    store = store or Store(None)
    protect_inputs(project)
    project = with_fields(project)
    source_date()  # an invalid date is an error before the work, not after it
    names = Names(folder)
    every = {question.name: question for question in questions(project)}
    start = "name your files in robustcs.toml, which robustcs init writes from a folder"
    needs(
        any(question.given(project) for question in every.values() if not question.joins),
        "nothing-to-report",
        "no analysis has all its inputs",
        start,
    )
    parts, failed = _parts(project, every.values())
    parts |= dict.fromkeys(_SHAPES, _turn_part(project))
    depends = {name: names.described(part) for name, part in parts.items()}
    found = {name: store.find(name, depends[name], _SHAPES.get(name, Kept)) for name in parts}
    answered: dict[str, list[Kept]] = {}
    for name, part in parts.items():
        if name == "turns" and not answered.keys() - failed:
            needed = "; ".join(_lacking(project, every.values(), failed, names))
            raise UsageError("nothing-to-report", "no analysis has all its inputs", needed or start)
        question = every.get(name)
        if title := question.title if question else {"turns": "Every turn"}.get(name):
            tell(title)
        if found[name] is None:
            try:
                with store.remembering():
                    if question:
                        result = ask(question, part, names, jobs, track)
                    else:
                        result = json.dumps({"turns": _turns, "state": _state}[name](part, names, jobs, track))
            except UsageError as error:
                if question is None:
                    raise
                failed[question.key] = error
                continue
            found[name] = store.keep(name, depends[name], result, _SHAPES.get(name, Kept))
        if question:
            answered.setdefault(question.key, []).append(found[name])
    sections = [question for question in every.values() if not question.joins and question.key in answered.keys() - failed]
    kept_answers = limited_by_others([joined(answered[question.key]) for question in sections])
    answers = list(zip(sections, kept_answers, strict=True))
    lacking = _lacking(project, every.values(), failed, names)
    turns, state = found["turns"], found["state"]
    store.prune()
    inputs = _unique(entry for _, kept in [*answers, (None, turns)] for entry in kept["inputs"])
    document = _document(project, answers, lacking, inputs, turns["cards"], command)
    files = {name: value for _, kept in answers for name, value in files_of(kept).items()}
    files |= {f"tables/{slug}.tex": text.encode("utf-8", "replace") for slug, text in document.latex.items()}
    files |= {STATE: state.encode()} if state else {}
    tell("HTML and PDF")
    files |= {"report.html": render_html(document).encode("utf-8", "replace"), "report.pdf": render_pdf(document)}
    return Report(document, files, store.computed)


def _parts(project: Project, every: Iterable[Question]) -> tuple[dict[str, Project], dict[str, UsageError]]:
    """Return the part of the project that each question reads, by name, and, by key, why a section cannot be answered."""
    parts, failed, part = {}, {}, project
    for question in every:
        try:
            part = part if question.joins else question.part(project)
        except UsageError as error:
            failed[question.key] = error
        if question.key not in failed:
            parts[question.name] = part if question.texts else _without_texts(part)
    return parts, failed


def _without_texts(project: Project) -> Project:
    """Return the project without the texts of formulations that can be scored; an error names those that cannot."""
    scored = {key: part for key, part in project.formulations.items() if part.run or part.scores or part.answers}
    parts = {key: replace(part, rewrites=()) for key, part in scored.items()}
    return replace(project, formulations={**project.formulations, **parts})


def _lacking(project: Project, every: Iterable[Question], failed: Mapping[str, UsageError], names: Names) -> list[str]:
    """Return the unanswered questions that have some of their inputs, with the missing inputs."""
    some = [question for question in every if question.key in failed and not question.joins and question.given(project)]
    return [f"{question.title} ({names.hide(str(failed[question.key]))})" for question in some]


def _turn_part(project: Project) -> Project:
    keys = ("qrels", "answers", "gold", "collection", "runs", "metrics", "thresholds", "policy", "seed")
    part = only(project, keys, ("run", "scores", "answers", "rewrites"))
    given = part.systems.values()
    cells = {name: path for name, path in project.components.items() if path not in given}
    return replace(part, runs={**part.runs, **cells})


def _turns(part: Project, names: Names, jobs: Jobs, track: Track) -> dict[str, Any]:
    workspace = Workspace(part, jobs, track)
    cards = turn_cards(workspace)
    inputs = shown_inputs(workspace, names)
    if part.collection:
        name, checksum = names.shown(part.collection), names.checksum(part.collection)
        inputs.append({"role": "collection", "path": name, "sha256": checksum, "rows": None})
    return {"cards": cards, "inputs": inputs}


def _state(part: Project, names: Names, jobs: Jobs, track: Track) -> str:
    """Return the state that ``robustcs compare`` reads later; empty for a project without systems."""
    workspace = Workspace(part, jobs, track)
    try:
        state, _ = state_of(workspace)
    except UsageError:
        return ""
    return replace(state, inputs=shown_inputs(workspace, names)).to_json()  # type: ignore[arg-type]


def _unique(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each file once, under the first role that it was read for."""
    found: dict[str, dict[str, Any]] = {}
    for entry in entries:
        found.setdefault(entry["path"], entry)
    return list(found.values())


def _document(
    project: Project,
    answers: Sequence[tuple[Question, Kept]],
    lacking: Sequence[str],
    inputs: Sequence[Mapping[str, Any]],
    turns: Mapping[str, Any],
    command: str,
) -> Document:
    """Return the document: the first screen and one section per question."""
    notes: list[str] = [note for _, kept in answers for note in notes_of(kept)]
    first = opens(answers)
    notes += [f"Not answered: {what}" for what in lacking]
    return Document(
        title=project.name,
        blocks=tuple(block for question, kept in answers for block in section(project, question, kept, kept is first)),
        policy=_policy(answers),
        notes=merged(notes),
        provenance=_provenance(project, inputs, command),
        opening=opening(project, answers),
        latex={
            table.slug: render_latex([table], policy_of(kept), merged(notes_of(kept)))
            for _, kept in answers for table in tables_of(project, kept)
        },
        turns=turns if turns["turns"] else {},
    )  # fmt: skip


def _policy(answers: Sequence[tuple[Question, Kept]]) -> str:
    """Return the policy line of the answer that opens the report."""
    line = policy_of(opens(answers))
    return line if all(policy_of(kept) == line for _, kept in answers) else f"{line} · each section ends with its own policy"


def _provenance(project: Project, inputs: Sequence[Mapping[str, Any]], command: str) -> tuple[tuple[str, str], ...]:
    libraries = ", ".join(f"{name} {number}" for name, number in library_versions().items())
    rows = [("Program", f"robustcs {__version__}")]
    rows += [("Command", command)] if command else []
    rows += [
        # Python is left out: with any version of it, results and a committed report are the same
        ("Libraries", libraries),
        ("Date", report_day()),
        ("Seed", str(project.seed)),
    ]
    for entry in inputs:
        count = f" · {counted(entry['rows'], 'row')}" if entry["rows"] is not None else ""
        count += f", {entry['skipped']:,} skipped" if "skipped" in entry else ""
        digest = f" · SHA-256 {entry['sha256']}" if entry["sha256"] else ""
        rows.append((f"Input: {entry['role']}", f"{entry['path']}{count}{digest}"))
    return tuple(rows)
