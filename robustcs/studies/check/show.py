"""A check as five tables."""

from __future__ import annotations

from typing import Any

from robustcs.documents.document import Block
from robustcs.documents.tables import result_table
from robustcs.result import text
from robustcs.studies.check.analysis import JUDGED_AT, Check


def show(result: Check) -> tuple[Block, ...]:
    """Files, skipped rows, runs, texts and commands; a table without rows is left out."""
    what = {"runs": "judged turns", "scores": "scored turns"}.get(result.evaluated.basis, "")
    of = f"Of {result.evaluated.turns} {what}." if what else ""
    files = result_table(
        result, "files", "Files",
        ["role", "path", "rows", (text(" "), _state)],
    )  # fmt: skip
    skipped = result_table(result, "skipped", "Which rows were skipped?", ["role", "path", "line", "why"])
    runs = result_table(
        result, "runs", "Do the runs fit the judgments?",
        [
            "run", "turns", "missing", "extra", "depth_min",
            (result.spec("runs").field("depth_median"), lambda row: f"{row.depth_median:g}"), "depth_max",
            *(f"judged_{k}" for k in JUDGED_AT),
        ],
        f"{of} Extra turns are left out of every evaluation.",
    )  # fmt: skip
    texts = result_table(
        result, "texts", "Do the texts fit the judgments?",
        ["formulation", "texts", "without", "extra", "unanswered", "unchanged"], of,
    )  # fmt: skip
    commands = result_table(
        result, "commands", "What can run?", ["command", (text(" "), _whether)],
    )  # fmt: skip
    return tuple(table for table in (files, skipped, runs, texts, commands) if table.rows)


def _state(row: Any) -> str:
    if row.problem:
        return "not usable"
    return f"{row.skipped} skipped" if row.skipped else "fine"


def _whether(row: Any) -> str:
    return "runs" if row.runs else "; ".join(filter(None, (f"cannot, because {row.because}", row.give)))
