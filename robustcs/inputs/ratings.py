"""Individual ratings: one row is the rating of one item by one rater for one criterion.

CSV with a header line, or JSONL with one object per line. Columns (the first name present counts): ``item`` (``question_id``,
``response_id``, ``paraphrase``, ``document``), ``worker`` (``rater``, ``annotator``, ``worker_id``), ``grade`` (``rating``,
``score``, ``label``); ``turn`` and ``criterion`` if there are several; ``source``, the origin of an item, if it differs. A
sheet of ``robustcs paraphrase`` has the columns :data:`SHEET_CRITERIA` in place of ``grade``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from robustcs.errors import ProblemList, at_line, input_error
from robustcs.inputs.ids import MAX_GRADE
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import ID_NAMES, RowProblems, shape_of
from robustcs.inputs.tables import (
    Row,
    by_field,
    find_column,
    named,
    read_rows,
    rows_by_field,
    text_of,
)
from robustcs.inputs.text import filled_lines, read_json, whole_number
from robustcs.wording import counted

ITEM = ("item", "question_id", "response_id", "paraphrase", "document")
WORKER = ("worker", "rater", "annotator", "worker_id")
GRADE = ("grade", "rating", "score", "label")
TURN = ("turn", "turn_id", *(name for name in ID_NAMES if name not in ("turn", "turn_id")))

#: Criteria of a sheet of paraphrases (Al-Thani et al., 2023, Table 5); each is a column of ratings.
SHEET_CRITERIA = (
    "semantic similarity", "language diversity", "raw semantic similarity", "conversational entailment", "passage relevance",
)  # fmt: skip

#: The criterion of files with only one.
ONE_CRITERION = "rating"


class Rating(NamedTuple):
    """One row. ``turn`` is empty if the file has no such column; ``value`` is the raw text."""

    turn: str
    item: str
    worker: str
    criterion: str
    value: str
    line: int
    source: str = ""

    def differs_from(self, other: Rating, place: str) -> str:
        """Return the message that ``other``, in ``place``, is a different rating by the same person."""
        of = " ".join(part for part in (self.turn, self.item) if part)
        return f"{of}, {self.criterion}: {self.worker} gives {self.value!r} here but {other.value!r} in {place}"


def is_ratings(columns: Sequence[str]) -> bool:
    """Return whether a file with these columns contains individual ratings."""
    return all(find_column(columns, names) for names in (ITEM, WORKER, GRADE))


def is_rating_sheet(columns: Sequence[str]) -> bool:
    """Return whether a file with these columns is a sheet with a column for each criterion."""
    some = any(find_column(columns, (criterion,)) for criterion in SHEET_CRITERIA)
    return (
        some
        and all(find_column(columns, names) for names in (ITEM, WORKER))
        and not find_column(columns, GRADE)
    )


def read_ratings(path: StrPath, turns: bool = False) -> tuple[list[Rating], tuple[str, ...]]:
    """Return the ratings in file order, each (turn, item, worker, criterion) once; and notes. ``turns`` requires turn ids.

    A rating repeated with the same value counts once. A row without a value is a missing rating and is skipped.

    Raises :class:`InputError` with every bad row (bounded): a missing id, two different ratings of one item by one rater; or if
    columns or rows are missing.
    """
    problems = RowProblems(path, "ratings")
    if turns and shape_of(path) == "json":
        columns, rows = ["turn", "item", "worker", "criterion", "grade"], _judgments(path, problems)
    else:
        columns, rows = read_rows(path, problems)
    if is_rating_sheet(columns):
        columns, rows = _as_long(columns, rows)
    needed = {**({"turn": TURN} if turns else {}), "item": ITEM, "worker": WORKER, "value": GRADE}
    ratings: dict[tuple[str, str, str, str], Rating] = {}
    missing = repeated = 0
    for line, row in by_field(
        path, columns, rows, needed, {"turn": TURN, **named("criterion", "source")}
    ):
        cells = {field: _text(value) for field, value in row.items()}
        lacking = [
            field for field in ("turn", "item", "worker", "criterion") if not cells.get(field, True)
        ]
        if lacking:
            problems.skip(
                line or None, f"no {lacking[0]}", "complete the row or delete it", "no-id"
            )
            continue
        if not cells["value"]:
            missing += 1
            continue
        read = Rating(**{"turn": "", "criterion": ONE_CRITERION, **cells}, line=line)  # type: ignore[arg-type]
        earlier = ratings.setdefault(read[:4], read)
        if earlier.value != read.value:
            found = read.differs_from(
                earlier, at_line(path, earlier.line) if earlier.line else "an earlier entry"
            )
            problems.add(line or None, found, "keep one of the two", "contradicting-entries")
        elif earlier.line != line:
            repeated += 1
    problems.finish(ratings, "ratings")
    notes = _repeated(repeated)
    if missing:
        notes += (f"{counted(missing, 'row')} without a rating skipped",)
    return list(ratings.values()), notes


def join_ratings(
    files: Sequence[tuple[StrPath, Sequence[Rating]]],
) -> tuple[list[Rating], tuple[str, ...]]:
    """Join the ratings of several files, each (turn, item, worker, criterion) once. Return them and notes.

    Raises :class:`InputError` if two files contain different ratings of one item by one rater.
    """
    joined: dict[tuple[str, ...], Rating] = {}
    for path, ratings in files:
        for rating in ratings:
            earlier = joined.setdefault(rating[:4], rating)
            if earlier.value != rating.value:
                found = rating.differs_from(earlier, "an earlier file")
                raise input_error(
                    path, rating.line, found, "keep one of the two", "contradicting-files"
                )
    return list(joined.values()), _repeated(sum(len(ratings) for _, ratings in files) - len(joined))


def _repeated(number: int) -> tuple[str, ...]:
    return (f"{counted(number, 'repeated rating')} counted once",) if number else ()


def _as_long(columns: Sequence[str], rows: Iterator[Row]) -> tuple[list[str], Iterator[Row]]:
    """Convert a sheet to one row per rating; a row without any rating becomes one empty rating."""
    criteria = [column for column in columns if column.lower() in SHEET_CRITERIA]

    def long() -> Iterator[Row]:
        for line, row in rows:
            given = [(name, row.get(name)) for name in criteria if _text(row.get(name))]
            if not given:  # an unrated row needs no worker
                worker = find_column(columns, WORKER)
                given = [(criteria[0], "")]
                row = {**row, str(worker): "unassigned"}
            for name, value in given:
                yield line, {**row, "criterion": name.lower(), "grade": value}

    return [*columns, "criterion", "grade"], long()


def _text(value: Any) -> str:
    """Return a cell as text; whole numbers of JSON and of spreadsheets (``3.0``) are written alike."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    whole, point, rest = text.partition(".")
    return whole if point and rest.strip("0") == "" and whole.lstrip("-").isdecimal() else text


