"""Write paraphrases as CSV in the ECAsT form, which robustcs reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from robustcs.inputs.paraphrases import CATEGORY, COLUMNS
from robustcs.inputs.ratings import SHEET_CRITERIA

#: Columns of a rating sheet between those of ECAsT and the criteria.
_SHEET = ("ITEM", "SOURCE", "SOURCE TEXT", "WORKER")


def paraphrases_csv(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """Return a CSV with TURN_ID, MANUAL PARAPHRASE, RAW PARAPHRASE and CATEGORY of every row."""
    return _csv([*COLUMNS, CATEGORY], rows)


def sheet_csv(rows: Iterable[tuple[str, str, str, str, str]]) -> str:
    """Return a sheet to edit and rate paraphrases, from rows of turn, source, source text, manual, raw.

    The sheet is also a paraphrase file in ECAsT's form, so edits of its texts change the paraphrases. Raters enter their name
    under WORKER and ratings from 1 to 5 under the criteria; ``robustcs agreement`` reads any number of such sheets.
    """
    places: dict[str, int] = {}
    cells = []
    for turn, source, source_text, manual, raw in rows:
        places[turn] = places.get(turn, 0) + 1
        blank = [""] * len(SHEET_CRITERIA)
        cells.append((turn, manual, raw, f"{turn} #{places[turn]}", source, source_text, "", *blank))
    return _csv([*COLUMNS, *_SHEET, *SHEET_CRITERIA], cells)


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()
