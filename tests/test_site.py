"""The site of the docs: what it is made of, and that no dead link passes."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import ROOT, load

SITE = load(ROOT / "docs" / "website.py")


def test_every_page_stands_once_in_the_menu() -> None:
    listed = re.findall(r"- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(listed) == sorted({*pages, *SITE.ELSEWHERE.values()})


def test_pages_from_elsewhere_are_linked_as_they_come_in(tmp_path: Path) -> None:
    SITE.collect(tmp_path / "docs")
    assert "](demo.md)" in (tmp_path / "docs" / "tour.md").read_text("utf-8")
    assert not [
        page
        for page in (tmp_path / "docs").rglob("*.md")
        if "../fixtures" in page.read_text("utf-8")
    ]


@pytest.mark.parametrize(
    ("link", "dead"),
    [
        ("other.html", False), ("other.html#there", False), ("#here", False), ("other.html#gone", True), ("gone.html", True),
        ("#gone", True), ("../outside.html", True), ("https://example.org/x", False), ("/index.html", False),
        ("/gone.css", True), ("a%20b.html", False), (".", False),
    ],
)  # fmt: skip
def test_a_dead_link_is_found(tmp_path: Path, link: str, dead: bool) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "outside.html").write_text("")
    (site / "index.html").write_text(f'<p id="here"><a href="{link}">x</a>')
    for name in ("other.html", "a b.html"):
        (site / name).write_text('<a name="there"></a>')
    assert SITE.dead_links(site) == [f"index.html: {link}"] * dead


@pytest.mark.long  # .ci/run builds the site as well
def test_the_site_is_built_without_a_dead_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if find_spec("mkdocs") is None:
        pytest.skip("mkdocs is not installed here: make docs installs it and builds the site")
    assert SITE.main(str(tmp_path / "site")) == 0, capsys.readouterr().out
    page = (tmp_path / "site" / "tutorial.html").read_text("utf-8")
    assert "fonts.googleapis" not in page and "What causes the errors?" in page
