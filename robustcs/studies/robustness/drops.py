"""Drops below a baseline with tests and confidence intervals: of sets, by slice of the turns and by category of variation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robustcs.inputs.paraphrases import Paraphrase
from robustcs.lazy import npt, pd
from robustcs.result import Field, count, difference, number, p_value, score, text
from robustcs.similarity.near_duplicates import text_key
from robustcs.slicing.estimates import against_rest, cells, keys, slices_of
from robustcs.slicing.table import Slicing
from robustcs.statistics.columns import EQUIVALENT, EXACT, P_FLOOR
from robustcs.statistics.effect import detectable_differences, effect_sizes, within_margin
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import max_t_family
from robustcs.statistics.means import cluster_t_test
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units

#: Set → turn → category.
Categories = Mapping[str, Mapping[str, str]]
#: Unlike other differences, drops are shown without a plus sign.
DROP, _LOW, _HIGH = (
    number("drop", "baseline − value")
    .rounded(3)
    .between(says="95% CI of the drop, from the test that gives p; null if the test gives none")
)
PERCENT = number("drop_percent", "drop in percent of the baseline; null if the baseline is 0", "in %").rounded(1)


def tests_of(of: str) -> tuple[Field, ...]:
    """Return the columns of a drop: p-values, interval and detectable effect. ``of`` names the members of the family."""
    return (
        p_value("p", "two-sided sign-flip test by unit"),
        p_value("p_corrected", f"p adjusted by max-T over all {of} of a measure", "p adj."),
        p_value("t_p", "two-sided cluster-robust t test, not adjusted", "p (t)"),
        _LOW,
        _HIGH,
        P_FLOOR,
        EXACT,
        number("effect", "effect size: standardized mean drop over units"),
        difference("detectable", "smallest true drop that this design detects with 80% power at .05"),
        EQUIVALENT,
        text("note", "limits of the numbers"),
    )  # fmt: skip


#: Columns of the drops by slice.
SLICES = (
    *keys(), score("value", "mean over the sets", "mean"), score("baseline"), DROP, PERCENT,
    number("ci_low", "95% CI of the drop: cluster-robust t over units; null for fewer than five units"), number("ci_high"),
    *against_rest("drop"),
)  # fmt: skip
#: Columns of the drops by category.
VARIATIONS = (
    count("turns", "turns with such a variation"), count("texts", "variations; a turn may have one in several sets"),
    score("value", "mean over turns"), score("baseline", "of the same turns"), DROP, PERCENT,
    *tests_of("categories of a group"),
)  # fmt: skip


def drops_of(
    values: npt.NDArray[np.float64], base: npt.NDArray[np.float64], units: Units, margin: float | None, seed: int
) -> list[tuple[dict[str, object], Tested, npt.NDArray[np.float64]]]:
    """Return the drop of every row of ``values`` (systems × turns) below ``base``, its test, and the unit sums of the test.

    The drop has value, baseline, drop (baseline − value) and the columns of :func:`tests_of` except the adjusted p.
    """
    # equal scores may differ in their last bits; the test must not count that as a drop
    sums = units.sums(np.round(base - values, DECIMALS))
    tests = paired_tests(sums, units.sizes, seed, units.kind)
    more = zip(
        values.mean(axis=1).tolist(), tests, sums, cluster_t_test(sums, units.sizes).tolist(),
        effect_sizes(sums, units.sizes, units.kind), detectable_differences(sums, units.sizes, units.kind), strict=True,
    )  # fmt: skip
    baseline = float(base.mean())
    return [
        (
            {
                "value": value, "baseline": baseline, "drop": baseline - value,
                "drop_percent": 100 * (baseline - value) / baseline if baseline else np.nan,
                "p": test.p, "t_p": t_p, "ci_low": test.low, "ci_high": test.high, "p_floor": test.floor, "exact": test.exact,
                "effect": effect.value, "detectable": least.value,
                "equivalent": within_margin(test, margin), "note": test.note,
            },
            test,
            own,
        )
        for value, test, own, t_p, effect, least in more
    ]  # fmt: skip


def slice_drops(
    baseline: npt.NDArray[np.float64], scores: npt.NDArray[np.float64], slicings: Sequence[Slicing], units: Units, seed: int
) -> list[tuple[object, ...]]:
    """Return the drops of the mean over the sets (``scores``: turns × sets) by slice of the turns: rows of :data:`SLICES`."""
    rows = []
    places = {(one.name, name): one.codes == code for one in slicings for code, name in enumerate(one.slices)}
    for found in slices_of(baseline - scores.mean(axis=1), slicings, units, seed):
        base, drop = float(baseline[places[found.slicing, found.name]].mean()), found.own
        percent = 100 * drop.value / base if base else np.nan
        own = (base - drop.value, base, drop.value, percent, drop.low, drop.high)
        rows.append((found.slicing, found.name, found.turns, *own, *cells(found)))
    return rows


def categories_of(
    paraphrases: Mapping[str, Sequence[Paraphrase]], texts: Mapping[str, str], raw: bool, unchanged: Mapping[str, str]
) -> tuple[dict[str, str], int]:
    """Return turn → the category of the paraphrase that is the set's text, and the number of texts with several categories.

    ``texts`` are those of a set, raw or manual. ``unchanged`` are the texts of the turns themselves. A text equal to it has no
    variation (such as the manual text of a paraphrase that changes only the raw one).
    """
    found, ambiguous = dict[str, str](), 0
    for turn, said in texts.items():
        if (key := text_key(said)) != text_key(unchanged.get(turn, "")):
            rows = [row for row in paraphrases.get(turn, ()) if text_key(row.raw if raw else row.manual) == key]
            kinds = {row.category for row in rows if row.category}
            ambiguous += len(kinds) > 1
            if len(kinds) == 1:
                found[turn] = kinds.pop()
    return found, ambiguous


def variation_drops(
    turns: pd.Index,
    baseline: npt.NDArray[np.float64],
    scores: npt.NDArray[np.float64],
    categories: Sequence[Mapping[str, str]],
    units: Units,
    margin: float | None,
    seed: int,
) -> list[dict[str, object]]:
    """Return a row for each category, in order of appearance. The categories form one family.

    ``scores``: turns × sets. ``categories``: for each set, turn → category. ``units``: the sampling units of the turns.
    """
    labels = np.array([[of_set.get(turn, "") for of_set in categories] for turn in turns], dtype=object)
    rows: list[dict[str, object]] = []
    tests: list[Tested] = []
    sums = []
    for category in dict.fromkeys(label for label in labels.T.ravel() if label):
        chosen = labels == category
        inside = chosen.any(axis=1)
        own = (scores * chosen).sum(axis=1)[inside] / chosen.sum(axis=1)[inside]
        ((drop, test, of_part),) = drops_of(own[None], baseline[inside], units.take(inside), margin, seed)
        rows.append({"category": category, "turns": int(inside.sum()), "texts": int(chosen.sum()), **drop})
        tests.append(test)
        sums.append(np.zeros(units.count))  # all categories share the columns; units without such a turn have 0
        sums[-1][np.unique(units.codes[inside])] = of_part
    adjusted = max_t_family(tests, sums, seed).p.tolist() if rows else []
    return [row | {"p_corrected": p} for row, p in zip(rows, adjusted, strict=True)]
