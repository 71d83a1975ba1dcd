"""A page in headless Chromium, and everything that it must not do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from robustcs.documents.document import Document
from robustcs.documents.html import render_html
from robustcs.documents.page.pack import packed_turns
from robustcs.inputs.readings import reading_once
from robustcs.project.reading import read_project
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.studies.fields import turns_of

BROWSER = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


def started() -> Iterator[Any]:
    """Start the browser, and close it at the end. Skips where there is none."""
    if BROWSER is None:
        pytest.skip("no Chromium on this machine (apt-get install chromium)")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install 'robustcs[dev]')"
    )
    with playwright.sync_playwright() as driver:
        # containers run as root, where Chromium's sandbox cannot start
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page, and everything that it must not do."""

    def __init__(self, browser: Any, **context: Any):
        self.page = browser.new_page(viewport={"width": 1280, "height": 900}, **context)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))

    def open(self, address: str) -> Any:
        self.page.goto("about:blank")
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]", state="attached")
        return self.page

    def check(self) -> None:
        assert self.said == []
        assert all(url.startswith("file:") and ".html" in url for url in self.asked), self.asked


def page_of_turns(config: Path, folder: Path) -> str:
    """The address of a page with nothing but the turns of a project."""
    with reading_once():
        workspace = Workspace(read_project(config))
        project = workspace.project
        turns = packed_turns(
            turns_of(TurnInputs(workspace)), project.policy.relevance_level, project.seed
        )
    page = folder / "turns.html"
    page.write_text(render_html(Document(config.parent.name, (), "policy", turns=turns)), "utf-8")
    return page.as_uri()


def rows(page: Any) -> list[str]:
    """The ids of the turns in the visible part of the list."""
    found = page.locator(".rows li").evaluate_all("rows => rows.map((row) => row.dataset.turn)")
    return [str(turn) for turn in found]


def open_turn(page: Any, anchor: str, turn: str) -> None:
    """Go to a turn by its address."""
    page.evaluate("anchor => { location.hash = anchor }", anchor)
    page.wait_for_function(
        "turn => document.querySelector('#reader-title')?.textContent === `Turn ${turn}`", arg=turn
    )
