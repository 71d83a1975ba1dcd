"""The table [retrieval]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import UsageError
from robustcs.retrieval.settings import RetrievalSettings, from_table, in_words


def test_paths_are_relative_to_the_file() -> None:
    found = from_table({"index": "i", "rewriter": "t.tsv:qr", "reranker": "m", "store": "s", "k1": 1}, Path("/p"))
    assert (found.index, found.rewriter, found.reranker, found.store, found.folder) == (
        Path("/p/i"), "/p/t.tsv:qr", Path("/p/m"), Path("/p/s"), Path("/p/retrieved"),
    )  # fmt: skip
    assert from_table({"index": "i", "rewriter": "first"}, Path("/p")).rewriter == "first"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "tfidf"}, "model 'tfidf'; write bm25 or ql"),
        ({"b": 1.1}, "b is 1.1; write a number from 0 to 1"),
        ({"k1": True}, "k1 is True; write a number from 0"),
        ({"depth": 0}, "depth is 0; write a whole number from 1 to 2147483647"),
        ({"device": "gpu"}, "device 'gpu'; write auto, cpu or cuda"),
        ({"batch": 0}, "batch is 0; write a whole number from 1 to 2147483647"),
        ({"rm3": 1}, "rm3 is 1; write true or false"),
        ({"heap": "2 GB"}, "heap '2 GB'; write a size as Java does, such as 512m or 2g"),
        ({"store": 3}, "store is 3; write a text in quotes"),
    ],
)
def test_wrong_values(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        from_table({"index": "i", **change}, Path())
    assert str(error.value) == message


def test_only_what_the_model_uses_is_in_the_key() -> None:
    one, other = RetrievalSettings(Path("i"), mu=5, depth=7, heap="1g", fb_docs=3), RetrievalSettings(Path("i"))
    assert one.parameters() == other.parameters()
    assert RetrievalSettings(Path("i"), rm3=True, fb_docs=3).parameters() != RetrievalSettings(Path("i"), rm3=True).parameters()
    assert in_words(RetrievalSettings(Path("i"), model="ql", rm3=True).parameters()) == (
        "query likelihood mu=1000 + RM3 (10 terms, 10 passages, weight 0.5)"
    )


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400])
@pytest.mark.parametrize("name", ["k1", "b", "mu", "original_query_weight"])
def test_numbers_that_no_ranker_can_use(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"{name} is .*; write a number from 0"):
        RetrievalSettings(**{"index": "x", name: value})


def test_a_heap_of_thousands_of_digits() -> None:
    with pytest.raises(UsageError, match="heap '999.*; write a size as Java does"):
        RetrievalSettings(index="x", heap="9" * 5000 + "g")
