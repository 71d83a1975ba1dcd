"""Every figure of many projects, at both widths: no letter is cut, no label covers another, and all fit on a page."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.text import Text

from robustcs.documents.document import Figure, Picture
from robustcs.documents.page_svg import page_svg
from robustcs.documents.style import COLUMN, MAX_HEIGHT, PAGE, Width, in_style, text_width
from robustcs.project.reading import read_project
from robustcs.reporting.build import make_report
from tests.documents.figure_projects import PROJECTS

#: Resolution at which texts are measured; in a coarser one, letters are wider than in vectors.
_DPI = 400
#: Pixels by which a box may be too large: the sides of letters are empty.
_SLACK = 3.0


def figures_of(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """All figures of the report of a project, which is not rendered."""
    found: list[Figure] = []

    def keep(figure: Figure) -> tuple[Picture, dict[str, bytes]]:
        found.append(figure)
        return Picture(figure.slug, figure.caption, figure.alt, "<svg></svg>", 1), {}

    monkeypatch.setattr("robustcs.reporting.contents._draw", keep)
    monkeypatch.setattr("robustcs.reporting.build.render_html", lambda document: "")
    monkeypatch.setattr("robustcs.reporting.build.render_pdf", lambda document: b"")
    make_report(read_project(path), folder=path.parent)
    return found


def troubles(figure: MatplotlibFigure, width: Width) -> list[str]:
    """What is wrong with a figure, in words; the letters have the sizes that matplotlib draws."""
    found = []
    wide, high = figure.get_size_inches()
    if wide > width.inches + 1e-6:
        found.append(f"{wide:.2f} inches wide")
    if high > MAX_HEIGHT + 1e-6:
        found.append(f"{high:.2f} inches high")
    figure.set_dpi(_DPI)
    figure.draw_without_rendering()
    page = figure.bbox
    for text in figure.findobj(Text):
        if not text.get_visible() or not text.get_text().strip():
            continue
        box = text.get_window_extent()
        inside = box.x0 >= -_SLACK and box.x1 <= page.x1 + _SLACK
        if not (inside and box.y0 >= -_SLACK and box.y1 <= page.y1 + _SLACK):
            found.append(f"outside: {text.get_text()!r}")
    for axes in figure.axes:
        if axes.axison:
            found += _touching(axes.get_xticklabels(), "x0", "x1")
            found += _touching(axes.get_yticklabels(), "y0", "y1")
    return found


def _touching(labels: list[Text], start: str, end: str) -> list[str]:
    """The labels of an axis that cover the next one; slanted ones may."""
    shown = [label for label in labels if label.get_text() and not label.get_rotation()]
    boxes = [(label.get_window_extent(), label.get_text()) for label in shown]
    boxes.sort(key=lambda one: getattr(one[0], start))
    return [
        f"touching: {name!r} and {other!r}"
        for (box, name), (after, other) in pairwise(boxes)
        if getattr(box, end) > getattr(after, start) + _SLACK
    ]


def cut_texts(svg: str) -> list[str]:
    """The texts of an SVG that are not inside its view box; a character that the font lacks is a square."""
    root = ElementTree.fromstring(svg)
    _, _, wide, high = map(float, root.get("viewBox", "").split())
    found = []

    def read(element: ElementTree.Element, inherited: dict[str, str]) -> None:
        look = {**inherited, **element.attrib}
        for child in element:
            read(child, look)
        if not element.tag.endswith("text"):
            return
        size, text = float(look["font-size"]), element.text or ""
        length = 72 * text_width(text, size, look.get("font-weight") == "bold")
        x, y = float(look["x"]), float(look["y"])
        turned = look.get("transform", "rotate(0)").removeprefix("rotate(").rstrip(")").split()
        before = {"middle": 0.5, "end": 1.0}.get(look.get("text-anchor", "start"), 0.0) * length
        if abs(float(turned[0])) == 90:
            start, end, limit, other = y - length + before, y + before, high, (x, wide)
        elif float(turned[0]) == 0:
            start, end, limit, other = x - before, x - before + length, wide, (y, high)
        else:
            return  # slanted labels are measured by matplotlib
        across = size * 0.75 <= other[0] + 0.5 and other[0] <= other[1] + 0.5
        if start < -0.75 or end > limit + 0.75 or not across:
            found.append(text)

    read(root, {})
    return found


@pytest.mark.filterwarnings("ignore:Glyph .* missing")  # a page has further fonts
@pytest.mark.parametrize("name", PROJECTS)
def test_no_letter_is_cut_and_every_figure_fits_on_a_page(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = figures_of(PROJECTS[name](tmp_path), monkeypatch)
    assert figures
    found = []
    for figure in figures:
        for width in (PAGE, COLUMN):
            with in_style(width):
                drawn = figure.draw(width)
                wrong = troubles(drawn, width)
                wrong += [f"cut: {text!r}" for text in cut_texts(page_svg(drawn, "x", "y"))]
            found += [f"{figure.slug}, {width.inches} in: {one}" for one in wrong]
    assert not found, "\n".join(found)


def test_the_checks_find_what_is_wrong() -> None:
    with in_style(PAGE):
        figure = MatplotlibFigure(figsize=(7, 9.5))
        axes = figure.add_axes((0.02, 0.02, 0.9, 0.9))
        axes.set_yticks([0.5, 0.501], ["a long label", "another"])
        figure.text(0.95, 0.5, "answerable 92%")
        found = troubles(figure, PAGE)
        cut = cut_texts(page_svg(figure, "x", "y"))
    assert "9.50 inches high" in found
    assert {"outside: 'a long label'", "outside: 'answerable 92%'"} <= set(found)
    assert any(one.startswith("touching: 'a long label'") for one in found)
    assert {"a long label", "answerable 92%"} <= set(cut)
