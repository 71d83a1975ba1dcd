"""Make untrusted text harmless, and lay out tables, for all renderers."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count, groupby
from os.path import commonprefix

from robustcs.documents.document import Column

#: Characters between which the two joiners have a meaning: letters of Arabic and Indic scripts, and parts of emoji.
_JOINED = "[\u0600-\u109f\u1780-\u18af\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
#: C0 and C1 controls except tab and line feed, characters that change the direction of the following text, characters
#: without width (ids that differ only in one look the same), lone surrogates and the two code points that XML forbids.
_NEVER = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
#: One set of characters comes first: long texts are searched for it ten times faster than for alternatives.
_UNSAFE = re.compile(
    f"[{_NEVER}\u200c\u200d\ufe00-\ufe0f](?:(?<=[{_NEVER}])"
    f"|(?<=[\u200c\u200d])(?!{_JOINED})|(?<=[\u200c\u200d])(?<!{_JOINED}.)"
    "|(?<=[!-~][\ufe00-\ufe0f])(?!\u20e3))"  # a variant of an ASCII character, which exists only for keycaps
)
#: The same pattern as scripts write it, in ASCII.
UNSAFE_IN_SCRIPTS = "".join(
    one if one.isascii() and one.isprintable() else f"\\u{{{ord(one):x}}}"
    for one in _UNSAFE.pattern
)
_PIECE = re.compile(r"(\S{10})(?=[^\W_]{3})")


def visible(text: str) -> str:
    """Return ``text`` with a symbol for every control or invisible character: ESC becomes ``␛``, U+202E ``⟨U+202E⟩``.

    Terminals, browsers and typesetters then show such characters instead of obeying them. Windows line ends become
    line feeds.
    """
    if text.isascii() and text.isprintable():  # most texts
        return text
    return _UNSAFE.sub(_picture, text.replace("\r\n", "\n"))


def json_visible(text: str) -> str:
    """Return JSON for terminals, with JSON escapes for all characters that :func:`visible` replaces: the value is the same."""
    return _UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1].replace("\x7f", "\\u007f"), text)


@lru_cache(maxsize=10_000)  # every renderer lays out the same cells
def one_line(text: str) -> str:
    """Return :func:`visible` text with single spaces for all white space, for table cells and captions."""
    return " ".join(visible(text).split())


def shortened(name: str, most: int) -> str:
    """Return :func:`one_line` text of at most ``most`` characters; the last quarter is its end, where names often differ."""
    line, end = one_line(name), most // 4
    return line if len(line) <= most else f"{line[: most - 1 - end]}…{line[-end:]}"


def shortened_names(names: Sequence[str], most: int) -> list[str]:
    """Return each name in at most ``most`` characters (at least 12); different names stay different.

    Names that would look alike show the place from which they differ instead of their end.
    """
    lines = [one_line(name) for name in names]
    shown = {line: shortened(line, most) for line in lines}
    for short, some in _alike(shown).items():
        head, differ = short[: most // 4], len(commonprefix(some))
        for line in some:
            shown[line] = f"{head}…{line[differ:]}"[:most]
    for short, some in _alike(shown).items():
        for line in some:
            numbered = (f" ({number})" for number in count(1))
            names_of_all = (short[: most - len(end)] + end for end in numbered)
            shown[line] = next(name for name in names_of_all if name not in shown.values())
    return [shown[line] for line in lines]


def _alike(shown: Mapping[str, str]) -> dict[str, list[str]]:
    """Return shortened text → the lines that have it, where these are several."""
    found: dict[str, list[str]] = {}
    for line, short in shown.items():
        found.setdefault(short, []).append(line)
    return {short: some for short, some in found.items() if len(some) > 1}


def beginning(text: str, most: int) -> str:
    """Return ``text``, cut to ``most`` characters with an ellipsis if it is longer."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def panel_titles(titles: Sequence[str], most: int) -> list[str]:
    """Return titles of panels, each of at most ``most`` characters.

    If one is longer, the part up to the first comma, such as the measure, is left out if all titles share it; the caption of
    the figure names it.
    """
    parts = [title.partition(", ") for title in titles]
    if (
        any(len(one_line(title)) > most for title in titles)
        and len({head for head, _, _ in parts}) == 1
        and len(parts) > 1
    ):
        titles = [rest or head for head, _, rest in parts]
    return shortened_names(titles, most)


def breakable(text: str, longest: int = 24) -> str:
    """Return ``text`` with invisible break points (U+200B) in words of more than ``longest`` characters, for typesetters, which
    otherwise break only at spaces."""
    return re.sub(rf"\S{{{longest + 1},}}", lambda word: _PIECE.sub("\\1\u200b", word[0]), text)


def anchor(text: str) -> str:
    """Return a name of ``a-z 0-9 -`` only (``x`` if it would be empty), safe as HTML id, LaTeX label and file name."""
    plain = unicodedata.normalize("NFKD", text[:200]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60] or "x"


def unique_anchor(text: str, taken: set[str]) -> str:
    """Return :func:`anchor` of a text, with a number if it is in ``taken``, and add it there."""
    name = anchor(text)
    found = next(
        one
        for one in chain([name], (f"{name}-{number}" for number in count(2)))
        if one not in taken
    )
    taken.add(found)
    return found


def turn_anchor(turn: str) -> str:
    """Return the id of a turn in a page, such as ``turn-31_4``: unique, and safe in HTML and in addresses."""
    safe = re.sub("[^A-Za-z0-9_-]", lambda match: f".{ord(match[0]):x}.", turn)
    if len(safe) > 120:
        import hashlib  # loads OpenSSL

        safe = f"{safe[:60]}.{hashlib.sha256(turn.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return f"turn-{safe}"


def head_groups(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """Return the shared heads above all column titles as (group or ``""``, number of columns); nothing if there are none."""
    groups = [
        (group, len(list(members)))
        for group, members in groupby(columns, key=lambda column: column.group)
    ]
    return groups if any(group for group, _ in groups) else []


def widened(
    columns: Sequence[Column], widths: Sequence[float], need: Callable[[str], float], gutter: float
) -> list[float]:
    """Return ``widths``, increased so that each shared head, whose width is ``need``, fits above its columns."""
    wide, start = list(widths), 0
    for group, span in head_groups(columns):
        end = start + span
        short = need(one_line(group)) - sum(wide[start:end]) - gutter * (span - 1)
        wide[start:end] = [width + max(0, math.ceil(short / span)) for width in wide[start:end]]
        start = end
    return wide


def column_batches(
    columns: Sequence[Column], widths: Sequence[float], gutter: float, available: float
) -> list[list[int]]:
    """Split a table that is wider than ``available``; return the column indices of each part.

    Every part starts with the leading left-aligned columns (the row names), up to half of the width, followed by the further
    columns that fit. A single column that does not fit is a part.
    """
    keys: list[int] = []
    used = 0.0
    for index, column in enumerate(columns[:-1]):
        if column.align != "left" or used + widths[index] + gutter > available / 2:
            break
        keys.append(index)
        used += widths[index] + gutter
    batches: list[list[int]] = []
    room = -1.0
    for index in range(len(keys), len(columns)):
        if not batches or widths[index] > room:
            batches.append(list(keys))
            room = available - used
        batches[-1].append(index)
        room -= widths[index] + gutter
    return batches


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF or code >= 0xFFFE:
        return "\ufffd"
    return f"⟨U+{code:04X}⟩"
