"""The tables of a check, and the commands that can run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robustcs.documents.document import Block, Paragraph
from robustcs.documents.tables import result_table
from robustcs.result import text
from robustcs.studies.check.analysis import JUDGED_AT, Check
from robustcs.wording import counted


def show(result: Check) -> tuple[Block, ...]:
    """Return the tables of files, skipped rows, runs and texts that have rows, and the commands."""
    what = {"runs": "judged turn", "scores": "scored turn"}.get(result.evaluated.basis, "")
    of = f"{counted(result.evaluated.turns, what)}." if what else ""
    files = result_table(
        result, "files", "Files",
        ["role", "path", "rows", (text(" "), _state)],
    )  # fmt: skip
    skipped = result_table(
        result, "skipped", "Which rows were skipped?", ["role", "path", "line", "why"]
    )
    runs = result_table(
        result, "runs", "Do the runs fit the judgments?",
        [
            "system", "turns", "missing", "extra", "depth_min",
            (result.spec("runs").field("depth_median"), lambda row: f"{row.depth_median:g}"), "depth_max",
            *(f"judged_{k}" for k in JUDGED_AT)
        ],
        f"{of} Extra turns are not evaluated.",
    )  # fmt: skip
    texts = result_table(
        result, "texts", "Do the texts fit the judgments?",
        ["formulation", "texts", "without", "extra", "unanswered", "unchanged"], of,
    )  # fmt: skip
    return (*(table for table in (files, skipped, runs, texts) if table.rows), *_commands(result))


def _state(row: Any) -> str:
    if row.problem:
        return "unusable"
    return f"{row.skipped:,} skipped" if row.skipped else "ok"


def _commands(result: Check) -> Iterator[Block]:
    """Yield the commands that can run, those that cannot although they have an input, and what would allow further ones."""
    rows = result.rows("commands")
    ready = [row.command for row in rows if row.runs]
    yield Paragraph(
        f"These commands can run: {', '.join(ready)}."
        if ready
        else "No command can run on these inputs."
    )
    others = [row for row in rows if not row.runs]
    incomplete = [row for row in others if row.command not in result.without_input]
    if incomplete:
        yield result_table(
            result,
            "commands",
            "Which commands cannot run, and what do they need?",
            ["command", (text(" "), lambda row: "; ".join(filter(None, (row.because, row.give))))],
            rows=incomplete,
        )
    further: dict[str, list[str]] = {}
    for row in others:
        if row not in incomplete:
            further.setdefault(result.without_input[row.command], []).append(row.command)
    if further:
        inputs = [f"{what} ({', '.join(commands)})" for what, commands in further.items()]
        yield Paragraph(f"Further inputs answer further questions: {', '.join(inputs)}.")
