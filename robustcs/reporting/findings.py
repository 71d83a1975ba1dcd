"""What was found, in plain sentences with their numbers: the opening of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, p_equals, percent, plain
from robustcs.evaluation.bounds import ROUNDING
from robustcs.evaluation.groups import Group
from robustcs.studies.augment.analysis import Augmentation
from robustcs.studies.correlate.analysis import Correlate
from robustcs.studies.correlate.show import answers_label, corner_counts, similarity_label
from robustcs.studies.diversity.analysis import Diversity
from robustcs.studies.robustness.analysis import Robustness
from robustcs.studies.unjudged.analysis import Unjudged

if TYPE_CHECKING:
    import pandas as pd

#: Pairs of runs that are named; the table has all.
_NAMED = 5


def unjudged_findings(result: Unjudged, roles: Mapping[str, str], groups: Mapping[str, Group]) -> tuple[str, ...]:
    """How much of each drop holes could explain (Human to QR and Original, baseline to sets), and what is not told apart.

    ``roles``: run → original, qr or human; further runs are not in it.
    """
    shares = result.rates.set_index("run")["share"]
    exact = result.bounds[result.bounds["exact"]]
    if not len(exact):
        return (
            f"Nobody judged {percent(shares.min())} ({shares.idxmin()}) to {percent(shares.max())} ({shares.idxmax()}) of the"
            f" top {result.settings.depth} passages.",
        )
    metric = headline_measure(exact["metric"])
    bounds = exact[exact["metric"] == metric].set_index("run")
    human = next((name for name, role in roles.items() if role == "human"), None)
    drops = [(human, name, [name]) for name, role in roles.items() if human and role != "human"]
    drops += [(group.baseline, f"the sets of {name}", list(group.sets)) for name, group in groups.items()]
    pairs = result.pairs[result.pairs["metric"] == metric]
    sentences = [
        _drop(str(baseline), name, bounds.loc[baseline], bounds.loc[runs].mean(numeric_only=True), shares, runs, result, pairs)
        for baseline, name, runs in drops
        if {baseline, *runs} <= set(bounds.index)
    ]
    return (*sentences, *_not_apart(pairs, metric))


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
        return f"{text} No grades of the unjudged passages of these runs could change it."
    sure = (
        "so it is real whatever they are"
        if least > 0
        else "so these bounds do not prove a loss"
        if most > 0
        else "so nothing is lost"
    )
    which = "the unjudged passages" if result.settings.scope == "run" else f"the unjudged passages that {label} looks at"
    return (
        f"{text} Of the top {result.settings.depth} of {name}, {percent(shares[runs].mean())} are unjudged ({baseline}:"
        f" {percent(shares[baseline])}). Whatever the grades of {which}, the drop lies between {plain(least)} and"
        f" {plain(most)}{f' (each set with {baseline} on its own)' if len(runs) > 1 else ''}, {sure}. With unjudged passages"
        f" taken out of the rankings it is {plain(condensed)}."
    )


def _ends(pairs: pd.DataFrame, baseline: str, runs: list[str]) -> tuple[float, float]:
    """The smallest and the largest drop from the baseline, each the mean over the runs."""
    ends = {(row.first, row.second): (row.low, row.high) for row in pairs.itertuples()}
    ends |= {(second, first): (-high, -low) for (first, second), (low, high) in ends.items()}
    # a baseline among its own sets does not differ from itself
    lows, highs = zip(*(ends.get((baseline, run), (0.0, 0.0)) for run in runs), strict=True)
    return sum(lows) / len(runs), sum(highs) / len(runs)


def _not_apart(pairs: pd.DataFrame, metric: str) -> tuple[str, ...]:
    if not len(pairs):
        return ()
    open_ = pairs[~pairs["separable"].astype(bool)]
    label = measure_label(metric)
    if not len(open_):
        return (f"By {label} the judgments tell all {len(pairs)} pairs of runs apart, whatever the unjudged passages are.",)
    named = [f"{row.first} and {row.second}" for row in open_.head(_NAMED).itertuples()]
    rest = f" and {len(open_) - _NAMED} more" if len(open_) > _NAMED else ""
    which = f"{len(open_)} of {len(pairs)} pairs of runs" if len(pairs) > 1 else "the two runs"
    would = "would" if open_["exact"].all() else "might"
    return (
        f"By {label} the judgments do not tell {which} apart: {'; '.join(named)}{rest}. Some grades of their unjudged passages"
        f" {would} level or reverse the order.",
    )


def augment_findings(result: Augmentation) -> tuple[str, ...]:
    """What the new judgments change in the headline measure, and whether runs change places."""
    change = result.change
    if change is None or not len(change.measures):
        return ()
    added = int(change.files["added"].sum())
    metric = headline_measure(change.measures["metric"])
    part = change.measures[change.measures["metric"] == metric]
    least, most = (part.loc[part["difference"].idxmin()], part.loc[part["difference"].idxmax()])
    moved = part[part["rank_before"] != part["rank_after"]]
    places = f"{len(moved) or 'none'} of the {len(part)} runs change{'s' * (len(moved) == 1)} places"
    sentence = (
        f"{added:,} new judgments change {measure_label(metric)} by {plain(least['difference'])} ({least['run']}) to"
        f" {plain(most['difference'])} ({most['run']}); {places}"
    )
    tau = change.ranking[(change.ranking["metric"] == metric) & (change.ranking["method"] == "kendall")]
    if len(tau):
        row = tau.iloc[0]
        sentence += f" (Kendall's τ {row['value']:.2f}, 95 % interval {row['ci_low']:.2f} to {row['ci_high']:.2f})"
    return (sentence + ".",)


def correlate_findings(result: Correlate) -> tuple[str, ...]:
    """The correlation of the first x and y over all turns, and how many turns break it, per rewriter."""
    x, y = (names[0] for names in result.chosen)
    rows = result.correlations
    rows = rows[(rows["x"] == x) & (rows["y"] == y) & (rows["subset"] == "all") & (rows["method"] == "pearson")]
    sentences = []
    for row in rows.itertuples():
        whose = "" if len(rows) == 1 else f" For the rewriter {row.rewriter}:"
        sentences.append(
            f"{whose} Over {row.turns} turns, Pearson's r between {similarity_label(x)} of QR and Human and {answers_label(y)}"
            f" is {row.value:.2f} (95 % interval {row.ci_low:.2f} to {row.ci_high:.2f}). {corner_counts(result, row.rewriter)}"
            .strip()
        )
    return tuple(sentences)


def robustness_findings(result: Robustness) -> tuple[str, ...]:
    """The mean drop of every group in the headline measure."""
    metric = headline_measure(result.groups["metric"])
    return tuple(
        f"In other words ({row['group']}, {row['sets']} test set{'s' * (row['sets'] != 1)}), {measure_label(metric)} drops by"
        f" {plain(row['mean_drop'])} on average (95 % interval {plain(row['ci_low'])} to {plain(row['ci_high'])}, p"
        f" {p_equals(row['p_corrected'])} by Holm), which is {plain(row['mean_drop_percent'], 0)} % of the baseline."
        for _, row in result.groups[result.groups["metric"] == metric].iterrows()
    )


def diversity_findings(result: Diversity) -> tuple[str, ...]:
    """BLEU of every pair of texts, and copies."""
    parts = [f"{row.target} against {row.source} {row.value:.1f}" for row in result.bleu.itertuples()]
    copies = int(result.diversity["copies"].sum())
    said = f" {copies} texts repeat their source." if copies else ""
    return (f"How much of its source's wording a text repeats, by BLEU (100: all of it): {'; '.join(parts)}.{said}",)
