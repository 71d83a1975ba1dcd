"""Stacked bars of shares that add up to 1, one bar for each name."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robustcs.documents.document import Figure
from robustcs.documents.drawing import (
    FULL_WIDTH,
    INK,
    Drawing,
    Key,
    is_dark,
    letters,
    mixed,
    page_width,
    room,
)
from robustcs.documents.text import shortened
from robustcs.documents.words import percent
from robustcs.lazy import pd
from robustcs.wording import system_name

#: From the lowest to the highest rating; distinguishable with any colour vision and in grey.
_RAMP = ("#cf5c0c", "#f3f0e6", "#0b3a66")
_ROW = 0.3
_NAME = 36  # characters of a name


def share_figure(
    slug: str,
    caption: str,
    frame: pd.DataFrame,
    name: str,
    part: str,
    colours: Mapping[str, str] | None = None,
) -> Figure:
    """Return a figure with a bar for every value of column ``name``, made of the ``share`` of every ``part``."""
    shares = {
        system_name(str(key)): dict(zip(own[part].astype(str), own["share"], strict=True))
        for key, own in frame.groupby(name, sort=False)
    }
    words = (
        f"{key}: {', '.join(f'{one} {percent(share)}' for one, share in own.items())}"
        for key, own in shares.items()
    )
    return Figure(slug, caption, f"{'; '.join(words)}.", lambda: stacked_bars(shares, colours))


def stacked_bars(
    shares: Mapping[str, Mapping[str, float]], colours: Mapping[str, str] | None = None
) -> Drawing:
    """Draw one bar for each name; ``colours``: part → colour, with a legend. Without it, colours run from low to high."""
    full = page_width()
    wide = full == FULL_WIDTH
    parts = list(dict.fromkeys(part for own in shares.values() for part in own))
    if colours is None:  # one colour per rating
        ordered = _ascending(parts)
        of = {
            part: mixed(_RAMP, place / max(1, len(ordered) - 1))
            for place, part in enumerate(ordered)
        }
    else:
        of = {part: colours[part] for part in colours if part in parts}
    names = [shortened(name, _NAME if wide else _NAME // 2) for name in shares]
    keys = (
        [Key(part, colour, shape="box", edge=INK) for part, colour in of.items()] if colours else []
    )
    across = len(keys) if wide else 2
    left, axis, above = (
        0.12 + room(names),
        letters(0.25),
        letters(0.13) * -(-len(keys) // max(1, across)) + 0.06,
    )
    drawing = Drawing(full, axis + _ROW * len(shares) + above)
    panel = drawing.panel(left, axis, full - left - letters(0.17), _ROW * len(shares))
    for row, own in zip(panel.rows(names), shares.values(), strict=True):
        start = 0.0
        for part in own if colours is None else of:
            share, colour = float(np.nan_to_num(own.get(part, 0.0))), of[part]
            panel.box(
                start, row + 0.36, start + share, row - 0.36, colour, edge=INK, edge_width=0.4
            )
            if share >= (0.035 if wide else 0.08):
                shown = part if colours is None else f"{100 * share:.0f}%"
                panel.write(
                    start + share / 2,
                    row,
                    shown,
                    colour="#ffffff" if is_dark(colour) else "#000000",
                )
            start += share
    panel.y = (len(names) - 0.5, -0.5)
    panel.x_ticks = [
        (per_cent / 100, f"{per_cent}%") for per_cent in range(0, 101, 20 if wide else 50)
    ]
    drawing.legend(keys, full / 2, drawing.height - letters(0.08), across, "middle")
    return drawing


def _ascending(ratings: list[str]) -> list[str]:
    """Return the ratings from low to high if all are numbers, else in their order."""
    try:
        return sorted(ratings, key=float)
    except ValueError:
        return ratings
