"""Measure reports: ``python bench/report.py [DATA]``; DATA is the folder of the public data.

The script runs the commands that users wait for: a report on CAsT 2019 with five rewriters, a report on a generated test set
of 10,000 turns, with all passages of three runs judged and with a tenth of them, and the demo. It prints the CPU time of each,
also scaled to the machine of the aims, beside its aim. Then it opens the large page in headless Chromium, if playwright is
installed. Run it with the Python of ``make demo``: with pyarrow, which is optional, pandas keeps texts in a form that is slower
for small tables.
"""

from __future__ import annotations

import random
import shutil
import statistics
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import ROOT, environment, machine, run_once

#: Rankings and texts of one year, combined to five rewriters. The texts of the two T5 runs are not published, so they have
#: those of another rewriter.
CONFIG = """
name = "CAsT 2019"
qrels = "{0}/qrels.txt.gz"
policy = {{ relevance_level = 2 }}
[formulations]
original = {{ run = "{0}/runs/bert_base_raw.trec.gz", rewrites = "{0}/topics.json" }}
"qr:cv" = {{ run = "{0}/runs/bert_base_cv.trec.gz", rewrites = "{0}/runs/rewrites_cv.jsonl" }}
"qr:t5_bert" = {{ run = "{0}/decaf/bm25_bert_t5.run.gz", rewrites = "{0}/qrqa/Transformer_Plus_Plus_Q.tsv" }}
"qr:t5_bm25" = {{ run = "{0}/decaf/bm25_t5.run.gz", rewrites = "{0}/qrqa/Transformer_Plus_Plus_Q.tsv" }}
"qr:raw_bm25" = {{ run = "{0}/decaf/bm25_raw.run.gz", rewrites = "{0}/topics.json:raw_utterance" }}
"qr:manual_bm25" = {{ run = "{0}/decaf/bm25_manual.run.gz", rewrites = "{0}/topics_resolved.tsv" }}
human = {{ run = "{0}/runs/bert_base_oracle.trec.gz", rewrites = "{0}/topics_resolved.tsv" }}
"""
MADE = """
name = "Ten thousand turns"
qrels = "qrels.txt"
metrics = ["ndcg_cut_3", "P_1"]
[formulations]
original = { run = "original.trec", rewrites = "original.tsv" }
qr = { run = "qr.trec", rewrites = "qr.tsv" }
human = { run = "human.trec", rewrites = "human.tsv" }
"""
#: CPU seconds that ``import scipy.stats`` takes on the machine for which the aims are stated.
SCIPY = 1.6
CONVERSATIONS, TURNS, DEPTH, OPENINGS = 1000, 10, 10, 5
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
#: Filters that are typed one after the other; the first is the first to search texts.
FILTERS = ['"abc"', "cause:rewriter first@qr>2", "ndcg_cut_3@qr<0.2 -cause:ranker", "name lost"]
#: Types filters into the page, and returns the milliseconds until the list and its layout have changed.
FILTER = """filters => filters.map((filter) => {
  const box = document.getElementById("where");
  const start = performance.now();
  box.value = filter;
  box.dispatchEvent(new Event("input"));
  document.querySelector(".rows").getBoundingClientRect();
  return performance.now() - start;
})"""


