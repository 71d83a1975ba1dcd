"""Judgments and queries from ir_datasets by name: ``irds:trec-cast/v1/2020/judged``."""

from __future__ import annotations

from typing import Any

from robustcs.errors import NotInstalledError, UsageError
from robustcs.inputs.formats import Record, Role, TextFormat, by_id
from robustcs.inputs.paths import IRDS_PREFIX


def judgments(name: str) -> list[tuple[str, str, int]]:
    """Return (turn, document, grade) of every judgment of the data set.

    Raises :class:`NotInstalledError` without ir_datasets, and :class:`UsageError` for an unknown name or a data set without
    judgments.
    """
    dataset = _load(name)
    if not dataset.has_qrels():
        raise UsageError("no-qrels", f"{_identifier(name)} has no qrels", "choose a subset with qrels, such as …/judged")
    return [(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in dataset.qrels_iter()]


def queries(name: str) -> list[Record]:
    """Return the queries of the data set with their fields; turns of the system, which are not questions, are skipped.

    Raises as :func:`judgments` does.
    """
    dataset = _load(name)
    if not dataset.has_queries():
        raise UsageError("no-queries", f"{_identifier(name)} has no queries", "choose a subset with queries")
    fields = (query._asdict() for query in dataset.queries_iter())
    asked = [query for query in fields if str(query.get("participant") or "User").lower() == "user"]
    return [Record(None, place, query) for place, query in enumerate(asked, 1)]


def _identifier(name: str) -> str:
    return name.removeprefix(IRDS_PREFIX)


def _load(name: str) -> Any:
    try:
        import ir_datasets  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise NotInstalledError("no-ir-datasets", f"{name} needs ir_datasets", "pip install ir_datasets") from None
    try:
        return ir_datasets.load(_identifier(name))
    except KeyError:
        found = f"ir_datasets has no data set {_identifier(name)!r}"
        raise UsageError("unknown-dataset", found, "see the catalogue of ir_datasets") from None


#: Fields that serve every role in a data set with one text per query.
_ONLY = ("text", "query", "title")

_FORMULATIONS: dict[Role, tuple[str, ...]] = {
    "original": ("raw_utterance", "utterance"),
    "qr": ("automatic_rewritten_utterance",),
    "human": ("manual_rewritten_utterance",),
}

QUERIES = TextFormat(
    "queries of ir_datasets", lambda record: "query_id" in record, by_id("query_id"),
    {role: (*names, *_ONLY) for role, names in _FORMULATIONS.items()},
    optional=True, named=_FORMULATIONS,
)  # fmt: skip
