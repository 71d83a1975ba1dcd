"""Nuggets (facts that an answer should contain) and assignments (the nuggets that an answer contains).

Nuggets are JSONL with one topic per line and a list ``nuggets``, or with one nugget per line: ``text``, ``importance``
(``vital`` or ``okay``) and, if known, ``passages`` (or ``docids``, ``references``) that contain it. Assignments are the output
of nuggetizer: the same with ``assignment`` in every nugget (``support``, ``partial_support``, ``not_support``), ``run_id`` and
``answer_text``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.formats import TOPIC_NAMES, topic_of
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import ByTurn, RowProblems, json_lines
from robustcs.inputs.text import is_turn_id

#: Assignment → how much of the nugget the answer contains (Pradeep et al. 2024).
SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}

IMPORTANCE = ("vital", "okay")
_PASSAGES = ("passages", "docids", "references")


@dataclass(frozen=True)
class Nugget:
    """One fact that an answer should contain.

    importance
        ``vital`` or ``okay``; empty if the file does not say.
    passages
        Ids of passages that contain it; empty if unknown.
    support
        For an assignment: how much of the nugget the answer contains, 0, ½ or 1; None in a file of nuggets.
    """

    text: str
    importance: str
    passages: tuple[str, ...] = ()
    support: float | None = None


@dataclass(frozen=True)
class Assigned:
    """The nuggets in an answer to one topic; ``answer`` is its text, None if the file does not contain it."""

    nuggets: tuple[Nugget, ...]
    answer: str | None


def is_nuggets(record: Mapping[str, Any]) -> bool:
    """Return whether a record contains the nuggets of a topic, or is a nugget."""
    listed = isinstance(record.get("nuggets"), list) and topic_of(record) is not None
    return listed or ("importance" in record and "text" in record)


def is_assignments(record: Mapping[str, Any]) -> bool:
    """Return whether a record contains nuggets that were assigned to an answer."""
    nuggets = record.get("nuggets")
    return isinstance(nuggets, list) and any(
        isinstance(one, dict) and "assignment" in one for one in nuggets
    )


def read_nuggets(path: StrPath) -> dict[str, tuple[Nugget, ...]]:
    """Return topic → its nuggets in file order.

    Raises :class:`InputError` with every bad line (bounded): no topic, a nugget without a text, an importance other than vital
    or okay, passages that are not a list of ids, a nugget that occurs twice with different values.
    """
    texts: ByTurn[str] = ByTurn(path, "nuggets")
    found: dict[str, dict[str, Nugget]] = {}
    for line, record in _topic_lines(path, texts.problems):
        topic, listed = str(topic_of(record)).strip(), record.get("nuggets", [record])
        for nugget in _nuggets(topic, listed if isinstance(listed, list) else [], line, texts):
            if found.setdefault(topic, {}).setdefault(nugget.text, nugget) != nugget:
                told = (
                    f"topic {topic}: nugget {nugget.text[:40]!r} occurs twice with different values"
                )
                texts.problems.add(line, told, "keep one of the two", "contradicting-entries")
    texts.problems.finish(found, "nuggets", sum(map(len, found.values())))
    return {topic: tuple(nuggets.values()) for topic, nuggets in found.items()}


def read_assignments(path: StrPath, name: str = "") -> dict[str, Assigned]:
    """Return topic → the nuggets in the answer of ``name``, in file order.

    If the file contains several runs, reads the one with the ``run_id`` ``name``.

    Raises :class:`InputError` with every bad line (bounded): no topic, no list of nuggets, an assignment not in
    :data:`SUPPORT`, a topic that occurs twice, several runs but none called ``name``.
    """
    texts: ByTurn[str] = ByTurn(path, "nuggets")
    problems = texts.problems
    by_run: dict[str, dict[str, Assigned]] = {}
    for line, record in _topic_lines(path, problems):
        topic = str(topic_of(record)).strip()
        if not is_assignments(record):
            problems.add(
                line,
                f"topic {topic}: no nuggets with an assignment",
                "give a file of assignments",
                "no-assignment",
            )
            continue
        nuggets = tuple(_nuggets(topic, record["nuggets"], line, texts, assigned=True))
        answer = record.get("answer_text")
        of_run = by_run.setdefault(str(record.get("run_id", "")), {})
        if topic in of_run:
            problems.add(
                line, f"topic {topic} occurs twice", "keep one of the two", "repeated-turn"
            )
        of_run[topic] = Assigned(nuggets, answer if isinstance(answer, str) else None)
    problems.finish(
        by_run,
        "assignments",
        sum(len(one.nuggets) for of_run in by_run.values() for one in of_run.values()),
    )
    if len(by_run) > 1 and name not in by_run:
        told = f"the file contains assignments of {', '.join(sorted(by_run))}, but not of {name!r}"
        raise input_error(
            path, None, told, "use one of these names for the answers", "several-runs"
        )
    return by_run[name] if name in by_run else next(iter(by_run.values()))


def _topic_lines(path: StrPath, problems: RowProblems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the lines with a topic; no other line is skipped, since it may contain all nuggets of a topic."""
    unusable = ProblemList(path)
    for line, record in json_lines(path, unusable):
        if is_turn_id(topic_of(record)):
            yield line, record
        else:
            unusable.add(
                line, "no topic id", f"add {' or '.join(TOPIC_NAMES)} to every line", "no-turn-id"
            )
    problems.take(unusable)


def _nuggets(
    topic: str, entries: list[Any], line: int, texts: ByTurn[str], assigned: bool = False
) -> Iterator[Nugget]:
    """Yield the nuggets of a topic; broken ones go to the problems."""
    for entry in entries:
        fields = entry if isinstance(entry, dict) else {"text": entry}
        if (text := texts.text(topic, fields.get("text"), line)) is None:
            continue
        importance, assignment = (
            str(fields.get(name) or "").strip().lower() for name in ("importance", "assignment")
        )
        passages: Any = next((fields[name] for name in _PASSAGES if fields.get(name)), [])
        if importance not in ("", *IMPORTANCE):
            found, advice = f"unknown importance {importance[:20]!r}", "write vital or okay"
        elif not isinstance(passages, list) or not all(is_turn_id(one) for one in passages):
            found, advice = "the passages of a nugget are not a list of ids", 'write ["ID", …]'
        elif assigned and assignment not in SUPPORT:
            found, advice = f"unknown assignment {assignment[:20]!r}", f"write {', '.join(SUPPORT)}"
        else:
            ids = tuple(str(one).strip() for one in passages)
            yield Nugget(text, importance, ids, SUPPORT[assignment] if assigned else None)
            continue
        texts.problems.add(line, f"topic {topic}: {found}", advice, "bad-value")
