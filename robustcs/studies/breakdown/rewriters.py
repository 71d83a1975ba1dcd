"""Comparison of several rewriters (means, pairwise tests, turns that no rewriter answers, and the best choice per turn), their
errors by slice, and the costs of the differences between rewrites and Human texts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.evaluation.bins import CAUSES, Binned, Formulations
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.lazy import pd
from robustcs.similarity.differences import ERROR_TYPES, text_difference
from robustcs.slicing.estimates import cells, slices_of
from robustcs.slicing.search import found_rows
from robustcs.slicing.table import Slicing, TextsByFormulation
from robustcs.statistics.choice import best_choice
from robustcs.statistics.columns import columns_of, comparisons
from robustcs.statistics.estimate import joined
from robustcs.statistics.letters import letters_of
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

#: Significance level for differences between rewriters.
ALPHA = 0.05

#: Tables of :func:`side_by_side`.
SIDE_BY_SIDE = ("rewriters", "overview", "rewriter_tests", "rewriter_scores", "repairs", "best_of")


def side_by_side(
    scores: Formulations,
    thresholds: Sequence[Threshold],
    units: Units,
    seed: int,
    few: Collection[str] = (),
) -> dict[str, pd.DataFrame]:
    """Return the tables of :data:`SIDE_BY_SIDE`; with one rewriter, the tables of pairs and of the best choice have no rows.

    ``few``: rewriters that answer less than half of the turns; they have no letters.
    """
    names = list(scores.rewriters)
    frames = {"human": scores.human, **scores.rewriters} | (
        {} if scores.original is None else {"original": scores.original}
    )
    own = slice(1, len(names) + 1)
    pairs = list(combinations(range(len(names)), 2))
    systems, tests, moved, by_scores, repairs, choices = [], [], [], [], [], []
    for metric in scores.measures:
        every = np.stack([frame[metric] for frame in frames.values()])
        letters = [""] * len(names)
        if pairs:
            table, letters = _score_pairs(names, every[own], pairs, units, seed, few)
            by_scores.append(table.assign(metric=metric))
        means = _means(every, units, seed) | {"system": list(frames), "metric": metric}
        means["letters"] = ["", *letters, *[""] * (len(frames) - len(names) - 1)]
        for threshold in distinct_thresholds(metric, thresholds):
            right = threshold.holds(every)
            cut = {"metric": metric, "threshold": str(threshold)}
            kinds = {
                "qa": np.broadcast_to(~right[0], right.shape),
                "qr": right[0] & ~right,
                "correct": right[0] & right,
            }
            shares = pd.DataFrame(means | cut)
            for name, kind in (kinds | {"answered": right}).items():
                found = share_estimates(units.sums(kind), units.sizes, units.kind)
                shares = shares.assign(**columns_of(found, name, f"{name}_low", f"{name}_high"))
            systems.append(shares)
            for first, second in pairs:
                one, two = (right[own][place] for place in (first, second))
                alone = {
                    "only_first": int((one & ~two).sum()),
                    "only_second": int((two & ~one).sum()),
                }
                tests.append({"first": names[first], "second": names[second], **cut, **alone})
                moved.append(units.sums(one) - units.sums(two))
            repairs += [cut | row for row in _repairs(names, right[own], right[0], scores.turns)]
        if len(names) > 1:
            best = best_choice(every[own], units, seed)
            of_best = {
                "metric": metric,
                "best": names[best.best],
                "best_mean": best.best_mean,
                "chosen": best.chosen,
            }
            choices.append(of_best | {name: one for name, (one,) in columns_of([best.gain], "gain", note="note").items()}
                           | {"by_chance": best.by_chance})  # fmt: skip
    table = pd.concat(systems, ignore_index=True)
    rewriters = table[table["system"].isin(names)].rename(columns={"system": "rewriter"})
    rewriters["to_best"] = rewriters["mean"] - rewriters.groupby(["metric", "threshold"])[
        "mean"
    ].transform("max")
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
        "rewriter_tests": compared(pd.DataFrame(tests), np.array(moved), units, seed)
        if tests
        else pd.DataFrame(),
        "rewriter_scores": pd.concat(by_scores, ignore_index=True) if by_scores else pd.DataFrame(),
        "repairs": pd.DataFrame(repairs),
        "best_of": pd.DataFrame(choices),
    }


def compared(
    frame: pd.DataFrame, moved: np.ndarray, units: Units, seed: int, family: str | None = "metric"
) -> pd.DataFrame:
    """Return ``frame`` with the columns of a comparison: two shares of the same turns by McNemar's test on sampling units.

    frame
        One row per comparison.
    moved
        float[rows, K]: per unit, the turns that only the first has minus the turns that only the second has.
    family
        The column whose values separate the families; None puts all rows into one.

    A comparison that several rewriters share (Original with Human) counts once.
    """
    keys = frame[
        [name for name in ("rewriter", "metric", "threshold", "first", "second") if name in frame]
    ]
    if {"rewriter", "first"} <= set(keys):
        keys = keys.assign(
            rewriter=keys["rewriter"].where((keys["first"] == "qr") | (keys["second"] == "qr"), "")
        )
    families = frame[family] if family else pd.Series("", index=frame.index)
    different = (~keys.duplicated()).groupby(families).transform("sum")
    found = comparisons(moved, units.sizes, units.kind, seed, list(families), mid_p=True).frame
    return frame.assign(comparisons=different, **found)


def _means(every: np.ndarray, units: Units, seed: int) -> dict[str, Any]:
    """Return the mean of every system and its difference to the first, Human; ``every``: float[systems, turns]."""
    bounded = bool(((every >= 0) & (every <= 1)).all())
    means = mean_estimates(
        units.sums(every), units.sizes, units.kind, (0.0, 1.0) if bounded else None
    )
    to_human = paired_tests(units.sums(every - every[0]), units.sizes, seed, units.kind)
    return columns_of(means, "mean", "mean_low", "mean_high", note="note") | columns_of(
        to_human, "to_human", "to_human_low", "to_human_high"
    )


def _score_pairs(
    names: Sequence[str],
    table: np.ndarray,
    pairs: Sequence[tuple[int, int]],
    units: Units,
    seed: int,
    few: Collection[str],
) -> tuple[pd.DataFrame, list[str]]:
    """Compare all pairs by their scores, float[rewriters, turns], and return the rows and the rewriters' letters."""
    sums = units.sums(np.array([table[first] - table[second] for first, second in pairs]))
    found = comparisons(sums, units.sizes, units.kind, seed).frame
    left_out = [place for place, name in enumerate(names) if name in few]
    corrected = dict(zip(pairs, found["p_corrected"], strict=True))
    letters = letters_of(table.mean(axis=1).tolist(), corrected, ALPHA, left_out)
    return found.assign(
        first=[names[first] for first, _ in pairs], second=[names[second] for _, second in pairs]
    ), letters


