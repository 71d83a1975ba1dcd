"""A check as three tables."""

from __future__ import annotations

from robustcs.documents.document import Block, Column, Table
from robustcs.documents.words import percent
from robustcs.studies.check.analysis import JUDGED_AT, Check


def present_check(result: Check) -> tuple[Block, ...]:
    """Files, runs and texts; a table without rows is left out."""
    files = Table(
        "files",
        "Files",
        (Column("Role", "left"), Column("File", "left"), Column("rows"), Column("", "left")),
        tuple(
            (row.role, row.path, "–" if row.problem else str(row.rows), "not usable" if row.problem else "fine")
            for row in result.files.itertuples()
        ),
    )
    runs = Table(
        "runs",
        "Do the runs fit the judgments?",
        (
            Column("Run", "left"),
            *(Column(title, group="turns") for title in ("answered", "missing", "extra")),
            *(Column(title, group="passages per turn") for title in ("min", "median", "max")),
            *(Column(f"top {k}", group="judged") for k in JUDGED_AT),
        ),
        tuple(
            (
                row.run, str(row.turns), str(row.missing), str(row.extra),
                str(row.depth_min), f"{row.depth_median:g}", str(row.depth_max), percent(row.judged_3), percent(row.judged_10),
            )
            for row in result.runs.itertuples()
        ),
        f"Of {result.evaluated.turns} turns that are judged. Extra turns are left out of every evaluation.",
    )  # fmt: skip
    texts = Table(
        "texts",
        "Do the texts fit the judgments?",
        (
            Column("Texts", "left"),
            *(Column(title, group="turns") for title in ("there", "missing", "extra", "without a run")),
            Column("equal to Original"),
        ),
        tuple(
            (name, *("–" if count is None else str(count) for count in counts))
            for name, *counts in result.texts.astype(object)
            .where(result.texts.notna(), None).itertuples(index=False)
        ),
        f"Of {result.evaluated.turns} turns that are judged.",
    )
    return tuple(table for table in (files, runs, texts) if table.rows)
