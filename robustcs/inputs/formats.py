"""Formats of files with question texts or retrieved passages, and the records of such files; queries and judgments from
ir_datasets by name (``irds:trec-cast/v1/2020/judged``).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from robustcs.errors import NotInstalledError, ProblemList, UsageError
from robustcs.inputs.paths import IRDS_PREFIX
from robustcs.inputs.text import finite_number, id_text, is_turn_id

Role = Literal["original", "qr", "human"]

#: Formulation names that a user may write after ``FILE:`` instead of a field.
ROLE_NAMES: dict[str, Role] = {
    "original": "original", "raw": "original", "qr": "qr", "automatic": "qr", "human": "human", "manual": "human",
}  # fmt: skip


class Record(NamedTuple):
    """One record of a file; ``line`` is None for an entry of a JSON list, ``place`` counts from 1."""

    line: int | None
    place: int
    fields: dict[str, Any]


class Entry(NamedTuple):
    """One turn: its unchecked id, and its fields."""

    turn: object
    fields: Mapping[str, Any]
    line: int | None


class Utterance(NamedTuple):
    """A message of a conversation.

    passage
        Id of the passage that the system showed, where the file has this in place of its text.
    """

    who: str
    text: str
    passage: str = ""


#: Yields the unchecked id of each turn, and the messages before it.
Histories = Callable[[Iterable[Record]], Iterator[tuple[object, Sequence[Utterance]]]]


@dataclass(frozen=True)
class TextFormat:
    """A format of files with texts.

    name
        The name in messages, such as ``iKAT topics``.
    fits
        Whether a record has this format, by its fields.
    entries
        Yields the turns of the records; broken records go to the problems.
    columns
        Formulation → the fields that may contain it; the first one that a turn has counts. Without formulations that the format
        never has.
    optional
        Whether a turn may have no text. Such a turn is not in the result; otherwise it is a problem.
    last
        Fields with a list of the turns so far; the last one is the question.
    sampled
        Fields that may contain several samples of the text.
    named
        As ``columns``, for a formulation requested by its name instead of its role: without fields that serve every role. None
        if that is the same.
    history
        Yields what was said before each turn; None if the format does not tell.
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    entries: Entries
    columns: Mapping[Role, tuple[str, ...]]
    optional: bool = False
    last: tuple[str, ...] = ()
    sampled: tuple[str, ...] = ()
    named: Mapping[Role, tuple[str, ...]] | None = None
    history: Histories | None = None

    def names(self, column: str | None, role: Role, there: Container[str]) -> tuple[str, ...]:
        """Return the fields to read for ``column``, or for ``role`` without a column; ``there`` are the fields of the file.

        A field takes precedence over the name of a formulation. Several names of one formulation are the same column.
        """
        if column is None:
            return self.columns.get(role, ())
        if self.optional:
            alike = next((names for names in self.columns.values() if column in names), ())
            if alike:
                return alike
        role_of_column = ROLE_NAMES.get(column.lower())
        if column in there or role_of_column is None:
            return (column,)
        return (self.columns if self.named is None else self.named).get(role_of_column, ())

    def formulations(self, there: Container[str], own: bool = False) -> dict[Role, str]:
        """Return formulation → its field, for a file with the fields ``there``; ``own`` leaves out fields of every role."""
        columns = self.named if own and self.named is not None else self.columns
        found = {
            role: next((name for name in names if name in there), "")
            for role, names in columns.items()
        }
        return {role: name for role, name in found.items() if name}


