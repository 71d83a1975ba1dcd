"""Make the reports and pictures of docs/gallery.md: ``python docs/gallery.py [DATA [FOLDER]]``.

DATA is the folder of the public data (default: ``$ROBUSTCS_DATA`` or ``../shared/data``). With FOLDER, the reports stay
there, with pictures of the page at 1280 and 390 px, light and dark. Needs playwright and Chromium.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]
IMAGES = ROOT / "docs" / "images"
WORDINGS, RANKERS = ("lastturn", "questions", "rewrite"), ("bm25", "bge", "elser")
GRID = """
name = "MTRAG clapnq"
metrics = ["ndcg_cut_10"]
policy = {{ relevance_level = 1 }}
[qrels]
file = "{0}/mtrag-answers/qrels_clapnq.tsv"
selection = "positives"
[components]
""" + "".join(
    f'"{wording}/{ranker}" = "{{0}}/mtrag-grid/{ranker}_{wording}.jsonl.gz"\n'
    for wording in WORDINGS
    for ranker in RANKERS
)
ANSWERS = """
name = "MTRAG-UN"
gold = "{0}/mtragun/reference.jsonl.gz"
collection = "{0}/mtragun/reference.jsonl.gz"
policy = {{ relevance_level = 1 }}
[qrels]
selection = "positives"
file = [
    "{0}/mtragun/qrels_clapnq.tsv", "{0}/mtragun/qrels_cloud.tsv", "{0}/mtragun/qrels_fiqa.tsv", "{0}/mtragun/qrels_govt.tsv",
]
[formulations.original]
rewrites = "{0}/mtragun/reference.jsonl.gz:original"
[answers]
labels = "{0}/mtragun/reference.jsonl.gz"
[answers.responses]
""" + "".join(
    f'{name} = "{{0}}/mtragun/{name}.jsonl.gz"\n' for name in ("gemini", "glm", "llama3", "meno")
)


def projects(data: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and the project file of each report; the public files stay where they are."""
    from report import CONFIG

    yield "demo", ROOT / "fixtures" / "robustcs.toml"
    for name, text in (("cast2019", CONFIG), ("grid", GRID), ("answers", ANSWERS)):
        path = folder / name / "robustcs.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            text.format(data / "cast2019" if name == "cast2019" else data), encoding="utf-8"
        )
        yield name, path


def make(config: Path, folder: Path) -> Path:
    """Write the report of a project file, and return its page."""
    from robustcs.cli.main import run

    if code := run(["report", "--config", str(config), "--output", str(folder)]):
        raise SystemExit(code)
    return folder / "report.html"


def shoot(
    browser: Any,
    page: Path,
    to: Path,
    width: int = 1280,
    height: int = 860,
    scheme: str = "light",
    whole: bool = False,
) -> None:
    """Save a picture of a page as a browser shows it."""
    tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    tab.goto(page.as_uri())
    tab.wait_for_selector("html[data-ready]", state="attached")
    tab.wait_for_timeout(300)
    if to.suffix == ".webp":
        taken = tab.context.new_cdp_session(tab).send(
            "Page.captureScreenshot", {"format": "webp", "quality": 60}
        )
        to.write_bytes(base64.b64decode(taken["data"]))
    else:
        tab.screenshot(path=to, full_page=whole)
    tab.close()


def main() -> None:
    """Make all reports and pictures."""
    from playwright.sync_api import sync_playwright

    data = Path(
        sys.argv[1]
        if len(sys.argv) > 1
        else os.environ.get("ROBUSTCS_DATA", ROOT.parent / "shared" / "data")
    ).resolve()
    chromium = next(
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    )
    with TemporaryDirectory() as temporary, sync_playwright() as driver:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else temporary).resolve()
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, config in projects(data, folder):
            page = make(config, folder / name / "report")
            shoot(browser, page, IMAGES / f"gallery-{name}.webp")
            if len(sys.argv) > 2:
                for width, height in ((1280, 900), (390, 844)):
                    for scheme in ("light", "dark"):
                        shoot(
                            browser,
                            page,
                            folder / f"{name}-{width}-{scheme}.png",
                            width,
                            height,
                            scheme,
                        )
                    shoot(
                        browser,
                        page,
                        folder / f"{name}-{width}-whole.png",
                        width,
                        height,
                        whole=True,
                    )
        browser.close()


if __name__ == "__main__":
    main()
