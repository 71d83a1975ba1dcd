"""The figure of outcomes: a row for each outcome, a dot for each system."""

from __future__ import annotations

import pytest

from robustcs.documents.style import COLUMN, PAGE, Width, in_style
from robustcs.studies.answers.show import OutcomeRow, outcome_dots

SYSTEMS = [f"system {place} of a long name" for place in range(40)]


def _rows(systems: list[str]) -> list[OutcomeRow]:
    shares = {name: place / len(systems) for place, name in enumerate(systems)}
    some = {name: share for name, share in shares.items() if name != systems[0]}
    return [
        OutcomeRow("answerable", "gold passage given", shares),
        OutcomeRow("answerable", "correct", shares),
        OutcomeRow("unanswerable", "made up", some),
    ]


@pytest.mark.parametrize("width", [PAGE, COLUMN])
@pytest.mark.parametrize("count", [1, 2, 6, 40])
def test_a_dot_for_each_system(width: Width, count: int) -> None:
    systems = SYSTEMS[:count]
    marked = systems if count <= 6 else [systems[0], systems[-1]]
    with in_style(width):
        figure = outcome_dots(width, _rows(systems), systems, marked)
    figure.draw_without_rendering()
    [axes] = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["gold passage given", "correct", "made up"]
    assert [text.get_text() for text in axes.texts] == ["answerable", "unanswerable"]
    drawn = [marks.get_offsets() for marks in axes.collections]
    assert len(drawn) == count
    # the marked systems are drawn last, the first of them without a turn of the second kind
    shares = sorted(float(offsets[0, 0]) for offsets in drawn)
    assert shares == pytest.approx([place / count for place in range(count)])
    [legend] = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert len(names) == len(marked) + (count > 6)
    assert (names[-1] == "other systems") == (count > 6)
    for artist in (*axes.get_yticklabels(), *axes.get_xticklabels(), *axes.texts, legend):
        box = artist.get_window_extent()
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
