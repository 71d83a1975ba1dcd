"""Lucene indexes and their collections: check every line of a collection, index it, identify the content of an index, and split
documents into passages.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from robustcs.errors import (
    FULL_ADVICE,
    NotInstalledError,
    OutputError,
    ProblemList,
    UsageError,
    input_error,
    not_written,
)
from robustcs.inputs.collection import passages
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import StrPath, parts_of
from robustcs.inputs.text import is_whole, read_json
from robustcs.messages import Message, OptionName
from robustcs.overwrite_guard import refuse_protected
from robustcs.programs.runner import Track
from robustcs.retrieval.java import (
    anserini_jar,
    java_error,
    java_home,
    memory_options,
    pyserini_version,
    start,
)
from robustcs.similarity.stripping import sentence_spans
from robustcs.tempfiles import remove_stale, temporary
from robustcs.wording import counted

#: File in the folder of an index that records what robustcs created it from.
_ORIGIN = "robustcs.json"
#: Options of Anserini's indexer.
_OPTIONS = (
    "-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator", "-storeDocvectors",
)  # fmt: skip
_PR_SET_PDEATHSIG = 1  # from linux/prctl.h
_INDEXED = re.compile(r"Indexing Complete! ([0-9,]+) documents indexed")


@dataclass(frozen=True)
class IndexState:
    """The content of an index at one time.

    path
        The folder, with links resolved.
    checksum
        Identifies the content, wherever the folder is. If robustcs created the index: SHA-256 of its passages and the indexing
        options. Else: SHA-256 of Lucene's segment descriptions (``segments_N``, ``*.si``), which contain a random id per
        segment and its number of documents, so a rebuilt index has another checksum even with the same content.
    documents
        Number of documents, if robustcs created the index; else None (the searcher counts them).
    """

    path: Path
    checksum: str
    documents: int | None


def index_state(folder: StrPath) -> IndexState:
    """Return the state of the index on disk, without starting Java.

    Raises :class:`InputError` if the folder does not exist or is not a Lucene index.
    """
    path = Path(folder)
    if not path.exists():
        advice = Message(
            "give an index with ",
            OptionName("index"),
            ", or a collection with ",
            OptionName("collection"),
            " to create one",
        )
        raise input_error(path, None, "no such index", advice, "no-such-index")
    if not any(path.glob("segments_*")):
        found = "the folder has no file segments_N" if path.is_dir() else "this is a file"
        raise input_error(
            path,
            None,
            f"not an index: {found}",
            "name the folder of a Lucene index",
            "not-an-index",
        )
    segments, origin = _segments(path), _origin(path)
    # the recorded passages do not describe segments of another index, or segments that another program changed
    ours = isinstance(origin.get("passages"), str) and origin.get("segments") == segments
    return IndexState(
        path.resolve(), _content(origin["passages"]) if ours else segments, origin.get("documents")
    )


def _segments(index: Path) -> str:
    """Return the SHA-256 of Lucene's segment descriptions."""
    files = sorted([*index.glob("segments_*"), *index.glob("*.si")])
    return hashlib.sha256(
        "".join(f"{file.name}\0{sha256(file)}\n" for file in files).encode()
    ).hexdigest()


def _content(passages: str) -> str:
    """Return the checksum of an index that robustcs created, from the checksum of its passages."""
    return hashlib.sha256("\0".join([passages, *_OPTIONS]).encode("utf-8", "replace")).hexdigest()


def _origin(index: Path) -> dict[str, Any]:
    """Return the record of how robustcs created the index; empty for other indexes."""
    value = read_json(index / _ORIGIN) if (index / _ORIGIN).is_file() else {}
    return value if isinstance(value, dict) else {}


def ready_index(
    folder: Path,
    collection: Path | None,
    heap: str,
    threads: int,
    track: Track,
    tell: Callable[[str], None],
    wanted: Collection[str] = (),
) -> IndexState:
    """Return the index of ``folder``, created from ``collection`` if needed; ``wanted`` as in :func:`build_index`.

    Raises :class:`InputError` also if the collection has changed since robustcs created the index.
    """
    remove_stale(folder.parent)
    if not folder.exists() and collection is not None:
        build_index(collection, folder, heap, threads, track, tell, wanted)
    elif collection is not None and _on_disk(collection) and (origin := _origin(folder)):
        same = all(origin.get(name) == value for name, value in _dated(collection).items())
        if not same and origin.get("sha256") != _checksum(collection):
            found = f"the content of {collection} has changed since this index was created"
            raise input_error(
                folder, None, found, "delete the folder to create it again", "stale-index"
            )
    return index_state(folder)


