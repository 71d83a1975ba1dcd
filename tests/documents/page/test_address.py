"""Addresses of lists of turns, as a browser reads them."""

from __future__ import annotations

from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

from robustcs.documents.page.address import turns_address
from robustcs.documents.text import visible


def test_an_address() -> None:
    assert turns_address("cause@qr:ranker") == "#turns?where=cause%40qr%3Aranker"
    address = turns_address('outcome@"a & b":"made up"', "loss@qr")
    assert address == "#turns?where=outcome%40%22a%20%26%20b%22%3A%22made%20up%22&sort=loss%40qr"


@given(st.text(min_size=1), st.text())
def test_a_browser_reads_what_was_written(where: str, sort: str) -> None:
    """``URLSearchParams`` reads what a form sends, as does ``parse_qsl``."""
    asked = dict(parse_qsl(turns_address(where, sort).removeprefix("#turns?"), True))
    shown = {"where": visible(where), **({"sort": visible(sort)} if sort else {})}
    assert asked == {name: text.encode("utf-8", "replace").decode() for name, text in shown.items()}