def has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return a test of whether a record has all these fields."""
    return lambda record: all(name in record for name in names)


def turn_of(conversation: object, turn: object) -> object:
    """Return ``CONVERSATION_TURN``, or the turn id if it already contains the conversation; None if one is not an id."""
    first, second = id_text(conversation), id_text(turn)
    if not first or not second:
        return None
    return second if second.startswith(f"{first}_") else f"{first}_{second}"


#: Yields the turns of records; broken records go to the problems.
Entries = Callable[[Iterable[Record], ProblemList], Iterator[Entry]]


def each(
    turn: Callable[[dict[str, Any]], object],
    fields: Callable[[dict[str, Any]], Mapping[str, Any]] = lambda fields: fields,
) -> Entries:
    """Return a reader of turns with one record each; the functions return the turn id and the fields."""
    return lambda records, problems: (
        Entry(turn(record.fields), fields(record.fields), record.line) for record in records
    )


def by_id(*names: str) -> Entries:
    """Return a reader of turns with one record each; the first of ``names`` that is present is the field of the turn id."""
    return each(lambda fields: next((fields[name] for name in names if name in fields), None))


def flat(
    conversation: str,
    turn: str,
    name: Callable[[object, object], object] = turn_of,
    fields: Callable[[dict[str, Any]], Mapping[str, Any]] = lambda fields: fields,
) -> Entries:
    """Return a reader of turns with one record each; ``name`` maps the fields of conversation and place to the turn id."""

    def entries(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
        for record in records:
            found = name(record.fields.get(conversation), record.fields.get(turn))
            if found is None:
                place = f"entry {record.place} of the list: " if record.line is None else ""
                problems.skip(
                    record.line,
                    f"{place}no {conversation} or no {turn}",
                    "complete the entry",
                    "no-turn-id",
                )
            else:
                yield Entry(found, fields(record.fields), record.line)

    return entries


def nested(
    topic: str,
    lists: tuple[str, ...],
    turn: str,
    keep: Callable[[Mapping[str, Any]], bool] = lambda turn: True,
) -> Entries:
    """Return a reader of turns in a list of their conversation; ``topic`` is the field of its id, ``lists`` of the list."""

    def entries(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
        for record in records:
            number = record.fields.get(topic)
            turns = next((record.fields[name] for name in lists if name in record.fields), None)
            if not is_turn_id(number) or not isinstance(turns, list):
                found = f"topic {record.place} of the list has no {topic} or no list of turns"
                problems.add(record.line, found, "complete the topic", "no-turn-id")
                continue
            for place, entry in enumerate(turns, 1):
                name = turn_of(number, entry.get(turn)) if isinstance(entry, dict) else None
                if name is None:
                    found = f"topic {number}: turn {place} of the list has no {turn}"
                    problems.skip(record.line, found, "complete the turn", "no-turn-id")
                elif keep(entry):
                    yield Entry(name, entry, record.line)

    return entries


@dataclass(frozen=True)
class RunFormat:
    """A format of run files.

    name
        The name in messages with its article, such as ``an iKAT run``.
    fits
        Whether a record has this format, by its fields.
    entries
        Yields the turns of the records; broken records go to the problems.
    passages
        Returns the retrieved passages of a turn in file order, best first: unchecked pairs (passage id, score or None).
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    entries: Entries
    passages: Callable[[Mapping[str, Any]], list[tuple[object, object]]]


#: Names of the id of a passage object.
_IDS = ("id", "docid", "doc_id", "docno", "passage_id", "pid", "document_id")


def passages_in(value: object) -> list[tuple[object, object]]:
    """Return passages from ``{id: score}``, ``[id, …]`` or ``[{"id": …, "score": …}, …]``; empty for anything else."""
    if isinstance(value, dict):
        return [(passage, score) for passage, score in value.items()]
    if not isinstance(value, list):
        return []
    return [
        (next((one[name] for name in _IDS if name in one), None), one.get("score"))
        if isinstance(one, dict)
        else (one, None)
        for one in value
    ]


# ---------------------------------------------------------------- runs
def passages_of(name: str) -> Callable[[Mapping[str, Any]], list[tuple[object, object]]]:
    """Return a reader of the passages in the field ``name`` of a turn."""
    return lambda fields: passages_in(fields.get(name))