def _on_disk(collection: Path) -> bool:
    return all(file.is_file() for file in parts_of(collection))


def _dated(collection: Path) -> dict[str, Any]:
    """Return file properties that change with the file and can be read without its content; lists for several files."""
    states = [file.stat() for file in parts_of(collection)]
    sizes, times = [one.st_size for one in states], [one.st_mtime_ns for one in states]
    several = len(states) > 1
    return {"size": sizes if several else sizes[0], "mtime": times if several else times[0]}


def _checksum(collection: Path) -> Any:
    """Return the SHA-256 of the collection; a list for several files."""
    sums = [sha256(file) for file in parts_of(collection)]
    return sums if len(sums) > 1 else sums[0]


def build_index(
    collection: Path,
    folder: Path,
    heap: str,
    threads: int,
    track: Track,
    tell: Callable[[str], None],
    wanted: Collection[str] = (),
) -> None:
    """Check ``collection`` line by line, index it with Anserini and count the documents; all or nothing.

    Anserini drops the rest of a file after a malformed line, keeps passages with equal ids and drops empty ones, all with exit
    code 0. So robustcs reads the collection first and rewrites it for Anserini (``*.jsonl`` in a temporary folder next to the
    index). Term vectors are stored because RM3 needs them. ``wanted``: checksums of the indexes of existing runs; if it is
    empty, any collection is accepted.

    Raises :class:`InputError` with every bad line (bounded), for passages other than ``wanted``, and if the counts differ,
    :class:`NotInstalledError` without pyserini or Java, :class:`UsageError` if Java fails.
    """
    start(heap)  # report problems with Java before hours of indexing
    version, jar, java = pyserini_version(), anserini_jar(), java_home() / "bin" / "java"
    tell(f"indexing {collection} into {folder}")
    # recorded before reading, so that a change during reading is detected later
    origin: dict[str, Any] = {"collection": os.fspath(collection)}
    if _on_disk(collection):
        origin |= {"sha256": _checksum(collection), **_dated(collection)}
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with temporary(folder.parent) as own:
            own.mkdir(0o700)
            parts, made = own / "passages", own / "index"
            parts.mkdir()
            written, files, passages = write_parts(collection, parts, track)
            if wanted and _content(passages) not in wanted:
                told = "not the passages that the runs were retrieved from"
                advice = Message(
                    "give their index with ",
                    OptionName("index"),
                    ", or another ",
                    OptionName("folder"),
                    " to retrieve all questions from this collection",
                )
                raise input_error(collection, None, told, advice, "other-collection")
            command = [
                os.fspath(java), *memory_options(heap), "-cp", os.fspath(jar), "io.anserini.index.IndexCollection",
                *_OPTIONS, "-input", os.fspath(parts), "-index", os.fspath(made), "-threads", str(threads),
            ]  # fmt: skip
            said = _run(command, files, written, track)
            found = _INDEXED.search(said)
            if found is None or "OutOfMemoryError" in said:
                # one thread may fail while the others finish
                full = "No space left on device"
                raise (
                    OutputError(folder, full.lower(), FULL_ADVICE)
                    if full in said
                    else java_error(said, heap)
                )
            indexed = int(found[1].replace(",", ""))
            if indexed != written:
                told = f"{counted(written, 'passage')}, but Anserini indexed {indexed}"
                raise input_error(
                    collection,
                    None,
                    told,
                    "report this bug with the collection",
                    "wrong-document-count",
                )
            origin |= {
                "documents": indexed,
                "pyserini": version,
                "passages": passages,
                "segments": _segments(made),
            }
            (made / _ORIGIN).write_text(json.dumps(origin, indent=1) + "\n", encoding="utf-8")
            try:
                made.rename(folder)
            except OSError:
                if not folder.exists():
                    raise
                tell(f"{folder} was created by another process in the meantime and is used")
    except OSError as error:
        raise not_written(folder, error) from None
    tell(f"indexed {counted(indexed, 'passage')}")


