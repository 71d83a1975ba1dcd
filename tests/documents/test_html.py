"""The page: what may run in it, what stands in it, and that it is the same every time."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from robustcs.documents.document import Document
from robustcs.documents.html import render_html
from robustcs.documents.page.first import FIRST_TURNS
from tests.documents.conftest import HOSTILE

VOID = {"meta", "input", "img", "br", "link"}


class Page(HTMLParser):
    """Collects elements and text, and checks that tags nest."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.text.append(data)


@pytest.fixture(scope="module")
def hostile_page(hostile: Document) -> str:
    return render_html(hostile)


def test_only_the_two_inlined_parts_may_run(hostile_page: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', hostile_page)
    assert policy
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].replace("&#39;", "'").split(";"))
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", hostile_page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules.pop(f"{tag}-src") == f"'sha256-{digest}'"
    none = "'none'"
    assert rules == {"default-src": none, "img-src": "data:", "base-uri": none, "form-action": none}


def test_nothing_of_the_texts_becomes_markup(hostile_page: str) -> None:
    page = Page(hostile_page)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == tags.count("style") == 1
    assert not {"img", "link", "iframe", "object", "a:href"} & set(tags)
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes), (
            tag,
            attributes,
        )
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
        assert not {"src", "action", "srcset"} & set(attributes)
    text = "".join(page.text)
    for literal in HOSTILE[:7]:
        assert literal in text
    assert "7*7" in text and "49" not in text


def test_ids_are_safe_unique_and_every_link_leads_somewhere(hostile_page: str) -> None:
    elements = Page(hostile_page).elements
    ids = [attributes["id"] or "" for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", name) for name in ids)
    for _, attributes in elements:
        for name in ("href", "xlink:href", "aria-labelledby", "aria-describedby"):
            assert {part.lstrip("#") for part in (attributes.get(name) or "").split()} <= set(ids)


def test_no_control_characters(hostile_page: str) -> None:
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile_page
    )


def test_what_a_page_needs(plain: Document) -> None:
    page = render_html(plain)
    elements = Page(page).elements
    tags = [tag for tag, _ in elements]
    for landmark in ("header", "nav", "main", "footer"):
        assert tags.count(landmark) == 1
    assert elements[tags.index("html")][1]["lang"] == "en"
    assert elements[tags.index("a")][1] == {"class": "skip", "href": "#content"}
    assert tags.count("table") == 2 and tags.count("details") == 5
    assert tags.count("svg") == 4, "each figure for the page and for a column"
    assert '<th scope="colgroup" colspan="2"><bdi>NDCG@3 ≥ 0.5</bdi></th>' in page
    assert page.count('<tr class="rule">') == 2
    assert (
        "http://" not in re.sub(r'(xmlns(:\w+)?|const SVG )= ?"[^"]*"|http-equiv', "", page)
        and "https://" not in page
    )


def test_many_turns_stand_packed_in_the_page_and_the_first_as_rows() -> None:
    names = [f"{topic}_{depth}" for topic in range(1, 61) for depth in range(1, 6)]
    data = {
        "ids": names,
        "anchors": [f"turn-{name}" for name in names],
        "systems": [],
        "formulations": ["human"],
        "headline": "",
        "cuts": [],
        "fields": [],
        "texts": [("human", [f"</script><b>{name}\x1b" for name in names])],
        "left_out": ["No room."],
    }
    page = render_html(Document("t", (), "p", turns=data))
    packed = re.search(r'id="data">([A-Za-z0-9+/=]+)</script>', page)
    assert packed
    unpacked = json.loads(gzip.decompress(base64.b64decode(packed[1])))["turns"]
    assert unpacked["ids"] == names
    assert unpacked["texts"][0][1][299] == "</script><b>60_5\x1b", "as it is in the file"
    assert page.count('<tr id="turn-') == FIRST_TURNS == 100
    assert "The first 100 of 300 turns" in page and "No room." in page
    assert "</script><b>" not in page and "\x1b" not in page


def test_the_same_bytes_twice(plain: Document) -> None:
    assert render_html(plain) == render_html(plain)
