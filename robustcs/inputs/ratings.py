"""Individual ratings: one row says what one rater gave one item for one criterion.

CSV with a header line, or JSONL with one object a line. Columns (the first name of each that is there counts):
``item`` (``question_id``, ``response_id``, ``paraphrase``, ``document``), ``worker`` (``rater``, ``annotator``, ``worker_id``),
``grade`` (``rating``, ``score``, ``label``); ``turn`` and ``criterion`` where there are several; ``source``, what an item was
made of, where that differs. A sheet of ``robustcs paraphrase`` has the columns :data:`SHEET_CRITERIA` in place of ``grade``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from robustcs.errors import at_line, input_error
from robustcs.inputs.records import ID_NAMES, StrPath
from robustcs.inputs.rows import Row, find_column, need_column, read_rows
from robustcs.inputs.skipped import RowProblems

ITEM = ("item", "question_id", "response_id", "paraphrase", "document")
WORKER = ("worker", "rater", "annotator", "worker_id")
GRADE = ("grade", "rating", "score", "label")
TURN = ("turn", "turn_id", *(name for name in ID_NAMES if name not in ("turn", "turn_id")))
#: Criteria of a sheet of paraphrases (Al-Thani et al., 2023, Table 5): columns of their own, a rating in each.
SHEET_CRITERIA = (
    "semantic similarity", "language diversity", "raw semantic similarity", "conversational entailment", "passage relevance",
)  # fmt: skip
#: The criterion of files that have only one.
ONE_CRITERION = "rating"


class Rating(NamedTuple):
    """One row. ``turn`` is empty where the file has no such column; ``value`` is a text as it stands there."""

    turn: str
    item: str
    worker: str
    criterion: str
    value: str
    line: int
    source: str = ""


def is_ratings(columns: Sequence[str]) -> bool:
    """Whether a file with these columns holds individual ratings."""
    return all(find_column(columns, names) for names in (ITEM, WORKER, GRADE))


def is_rating_sheet(columns: Sequence[str]) -> bool:
    """Whether a file with these columns is a sheet with a column for each criterion."""
    some = any(find_column(columns, (criterion,)) for criterion in SHEET_CRITERIA)
    return some and all(find_column(columns, names) for names in (ITEM, WORKER)) and not find_column(columns, GRADE)


def read_ratings(path: StrPath, turns: bool = False) -> tuple[list[Rating], tuple[str, ...]]:
    """The ratings in file order, each (turn, item, worker, criterion) once; and notes. ``turns``: every row needs a turn id.

    A rating that is repeated with the same value counts once. A row without a value is a missing rating and is passed over.

    Raises :class:`InputError` with every bad row (bounded): an id that is missing, one rater's two different ratings of the
    same; or where columns or rows are missing.
    """
    problems = RowProblems(path, "ratings")
    columns, rows = read_rows(path, problems)
    if is_rating_sheet(columns):
        columns, rows = _as_long(columns, rows)
    item, worker, grade = (need_column(path, columns, names) for names in (ITEM, WORKER, GRADE))
    turn = need_column(path, columns, TURN) if turns else find_column(columns, TURN)
    criterion = find_column(columns, ("criterion",))
    source = find_column(columns, ("source",))
    ratings: dict[tuple[str, str, str, str], Rating] = {}
    missing = repeated = 0
    for line, row in rows:
        about, rated, rater = (_text(row.get(name)) if name else "" for name in (turn, item, worker))
        what = _text(row.get(criterion)) if criterion else ONE_CRITERION
        cells = ((turn, about), (item, rated), (worker, rater), (criterion, what))
        lacking = [name for name, value in cells if name and not value]
        if lacking:
            problems.skip(line, f"no {lacking[0]}", "complete the row or leave it out", "no-id")
            continue
        value = _text(row.get(grade))
        if not value:
            missing += 1
            continue
        read = Rating(about, rated, rater, what, value, line, _text(row.get(source)) if source else "")
        earlier = ratings.setdefault(read[:4], read)
        if earlier.value != value:
            of = " ".join(part for part in (about, rated) if part)
            found = f"{of}, {what}: {rater} gives {value!r} here but {earlier.value!r} in {at_line(path, earlier.line)}"
            problems.add(line, found, "keep one of the two", "contradicting-entries")
        elif earlier.line != line:
            repeated += 1
    problems.raise_if_any(len(ratings))
    if not ratings:
        raise input_error(path, None, "the file has no ratings", "check the path", "empty")
    notes = []
    if repeated:
        notes.append(f"{repeated} repeated ratings were counted once")
    if missing:
        notes.append(f"{missing} rows without a rating were left out")
    return list(ratings.values()), tuple(notes)


def _as_long(columns: Sequence[str], rows: Iterator[Row]) -> tuple[list[str], Iterator[Row]]:
    """A sheet with a row for each rating: one for every criterion of a row that has a rating, one without where it has none."""
    criteria = [column for column in columns if column.lower() in SHEET_CRITERIA]

    def long() -> Iterator[Row]:
        for line, row in rows:
            given = [(name, row.get(name)) for name in criteria if _text(row.get(name))]
            if not given:  # nobody has rated it yet, so nobody need have signed it
                worker = find_column(columns, WORKER)
                given = [(criteria[0], "")]
                row = {**row, str(worker): "nobody"}
            for name, value in given:
                yield line, {**row, "criterion": name.lower(), "grade": value}

    return [*columns, "criterion", "grade"], long()


def _text(value: Any) -> str:
    """A cell as text; whole numbers of JSON and of spreadsheets (``3.0``) are written alike."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    whole, point, rest = text.partition(".")
    return whole if point and rest.strip("0") == "" and whole.lstrip("-").isdecimal() else text
