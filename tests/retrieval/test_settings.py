"""The table [retrieval]."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import UsageError
from robustcs.inputs.heads import ir_metadata
from robustcs.inputs.runs import read_run
from robustcs.retrieval.settings import RetrievalSettings, from_table, in_words


def test_paths_are_relative_to_the_file() -> None:
    found = from_table(
        {"index": "i", "rewriter": "t.tsv:qr", "reranker": "m", "store": "s", "k1": 1}, Path("/p")
    )
    assert (found.index, found.rewriter, found.reranker, found.store, found.folder) == (
        Path("/p/i"), "/p/t.tsv:qr", Path("/p/m"), Path("/p/s"), Path("/p/retrieved"),
    )  # fmt: skip
    assert from_table({"index": "i", "rewriter": "first"}, Path("/p")).rewriter == "first"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "tfidf"}, "model is 'tfidf'; write bm25 or ql"),
        ({"b": 1.1}, "b is 1.1; write a number from 0 to 1"),
        ({"k1": True}, "k1 is True; write a number from 0"),
        ({"depth": 0}, "depth is 0; write a whole number from 1 to 2147483647"),
        ({"device": "gpu"}, "device is 'gpu'; write auto, cpu or cuda"),
        ({"batch": 0}, "batch is 0; write a whole number from 1 to 2147483647"),
        ({"rm3": 1}, "rm3 is 1; write true or false"),
        ({"ir_metadata": 1}, "ir_metadata is 1; write true or false"),
        ({"heap": "2 GB"}, "heap is '2 GB'; write a size in Java's notation, such as 512m or 2g"),
        ({"store": 3}, "store is 3; write a text in quotes"),
    ],
)
def test_wrong_values(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        from_table({"index": "i", **change}, Path())
    assert str(error.value) == message


def test_only_what_the_model_uses_is_in_the_key() -> None:
    one, other = (
        RetrievalSettings(Path("i"), mu=5, depth=7, heap="1g", fb_docs=3),
        RetrievalSettings(Path("i")),
    )
    assert one.parameters() == other.parameters()
    assert (
        RetrievalSettings(Path("i"), rm3=True, fb_docs=3).parameters()
        != RetrievalSettings(Path("i"), rm3=True).parameters()
    )
    assert in_words(RetrievalSettings(Path("i"), model="ql", rm3=True).parameters()) == (
        "query likelihood mu=1000 + RM3 (10 terms, 10 passages, weight 0.5)"
    )


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400])
@pytest.mark.parametrize("name", ["k1", "b", "mu", "original_query_weight"])
def test_numbers_that_no_ranker_can_use(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"{name} is .*; write a number from 0"):
        RetrievalSettings(**{"index": "x", name: value})


def test_a_heap_of_thousands_of_digits() -> None:
    with pytest.raises(UsageError, match="heap is '999.*; write a size in Java's notation"):
        RetrievalSettings(index="x", heap="9" * 5000 + "g")


def test_ir_metadata_says_how_a_run_was_made(tmp_path: Path) -> None:
    settings = RetrievalSettings(
        Path("i"), k1=0.8, depth=10, reranker=Path("models/mono"), ir_metadata=True
    )
    text = settings.metadata("robustcs", "pyserini 0.22.1")
    lines = text.splitlines()
    assert (
        lines[0] == "# ir_metadata.start"
        and lines[-1] == "# ir_metadata.end"
        and "#       - pyserini==0.22.1" in lines
    )
    stages = [json.loads(line.partition("- ")[2]) for line in lines if line.startswith("#     - ")]
    assert [(stage["name"], stage["depth"]) for stage in stages] == [("bm25", 10), ("mono", 100)]
    assert stages[0]["k1"] == 0.8 and stages[1]["reranks"] == "bm25"
    path = tmp_path / "run.trec"
    path.write_text(text + "1_1 Q0 d1 1 1.0 robustcs\n")
    assert len(read_run(path)) == 1 and ir_metadata(path) == "tag robustcs"
