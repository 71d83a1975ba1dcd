"""Colours and sizes of all figures.

The sizes are matplotlib's rcParams, so a figure function sets none itself: it asks :func:`scaled` and :func:`text_width` how
much room its letters need. Importing this module does not import matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from robustcs.documents.text import one_line
from robustcs.documents.width import COLUMN as COLUMN
from robustcs.documents.width import PAGE as PAGE
from robustcs.documents.width import Width as Width

#: The largest height of a figure in inches: the text of a page in the PDF is 9.9 inches high, with the caption.
MAX_HEIGHT = 9.0

#: Colour of axes and letters; in HTML they have the colour of the page's text.
INK = "#23272b"
#: The first system or value, and the one that is compared with it.
FIRST, SECOND = "#0b3a66", "#cf5c0c"
#: Font sizes in points: titles of panels, labels of axes, and everything else.
TITLE, LABEL, SMALL = 7.5, 7.0, 6.5

#: Colour of a dark page; ``report.css`` has the same.
DARK_PAPER = "#16191c"
#: Colour on white → colour on a dark page, light enough to stand out from the background.
DARK_COLOURS: Mapping[str, str] = {
    "#0b3a66": "#3f7cba",
    "#2f74b0": "#62a0dc",
    "#7db0da": "#93c2e8",
    "#cf5c0c": "#e4762a",
    "#873a73": "#b565a0",
    "#147a5f": "#35a888",
    "#b07d12": "#d09c30",
    "#6f4a1f": "#b58550",
}


def rc_params(width: Width = PAGE, size: float = SMALL) -> dict[str, Any]:
    """Return the rcParams of figures of this width; ``size`` is that of most letters, in points."""
    points = size * width.letters
    return {
        # comes with matplotlib, so figures look the same everywhere
        "font.family": ["DejaVu Sans"],
        "font.size": points,
        "axes.titlesize": points * TITLE / SMALL,
        "axes.labelsize": points * LABEL / SMALL,
        "xtick.labelsize": points,
        "ytick.labelsize": points,
        "legend.fontsize": points,
        "text.parse_math": False,  # names come from input files: a dollar sign is a dollar sign
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "grid.color": INK,
        "grid.alpha": 0.15,
        "grid.linewidth": 0.4,
        "axes.axisbelow": True,
        "axes.facecolor": "none",
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titley": 1.0,  # without it, matplotlib measures the whole panel to place a title
        "axes.titlepad": 6.0,
        "axes.labelpad": 2.5,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "lines.linewidth": 1.2,
        "lines.dashed_pattern": (4.0, 3.0),
        "legend.frameon": False,
        "legend.borderpad": 0.0,
        "legend.borderaxespad": 0.0,
        "legend.labelspacing": 0.35,
        "legend.handlelength": 2.0,
        "legend.handletextpad": 0.4,
        "legend.columnspacing": 1.2,
        "legend.scatterpoints": 1,
        "svg.fonttype": "none",  # letters stay text
        "svg.hashsalt": "robustcs",  # the same figure gives the same bytes
        "pdf.fonttype": 42,
        "figure.dpi": 100,
    }


def _defaults() -> dict[Any, Any]:
    """Return matplotlib's own rcParams without the backend: reading that imports pyplot, and figures do not use it."""
    import matplotlib as mpl

    return {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}


@contextmanager
def in_style(width: Width = PAGE) -> Iterator[None]:
    """Return a context in which matplotlib draws in this style, whatever the rcParams of the user are."""
    import matplotlib as mpl

    with mpl.rc_context(_all_params(width)):
        yield


@cache
def _all_params(width: Width) -> dict[Any, Any]:
    """Return a value for every rcParam except the backend."""
    return {**_defaults(), **rc_params(width)}


