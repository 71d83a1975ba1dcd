"""Whether judgments fit the collection and the runs, on hand-made passages."""

from __future__ import annotations

import pytest

from robustcs.evaluation.collection_fit import CollectionFit, TopFit, collection_fit

#: d1 and d2 have one text, d3 has another one.
TEXTS = {"d1": 1, "d2": 1, "d3": 3}


def fit(
    judged: list[tuple[str, str]], retrieved: set[str] | None = None, **tops: list[str]
) -> CollectionFit:
    found = {name: {"1": passages} for name, passages in tops.items()}
    return collection_fit(judged, found, retrieved or set(TEXTS), TEXTS)


def test_a_twin_is_unjudged_and_has_a_text_that_is_judged_for_the_same_turn() -> None:
    found = fit([("1", "d1"), ("2", "d3")], a=["d2", "d3"], b=["d1", "d2"], c=["d1"])
    assert found.tops == {"a": TopFit(0, 1), "b": TopFit(1, 1), "c": TopFit(1, 0)}
    assert [one.share for one in found.tops.values()] == [1.0, 0.5, 0.0]
    assert (
        found.worst == "a"
        and not found.fits
        and found.apart("a", "b")
        and not found.apart("c", "c")
    )


@pytest.mark.parametrize(("others", "fits"), [(19, True), (18, False)])
def test_up_to_five_per_cent_have_no_consequences(others: int, fits: bool) -> None:
    judged = [("1", f"x{place}") for place in range(others)] + [("1", "d1")]
    assert fit(judged, {"d1"}, a=["d2", *(passage for _, passage in judged[:-1])]).tops[
        "a"
    ] == TopFit(others, 1)
    assert CollectionFit(20, 0, {"a": TopFit(others, 1)}).fits == fits
    assert (
        CollectionFit(20, 1, {"a": TopFit(20, 0)}).fits
        and not CollectionFit(19, 1, {"a": TopFit(20, 0)}).fits
    )


def test_missing_passages_count_only_if_the_collection_is_whole() -> None:
    judged = [("1", "d1"), ("1", "gone"), ("2", "gone")]
    assert (fit(judged, a=["d1"]).judged, fit(judged, a=["d1"]).lacking) == (3, 2)
    assert fit(judged, {*TEXTS, "elsewhere"}, a=["d1"]).lacking == 0
