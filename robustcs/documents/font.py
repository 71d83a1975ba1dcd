"""The font of figures: DejaVu Sans, which comes with matplotlib, so that figures are the same on every machine."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np


@cache
def font_folder() -> Path:
    """Return the folder of the font's files, without importing matplotlib."""
    found = find_spec("matplotlib")
    assert found is not None and found.origin is not None  # robustcs requires matplotlib
    return Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"


@cache
def advances(bold: bool = False) -> Mapping[int, float]:
    """Return code point → width of its character as a share of the font size, for all characters of the font.

    Source: tables ``cmap`` (format 12), ``hhea`` and ``hmtx`` of the OpenType specification.
    """
    data = (font_folder() / f"DejaVuSans{'-Bold' if bold else ''}.ttf").read_bytes()
    (count,) = struct.unpack_from(">H", data, 4)
    start = {name: place for name, _, place, _ in struct.iter_unpack(">4sLLL", data[12 : 12 + 16 * count])}
    cmap, (maps,) = start[b"cmap"], struct.unpack_from(">H", data, start[b"cmap"] + 2)
    tables = (cmap + place for _, _, place in struct.iter_unpack(">HHL", data[cmap + 4 : cmap + 4 + 8 * maps]))
    table = next(place for place in tables if struct.unpack_from(">H", data, place) == (12,))
    (groups,) = struct.unpack_from(">L", data, table + 12)
    (units,), (last,) = struct.unpack_from(">H", data, start[b"head"] + 18), struct.unpack_from(">H", data, start[b"hhea"] + 34)
    widths = np.frombuffer(data, ">u2", 2 * last, start[b"hmtx"])[::2] / units
    found: dict[int, float] = {}
    for first, end, glyph in struct.iter_unpack(">LLL", data[table + 16 : table + 16 + 12 * groups]):
        found |= {code: float(widths[min(glyph + code - first, last - 1)]) for code in range(first, end + 1)}
    return found


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of one line of text in inches; ``size`` is that of the font in points."""
    known = advances(bold)
    return sum(known.get(ord(character), 1.0) for character in text) * size / 72
