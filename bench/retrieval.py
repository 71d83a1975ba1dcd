"""Measure the overhead of robustcs over pyserini: ``python bench/retrieval.py [--passages N] [--questions N]``.

The script indexes and searches generated passages in two ways. One uses Anserini's calls as pyserini does (IndexCollection,
batch_search, reading ids and scores of the hits). The other uses robustcs, which also checks and counts the collection, stores
rankings and writes runs. The two alternate, and the script prints medians.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from measure import machine

from robustcs.project.model import Project, TextSource
from robustcs.project.retrieved import Retrieval
from robustcs.project.workspace import Workspace
from robustcs.retrieval.index import build_index, index_state
from robustcs.retrieval.java import anserini_jar, java_home, start
from robustcs.retrieval.settings import RetrievalSettings
from robustcs.retrieval.store import Searcher

DEPTH = 1000


@dataclass(frozen=True)
class Timed:
    """One step: its name, seconds with pyserini alone (None without such a step) and with robustcs."""

    step: str
    alone: float | None
    ours: float


def generate(folder: Path, passages: int, questions: int) -> tuple[Path, Path]:
    """Write passages of 60 words with Zipf frequencies over 50,000 words, and questions of 8 of their rarer words."""
    source = random.Random(0)
    words = [f"w{number}" for number in range(50_000)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    rarer = list(accumulate(1 / (rank + 10) for rank in range(20, len(words))))
    collection, texts = folder / "collection.jsonl", folder / "questions.tsv"
    with collection.open("w") as file:
        for number in range(passages):
            text = " ".join(source.choices(words, cum_weights=weights, k=60))
            file.write(json.dumps({"id": f"p{number}", "contents": text}) + "\n")
    with texts.open("w") as file:
        for number in range(questions):
            text = " ".join(source.choices(words[20:], cum_weights=rarer, k=8))
            file.write(f"{number // 10 + 1}_{number % 10 + 1}\t{text}\n")
    return collection, texts


def seconds(step: Callable[[], Any]) -> float:
    """Wall seconds."""
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def main() -> None:
    """Print one table row per step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        collection, texts = generate(folder, given.passages, given.questions)
        rows = [index(folder, collection, given.repeats), *search(folder, texts, given.repeats)]
    print(f"{machine()} · {given.passages:,} passages, {given.questions} questions, top {DEPTH}\n")
    print("| step | pyserini alone s | through robustcs s | overhead |\n|---|--:|--:|--:|")
    for row in rows:
        alone = "–" if row.alone is None else f"{row.alone:.2f}"
        more = "–" if row.alone is None else f"{100 * (row.ours / row.alone - 1):+.0f}%"
        print(f"| {row.step} | {alone} | {row.ours:.2f} | {more} |")


def no_bar(items: Iterable[Any], *_: object) -> Iterable[Any]:
    """Ignore progress."""
    return items


def index(folder: Path, collection: Path, repeats: int) -> Timed:
    """Measure indexing; both programs use one thread."""
    (folder / "in").mkdir()
    (folder / "in" / "c.jsonl").symlink_to(collection)
    command = [
        java_home() / "bin" / "java", "-Xmx2g", "-cp", anserini_jar(), "io.anserini.index.IndexCollection", "-collection",
        "JsonCollection", "-input", folder / "in", "-index", folder / "alone", "-generator", "DefaultLuceneDocumentGenerator",
        "-threads", "1", "-storeDocvectors",
    ]  # fmt: skip
    alone, ours = [], []
    for _ in range(repeats):
        for made in (folder / "alone", folder / "index"):
            shutil.rmtree(made, ignore_errors=True)
        alone.append(seconds(lambda: subprocess.run(command, check=True, capture_output=True)))
        ours.append(
            seconds(
                lambda: build_index(collection, folder / "index", "2g", 1, no_bar, lambda _: None)
            )
        )
    return Timed("index", statistics.median(alone), statistics.median(ours))


def search(folder: Path, texts: Path, repeats: int) -> list[Timed]:
    """Measure search, a repetition from the store, and one edited question.

    A first search warms up Java and the file cache for both.
    """
    settings = RetrievalSettings(
        folder / "index", folder=folder / "runs", store=folder / "store.sqlite", depth=DEPTH
    )
    questions = dict(line.split("\t") for line in texts.read_text().splitlines())
    start("2g")
    searcher = Searcher(index_state(settings.index), settings, 1)
    java = searcher._searcher
    batch_search(java, questions)

    def through(name: str) -> float:
        project = Project(texts={name: TextSource(texts)}, retrieval=settings)
        return seconds(lambda: Retrieval(Workspace(project), lambda _: None).complete())

    alone, ours = [], []
    for _ in range(repeats):
        shutil.rmtree(folder / "runs", ignore_errors=True)
        (folder / "store.sqlite").unlink(missing_ok=True)
        alone.append(seconds(lambda: batch_search(java, questions)))
        ours.append(through("first"))
    step = f"search {len(questions)} questions, store, write the run"
    rows = [Timed(step, statistics.median(alone), statistics.median(ours))]
    rows.append(Timed("the same again, nothing to retrieve", None, through("first")))
    lines = texts.read_text().splitlines()
    texts.write_text("\n".join([f"{lines[0]} w77", *lines[1:]]) + "\n")
    rows.append(Timed("one question edited", None, through("first")))
    return rows


def batch_search(java: Any, questions: dict[str, str]) -> dict[str, list[tuple[str, float]]]:
    """Search like ``LuceneSearcher.batch_search`` of pyserini, and read ids and scores of the hits."""
    from pyserini.pyclass import JArrayList, JString

    texts, keys = JArrayList(), JArrayList()
    for key, text in questions.items():
        texts.add(JString(text.encode("utf-8")))
        keys.add(JString(key.encode("utf-8")))
    found = java.batch_search(texts, keys, DEPTH, 1)
    hits = {entry.getKey(): entry.getValue() for entry in found.entrySet().toArray()}
    return {key: [(hit.docid, hit.score) for hit in some] for key, some in hits.items()}


if __name__ == "__main__":
    main()
