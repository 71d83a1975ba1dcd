"""Stacked bars of shares that add up to 1, one bar for each name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robustcs.documents.document import Figure
from robustcs.documents.text import one_line, shortened
from robustcs.documents.words import percent
from robustcs.lazy import Drawing, pd

#: From the lowest to the highest rating; distinguishable with any colour vision and in grey.
_RAMP = ("#cf5c0c", "#f3f0e6", "#0b3a66")
_ROW = 0.3
_NAME = 36  # characters of a name


def share_figure(
    slug: str, caption: str, frame: pd.DataFrame, name: str, part: str, colours: Mapping[str, str] | None = None
) -> Figure:
    """Return a figure with a bar for every value of column ``name``, made of the ``share`` of every ``part``."""
    shares = {
        str(key): dict(zip(own[part].astype(str), own["share"], strict=True)) for key, own in frame.groupby(name, sort=False)
    }
    words = (f"{key}: {', '.join(f'{one} {percent(share)}' for one, share in own.items())}" for key, own in shares.items())
    return Figure(slug, caption, f"{'; '.join(words)}.", lambda: stacked_bars(shares, colours))


def stacked_bars(shares: Mapping[str, Mapping[str, float]], colours: Mapping[str, str] | None = None) -> Drawing:
    """Draw one bar for each name; ``colours``: part → colour, with a legend. Without it, colours run from low to high."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb
    from matplotlib.figure import Figure as MatplotlibFigure

    from robustcs.documents.figures import FULL_WIDTH, INK, letters, page_width, style

    wide = page_width() == FULL_WIDTH
    parts = list(dict.fromkeys(part for own in shares.values() for part in own))
    if colours is None:  # one colour per rating
        ramp = LinearSegmentedColormap.from_list("ratings", _RAMP)
        ordered = _ascending(parts)
        of = dict(zip(ordered, map(ramp, np.linspace(0, 1, len(ordered)) if len(ordered) > 1 else [1.0]), strict=True))
    else:
        of = {part: to_rgb(colours[part]) for part in colours if part in parts}  # type: ignore[misc]
    with style():
        height = letters(0.5) + _ROW * len(shares) + (letters(0.25) if colours else 0)
        figure = MatplotlibFigure(figsize=(page_width(), height), layout="constrained")
        axes = figure.subplots()
        for place, own in enumerate(shares.values()):
            left = 0.0
            for part in own if colours is None else of:
                share, colour = np.nan_to_num(own.get(part, 0.0)), of[part]
                unknown = colour[:3] == (1.0, 1.0, 1.0)
                axes.barh(place, share, left=left, height=0.72, color=colour, edgecolor=INK, linewidth=0.4,
                          hatch="////" if unknown else None)  # fmt: skip
                if share >= (0.035 if wide else 0.08) and not unknown:
                    shown = one_line(part) if colours is None else f"{100 * share:.0f}%"
                    dark = float(np.dot(colour[:3], (0.299, 0.587, 0.114))) < 0.5
                    axes.text(left + share / 2, place, shown, ha="center", va="center", fontsize=letters(6.5),
                              color="#ffffff" if dark else "#000000")  # fmt: skip
                left += share
        axes.set_yticks(range(len(shares)), [shortened(name, _NAME if wide else _NAME // 2) for name in shares])
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        ticks = range(0, 101, 20 if wide else 50)
        axes.set(xlim=(0, 1))
        axes.set_xticks([per_cent / 100 for per_cent in ticks], [f"{per_cent}%" for per_cent in ticks])
        if colours:
            from matplotlib.patches import Patch

            marks = [Patch(facecolor=tuple(colour), edgecolor=INK, label=part) for part, colour in of.items()]
            figure.legend(handles=marks, loc="outside upper center", ncols=len(marks) if wide else 2, handlelength=1.2)
    return figure


def _ascending(ratings: list[str]) -> list[str]:
    """Return the ratings from low to high if all are numbers, else in their order."""
    try:
        return sorted(ratings, key=float)
    except ValueError:
        return ratings
