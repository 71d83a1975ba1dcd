"""The texts of passages: JSONL with ``id`` and ``contents`` on every line (as pyserini reads it), or ``id TAB text``.

BEIR and MS MARCO name them ``_id`` or ``docid`` and ``text`` or ``segment``; their ``title`` is put before the text. The
passages of MTRAG tasks are read as well. Of several files, the first that has a passage counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from itertools import chain
from typing import Any, TypeVar

from robustcs.errors import ProblemList, input_error
from robustcs.inputs.heads import first_record
from robustcs.inputs.paths import StrPath, parts_of
from robustcs.inputs.readings import Union
from robustcs.inputs.records import add_not_json
from robustcs.inputs.text import filled_lines, parse_json

T = TypeVar("T")

#: The id of a line that begins with it; lines of unwanted passages are not parsed.
_LEADING_ID = re.compile(
    r'\s*\{\s*"(?:_?id|docid|docno|pid)"\s*:\s*"([^"\\]*)"\s*,.*\}\s*', re.DOTALL
)

_ID_NAMES = ("id", "_id", "docid", "docno", "doc_id", "pid", "passage_id")
_TEXT_NAMES = ("contents", "text", "segment", "passage", "body")

#: Fields that no other kind of file has.
_PYSERINI = {"id", "contents"}

#: Advice in messages about other formats.
FORMATS = 'write JSONL with "id" and "contents" on every line, or id TAB text'


def passage_lines(path: StrPath) -> tuple[Iterator[tuple[int, str]], bool]:
    """Return the non-blank lines of a collection with their numbers, and whether they are JSONL.

    Raises :class:`InputError` for an empty file, and if the first line has neither form.
    """
    lines = filled_lines(path)
    first = next(lines, None)
    if first is None:
        raise input_error(path, None, "the file is empty", FORMATS, "empty")
    jsonl = first[1].lstrip().startswith("{")
    if not jsonl and "\t" not in first[1]:
        raise input_error(path, first[0], "not a collection of passages", FORMATS, "unknown-format")
    return chain((first,), lines), jsonl


def passage_of(record: Any) -> tuple[str, str | None]:
    """Return the id and text of a JSONL record; an invalid id is empty, an invalid text is None."""
    if not isinstance(record, dict):
        return "", None
    passage = next((record[name] for name in _ID_NAMES if name in record), "")
    if isinstance(passage, bool) or not isinstance(passage, str | int):
        passage = ""
    field = next((name for name in _TEXT_NAMES if name in record), "")
    text, title = record.get(field), record.get("title")
    if not isinstance(text, str):
        return str(passage), None
    if field != "contents" and isinstance(title, str) and title.strip():
        text = f"{title.strip()} {text}"
    # half a character becomes a question mark, as it does in an index
    return str(passage), text if text.isascii() else text.encode("utf-8", "replace").decode()


def read_passages(path: StrPath, wanted: Collection[str]) -> Union[str]:
    """Return passage id → text of the ``wanted`` passages in the file or files, in file order.

    A file is streamed, and reading stops after the last wanted passage, so memory grows with ``wanted``, not with the
    collection. Only wanted lines are parsed completely; the others are only checked for an id and completeness.

    Raises :class:`InputError` with every malformed line (bounded), or if a wanted passage has two different texts in a file.
    """
    return _first_known(path, wanted, _read_texts)


def _first_known(
    path: StrPath, wanted: Collection[str], read: Callable[[StrPath, frozenset[str]], dict[str, T]]
) -> Union[T]:
    """Return passage → what ``read`` returns of the first file that has it; later files are read for the other passages."""
    found: Union[T] = Union()
    counts = []
    for part in parts_of(path):
        left = frozenset(wanted) - found.keys()
        own = read(part, left) if left or not wanted else {}
        counts.append(len(own))
        found.update(own)
    found.parts = tuple(counts) if len(counts) > 1 else ()
    return found


def _read_texts(path: StrPath, wanted: frozenset[str]) -> dict[str, str]:
    problems = ProblemList(path)
    texts: dict[str, str] = {}
    for number, passage, text in passages(path, wanted, problems):
        text = text.strip()
        problems.once(
            texts,
            passage,
            text,
            number,
            "passage {key} has a different text in an earlier line",
            "keep one of the two lines",
        )
        if len(texts) == len(wanted):
            break
    problems.raise_if_any()
    return texts


def read_text_checksums(path: StrPath, wanted: Collection[str]) -> Union[int]:
    """Return passage id → a checksum of its text without case and white space, for the ``wanted`` passages in the file.

    Checksums are those of this process. Reads as :func:`read_passages` does, and raises the same errors.
    """
    return _first_known(path, wanted, _read_checksums)


def _read_checksums(path: StrPath, wanted: frozenset[str]) -> dict[str, int]:
    problems = ProblemList(path)
    found: dict[str, int] = {}
    for _, passage, text in passages(path, wanted, problems):
        found[passage] = hash("".join(text.lower().split()))
        if len(found) == len(wanted):
            break
    problems.raise_if_any()
    return found


def read_passage_ids(path: StrPath, texts: Collection[str]) -> dict[str, list[str]]:
    """Return text → the ids of all passages with exactly this text, for those of ``texts`` in the file.

    White space around a text is ignored. Reads whole files one line at a time, so memory grows with ``texts``. Raises
    :class:`InputError` with every malformed line (bounded).
    """
    wanted = frozenset(texts)
    found: dict[str, list[str]] = {}
    for part in parts_of(path):
        problems = ProblemList(part)
        for _, passage, text in passages(part, None, problems):
            text = text.strip()
            if text in wanted and passage not in found.setdefault(text, []):
                found[text].append(passage)
        problems.raise_if_any()
    return found


def passages(
    path: StrPath, wanted: frozenset[str] | None, problems: ProblemList
) -> Iterator[tuple[int, str, str]]:
    """Yield line number, id and raw text of the ``wanted`` passages (None: all) of one file; problems go to ``problems``."""
    record = first_record(path) or {}
    if record.keys() != _PYSERINI:
        # imported only for files that may be of another kind
        from robustcs.inputs import mtrag
        from robustcs.inputs.sniff import refuse_other_kinds

        refuse_other_kinds(path, "collection")
        if mtrag.has_tasks(record):
            found = mtrag.passages(mtrag.json_records(path, problems))
            return (one for one in found if wanted is None or one[1] in wanted)
    lines, jsonl = passage_lines(path)
    found = _json_passages(lines, wanted, problems) if jsonl else _table_passages(lines, problems)
    return (one for one in found if wanted is None or one[1] in wanted)


def _json_passages(
    lines: Iterator[tuple[int, str]], wanted: frozenset[str] | None, problems: ProblemList
) -> Iterator[tuple[int, str, str]]:
    """Yield line number, id and text of passages; lines that begin with the id of an unwanted one are not parsed."""
    for number, line in lines:
        leading = _LEADING_ID.fullmatch(line)
        if leading and wanted is not None and leading[1] not in wanted:
            continue
        try:
            record = parse_json(line)
        except ValueError as error:
            add_not_json(problems, number, error)
            continue
        passage, text = passage_of(record)
        if not isinstance(record, dict):
            problems.add(number, "not a JSON object", FORMATS, "not-json")
        elif not passage:
            problems.add(number, "no passage id", FORMATS, "no-passage-id")
        elif text is None:
            problems.add(number, f"passage {passage} has no contents", FORMATS, "no-contents")
        else:
            yield number, passage, text


def _table_passages(
    lines: Iterator[tuple[int, str]], problems: ProblemList
) -> Iterator[tuple[int, str, str]]:
    for number, line in lines:
        passage, tab, text = line.partition("\t")
        if tab and passage.strip():
            yield number, passage.strip(), text
        else:
            problems.add(
                number,
                "no passage id" if tab else "no tab between id and text",
                FORMATS,
                "wrong-columns",
            )
