"""Draw a judge compared with human judges: both grades, the bias, and the scores of the systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from robustcs.documents.figures import COLUMN_WIDTH, INK, letters, page_width, style
from robustcs.documents.headline import headline_measure
from robustcs.documents.text import one_line, shortened
from robustcs.documents.words import measure_label
from robustcs.lazy import pd
from robustcs.studies.audit.analysis import Audit

_COLOUR, _OTHER = "#0b3a66", "#cf5c0c"
# Lengths in inches.
_ROW, _SQUARE, _EDGE = 0.14, 1.45, 0.8
_NAME = 26  # maximum length of a slice's name, in characters


def audit_figure(result: Audit, judges: Sequence[str]) -> Figure:
    """Draw one row per judge: both grades, bias (same axis for all judges), and systems if there are runs.

    In a narrow column, bias is below.
    """
    narrow = page_width() <= COLUMN_WIDTH
    right = ["systems"] if len(result.means) else []
    layout = [["confusion", *(right or ".")], ["bias", "bias"]] if narrow else [["confusion", "bias", *right]]
    parts = [{name: frame[frame["judge"] == judge] for name, frame in result.tables.items() if "judge" in frame}
             for judge in judges]  # fmt: skip
    shown = result.bias[result.bias["judge"].isin(judges)]
    ends = np.nan_to_num(shown[["mean_difference", "ci_low", "ci_high"]].to_numpy())
    edge = 0.06 * (np.ptp([0.0, *ends.flat]) or 1)
    rows = [letters(_ROW) * (len(part["bias"]) + 0.6) for part in parts]
    heights = [tall + _SQUARE + 2 * _EDGE if narrow else max(tall, _SQUARE) + _EDGE for tall in rows]
    with style():
        figure = Figure(figsize=(page_width(), sum(heights)), layout="constrained")
        frames = figure.subfigures(len(judges), 1, squeeze=False, height_ratios=heights)[:, 0]
        for judge, part, tall, frame in zip(judges, parts, rows, frames, strict=True):
            frame.suptitle(one_line(shortened(judge, 40)), x=0.005, ha="left", fontsize=letters(7.5), weight="bold")
            ratios = {"height_ratios": [_SQUARE, tall]} if narrow else {"width_ratios": [1, 1.6, 1][: len(layout[0])]}
            axes = frame.subplot_mosaic(layout, **ratios)
            _confusion(axes["confusion"], part["confusion"])
            _bias(axes["bias"], part["bias"])
            axes["bias"].set_xlim(min(ends.min(), 0) - edge, max(ends.max(), 0) + edge)
            if right:
                _systems(axes["systems"], part["means"], part["reversals"])
    return figure


def _confusion(axes: Axes, confusion: pd.DataFrame) -> None:
    counts = confusion.pivot(index="human", columns="model", values="count")
    shares = counts.div(counts.sum(axis=1).where(lambda total: total > 0, 1), axis=0).to_numpy()
    size = len(shares)
    axes.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal", anchor="N")
    for row, column in np.ndindex(shares.shape):
        share = float(shares[row, column])  # as opacity, so that the figure follows the page's colours
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=_COLOUR, alpha=share, linewidth=0))
        colour = "white" if share > 0.6 else INK
        axes.text(column, row, f"{counts.iat[row, column]}", ha="center", va="center", fontsize=letters(5.5), color=colour)
    axes.set_xticks(np.arange(size), list(map(str, counts.columns)))
    axes.set_yticks(np.arange(size), list(map(str, counts.index)))
    axes.tick_params(length=0)
    axes.set_xlabel("grade of the judge", labelpad=1)
    axes.set_ylabel("human grade", labelpad=1)


def _bias(axes: Axes, bias: pd.DataFrame) -> None:
    rows = np.arange(len(bias))
    axes.axvline(0, color=INK, linewidth=0.5, alpha=0.5)
    axes.hlines(rows, bias["ci_low"], bias["ci_high"], color=_COLOUR, linewidth=1.4, alpha=0.6)
    axes.plot(bias["mean_difference"], rows, "o", color=_COLOUR, markersize=3.2)
    axes.set_yticks(rows, [shortened(name, _NAME) for name in bias["slice"].str.removeprefix("found by ")])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="y", color=INK, alpha=0.15, linewidth=0.4)
    axes.set_xlabel("mean grade, judge − human", labelpad=2)


def _systems(axes: Axes, means: pd.DataFrame, reversals: pd.DataFrame) -> None:
    metric = headline_measure(means["metric"])
    scores = means[means["metric"] == metric].set_index("system")[["human", "model"]]
    edge = 0.06 * (np.ptp(scores.to_numpy()) or 1)
    limits = scores.min(axis=None) - edge, scores.max(axis=None) + edge
    axes.plot(limits, limits, color=INK, linewidth=0.5, alpha=0.4)
    turned = reversals[(reversals["metric"] == metric) & reversals["change"].isin(["reversed", "swapped"])]
    for row in turned.itertuples():
        axes.plot(*scores.loc[[row.first, row.second]].T.to_numpy(), color=_OTHER, linewidth=0.6, alpha=0.6)
    axes.plot(scores["human"], scores["model"], "o", color=_COLOUR, markersize=3)
    axes.set(xlim=limits, ylim=limits, aspect="equal", anchor="N")
    axes.locator_params(nbins=4)
    axes.set_xlabel("under humans", labelpad=2)
    axes.set_ylabel("under the judge", labelpad=1)
    axes.set_title(one_line(measure_label(metric)), loc="left")
