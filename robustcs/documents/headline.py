"""Choose the measure and threshold of findings, squares and turns to read; tables show all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds, parse_threshold
from robustcs.lazy import pd
from robustcs.table import Table

#: (metric, threshold), as the tables name them.
Cut = tuple[str, str]


def headline_measure(names: Iterable[str]) -> str:
    """Return the first measure that is not binary (P@1, success and em are), else the first."""
    every = list(dict.fromkeys(names))
    return next(
        (name for name in every if not parse_measure(name, given=True).right_or_wrong), every[0]
    )


def headline_cut(cuts: Sequence[Cut]) -> Cut:
    """Return the cut of :func:`headline_measure` with the threshold nearest to 0.5; the lower of two."""
    metric = headline_measure(name for name, _ in cuts)
    values = {cut: parse_threshold(cut[1]).value for cut in cuts if cut[0] == metric}
    return min(values, key=lambda cut: (abs(values[cut] - 0.5), values[cut]))


def headline_of(names: Iterable[str], thresholds: Sequence[Threshold]) -> Cut:
    """Return :func:`headline_cut` of all measures, at all of ``thresholds`` that split their scores differently."""
    return headline_cut(
        [(name, str(one)) for name in names for one in distinct_thresholds(name, thresholds)]
    )


def shown_cuts(table: Table | pd.DataFrame) -> list[Cut]:
    """Return the (metric, threshold) pairs of a table, in its order."""
    cuts = zip(table["metric"].tolist(), table["threshold"].tolist(), strict=True)
    return list(dict.fromkeys(cuts))


def at(frame: pd.DataFrame, cut: Cut) -> pd.DataFrame:
    """Return the rows of a measure and threshold."""
    return frame[(frame["metric"] == cut[0]) & (frame["threshold"] == cut[1])]
