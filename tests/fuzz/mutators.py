"""Changes to a valid file: what hands, programs and bad luck do to bytes, lines, fields, numbers, JSON and TOML values."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
from collections.abc import Callable
from random import Random
from typing import Any

#: Cells, numbers and texts that have broken readers, here or elsewhere.
NUMBERS = (
    "0", "-0", "-1", "+1", "1_0", "²", "٣", "1e400", "-1e400", "1e-400", "nan", "NaN", "-nan", "inf", "Infinity",
    "-inf", "0x10", "1,5", "1.", ".5", "1e5", "1E+05", "--1", "1 ", "00012", "1.0", "3.0", "2147483648",
    "9223372036854775808", "1" * 20, "9" * 400, "9" * 5000, "0." + "0" * 400 + "1", "1e", "1d5", "1f", "True", "null",
    "1/2", "１", "1\u00a0", "99999", "-32769", "1001",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "\x00", "\x1b[31m", "\x85", "\u2028", "\u200b", "\u202e", "\ufeff", "é", "e\u0301", "\ufffd",
    "\U0001f600", "all", "id", "query_id", "turn", "#", '"', "'", '"a', 'a"b', "“", "\\", "\\N", "NA", "None", "=1+1",
    "<b>", "../x", "a:b", "{", "[", "]", "31_1", "d1", "31_" + "9" * 4400, "9" * 5000, "x" * 140_000, "\r", "\n",
    "\v", "\f", "\x1c", "{}", "[]", "[[]]", "sep=;", "Q0",
)  # fmt: skip
JSON_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**25, 10**400, float("nan"), float("inf"), 1e308, "", " ", "x", "1", "31_1",
    "a\nb", "\ud800", "\x00", [], {}, [[]], [{}], [None], {"": None}, {"id": 1}, {"data": []}, ["a", 1], [1, 2],
    [5, 1], [-1, 10**30],
)  # fmt: skip
TOML_VALUES = (
    "[]", "{}", '""', '" "', '"\\u0000"', "1", "-1", "1.5", "nan", "inf", "-inf", "true", "1979-05-27", "07:32:00",
    "0x10", "1_0", "1e400", '"a:b"', "'x'", '["a", 1, true]', "[[1]]", "[{}]", '{ a = "b" }', "9" * 30, "9" * 5000,
    '"""', '"P_99999999999999999999"', '"P(rel=²)@1"', '"relative_P_inf"', '"P_+1"', '">1e999"', '"\\ud800"',
    '"irds:x"', '"."', '"~"', '"/dev/null"', '["nDCG@3"]', '"Rprec"', '">nan"', '"P_' + "9" * 5000 + '"',
    '">' + "9" * 5000 + '"', '["a\\nb"]', '"a\\nb"',
)  # fmt: skip
TOML_LINES = (
    "[a]", "[a.b.c]", "[[runs]]", '["a.b"]', "[policy]", "a.b = 1", "= 1", '"" = "x"', "[]", '"a\\nb" = 1',
    '[formulations."qr:a\\nb"]\nx = 1', '[formulations.""]', "[retrieval]\nindex = 1",
)  # fmt: skip
DEEP = 100_000

Mutator = Callable[[Random, bytes], bytes]


