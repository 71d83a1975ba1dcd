"""What nobody judged, in plain sentences with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, percent, plain
from robustcs.evaluation.bounds import ROUNDING
from robustcs.evaluation.groups import Group
from robustcs.studies.unjudged.analysis import Unjudged
from robustcs.wording import and_more

if TYPE_CHECKING:
    import pandas as pd

#: Pairs of runs that are named; the table has all.
_NAMED = 5


def unjudged_findings(result: Unjudged, roles: Mapping[str, str], groups: Mapping[str, Group]) -> tuple[str, ...]:
    """How much of each drop holes could explain (Human to QR and Original, baseline to sets), and what is not told apart.

    ``roles``: run → original, qr or human; further runs are not in it.
    """
    shares = result.rates.set_index("run")["share"]
    bounded = result.bounds[result.bounds["low"].notna()]
    if not len(bounded):
        return (
            f"Nobody judged {percent(shares.min())} ({shares.idxmin()}) to {percent(shares.max())} ({shares.idxmax()}) of the"
            f" top {result.settings.depth} passages.",
        )
    metric = headline_measure(bounded["metric"])
    bounds = bounded[bounded["metric"] == metric].set_index("run")
    human = next((name for name, role in roles.items() if role == "human"), None)
    drops = [(human, name, [name]) for name, role in roles.items() if human and role != "human"]
    drops += [(group.baseline, f"the sets of {name}", list(group.sets)) for name, group in groups.items()]
    pairs = result.pairs[result.pairs["metric"] == metric]
    sentences = [
        _drop(str(baseline), name, bounds.loc[baseline], bounds.loc[runs].mean(numeric_only=True), shares, runs, result, pairs)
        for baseline, name, runs in drops
        if {baseline, *runs} <= set(bounds.index)
    ]
    return (*sentences, *_not_apart(pairs, metric, result))


def _scope(result: Unjudged, label: str) -> str:
    """Which unjudged passages the bounds grade."""
    scopes = {"cutoff": f"that {label} looks at in these runs", "run": "of these two runs", "pool": "of all runs here"}
    return scopes[result.settings.scope]


def _drop(
    baseline: str, name: str, best: pd.Series, own: pd.Series, shares: pd.Series, runs: list[str], result: Unjudged,
    pairs: pd.DataFrame,
) -> str:  # fmt: skip
    """One drop: as measured, how far grades could move it, and without unjudged passages."""
    drop, condensed = best["score"] - own["score"], best["condensed"] - own["condensed"]
    least, most = _ends(pairs, baseline, runs)
    label, mean = measure_label(best["metric"]), " (mean)" if len(runs) > 1 else ""
    text = (
        f"From {baseline} to {name}, {label} goes from {best['score']:.3f} to {own['score']:.3f}{mean}, a drop of"
        f" {plain(drop)}."
    )
    if most - least <= ROUNDING:
        still = " Judging others still can, through ideal rankings." if result.settings.scope != "pool" else ""
        return f"{text} No grade of an unjudged passage {_scope(result, label)} could change it.{still}"
    sure = (
        "so these grades alone cannot undo it"
        if least > 0
        else "so these bounds do not prove a loss"
        if most > 0
        else "so nothing is lost"
    )
    return (
        f"{text} Of the top {result.settings.depth} of {name}, {percent(shares[runs].mean())} are unjudged ({baseline}:"
        f" {percent(shares[baseline])}). Whatever the grades of the unjudged passages {_scope(result, label)},"
        f" the drop lies between {plain(least)} and {plain(most)}{f' (each set with {baseline} on its own)' if len(runs) > 1 else ''}, {sure}. With unjudged passages"
        f" taken out of the rankings it is {plain(condensed)}."
    )


def _ends(pairs: pd.DataFrame, baseline: str, runs: list[str]) -> tuple[float, float]:
    """The smallest and the largest drop from the baseline, each the mean over the runs."""
    ends = {(row.first, row.second): (row.low, row.high) for row in pairs.itertuples()}
    ends |= {(second, first): (-high, -low) for (first, second), (low, high) in ends.items()}
    # a baseline among its own sets does not differ from itself
    lows, highs = zip(*(ends.get((baseline, run), (0.0, 0.0)) for run in runs), strict=True)
    return sum(lows) / len(runs), sum(highs) / len(runs)


def _not_apart(pairs: pd.DataFrame, metric: str, result: Unjudged) -> tuple[str, ...]:
    if not len(pairs):
        return ()
    open_ = pairs[~pairs["separable"].astype(bool)]
    label = measure_label(metric)
    if not len(open_):
        looked = f"no grade of an unjudged passage {_scope(result, label)}"
        return (f"By {label} {looked} reverses any of {len(pairs)} pairs of runs.",)
    named = [f"{row.first} and {row.second}" for row in open_.head(_NAMED).itertuples()]
    which = f"{len(open_)} of {len(pairs)} pairs of runs" if len(pairs) > 1 else "the two runs"
    would = "would" if open_["exact"].all() else "might"
    return (
        f"By {label} the order of {which} is not settled by the judgments:"
        f" {'; '.join(named)}{and_more(len(open_), len(named))}. Some grades of their unjudged passages {would} level or"
        " reverse it.",
    )
