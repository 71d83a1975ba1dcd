"""Is every number of a sentence a cell of an exported table, rounded?

Allowed beside cells, and nothing else: how many turns and units were evaluated; how many rows a table has for a measure, or for
a judge, system, criterion and the like; how many of these rows have p ≤ .05 in a column of p, or true and false in a column of
such; their share of the rows; the sum of a column of counts over such rows; how many different names they have. A sentence that
names one measure is held against the rows of that measure. Tables with a row for every turn or passage are left out: among
thousands of scores every number is found. For the same reason small whole numbers prove little here; the tests of each study's
sentences do.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from robustcs.documents.words import measure_label
from robustcs.errors import UsageError

Row = Mapping[str, Any]
#: What is not measured: names and measures, levels (95% CI, p ≤ 0.05), thresholds, and bounds of p.
_NAMED = re.compile(
    r"[\w@.-]*[A-Za-z_@][\w@.-]*|95 ?%(?= CI| interval| of| lower)|[<>≤≥] ?\d[\d.]*"
)
_NUMBER = re.compile(r"(?<![\w.,])((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(?!\w)( ?%)?")
#: Columns by which the rows of a table fall into groups.
_GROUPS = (
    "metric",
    "judge",
    "system",
    "criterion",
    "group",
    "rewriter",
    "threshold",
    "turn_set",
    "baseline",
)
#: Columns of tables that are left out.
_SINGLE = {"turn", "document", "item", "unit"}


def unexplained(
    sentence: str,
    tables: Iterable[Sequence[Row]],
    policy: Mapping[str, Any],
    notes: Iterable[str] = (),
) -> list[str]:
    """The numbers of a sentence that no table has. ``policy``: that of the JSON output, whose ``notes`` may be repeated."""
    for note in notes:
        sentence = sentence.replace(note, "")
    known = {str(policy.get("turns")), str(policy.get("units"))}
    shares: set[str] = set()
    for rows in tables:
        if rows and not _SINGLE & set(rows[0]):
            numbers, percentages = _printed(rows, _named_measure(rows, sentence))
            known |= numbers
            shares |= percentages
    found = [
        (number.replace(",", ""), bool(percent))
        for number, percent in _NUMBER.findall(_NAMED.sub(" ", sentence))
    ]
    return [number for number, percent in found if not _explained(number, percent, known, shares)]


def _explained(number: str, percent: bool, known: set[str], shares: set[str]) -> bool:
    """Per cent are a share; other numbers with two decimals or more are none, and the rest may be either."""
    if percent:
        return number in shares
    return number in known or (len(number.partition(".")[2]) < 2 and number in shares)


def _named_measure(rows: Sequence[Row], sentence: str) -> str:
    """The one measure of the table that a sentence names; empty where it names none or several, or the table has none."""
    labels = {
        name: _label(name) for name in {str(row["metric"]) for row in rows if row.get("metric")}
    }
    named = [
        name
        for name, label in labels.items()
        if re.search(rf"(?<![\w@]){re.escape(label)}(?![\w@])", sentence)
    ]
    return named[0] if len(named) == 1 else ""


#: Table (by its identity) and measure → the table, and what its numbers and percentages may look like.
_PRINTED: dict[tuple[int, str], tuple[Sequence[Row], set[str], set[str]]] = {}


def _printed(rows: Sequence[Row], measure: str) -> tuple[set[str], set[str]]:
    """What numbers and percentages of the rows of a measure, or of all rows, may look like."""
    if (id(rows), measure) not in _PRINTED:
        known: set[str] = set()
        shares: set[str] = set()
        own = [row for row in rows if row.get("metric") == measure] if measure else rows
        _add_cells(own, known, shares)
        for part in _parts(own):
            _add_counts(part, known, shares)
        _PRINTED[id(rows), measure] = rows, known, shares
    return _PRINTED[id(rows), measure][1:]


def _label(name: str) -> str:
    try:
        return measure_label(name)
    except UsageError:
        return name  # ClariQ's own


def _parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """All rows, and those of every group, and of every two."""
    yield rows
    names = [name for name in _GROUPS if name in rows[0]] if rows else []
    for keys in (*((name,) for name in names), *combinations(names, 2)):
        parts = defaultdict(list)
        for row in rows:
            parts[tuple(row[key] for key in keys)].append(row)
        yield from parts.values()


def _add_cells(rows: Sequence[Row], known: set[str], shares: set[str]) -> None:
    """Add what the numbers in these rows may look like."""
    columns = (
        {row[name] for row in rows if row[name] is not None} for name in (rows[0] if rows else ())
    )
    for values in columns:
        if all(isinstance(value, int | float) for value in values) and not all(
            isinstance(value, bool) for value in values
        ):
            for value in map(abs, values):
                known.update(f"{value:.{digits}f}" for digits in range(5))
                shares.update(f"{100 * value:.{digits}f}" for digits in range(2))


def _add_counts(rows: Sequence[Row], known: set[str], shares: set[str]) -> None:
    """Add what counts of these rows, and their shares, may look like."""
    counts = {len(rows)}
    for name in rows[0] if rows else ():
        values = [row[name] for row in rows if row[name] is not None]
        if values and all(isinstance(value, bool) for value in values):
            counts |= {sum(values), len(values) - sum(values)}
        elif values and all(isinstance(value, int | float) for value in values):
            if name.startswith("p_") or name == "p":
                counts.add(sum(value <= 0.05 for value in values))
            elif all(isinstance(value, int) for value in values):
                counts.add(sum(values))
        elif values and all(isinstance(value, str) for value in values):
            counts.add(len(set(values)))
    known.update(map(str, counts))
    shares.update(
        f"{100 * count / len(rows):.{digits}f}"
        for count in counts
        if 0 < len(rows) >= count
        for digits in range(2)
    )
