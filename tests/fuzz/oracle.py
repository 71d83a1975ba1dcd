"""Plain slow parsers: what a file means by SPEC section 0 and the traps of real files, written down without any cleverness.

Every parser raises ``ValueError`` where the bytes mean nothing. A reader may refuse more than these do, but what it accepts
must be what these read. ``of_…`` says the same of a reader's value.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

#: What stands for a missing score.
_MISSING = ("", "nan", "null", "none", "n/a", "-")
#: What stands for a file that the plain parser leaves to others.
UNKNOWN = "not read here"

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
_HEADS = (
    "query_id",
    "qid",
    "q_id",
    "query-id",
    "query",
    "topic",
    "topic_id",
    "turn_id",
    "turn",
    "measure",
)
_IDS = ("id", "qid", "query_id", "turn_id", "turn", "_id", "sample_id", "query-id", "q_id")
_TEXT_NAMES = ("query", "text", "question", "rewrite")
_QUOTED = re.compile(r'(\S+)\s+\S+\s+["“](.*)["”]\s+(\S+)\s+(\S+)(\s+.*)?')


def plain(data: bytes) -> bytes:
    """The bytes unpacked, without a byte order mark."""
    unpack: dict[bytes, Callable[[bytes], bytes]] = {
        b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress,
    }  # fmt: skip
    for magic, how in unpack.items():
        if data.startswith(magic):
            try:
                data = how(data)
            except (OSError, EOFError, lzma.LZMAError, struct.error) as error:
                raise ValueError("damaged") from error
            except Exception as error:  # zlib.error
                raise ValueError("damaged") from error
            break
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("UTF-16")
    return data.removeprefix(b"\xef\xbb\xbf")


def lines(data: bytes) -> Iterator[bytes]:
    """The lines without their ends; a carriage return inside a line could be a line end of old and means nothing."""
    for line in plain(data).split(b"\n"):
        line = line.rstrip(b"\r")
        if b"\r" in line and not line.startswith(b"#"):
            raise ValueError("carriage return inside a line")
        yield line


def cells(data: bytes) -> Iterator[list[bytes]]:
    """The cells of every row: neither comments nor blank lines, nor a header."""
    first = True
    for line in lines(data):
        found = line.split()
        if line.startswith(b"#") or not found:
            continue
        if not (first and found[0].decode("utf-8", "replace").lower() in _HEADS):
            yield found
        first = False


def real(cell: str) -> float:
    if not (_DECIMAL.fullmatch(cell) or _INFINITE.fullmatch(cell)):
        raise ValueError(cell)
    return float(cell)


def whole(cell: str) -> int:
    if not _WHOLE.fullmatch(cell):
        raise ValueError(cell)
    return int(cell)


def single(value: float) -> float:
    """As a 32-bit float."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _some(found: Any) -> Any:
    if not found:
        raise ValueError("no rows")
    return found


def run(data: bytes) -> Any:
    return _run(data, False)


def run_by_rank(data: bytes) -> Any:
    return _run(data, True)


def _names_documents(data: bytes) -> bool:
    """Whether the first line names columns, one of them of passages: tables are left to their own tests."""
    first = next((line for line in lines(data) if line.strip() and not line.startswith(b"#")), b"")
    names = {name.strip(b' "').lower() for name in re.split(rb"[\t, ]+", first)}
    return bool(names & {b"docno", b"doc_id", b"doc", b"docid", b"document"})


def _three(data: bytes) -> list[tuple[str, str, str]] | None:
    """The rows of a file that has three columns throughout."""
    rows = list(cells(data))
    if not rows or any(len(row) != 3 for row in rows):
        return None
    return [(row[0].decode(), row[1].decode(), row[2].decode()) for row in rows]


def _run(data: bytes, ranks: bool) -> Any:
    if three := _three(data):
        numbers = [real(number) for *_, number in three]
        if all(number == int(number) for number in numbers):
            return [(turn, document, single(-number), *((int(number),) if ranks else ()))
                    for (turn, document, _), number in zip(three, numbers, strict=True)]  # fmt: skip
        places: dict[str, int] = {}
        found = []
        for (turn, document, _), number in zip(three, numbers, strict=True):
            places[turn] = places.get(turn, 0) + 1
            found.append((turn, document, single(number), *((places[turn],) if ranks else ())))
        return found
    rows: list[tuple[Any, ...]] = []
    for row in cells(data):
        if len(row) < 6 and _names_documents(data):
            return UNKNOWN
        if len(row) < 6:
            raise ValueError("columns")
        rank = (whole(row[3].decode()),) if ranks else ()
        rows.append((row[0].decode(), row[2].decode(), single(real(row[4].decode())), *rank))
    return _some(rows)  # type: ignore[no-any-return]


