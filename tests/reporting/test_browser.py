"""The page in a browser: sorting, filtering, links, the reader, keyboard, accessibility, and that nothing runs or leaves it."""

from __future__ import annotations

import base64
import csv
import gzip
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pandas as pd
import pytest

import robustcs
from robustcs.documents.data import to_csv
from robustcs.project.reading import read_project
from robustcs.reporting.build import make_report
from tests.browsing import Watched, open_turn, rows
from tests.conftest import ROOT
from tests.documents.hostile_project import write_hostile_project
from tests.tables import table_of


@pytest.fixture(scope="module")
def address(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo's report without what takes long."""
    project = replace(
        read_project(demo / "robustcs.toml"), groups={}, new_judgments=(), runs={}, gold=None
    )
    page = tmp_path_factory.mktemp("page") / "report.html"
    page.write_bytes(make_report(project, folder=demo).files["report.html"])
    return page.as_uri()


def _page_of(folder: Path, turns: Sequence[str], name: str, rewriter: str = "mine") -> str:
    """The address of a report on these turns."""
    folder.mkdir()
    (folder / "qrels.txt").write_text("".join(f"{turn} 0 d1 1\n{turn} 0 d2 0\n" for turn in turns))
    for place, role in enumerate(("original", "qr", "human")):
        rows = "".join(
            f"{turn} Q0 d{1 + (number + place) % 2} 1 1.5 t\n" for number, turn in enumerate(turns)
        )
        (folder / f"{role}.trec").write_text(rows)
    tables = "".join(
        f'[formulations."{key}"]\nrun = "{role}.trec"\n'
        for key, role in (("original", "original"), (f"qr:{rewriter}", "qr"), ("human", "human"))
    )
    (folder / "robustcs.toml").write_text(f'name = "{name}"\nqrels = "qrels.txt"\n{tables}')
    page = folder / "report.html"
    page.write_bytes(
        make_report(read_project(folder / "robustcs.toml"), folder=folder).files["report.html"]
    )
    return page.as_uri()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of a few turns, for what is the same in every report: it is opened several times faster."""
    return _page_of(
        tmp_path_factory.mktemp("small") / "study", [f"3_{depth}" for depth in range(1, 8)], "Study"
    )


def cells(page: Any, table: str, column: int) -> list[str]:
    return page.locator(f"#{table} tbody tr:visible td:nth-child({column})").all_text_contents()


def test_sorting_goes_up_down_and_back_and_stands_in_the_address(
    watched: Watched, address: str
) -> None:
    page = watched.open(f"{address}#unjudged-bounds")
    before = cells(page, "unjudged-bounds", 4)
    button = page.locator("#unjudged-bounds thead button", has_text="score")
    button.click()
    up = cells(page, "unjudged-bounds", 4)
    assert up == sorted(before, key=float) != before
    assert page.evaluate("location.hash") == "#unjudged-bounds?sort.unjudged-bounds=3"
    button.press("Enter")
    assert cells(page, "unjudged-bounds", 4) == sorted(before, key=float, reverse=True)
    assert page.locator("#unjudged-bounds th[aria-sort=descending]").count() == 1
    shared = page.url
    assert cells(watched.open(shared), "unjudged-bounds", 4) == sorted(
        before, key=float, reverse=True
    )
    page.locator("#unjudged-bounds thead button", has_text="score").click()
    assert cells(page, "unjudged-bounds", 4) == before
    assert "sort" not in page.url


def test_verdicts_lead_to_their_question(watched: Watched, address: str) -> None:
    page = watched.open(address)
    verdict = page.locator(".verdict.qr")
    assert verdict.locator("b").inner_text() == "26%" and "18 of 70 turns" in verdict.inner_text()
    verdict.get_by_role("link", name="details").click()
    heading = page.locator("h2", has_text="Wrong answer or wrong question?")
    assert (
        page.url.endswith(f"#{heading.get_attribute('id')}") and heading.bounding_box()["y"] < 300
    )


def test_the_first_screen_holds_verdicts_table_and_figure(watched: Watched, address: str) -> None:
    page = watched.open(address)
    page.set_viewport_size({"width": 1280, "height": 800})
    for part in (".verdicts", ".overview .table", ".overview figure"):
        box = page.locator(part).bounding_box()
        assert box["width"] > 300 and box["y"] + box["height"] <= 800, part
    assert page.locator(".verdict").count() == 3


def test_a_link_to_what_is_folded_opens_it(watched: Watched, address: str) -> None:
    page = watched.open(address)
    assert not page.locator("#unjudged-bounds").is_visible()
    page.evaluate("location.hash = 'unjudged-bounds'")
    page.wait_for_selector("#unjudged-bounds")
    assert page.locator("#unjudged-bounds").bounding_box()["y"] < 900


def test_tables_are_copied_as_shown_and_as_latex(browser: Any, address: str) -> None:
    watched = Watched(browser, permissions=["clipboard-read", "clipboard-write"])
    page = watched.open(f"{address}#unjudged-bounds?sort.unjudged-bounds=-3")
    tools = page.locator("#unjudged-bounds .tools")
    tools.get_by_text("CSV").click()
    tools.get_by_text("copied").wait_for()
    copied = list(csv.reader(page.evaluate("navigator.clipboard.readText()").splitlines()))
    assert copied[0][:2] == ["Measure", "System"] and [row[3] for row in copied[1:]] == cells(
        page, "unjudged-bounds", 4
    )
    tools.get_by_text("LaTeX").click()
    # not by the word "copied", which goes away again
    page.wait_for_function(
        "navigator.clipboard.readText().then(text => text.startsWith('% needs'))"
    )
    latex = page.evaluate("navigator.clipboard.readText()")
    assert latex.startswith("% needs") and r"\label{tab:unjudged-bounds}" in latex
    watched.check()
    page.close()


def test_notes_are_kept_by_the_browser_and_saved_as_csv(watched: Watched, small: str) -> None:
    page = watched.open(f"{small}#turn-3_7")
    page.get_by_label("Your note").fill('rewriter lost the "chain", again')
    page.reload()
    page.wait_for_selector("#note")
    assert page.locator("#note").input_value() == 'rewriter lost the "chain", again'
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        page.get_by_text("Save 1 note as CSV").click()
    assert list(csv.reader(Path(saved.value.path()).read_text().splitlines())) == [
        ["turn", "note"], ["3_7", 'rewriter lost the "chain", again'],
    ]  # fmt: skip
    page.evaluate("localStorage.clear()")


def _identity(page: Any) -> str:
    return str(page.evaluate("'robustcs notes: ' + document.documentElement.dataset.report"))


def test_notes_that_somebody_else_kept_do_no_harm(watched: Watched, small: str) -> None:
    page = watched.open(f"{small}#turn-3_7")
    for kept in ("null", "[1]", "no JSON", '"text"', '{"3_7": null}', "17"):
        page.evaluate("([key, kept]) => localStorage.setItem(key, kept)", [_identity(page), kept])
        page.reload()
        page.wait_for_selector("#note")
        assert page.locator("#note").input_value() == "", kept
        page.get_by_label("Your note").fill("mine")
        assert (
            json.loads(page.evaluate("key => localStorage.getItem(key)", _identity(page)))["3_7"]
            == "mine"
        ), kept
    page.reload()
    page.wait_for_selector("#note")
    assert page.locator("#note").input_value() == "mine"
    page.evaluate("localStorage.clear()")


def test_texts_that_a_spreadsheet_would_run_are_saved_as_texts(
    watched: Watched, small: str
) -> None:
    written = {
        "3_7": '=HYPERLINK("http://x","y")',
        "3_6": "@SUM(A1)",
        "3_5": "-0.5",
        "3_4": "+1+2",
        "3_3": "'=1+1",
        "3_2": "fine",
    }
    page = watched.open(small)
    for turn, text in written.items():
        open_turn(page, f"turn-{turn}", turn)
        page.get_by_label("Your note").fill(text)
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        page.get_by_text("Save 6 notes as CSV").click()
    rows = dict(csv.reader(Path(saved.value.path()).read_text().splitlines()))
    assert rows == {
        "turn": "note",
        **{
            turn: text if text in ("-0.5", "fine") else f"'{text}" for turn, text in written.items()
        },
    }
    # the same texts, written by robustcs itself
    frame = pd.DataFrame({"turn": list(written), "note": list(written.values())})
    assert dict(csv.reader(to_csv(table_of(frame)).splitlines())) == rows
    page.evaluate("localStorage.clear()")


def test_turns_named_like_parts_of_the_language_and_reports_of_one_name(
    watched: Watched, tmp_path: Path
) -> None:
    turns = ["constructor", "__proto__", "toString", "hasOwnProperty"]
    page = watched.open(_page_of(tmp_path / "a", turns, "Study"))
    assert page.locator("#turns").inner_text().count("✎") == 0
    for turn in turns:
        open_turn(page, f"turn-{turn}", turn)
        assert page.locator("#note").input_value() == ""
        page.get_by_label("Your note").fill(f"on {turn}")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    page.keyboard.press("Escape")
    with page.expect_download() as saved:
        page.get_by_text("Save 4 notes as CSV").click()
    rows = list(csv.reader(Path(saved.value.path()).read_text().splitlines()))
    assert sorted(rows[1:]) == sorted([turn, f"on {turn}"] for turn in turns)
    others = [("b", ["1_1", "constructor"], "mine"), ("c", turns, "another")]
    for folder, some, rewriter in others:
        page = watched.open(_page_of(tmp_path / folder, some, "Study", rewriter))
        assert page.title() == "Study" or "Study" in page.title()
        assert page.locator("#turns").inner_text().count("✎") == 0, (
            "the notes of another report of this name"
        )
        assert not page.get_by_text("as CSV", exact=False).filter(has_text="note").is_visible()
    page.evaluate("localStorage.clear()")


def test_keys_go_through_the_turns_search_and_help(watched: Watched, address: str) -> None:
    page = watched.open(address)
    order = rows(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url.endswith(f"#turn-{order[1]}"))
    page.keyboard.press("k")
    page.wait_for_url(lambda url: url.endswith(f"#turn-{order[0]}"))
    page.keyboard.press("/")
    assert (
        page.evaluate("document.activeElement.id") == "where"
        and not page.locator("#reader").is_visible()
    )
    page.keyboard.type("j?")
    assert page.get_by_label("Filter", exact=True).input_value() == "j?"
    page.locator("h1").click()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    assert "next turn" in page.locator("#help").inner_text() and page.locator("#help").is_visible()


def test_figures_take_the_colours_of_a_dark_page_and_stay_readable_on_a_phone(
    browser: Any, address: str
) -> None:
    watched = Watched(browser, color_scheme="dark")
    page = watched.open(address)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    square = page.locator('#breakdown-every-turn .column [fill="#0b3a66"]').first
    assert square.evaluate("one => getComputedStyle(one).fill") == "rgb(63, 124, 186)"
    figure = page.locator("#breakdown-every-turn")
    assert not figure.locator(".wide").is_visible()
    letters = figure.locator(".column text").first
    scale = "one => { const m = one.getScreenCTM(); return parseFloat(getComputedStyle(one).fontSize) * m.a }"
    assert letters.evaluate(scale) >= 10.5
    assert not page.locator("nav ul").is_visible()
    page.locator("nav > .contents").click()
    assert page.locator("nav ul").is_visible()
    watched.check()
    page.close()


def test_the_filter_of_a_table_and_that_of_turns(watched: Watched, address: str) -> None:
    page = watched.open(f"{address}#unjudged-bounds?q.unjudged-bounds=human")
    names = cells(page, "unjudged-bounds", 2)
    assert names and all("human" in name.lower() for name in names)
    found = page.get_by_label("Filter", exact=True)
    found.fill("bicycle")
    some = rows(page)
    assert page.locator("#turns output").inner_text() == "24 of 70 turns"
    assert cells(page, "unjudged-bounds", 2) == names, "the other table keeps its filter"
    assert rows(watched.open(page.url)) == some
    page.get_by_label("Filter", exact=True).fill("3_7")
    page.get_by_label("Filter", exact=True).press("Enter")
    assert page.locator("#reader h2").inner_text() == "Turn 3_7"


def test_the_reader_has_all_that_is_known_of_a_turn(watched: Watched, address: str) -> None:
    reader = watched.open(f"{address}#turn-3_7").locator("#reader")
    text = reader.inner_text()
    for part in (
        "What kind of bicycle is best for commuting?",
        "How should I look after the chain?",
        "dropped: bicycle",
        "QR: rewriter error: Human is correct, QR is not (correct: NDCG@3 ≥ 0.5).",
        "first relevant at",
    ):
        assert part in text, part
    original = reader.locator("dd").first
    assert original.locator("del").all_text_contents()[0].endswith("bicycle?")
    assert [original.locator(f"{tag} .sign").first.inner_text() for tag in ("del",)] == ["−"]
    assert original.locator("del .said").first.text_content() == "missing: "
    sides = reader.locator(".sides section")
    assert sides.locator("h4 bdi").all_text_contents() == ["QR", "Human"]
    assert [sides.nth(side).locator("li").count() for side in (0, 1)] == [10, 10]
    # the demo judged the top 5 of these runs
    assert set(re.findall(r"grade \d", text)) >= {"grade 0", "grade 4"}
    assert all(len(one) > 40 for one in sides.locator("li p").all_text_contents())
    joined = reader.locator(".sides path").count()
    both = [set(sides.nth(side).locator("li .name").all_text_contents()) for side in (0, 1)]
    assert joined == len(both[0] & both[1]) > 0
    reader.get_by_label("Ranking on the left").select_option(label="Original")
    assert sides.locator("h4 bdi").all_text_contents() == ["Original", "Human"]
    reader.get_by_text("At every threshold").click()
    row = reader.locator("tr", has_text="NDCG@3 ≥ 0.5").inner_text()
    assert row.split()[-4:] == ["×", "×", "✓", "rewriter"]


def test_a_point_names_its_turn_and_leads_to_it_with_mouse_and_keyboard(
    watched: Watched, address: str
) -> None:
    page = watched.open(address)
    figure = page.locator("#breakdown-every-turn")
    points = figure.locator(".column svg a")
    assert points.count() == 70
    points.nth(3).hover()
    told = figure.locator(".pointed")
    name = points.nth(3).get_attribute("aria-label")
    assert told.text_content() == name and re.match(r"\d+_\d: \w", name)
    points.first.focus()
    page.keyboard.press("ArrowRight")
    assert told.text_content() == points.nth(1).get_attribute("aria-label")
    page.keyboard.press("Enter")
    turn = told.text_content().split(":")[0]
    assert page.evaluate("location.hash") == f"#turn-{turn}"
    assert page.locator("#reader h2").inner_text() == f"Turn {turn}"
    page.keyboard.press("Escape")
    assert not page.locator("#reader").is_visible()
    # history goes back after the key was handled
    page.wait_for_url(lambda url: "#turn-" not in url)
    assert "turn-" not in page.url
    page.go_back()
    assert page.locator("#reader").is_visible()


def test_a_point_of_several_turns_leads_to_each(watched: Watched, address: str) -> None:
    page = watched.open(address)
    figure = page.locator("#correlate-scatter")
    together = figure.locator(".wide svg a[data-turns]")
    sizes = [len(point.get_attribute("data-turns").split()) for point in together.all()]
    assert len(sizes) > 1 and max(sizes) > 2
    many = together.nth(sizes.index(max(sizes)))
    many.focus()
    told = figure.locator(".pointed")
    assert told.text_content().startswith(f"{max(sizes)} turns at this point: ")
    anchors = [link.get_attribute("href") for link in told.locator("a").all()]
    assert anchors == [f"#{anchor}" for anchor in many.get_attribute("data-turns").split()]
    told.locator("a").last.click()
    assert page.locator("#reader").is_visible() and page.url.endswith(anchors[-1])


def test_the_reader_stays_in_the_list(watched: Watched, address: str) -> None:
    """Neighbours are those of the filter and the order; keys do not leave them, whatever the turn."""
    page = watched.open(f"{address}#turns?where=cause%3Arewriter&sort=loss%40qr")
    order = rows(page)
    assert "18 of 70 turns" in page.locator("#turns").inner_text() and order[0] == "4_2"
    page.locator(".rows a").first.click()
    assert page.locator("#reader h2").inner_text() == f"Turn {order[0]}"
    assert "1 of 18 turns · cause:rewriter" in page.locator("#reader .bar").inner_text()
    assert page.locator("#reader a[rel=prev]").count() == 0
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.wait_for_url(lambda url: f"turn-{order[1]}?" in url)
    page.locator("#reader a[rel=prev]").click()
    assert page.locator("#reader h2").inner_text() == f"Turn {order[0]}"
    visited = {order[0]}
    for _ in range(20):
        page.keyboard.press("j")
        page.wait_for_timeout(20)
        visited.add(page.locator("#reader h2").inner_text().removeprefix("Turn "))
    assert len(visited) == 18 and page.locator("#reader a[rel=next]").count() == 0
    outside = watched.open(f"{address}#turn-1_1?where=cause%3Arewriter&sort=loss%40qr")
    assert "not among the 18 listed turns" in outside.locator("#reader .bar").inner_text()
    assert outside.locator("#reader .bar a").count() == 0
    outside.keyboard.press("j")
    outside.wait_for_url(lambda url: f"turn-{order[0]}?where=" in url)


def test_the_contents_lead_to_all_turns(watched: Watched, address: str) -> None:
    page = watched.open(f"{address}#turns?where=cause%3Arewriter&sort=loss%40qr")
    page.locator("nav").get_by_text("All turns").click()
    page.wait_for_url(lambda url: url.endswith("#all-turns"))
    assert "70 of 70 turns" in page.locator("#turns").inner_text()


def test_the_list_in_a_page_that_is_shared(watched: Watched, address: str) -> None:
    page = watched.open(address)
    page.get_by_label("Filter", exact=True).fill("cause:rewriter first@qr>4")
    page.get_by_label("Order", exact=True).select_option(label="first relevant passage deepest: QR")
    found = rows(page)
    assert unquote(page.url).endswith("?where=cause:rewriter first@qr>4&sort=first@qr")
    assert rows(watched.open(page.url)) == found and 1 < len(found) < 18
    page.get_by_text("Fields of filters").click()
    page.locator(".fields").get_by_text("pronoun:yes", exact=True).click()
    assert page.get_by_label("Filter", exact=True).input_value().endswith("first@qr>4 pronoun:yes")


def test_the_way_by_keyboard(watched: Watched, address: str) -> None:
    page = watched.open(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    stops = []
    for _ in range(100):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "document.activeElement.closest('svg') ? 'point' : document.activeElement.tagName"
            )
        )
    assert 0 < stops.count("point") <= 4, "one stop per figure"
    assert {"A", "BUTTON", "DIV", "SUMMARY"} <= set(stops)


#: Takes most of the page away, except one part.
_LESSEN = """part => document.querySelectorAll("details, tbody tr:nth-child(n + 4), svg *").forEach(one => {
    if (one.isConnected && !one.closest(part) && !one.querySelector(part)) one.remove()
})"""


def _barriers(page: Any, part: str = "", rules: Sequence[str] = ()) -> dict[str, str]:
    """Serious barriers by rule; what is in order is not listed, which takes half of the time.

    part
        What is looked for; the rest of the page, of which other tests look at everything, is lessened.
    """
    if part:
        page.evaluate(_LESSEN, part)
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = axe.Axe().run(page, options=options).response["violations"]
    return {
        rule["id"]: rule["nodes"][0]["html"][:200]
        for rule in found
        if rule["impact"] in ("serious", "critical")
    }


@pytest.mark.parametrize(
    ("scheme", "anchor"),
    [
        ("light", ""),
        ("dark", ""),
        ("light", "#turn-3_7"),
        ("dark", "#turn-3_7"),
        ("dark", "#turns"),
    ],
)
def test_no_serious_barriers(browser: Any, address: str, scheme: str, anchor: str) -> None:
    # the scanner is a script of its own
    watched = Watched(browser, color_scheme=scheme, bypass_csp=True)
    page = watched.open(address + anchor)
    # a dark page has other colours and nothing else, as the next test says, and the reader stands on the same page
    assert (
        _barriers(
            page,
            {"": "", "#turns": "#turns"}.get(anchor, "#reader"),
            ["color-contrast", "link-in-text-block"] if scheme == "dark" else [],
        )
        == {}
    )
    page.close()


def test_a_dark_page_has_other_colours_and_nothing_else(address: str) -> None:
    dark = re.findall(
        r"@media[^{]*dark[^{]*{((?:[^{}]*{[^{}]*})*)",
        Path(urlparse(address).path).read_text("utf-8"),
    )
    names = [
        re.findall(r"([\w-]+)\s*:", rule)
        for block in dark
        for rule in re.findall(r"{(.*?)}", block, re.DOTALL)
    ]
    values = [
        re.findall(r":([^;]+)", rule)
        for block in dark
        for rule in re.findall(r"{(.*?)}", block, re.DOTALL)
    ]
    assert len(dark) == 2 and {name for rule in names for name in rule if name[:2] != "--"} == {
        "fill",
        "stroke",
        "stop-color",
    }
    assert all(re.fullmatch("#[0-9a-f]{6}", value.strip()) for rule in values for value in rule)


def test_printed_the_page_leaves_nothing_out_at_its_edges(watched: Watched, address: str) -> None:
    page = watched.open(address)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 960})
    assert not page.locator("nav").is_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".cards details:not([open])").count() == 0
    assert not page.locator(".fold > summary").first.is_visible(), (
        "what is folded away is not printed"
    )
    for name in ("#all-turns", "#turns", ".link", ".tools", ".overview .column"):
        assert not page.locator(name).first.is_visible(), f"{name} is for the screen"
    assert page.locator(".overview .wide svg").is_visible(), (
        "the first page has room for the whole width"
    )
    # browsers shrink a page that little
    assert page.evaluate("document.documentElement.scrollWidth") <= 680 * 1.35
    assert page.pdf(format="A4")[:5] == b"%PDF-"


def test_a_narrow_window_scrolls_inside_tables_only(watched: Watched, address: str) -> None:
    page = watched.open(address)
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_without_the_script_everything_but_passages_is_there(browser: Any, address: str) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{address}#turn-3_7")
    assert page.locator("#turns tbody tr").count() == 70
    assert "Who built the first bicycle?" in page.locator("#turn-3_7").inner_text()
    assert "rewriter" in page.locator("#turn-3_7").inner_text()
    page.close()


def _reviewed(page: Any) -> list[dict[str, Any]]:
    with page.expect_download() as saved:
        page.keyboard.press("e")
    assert saved.value.suggested_filename == "review.jsonl"
    return [json.loads(line) for line in Path(saved.value.path()).read_text().splitlines()]


def _start(page: Any, coder: str, **fields: str) -> None:
    """Open the workbench and draw a sample, with the keyboard."""
    page.keyboard.press("r")
    page.locator("#review").get_by_label("Coder").fill(coder)
    for name, value in fields.items():
        field = page.locator("#review").get_by_label(re.compile(f"^{name.replace('_', ' ')}"))
        if name in ("Sample_size", "Random_seed", "Turns"):
            field.fill(value)
        else:
            field.select_option(label=value)
    page.locator("#review").get_by_label("Coder").press("Enter")


def _new(page: Any, key: str, text: str) -> None:
    page.keyboard.press(key)
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def test_30_turns_are_coded_by_keyboard_and_counted(
    watched: Watched, address: str, tmp_path: Path
) -> None:
    page = watched.open(address)
    _start(page, "ada")
    coded: dict[str, list[str]] = {}
    notes: dict[str, str] = {}

    def at() -> str:
        return str(page.locator("#review .turn h3").first.inner_text().removeprefix("Turn "))

    for number in range(30):
        turn = at()
        if number == 0:
            _new(page, "n", "lost entity")
            _new(page, "n", "topic shift")
            coded[turn] = ["lost entity", "topic shift"]
        elif number % 3:
            page.keyboard.press("1" if number % 3 == 1 else "2")
            coded[turn] = ["lost entity" if number % 3 == 1 else "topic shift"]
        else:
            coded[turn] = []
        if number == 7:
            _new(page, "w", 'a "note"')
            notes[turn] = 'a "note"'
        if number == 14:  # in the middle of a turn
            page.reload()
            page.wait_for_selector("#review[open] .turn")
            assert at() == turn and page.locator("#review .chip[aria-pressed=true]").count() == 1
        if number == 20:  # by mistake, and back
            page.keyboard.press("1")
            page.keyboard.press("u")
            page.keyboard.press("j")
            page.keyboard.press("k")
            assert at() == turn
        page.keyboard.press("j")
    assert "all turns are reviewed" in page.locator("#review .status").inner_text()
    lines = _reviewed(page)
    assert {line["turn"]: sorted(line["categories"]) for line in lines} == coded
    assert {line["turn"]: line["note"] for line in lines if line["note"]} == notes
    assert all(
        line["sample"] == {"kind": "random", "seed": 0, "of": 70, "size": 30} for line in lines
    )
    assert {(line["coder"], *line["systems"]) for line in lines} == {("ada", "qr")}
    path = tmp_path / "review.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shares = robustcs.review(files=[path]).categories.set_index("category")
    assert shares["reviewed"].tolist() == [30] * 3 and shares["random"].all()
    assert shares["count"].to_dict() == {
        name: sum(name in own for own in coded.values()) for name in ("lost entity", "topic shift")
    } | {"(none)": sum(not own for own in coded.values())}
    # another browser continues from the export
    page.evaluate("localStorage.clear()")
    page = watched.open(address)
    page.keyboard.press("r")
    page.locator("#review input[type=file]").set_input_files(path)
    page.locator("#review .status", has_text="30 of 30 lines imported").wait_for()
    page.locator("#review").get_by_label("Coder").fill("ada")
    page.locator("#review").get_by_label("Coder").press("Enter")
    assert page.locator("#review progress").get_attribute("value") == "30"
    assert _reviewed(page) == lines
    page.evaluate("localStorage.clear()")


def test_samples_are_random_the_same_everywhere_and_grow(watched: Watched, address: str) -> None:
    page = watched.open(address)
    drawn = []
    for seed, size in (("1", "24"), ("1", "30"), ("2", "24")):
        page.evaluate("localStorage.clear()")
        page = watched.open(address)
        _start(page, "ben", Random_seed=seed, Sample_size=size)
        for _ in range(int(size)):
            page.keyboard.press("j")
        drawn.append([line["turn"] for line in _reviewed(page)])
    reviewed = [
        json.loads(line)["turn"]
        for line in (ROOT / "fixtures/review/ada.jsonl").read_text().splitlines()
    ]
    assert drawn[0] == reviewed == drawn[1][:24] and len(drawn[1]) == 30 and drawn[2] != drawn[0]
    assert page.evaluate("document.querySelectorAll('#review .chip').length") == 0
    page.evaluate("localStorage.clear()")


def test_two_systems_side_by_side_and_only_where_they_differ(
    watched: Watched, address: str
) -> None:
    page = watched.open(address)
    _start(page, "", Compared_with="Human", Turns="cause:correct")
    assert page.locator("#review .sides h4 bdi").all_text_contents() == ["QR", "Human"]
    page.keyboard.press("d")
    about = page.locator("#review .about").inner_text()
    of = int(re.search(r"the (\d+) turns", about)[1])  # type: ignore[index]
    assert "where QR and Human differ" in about and 0 < of < 43
    _new(page, "n", "both fail")
    page.keyboard.press("s")
    _new(page, "n", "lost entity")
    lines = _reviewed(page)
    assert [(line["systems"], line["categories"]) for line in lines] == [
        (["qr", "human"], ["both fail"]), (["qr"], ["lost entity"]),
    ]  # fmt: skip
    assert lines[0]["sample"]["of"] == of and lines[0]["sample"]["where"].endswith(
        "and where QR and Human differ"
    )
    for _ in range(40):  # no further than the last turn
        page.keyboard.press("j")
    assert len({line["turn"] for line in _reviewed(page)}) == min(30, of)
    page.evaluate("localStorage.clear()")


def test_the_next_turn_can_be_read_only_after_the_one_before(watched: Watched, small: str) -> None:
    page = watched.open(small)
    _start(page, "")
    assert page.locator("#review nav ol button").count() == 1
    assert _reviewed(page) == []  # a turn that is only open is not reviewed
    page.keyboard.press("Escape")
    assert not page.locator("#review").is_visible()
    # history goes back after the key was handled
    page.wait_for_url(lambda url: "review" not in url)
    page.evaluate("localStorage.clear()")


def test_reviews_that_somebody_else_kept_do_no_harm(watched: Watched, small: str) -> None:
    page = watched.open(small)
    key = _identity(page).replace("notes", "review")
    for kept in (
        "null",
        "[1]",
        "no JSON",
        '{"categories": 3}',
        '{"categories": [], "sessions": [{}], "settings": {}}',
    ):
        page.evaluate("([key, kept]) => localStorage.setItem(key, kept)", [key, kept])
        page = watched.open(small)
        _start(page, "ada")
        page.keyboard.press("j")
        assert len(_reviewed(page)) == 1, kept
    page.evaluate("localStorage.clear()")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_serious_barriers_while_reviewing(
    browser: Any, address: str, scheme: str, width: int
) -> None:
    watched = Watched(browser, color_scheme=scheme, bypass_csp=True)
    page = watched.open(address)
    page.set_viewport_size({"width": width, "height": 844})
    _start(page, "ada", Compared_with="Human")
    _new(page, "n", "lost entity")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert _barriers(page, "#review") == {}
    page.evaluate("localStorage.clear()")
    page.close()


def test_hostile_texts_stay_texts(watched: Watched, tmp_path: Path) -> None:
    files = make_report(read_project(write_hostile_project(tmp_path)), folder=tmp_path).files
    path = tmp_path / "page.html"
    path.write_bytes(files["report.html"])
    page = watched.open(path.as_uri())
    page.evaluate("window.touched = undefined")
    data = json.loads(gzip.decompress(base64.b64decode(page.locator("#data").text_content())))[
        "turns"
    ]
    assert len(data["ids"]) == 14
    for anchor in data["anchors"]:
        page.evaluate("anchor => { location.hash = anchor }", anchor)
        page.wait_for_url(lambda url, anchor=anchor: anchor in unquote(url))
        assert page.locator("#reader h2").text_content().startswith("Turn ")
        dangerous = "#reader img, #reader script, #reader a[href^=javascript]"
        assert page.locator(dangerous).count() == 0
    page.keyboard.press("Escape")
    _start(page, "<img src=x onerror=alert(1)>", Sample_size="14")
    for number in range(14):
        if number < 2:  # a new category, and one of that name again
            _new(page, "n", "<script>touched = 1</script>")
        assert page.locator("#review img, #review script, #review a[href^=javascript]").count() == 0
        page.keyboard.press("j")
    page.evaluate("localStorage.clear()")
    assert page.evaluate("window.touched") is None
    assert page.locator("script").count() == 2 and page.locator("img").count() == 0
