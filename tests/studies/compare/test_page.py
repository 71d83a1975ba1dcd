"""The page of a comparison in a browser: changed turns in a list, and both states in the reader."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest

import robustcs
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.compare.show import page
from tests.browsing import Watched


@pytest.fixture(scope="module")
def result(demo: Path) -> Comparison:
    return robustcs.compare(demo / "robustcs.toml", demo / "plain.toml")


@pytest.fixture(scope="module")
def address(result: Comparison, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "changes.html"
    path.write_text(page(result, []), "utf-8")
    return path.as_uri()


def listed(opened) -> list[str]:  # type: ignore[no-untyped-def]
    return opened.locator("#turns li .turn-id").all_inner_texts()


@pytest.mark.parametrize(
    "where", ["change@qr<-0.2", "change@qr<-0.2 cause:rewriter", "change@human>0.3"]
)
def test_filters_select_what_python_selects(
    watched: Watched, address: str, result: Comparison, where: str
) -> None:
    opened = watched.open(f"{address}#turns?where={quote(where)}&sort=id")
    opened.wait_for_selector("#turns li")
    expected = result.turns_where(where)
    assert expected and f"{len(expected)} of 62 turns" in opened.locator("main").inner_text()
    assert set(listed(opened)) <= set(expected)


def test_the_largest_change_comes_first_with_a_column(
    watched: Watched, address: str, result: Comparison
) -> None:
    opened = watched.open(f"{address}#turns")
    opened.wait_for_selector("#turns li")
    shown = listed(opened)
    rows = result.turns[result.turns["metric"] == "ndcg_cut_3"]
    sizes = rows["change"].abs().groupby(rows["turn"]).max()
    found = [sizes.get(turn, 0.0) for turn in shown]
    assert len(found) > 5 and found == sorted(found, reverse=True) and found[0] == 1
    row = rows.iloc[0]
    line = opened.locator(f'#turns li[data-turn="{row.turn}"] .value[data-system="Original"]')
    assert re.split(r"\s*\n\s*", line.inner_text().strip()) == ["−1.00", "1.00 → 0.00"]


def test_the_reader_has_the_conversation(watched: Watched, address: str) -> None:
    opened = watched.open(f"{address}#turns?where=turn%3A1_5")
    opened.wait_for_selector("#turns li")
    opened.keyboard.press("j")
    said = opened.locator("#reader").inner_text()
    assert "Conversation so far" in said and "What is a sourdough starter?" in said
    assert "qr, old" in said and "qr, new" not in said
