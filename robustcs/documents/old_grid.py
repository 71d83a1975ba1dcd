"""Panels of figures that matplotlib does not draw yet."""

from __future__ import annotations

from collections.abc import Sequence

from robustcs.documents.drawing import (
    Drawing,
    Panel,
    letters,
    page_width,
    panels_across,
    room,
)
from robustcs.documents.text import shortened
from robustcs.wording import system_name

_COLOUR, _MARK = "#0b3a66", "#cf5c0c"
# Sizes in inches.
TOP, AXIS, EDGE, ROW = 0.26, 0.4, 0.05, 0.17
RIGHT, BETWEEN = 0.15, 0.3
_LEFT, _BESIDE = 0.55, 0.12  # the smallest width of the names, and the space next to them
_PER_ROW = 3
#: Characters shown of a system's name.
NAME = 22


def panel_grid(
    count: int,
    left: float,
    body: float,
    *,
    above: float = 0.0,
    between: float = BETWEEN,
    below: float = EDGE,
    width: float | None = None,
    narrow: int = 1,
) -> tuple[Drawing, list[tuple[Panel, bool]]]:
    """Return a drawing with ``count`` panels of height ``body``, at most three side by side (in a column
    ``narrow``), and which of them are leftmost.

    ``left``, ``above`` and ``below`` are margins around all panels, in inches.
    """
    full, top, axis = width or page_width(), letters(TOP), letters(AXIS)
    across = panels_across(count, _PER_ROW, narrow) if count else 1
    height = above + -(-count // across) * (top + body + axis) + below
    inside = (full - left - RIGHT - between * (across - 1)) / across
    drawing, panels = Drawing(full, height), []
    for line, column in (divmod(number, across) for number in range(count)):
        x, y = (
            left + column * (inside + between),
            height - above - (line + 1) * (top + body) - line * axis,
        )
        panels.append((drawing.panel(x, y, inside, body), column == 0))
    return drawing, panels


def names_and_room(names: Sequence[str], most: int = NAME) -> tuple[list[str], float]:
    """Return the names of rows as they are shown, and their width in inches."""
    shown = [shortened(system_name(name), most) for name in names]
    return shown, max(_LEFT, _BESIDE + room(shown))
