"""Read a whole collection for indexing: check every line, and rewrite it in the format of Anserini."""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from robustcs.errors import ProblemList
from robustcs.inputs.collection import passages
from robustcs.inputs.text import is_whole
from robustcs.programs.runner import Track

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
    ticks = iter(track(range(_guess_parts(collection)), "checking passages", _guess_parts(collection)))
    while some := list(islice(checked, PART)):
        with (folder / f"part{files:05}.jsonl").open("wb") as part:
            for _, passage, text in some:
                line = index_line(passage, text).encode()
                content.update(line)
                part.write(line)
        written += len(some)
        files += 1
        next(ticks, None)
    for _ in ticks:  # ends the bar
        pass
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


def _guess_parts(path: Path) -> int:
    """Estimate the number of parts for the progress bar: passages of 400 bytes, compressed to a third."""
    try:
        size = path.stat().st_size * (3 if path.suffix in (".gz", ".bz2", ".xz", ".zst") else 1)
    except OSError:
        return 1
    return size // (400 * PART) + 1


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


def _find_repeated(path: str | os.PathLike[str], hashes: array[int], lines: array[int], problems: ProblemList) -> None:
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
