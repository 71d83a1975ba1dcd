"""From a project to its report: the document, and the files of its folder."""

from __future__ import annotations

import base64
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from robustcs.documents.data import to_csv, to_json
from robustcs.documents.dates import source_date
from robustcs.documents.document import Block, Cards, Document, Figure, Heading, Layers, Paragraph, Picture, Table
from robustcs.documents.figures import figure_bytes, svg_file, svg_text
from robustcs.documents.html import render_html
from robustcs.documents.latex import render_latex
from robustcs.documents.pdf import render_pdf
from robustcs.documents.text import anchor
from robustcs.errors import UsageError
from robustcs.project.files import protect_inputs
from robustcs.project.model import Project
from robustcs.project.parts import only
from robustcs.project.reader import Track
from robustcs.project.state import STATE, state_of
from robustcs.project.workspace import Workspace
from robustcs.reporting.codec import decode, encode
from robustcs.reporting.names import Names
from robustcs.reporting.store import Store, library_versions
from robustcs.reporting.turns import turn_cards
from robustcs.studies.registry import questions
from robustcs.studies.study import Answer, Question
from robustcs.version import __version__

#: Inputs named below the title; all stand in the provenance.
_NAMED_INPUTS = 6


@dataclass(frozen=True)
class Report:
    """``files``: name inside the report's folder → contents. ``computed``: what was not kept from before."""

    document: Document
    files: Mapping[str, bytes]
    computed: Sequence[str]


def make_report(
    project: Project,
    *,
    folder: Path = Path(),
    command: str = "",
    jobs: int = 1,
    track: Track = lambda items, what, total: items,
    tell: Callable[[str], None] = lambda message: None,
    store: Store | None = None,
) -> Report:
    """Ask every question that the project's inputs allow, and put the answers into one document and a folder of files.

    What could not be asked is named with what it would need. ``folder`` is that of the project file, to which inputs are
    named relative; ``command`` stands in the provenance; ``tell`` is told of every question before it is answered.

    Raises :class:`UsageError` where nothing could be asked, and :class:`InputError` for a broken file.
    """
    protect_inputs(project)
    source_date()  # a wrong one is told before the work
    store = store or Store(None)
    names = Names(folder)
    answers: list[tuple[Question, dict[str, Any]]] = []
    left_out: list[str] = []
    for section in questions():
        question = section[0]
        try:
            part = question.part(project)
            tell(question.title)
            ask = partial(_ask, section, part, names, jobs, track)
            kept = store.get(question.key, names.described(part), ask)
        except UsageError as error:
            left_out.append(f"{question.title} ({names.hide(str(error))})")
            continue
        answers.append((question, kept))
    if not answers:
        raise UsageError("nothing-to-report", "no analysis has the inputs it needs", "; ".join(left_out))
    tell("Every turn")
    part = _turn_part(project)
    turns = store.get("turns", names.described(part), lambda: _turns(part, names, jobs, track))
    state = store.get("state", names.described(part), lambda: _state(part, names, jobs, track))
    store.prune()
    inputs = _unique(entry for _, kept in [*answers, (None, turns)] for entry in kept["inputs"])
    page, printed = (_document(project, answers, left_out, inputs, turns["cards"], command, whole) for whole in (True, False))
    files = {name: _bytes(value) for _, kept in answers for name, value in kept["files"].items()}
    files |= {STATE: state.encode()} if state else {}
    tell("HTML and PDF")
    files |= {"report.html": render_html(page).encode("utf-8", "replace"), "report.pdf": render_pdf(printed)}
    return Report(page, files, store.computed)


