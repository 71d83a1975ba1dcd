"""How much do scores drop when questions are paraphrased? Test sets of paraphrases are compared with their baseline, also by
slice of the turns and by category of variation.

Source: Al-Thani et al. (2023), "ECAsT", stage 5 and Table 11. Its text states a drop
of 12%, which is a drop of 0.12 points (0.624 to 0.506 on average). This module gives drops in points, and separately in percent
of the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.evaluation.hole_expectation import DROPS
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.measures import TurnScores
from robustcs.inputs.paraphrases import Paraphrase
from robustcs.lazy import pd
from robustcs.result import (
    Evaluated,
    Field,
    Result,
    count,
    difference,
    measure,
    number,
    p_value,
    score,
    share,
    table,
    text,
)
from robustcs.similarity.paraphrases import text_key
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of
from robustcs.slicing.table import Slicing, turn_slicings
from robustcs.statistics import Floats, Mask, quotient, settled
from robustcs.statistics.columns import (
    EQUIVALENT,
    EXACT,
    P_FLOOR,
    check_margin,
    comparisons,
    within_margin,
)
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import max_t_family
from robustcs.statistics.means import cluster_t_test
from robustcs.statistics.risk import TIE, risk
from robustcs.statistics.units import Units, units_of
from robustcs.statistics.variance import variance_components

#: Set → turn → category.
Categories = Mapping[str, Mapping[str, str]]
#: Unlike other differences, drops are shown without a plus sign.
DROP, _LOW, _HIGH = (
    number("drop", "baseline − value")
    .rounded(3)
    .between(says="95% CI of the drop, from the test that gives p; null if the test gives none")
)
PERCENT = number(
    "drop_percent", "drop in percent of the baseline; null if the baseline is 0", "in %"
).rounded(1)


def tests_of(of: str) -> tuple[Field, ...]:
    """Return the columns of a drop: p-values, interval and detectable effect. ``of`` names the members of the family."""
    return (
        p_value("p", "two-sided sign-flip test by unit"),
        p_value("p_corrected", f"p adjusted by max-T over all {of} of a measure", "p adj."),
        p_value("t_p", "two-sided cluster-robust t test, not adjusted", "p (t)"), _LOW, _HIGH, P_FLOOR, EXACT,
        number("effect", "effect size: standardized mean drop over units"),
        difference("detectable", "smallest true drop that this design detects with 80% power at .05"), EQUIVALENT,
        text("note", "limits of the numbers"),
    )  # fmt: skip


def drops_of(
    values: Floats, base: Floats, units: Units, margin: float | None, seed: int
) -> tuple[pd.DataFrame, Sequence[Tested], Floats]:
    """Return the drop of every row of ``values`` (systems × turns) below ``base``, its test, and the unit sums of the test.

    A turn with the value nan was not asked: it is left out of the values and of the baseline. The drop has value, baseline,
    drop (baseline − value), turns and the columns of :func:`tests_of`, not adjusted.
    """
    asked = ~np.isnan(values)
    turns = asked.sum(axis=1)
    sums = units.sums(np.where(asked, settled(base - values), 0.0))
    sizes = units.sizes if asked.all() else units.sums(asked)
    found = comparisons(sums, sizes, units.kind, seed, range(len(sums)))
    value, baseline = (
        quotient(np.where(asked, part, 0.0).sum(axis=1), turns, np.nan) for part in (values, base)
    )
    drop = baseline - value
    frame = found.frame.assign(
        value=value, baseline=baseline, drop=drop, drop_percent=quotient(100 * drop, baseline, np.nan), turns=turns,
        t_p=cluster_t_test(sums, sizes), equivalent=[within_margin(test, margin) for test in found.tests],
    )  # fmt: skip
    return frame, found.tests, sums


def slice_drops(
    baseline: Floats, scores: Floats, slicings: Sequence[Slicing], units: Units, seed: int
) -> list[tuple[object, ...]]:
    """Return the drops of the mean over the sets (``scores``: turns × sets) by slice of the turns: rows of table ``slices``."""
    rows = []
    means = mean_over_sets(scores)
    places = {
        (one.name, name): one.codes == code
        for one in slicings
        for code, name in enumerate(one.slices)
    }
    for found in slices_of([baseline - means], slicings, units, seed)[0]:
        base, drop = float(baseline[places[found.slicing, found.name]].mean()), found.estimate
        percent = 100 * drop.value / base if base else np.nan
        own = (base - drop.value, base, drop.value, percent, drop.low, drop.high)
        rows.append((found.slicing, found.name, found.turns, *own, *cells(found)))
    return rows


def categories_of(
    paraphrases: Mapping[str, Sequence[Paraphrase]],
    texts: Mapping[str, str],
    raw: bool,
    unchanged: Mapping[str, str],
) -> dict[str, str]:
    """Return turn → the category of the paraphrase that is the set's text; a text with several categories has none.

    ``texts`` are those of a set, raw or manual. ``unchanged`` are the texts of the turns themselves. A text equal to it has no
    variation (such as the manual text of a paraphrase that changes only the raw one).
    """
    found = dict[str, str]()
    for turn, said in texts.items():
        if (key := text_key(said)) != text_key(unchanged.get(turn, "")):
            rows = [
                row
                for row in paraphrases.get(turn, ())
                if text_key(row.raw if raw else row.manual) == key
            ]
            kinds = {row.category for row in rows if row.category}
            if len(kinds) == 1:
                found[turn] = kinds.pop()
    return found


def variation_drops(
    turns: Sequence[str],
    baseline: Floats,
    scores: Floats,
    categories: Sequence[Mapping[str, str]],
    units: Units,
    margin: float | None,
    seed: int,
) -> list[dict[str, object]]:
    """Return a row for each category, in order of appearance. The categories form one family.

    ``scores``: turns × sets. ``categories``: for each set, turn → category. ``units``: the sampling units of the turns.
    """
    labels = np.array(
        [[of_set.get(turn, "") for of_set in categories] for turn in turns], dtype=object
    )
    rows: list[dict[str, object]] = []
    tests: list[Tested] = []
    sums = []
    for category in dict.fromkeys(label for label in labels.T.ravel() if label):
        chosen = (labels == category) & ~np.isnan(scores)
        inside = chosen.any(axis=1)
        own = np.where(chosen, scores, 0.0).sum(axis=1)[inside] / chosen.sum(axis=1)[inside]
        drop, test, of_part = drops_of(
            own[None], baseline[inside], units.take(inside), margin, seed
        )
        rows += drop.assign(category=category, turns=inside.sum(), texts=chosen.sum()).to_dict(
            "records"
        )
        tests += test
        # all categories share the columns; units without such a turn have 0
        sums.append(np.zeros(units.count))
        sums[-1][np.unique(units.codes[inside])] = of_part[0]
    adjusted = max_t_family(tests, sums, seed).p.tolist() if rows else []
    return [row | {"p_corrected": p} for row, p in zip(rows, adjusted, strict=True)]


#: Measures of Table 11 of the ECAsT paper.
DEFAULT_MEASURES = tuple(map(parse_measure, ("ndcg_cut_3", "recall_1000", "map")))
#: Slicings that are always included.
ALWAYS = ("first", "depth")


@dataclass(frozen=True)
class Robustness(Result):
    """Test sets compared with their baseline. A drop is baseline − value: positive drops are losses.

    margin
        Largest drop that counts as none; None if equivalence is not tested.
    drops
        Expected mean drops with unjudged passages filled in. Only reports compute them.
    misfit
        How a claim begins if judgments do not fit the collection; empty if they fit.
    unordered
        Whether nothing can be claimed, because systems that are compared differ by these misfits.
    """

    study = "robustness"
    measures = table(
        "measures", "Every test set compared with the baseline of its group. Drop: baseline − value; positive drops are"
        " losses.",
        text("group"), text("set"), measure(), score("value"), score("baseline", "of the same turns"), DROP, PERCENT,
        *tests_of("sets"), text("baseline_run"), count("turns", "turns that the set covers"),
    )  # fmt: skip
    groups = table(
        "groups", "Drop of a group: the mean over its sets. The tests use each turn's mean drop.",
        text("group"), measure(), score("value", "mean over the sets"), score("baseline"), replace(DROP, name="mean_drop"),
        replace(PERCENT, name="mean_drop_percent"), *tests_of("groups"),
        count("sets", "number of sets"), count("turns", "turns that a set covers; a turn counts with its mean over these sets"),
    )  # fmt: skip
    risk = table(
        "risk", "Turns that gain and lose compared with the baseline.",
        text("group"), text("set"), measure(), count("wins", "", "win", "turns"), count("losses", "", "lose", "turns"),
        count("ties", "", "tie", "turns"),
        number("urisk", "mean gain; a loss counts twice as much as a gain", "U_Risk").rounded(4),
        number("expected", "mean U_Risk if set and baseline were swapped at random", "if equal").rounded(4),
    )  # fmt: skip
    variance = table(
        "variance", "Variance due to the turn and to its wording. No rows for fewer than two sets or turns.",
        text("group"), measure(), text("component", "turn, set, turn_set, or wording = set + turn_set"),
        number("variance"), *share("share").between(says="95% CI of the share: nested bootstrap-t over units"),
        text("note", "limits of the interval"),
    )  # fmt: skip
    spread = table(
        "spread", "Spread of a turn's score over the sets, averaged over turns.",
        text("group"), measure(), count("turns"), score("mean_sd", "", "mean sd"), score("mean_range", "", "mean range"),
        score("max_range", "largest range of any turn", "largest range"),
        count("steady", "turns with the same score in all sets"),
    )  # fmt: skip
    slices = table(
        "slices", "Drops of the mean over the sets by slice of the turns.",
        text("group"), measure(), *keys(), score("value", "mean over the sets", "mean"), score("baseline"), DROP, PERCENT,
        number("ci_low", "95% CI of the drop: cluster-robust t over units; null for fewer than five units"), number("ci_high"),
        *against_rest("drop"),
    )  # fmt: skip
    variations = table(
        "variations", "Drops by category of variation, if the paraphrases have categories and the texts of the sets are"
        " given. A category covers the turns with such a variation; a turn counts with its mean over these sets.",
        text("group"), text("category"), measure(), count("turns", "turns with such a variation"),
        count("texts", "variations; a turn may have one in several sets"), score("value", "mean over turns"),
        score("baseline", "of the same turns"), DROP, PERCENT, *tests_of("categories of a group"),
    )  # fmt: skip
    turns = table(
        "turns", "Every turn's scores over the sets.",
        text("group"), measure(), text("turn"), score("baseline"),
        score("mean", "over the sets; the next four columns are too"),
        score("sd", "standard deviation with divisor n − 1; null for a single set"), score("low"), score("high"),
        score("range", "high − low"), text("low_set", "the first set with the lowest score"),
        text("high_set", "the first set with the highest score"), number("drop", "baseline − mean").rounded(4),
        text("text", "Human", "Human"),
    )  # fmt: skip
    drops = DROPS

    margin: float | None
    misfit: str = ""
    unordered: bool = False

    @property
    def fully_asked(self) -> list[str]:
        """The groups whose sets cover every turn of the result."""
        least = self.measures.groupby("group", sort=False)["turns"].min()
        return [str(name) for name in least.index[least == self.evaluated.turns]]


def robustness(
    groups: Mapping[str, Group],
    scores: Mapping[str, TurnScores],
    evaluated: Evaluated,
    slicings: Sequence[Slicing] | None = None,
    texts: Mapping[str, str] | None = None,
    margin: float | None = None,
    seed: int = 0,
    categories: Categories | None = None,
) -> Robustness:
    """Compare every set of every group (at least one) with the baseline of the group.

    ``scores``: system name → scores, all over the same turns; nan for a turn that a set does not ask, which is left out of the
    set and of its baseline. ``slicings``: how the turns are split (default: first
    and depth). ``texts``: turn → text, shown with the turns. ``margin``: the largest drop that counts as
    none. ``categories``: set → turn → category of the set's variation.

    Raises :class:`UsageError` if a group contains a system twice, or if the margin is not above 0.
    """
    check_margin(margin)
    for name, group in groups.items():
        if len({group.baseline, *group.sets}) <= len(group.sets):
            raise UsageError(
                "repeated-run", f"group {name!r} contains a run twice", "name each run once"
            )
    turns = next(iter(scores.values())).turns
    units = units_of(turns, evaluated.grouping)
    if slicings is None:
        slicings, _ = turn_slicings(ALWAYS, turns, {}, {}, conversations=evaluated.conversations)
    told = [(texts or {}).get(turn) for turn in turns]
    tables: dict[str, list[Any]] = {spec.name: [] for spec in Robustness.declared}
    tests: dict[tuple[str, str], list[tuple[Tested, Floats]]] = {}
    for (name, group), metric in product(groups.items(), next(iter(scores.values()))):
        base = scores[group.baseline][metric]
        sets = np.stack([scores[set_][metric] for set_ in group.sets], axis=1)
        key = {"group": name, "metric": metric}
        # the drop of the sets' mean is the mean of their drops
        drops, of_drops, sums = drops_of(
            np.vstack([sets.T, mean_over_sets(sets)]), base, units, margin, seed
        )
        drops = drops.assign(
            **key, baseline_run=group.baseline, set=[*group.sets, ""], sets=len(group.sets)
        )
        tables["measures"].append(drops.iloc[:-1])
        tables["groups"].append(
            drops.iloc[-1:].rename(
                columns={"drop": "mean_drop", "drop_percent": "mean_drop_percent"}
            )
        )
        tested = list(zip(of_drops, sums, strict=True))
        tests.setdefault(("measures", metric), []).extend(tested[:-1])
        tests.setdefault(("groups", metric), []).append(tested[-1])
        gains = [scores[set_][metric] - base for set_ in group.sets]
        tables["risk"] += [{**key, "set": set_, **vars(risk(one[~np.isnan(one)]))}
                           for set_, one in zip(group.sets, gains, strict=True)]  # fmt: skip
        known: Mask = ~np.isnan(sets)
        in_all, asked = known.all(axis=1), known.any(axis=1)
        if min(in_all.sum(), len(group.sets)) > 1:
            tables["variance"] += [
                (name, metric, part.name, part.variance, part.share, part.share.note)
                for part in variance_components(
                    sets[in_all], units if in_all.all() else units.take(in_all), seed
                )
            ]
        base, sets, own, cut = base[asked], sets[asked], units, slicings
        if not asked.all():
            own, cut = units.take(asked), [replace(one, codes=one.codes[asked]) for one in slicings]
        places = np.flatnonzero(asked).tolist()
        of_asked, said = [turns[place] for place in places], [told[place] for place in places]
        tables["spread"].append(key | spread(sets))
        kinds = [(categories or {}).get(set_, {}) for set_ in group.sets]
        tables["variations"] += [
            key | row for row in variation_drops(of_asked, base, sets, kinds, own, margin, seed)
        ]
        tables["slices"] += [
            (name, metric, *row) for row in slice_drops(base, sets, cut, own, seed)
        ]
        tables["turns"].append(
            turn_variability(base, sets, group.sets).assign(turn=of_asked, text=said, **key)
        )
    built = {spec.name: spec.frame(tables[spec.name]) for spec in Robustness.declared}
    notes = (
        []
        if tables["variance"]
        else ["the variance decomposition requires at least two sets in a group and two turns"]
    )
    for (table_, metric), some in tests.items():
        family = max_t_family([test for test, _ in some], [sums for _, sums in some], seed)
        built[table_].loc[built[table_]["metric"] == metric, "p_corrected"] = family.p
        notes += (
            [f"{'sets' if table_ == 'measures' else 'means of groups'}: {family.note}"]
            if family.note
            else []
        )
    for table_ in ("measures", "groups", "variations"):
        built[table_] = built[table_].astype({"equivalent": "boolean"})
    notes = [
        *evaluated.notes,
        *dict.fromkeys(notes),
        "unjudged passages count as not relevant; see robustcs unjudged",
    ]
    return Robustness(
        units.stated(replace(evaluated, notes=tuple(notes))),
        margin,
        content=Robustness.built(**built),
    )


def turn_variability(baseline: Floats, scores: Floats, sets: Sequence[str]) -> pd.DataFrame:
    """Return every turn's scores over the sets (``scores``: turns × sets), in columns of the table ``turns``."""
    lowest, highest, names = *_ends(scores), np.array(sets, dtype=object)
    low, high, mean = lowest.min(axis=1), highest.max(axis=1), mean_over_sets(scores)
    return pd.DataFrame({
        "baseline": baseline, "mean": mean, "sd": _sd_over_sets(scores), "low": low, "high": high, "range": high - low,
        "low_set": names[lowest.argmin(axis=1)], "high_set": names[highest.argmax(axis=1)], "drop": baseline - mean,
    })  # fmt: skip


