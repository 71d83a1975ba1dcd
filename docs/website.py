"""Build the website of the docs with mkdocs-material, and check every internal link: ``make docs``, or

    python docs/website.py [FOLDER]

The pages are those of docs/ and the README of the demo collection. The exit code is 1 if a link is dead.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
#: Pages outside docs/: path → path in the website.
ELSEWHERE = {"fixtures/README.md": "demo.md"}


def collect(folder: Path) -> None:
    """Copy the pages, images and the notebook of the docs to ``folder``, and adapt the links between them."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for source, name in ELSEWHERE.items():
        shutil.copy(ROOT / source, folder / name)
        for page in folder.rglob("*.md"):
            text = page.read_text(encoding="utf-8")
            up = "../" * len(page.relative_to(folder).parts)
            page.write_text(text.replace(f"]({up}{source}", f"]({up[3:]}{name}"), encoding="utf-8")


class _Links(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = {"", "top"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ``href``, ``src`` and ``id``."""
        for name, value in attrs:
            if name in ("href", "src") and value is not None and tag != "base":
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def dead_links(site: Path) -> list[str]:
    """Return ``page: link`` for every dead link between the pages of ``site``; external links are not checked."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _Links()
        pages[path].feed(path.read_text(encoding="utf-8"))
    dead = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            start = (
                site / address.path.lstrip("/")
                if address.path.startswith("/")
                else path.parent / unquote(address.path)
            )
            target = (start if address.path else path).resolve()
            target = target / "index.html" if target.is_dir() else target
            found = target.is_file() and target.is_relative_to(site.resolve())
            known = {one.resolve(): read for one, read in pages.items()}.get(target)
            if not found or (known is not None and unquote(address.fragment) not in known.anchors):
                dead.append(f"{path.relative_to(site)}: {link}")
    return dead


def build(site: Path) -> None:
    """Write the website into a folder. mkdocs stops at a page outside the menu and at a dead link between pages."""
    from mkdocs.commands.build import build as make
    from mkdocs.config import load_config

    with tempfile.TemporaryDirectory() as parent:
        pages = Path(parent) / "docs"
        collect(pages)
        make(
            load_config(
                str(ROOT / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(site), strict=True
            )
        )


def main(folder: str = "site") -> int:
    """Build and check the website."""
    site = Path(folder)
    build(site.resolve())
    dead = dead_links(site)
    print(*(f"dead link: {link}" for link in dead), sep="\n", end="\n" if dead else "")
    print(f"wrote {site / 'index.html'}")
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