def of_run(read: Any) -> list[tuple[Any, ...]]:
    ranks = () if read.ranks is None else (read.ranks.tolist(),)
    turns = [read.turns[code] for code in read.turn_codes.tolist()]
    return list(zip(turns, read.ids.texts(), read.scores.tolist(), *ranks, strict=True))


def qrels(data: bytes) -> Any:
    grades: dict[tuple[str, str], int] = {}
    for turn, document, number in _three(data) or ():
        if grades.setdefault((turn, document), whole(number)) != whole(number):
            raise ValueError("two grades")
    if grades:
        return grades
    for row in cells(data):
        if len(row) != 4 and _names_documents(data):
            return UNKNOWN
        if len(row) != 4:
            raise ValueError("columns")
        grade = whole(row[3].decode())
        if grades.setdefault((row[0].decode(), row[2].decode()), grade) != grade:
            raise ValueError("two grades")
    return _some(grades)


def of_qrels(read: Any) -> Any:
    documents = read.documents.texts()
    pairs = zip(read.turn_codes.tolist(), read.document_codes.tolist(), strict=True)
    return {(read.turns[turn], documents[document]): grade
            for (turn, document), grade in zip(pairs, read.grades.tolist(), strict=True)}  # fmt: skip


def scores(data: bytes) -> Any:
    """The scores of all measures; a turn has none where its value stands for a missing one."""
    found: dict[tuple[str, str], float | None] = {}
    for line in plain(data).decode().split("\n"):
        row = line.split()
        if (
            line.startswith("#")
            or not row
            or row[1:2] == ["all"]
            or row[0] in ("runid", "relstring")
        ):
            continue
        measure, turn, cell = row
        value = None if cell.lower() in _MISSING else real(cell)
        if value in (float("inf"), float("-inf")) or (measure, turn) in found:
            raise ValueError(cell)
        found[measure, turn] = value
    return _some({key: value for key, value in found.items() if value is not None})


def of_scores(read: Any) -> Any:
    return {
        (measure, turn): value for measure in read for turn, value in read[measure].dropna().items()
    }


def same_texts(data: bytes) -> Any:
    """The wanted passages of lines without doubts, grouped by texts that differ at most in case and white space."""
    found: dict[str, str] = {}
    try:
        rows = [text for text in plain(data).decode().split("\n") if text.strip()]
    except UnicodeDecodeError:  # reading stops after the last wanted passage
        return UNKNOWN
    for text in rows:
        if not text.lstrip().startswith("{"):
            cells = text.split("\t")
            if len(cells) != 2:
                return UNKNOWN
            passage, text = cells
        else:
            try:
                record = json.loads(text)
            except ValueError:
                return UNKNOWN
            if set(record) not in ({"id", "contents"}, {"_id", "title", "text"}) or not all(
                map(_is_text, record.values())
            ):
                return UNKNOWN
            *_, passage = (record[name] for name in ("_id", "id") if name in record)
            text = record.get("contents") or f"{record.get('title', '')} {record.get('text', '')}"
        if passage in found:
            return UNKNOWN
        found[passage] = "".join(text.lower().split())
    return _groups({name: text for name, text in found.items() if name in ("d0", "d1", "d2", "d3")})


def of_checksums(read: Any) -> Any:
    return _groups(read)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable()


def _groups(texts: dict[str, Any]) -> list[list[str]]:
    return sorted(
        sorted(one for one in texts if texts[one] == text) for text in set(texts.values())
    )


def turn_conversations(data: bytes) -> Any:
    """A table with tabs and the columns turn, conversation and turn_number, whose turns do not begin again."""
    text = plain(data).decode()
    rows = [line.split("\t") for line in text.split("\n") if line.strip()]
    head = [cell.strip().lower() for cell in rows[0]]
    # of tables put one after the other
    rows = [row for row in rows if [cell.strip().lower() for cell in row] != head]
    if (
        sorted(head) != ["conversation", "turn", "turn_number"]
        or any(len(row) != 3 for row in rows)
        or "\r" in text
    ):
        return UNKNOWN
    read = [{name: cell.strip() for name, cell in zip(head, row, strict=True)} for row in rows]
    if any(row["turn"].isdecimal() or not row["turn"] or not row["conversation"] for row in read):
        return UNKNOWN
    found: dict[str, tuple[str, int | None]] = {}
    for row in read:
        place = int(row["turn_number"]) if _WHOLE.fullmatch(row["turn_number"]) else None
        if place is not None and abs(place) > 10**9:
            place = None
        if found.setdefault(row["turn"], (row["conversation"], place))[0] != row["conversation"]:
            raise ValueError(row)
        found[row["turn"]] = row["conversation"], place
    return _some(found)