#: The worker of judgments that are already final.
FINAL = "final"


class Grade(NamedTuple):
    """The grade of one worker for one item (a question or a response) of one turn by one criterion."""

    turn: str
    item: str
    worker: str
    criterion: str
    grade: int


class GoldCheck(NamedTuple):
    """The known correct grade of an item."""

    turn: str
    item: str
    criterion: str
    grade: int


def read_grades(path: StrPath) -> tuple[list[Grade], tuple[str, ...]]:
    """Return individual grades from CSV or JSONL with turn, item, worker, criterion and grade; and notes.

    Also reads the published judgments of CAsT-ReGIn, ``{turn: {"Questions": [{"Question ID", "Question Text",
    CRITERION: grade, …}]}}``, as grades of one worker, :data:`FINAL`.

    Raises :class:`InputError` with every bad row (bounded): the problems of :func:`~robustcs.inputs.ratings.read_ratings`, or a
    grade that is not a whole number.
    """
    ratings, notes = read_ratings(path, turns=True)
    problems = ProblemList(path)
    grades = [Grade(*one[:4], _whole(one.value, one.line, problems)) for one in ratings]
    problems.raise_if_any()
    return grades, notes


def _whole(text: str, line: int, problems: ProblemList) -> int:
    """Return the grade; note a problem and return 0 if there is none."""
    grade = whole_number(text, MAX_GRADE)
    if grade is None:
        problems.add(
            line,
            f"grade {text[:40]!r} is not a small whole number",
            "write grades such as 0 to 3",
            "bad-grade",
        )
    return grade or 0