def mutate(random: Random, data: bytes) -> bytes:
    """``data`` with one change, seldom several."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        data = random.choice(MUTATORS)(random, data)
    return data


def _at(random: Random, data: bytes) -> int:
    return random.randrange(len(data) + 1)


def _bytes(random: Random, data: bytes) -> bytes:
    """Some bytes changed, taken out or put in."""
    for _ in range(random.randint(1, 4)):
        at = _at(random, data)
        new = bytes(random.randrange(256) for _ in range(random.randint(0, 2)))
        data = data[:at] + new + data[at + random.randint(0, 2) :]
    return data


def _separators(random: Random, data: bytes) -> bytes:
    """A separator, a quote or a bracket in place of another, once or everywhere."""
    marks = [*(bytes([byte]) for byte in b" \t,;\n\r\"':={}[]\\_.-"), b"\r\n"]
    there = [mark for mark in marks if mark in data]
    if not there:
        return data
    old, new = random.choice(there), random.choice([*marks, b"", b"  ", b"\v", b"\xa0", b"\x00"])
    if random.random() < 0.5:
        return data.replace(old, new)
    places = [match.start() for match in re.finditer(re.escape(old), data)]
    at = random.choice(places)
    return data[:at] + new + data[at + len(old) :]


def _lines(random: Random, data: bytes) -> bytes:
    """Lines repeated, dropped, moved, cut, joined or commented out."""
    lines = data.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    how = random.randrange(8)
    if how == 0:
        lines.insert(other, lines[at])
    elif how == 1:
        del lines[at]
    elif how == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 3:
        lines[at] = lines[at][: _at(random, lines[at])]
    elif how == 4:
        lines[at] = (
            lines[at] + lines.pop(other) if len(lines) > 1 and at < len(lines) - 1 else lines[at]
        )
    elif how == 5:
        more = (
            b"",
            b"   ",
            b"#",
            b"# x",
            b" # x",
            b"\t\t",
            b"\r",
            b"query_id Q0 docno rank score tag",
        )
        lines.insert(at, random.choice(more))
    elif how == 6:
        lines = lines * 12
    else:
        random.shuffle(lines)
    return b"\n".join(lines)


_CELL = re.compile(rb"[^\s,;:\"\[\]{}=]+")
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")


def _cells(random: Random, data: bytes) -> bytes:
    """One field changed to something else, or to another field of the file."""
    cells = list(_CELL.finditer(data))
    if not cells:
        return data
    cell = random.choice(cells)
    new = random.choice(cells)[0] if random.random() < 0.3 else random.choice(TEXTS).encode()
    return data[: cell.start()] + new + data[cell.end() :]


def _numbers(random: Random, data: bytes) -> bytes:
    """One number, or all of them, changed."""
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return data
    new = random.choice(NUMBERS).encode()
    if random.random() < 0.1 and len(new) < 50:
        return _NUMBER.sub(lambda _: new, data)
    number = random.choice(numbers)
    return data[: number.start()] + new + data[number.end() :]


def _encodings(random: Random, data: bytes) -> bytes:
    """The file in another encoding, or with a mark in front."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return b"\xef\xbb\xbf" + data
    how = random.choice(
        ("latin-1", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp1252", "utf-8-in-the-middle")
    )
    if how == "utf-8-in-the-middle":
        at = _at(random, data)
        return data[:at] + b"\xef\xbb\xbf" + data[at:]
    return text.encode(how, "surrogatepass" if how.startswith("utf") else "replace")


def _packed(random: Random, data: bytes) -> bytes:
    """Compressed, and often damaged."""
    packed = random.choice((gzip.compress(data, mtime=0), bz2.compress(data), lzma.compress(data)))
    how = random.randrange(5)
    if how == 0:
        return packed
    if how == 1:
        return packed[: _at(random, packed)]
    if how == 2:
        return packed + random.choice((data[:20], packed, b"\x00" * 8, packed[: len(packed) // 2]))
    at = random.randrange(len(packed))
    return packed[:at] + bytes([random.randrange(256)]) + packed[at + 1 :]


def _cut(random: Random, data: bytes) -> bytes:
    return data[: _at(random, data)] if random.random() < 0.7 else data[_at(random, data) :]


def _json(random: Random, data: bytes) -> bytes:
    """One node of one JSON value changed, repeated, renamed or taken out; a file of another kind stays as it is."""
    try:
        value, whole = json.loads(data), True
    except (ValueError, RecursionError):
        lines = data.split(b"\n")
        at = random.randrange(len(lines))
        try:
            value, whole = json.loads(lines[at]), False
        except (ValueError, RecursionError):
            return data
    changed = _dump(_change(random, value), random.random() < 0.5)
    if whole:
        return changed
    lines[at] = changed
    return b"\n".join(lines)


def _dump(value: Any, escaped: bool) -> bytes:
    return json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")


def _change(random: Random, value: Any) -> Any:
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(list(value))
        how = random.random()
        if how < 0.1:
            return {name: item for name, item in value.items() if name != key}
        if how < 0.2:
            name = random.choice(
                ("", " ", "id", "turn", "31_1", key + " ", "9" * 5000, "a\nb", "\ud800", "data")
            )
            return {(name if old == key else old): item for old, item in value.items()}
        return {**value, key: _change(random, value[key])}
    if isinstance(value, list) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        how = random.random()
        if how < 0.1:
            return value[:at] + value[at + 1 :]
        if how < 0.2:
            return [*value, value[at]]
        return [*value[:at], _change(random, value[at]), *value[at + 1 :]]
    return random.choice(JSON_VALUES) if random.random() < 0.9 else [value]


def _nested(random: Random, data: bytes) -> bytes:
    """Brackets without end, in place of a number or at the beginning."""
    opened, closed = random.choice(
        ((b"[", b"]"), (b'{"a":', b"}"), (b"{a=", b"}"), (b"(", b")"), (b"-", b""))
    )
    deep = opened * DEEP + b"1" + (closed * DEEP if random.random() < 0.7 else b"")
    numbers = list(_NUMBER.finditer(data))
    if not numbers or random.random() < 0.3:
        return deep + data[:20]
    number = random.choice(numbers)
    return data[: number.start()] + deep + data[number.end() :]


def _keys(random: Random, data: bytes) -> bytes:
    """A TOML line changed: its value, its key, its table."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    key, equals, _ = lines[at].partition(b"=")
    if equals and random.random() < 0.8:
        lines[at] = key + b"= " + random.choice(TOML_VALUES).encode()
    else:
        lines[at] = random.choice(TOML_LINES).encode()
    return b"\n".join(lines)


MUTATORS: tuple[Mutator, ...] = (
    _bytes, _bytes, _separators, _separators, _lines, _lines, _cells, _cells, _cells, _numbers, _numbers, _numbers, _encodings,
    _packed, _cut, _json, _json, _json, _nested, _keys,
)  # fmt: skip