def needs(data: bytes) -> Any:
    found: dict[str, int] = {}
    rows = [line.split() for line in plain(data).decode().split("\n") if line.strip()]
    for place, row in enumerate(rows):
        if place == 0 and row[0] == "topic_id":
            continue
        topic, label = row
        if label not in ("1", "2", "3", "4") or found.setdefault(topic, int(label)) != int(label):
            raise ValueError(label)
    return _some(found)


def question_run(data: bytes) -> Any:
    """Turn, score and rank of every row; the ids of texts depend on the bank."""
    head = next(
        (line for line in plain(data).decode("utf-8", "replace").split("\n") if line.strip()), ""
    )
    if not re.match(r'\S+\s+\S+\s+["“]', head):
        return [(turn, score, rank) for turn, _, score, rank in run_by_rank(data)]
    filled = [line.strip() for line in plain(data).decode().split("\n") if line.strip()]
    rows = []
    for line in filled:
        match = _QUOTED.fullmatch(line)
        if match is None:
            raise ValueError(line)
        rows.append((match[1], single(real(match[4])), whole(match[3])))
    return rows


def of_question_run(read: Any) -> Any:
    return [(turn, score, rank) for turn, _, score, rank in of_run(read.run)]


def texts(data: bytes) -> Any:
    """Question texts as TSV, as JSONL with an id, and as one object; the other forms are left to their own tests."""
    text = plain(data).decode().replace("\r\n", "\n").removesuffix("\r")
    filled = [line for line in text.split("\n") if line.strip()]
    if not filled:
        raise ValueError("empty")
    head = filled[0].lower()
    if not head.lstrip().startswith(("{", "[")):
        quoted = "\t" not in head and {cell.strip(' "') for cell in head.split(",")} & set(_IDS)
        pairs = _texts_of_table(
            list(csv.reader(filled)) if quoted else [line.split("\t") for line in filled]
        )
    else:
        try:
            value = json.loads(text, object_pairs_hook=_Pairs)
        except ValueError:
            value = None
        one_record = isinstance(value, _Pairs) and not {"topic_number", *_IDS}.isdisjoint(
            key for key, _ in value
        )
        if value is None or one_record:
            records = [json.loads(line) for line in filled]
            if any("topic_number" in record for record in records):
                return UNKNOWN
            pairs = _texts_of_records(records)
        elif isinstance(value, _Pairs):
            pairs = value
        else:
            return UNKNOWN
    found: dict[str, str] = {}
    for turn, wording in pairs:
        if (
            not isinstance(turn, str | int)
            or isinstance(turn, bool)
            or not isinstance(wording, str)
        ):
            raise ValueError(turn)
        if found.setdefault(str(turn).strip(), wording.strip()) != wording.strip():
            raise ValueError("two texts")
    return found


class _Pairs(list[tuple[str, Any]]):
    """The entries of a JSON object, repeated keys included."""


def _texts_of_table(rows: list[list[str]]) -> list[tuple[Any, Any]]:
    head = [cell.strip() for cell in rows[0]]
    lower = [cell.lower() for cell in head]
    name = next((name for name in _IDS if name in lower), None)
    if name is None:
        return [(turn, wording) for turn, wording in rows]
    column = next(name for name in (*_TEXT_NAMES, "") if name in head or not name)
    if not column or any(len(row) != len(head) for row in rows):
        raise ValueError("columns")
    return [(row[lower.index(name)], row[head.index(column)]) for row in rows[1:]]


def _texts_of_records(records: list[dict[str, Any]]) -> list[tuple[Any, Any]]:
    column = next((name for name in _TEXT_NAMES if name in records[0]), None)
    try:
        return [
            (next(record[name] for name in _IDS if name in record), record[column])
            for record in records
        ]  # type: ignore[index]
    except (KeyError, StopIteration) as error:
        raise ValueError("field") from error