@contextmanager
def in_user_style() -> Iterator[None]:
    """Return a context with this style in which every rcParam that the user has changed has the user's value.

    With another ``font.size``, all other sizes of letters are multiples of it.
    """
    import matplotlib as mpl

    default = _defaults()
    used = {name: mpl.rcParams[name] for name in default}
    changed = {name: value for name, value in used.items() if value != default[name]}
    size = changed.get("font.size", SMALL)
    both: dict[Any, Any] = {**default, **rc_params(PAGE, size), **changed}
    if "font.family" in changed:
        # characters that the user's fonts lack, such as ✓, are of DejaVu Sans
        both["font.family"] = [*used["font.family"], "DejaVu Sans"]
    with mpl.rc_context(both):
        yield


# ---------------------------------------------------------------- sizes of letters

#: Width of a character that DejaVu Sans lacks, as a share of the font size: of the box that matplotlib draws. In the fonts of
#: a page, Chinese characters are squares.
_UNKNOWN = 1.14


def font_folder() -> Path:
    """Return the folder of DejaVu Sans, which comes with matplotlib."""
    from matplotlib import get_data_path

    return Path(get_data_path()) / "fonts" / "ttf"


@cache
def known_characters() -> frozenset[int]:
    """Return the code points of DejaVu Sans."""
    from matplotlib.font_manager import get_font

    return frozenset(get_font(str(font_folder() / "DejaVuSans.ttf")).get_charmap())


def scaled(inches: float) -> float:
    """Return a length that grows with the letters; it is ``inches`` at the usual size (:data:`SMALL`)."""
    from matplotlib import rcParams

    return inches * float(rcParams["font.size"]) / SMALL


def text_width(text: str, size: float | None = None, bold: bool = False) -> float:
    """Return the width of one line of text in inches, in the font in force.

    ``size``: of the font in points (default: that of most letters).
    """
    from matplotlib import rcParams

    points = float(rcParams["font.size"]) if size is None else size
    return _relative_width(one_line(text), tuple(rcParams["font.family"]), bold) * points / 72


@lru_cache(maxsize=10_000)
def _relative_width(text: str, family: tuple[str, ...], bold: bool) -> float:
    """Return the width of a text as a share of the font size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    known = "".join(character for character in text if ord(character) in known_characters())
    font = FontProperties(family=family, weight="bold" if bold else "normal", size=100)
    width, _, _ = text_to_path.get_text_width_height_descent(known, font, ismath=False)
    return float(width) / 100 + _UNKNOWN * (len(text) - len(known))


def room(texts: Iterable[str], size: float | None = None, bold: bool = False) -> float:
    """Return the width of the longest text in inches."""
    return max((text_width(text, size, bold) for text in texts), default=0.0)


def fitted(text: str, inches: float, size: float | None = None, bold: bool = False) -> str:
    """Return one line of text, shortened in its middle until it is at most ``inches`` wide."""
    line = one_line(text)
    if text_width(line, size, bold) <= inches:
        return line
    # numbers of characters: of the longest that fits, of the shortest that does not
    fits, cut = 1, len(line)
    while cut - fits > 1:
        most = (fits + cut) // 2
        if text_width(_shortened(line, most), size, bold) <= inches:
            fits = most
        else:
            cut = most
    return _shortened(line, fits)


def _shortened(line: str, most: int) -> str:
    end = most // 4  # names often differ at their end
    return f"{line[: most - 1 - end]}…{line[len(line) - end :]}"


# ---------------------------------------------------------------- colours


def mixed(ramp: Sequence[str], share: float) -> str:
    """Return the colour at a share (0 to 1) of the way through the colours of ``ramp``, which are ``#rrggbb``."""
    place = min(int(share * (len(ramp) - 1)), len(ramp) - 2)
    part = share * (len(ramp) - 1) - place
    pairs = zip(_rgb(ramp[place]), _rgb(ramp[place + 1]), strict=True)
    return "#" + "".join(f"{round(low + part * (high - low)):02x}" for low, high in pairs)


def is_dark(colour: str) -> bool:
    """Return whether white letters are easier to read on a colour than black ones."""
    red, green, blue = _rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 127.5


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))