def _ask(section: Sequence[Question], part: Project, names: Names, jobs: int, track: Track) -> dict[str, Any]:
    """The answers of a section in the form that is kept: JSON, figures drawn.

    ``places``: for each block what it is sorted by, as :func:`_place` says.
    """
    workspace = Workspace(part, jobs, track)
    answers = [question.answer(workspace) for question in section]
    first, key = answers[0], section[0].key
    inputs = _shown_inputs(workspace, names)
    found = [(block, question.tables) for question, answer in zip(section, answers, strict=True) for block in answer.blocks]
    to_read = [block for answer in answers for block in answer.to_read]
    if to_read:
        found += [(block, ()) for block in (Heading("Turns to read", 2), *to_read)]
    shown: list[Block | Picture] = []
    files: dict[str, Any] = {}
    for block in _with_unique_slugs(key, [block for block, _ in found]):
        if isinstance(block, Figure):
            picture, drawn = _draw(block)
            files |= drawn
            shown.append(picture)
            continue
        if isinstance(block, Table):
            text = render_latex([block], first.evaluated.policy_line, first.evaluated.notes)
            files[f"tables/{block.slug}.tex"] = text
        shown.append(block)
    for question, answer in zip(section, answers, strict=True):
        files |= _data_files(question, answer, inputs)
    return {
        "findings": [finding for answer in answers for finding in answer.findings],
        "reading": first.reading,
        "blocks": encode(shown),
        "places": [_place(block, tables) for block, (_, tables) in zip(shown, found, strict=True)],
        "policy": first.evaluated.policy_line,
        "scored": first.evaluated.basis != "texts",
        "notes": [*(note for answer in answers for note in answer.evaluated.notes), *workspace.notes],
        "inputs": inputs,
        "files": files,
    }


def _place(block: Block | Picture, tables: Sequence[str]) -> int:
    """Figures, then the tables of the question, then all that follows, such as turns to read; -1 for the other tables."""
    if isinstance(block, Picture):
        return 0
    if not isinstance(block, Table):
        return len(tables) + 1
    return tables.index(block.of) + 1 if block.of in tables else -1


def _draw(figure: Figure) -> tuple[Picture, dict[str, Any]]:
    """The figure as it stands in the report, and as files of its own."""
    drawn = figure.draw()
    svg = svg_text(drawn, figure.slug, figure.alt)
    picture = Picture(figure.slug, figure.caption, figure.alt, svg, drawn.get_figwidth())
    pdf = figure_bytes(drawn, "pdf")
    return picture, {
        f"figures/{figure.slug}.svg": svg_file(svg),
        f"figures/{figure.slug}.pdf": {"base64": base64.b64encode(pdf).decode()},
    }


