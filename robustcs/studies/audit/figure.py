"""Draw a judge compared with human judges: both grades, the bias, and the scores of the systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robustcs.documents.drawing import COLUMN_WIDTH, INK, Drawing, Panel, letters, page_width, room, round_ticks
from robustcs.documents.headline import headline_measure
from robustcs.documents.text import shortened
from robustcs.documents.words import measure_label
from robustcs.lazy import pd
from robustcs.studies.audit.analysis import Audit

_COLOUR, _OTHER = "#0b3a66", "#cf5c0c"
# Lengths in inches: a row of the bias, a square, and around them.
_ROW, _SQUARE = 0.14, 1.3
_TOP, _HEAD, _AXIS, _LEFT, _RIGHT = 0.22, 0.2, 0.42, 0.4, 0.12
_NAME = 26  # maximum length of a slice's name, in characters


def audit_figure(result: Audit, judges: Sequence[str]) -> Drawing:
    """Draw one row per judge: both grades, bias (same axis for all judges), and systems if there are runs.

    In a narrow column, bias is below.
    """
    full, top, head, axis, left = page_width(), *map(letters, (_TOP, _HEAD, _AXIS, _LEFT))
    narrow = full <= COLUMN_WIDTH
    square = (full - _RIGHT - 2 * left - 0.1) / 2 if narrow else _SQUARE
    parts = [{name: frame[frame["judge"] == judge] for name, frame in result.tables.items() if "judge" in frame}
             for judge in judges]  # fmt: skip
    ends = [value for part in parts for name in ("mean_difference", "ci_low", "ci_high") for value in part["bias"][name]]
    names = [[shortened(name, _NAME) for name in part["bias"]["slice"].str.removeprefix("found by ")] for part in parts]
    beside = 0.12 + max(map(room, names))
    high = [letters(_ROW) * (len(rows) + 0.6) for rows in names]
    heights = [top + head + square + axis + tall + axis if narrow else top + head + max(tall, square) + axis for tall in high]
    drawing = Drawing(full, sum(heights))
    bottom = drawing.height
    for judge, part, rows, tall, height in zip(judges, parts, names, high, heights, strict=True):
        bottom -= height
        up = bottom + height - top - head
        drawing.write(0.04, up + head + top / 2, shortened(judge, 40), 7.5, bold=True)
        _confusion(drawing.panel(left, up - square, square, square), part["confusion"])
        right = full - _RIGHT - square
        if len(result.means):
            _systems(drawing.panel(right, up - square, square, square), part["means"], part["reversals"])
        start = beside if narrow else left + square + beside + 0.1
        end = full - _RIGHT if narrow or not len(result.means) else right - left - 0.1
        bias = drawing.panel(start, bottom + axis if narrow else up - max(tall, square), end - start,
                             tall if narrow else max(tall, square))  # fmt: skip
        bias.fit([*ends, 0.0], 0.06)
        _bias(bias, part["bias"], rows)
    return drawing


def _confusion(panel: Panel, confusion: pd.DataFrame) -> None:
    counts = confusion.pivot(index="human", columns="model", values="count")
    shares = counts.div(counts.sum(axis=1).where(lambda total: total > 0, 1), axis=0).to_numpy()
    size = len(shares)
    panel.x, panel.y, panel.marked = (-0.5, size - 0.5), (size - 0.5, -0.5), ""
    for row, column in np.ndindex(shares.shape):
        share = float(shares[row, column])  # as opacity, so that the figure follows the page's colours
        panel.box(column - 0.5, row + 0.5, column + 0.5, row - 0.5, _COLOUR, alpha=share)
        colour = "white" if share > 0.6 else INK
        panel.write(column, row, f"{counts.iat[row, column]}", 5.5, colour=colour)
    panel.x_ticks, panel.y_ticks = (list(enumerate(map(str, names))) for names in (counts.columns, counts.index))
    panel.x_label, panel.y_label = "grade of the judge", "human grade"


def _bias(panel: Panel, bias: pd.DataFrame, names: Sequence[str]) -> None:
    rows = panel.rows(names)
    panel.grid, panel.x_label = "y", "mean grade, judge − human"
    panel.vertical(0, width=0.5, alpha=0.5)
    panel.intervals(bias["ci_low"], bias["ci_high"], rows, _COLOUR, alpha=0.6)
    panel.dots(bias["mean_difference"], rows, _COLOUR, 4.2)


def _systems(panel: Panel, means: pd.DataFrame, reversals: pd.DataFrame) -> None:
    metric = headline_measure(means["metric"])
    scores = means[means["metric"] == metric].set_index("system")[["human", "model"]]
    panel.fit(scores.to_numpy().flat, 0.06)
    panel.y, panel.x_ticks = panel.x, round_ticks(*panel.x, 4)
    panel.y_ticks = panel.x_ticks
    panel.line(panel.x, panel.y, INK, 0.5, alpha=0.4)
    turned = reversals[(reversals["metric"] == metric) & reversals["change"].isin(["reversed", "swapped"])]
    for row in turned.itertuples():
        pair = scores.loc[[row.first, row.second]]
        panel.line(pair["human"], pair["model"], _OTHER, 0.6, alpha=0.6)
    panel.dots(scores["human"], scores["model"], _COLOUR, 4.0)
    panel.x_label, panel.y_label, panel.title = "under humans", "under the judge", measure_label(metric)
