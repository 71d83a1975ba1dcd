"""Figure of scores before and after new judgments."""

from __future__ import annotations

from collections.abc import Sequence

from robustcs.documents.drawing import COLUMN_WIDTH, Drawing, Key, letters
from robustcs.documents.forest import BETWEEN, ROW, names_and_room, panel_grid
from robustcs.lazy import pd

_BEFORE = "#7db0da"
_AFTER = "#0b3a66"
_LONGEST_NAME = 28
_LEGEND = 0.16  # inches


def augment_figure(panels: Sequence[tuple[str, pd.DataFrame]]) -> Drawing:
    """Draw open dots before and filled dots after, joined by a line, with three panels (measures) to a row.

    Every panel sorts the runs by their score before. A run whose filled dot is to the right of the one above it has overtaken
    that run. ``panels``: the title, and the rows of the table ``measures`` from the top row down.
    """
    _, width = names_and_room([run for _, rows in panels for run in rows["system"]], _LONGEST_NAME)
    drawing, grid = panel_grid(
        len(panels), width, letters(ROW) * (len(panels[0][1]) + 0.6), above=letters(_LEGEND), between=width + BETWEEN / 2,
        width=COLUMN_WIDTH if len(panels) == 1 else None,
    )  # fmt: skip
    for (title, rows), (panel, _) in zip(panels, grid, strict=True):
        places = panel.rows(names_and_room(list(rows["system"]), _LONGEST_NAME)[0])
        before, after = rows["before"], rows["after"]
        panel.title, panel.x_label, panel.grid = title, "mean score", "y"
        panel.fit([*before, *after], 0.06)
        panel.intervals(before, after, places, _AFTER, 1.0)
        panel.dots(before, places, "white", 3.6, edge=_BEFORE, edge_width=1.0)
        panel.dots(after, places, _AFTER)
    keys = [Key("before", "white", shape="o", size=3.6, edge=_BEFORE), Key("after", _AFTER, shape="o")]
    drawing.legend(keys, drawing.width - 0.05, drawing.height - letters(0.1), align="end")
    return drawing
