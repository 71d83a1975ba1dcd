"""The five tables of a check."""

from __future__ import annotations

from typing import Any

from robustcs.documents.document import Block
from robustcs.documents.tables import result_table
from robustcs.result import text
from robustcs.studies.check.analysis import JUDGED_AT, Check
from robustcs.wording import counted


def show(result: Check) -> tuple[Block, ...]:
    """Return the tables of files, skipped rows, runs, texts and commands that have rows."""
    what = {"runs": "judged turn", "scores": "scored turn"}.get(result.evaluated.basis, "")
    of = f"{counted(result.evaluated.turns, what)}." if what else ""
    files = result_table(
        result, "files", "Files",
        ["role", "path", "rows", (text(" "), _state)],
    )  # fmt: skip
    skipped = result_table(result, "skipped", "Which rows were skipped?", ["role", "path", "line", "why"])
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
    commands = result_table(
        result, "commands", "Which commands can run?", ["command", (text(" "), _whether)],
    )  # fmt: skip
    return tuple(table for table in (files, skipped, runs, texts, commands) if table.rows)


def _state(row: Any) -> str:
    if row.problem:
        return "unusable"
    return f"{row.skipped:,} skipped" if row.skipped else "ok"


def _whether(row: Any) -> str:
    return "can run" if row.runs else "; ".join(filter(None, (f"cannot run: {row.because}", row.give)))
