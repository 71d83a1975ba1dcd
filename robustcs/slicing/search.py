"""Search for slices that score lower than the other turns: short rules, tried together and adjusted for their number.

A rule has one or two conditions on the slicings of the turns: ``pronoun = yes and depth > 4``. The difference between the
scores of its turns and of the others is compared with that of :func:`~robustcs.slicing.estimates.rearranged` scores. In every
draw, the largest statistic of all rules counts (max-T: Westfall & Young 1993), so the probability of any false find is at most
5%, whatever the number of rules. docs/slices.md contains the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.messages import Message, OptionName
from robustcs.result import Field, count, difference, p_value, score, text
from robustcs.slicing.estimates import rearranged
from robustcs.slicing.table import Slicing
from robustcs.statistics import Floats, Mask
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.statistics.units import Units
from robustcs.wording import counted

#: Probability of a false find.
ALPHA = 0.05
#: Draws per p-value, without the observed one.
DRAWS = 1_999
#: Smallest number of units for a search.
FEWEST_UNITS = 10
#: Smallest share of the turns in a rule, and outside it.
LEAST_SHARE = 0.1
#: A slicing with more values that are not numbers, such as the conversation, gives no conditions.
MOST_VALUES = 12
#: Two found rules with this overlap of turns (Jaccard) count as the same find.
SAME = 0.5
#: Cuts of numeric slicings.
_QUANTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Rule:
    """``conditions`` in words, and ``mask``, bool[T]: the turns that meet all of them."""

    conditions: tuple[str, ...]
    mask: Mask

    def __str__(self) -> str:
        return " and ".join(self.conditions)


@dataclass(frozen=True)
class Found:
    """A rule whose turns score lower than the others.

    row
        The row of values in which it was found.
    difference
        value − rest.
    at_most
        Upper 95% confidence limit of the difference, simultaneous for all rules, from the same draws as ``p``.
    p
        One-sided, adjusted for all rules and rows.
    like
        The first found rule of the row with mostly the same turns; empty if there is none.
    """

    row: int
    rule: str
    turns: int
    units: int
    value: float
    rest: float
    difference: float
    at_most: float
    p: float
    like: str


#: Columns of a table of found slices, after those that name the system and measure.
FOUND: tuple[Field, ...] = (
    text("rule", header="Turns with"), count("turns"), count("units", "conversations (or single turns) with such a turn"),
    score("value", "mean of these turns", "mean").rounded(3), score("rest", "mean of the other turns").rounded(3),
    difference("difference", "value − rest", "− rest").rounded(3),
    difference(
        "at_most", "upper 95% confidence limit of the difference, simultaneous for all rules tried", "95% upper limit"
    ).rounded(3),
    p_value("p", "one-sided, adjusted for all rules and systems of the measure: max-T over rearranged conversations"),
    count("rules", "rules tried for all systems together"),
    text("like", "an earlier find with mostly the same turns; empty if there is none"),
)  # fmt: skip


def _found_cells(one: Found, rules: int) -> tuple[object, ...]:
    """Return the values of :data:`FOUND`; ``rules``: the number of rules tried."""
    return (
        one.rule,
        one.turns,
        one.units,
        one.value,
        one.rest,
        one.difference,
        one.at_most,
        one.p,
        rules,
        one.like,
    )


def check_units(units: Units) -> None:
    """Raise :class:`UsageError` if there are too few conversations to search for slices."""
    if units.note or units.count < FEWEST_UNITS:
        have = units.note or f"there are {counted(units.count, units.kind)}"
        needed = "conversations or topics" if units.note else f"{units.kind}s"
        found = Message(OptionName("find-slices"), f" requires {FEWEST_UNITS} {needed}: {have}")
        raise UsageError(
            "few-units", found, Message("use ", OptionName("slices"), ", which works with fewer")
        )


def rules_of(slicings: Sequence[Slicing], units: Units) -> list[Rule]:
    """Return all rules of one or two conditions on different slicings; each set of turns once, with its shortest rule.

    The turns of a rule and the other turns must each be at least a tenth of all turns and come from at least five units.
    Numbers are cut at their quartiles.
    """
    atoms = [(one.name, rule) for one in slicings for rule in _conditions(one)]
    singles = [rule for _, rule in atoms]
    pairs = [
        Rule((*first.conditions, *second.conditions), first.mask & second.mask)
        for (name, first), (other, second) in combinations(atoms, 2)
        if name != other
    ]
    kept: dict[bytes, Rule] = {}
    for rule in (*singles, *pairs):
        if _is_large(rule.mask, units) and _is_large(~rule.mask, units):
            kept.setdefault(rule.mask.tobytes(), rule)
    return list(kept.values())


def _conditions(one: Slicing) -> Iterator[Rule]:
    numbers = one.numbers
    if numbers is not None and len(numbers) > 2:
        known = one.codes >= 0
        values = np.where(known, np.array(numbers)[one.codes], np.nan)
        for cut in np.unique(np.quantile(values[known], _QUANTILES, method="lower")):
            written = one.slices[numbers.index(float(cut))]
            with np.errstate(invalid="ignore"):
                yield Rule((f"{one.name} ≤ {written}",), values <= cut)
                yield Rule((f"{one.name} > {written}",), values > cut)
    elif len(one.slices) <= MOST_VALUES:
        for place, name in enumerate(one.slices):
            yield Rule((f"{one.name} = {name}",), one.codes == place)


def found_rows(
    names: Sequence[str],
    values: Mapping[str, npt.ArrayLike],
    slicings: Sequence[Slicing],
    units: Units,
    seed: int,
) -> tuple[list[tuple[object, ...]], dict[str, int]]:
    """Return rows of name, measure and :data:`FOUND` and, per measure, the number of rules tried over all names together.

    values
        Measure → [names, T]. Each row is searched by the ``slicings`` that apply to its name.

    Raises :class:`UsageError` if there are too few units.
    """
    rules = [rules_of([one for one in slicings if one.concerns(name)], units) for name in names]
    tried = sum(map(len, rules))
    rows = [
        (names[one.row], metric, *_found_cells(one, tried))
        for metric, table in values.items() for one in find_slices(table, rules, units, seed)
    ]  # fmt: skip
    return rows, dict.fromkeys(values, tried)


def _is_large(mask: Mask, units: Units) -> bool:
    return (
        bool(mask.sum() >= LEAST_SHARE * len(mask))
        and len(np.unique(units.codes[mask])) >= LEAST_UNITS
    )


def find_slices(
    values: npt.ArrayLike,
    rules: Sequence[Sequence[Rule]],
    units: Units,
    seed: int,
    draws: int = DRAWS,
) -> list[Found]:
    """Return the rules whose turns have lower ``values`` [M, T] than the others, by row and lowest p first.

    The error rate is 5% for all rules and rows together.

    rules
        The rules of every row.

    Raises :class:`UsageError` if there are too few units.
    """
    check_units(units)
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    weights = [_weights([rule.mask for rule in own], table.shape[1]) for own in rules]
    found = [weight @ row for weight, row in zip(weights, table, strict=True)]
    drawn = [np.empty((len(own), draws)) for own in rules]
    done = 0
    for block in rearranged(table, units, seed, draws, levels=True):
        for place, weight in enumerate(weights):
            drawn[place][:, done : done + block.shape[1]] = weight.dot(block[place].T)
        done += block.shape[1]
    # the observed arrangement is one of the draws
    spread = [
        np.sqrt(((some**2).sum(axis=1) + one**2) / (draws + 1))
        for some, one in zip(drawn, found, strict=True)
    ]
    highest = np.full(draws, -np.inf)
    for some, scale in zip(drawn, spread, strict=True):
        if len(some):
            with np.errstate(invalid="ignore", divide="ignore"):
                highest = np.maximum(
                    highest, np.nan_to_num(-some / scale[:, None], nan=-np.inf).max(axis=0)
                )
    if not np.isfinite(highest).all():
        return []
    limit = float(np.quantile(highest, 1 - ALPHA, method="higher"))
    finds = []
    for row, (own, differences, scale) in enumerate(zip(rules, found, spread, strict=True)):
        kept: list[tuple[Rule, Found]] = []
        with np.errstate(invalid="ignore", divide="ignore"):
            reached = np.nan_to_num(-differences / scale, nan=-np.inf)
        for place in np.argsort(-reached, kind="stable"):
            p = (1 + int((highest >= reached[place] - 1e-12).sum())) / (draws + 1)
            if p > ALPHA:
                break
            rule = own[place]
            like = next(
                (
                    str(other)
                    for other, earlier in kept
                    if not earlier.like and _alike(rule.mask, other.mask)
                ),
                "",
            )
            difference = float(differences[place])
            mean, rest = float(table[row][rule.mask].mean()), float(table[row][~rule.mask].mean())
            touched = len(np.unique(units.codes[rule.mask]))
            at_most = difference + limit * float(scale[place])
            kept.append((rule, Found(
                row, str(rule), int(rule.mask.sum()), touched, mean, rest, difference, at_most, p, like
            )))  # fmt: skip
        finds += [one for _, one in kept]
    return finds


def _weights(masks: Sequence[Mask], turns: int) -> Floats:
    """Return float64[R, T], whose product with scores is the mean of a rule's turns minus the mean of the others."""
    inside = np.array(masks, dtype=np.bool_).reshape(len(masks), turns)
    weights: Floats = np.where(
        inside, 1 / inside.sum(axis=1, keepdims=True), -1 / (~inside).sum(axis=1, keepdims=True)
    )
    return weights


def _alike(first: Mask, second: Mask) -> bool:
    return bool((first & second).sum() >= SAME * (first | second).sum())