def main() -> None:
    """Print the cost and size of the reports, and the time until the large page appears."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "data"
    print(f"{machine()}\n")
    print(
        "| | wall s | CPU s | scaled | aim | peak MB | page MB | PDF MB |\n|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    with TemporaryDirectory() as cache, TemporaryDirectory() as name:
        report, folder = partial(_report, environment(Path(cache))), Path(name)
        (folder / "robustcs.toml").write_text(
            CONFIG.format(data.resolve() / "cast2019"), encoding="utf-8"
        )
        run_once(
            [sys.executable, str(ROOT / "cli.py"), "demo", "--output", str(folder / "demo")],
            environment(Path(cache)),
        )
        report("CAsT 2019, five rewriters", 8, folder)
        for judged in (1.0, 0.1):
            large = folder / f"judged-{judged:g}"
            large.mkdir()
            _make(large, judged)
            report(
                f"{CONVERSATIONS * TURNS:,} turns, {judged:.0%} of the passages judged", 40, large
            )
        report("demo", 12, folder, "demo")
        _open(folder / "judged-1" / "made" / "report.html")


def _report(
    given: Mapping[str, str], label: str, aim: float, folder: Path, command: str = "report"
) -> None:
    """Print the cost of a report; ``aim``: CPU seconds on a machine that imports scipy.stats in :data:`SCIPY` CPU seconds."""
    config = [] if command == "demo" else ["--config", str(folder / "robustcs.toml")]
    made = folder / "made" if config else folder / "new-demo"
    scipy = statistics.median(
        run_once([sys.executable, "-c", "import scipy.stats"], given)[0].cpu
        for _ in range(OPENINGS)
    )
    cost, _ = run_once(
        [sys.executable, str(ROOT / "cli.py"), command, *config, "--output", str(made)], given
    )
    page, pdf = (made.joinpath(f"report.{kind}").stat().st_size / 1e6 for kind in ("html", "pdf"))
    times = f"{cost.cpu:.2f} | {cost.cpu * SCIPY / scipy:.1f} | {aim:g}"
    print(f"| {label} | {cost.wall:.1f} | {times} | {cost.memory:.0f} | {page:.2f} | {pdf:.2f} |")


def _make(folder: Path, judged: float) -> None:
    """Write texts of ten words out of 20,000, runs of ten passages out of two million, and judge the share ``judged``."""
    chance = random.Random(16)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))
        for _ in range(20_000)
    ]
    turns = [
        f"{topic}_{depth}" for topic in range(1, CONVERSATIONS + 1) for depth in range(1, TURNS + 1)
    ]
    lines = []
    files = {name: (folder / f"{name}.trec").open("w") for name in ("original", "qr", "human")}
    texts = {name: (folder / f"{name}.tsv").open("w") for name in files}
    for turn in turns:
        pool = [f"MARCO_{number}" for number in chance.sample(range(2_000_000), 3 * DEPTH)]
        graded = pool[: max(1, round(judged * len(pool)))]
        lines += [f"{turn} 0 {passage} {chance.choice((0, 0, 1, 2, 3))}\n" for passage in graded]
        for name, file in files.items():
            passages = chance.sample(pool, DEPTH)
            file.writelines(
                f"{turn} Q0 {one} {rank + 1} {DEPTH - rank} {name}\n"
                for rank, one in enumerate(passages)
            )
            texts[name].write(f"{turn}\t{' '.join(chance.choices(words, k=10))}\n")
    for one in (*files.values(), *texts.values()):
        one.close()
    (folder / "qrels.txt").write_text("".join(lines))
    (folder / "robustcs.toml").write_text(MADE)


def _open(page: Path) -> None:
    """Print the times until the page appears, until its turns can be read, and to filter them, as medians of several openings."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("\nplaywright is not installed: the large page was not opened")
        return

    browser = next(
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    )
    paints, ready, filters = [], [], []
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for _ in range(OPENINGS):
            tab = started.new_page(viewport={"width": 1280, "height": 800})
            tab.goto(page.as_uri(), wait_until="commit")
            tab.wait_for_selector("html[data-ready]", state="attached")
            ready.append(tab.evaluate("performance.now()"))
            paints.append(tab.evaluate(PAINT))
            filters.append(tab.evaluate(FILTER, FILTERS))
            tab.close()
        started.close()
    first, whole = statistics.median(paints) / 1000, statistics.median(ready) / 1000
    print(
        f"\nfirst contentful paint {first:.2f} s, turns ready {whole:.2f} s (medians of {OPENINGS}, headless Chromium)"
    )
    for asked, times in zip(FILTERS, zip(*filters, strict=True), strict=True):
        print(f"filter {asked!r}: {statistics.median(times):.0f} ms")


if __name__ == "__main__":
    main()
