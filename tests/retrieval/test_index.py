"""Indexing and searching with real Java."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from robustcs.errors import InputError, UsageError
from robustcs.retrieval.index import build_index, index_state, ready_index
from robustcs.retrieval.java import start
from robustcs.retrieval.settings import RetrievalSettings
from robustcs.retrieval.store import Searcher
from tests.retrieval_support import needs_pyserini

ROOT = Path(__file__).resolve().parent.parent.parent


def untracked(items, what, total):  # type: ignore[no-untyped-def]
    return items


def silent(message: str) -> None:
    pass


@pytest.fixture(scope="module")
def index(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "made" / "index"
    build_index(demo / "collection.jsonl", folder, "256m", 1, untracked, silent)
    assert [path.name for path in folder.parent.iterdir()] == ["index"]
    return folder


#: Runs an endless program as Java is run, and says when that one has started.
INDEXING = """
import sys
from robustcs.retrieval.index import _run

program = "import sys, time; print('here', file=open(sys.argv[1], 'w')); time.sleep(600)"
_run([sys.executable, "-c", program, sys.argv[1]], 1, 1, lambda items, what, total: items)
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux ends a process with its parent"
)
def test_java_ends_with_a_killed_parent(tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    # both processes have this end of the pipe: it breaks when both are gone
    with subprocess.Popen(
        [sys.executable, "-c", INDEXING, started], stdin=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert started.read_text() == "here\n"
        process.kill()
        process.wait()
        broken = False
        for _ in range(1000):
            try:
                os.write(process.stdin.fileno(), b".")
            except BrokenPipeError:
                broken = True
                break
            time.sleep(0.01)
        assert broken


def test_no_index_and_not_an_index(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        index_state(tmp_path / "none")
    assert str(error.value) == (
        f"{tmp_path / 'none'}: no such index; give an index with --index, or a collection with --collection to create one"
    )
    with pytest.raises(InputError) as error:
        index_state(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}: not an index: the folder has no file segments_N; name the folder of a Lucene index"
    )
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="not an index: this is a file"):
        index_state(tmp_path / "file")


@needs_pyserini
def test_an_index_made_again_has_another_checksum(demo: Path, index: Path, tmp_path: Path) -> None:
    state = index_state(index)
    assert state.documents == 280 and state == index_state(index)
    lines = (demo / "collection.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "other.jsonl").write_text("".join(lines[1:]))
    build_index(tmp_path / "other.jsonl", tmp_path / "index", "256m", 2, untracked, silent)
    other = index_state(tmp_path / "index")
    assert other.documents == 279 and other.checksum != state.checksum


@needs_pyserini
def test_an_index_of_the_same_passages_is_the_same_index(
    demo: Path, index: Path, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in (demo / "collection.jsonl").read_text().splitlines()]
    with gzip.open(tmp_path / "same.tsv.gz", "wt") as stream:
        stream.writelines(f"{line['id']}\t{line['contents']}\n" for line in lines)
    build_index(tmp_path / "same.tsv.gz", tmp_path / "again", "256m", 1, untracked, silent)
    shutil.copytree(index, tmp_path / "moved")
    state, segments = index_state(index), {path.name for path in index.glob("*.si")}
    assert {path.name for path in (tmp_path / "again").glob("*.si")} == segments
    assert [index_state(tmp_path / name).checksum for name in ("again", "moved")] == [
        state.checksum
    ] * 2
    # what another program changed, or put in its place, is not what robustcs made
    origin = tmp_path / "moved" / "robustcs.json"
    shutil.copy(origin, tmp_path / "again" / "robustcs.json")
    assert index_state(tmp_path / "again").checksum != state.checksum
    for content in ("[]", "{}"):
        origin.write_text(content)
        assert index_state(tmp_path / "moved").checksum != state.checksum


@needs_pyserini
def test_an_index_is_made_of_the_wanted_passages_only(tmp_path: Path) -> None:
    collection, folder = tmp_path / "c.tsv", tmp_path / "index"
    collection.write_text("1\tbicycle chain\n2\tbrake pads\n")
    made = ready_index(folder, collection, "256m", 1, untracked, silent).checksum
    shutil.rmtree(folder)
    assert ready_index(folder, collection, "256m", 1, untracked, silent, {made}).checksum == made
    shutil.rmtree(folder)
    collection.write_text("1\tbicycle chain\n")
    with pytest.raises(
        InputError,
        match="c.tsv: not the passages that the runs were retrieved from; give their index",
    ):
        ready_index(folder, collection, "256m", 1, untracked, silent, {made})
    assert [path.name for path in tmp_path.iterdir()] == ["c.tsv"]


@needs_pyserini
def test_a_collection_that_changed_is_told(tmp_path: Path) -> None:
    collection, folder = tmp_path / "c.tsv", tmp_path / "index"
    collection.write_text("1\tbicycle chain\n2\tbrake pads\n")
    ready_index(folder, collection, "256m", 1, untracked, silent)
    collection.touch()
    assert ready_index(folder, collection, "256m", 1, untracked, silent).documents == 2
    collection.write_text("1\tbicycle chain\n2\tbrake pad\n")
    with pytest.raises(
        InputError,
        match="the content of .* has changed since this index was created; delete the folder",
    ):
        ready_index(folder, collection, "256m", 1, untracked, silent)


@needs_pyserini
def test_a_bad_collection_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("1\tbicycle\n1\tchain\n")
    with pytest.raises(InputError, match="c.tsv:2: passage 1 is also in line 1"):
        build_index(tmp_path / "c.tsv", tmp_path / "index", "256m", 1, untracked, silent)
    assert [path.name for path in tmp_path.iterdir()] == ["c.tsv"]


@needs_pyserini
@pytest.mark.parametrize(
    "change",
    [{}, {"k1": 1.2, "b": 0.75}, {"model": "ql", "mu": 200.0}, {"rm3": True}],
    ids=["bm25", "tuned", "ql", "rm3"],
)
def test_equal_to_anserini_alone(index: Path, change: dict[str, object]) -> None:
    """One question at a time by Anserini's own call, against our batches of them."""
    settings = replace(RetrievalSettings(index), **change)  # type: ignore[arg-type]
    questions = {
        "a": "Who built the first chain?",
        "b": "spring tides 😀",
        "c": "the of",
        "d": "queen of the ant nest",
    }
    searcher = Searcher(index_state(index), settings, 2)
    found = searcher.search(questions, 20)
    assert searcher.documents == 280 and found.keys() == questions.keys()
    assert len(found["a"][0]) == 20 and found["c"][0] == []
    for key, question in questions.items():
        hits = searcher._searcher.search(question, 20)
        assert found[key][0] == [hit.docid for hit in hits]
        assert np.allclose(found[key][1], [hit.score for hit in hits], rtol=0, atol=0)


@needs_pyserini
def test_models_differ(index: Path) -> None:
    changes: list[dict[str, object]] = [{}, {"b": 0.9}, {"model": "ql"}, {"rm3": True}]
    scores = set()
    for change in changes:
        settings = replace(RetrievalSettings(index), **change)  # type: ignore[arg-type]
        scores.add(
            tuple(
                Searcher(index_state(index), settings, 1)
                .search({"a": "bicycle chain"}, 5)["a"][1]
                .round(4)
            )
        )
    assert len(scores) == len(changes)


@needs_pyserini
def test_rm3_needs_term_vectors(demo: Path, tmp_path: Path) -> None:
    """An existing index that Anserini made without them is opened as it is, for BM25."""
    from robustcs.retrieval.java import anserini_jar, java_home

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "c.jsonl").write_text(json.dumps({"id": "a", "contents": "bicycle chain"}))
    subprocess.run(
        [java_home() / "bin" / "java", "-Xmx256m", "-cp", anserini_jar(), "io.anserini.index.IndexCollection", "-collection",
         "JsonCollection", "-input", tmp_path / "in", "-index", tmp_path / "index", "-generator",
         "DefaultLuceneDocumentGenerator"],
        check=True, capture_output=True,
    )  # fmt: skip
    settings = RetrievalSettings(tmp_path / "index")
    assert Searcher(index_state(tmp_path / "index"), settings, 1).search({"q": "chain"}, 3)["q"][
        0
    ] == ["a"]
    with pytest.raises(InputError, match="the index has no term vectors, which RM3 needs"):
        Searcher(index_state(tmp_path / "index"), replace(settings, rm3=True), 1)


@needs_pyserini
def test_a_damaged_index_is_told(index: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "index"
    damaged.mkdir()
    for file in index.iterdir():
        (damaged / file.name).write_bytes(file.read_bytes()[: 40 if file.suffix == ".si" else None])
    with pytest.raises(InputError, match="Lucene cannot read this index"):
        Searcher(index_state(damaged), RetrievalSettings(damaged), 1)


@needs_pyserini
def test_indexing_without_memory_leaves_nothing_behind(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start("256m")  # the machine of this process; that of indexing is another one
    with pytest.raises(UsageError, match="^Java cannot work with a heap of 4m .*OutOfMemoryError"):
        build_index(demo / "collection.jsonl", tmp_path / "index", "4m", 1, untracked, silent)
    said = 'Exception in thread "pool-2-thread-1" java.lang.OutOfMemoryError: x\nIndexing Complete! 280 documents indexed'
    monkeypatch.setattr("robustcs.retrieval.index._run", lambda *arguments: said)
    with pytest.raises(UsageError, match="^Java cannot work with a heap of 256m"):
        build_index(demo / "collection.jsonl", tmp_path / "index", "256m", 1, untracked, silent)
    assert not any(tmp_path.iterdir())


@needs_pyserini
@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('Exception in thread "pool-2-thread-1" java.lang.OutOfMemoryError: Java heap space',
         "^Java cannot work with a heap of 2g .java.lang.OutOfMemoryError: Java heap space.; choose another size"),
        ('Exception in thread "pool-2-thread-1" java.io.EOFException: read past EOF',
         "Lucene cannot read this index .java.io.EOFException: read past EOF.; create it again$"),
    ],
)  # fmt: skip
def test_a_thread_that_dies_is_told(
    index: Path, capfd: pytest.CaptureFixture[str], said: str, message: str
) -> None:
    """Anserini goes on without its answer, and Java tells only its error stream."""
    from pyserini.pyclass import JHashMap, autoclass

    def search(*arguments: object) -> object:
        autoclass("java.lang.System").err.println(said)
        return JHashMap()

    searcher = Searcher(index_state(index), RetrievalSettings(index), 1)
    searcher._searcher = SimpleNamespace(batch_search=search)
    with pytest.raises((InputError, UsageError), match=message):
        searcher.search({"a": "bees"}, 5)
    assert capfd.readouterr().err == ""


def test_nothing_is_loaded_by_importing() -> None:
    code = (
        "import sys, robustcs.retrieval.store, robustcs.project.retrieved, robustcs.retrieval.rewriting\n"
        "print([name for name in ('pyserini', 'jnius', 'torch', 'transformers', 'pandas') if name in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
