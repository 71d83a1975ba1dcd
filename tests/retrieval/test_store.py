"""The store of rankings."""

from __future__ import annotations

import multiprocessing
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import InputError
from robustcs.project.retrieved import Retrieval
from robustcs.retrieval.settings import RetrievalSettings
from robustcs.retrieval.store import Ranker, RankingStore, digest, normalised

BM25 = {"model": "bm25", "k1": 0.9, "b": 0.4}
RANKER = Ranker("/index", "abc", BM25, "pyserini 0.22.1")


def ranking(size: int, start: int = 0) -> tuple[list[str], np.ndarray]:
    return [f"d{n}" for n in range(start, start + size)], np.linspace(9, 1, size)


def test_the_same_question_in_other_writing() -> None:
    assert normalised(" What\tis  it?\n") == "What is it?"
    assert digest("caf\u00e9  au lait") == digest("cafe\u0301 au lait ")
    assert digest("what is it?") != digest("What is it?")


def test_a_deeper_request_misses_and_a_shallower_one_is_cut(tmp_path: Path) -> None:
    store = RankingStore(tmp_path / "new" / "store.sqlite")
    store.put(RANKER, {"q": ranking(3), "empty": ([], np.zeros(0))}, 100)
    assert store.known(RANKER, ["q", "empty", "other"], 100) == {"q", "empty"}
    assert store.known(RANKER, ["q"], 101) == set()
    found = store.get(RANKER, ["q", "empty"], 2)
    assert found["q"][0] == ["d0", "d1"] and found["q"][1].tolist() == [9.0, 5.0]
    assert found["empty"][0] == [] and len(found["empty"][1]) == 0
    store.put(RANKER, {"q": ranking(2, 50)}, 2)  # a shallower one does not replace it
    assert store.get(RANKER, ["q"], 100)["q"][0] == ["d0", "d1", "d2"]
    store.put(RANKER, {"q": ranking(4, 7)}, 1000)
    assert store.get(RANKER, ["q"], 100)["q"][0] == ["d7", "d8", "d9", "d10"]


@pytest.mark.parametrize(
    "other",
    [
        Ranker("/index", "abd", BM25, "pyserini 0.22.1"),
        Ranker("/index", "abc", {**BM25, "b": 0.75}, "pyserini 0.22.1"),
        Ranker("/index", "abc", BM25, "pyserini 0.35.0"),
    ],
)
def test_everything_that_decides_a_ranking_is_in_its_key(tmp_path: Path, other: Ranker) -> None:
    store = RankingStore(tmp_path / "store.sqlite")
    store.put(RANKER, {"q": ranking(3)}, 100)
    assert store.known(other, ["q"], 1) == set() and store.known(
        replace(RANKER, path="/moved"), ["q"], 1
    ) == {"q"}
    assert store.others("q") == [({"form": 2, "index": "/index", "checksum": "abc", "software": "pyserini 0.22.1",
                                   "parameters": BM25}, 100)]  # fmt: skip


IDS = st.text(st.characters(exclude_characters="\n", codec="utf-8"), min_size=1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(IDS, st.floats(allow_nan=False))))
def test_rankings_come_back_as_they_were(pairs: list[tuple[str, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = RankingStore(Path(folder) / "store.sqlite")
        ids, scores = [pair[0] for pair in pairs], np.array([pair[1] for pair in pairs])
        store.put(RANKER, {"q": (ids, scores)}, 1000)
        found, values = store.get(RANKER, ["q"], 1000)["q"]
        assert found == ids and values.tolist() == scores.tolist()


def write_many(path: Path, first: int) -> None:
    store = RankingStore(path)
    for number in range(first, first + 60):
        store.put(RANKER, {f"q{number}": ranking(20, number)}, 20)


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_many, args=(path, start)) for start in (0, 30, 60)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    found = RankingStore(path).get(RANKER, [f"q{n}" for n in range(2000)], 20)
    assert len(found) == 120 and all(found[f"q{n}"][0] == ranking(20, n)[0] for n in range(120))


def test_size_and_prune(tmp_path: Path) -> None:
    store, other = (
        RankingStore(tmp_path / "store.sqlite"),
        Ranker("/other", "x", BM25, "pyserini 0.22.1"),
    )
    store.put(RANKER, {"q": ranking(3), "r": ranking(900)}, 1000)
    store.put(other, {"q": ranking(4)}, 1000)
    assert [(key, questions, passages) for key, _, questions, passages, _ in store.rankers()] == [
        (RANKER.key, 2, 903), (other.key, 1, 4),
    ]  # fmt: skip
    assert store.prune([RANKER.key]) == 2
    assert [row[0] for row in store.rankers()] == [other.key]
    assert store.known(other, ["q"], 1000) == {"q"}


def test_looking_makes_nothing(tmp_path: Path) -> None:
    store = RankingStore(tmp_path / "new" / "rankings.sqlite")
    key = digest("what is it")
    assert (
        store.known(RANKER, [key], 10) == set()
        and store.get(RANKER, [key], 10) == {}
        and store.others(key) == []
    )
    assert store.rankers() == [] and store.prune(["gone"]) == 0
    assert not any(tmp_path.iterdir())


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    path.write_bytes(b"not a database " * 100)
    with pytest.raises(InputError) as error:
        RankingStore(path).known(RANKER, ["q"], 1)
    assert str(error.value) == (
        f"{path}: the store cannot be used (file is not a database); delete the file, or name another one as store"
        " in [retrieval]"
    )


def test_a_ranking_that_the_store_loses_is_told(tmp_path: Path) -> None:
    retrieval = Retrieval.__new__(Retrieval)  # without an index, which needs Java
    retrieval.store, retrieval.settings = (
        RankingStore(tmp_path / "s"),
        RetrievalSettings(tmp_path, depth=3),
    )
    retrieval.__dict__ |= {"ranker": RANKER, "by_digest": {"q": "what", "lost": "and"}}
    retrieval.store.put(RANKER, {"q": ranking(3)}, 3)
    with pytest.raises(InputError, match="s: the store has lost 1 ranking; delete the file"):
        _ = retrieval._rankings
