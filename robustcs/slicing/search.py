"""Which turns score lower than the others? Short rules, tried all at once and corrected for their number.

A rule is one condition or two on the slicings of the turns: ``pronoun = yes and depth > 4``. How far the scores of its turns
are below those of the others is compared with what :func:`~robustcs.slicing.rearranged.rearranged` scores give. The largest of
all rules' statistics in every such draw is what a rule must exceed (maxT: Westfall & Young 1993), so that finding any rule
where there is none has a chance of 5 % at most, whatever the number of rules. docs/slices.md has the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.result import Field, count, number, p_value, score, text
from robustcs.slicing.estimates import rearranged
from robustcs.slicing.table import Slicing
from robustcs.statistics import Floats, Mask
from robustcs.statistics.estimate import LEAST_UNITS
from robustcs.statistics.units import Units
from robustcs.wording import counted

#: The chance of a false find that is allowed.
ALPHA = 0.05
#: Draws behind a p, less the observed one.
DRAWS = 1_999
#: With fewer units nothing is looked for.
FEWEST_UNITS = 10
#: A rule has at least this share of the turns, and leaves as many.
LEAST_SHARE = 0.1
#: A slicing of more values that are no numbers, such as the conversation, makes no conditions.
MOST_VALUES = 12
#: Of two found rules that share this part of their turns (Jaccard), the second is the same find in other words.
SAME = 0.5
#: Cuts of a slicing by numbers.
_QUANTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Rule:
    """``conditions`` in words, and bool[T]: the turns for which all of them hold."""

    conditions: tuple[str, ...]
    mask: Mask

    def __str__(self) -> str:
        return " and ".join(self.conditions)


@dataclass(frozen=True)
class Found:
    """A rule whose turns score lower than the others.

    row
        Which row of values it was found in.
    difference
        value − rest.
    at_most
        At 95 % the true difference is no higher, for all rules together: from the draws that give ``p``.
    p
        Corrected for all rules and rows; one-sided.
    like
        The first found rule of the row that has mostly the same turns; empty where there is none.
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


#: The columns of a table of finds, after those that name whose scores they are.
FOUND: tuple[Field, ...] = (
    text("rule", header="Turns with"), count("turns"), count("units", "conversations (or single turns) that have such a turn"),
    score("value", "mean of these turns"), score("rest", "mean of the others"), number("difference", "value − rest", "diff."),
    number("at_most", "95 %: the true difference is no higher, for all rules tried together", "at most"),
    p_value("p", "one-sided, corrected for all rules and systems of the measure: maxT over rearranged conversations"),
    count("rules", "tried, of all systems together"),
    text("like", "an earlier find of mostly the same turns; empty where there is none"),
)  # fmt: skip


def _found_cells(one: Found, rules: int) -> tuple[object, ...]:
    """The values of :data:`FOUND`; ``rules`` were tried."""
    return (one.rule, one.turns, one.units, one.value, one.rest, one.difference, one.at_most, one.p, rules, one.like)


def check_units(units: Units) -> None:
    """Raise :class:`UsageError` where there are too few conversations to look for slices."""
    if units.note or units.count < FEWEST_UNITS:
        have = units.note or f"there are {counted(units.count, units.kind)}"
        found = f"--find-slices needs {FEWEST_UNITS} {units.kind if not units.note else 'conversation'}s: {have}"
        raise UsageError("few-units", found, "look at slices with --slices, which takes what is there")


def rules_of(slicings: Sequence[Slicing], units: Units) -> list[Rule]:
    """All rules of one condition or two on different slicings, each set of turns once, under its shortest rule.

    A rule and what it leaves each have a tenth of the turns, and turns in five units. Numbers are cut at their quartiles.
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
    names: Sequence[str], values: Mapping[str, npt.ArrayLike], slicings: Sequence[Slicing], units: Units, seed: int
) -> tuple[list[tuple[object, ...]], dict[str, int]]:
    """Rows of name, measure and :data:`FOUND`, and how many rules were tried of every measure, over all names together.

    values
        Measure → [names, T]. Each row is searched in the ``slicings`` that concern its name.

    Raises :class:`UsageError` as :func:`check_units` does.
    """
    rules = [rules_of([one for one in slicings if one.concerns(name)], units) for name in names]
    tried = sum(map(len, rules))
    rows = [
        (names[one.row], metric, *_found_cells(one, tried))
        for metric, table in values.items() for one in find_slices(table, rules, units, seed)
    ]  # fmt: skip
    return rows, dict.fromkeys(values, tried)


def _is_large(mask: Mask, units: Units) -> bool:
    return bool(mask.sum() >= LEAST_SHARE * len(mask)) and len(np.unique(units.codes[mask])) >= LEAST_UNITS


def find_slices(
    values: npt.ArrayLike, rules: Sequence[Sequence[Rule]], units: Units, seed: int, draws: int = DRAWS
) -> list[Found]:
    """The rules by which ``values`` [M, T] are lower than elsewhere, at 5 % for all rules and rows together; lowest p first.

    rules
        Those of every row.

    Raises :class:`UsageError` as :func:`check_units` does.
    """
    check_units(units)
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    weights = [_weights([rule.mask for rule in own], table.shape[1]) for own in rules]
    found = [weight @ row for weight, row in zip(weights, table, strict=True)]
    drawn = [np.empty((len(own), draws)) for own in rules]
    done = 0
    for block in rearranged(table, units, seed, draws, levels=True):
        for place, weight in enumerate(weights):
            drawn[place][:, done : done + block.shape[1]] = weight @ block[place].T
        done += block.shape[1]
    # the observed arrangement is one of the draws
    spread = [np.sqrt(((some**2).sum(axis=1) + one**2) / (draws + 1)) for some, one in zip(drawn, found, strict=True)]
    highest = np.full(draws, -np.inf)
    for some, scale in zip(drawn, spread, strict=True):
        if len(some):
            with np.errstate(invalid="ignore", divide="ignore"):
                highest = np.maximum(highest, np.nan_to_num(-some / scale[:, None], nan=-np.inf).max(axis=0))
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
            like = next((str(other) for other, earlier in kept if not earlier.like and _alike(rule.mask, other.mask)), "")
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
    """float64[R, T]: their product with scores is the mean of a rule's turns less that of the others."""
    inside = np.array(masks, dtype=np.bool_).reshape(len(masks), turns)
    weights: Floats = np.where(inside, 1 / inside.sum(axis=1, keepdims=True), -1 / (~inside).sum(axis=1, keepdims=True))
    return weights


def _alike(first: Mask, second: Mask) -> bool:
    return bool((first & second).sum() >= SAME * (first | second).sum())
