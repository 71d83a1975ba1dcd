"""matplotlib's SVG as an element of a page."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from robustcs.documents.figures import link_turns
from robustcs.documents.page_svg import page_svg
from robustcs.documents.panels import add_panel, dots, intervals, new_figure, panel_title
from robustcs.documents.style import INK, PAGE, in_style
from tests.documents.conftest import HOSTILE


def small(title: str = "MAP") -> Figure:
    """Two dots, of which one links to two turns, a line, and a box that the axes cut."""
    with in_style(PAGE):
        figure = new_figure(2, 2)
        axes = add_panel(figure, 0.5, 0.5, 1, 1)
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.set_xticks([0, 1])
        dots(axes, [0.5, 1.0, np.nan], [0.5, 1.0, 0.2], "#0b3a66", 4.0, ["#a,b", "#c", "#d"])
        intervals(axes, [0.0, 0.2, np.nan], [1.0, 0.8, 0.5], [0.25, 0.75, 0.5], "#cf5c0c", 1.0)
        axes.axvspan(0.5, 2.0, color="#2f74b0", alpha=0.5, linewidth=0)
        axes.text(0.5, 0.5, "black", color="#000000")
        panel_title(axes, title)
    return figure


def drawn(figure: Figure, name: str = "x", alt: str = "y") -> str:
    with in_style(PAGE):
        return page_svg(figure, name, alt)


def test_it_fits_into_a_page_with_a_strict_policy() -> None:
    seen: set[str] = set()
    for name in ("one", '"><two'):
        text = drawn(small(), name, "a < b & ]]>")
        assert text.startswith("<svg ") and "<?xml" not in text
        assert not re.search(r"style|<metadata|xlink|<use|<script|href=\"http", text)
        root = ElementTree.fromstring(text)
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(ids) == len(set(ids)) and not seen & set(ids)
        seen |= set(ids)
        assert set(root.get("aria-labelledby", "").split()) <= set(ids)
        (description,) = root.iter("{http://www.w3.org/2000/svg}desc")
        assert description.text == "a < b & ]]>"
        assert ">MAP</text>" in text  # letters, not outlines


def test_the_same_figure_gives_the_same_bytes_with_short_numbers() -> None:
    text = drawn(small())
    assert text == drawn(small())
    assert not re.search(r"\d\.\d{3}", text)
    assert len(text) < 2_500


def test_marks_are_where_the_data_say() -> None:
    """One inch is 72 points; y runs downwards."""
    text = drawn(small())
    assert '<circle cx="72" cy="72" r="2"' in text and '<circle cx="108" cy="36" r="2"' in text
    assert text.count("<circle") == 2 and "nan" not in text  # an unknown place has no dot
    assert 'd="M36 90L108 90M50.4 54L93.6 54"' in text  # lines of one look are one path


def test_ink_is_the_colour_of_the_page_and_others_stay() -> None:
    text = drawn(small())
    assert INK not in text.replace(f'color="{INK}"', "")
    assert 'fill="#0b3a66"' in text and 'stroke="#cf5c0c"' in text
    assert 'stroke="currentColor"' in text
    assert 'fill="#000000">black<' in text or 'fill="#000000"' in text


def test_the_page_shows_through() -> None:
    assert "#ffffff" not in drawn(small())


def test_what_lies_outside_of_its_axes_is_cut_as_in_matplotlib() -> None:
    root = ElementTree.fromstring(drawn(small()))
    clipped = [element for element in root.iter() if element.get("clip-path")]
    assert [element.get("fill") for element in clipped] == ["#2f74b0"]
    (clip,) = root.iter("{http://www.w3.org/2000/svg}clipPath")
    assert clipped[0].get("clip-path") == f"url(#{clip.get('id')})"
    assert (clip[0].get("x"), clip[0].get("width")) == ("36", "72")


def test_points_link_to_the_turns_of_the_page() -> None:
    text = drawn(small())
    assert 'role="group"' in text
    linked = link_turns(text, {"a": "1_1: what?", "b": "1_2"})
    assert (
        '<a href="#a" data-turns="a b"><title>2 turns at this point, one of them 1_1: what?</title>'
        in linked
    )
    assert linked.count("<a ") == 1  # no page has turn c
    assert "<a " not in link_turns(text, {})


@pytest.mark.parametrize("marks", [1, 2])
def test_one_point_links_as_well_as_many(marks: int) -> None:
    with in_style(PAGE):
        figure = new_figure(1, 1)
        axes = add_panel(figure, 0, 0, 1, 1)
        dots(axes, [0.5] * marks, [0.5] * marks, "#0b3a66", 4.0, ["#a"] * marks, marker="s")
    assert drawn(figure).count('<a href="#a">') == marks


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_titles_are_letters(text: str) -> None:
    root = ElementTree.fromstring(drawn(small(text), text, text))
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg", "desc", "defs", "clipPath", "rect", "g", "path", "circle", "a", "text"
    }  # fmt: skip


def test_turned_letters_keep_their_place() -> None:
    with in_style(PAGE):
        figure = new_figure(2, 1)
        figure.text(0.5, 0.5, "up", rotation=90, rotation_mode="anchor", ha="left", va="baseline")
    assert '<text x="72" y="36" transform="rotate(-90 72 36)" font-size="6.5">up</text>' in drawn(
        figure
    )
