"""Comparison of several rewriters (means, pairwise tests, turns that no rewriter answers, and the best choice per turn), their
errors by slice, and the costs of the differences between rewrites and Human texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.evaluation.bins import CAUSES, Binned, Formulations
from robustcs.evaluation.thresholds import TERMS, Threshold, distinct_thresholds
from robustcs.lazy import pd
from robustcs.result import Field, count, difference, measure, p_value, points, score, share, table, text
from robustcs.similarity.differences import ERROR_TYPES, text_difference
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of_rows
from robustcs.slicing.search import FOUND, found_rows
from robustcs.slicing.table import Slicing
from robustcs.statistics.columns import DETECTABLE, EFFECT, EXACT, P_FLOOR, columns_of, comparisons
from robustcs.statistics.estimate import joined
from robustcs.statistics.families import letters_of
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units
from robustcs.statistics.variance import best_choice

#: Significance level for differences between rewriters.
ALPHA = 0.05

_NOTE = text("note", "caveats")
#: Columns of a comparison of two shares of the same turns.
COMPARED = (
    p_value("p", "McNemar's test, two-sided: sign flips of whole sampling units, mid-p"),
    p_value("p_corrected", "adjusted by step-down max-T over the family: all thresholds, pairs and rewriters of the measure; in"
            " blame of all measures", "p adj."),
    count("comparisons", "number of different comparisons in the family"),
    *points("difference", "share of the first − share of the second, of all turns", "pp").between(
        says="95% CI of the difference, from the same test as p; null if there is none (note says why)"
    ),
    P_FLOOR, EXACT, *EFFECT, DETECTABLE, _NOTE,
)  # fmt: skip

_CUT = (measure(), text("threshold", "what makes an answer correct"))
_OF = "95% CI: Wilson interval, clustered by sampling unit"


def _share(name: str, says: str, header: str = "", stem: str = "") -> tuple[Field, ...]:
    return share(name, says, header).between(f"{stem or name}_low", f"{stem or name}_high", _OF)


_ANSWERED = _share("answered", TERMS["answered"])
_MEAN = (
    *score("mean", "mean score").rounded(3).between("mean_low", "mean_high", "95% CI: cluster-robust t interval"),
    *difference("to_human", "mean − mean of Human", "− Human")
    .rounded(3)
    .between("to_human_low", "to_human_high", "95% CI: inverted sign-flip test on sampling units"),
)
REWRITERS = table(
    "rewriters", "All rewriters. QA errors are the same for all of them.",
    text("rewriter", header="Rewriter"), *_CUT, *_share("qa", "QA errors, as a share of all turns"),
    *_share("qr", "rewriter errors, as a share of all turns", "rewriter error"), *_share("correct", "QR and Human correct"),
    *_ANSWERED, *_MEAN, difference("to_best", "mean − highest mean of a rewriter"),
    text("letters", "rewriters that share a letter do not differ significantly in their means (max-T over the pairs)", "group"),
    _NOTE,
)  # fmt: skip
OVERVIEW = table(
    "overview", "Human, every rewriter and Original.",
    text("system", "human, the name of a rewriter, or original", "System"), *_CUT, *_ANSWERED,
    *_share("error", "rewriter errors, as a share of all turns; null for Human and Original", "rewriter error"), *_MEAN,
    text("letters", "as in rewriters; empty for Human and Original", "group"), _NOTE,
)  # fmt: skip
REWRITER_TESTS = table(
    "rewriter_tests", "Pairs of rewriters: does one answer more turns than the other?",
    text("first", header="First"), text("second", header="Second"), *_CUT,
    count("only_first", "turns answered only by the first"), count("only_second", "turns answered only by the second"),
    *COMPARED,
)  # fmt: skip
REWRITER_SCORES = table(
    "rewriter_scores", "Pairs of rewriters: the mean difference of their scores.",
    text("first", header="First"), text("second", header="Second"), measure(),
    *difference("difference", "first − second").rounded(3).between(says="95% CI, not adjusted, from the same test as p"),
    p_value(says="sign-flip test on sampling units, two-sided"),
    p_value("p_corrected", "adjusted by step-down max-T over the pairs of the measure", "p adj."),
    P_FLOOR, EXACT, *EFFECT, DETECTABLE, _NOTE,
)  # fmt: skip
REPAIRS = table(
    "repairs", "Turns that Human answers, by the rewriters that answer them too.",
    *_CUT, text("answered_by", "all, some (two or more, not all), none, or the name of the only one"),
    count("count", "turns"), share("share", "of the turns that Human answers"), text("turns", "their ids"),
)  # fmt: skip
CHOICE = table(
    "best_of", "Gain if the best rewriter could be chosen for every turn.",
    measure(), text("best", "the rewriter with the highest mean"), score("best_mean", header="its mean").rounded(3),
    score("chosen", "mean of the highest score of every turn").rounded(3),
    *difference("gain", "chosen − best_mean").rounded(3).between(says="95% CI: cluster-robust t interval"),
    difference("by_chance", "gain expected if the rewriters were exchanged at random in every turn; above gain if one leads",
               "by chance").rounded(3), _NOTE,
)  # fmt: skip

SIDE_BY_SIDE = (REWRITERS, OVERVIEW, REWRITER_TESTS, REWRITER_SCORES, REPAIRS, CHOICE)


def side_by_side(scores: Formulations, thresholds: Sequence[Threshold], units: Units, seed: int) -> dict[str, pd.DataFrame]:
    """Return the tables :data:`SIDE_BY_SIDE`; with one rewriter, the tables of pairs and of the best choice have no rows."""
    names = list(scores.rewriters)
    frames = {"human": scores.human, **scores.rewriters} | ({} if scores.original is None else {"original": scores.original})
    own = slice(1, len(names) + 1)
    pairs = list(combinations(range(len(names)), 2))
    systems, tests, moved, by_scores, repairs, choices = [], [], [], [], [], []
    for metric in scores.measures:
        every = np.stack([frame[metric] for frame in frames.values()])
        letters = [""] * len(names)
        if pairs:
            table, letters = _score_pairs(names, every[own], pairs, units, seed)
            by_scores.append(table.assign(metric=metric))
        means = _means(every, units, seed) | {"system": list(frames), "metric": metric}
        means["letters"] = ["", *letters, *[""] * (len(frames) - len(names) - 1)]
        for threshold in distinct_thresholds(metric, thresholds):
            right = threshold.holds(every)
            cut = {"metric": metric, "threshold": str(threshold)}
            kinds = {"qa": np.broadcast_to(~right[0], right.shape), "qr": right[0] & ~right, "correct": right[0] & right}
            shares = pd.DataFrame(means | cut)
            for name, kind in (kinds | {"answered": right}).items():
                found = share_estimates(units.sums(kind), units.sizes, units.kind)
                shares = shares.assign(**columns_of(found, name, f"{name}_low", f"{name}_high"))
            systems.append(shares)
            for first, second in pairs:
                one, two = (right[own][place] for place in (first, second))
                alone = {"only_first": int((one & ~two).sum()), "only_second": int((two & ~one).sum())}
                tests.append({"first": names[first], "second": names[second], **cut, **alone})
                moved.append(units.sums(one) - units.sums(two))
            repairs += [cut | row for row in _repairs(names, right[own], right[0], scores.turns)]
        if len(names) > 1:
            best = best_choice(every[own], units, seed)
            of_best = {"metric": metric, "best": names[best.best], "best_mean": best.best_mean, "chosen": best.chosen}
            choices.append(of_best | {name: one for name, (one,) in columns_of([best.gain], "gain", note="note").items()}
                           | {"by_chance": best.by_chance})  # fmt: skip
    table = pd.concat(systems, ignore_index=True)
    rewriters = table[table["system"].isin(names)].rename(columns={"system": "rewriter"})
    rewriters["to_best"] = rewriters["mean"] - rewriters.groupby(["metric", "threshold"])["mean"].transform("max")
    errors = (
        table[["qr", "qr_low", "qr_high"]]
        .where(table["system"].isin(names))
        .set_axis(["error", "error_low", "error_high"], axis=1)
    )
    return {
        "rewriters": rewriters.sort_values(
            "rewriter", key=lambda column: column.map(names.index), kind="stable", ignore_index=True
        ),
        "overview": table.join(errors),
        "rewriter_tests": compared(pd.DataFrame(tests), np.array(moved), units, seed) if tests else pd.DataFrame(),
        "rewriter_scores": pd.concat(by_scores, ignore_index=True) if by_scores else pd.DataFrame(),
        "repairs": pd.DataFrame(repairs),
        "best_of": pd.DataFrame(choices),
    }


def compared(frame: pd.DataFrame, moved: np.ndarray, units: Units, seed: int, family: str | None = "metric") -> pd.DataFrame:
    """Return ``frame`` with the columns :data:`COMPARED`: two shares of the same turns by McNemar's test on sampling units.

    frame
        One row per comparison.
    moved
        float[rows, K]: per unit, the turns that only the first has minus the turns that only the second has.
    family
        The column whose values separate the families; None puts all rows into one.

    A comparison that several rewriters share (Original with Human) counts once.
    """
    keys = frame[[name for name in ("rewriter", "metric", "threshold", "first", "second") if name in frame]]
    if {"rewriter", "first"} <= set(keys):
        keys = keys.assign(rewriter=keys["rewriter"].where((keys["first"] == "qr") | (keys["second"] == "qr"), ""))
    families = frame[family] if family else pd.Series("", index=frame.index)
    different = (~keys.duplicated()).groupby(families).transform("sum")
    found = comparisons(moved, units.sizes, units.kind, seed, list(families), mid_p=True).frame
    return frame.assign(comparisons=different, **found)


def _means(every: np.ndarray, units: Units, seed: int) -> dict[str, Any]:
    """Return the mean of every system and its difference to the first, Human; ``every``: float[systems, turns]."""
    bounded = bool(((every >= 0) & (every <= 1)).all())
    means = mean_estimates(units.sums(every), units.sizes, units.kind, (0.0, 1.0) if bounded else None)
    to_human = paired_tests(units.sums(every - every[0]), units.sizes, seed, units.kind)
    return columns_of(means, "mean", "mean_low", "mean_high", note="note") | columns_of(
        to_human, "to_human", "to_human_low", "to_human_high"
    )


def _score_pairs(
    names: Sequence[str], table: np.ndarray, pairs: Sequence[tuple[int, int]], units: Units, seed: int
) -> tuple[pd.DataFrame, list[str]]:
    """Compare all pairs by their scores, float[rewriters, turns], and return the rows and the rewriters' letters."""
    sums = units.sums(np.array([table[first] - table[second] for first, second in pairs]))
    found = comparisons(sums, units.sizes, units.kind, seed).frame
    letters = letters_of(table.mean(axis=1).tolist(), dict(zip(pairs, found["p_corrected"], strict=True)), ALPHA)
    return found.assign(first=[names[first] for first, _ in pairs], second=[names[second] for _, second in pairs]), letters


