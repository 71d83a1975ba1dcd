"""A drop below a baseline: its tests and its interval, in slices of the turns and by the kind of variation."""

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
#: A drop is read without a plus, unlike other differences.
DROP, _LOW, _HIGH = (
    number("drop", "baseline − value")
    .rounded(3)
    .between(says="of the drop: 95 %, from the test that gives p; null where none can be given")
)
PERCENT = number("drop_percent", "of the baseline; null where that is 0", "in %").rounded(1)


def tests_of(of: str) -> tuple[Field, ...]:
    """Return the columns of a drop: its p-values, its interval and what the design could show; ``of``: what the family is."""
    return (
        p_value("p", "sign-flip test of whole units, two-sided"),
        p_value("p_corrected", f"adjusted by max-T over all {of} of a measure", "p adj."),
        p_value("t_p", "cluster-robust t test, two-sided, not adjusted", "p (t)"),
        _LOW,
        _HIGH,
        P_FLOOR,
        EXACT,
        number("effect", "standardised mean drop over units"),
        difference("detectable", "the smallest true drop that such a design finds with 80 % power at .05"),
        EQUIVALENT,
        text("note", "what must be known beside the numbers"),
    )  # fmt: skip


#: Columns of the drops within slices.
SLICES = (
    *keys(), score("value", "mean over the sets", "mean"), score("baseline"), DROP, PERCENT,
    number("ci_low", "of the drop: 95 %, cluster-robust t over units; null for fewer than five"), number("ci_high"),
    *against_rest("drop"),
)  # fmt: skip
#: Columns of the drops by category.
VARIATIONS = (
    count("turns", "that have such a variation"), count("texts", "variations: a turn may have one in several sets"),
    score("value", "mean over turns"), score("baseline", "of the same turns"), DROP, PERCENT,
    *tests_of("categories of a group"),
)  # fmt: skip


def drops_of(
    values: npt.NDArray[np.float64], base: npt.NDArray[np.float64], units: Units, margin: float | None, seed: int
) -> list[tuple[dict[str, object], Tested, npt.NDArray[np.float64]]]:
    """Return every row of ``values`` (systems × turns) beside ``base``, its test and the sums over units behind it.

    Value, baseline and drop (baseline − value) with what :func:`tests_of` says, but for the adjusted p.
    """
    # equal scores may differ in their last bits; a test must not read them as a drop
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
    """Drops of the mean over the sets (``scores``: turns × sets) within slices of the turns: rows of :data:`SLICES`."""
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
    """Turn → the category of the paraphrase that a set's text is, and how many texts are of several categories.

    ``texts`` are those of a set, raw or manual ones; ``unchanged`` the texts of the turns themselves: a variation that left the
    text as it is (such as the manual text where only the raw one changed) is none.
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
    """Return a row for each category, in order of appearance; the categories are one family.

    ``scores`` are turns × sets; ``categories`` has turn → category for each set, ``units`` those of the turns.
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
        sums.append(np.zeros(units.count))  # the same columns for all categories, 0 in units without such a turn
        sums[-1][np.unique(units.codes[inside])] = of_part
    adjusted = max_t_family(tests, sums, seed).p.tolist() if rows else []
    return [row | {"p_corrected": p} for row, p in zip(rows, adjusted, strict=True)]