def _repairs(
    names: Sequence[str], right: np.ndarray, human_right: np.ndarray, turns: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the rows of the table ``repairs``; ``right``: which rewriters are correct, bool[rewriters, turns]."""
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


#: The type of a difference if a text is missing.
UNKNOWN = "unknown"


def slice_shares(
    binned: Binned, slicings: Sequence[Slicing], units: Units, seed: int
) -> list[tuple[Any, ...]]:
    """Return the rows of the table ``slices`` for every rewriter, measure and threshold."""
    rows: list[tuple[Any, ...]] = []
    for rewriter, cuts in binned.keys.groupby("rewriter", sort=False) if slicings else ():
        own = [one for one in slicings if one.concerns(str(rewriter))]
        hits = (
            binned.blamed[:, binned.places[cuts.index]]
            .swapaxes(0, 1)
            .reshape(-1, binned.places.shape[1])
        )
        which = [
            (*cut, cause) for cut in cuts.itertuples(index=False, name=None) for cause in CAUSES
        ]
        for (*cut, cause), slices in zip(
            which, slices_of(hits, own, units, seed, shares=True), strict=True
        ):
            for one in slices:
                share_ = one.estimate
                counts = (one.turns, cause, round(share_.value * one.turns))
                rows.append(
                    (
                        *cut,
                        one.slicing,
                        one.name,
                        *counts,
                        share_.value,
                        share_.low,
                        share_.high,
                        *cells(one),
                    )
                )
    return rows


def found_losses(
    scores: Formulations, slicings: Sequence[Slicing], units: Units, seed: int
) -> tuple[list[Any], dict[str, int]]:
    """Return the rows of the table ``found_slices`` and, per measure, the number of rules tried over all rewriters together.

    Raises :class:`UsageError` if there are too few units.
    """
    gains = {
        metric: np.stack([one[metric] - scores.human[metric] for one in scores.rewriters.values()])
        for metric in scores.measures
    }
    return found_rows(list(scores.rewriters), gains, slicings, units, seed)


def error_costs(
    scores: Formulations, binned: Binned, texts: TextsByFormulation, units: Units, seed: int
) -> pd.DataFrame:
    """Return the table ``error_types`` for every rewriter with texts; types without turns have no row."""
    human = texts.get("human", {})
    parts = []
    for name, own_cuts in binned.keys.groupby("rewriter", sort=False):
        qr = texts.get(str(name), {})
        if not qr or not human:
            continue
        types = [
            text_difference(qr[turn], human[turn]).types
            if turn in qr and turn in human
            else (UNKNOWN,)
            for turn in scores.turns
        ]
        kinds = [kind for kind in (*ERROR_TYPES, UNKNOWN) if any(kind in own for own in types)]
        inside = np.array([[kind in own for own in types] for kind in kinds])
        sizes = units.sums(inside)
        for metric, cuts in own_cuts.groupby("metric", sort=False):
            lost = units.sums(
                inside * (scores.human[str(metric)] - scores.rewriters[str(name)][str(metric)])
            )
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
