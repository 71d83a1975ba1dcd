"""Addresses inside a page, which its script reads with ``URLSearchParams``."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from robustcs.documents.text import visible


def turns_address(where: str, sort: str = "") -> str:
    """Return the address of the list of turns: ``#turns?where=cause%40qr%3Aranker&sort=loss%40qr``.

    where
        A filter of turns (:mod:`robustcs.records.filter`).
    sort
        The order of the list; empty for that of their ids.

    Control characters are symbols, as in the names of a page.
    """
    asked = {"where": visible(where)}
    if sort:
        asked["sort"] = visible(sort)
    return f"#turns?{urlencode(asked, safe='', errors='replace', quote_via=quote)}"