def _repairs(names: Sequence[str], right: np.ndarray, human_right: np.ndarray, turns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of :data:`REPAIRS`; ``right``: which rewriters are correct, bool[rewriters, turns]."""
    number = right.sum(axis=0)
    groups = {"all": number == len(names)}
    if len(names) > 2:
        groups["some"] = (number > 1) & (number < len(names))
    if len(names) > 1:
        groups |= {name: (number == 1) & right[place] for place, name in enumerate(names)}
    groups["none"] = number == 0
    total = int(human_right.sum())
    rows = []
    for name, group in groups.items():
        chosen = group & human_right
        rows.append({
            "answered_by": name, "count": int(chosen.sum()), "share": chosen.sum() / total if total else np.nan,
            "turns": " ".join(map(str, np.array(turns)[chosen])),
        })  # fmt: skip
    return rows


#: Role of a formulation → turn → text. A rewriter's role is its name.
Texts = Mapping[str, Mapping[str, str]]


_WILSON = "95% CI: Wilson interval, clustered by sampling unit; null for fewer than five units"

SLICES = table(
    "slices", "QA errors, rewriter errors and correct turns by slice; no rows without --slices.",
    text("rewriter", header="Rewriter"), *_CUT, *keys(), text("cause", "qa, qr or correct"),
    count("count", "turns of the slice with this cause"),
    share("share", "count ÷ turns of the slice"), share("ci_low", _WILSON), share("ci_high"), *against_rest("share"),
)  # fmt: skip
FOUND_SLICES = table(
    "found_slices", "Slices on which the rewriter loses more to Human than on other turns; no rows without --find-slices."
    " Values are mean QR − mean Human.",
    text("rewriter"), text("metric"), *FOUND,
)  # fmt: skip
COSTS = table(
    "error_types", "Differences between rewrites and Human texts, and their cost. A turn may have several types. No rows unless"
    " both have texts.",
    text("rewriter", header="Rewriter"), *_CUT,
    text("type", f"{', '.join(ERROR_TYPES)}; unknown: a text is missing", "Difference"),
    count("turns", "turns of this type"), share("share", "share of all turns"),
    *difference("loss", "mean Human − mean QR over these turns").rounded(3).between(
        "loss_low", "loss_high", "95% CI: inverted sign-flip test on sampling units; null if there is none (note says why)"
    ),
    count("errors", "rewriter errors on these turns", "errors"),
    *share("error_share", "errors ÷ turns of this type", "share").between("error_low", "error_high", _WILSON),
    share("of_errors", "errors ÷ all rewriter errors", "of all"),
    count("units", "conversations (or single turns) with such a turn"),
    text("note", "caveats"),
)  # fmt: skip
UNKNOWN = "unknown"


def slice_shares(binned: Binned, slicings: Sequence[Slicing], units: Units, seed: int) -> pd.DataFrame:
    """Return the table :data:`SLICES` for every rewriter, measure and threshold."""
    rows: list[tuple[Any, ...]] = []
    for rewriter, cuts in binned.keys.groupby("rewriter", sort=False) if slicings else ():
        own = [one for one in slicings if one.concerns(str(rewriter))]
        hits = binned.blamed[:, binned.places[cuts.index]].swapaxes(0, 1).reshape(-1, binned.places.shape[1])
        which = [(*cut, cause) for cut in cuts.itertuples(index=False, name=None) for cause in CAUSES]
        for (*cut, cause), slices in zip(which, slices_of_rows(hits, own, units, seed, shares=True), strict=True):
            for one in slices:
                share_ = one.own
                counts = (one.turns, cause, round(share_.value * one.turns))
                rows.append((*cut, one.slicing, one.name, *counts, share_.value, share_.low, share_.high, *cells(one)))
    return SLICES.frame(rows)


def found_losses(
    scores: Formulations, slicings: Sequence[Slicing], units: Units, seed: int
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the table :data:`FOUND_SLICES` and, per measure, the number of rules tried over all rewriters together.

    Raises :class:`UsageError` if there are too few units.
    """
    gains = {
        metric: np.stack([one[metric] - scores.human[metric] for one in scores.rewriters.values()])
        for metric in scores.measures
    }
    rows, tried = found_rows(list(scores.rewriters), gains, slicings, units, seed)
    return FOUND_SLICES.frame(rows), tried


def error_costs(scores: Formulations, binned: Binned, texts: Texts, units: Units, seed: int) -> pd.DataFrame:
    """Return the table :data:`COSTS` for every rewriter with texts; types without turns have no row."""
    human = texts.get("human", {})
    parts = []
    for name, own_cuts in binned.keys.groupby("rewriter", sort=False):
        qr = texts.get(str(name), {})
        if not qr or not human:
            continue
        types = [
            text_difference(qr[turn], human[turn]).types if turn in qr and turn in human else (UNKNOWN,)
            for turn in scores.turns
        ]
        kinds = [kind for kind in (*ERROR_TYPES, UNKNOWN) if any(kind in own for own in types)]
        inside = np.array([[kind in own for own in types] for kind in kinds])
        sizes = units.sums(inside)
        for metric, cuts in own_cuts.groupby("metric", sort=False):
            lost = units.sums(inside * (scores.human[str(metric)] - scores.rewriters[str(name)][str(metric)]))
            losses = paired_tests(lost, sizes, seed, units.kind)
            for place, *cut in cuts.itertuples(name=None):
                errors = binned.blamed[1][binned.places[place]]
                hits = units.sums(inside & errors)
                shares = share_estimates(hits, sizes, units.kind)
                number = hits.sum(axis=1)
                parts.append(pd.DataFrame({
                    **dict(zip(("rewriter", "metric", "threshold"), cut, strict=True)), "type": kinds,
                    "turns": sizes.sum(axis=1).astype(int), "share": inside.mean(axis=1),
                    **columns_of(losses, "loss", "loss_low", "loss_high"), "errors": number.astype(int),
                    **columns_of(shares, "error_share", "error_low", "error_high", units="units"),
                    "of_errors": number / errors.sum() if errors.any() else np.nan,
                    "note": [_told(loss.note, own.note) for loss, own in zip(losses, shares, strict=True)],
                }))  # fmt: skip
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _told(*notes: str) -> str:
    """Join notes on intervals, each once; notes on p-values are dropped, as the table shows none."""
    parts = dict.fromkeys(part for note in notes for part in note.split("; "))
    return joined(*(part for part in parts if not part.startswith("p cannot")))
