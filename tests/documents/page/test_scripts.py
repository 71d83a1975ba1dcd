"""What scripts of the page compute, compared with Python over all characters, and long lists."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustcs.documents import html
from robustcs.documents.document import Document
from robustcs.documents.html import render_html
from robustcs.documents.page.pack import packed_turns
from robustcs.documents.text import UNSAFE_IN_SCRIPTS, visible
from robustcs.records.filter import normalised
from robustcs.records.record import TurnRecords
from robustcs.records.recorded import RecordedTurns
from robustcs.records.table import NO_SYSTEM, Contribution, FieldColumns, TurnField, TurnTable
from robustcs.wording import nearest
from tests.browsing import Watched, rows
from tests.documents.page.test_pack import record

FOLDER = Path(html.__file__).parent / "page"
#: All characters except lone surrogates, which JSON of the page has not.
CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def computed(browser: Any, expression: str, *modules: str) -> Any:
    """What an expression with the names of some modules is worth."""
    page = browser.new_page()
    scripts = "\n".join((FOLDER / f"{name}.js").read_text("utf-8") for name in modules)
    found = page.evaluate(f"() => {{ {scripts}\nreturn {expression}; }}")
    page.close()
    return found


def test_texts_are_compared_as_in_python(browser: Any) -> None:
    """Equal as filters compare them, whatever the characters; newer letters are left out."""
    each = (
        "Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xd800 ||"
        " code >= 0xe000).map((code) => normalised(`a${String.fromCodePoint(code)}b`))"
    )
    found = computed(browser, each, "text")
    pairs: set[tuple[str, str]] = set()
    for character, there in zip(CHARACTERS, found, strict=True):
        if unicodedata.category(character) != "Cn":  # else a letter that this Python does not know
            pairs.add((normalised(f"a{character}b"), there))
    here, elsewhere = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    assert max(here.values()) == max(elsewhere.values()) == 1 and len(pairs) > 100_000


def test_control_characters_are_shown_as_in_every_output(browser: Any) -> None:
    texts = [f"x{one}y" for one in CHARACTERS if not one.isalpha()]
    texts += ["نمی‌خواهم", "👩‍🔬", "a‍b", "1️⃣", "a️", "line\r\nend", "‮txt.exe"]
    pattern = UNSAFE_IN_SCRIPTS.replace("\\", "\\\\")
    page = browser.new_page()
    script = (FOLDER / "text.js").read_text("utf-8")
    found = page.evaluate(
        f'(texts) => {{ {script}\nunsafe = new RegExp("{pattern}", "gus"); return texts.map(visible); }}',
        texts,
    )
    page.close()
    assert found == [visible(text) for text in texts]


@pytest.mark.parametrize(
    "word", ["cuase", "ndcg_cut3", "frist", "zzz", "depht", "ndcg@3", "tags", "un judged", "o", ""]
)
def test_the_nearest_name_is_that_of_python(browser: Any, word: str) -> None:
    known = ["cause", "first", "depth", "ndcg cut 3", "ndcg@3", "tag", "judged", "unjudged", "outcome", "loss", "lost"]  # fmt: skip
    found = computed(browser, f"nearest({word!r}, {known!r})", "text", "filter")
    assert found == nearest(word, known)


def test_a_list_of_ten_thousand_turns(watched: Watched, tmp_path: Path) -> None:
    """Only visible rows exist, the last one can be reached, and filters take less than 0.1 s."""
    number = 10_000
    ids = [f"{1 + place // 10}_{1 + place % 10}" for place in range(number)]
    places = np.arange(number, dtype=float)
    fields = [
        (TurnField("turn", "words", "its id", place="none"), {NO_SYSTEM: [(one,) for one in ids]}),
        (TurnField("ndcg_cut_3", "number", "x", per_system=True, place="scores"), {"a": places / number}),
    ]  # fmt: skip
    columns = FieldColumns(Contribution(one, lambda own=own: own) for one, own in fields)  # type: ignore[misc, arg-type]
    some = {one: record(one, {}, texts={"original": f"What about shark {one}?"}) for one in ids}
    table = TurnTable(ids, columns, lambda: [""] * number, headline="ndcg_cut_3")
    packed = packed_turns(TurnRecords(dict, table, [], RecordedTurns(some, {})))
    path = tmp_path / "page.html"
    path.write_text(render_html(Document("t", (), "p", turns=packed)), "utf-8")
    page = watched.open(f"{path.as_uri()}#turns")
    assert len(rows(page)) < 60 and rows(page)[0] == "1_1"
    page.locator(".turn-rows").evaluate("box => { box.scrollTop = box.scrollHeight }")
    page.wait_for_function("document.querySelector('.rows li:last-child').ariaPosInSet === '10000'")
    assert rows(page)[-1] == "1000_10" and len(rows(page)) < 60
    # the median of several runs, each with another filter
    times = page.evaluate(
        """() => [1, 2, 3, 4, 5, 6, 7].map((one) => {
          const box = document.getElementById("where");
          box.value = `ndcg_cut_3>0.${one} "shark ${one}"`;
          const start = performance.now();
          box.dispatchEvent(new Event("input"));
          return performance.now() - start;
        })"""
    )
    assert sorted(times)[3] < 100
    assert page.locator("#turns output").inner_text().endswith("of 10,000 turns")
