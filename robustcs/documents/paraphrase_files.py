"""Paraphrases as files: CSV in the ECAsT form, which robustcs reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from robustcs.inputs.paraphrases import CATEGORY, COLUMNS
from robustcs.inputs.ratings import SHEET_CRITERIA

#: What a rating sheet has beside the columns of ECAsT, before the criteria.
_SHEET = ("ITEM", "SOURCE", "SOURCE TEXT", "WORKER")


def paraphrases_csv(rows: Iterable[tuple[str, str, str, str]]) -> str:
    """TURN_ID, MANUAL PARAPHRASE, RAW PARAPHRASE and CATEGORY of every row."""
    return _csv([*COLUMNS, CATEGORY], rows)


def sheet_csv(rows: Iterable[tuple[str, str, str, str, str]]) -> str:
    """A sheet to edit and rate paraphrases, of rows turn, source, source text, manual, raw.

    It is a paraphrase file in ECAsT's form as well: who edits the texts in it has edited the paraphrases. Raters put their name
    into WORKER and ratings from 1 to 5 under the criteria; ``robustcs agreement`` reads any number of such sheets.
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