def first_turn(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first turn of a run of 2023 or 2024, which is one object; else the record itself."""
    turns = record.get("turns")
    first = turns[0] if isinstance(turns, list) and turns else record
    return first if isinstance(first, dict) else {}


#: Names of the id of a topic.
TOPIC_NAMES = ("topic_id", "narrative_id", "turn_id", "qid")

_CITED = ("citations", "passage_provenance")


def topic_of(record: Mapping[str, Any]) -> object:
    """Return the id of the topic of a record; None if there is none."""
    more = record.get("metadata")
    places = [record, more] if isinstance(more, dict) else [record]
    return next((place[name] for place in places for name in TOPIC_NAMES if name in place), None)


def is_answer(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an answer in sentences that cite passages."""
    said = answer_of(record)
    if said is None or topic_of(record) is None:
        return False
    return "references" in record or any(
        isinstance(one, dict) and not one.keys().isdisjoint(_CITED) for one in said[:1]
    )


def answer_of(record: Mapping[str, Any]) -> list[Any] | None:
    """Return the sentences of an answer, or the response with the best rank; None if there is no list of them."""
    said = record.get("answer", record.get("responses"))
    if not isinstance(said, list):
        return None
    ranked = [one for one in said if isinstance(one, dict) and "rank" in one]
    return [min(ranked, key=lambda one: finite_number(one["rank"]) or 0.0)] if ranked else said


def answer_entries(records: Iterable[Record], problems: ProblemList) -> Iterator[Entry]:
    """Yield the turns of records that are answers in sentences, or runs with such answers; others go to the problems."""
    for record in records:
        turns = record.fields.get("turns")
        for fields in turns if isinstance(turns, list) else [record.fields]:
            if isinstance(fields, dict) and answer_of(fields) is not None:
                yield Entry(topic_of(fields), fields, record.line)
            else:
                problems.add(
                    record.line,
                    "no list 'answer'",
                    "complete the row or delete it",
                    "no-such-column",
                )


# ---------------------------------------------------------------- ir_datasets
def irds_judgments(name: str) -> list[tuple[str, str, int]]:
    """Return (turn, document, grade) of every judgment of the data set.

    Raises :class:`NotInstalledError` without ir_datasets, and :class:`UsageError` for an unknown name or a data set without
    judgments.
    """
    dataset = _load(name)
    if not dataset.has_qrels():
        raise UsageError(
            "no-qrels",
            f"{_identifier(name)} has no qrels",
            "choose a subset with qrels, such as …/judged",
        )
    return [(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in dataset.qrels_iter()]


def irds_queries(name: str) -> list[Record]:
    """Return the queries of the data set with their fields; turns of the system, which are not questions, are skipped.

    Raises as :func:`irds_judgments` does.
    """
    dataset = _load(name)
    if not dataset.has_queries():
        raise UsageError(
            "no-queries", f"{_identifier(name)} has no queries", "choose a subset with queries"
        )
    fields = (query._asdict() for query in dataset.queries_iter())
    of_user = [
        query for query in fields if str(query.get("participant") or "User").lower() == "user"
    ]
    return [Record(None, place, query) for place, query in enumerate(of_user, 1)]


def _identifier(name: str) -> str:
    return name.removeprefix(IRDS_PREFIX)


def _load(name: str) -> Any:
    try:
        import ir_datasets  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise NotInstalledError(
            "no-ir-datasets", f"{name} needs ir_datasets", "pip install ir_datasets"
        ) from None
    try:
        return ir_datasets.load(_identifier(name))
    except KeyError:
        found = f"ir_datasets has no data set {_identifier(name)!r}"
        raise UsageError("unknown-dataset", found, "see the catalogue of ir_datasets") from None


#: Fields that serve every role in a data set with one text per query.
_ONLY = ("text", "query", "title")

#: Formulation → its fields in CAsT.
CAST_COLUMNS: dict[Role, tuple[str, ...]] = {
    "original": ("raw_utterance", "utterance"),
    "qr": ("automatic_rewritten_utterance",),
    "human": ("manual_rewritten_utterance",),
}

IRDS_QUERIES = TextFormat(
    "queries of ir_datasets", has("query_id"), by_id("query_id"),
    {role: (*names, *_ONLY) for role, names in CAST_COLUMNS.items()},
    optional=True, named=CAST_COLUMNS,
)  # fmt: skip
