"""Nuggets, the facts that an answer should hold, and assignments: which of them an answer does.

Nuggets are JSONL, one topic a line with a list ``nuggets``, or one nugget a line: ``text``, ``importance`` (``vital`` or
``okay``) and, where it is known, ``passages`` (or ``docids``, ``references``) that hold it. Assignments are what nuggetizer
writes: the same with ``assignment`` in every nugget (``support``, ``partial_support``, ``not_support``), ``run_id`` and
``answer_text``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.formats import TOPIC_NAMES, topic_of
from robustcs.inputs.paths import StrPath
from robustcs.inputs.records import ByTurn, json_lines
from robustcs.inputs.text import is_turn_id

#: How much of a nugget an answer holds, by what an assignment says (Pradeep et al. 2024).
SUPPORT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}


IMPORTANCE = ("vital", "okay")


_PASSAGES = ("passages", "docids", "references")


@dataclass(frozen=True)
class Nugget:
    """One fact that an answer should hold.

    importance
        ``vital`` or ``okay``; empty where the file does not say.
    passages
        Ids of passages that hold it; empty where nobody says.
    support
        Of an assignment: how much of it the answer holds, 0, ½ or 1; None in a file of nuggets.
    """

    text: str
    importance: str
    passages: tuple[str, ...] = ()
    support: float | None = None


@dataclass(frozen=True)
class Assigned:
    """What an answer to one topic holds; ``answer`` is its text, None where the file does not have it."""

    nuggets: tuple[Nugget, ...]
    answer: str | None


def is_nuggets(record: Mapping[str, Any]) -> bool:
    """Whether a record has the nuggets of a topic, or is one of them."""
    return isinstance(record.get("nuggets"), list) or ("importance" in record and "text" in record)


def is_assignments(record: Mapping[str, Any]) -> bool:
    """Whether a record has nuggets that were assigned to an answer."""
    nuggets = record.get("nuggets")
    return isinstance(nuggets, list) and any(isinstance(one, dict) and "assignment" in one for one in nuggets)


def read_nuggets(path: StrPath) -> dict[str, tuple[Nugget, ...]]:
    """Topic → its nuggets in file order.

    Raises :class:`InputError` with every bad line (bounded): no topic, a nugget without a text, another importance than vital
    or okay, passages that are no list of ids, a nugget that stands twice.
    """
    problems = ProblemList(path)
    texts: ByTurn[str] = ByTurn(path, "nuggets")
    found: dict[str, dict[str, Nugget]] = {}
    for line, record in json_lines(path, problems):
        topic = _topic(record, line, problems)
        listed = record.get("nuggets", [record])
        for entry in listed if isinstance(listed, list) and topic else []:
            nugget = _nugget(topic, entry, line, texts)
            if nugget is None:
                continue
            if found.setdefault(topic, {}).setdefault(nugget.text, nugget) != nugget:
                told = f"topic {topic}: nugget {nugget.text[:40]!r} stands twice, and not alike"
                texts.problems.add(line, told, "keep one of the two", "contradicting-entries")
    texts.problems.take(problems)
    texts.problems.raise_if_any(sum(map(len, found.values())))
    if not found:
        raise input_error(path, None, "the file has no nuggets", "check the path", "empty")
    return {topic: tuple(nuggets.values()) for topic, nuggets in found.items()}


def read_assignments(path: StrPath, name: str = "") -> dict[str, Assigned]:
    """Topic → what the answer of ``name`` holds, in file order.

    Of a file with several runs, that with the ``run_id`` ``name`` is read.

    Raises :class:`InputError` with every bad line (bounded): no topic, no list of nuggets, an assignment that is none of
    :data:`SUPPORT`, a topic that stands twice, several runs none of which is called ``name``.
    """
    problems = ProblemList(path)
    texts: ByTurn[str] = ByTurn(path, "nuggets")
    by_run: dict[str, dict[str, Assigned]] = {}
    for line, record in json_lines(path, problems):
        topic = _topic(record, line, problems)
        if not topic:
            continue
        if not is_assignments(record):
            problems.add(
                line, f"topic {topic}: no nuggets with an assignment", "name assignments, not nuggets", "no-assignment"
            )
            continue
        nuggets = [_nugget(topic, entry, line, texts, assigned=True) for entry in record["nuggets"]]
        answer = record.get("answer_text")
        of_run = by_run.setdefault(str(record.get("run_id", "")), {})
        if topic in of_run:
            problems.add(line, f"topic {topic} stands twice", "keep one of the two", "repeated-turn")
        of_run[topic] = Assigned(tuple(one for one in nuggets if one), answer if isinstance(answer, str) else None)
    texts.problems.take(problems)
    texts.problems.raise_if_any(sum(len(one.nuggets) for of_run in by_run.values() for one in of_run.values()))
    if not by_run:
        raise input_error(path, None, "the file has no assignments", "check the path", "empty")
    if len(by_run) > 1 and name not in by_run:
        told = f"assignments of {', '.join(sorted(by_run))}, and none of {name!r}"
        raise input_error(path, None, told, "give the answers one of these names", "several-runs")
    return by_run[name] if name in by_run else next(iter(by_run.values()))


def _topic(record: Mapping[str, Any], line: int, problems: ProblemList) -> str:
    """The id of the topic; empty, and a problem, where there is none."""
    topic = topic_of(record)
    if is_turn_id(topic):
        return str(topic).strip()
    problems.add(line, "no topic id", f"give every line its topic, as {' or '.join(TOPIC_NAMES)}", "no-turn-id")
    return ""


def _nugget(topic: str, entry: Any, line: int, texts: ByTurn[str], assigned: bool = False) -> Nugget | None:
    fields = entry if isinstance(entry, dict) else {"text": entry}
    text = texts.text(topic, fields.get("text"), line)
    if text is None:
        return None
    importance = str(fields.get("importance") or "").strip().lower()
    if importance not in ("", *IMPORTANCE):
        texts.problems.add(line, f"topic {topic}: importance {importance[:20]!r}", "write vital or okay", "bad-value")
        return None
    passages: Any = next((fields[name] for name in _PASSAGES if fields.get(name)), [])
    if not isinstance(passages, list) or not all(is_turn_id(one) for one in passages):
        texts.problems.add(line, f"topic {topic}: the passages of a nugget are no list of ids", 'write ["ID", …]', "bad-value")
        return None
    support = None
    if assigned:
        said = str(fields.get("assignment", "")).strip().lower()
        if said not in SUPPORT:
            told = f"topic {topic}: assignment {said[:20]!r}"
            texts.problems.add(line, told, f"write {', '.join(SUPPORT)}", "bad-value")
            return None
        support = SUPPORT[said]
    return Nugget(text, importance, tuple(str(one).strip() for one in passages), support)
