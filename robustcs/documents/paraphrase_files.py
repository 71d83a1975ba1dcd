"""Paraphrases as files: CSV in the ECAsT form, which robustcs reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from robustcs.inputs.paraphrases import CATEGORY, COLUMNS

#: Turn, manual text, raw text, category.
Row = tuple[str, str, str, str]


def paraphrases_csv(rows: Iterable[Row], more: Sequence[str] = (), cells: Iterable[Sequence[str]] | None = None) -> str:
    """TURN_ID, MANUAL PARAPHRASE, RAW PARAPHRASE and CATEGORY of every row, then ``more`` columns with their ``cells``."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*COLUMNS, CATEGORY, *more])
    rows = list(rows)
    beside = [()] * len(rows) if cells is None else list(cells)
    writer.writerows([*row, *some] for row, some in zip(rows, beside, strict=True))
    return stream.getvalue()