def _judgments(path: StrPath, problems: ProblemList) -> Iterator[Row]:
    """Yield the grades of published judgments as rows; every entry of a turn has an id and grades by criterion."""
    value, found = read_json(path), False
    for turn, parts in value.items() if isinstance(value, dict) else ():
        for entry in chain(
            *(one for one in parts.values() if isinstance(one, list))
            if isinstance(parts, dict)
            else ()
        ):
            fields = entry if isinstance(entry, dict) else {}
            item = next((fields[name] for name in fields if name.lower().endswith(" id")), "")
            if not isinstance(item, str) or not item:
                problems.add(
                    None,
                    f"turn {turn}: an entry without an id",
                    'add "Question ID" to every entry',
                    "no-id",
                )
                continue
            for criterion, grade in fields.items():
                if isinstance(grade, int) and not isinstance(grade, bool):
                    found = True
                    if abs(grade) > MAX_GRADE:
                        told = f"turn {turn}, {item}: {criterion} is {str(grade)[:40]}"
                        problems.add(
                            None, told, "write small whole numbers such as 0 to 3", "bad-grade"
                        )
                    yield (
                        0,
                        {
                            "turn": turn,
                            "item": item,
                            "worker": FINAL,
                            "criterion": criterion.lower(),
                            "grade": grade,
                        },
                    )
    problems.raise_if_any()
    if not found:
        advice = "write CSV or JSONL with turn, item, worker, criterion and grade"
        raise input_error(path, None, "JSON, but no judgments", advice, "unknown-format")


def read_gold_checks(path: StrPath) -> list[GoldCheck]:
    """Return gold checks from CSV or JSONL with turn, item, criterion and grade (criterion is optional if there is only one).

    Raises :class:`InputError` with every bad row (bounded).
    """
    problems = ProblemList(path)
    checks: dict[tuple[str, str, str], int] = {}
    needed = {"turn": ("turn", "turn_id"), **named("item", "grade")}
    for line, row in rows_by_field(path, problems, needed, named("criterion")):
        turn, item, criterion = (text_of(row.get(field)) for field in ("turn", "item", "criterion"))
        if not turn or not item:
            problems.add(
                line, f"no {'item' if turn else 'turn'}", "complete the row or delete it", "no-id"
            )
            continue
        value = _whole(text_of(row["grade"]), line, problems)
        found = "{key[0]} {key[1]} should be {value} here but {earlier} in an earlier line"
        problems.once(checks, (turn, item, criterion), value, line, found)
    problems.finish(checks, "gold checks")
    return [GoldCheck(*key, value) for key, value in checks.items()]


def read_turn_list(path: StrPath) -> set[str]:
    """Return the turns of a file, the first cell of every line: a plain list, qrels or a run.

    Raises :class:`InputError` for a file without turns.
    """
    turns = {line.split()[0] for _, line in filled_lines(path) if not line.startswith("#")}
    if not turns:
        raise input_error(
            path, None, "the file has no turns", "write one turn id per line", "empty"
        )
    return turns


def as_ratings(grades: Sequence[Grade]) -> list[Rating]:
    """Return the grades as ratings, for measures of agreement."""
    return [Rating(*grade[:4], str(grade.grade), 0) for grade in grades]