def _tied_to_us() -> Callable[[], None] | None:
    """Return a function that makes Linux kill a new process when this one ends; None on other systems."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    control = ctypes.CDLL(None).prctl
    return lambda: control(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _run(command: list[str], files: int, passages: int, track: Track) -> str:
    """Return the output of the command, with progress by finished files; it is killed when this process is interrupted."""
    ticks = iter(track(range(files), f"indexing {counted(passages, 'passage')}", files))
    said = []
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=_tied_to_us(),
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                said.append(line)
                if line.rstrip().endswith("docs added."):
                    next(ticks, None)
        except BaseException:
            process.kill()
            raise
    for _ in ticks:  # finish the bar
        pass
    return "".join(said)


# ---------------------------------------------------------------- collections
#: Passages per file: Anserini processes each file in one thread and reports when it is done.
PART = 50_000

Passage = tuple[int, str, str]


def write_parts(collection: Path, folder: Path, track: Track) -> tuple[int, int, str]:
    """Write the passages into JSONL files of ``folder``; return the numbers of passages and files, and a SHA-256.

    The checksum covers ids and texts in order, whatever the format or compression of the collection.

    Raises :class:`InputError` as :func:`checked_passages` does.
    """
    checked = checked_passages(collection)
    written, files, content = 0, 0, hashlib.sha256()
    batches = iter(lambda: list(islice(checked, PART)), [])
    for files, some in enumerate(track(batches, "checking passages", 0), 1):
        with (folder / f"part{files:05}.jsonl").open("wb") as part:
            for _, passage, text in some:
                line = index_line(passage, text).encode()
                content.update(line)
                part.write(line)
        written += len(some)
    return written, files, content.hexdigest()


def index_line(passage: str, text: str) -> str:
    """Return the line of a passage in the format of Anserini."""
    # encoding two texts is faster than encoding an object, and there are millions
    return f'{{"id": {json.dumps(passage)}, "contents": {json.dumps(text)}}}\n'


def checked_passages(collection: Path) -> Iterator[Passage]:
    """Yield every passage that can be indexed; of several files, the first that has a passage counts.

    Raises :class:`InputError` at the end of a file with every bad line (bounded): not JSON, no tab, no id, an id with white
    space, no or empty contents, an id of an earlier line.
    """
    earlier = array("q")
    files = parts_of(collection)
    for file in files:
        problems = ProblemList(file)
        # eight bytes instead of the id: 38 million passages take 300 MB
        hashes, lines = array("q"), array("Q")
        for number, passage, text in _passages(file, problems):
            key = hash(passage)
            hashes.append(key)
            lines.append(number)
            if not _among(earlier, key):
                yield number, passage, text
        _find_repeated(file, hashes, lines, problems)
        problems.raise_if_any()
        if file is not files[-1]:
            earlier.extend(hashes)
            earlier = array("q", np.sort(np.frombuffer(earlier, np.int64)).tobytes())


def _among(keys: array[int], key: int) -> bool:
    """Return whether a number is among sorted ones."""
    place = bisect_left(keys, key)
    return place < len(keys) and keys[place] == key


def _passages(path: Path, problems: ProblemList) -> Iterator[Passage]:
    """Yield line, id and text of every passage that can be indexed; the others go to ``problems``."""
    for number, passage, text in passages(path, None, problems):
        if passage.split() != [passage]:
            found = f"passage id {passage!r} contains white space"
            problems.add(
                number,
                found,
                "change the id, because run files separate columns by white space",
                "bad-passage-id",
            )
        elif not is_whole(passage):
            problems.add(
                number,
                f"passage id {passage!r} has half a character",
                "save the file as UTF-8",
                "bad-passage-id",
            )
        elif not text.strip():
            problems.add(
                number,
                f"passage {passage} is empty",
                "write its text or delete the line",
                "empty-text",
            )
        else:
            yield number, passage, text


def _find_repeated(
    path: StrPath, hashes: array[int], lines: array[int], problems: ProblemList
) -> None:
    """Add ids that occur in several lines. Lines with equal hashes are candidates; their ids are compared."""
    keys = np.frombuffer(hashes, dtype=np.int64) if hashes else np.zeros(0, np.int64)
    values, counts = np.unique(keys, return_counts=True)
    suspected = np.isin(keys, values[counts > 1])
    if not suspected.any():
        return
    wanted = set(np.frombuffer(lines, dtype=np.uint64)[suspected].tolist())
    seen: dict[str, int] = {}
    for number, passage, _ in _passages(Path(path), ProblemList(path)):
        if number in wanted and seen.setdefault(passage, number) != number:
            found = f"passage {passage} is also in line {seen[passage]}"
            problems.add(number, found, "keep one of the two lines", "repeated-passage")


# ---------------------------------------------------------------- documents as passages that end at sentence boundaries
# Al-Thani et al. (2023), "ECAsT": spaCy splits the documents of CAsT 2021 into passages of at most 250 words. As in TREC's
# tool, sentences are added until the next one would not fit, and a sentence that is too long is its own passage.

#: Splits a text into its sentences, including the white space between them, with the number of words of each.
Splitter = Callable[[str], Iterable[tuple[str, int]]]


def segment_collection(
    collection: Path, target: Path, words: int, split: Splitter, track: Track
) -> tuple[int, int]:
    """Write every document ``D`` of ``collection`` as passages ``D-1``, ``D-2`` … (JSONL); return the numbers of both.

    Raises :class:`UsageError` if ``target`` exists, :class:`UntrustedError` if a link leads out of a project, and
    :class:`InputError` for bad lines of the collection; then nothing is written.
    """
    refuse_protected(target)
    if target.exists():
        raise UsageError(
            "file-exists",
            f"{target} already exists",
            Message("delete it, or give another ", OptionName("folder")),
        )
    documents = passages = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary(target.parent) as path:
            with path.open("w", encoding="utf-8", newline="\n") as file:
                for _, document, text in track(
                    checked_passages(collection), "splitting documents", 0
                ):
                    documents += 1
                    for number, passage in enumerate(gathered(split(text), words), 1):
                        file.write(index_line(f"{document}-{number}", passage))
                        passages += 1
            path.rename(target)
    except OSError as error:
        raise not_written(target, error) from None
    return documents, passages


def gathered(some: Iterable[tuple[str, int]], words: int) -> list[str]:
    """Return passages of whole sentences with at most ``words`` words; a longer sentence is its own passage."""
    passages: list[list[str]] = []
    room = 0
    for sentence, size in some:
        if size > room or not passages:
            passages.append([])
            room = words
        passages[-1].append(sentence)
        room -= size
    joined = ("".join(passage).strip() for passage in passages)
    return [passage for passage in joined if passage]


def by_rules(text: str) -> list[tuple[str, int]]:
    """Return sentences by NLTK's rules; words are separated by white space."""
    starts = [0, *(start for start, _ in sentence_spans(text)[1:]), len(text)]
    return [(text[start:end], len(text[start:end].split())) for start, end in pairwise(starts)]


def by_spacy(model: str) -> Splitter:
    """Return a splitter with the sentences and words (tokens) of a spaCy model, such as ``en_core_web_sm``.

    Raises :class:`NotInstalledError` without spaCy or the model; nothing is downloaded.
    """
    try:
        import spacy  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        found = f"spaCy cannot be imported ({error})"
        raise NotInstalledError(
            "no-spacy", found, "install it with: pip install 'robustcs[spacy]'"
        ) from error
    try:
        pipeline = spacy.load(
            model, exclude=["parser", "tagger", "ner", "attribute_ruler", "lemmatizer", "tok2vec"]
        )
    except OSError as error:
        advice = f"install it with: python -m spacy download {model}"
        raise NotInstalledError("no-spacy-model", f"spaCy has no model {model}", advice) from error
    if "senter" in pipeline.component_names:
        pipeline.enable_pipe("senter")
    else:
        pipeline.add_pipe("sentencizer")
    pipeline.max_length = sys.maxsize  # the default limit is for parsers

    def split(text: str) -> list[tuple[str, int]]:
        return [(sentence.text_with_ws, len(sentence)) for sentence in pipeline(text).sents]

    return split