def _data_files(question: Question, answer: Answer, inputs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Every result as JSON, and each of its tables as CSV."""
    files = {}
    for name, result in answer.results.items():
        stem = name if question.key in (name, "breakdown") else f"{question.key}-{name}"
        evaluated = result.evaluated
        files[f"results/{stem}.json"] = to_json(name, __version__, evaluated.as_dict(), inputs, result.tables, evaluated.notes)
        files |= {f"tables/{stem}-{table}.csv": to_csv(frame) for table, frame in result.tables.items()}
    return files


def _bytes(value: Any) -> bytes:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else str(value).encode("utf-8", "replace")


def _turn_part(project: Project) -> Project:
    keys = ("qrels", "gold", "collection", "runs", "metrics", "thresholds", "policy", "seed")
    return only(project, keys, ("run", "scores", "answers", "rewrites"))


def _turns(part: Project, names: Names, jobs: int, track: Track) -> dict[str, Any]:
    workspace = Workspace(part, jobs, track)
    cards = turn_cards(workspace)
    inputs = _shown_inputs(workspace, names)
    if part.collection:
        name, checksum = names.shown(part.collection), names.checksum(part.collection)
        inputs.append({"role": "collection", "path": name, "sha256": checksum, "rows": None})
    return {"cards": cards, "inputs": inputs}


def _state(part: Project, names: Names, jobs: int, track: Track) -> str:
    """What ``robustcs compare`` needs later; empty for a project without systems."""
    workspace = Workspace(part, jobs, track)
    try:
        state, _ = state_of(workspace)
    except UsageError:
        return ""
    return replace(state, inputs=_shown_inputs(workspace, names)).to_json()


def _shown_inputs(workspace: Workspace, names: Names) -> list[dict[str, Any]]:
    return [{**entry, "path": names.shown(entry["path"])} for entry in workspace.inputs]


def _unique(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each file once, under the first role that it was read for."""
    found: dict[str, dict[str, Any]] = {}
    for entry in entries:
        found.setdefault(entry["path"], entry)
    return list(found.values())


def _with_unique_slugs(key: str, blocks: Sequence[Block]) -> list[Block]:
    """Slugs that start with the question's key, are safe as names of files, and stand once in a report."""
    taken: set[str] = set()
    unique: list[Block] = []
    for block in blocks:
        if isinstance(block, Table | Figure | Cards | Layers):
            stem = anchor(block.slug if block.slug == key or block.slug.startswith(f"{key}-") else f"{key}-{block.slug}")
            slug, number = stem, 2
            while slug in taken:
                slug, number = f"{stem}-{number}", number + 1
            taken.add(slug)
            block = replace(block, slug=slug)
        unique.append(block)
    return unique


def _split(kept: Mapping[str, Any]) -> tuple[list[Block | Picture], list[Block | Picture]]:
    """What everybody should see, the tables in the order of the question, and the other tables; heading by heading."""
    parts: list[list[tuple[Block | Picture, int]]] = [[]]
    for block, place in zip(decode(kept["blocks"]), kept["places"], strict=True):
        if isinstance(block, Heading):
            parts.append([])
        parts[-1].append((block, place))
    main: list[Block | Picture] = []
    further: list[Block | Picture] = []
    for part in parts:
        head, rest = part[:1], part[1:]
        if head and not isinstance(head[0][0], Heading):
            head, rest = [], part
        shown = [block for block, place in sorted(rest, key=lambda item: item[1]) if place >= 0]
        main += [*(block for block, _ in head), *shown] if shown else []
        further += [block for block, place in rest if place < 0]
    return main, further


def _document(
    project: Project,
    answers: Sequence[tuple[Question, dict[str, Any]]],
    left_out: Sequence[str],
    inputs: Sequence[Mapping[str, Any]],
    turns: Mapping[str, Any],
    command: str,
    whole: bool,
) -> Document:
    """All of it for the page, or (not ``whole``) what is printed."""
    blocks: list[Block | Picture] = [Heading("Findings")]
    blocks += [Paragraph("\n".join(kept["findings"]), question.title) for question, kept in answers if kept["findings"]]
    notes: list[str] = []
    for question, kept in answers:
        main, further = _split(kept)
        if not whole:  # layers of colour need the page
            main = [block for block in main if not isinstance(block, Layers)]
        blocks += [Heading(question.title), Paragraph(kept["reading"]), *main]
        if further and whole:
            blocks += [Heading("Further tables", 2), *further]
        elif further:
            blocks.append(Paragraph(f"{len(further)} further tables stand in report.html and in the folder tables."))
        blocks.append(Paragraph(f"Evaluated: {kept['policy']}."))
        notes += kept["notes"]
    notes += [f"Left out: {what}" for what in left_out]
    head = _head([kept for _, kept in answers])
    named = [str(entry["path"]) for entry in inputs]
    more = f" and {len(named) - _NAMED_INPUTS} more" if len(named) > _NAMED_INPUTS else ""
    return Document(
        title=f"{project.name}: a robustcs report",
        blocks=tuple(blocks),
        policy=head,
        notes=tuple(dict.fromkeys(notes)),
        provenance=_provenance(project, inputs, command),
        lead=(head, f"Inputs: {', '.join(named[:_NAMED_INPUTS])}{more}; checksums stand at the end."),
        turns=turns if turns["turns"] else {},
    )


def _head(answers: Sequence[Mapping[str, Any]]) -> str:
    """What the scores go over: the policy line that most questions share, and how many of them where not all do."""
    lines = [str(kept["policy"]) for kept in answers if kept["scored"]] or [str(kept["policy"]) for kept in answers]
    line, number = Counter(lines).most_common(1)[0]
    if number == len(lines):
        return line
    return f"{line} · so in {number} of {len(lines)} sections with scores; each says at its end what it goes over"


def _provenance(project: Project, inputs: Sequence[Mapping[str, Any]], command: str) -> tuple[tuple[str, str], ...]:
    day = time.strftime("%Y-%m-%d", time.gmtime(source_date()))
    libraries = ", ".join(f"{name} {number}" for name, number in library_versions().items())
    rows = [("Program", f"robustcs {__version__}")]
    rows += [("Command", command)] if command else []
    rows += [
        ("Libraries", f"Python {platform.python_version()}, {libraries}"),
        ("Date", day),
        ("Seed", str(project.seed)),
    ]
    for entry in inputs:
        count = f" · {entry['rows']:,} rows" if entry["rows"] is not None else ""
        digest = f" · SHA-256 {entry['sha256']}" if entry["sha256"] else ""
        rows.append((f"Input: {entry['role']}", f"{entry['path']}{count}{digest}"))
    return tuple(rows)