def mean_over_sets(scores: Floats) -> Floats:
    """Return float64[T]: the mean of each turn over the sets that ask it (``scores``: turns × sets); nan if none does."""
    asked = ~np.isnan(scores)
    return quotient(np.where(asked, scores, 0.0).sum(axis=1), asked.sum(axis=1), np.nan)


def _sd_over_sets(scores: Floats) -> Floats:
    """Return float64[T]: the standard deviation of each turn over the sets that ask it; nan for a single one."""
    asked = ~np.isnan(scores)
    squares = np.where(asked, scores - mean_over_sets(scores)[:, None], 0.0) ** 2
    return np.sqrt(quotient(squares.sum(axis=1), asked.sum(axis=1) - 1, np.nan))


def _ends(scores: Floats) -> tuple[Floats, Floats]:
    """Return the scores with ∞ and with −∞ in place of nan."""
    return np.where(np.isnan(scores), np.inf, scores), np.where(np.isnan(scores), -np.inf, scores)


def spread(scores: Floats) -> dict[str, float]:
    """Return the spread over the sets, averaged over turns.

    Keys: turns, mean_sd, mean_range, max_range, steady (number of turns with range 0).
    """
    lowest, highest = _ends(scores)
    ranges, sd = highest.max(axis=1) - lowest.min(axis=1), _sd_over_sets(scores)
    known = sd[~np.isnan(sd)]
    return {
        "turns": len(scores), "mean_sd": float(known.mean()) if len(known) else math.nan, "mean_range": float(ranges.mean()),
        "max_range": float(ranges.max()), "steady": int((ranges < TIE).sum()),
    }  # fmt: skip
