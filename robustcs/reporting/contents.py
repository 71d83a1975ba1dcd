"""The content of a section of the report: its blocks with figures drawn, its verdicts with their limits, and its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Literal

from robustcs.documents.data import columns_of, to_csv, to_json
from robustcs.documents.document import (
    Block,
    Cards,
    Figure,
    Heading,
    Paragraph,
    Picture,
    TableBlock,
    TurnSet,
    Verdict,
)
from robustcs.documents.figures import draw_picture, figure_pdf, svg_file
from robustcs.documents.text import unique_anchor
from robustcs.project.report_files import RESULTS
from robustcs.project.trust import (
    Limit,
    limited,
    limits_of_names,
    limits_of_qrels,
    limits_of_result,
    limits_of_rows,
)
from robustcs.project.workspace import Workspace
from robustcs.records.schema import InputFile
from robustcs.reporting.headlines import of_question
from robustcs.reporting.names import Names
from robustcs.result import Evaluated
from robustcs.studies.study import Question, SectionContent
from robustcs.version import __version__
from robustcs.wording import shortened

#: A block whose figures are drawn.
Shown = Heading | Paragraph | TableBlock | Picture | Cards
#: ``main``: a figure, or a table that the question names. ``other``: another table, only in the page. ``read``: texts to read.
Kind = Literal["heading", "main", "other", "read"]


@dataclass(frozen=True)
class Section:
    """What a section of the report shows, and its files.

    verdicts
        Each with the conditions that limit it, except ``limits``.
    limits
        Limits of all verdicts of the section, from skipped rows, from roles that only a name suggests, and from other sections.
    shared
        Limits of the verdicts of all other sections that rest on judgments.
    overview
        The table and the figure that may open the report.
    blocks
        Figures first, then the other blocks under their headings, each with its kind.
    turns
        Sets of turns to read, each with at least one turn.
    skipped
        Skipped rows of the inputs, in words, for the policy line.
    files
        Name in the report's folder → contents.
    """

    findings: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    limits: tuple[Limit, ...]
    shared: tuple[Limit, ...]
    reading: str
    overview: tuple[Shown, ...]
    blocks: tuple[tuple[Shown, Kind], ...]
    policy: str
    skipped: tuple[str, ...]
    notes: tuple[str, ...]
    inputs: tuple[InputFile, ...]
    files: Mapping[str, bytes]
    turns: tuple[TurnSet, ...] = ()

    @property
    def judged(self) -> bool:
        """Whether the section rests on judgments."""
        return any("qrels" in entry["role"].split(", ") for entry in self.inputs)

    @property
    def policy_line(self) -> str:
        """The policy line, with the skipped rows of the inputs."""
        return " · ".join([self.policy, *shortened(self.skipped)])

    def continued(self, other: Section) -> Section:
        """Return the section with the content of another one after its own; policy and reading remain."""

        def both(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
            return (*one, *(item for item in other if item not in one))

        return replace(
            self,
            findings=both(self.findings, other.findings),
            verdicts=both(self.verdicts, other.verdicts),
            limits=both(self.limits, other.limits),
            shared=both(self.shared, other.shared),
            overview=both(self.overview, other.overview),
            blocks=both(self.blocks, other.blocks),
            turns=both(self.turns, other.turns),
            skipped=both(self.skipped, other.skipped),
            notes=both(self.notes, other.notes),
            inputs=both(self.inputs, other.inputs),
            files={**self.files, **other.files},
        )


def section_of(question: Question, workspace: Workspace, names: Names) -> Section:
    """Return the section of a question. Raises :class:`UsageError` if its inputs are missing."""
    workspace = workspace.of(question.inputs(workspace.project))
    content = question.content(workspace)
    inputs = shown_inputs(workspace, names)
    placed = list(_placed(content.blocks, question.tables))
    kinds = [kind for _, kind in placed]
    blocks = _with_unique_slugs(question.key, [*content.overview, *(block for block, _ in placed)])
    files: dict[str, bytes] = {}
    shown: list[Shown] = []
    for block in blocks:
        if isinstance(block, Figure):
            picture, drawn = _draw(block)
            files |= drawn
            shown.append(picture)
        else:
            shown.append(block)
    data = _data_files(question, content, inputs, workspace)
    evaluated = content.result.evaluated
    first = len(content.overview)
    section = Section(
        findings=content.findings,
        verdicts=_verdicts(question.key, content, workspace),
        limits=(*limits_of_rows(workspace.skipped), *_limits_of_names(workspace)),
        shared=tuple(content.limits),
        reading=content.reading,
        overview=tuple(shown[:first]),
        blocks=tuple(zip(shown[first:], kinds, strict=True)),
        turns=tuple(one for one in content.turns if one.count),
        policy=_stated(workspace, evaluated, ()).policy_line,
        skipped=tuple(workspace.skipped_in_words),
        notes=(*workspace.misfits, *evaluated.notes, *workspace.notes),
        inputs=tuple(inputs),
        files=files
        | {name: names.hide(text).encode("utf-8", "replace") for name, text in data.items()},
    )
    return names.hide(section)  # tables and notes may contain names of files


def _limits_of_names(workspace: Workspace) -> list[Limit]:
    return limits_of_names(workspace.project, {entry["path"] for entry in workspace.read})


def limited_by_others(sections: Sequence[Section]) -> list[Section]:
    """Return the sections with the limits that others set on those that rest on judgments."""
    return [
        replace(
            one,
            limits=(
                *one.limits,
                *(limit for other in sections if other is not one for limit in other.shared),
            ),
        )
        if one.judged
        else one
        for one in sections
    ]


def shown_inputs(workspace: Workspace, names: Names) -> list[InputFile]:
    """Return the inputs that were read, with names as the report shows them."""
    return [{**entry, "path": names.shown(entry["path"])} for entry in workspace.inputs]  # type: ignore[typeddict-item]


def _verdicts(key: str, content: SectionContent, workspace: Workspace) -> tuple[Verdict, ...]:
    """Return the verdicts of a section, each with the conditions that limit it, except those of :class:`Section`."""
    read = workspace.project.qrels and any(
        "qrels" in entry["role"].split(", ") for entry in workspace.read
    )
    limits = limits_of_qrels(workspace.qrels) if read else []  # [clariq] has its own qrels
    limits += limits_of_result(content.result.evaluated, content.family)
    return tuple(limited(of_question(key, verdict), limits) for verdict in content.verdicts)


def _placed(blocks: Sequence[Block], tables: Sequence[str]) -> Iterable[tuple[Block, Kind]]:
    """Return the blocks with their kinds: first the figures, then under each heading the tables in the order of ``tables``."""
    heading = 0
    placed: list[tuple[tuple[int, int], Block, Kind]] = []
    for block in blocks:
        heading += isinstance(block, Heading)
        if isinstance(block, Figure):
            placed.append(((0, 0), block, "main"))
        elif isinstance(block, Heading):
            placed.append(((heading, -2), block, "heading"))
        elif not isinstance(block, TableBlock):
            placed.append(((heading, len(tables) + 1), block, "read"))
        elif block.of in tables:
            placed.append(((heading, tables.index(block.of) + 1), block, "main"))
        else:
            placed.append(((heading, -1), block, "other"))
    return [(block, kind) for _, block, kind in sorted(placed, key=itemgetter(0))]


def _draw(figure: Figure) -> tuple[Picture, dict[str, bytes]]:
    """Return the figure for the report, and its files: at the width of a page, and of a column if that differs."""
    picture = draw_picture(figure)
    files: dict[str, bytes] = {}
    for name, svg in ((figure.slug, picture.svg), (f"{figure.slug}-column", picture.column)):
        if svg:
            files[f"figures/{name}.svg"] = svg_file(svg).encode("utf-8", "replace")
            files[f"figures/{name}.pdf"] = figure_pdf(svg)
    return picture, files


def _stated(workspace: Workspace, evaluated: Evaluated, skipped: Sequence[str]) -> Evaluated:
    return replace(evaluated, collections=workspace.collections_read, skipped=tuple(skipped))


def _data_files(
    question: Question, content: SectionContent, inputs: Sequence[InputFile], workspace: Workspace
) -> dict[str, str]:
    """Return the result as JSON, and each of its tables as CSV."""
    result, name = content.result, content.result.study
    stem = name if question.key in (name, "breakdown") else f"{question.key}-{name}"
    evaluated = _stated(workspace, result.evaluated, workspace.skipped_in_words)
    tables = {table: columns_of(result.table(table)) for table in result.tables}
    texts = {f"tables/{stem}-{table}.csv": to_csv(columns) for table, columns in tables.items()}
    texts[f"{RESULTS}/{stem}.json"] = to_json(
        name, __version__, evaluated.as_dict(), inputs, tables, evaluated.notes
    )
    return texts


def _with_unique_slugs(key: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with slugs that start with the question's key, are safe as file names, and are unique in a report."""
    taken: set[str] = set()
    unique: list[Block] = []
    for block in blocks:
        if isinstance(block, TableBlock | Figure | Cards):
            name = (
                block.slug
                if block.slug == key or block.slug.startswith(f"{key}-")
                else f"{key}-{block.slug}"
            )
            block = replace(block, slug=unique_anchor(name, taken))
        unique.append(block)
    return unique
