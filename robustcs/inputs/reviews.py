"""Reviews of turns: JSONL that the page of a report exports, or a sheet that a coder completed.

Each line is a turn.

Fields: ``turn``; ``systems``, the systems that were read (a list); ``categories``, those that the coder assigned (a list, empty
if none fits; null if the turn of a sheet is not read yet); ``coder``; ``sample`` with ``kind`` (``random``: drawn at random and
read in random order; ``all``: every turn), ``seed``, ``of`` (number of turns from which it was drawn), ``size`` (number of
turns drawn) and, if these are not all turns of the report, ``where`` (which turns these are). ``systems``, ``coder``, ``sample``
and ``note``, a text, are optional; other fields are for people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from robustcs.errors import at_line, input_error
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import RowProblems, json_lines
from robustcs.inputs.text import is_turn_id, is_whole

#: The longest category; longer texts are notes.
LONGEST_CATEGORY = 100


@dataclass(frozen=True)
class Sample:
    """The turns that a coder set out to read.

    kind
        ``random``, ``all``, or another word.
    seed
        Random seed; None if unknown.
    of
        Number of turns from which it was drawn; 0 if unknown.
    size
        Number of turns drawn; 0 if unknown. A reader may enlarge a sample, so it does not identify it.
    where
        Which turns ``of`` counts, such as ``where t5 and human differ``; empty for all turns.
    """

    kind: str = "unknown"
    seed: int | None = None
    of: int = 0
    size: int = 0
    where: str = ""

    @property
    def identity(self) -> tuple[Any, ...]:
        """What two reviews of the same sample have in common."""
        return self.kind, self.seed, self.of, self.where


@dataclass(frozen=True)
class Review:
    """What one coder found in one turn of one or several systems, with the coder's note."""

    turn: str
    systems: tuple[str, ...]
    categories: tuple[str, ...]
    coder: str
    sample: Sample
    note: str = ""


def is_reviews(record: Mapping[str, Any]) -> bool:
    """Return whether a record is the review of a turn."""
    return "turn" in record and isinstance(record.get("categories", ""), list | None)


def read_reviews(path: StrPath) -> tuple[Review, ...]:
    """Return the reviews in file order; a line that occurs twice counts once, turns not read yet do not count.

    Raises :class:`InputError` with every bad line (bounded): no turn, a field of another type, or two different reviews of a
    turn by one coder in one sample; or if there are no reviews.
    """
    problems = RowProblems(path, "reviews")
    found: dict[tuple[Any, ...], tuple[Review, int]] = {}
    unread = 0
    for line, record in json_lines(path, problems):
        if record.get("categories", "") is None:
            unread += 1
            continue
        if wrong := _wrong(record):
            problems.skip(line, *wrong)
            continue
        sample = record.get("sample") or {}
        systems = record.get("systems") or []
        review = Review(
            str(record["turn"]).strip(),
            tuple(systems) if isinstance(systems, list) else (systems,),
            tuple(dict.fromkeys(name.strip() for name in record["categories"])),
            (record.get("coder") or "").strip(),
            Sample(
                **{
                    key: sample[key]
                    for key in Sample.__dataclass_fields__
                    if sample.get(key) is not None
                }
            ),
            note if isinstance(note := record.get("note"), str) else "",
        )
        key = (review.turn, review.systems, review.coder, review.sample.identity)
        earlier, first = found.setdefault(key, (review, line))
        if set(earlier.categories) != set(review.categories):
            told = f"turn {review.turn} has other categories in {at_line(path, first)}"
            problems.add(line, told, "keep one of the two", "contradicting-entries")
    if unread and not found:
        advice = "write a list of categories in place of null; it may be empty"
        raise input_error(
            path, None, f"no turn of the sheet is read ({unread})", advice, "no-reviews"
        )
    problems.finish(found, "reviews")
    return tuple(review for review, _ in found.values())


def _wrong(record: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return what is wrong with a line, the remedy and the kind of problem; None if nothing is."""
    if not is_turn_id(record.get("turn")):
        return "no turn id", "add a turn id such as 31_4", "no-turn-id"
    for name, fits, told, advice in _FIELDS:
        if not fits(record.get(name)):
            return f"turn {record['turn']}: {name} {told}", advice, f"bad-{name}"
    return None


def _is_sample(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    numbers = [value.get(name) or 0 for name in ("seed", "of", "size")]
    whole = all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in numbers)
    return whole and all(_is_text(value.get(name) or "") for name in ("kind", "where"))


def _are_names(value: object, longest: int = 1 << 20) -> bool:
    return isinstance(value, list) and all(
        _is_text(name, longest) and name.strip() for name in value
    )


def _is_text(value: object, longest: int = 1 << 20) -> bool:
    return isinstance(value, str) and len(value) <= longest and is_whole(value)


#: Field, whether its value fits, what it is otherwise, and the remedy.
_FIELDS: tuple[tuple[str, Callable[[Any], bool], str, str], ...] = (
    ("categories", lambda value: _are_names(value, LONGEST_CATEGORY), "are not a list of names",
     f"write a list of texts of at most {LONGEST_CATEGORY} characters; it may be empty"),
    ("systems", lambda value: not value or _is_text(value) or _are_names(value), "are not a list of names",
     'write a list such as ["t5", "human"]'),
    ("coder", lambda value: _is_text(value or ""), "is not a text", "write a text in quotes"),
    ("sample", lambda value: not value or _is_sample(value), "is not {kind, seed, of, size}",
     "write of and size as whole numbers"),
)  # fmt: skip
