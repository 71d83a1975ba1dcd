"""Read a whole collection: check every line, rewrite it in the format of Anserini for indexing, or split its documents."""

from __future__ import annotations

import hashlib
import json
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from robustcs.errors import NotInstalledError, ProblemList, UsageError, not_written
from robustcs.inputs.collection import passages
from robustcs.inputs.paths import StrPath
from robustcs.inputs.text import is_whole
from robustcs.overwrite_guard import refuse_protected
from robustcs.programs.runner import Track
from robustcs.similarity.stripping import sentence_spans
from robustcs.tempfiles import temporary

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
    """Yield every passage that can be indexed.

    Raises :class:`InputError` at the end with every bad line (bounded): not JSON, no tab, no id, an id with white space, no or
    empty contents, an id of an earlier line.
    """
    problems = ProblemList(collection)
    # eight bytes instead of the id: 38 million passages take 300 MB
    hashes, lines = array("q"), array("Q")
    for number, passage, text in _passages(collection, problems):
        hashes.append(hash(passage))
        lines.append(number)
        yield number, passage, text
    _find_repeated(collection, hashes, lines, problems)
    problems.raise_if_any()


def _passages(path: Path, problems: ProblemList) -> Iterator[Passage]:
    """Yield line, id and text of every passage that can be indexed; the others go to ``problems``."""
    for number, passage, text in passages(path, None, problems):
        if passage.split() != [passage]:
            found = f"passage id {passage!r} contains white space"
            problems.add(number, found, "change the id, because run files separate columns by white space", "bad-passage-id")
        elif not is_whole(passage):
            problems.add(number, f"passage id {passage!r} has half a character", "save the file as UTF-8", "bad-passage-id")
        elif not text.strip():
            problems.add(number, f"passage {passage} is empty", "write its text or delete the line", "empty-text")
        else:
            yield number, passage, text


def _find_repeated(path: StrPath, hashes: array[int], lines: array[int], problems: ProblemList) -> None:
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


def segment_collection(collection: Path, target: Path, words: int, split: Splitter, track: Track) -> tuple[int, int]:
    """Write every document ``D`` of ``collection`` as passages ``D-1``, ``D-2`` … (JSONL); return the numbers of both.

    Raises :class:`UsageError` if ``target`` exists, :class:`UntrustedError` if a link leads out of a project, and
    :class:`InputError` for bad lines of the collection; then nothing is written.
    """
    refuse_protected(target)
    if target.exists():
        raise UsageError("file-exists", f"{target} already exists", "delete it, or give another --folder")
    documents = passages = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary(target.parent) as path:
            with path.open("w", encoding="utf-8", newline="\n") as file:
                for _, document, text in track(checked_passages(collection), "splitting documents", 0):
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
        raise NotInstalledError("no-spacy", found, "install it with: pip install 'robustcs[spacy]'") from error
    try:
        pipeline = spacy.load(model, exclude=["parser", "tagger", "ner", "attribute_ruler", "lemmatizer", "tok2vec"])
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
