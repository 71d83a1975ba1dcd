"""What crowd judgments are made of: individual grades, gold checks, a bank of texts, finished judgments, a list of turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.files import read_json
from robustcs.inputs.numbers import whole_number
from robustcs.inputs.qrels import MAX_GRADE
from robustcs.inputs.ratings import Rating, read_ratings
from robustcs.inputs.records import StrPath, filled_lines, shape_of
from robustcs.inputs.rows import find_column, need_column, read_rows

#: The worker of judgments that are final already.
FINAL = "final"
_WORD = re.compile(r"[\W_]+")


class Grade(NamedTuple):
    """What one worker gave one item (a question or a response) of one turn for one criterion."""

    turn: str
    item: str
    worker: str
    criterion: str
    grade: int


class GoldCheck(NamedTuple):
    """The grade that an item is known to deserve."""

    turn: str
    item: str
    criterion: str
    grade: int


def read_grades(path: StrPath) -> tuple[list[Grade], tuple[str, ...]]:
    """Individual grades, CSV or JSONL with turn, item, worker, criterion and grade; and notes.

    The published judgments of CAsT-ReGIn are read as well, ``{turn: {"Questions": [{"Question ID", "Question Text",
    CRITERION: grade, …}]}}``, as the grades of one worker, :data:`FINAL`.

    Raises :class:`InputError` with every bad row (bounded): what :func:`~robustcs.inputs.ratings.read_ratings` says, or a
    grade that is no whole number.
    """
    if shape_of(path) == "json":
        return _read_judgments(path), ()
    ratings, notes = read_ratings(path, turns=True)
    problems = ProblemList(path)
    grades = [Grade(*rating[:4], _whole(rating.value, rating.line, problems)) for rating in ratings]
    problems.raise_if_any()
    return grades, notes


def _whole(text: str, line: int | None, problems: ProblemList) -> int:
    """The grade; 0 and a problem where it is none."""
    grade = whole_number(text, MAX_GRADE)
    if grade is None:
        problems.add(line, f"grade {text[:40]!r} is not a small whole number", "write grades such as 0 to 3", "bad-grade")
    return grade or 0


def _read_judgments(path: StrPath) -> list[Grade]:
    problems = ProblemList(path)
    value = read_json(path)
    grades: dict[tuple[str, str, str], int] = {}
    turns = value.items() if isinstance(value, dict) else ()
    for turn, parts in turns:
        lists = [entries for entries in parts.values() if isinstance(entries, list)] if isinstance(parts, dict) else []
        for entry in (entry for entries in lists for entry in entries):
            item = next((entry[name] for name in entry if name.lower().endswith(" id")), "") if isinstance(entry, dict) else ""
            if not isinstance(item, str) or not item:
                problems.add(None, f"turn {turn}: an entry without an id", 'give every entry its "Question ID"', "no-id")
                continue
            for criterion, grade in entry.items():
                if isinstance(grade, bool) or not isinstance(grade, int):
                    continue
                if abs(grade) > MAX_GRADE:
                    found = f"turn {turn}, {item}: {criterion} is {str(grade)[:40]}"
                    problems.add(None, found, "grades are small whole numbers such as 0 to 3", "bad-grade")
                earlier = grades.setdefault((turn, item, criterion.lower()), grade)
                if earlier != grade:
                    found = f"turn {turn}, {item}: {criterion} is {grade} and {earlier}"
                    problems.add(None, found, "keep one of the two", "contradicting-entries")
    problems.raise_if_any()
    if not grades:
        raise input_error(
            path, None, "JSON, but no judgments", "write CSV or JSONL with turn, item, worker, criterion and grade",
            "unknown-format",
        )  # fmt: skip
    return [Grade(turn, item, FINAL, criterion, grade) for (turn, item, criterion), grade in grades.items()]


def read_gold_checks(path: StrPath) -> list[GoldCheck]:
    """Gold checks, CSV or JSONL with turn, item, criterion and grade (the criterion may be left out where there is only one).

    Raises :class:`InputError` with every bad row (bounded).
    """
    problems = ProblemList(path)
    columns, rows = read_rows(path, problems)
    turn, item, grade = (need_column(path, columns, names) for names in (("turn", "turn_id"), ("item",), ("grade",)))
    criterion = find_column(columns, ("criterion",))
    checks: dict[tuple[str, str, str], int] = {}
    for line, row in rows:
        ids = [str(row.get(name) or "").strip() if name else "" for name in (turn, item, criterion)]
        if not ids[0] or not ids[1]:
            problems.add(line, f"no {turn if not ids[0] else item}", "complete the row or leave it out", "no-id")
            continue
        value = _whole(str(row.get(grade, "")).strip(), line, problems)
        earlier = checks.setdefault((ids[0], ids[1], ids[2]), value)
        if earlier != value:
            found = f"{ids[0]} {ids[1]} should be {value} here but {earlier} in an earlier line"
            problems.add(line, found, "keep one of the two", "contradicting-entries")
    problems.raise_if_any()
    if not checks:
        raise input_error(path, None, "the file has no gold checks", "check the path", "empty")
    return [GoldCheck(*key, value) for key, value in checks.items()]


def read_bank(path: StrPath) -> dict[str, str]:
    """Id → text of a bank of questions or responses, one JSON object ``{id: text}``; a text may be empty.

    Raises :class:`InputError` for anything else.
    """
    value = read_json(path)
    if not isinstance(value, dict) or not value:
        raise input_error(path, None, "not a bank of texts", 'write one JSON object {"Q0001": "text"}', "unknown-format")
    for name, text in value.items():
        if not isinstance(text, str):
            raise input_error(path, None, f"{name}: not a text", "write every text in quotes", "not-a-text")
    return {name.strip(): text for name, text in value.items()}


def read_turn_list(path: StrPath) -> set[str]:
    """The turns of a file, what stands first on every line: a plain list, or qrels or a run.

    Raises :class:`InputError` for a file without turns.
    """
    turns = {line.split()[0] for _, line in filled_lines(path) if not line.startswith("#")}
    if not turns:
        raise input_error(path, None, "the file has no turns", "write one turn id a line", "empty")
    return turns


def plain_text(text: str) -> str:
    """``text`` in lower case, without punctuation, one space between words: what two wordings must share to be the same."""
    return " ".join(_WORD.sub(" ", text.casefold()).split())


def as_ratings(grades: Sequence[Grade]) -> list[Rating]:
    """The grades as ratings, for measures of agreement."""
    return [Rating(*grade[:4], str(grade.grade), 0) for grade in grades]
