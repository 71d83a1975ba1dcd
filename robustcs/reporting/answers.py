"""The answer to a question as JSON, with their figures drawn, so that they can be kept."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Annotated, Any, TypedDict

from robustcs.documents.data import columns_of, rows_as_json, to_csv, to_json
from robustcs.documents.document import Block, Cards, Figure, Heading, Paragraph, Picture, Table, Verdict
from robustcs.documents.figures import draw_picture, figure_pdf, svg_file
from robustcs.documents.text import unique_anchor
from robustcs.evaluation.state import InputState
from robustcs.kept import encode
from robustcs.project.model import Project
from robustcs.project.parallel_io import Jobs
from robustcs.project.reader import Track
from robustcs.project.report_files import INSIDE, KEPT
from robustcs.project.trust import Limit, limited, limits_of_names, limits_of_qrels, limits_of_result, limits_of_rows
from robustcs.project.workspace import Workspace
from robustcs.reporting.headlines import of_question
from robustcs.reporting.names import Names
from robustcs.result import Evaluated
from robustcs.studies.study import Answer, Question
from robustcs.version import __version__
from robustcs.wording import Note

#: The place of a block: figures are 0, then come the tables of the question, then texts to read; other tables are -1, and
#: headings -2.
READ, OTHER, HEAD = 1_000, -1, -2


#: The place of a table's rows in a result, as several questions may compute them; JSON contains no such character.
_ROWS = re.compile("\0(.*?)\0")


class Base64(TypedDict):
    """Bytes as base64."""

    base64: str


#: A block as it is kept: its figures are drawn.
Shown = Heading | Paragraph | Table | Picture | Cards


def _can_be_written(files: Mapping[str, str | Base64]) -> bool:
    """Return whether all names are those of files inside the folder of a report, with readable contents."""
    return all(INSIDE.fullmatch(name) and contents(value) is not None for name, value in files.items())


class Kept(TypedDict):
    """The answer to a question of the report, as it is kept.

    ``limits`` are those of all verdicts of its section, ``shared`` those of all other sections that rest on judgments.
    ``blocks`` are its blocks, each with its place: 0 for figures, from 1 for the main tables, :data:`READ`, :data:`OTHER` or
    :data:`HEAD`. ``overview`` is the table and the figure that may open the report. ``notes`` are their text, kind and
    subjects. ``rows`` are the tables of results: see :data:`_ROWS`.
    """

    findings: list[str]
    verdicts: list[Verdict]
    limits: list[Limit]
    shared: list[Limit]
    reading: str
    overview: list[Shown]
    blocks: list[tuple[Shown, int]]
    policy: str
    skipped: list[str]
    notes: list[tuple[str, str, tuple[tuple[str, str], ...]]]
    inputs: list[InputState]
    files: Annotated[dict[str, str | Base64], _can_be_written]
    rows: dict[str, str]


class Turns(TypedDict):
    """All turns, as they are kept; :mod:`robustcs.reporting.turns` describes the cards."""

    cards: dict[str, Any]
    inputs: list[InputState]


def ask(question: Question, part: Project, names: Names, jobs: Jobs, track: Track) -> str:
    """Answer a question, and return a :class:`Kept` as JSON."""
    workspace = Workspace(part, jobs, track)
    answer = question.answer(workspace)
    inputs = shown_inputs(workspace, names)
    found = _placed(answer.blocks, question.tables) + [(block, READ) for block in answer.to_read]
    blocks = _with_unique_slugs(question.key, [*answer.overview, *(block for block, _ in found)])
    files: dict[str, Any] = {}
    shown: list[Block | Picture] = []
    for block in blocks:
        if isinstance(block, Figure):
            picture, drawn = _draw(block)
            files |= drawn
            shown.append(picture)
        else:
            shown.append(block)
    evaluated = answer.result.evaluated
    data, rows = _data_files(question, answer, inputs, workspace)
    kept = {
        "findings": answer.findings,
        "verdicts": encode(_verdicts(question.key, answer, workspace)),
        "limits": encode([*limits_of_rows(workspace.skipped), *_limits_of_names(workspace)]),
        "shared": encode(list(answer.limits)),
        "reading": answer.reading,
        "overview": encode(shown[: len(answer.overview)]),
        "blocks": encode(list(zip(shown[len(answer.overview) :], (place for _, place in found), strict=True))),
        "policy": _stated(workspace, evaluated, ()).policy_line,
        "skipped": workspace.skipped_in_words,
        "notes": [*map(Note.parts, (*workspace.misfits, *evaluated.notes, *workspace.notes))],
        "inputs": inputs,
        "files": files | data,
        "rows": rows,
    }
    # tables may contain names of files
    return names.hide(json.dumps(kept, ensure_ascii=False))


def joined(answers: Sequence[Kept]) -> Kept:
    """Return the answers of a section as one: lists without repetition, of files of one name the last, else the first."""
    whole: dict[str, Any] = dict(answers[0])
    for answer in answers[1:]:
        for key, value in answer.items():
            if isinstance(value, list):
                whole[key] = whole[key] + [one for one in value if one not in whole[key]]
            elif isinstance(value, dict):
                whole[key] = whole[key] | value
    return whole  # type: ignore[return-value]


def limited_by_others(answers: Sequence[Kept]) -> list[Kept]:
    """Return the answers with the limits that others set on them."""
    found: list[Any] = []
    for answer in answers:
        judged = any("qrels" in entry["role"].split(", ") for entry in answer["inputs"])
        others = [limit for other in answers if other is not answer and judged for limit in other["shared"]]
        found.append({**answer, "limits": answer["limits"] + others})
    return found


def files_of(kept: Kept) -> dict[str, bytes]:
    """Return the files of a section, with the rows of all tables."""
    texts = {name: value for name, value in kept["files"].items() if isinstance(value, str) and name.endswith(".json")}
    whole = {name: _ROWS.sub(lambda found: kept["rows"].get(found[1], "[]"), text) for name, text in texts.items()}
    return {name: contents(value) for name, value in {**kept["files"], **whole}.items()}


def _verdicts(key: str, answer: Answer, workspace: Workspace) -> list[Verdict]:
    """Return the verdicts of an answer, each with the conditions that limit it, except those of :class:`Kept`."""
    read = workspace.project.qrels and any("qrels" in entry["role"].split(", ") for entry in workspace.read)
    limits = limits_of_qrels(workspace.qrels) if read else []  # [clariq] has its own qrels
    limits += limits_of_result(answer.result.evaluated, answer.family)
    return [limited(of_question(key, verdict), limits) for verdict in answer.verdicts]


def _limits_of_names(workspace: Workspace) -> list[Limit]:
    return limits_of_names(workspace.project, {entry["path"] for entry in workspace.read})


def shown_inputs(workspace: Workspace, names: Names) -> list[dict[str, Any]]:
    """Return the inputs that were read, with names as the report shows them."""
    return [{**entry, "path": names.shown(entry["path"])} for entry in workspace.inputs]


def contents(value: str | Base64) -> bytes:
    """Return a file of a kept answer as bytes."""
    return value.encode("utf-8", "replace") if isinstance(value, str) else base64.b64decode(value["base64"])


def _placed(blocks: Sequence[Block], tables: Sequence[str]) -> list[tuple[Block, int]]:
    """Return the blocks with their places: first the figures, then under each heading the tables by their place."""
    heading, keys = 0, []
    for block in blocks:
        heading += isinstance(block, Heading)
        if isinstance(block, Figure):
            keys.append((0, 0))
        elif isinstance(block, Table):
            keys.append((heading, tables.index(block.of) + 1 if block.of in tables else OTHER))
        else:
            keys.append((heading, HEAD if isinstance(block, Heading) else READ))
    placed = sorted(zip(keys, blocks, strict=True), key=itemgetter(0))
    return [(block, place) for (_, place), block in placed]


def _draw(figure: Figure) -> tuple[Picture, dict[str, Any]]:
    """Return the figure for the report, and its files: at the width of a page, and of a column if that differs."""
    picture = draw_picture(figure)
    files: dict[str, Any] = {}
    for name, svg in ((figure.slug, picture.svg), (f"{figure.slug}-column", picture.column)):
        if svg:
            files[f"figures/{name}.svg"] = svg_file(svg)
            files[f"figures/{name}.pdf"] = {"base64": base64.b64encode(figure_pdf(svg)).decode()}
    return picture, files


def _stated(workspace: Workspace, evaluated: Evaluated, skipped: Sequence[str]) -> Evaluated:
    return replace(evaluated, collections=workspace.collections_read, skipped=tuple(skipped))


def _data_files(
    question: Question, answer: Answer, inputs: Sequence[Mapping[str, Any]], workspace: Workspace
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the result as JSON with :data:`_ROWS`, each of its exported tables as CSV, and their rows."""
    result, name = answer.result, answer.result.study
    stem = name if question.key in (name, "breakdown") else f"{question.key}-{name}"
    evaluated = _stated(workspace, result.evaluated, workspace.skipped_in_words)
    tables = {table: columns_of(result.table(table)) for table in answer.exported or result.tables}
    places = {table: f"\0{stem}-{table}\0" for table in result.tables}
    as_json = to_json(name, __version__, evaluated.as_dict(), inputs, places, evaluated.notes)
    files = {f"tables/{stem}-{table}.csv": to_csv(columns) for table, columns in tables.items()}
    rows = {f"{stem}-{table}": rows_as_json(columns) for table, columns in tables.items()}
    return {f"{KEPT}/results/{stem}.json": as_json} | files, rows


def _with_unique_slugs(key: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with slugs that start with the question's key, are safe as file names, and are unique in a report."""
    taken: set[str] = set()
    unique: list[Block] = []
    for block in blocks:
        if isinstance(block, Table | Figure | Cards):
            name = block.slug if block.slug == key or block.slug.startswith(f"{key}-") else f"{key}-{block.slug}"
            block = replace(block, slug=unique_anchor(name, taken))
        unique.append(block)
    return unique
