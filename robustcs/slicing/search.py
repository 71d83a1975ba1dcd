"""Search for slices that score lower than the other turns, adjusted for the number of rules tried.

A rule has one or two conditions on the slicings of the turns: ``pronoun = yes and depth > 4``. The
difference between the scores of its turns and of the others is compared with that of
:func:`~robustcs.slicing.rearrangement.rearranged` scores. In every draw, the largest statistic of
all rules counts (max-T: Westfall & Young 1993), so the probability of any false find is at most 5%,
whatever the number of rules. docs/slices.md contains the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.messages import Message, OptionName
from robustcs.result import Field, count, difference, p_value, score, text
from robustcs.slicing.rearrangement import rearranged
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
#: Cuts of numeric slicings with more than :data:`_FEW_NUMBERS` values; the others are taken one by
#: one.
_QUANTILES, _FEW_NUMBERS = (0.25, 0.5, 0.75), 2
#: A statistic that is smaller by up to this is as large: it differs by rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SliceRule:
    """A set of turns.

    conditions
        In words.
    mask
        bool[T]: the turns that meet all of them.
    """

    conditions: tuple[str, ...]
    mask: Mask

    def __str__(self) -> str:
        return " and ".join(self.conditions)


@dataclass(frozen=True)
class LowSlice:
    """A rule whose turns score lower than the others.

    row
        The row of values in which it was found.
    rule
        In words.
    turns, units
        Number of its turns, and of units with such a turn.
    value, rest
        Mean of its turns, and of the other turns.
    difference
        value − rest.
    at_most
        Upper 95% confidence limit of the difference, simultaneous for all rules, from the same
        draws as ``p``.
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
    text("rule", header="Turns with"),
    count("turns"),
    count("units", "conversations (or single turns) with such a turn"),
    score("value", "mean of these turns", "mean").rounded(3),
    score("rest", "mean of the other turns").rounded(3),
    difference("difference", "value − rest", "− rest").rounded(3),
    difference(
        "at_most",
        "upper 95% confidence limit of the difference, simultaneous for all rules tried",
        "95% upper limit",
    ).rounded(3),
    p_value(
        "p",
        "one-sided, adjusted for all rules and systems of the measure: max-T over rearranged"
        " conversations",
    ),
    count("rules", "rules tried for all systems together"),
    text("like", "an earlier find with mostly the same turns; empty if there is none"),
)


def _found_cells(find: LowSlice, rules: int) -> tuple[object, ...]:
    """Return the values of :data:`FOUND`; ``rules``: the number of rules tried."""
    return (
        find.rule,
        find.turns,
        find.units,
        find.value,
        find.rest,
        find.difference,
        find.at_most,
        find.p,
        rules,
        find.like,
    )


def check_units(units: Units) -> None:
    """Raise :class:`UsageError` if there are too few conversations to search for slices."""
    if units.note or units.count < FEWEST_UNITS:
        have = units.note or f"there are {counted(units.count, units.kind)}"
        needed = "conversations or topics" if units.note else f"{units.kind}s"
        problem = Message(OptionName("find-slices"), f" requires {FEWEST_UNITS} {needed}: {have}")
        raise UsageError(
            "few-units", problem, Message("use ", OptionName("slices"), ", which works with fewer")
        )


def rules_of(slicings: Sequence[Slicing], units: Units) -> list[SliceRule]:
    """Return all rules of one or two conditions on different slicings.

    Each set of turns occurs once, with its shortest rule. The turns of a rule and the other turns
    must each be at least a tenth of all turns and come from at least five units. Numbers are cut at
    their quartiles.
    """
    by_slicing = [(cut.name, list(_conditions(cut))) for cut in slicings]
    singles = [rule for _, conditions in by_slicing for rule in conditions]
    pairs = []
    names = [name for name, conditions in by_slicing for _ in conditions]
    for first, second in combinations(range(len(singles)), 2):
        if names[first] != names[second]:
            pairs.append(_both(singles[first], singles[second]))
    rules: dict[bytes, SliceRule] = {}
    for rule in (*singles, *pairs):
        if _is_large(rule.mask, units) and _is_large(~rule.mask, units):
            rules.setdefault(rule.mask.tobytes(), rule)
    return list(rules.values())


def _both(first: SliceRule, second: SliceRule) -> SliceRule:
    return SliceRule((*first.conditions, *second.conditions), first.mask & second.mask)


def _conditions(cut: Slicing) -> Iterator[SliceRule]:
    """Yield the rules of one condition on a slicing."""
    numbers = cut.numbers
    if numbers is not None and len(numbers) > _FEW_NUMBERS:
        known = cut.codes >= 0
        values = np.where(known, np.array(numbers)[cut.codes], np.nan)
        for limit in np.unique(np.quantile(values[known], _QUANTILES, method="lower")):
            as_written = cut.slices[numbers.index(float(limit))]
            with np.errstate(invalid="ignore"):
                yield SliceRule((f"{cut.name} ≤ {as_written}",), values <= limit)
                yield SliceRule((f"{cut.name} > {as_written}",), values > limit)
    elif len(cut.slices) <= MOST_VALUES:
        for code, name in enumerate(cut.slices):
            yield SliceRule((f"{cut.name} = {name}",), cut.codes == code)


def _is_large(mask: Mask, units: Units) -> bool:
    """Return whether the turns are enough, and of enough units."""
    enough_turns = bool(mask.sum() >= LEAST_SHARE * len(mask))
    return enough_turns and len(np.unique(units.codes[mask])) >= LEAST_UNITS


def found_rows(
    names: Sequence[str],
    values: Mapping[str, npt.ArrayLike],
    slicings: Sequence[Slicing],
    units: Units,
    seed: int,
) -> tuple[list[tuple[object, ...]], dict[str, int]]:
    """Return rows of name, measure and :data:`FOUND`, and the number of rules tried by measure.

    The rules are counted over all names together.

    values
        Measure → [names, T]. Each row is searched by the ``slicings`` that apply to its name.

    Raises :class:`UsageError` if there are too few units.
    """
    rules = []
    for name in names:
        rules.append(rules_of([cut for cut in slicings if cut.concerns(name)], units))
    tried = sum(len(of_name) for of_name in rules)
    rows = []
    for metric, table in values.items():
        for find in find_slices(table, rules, units, seed):
            rows.append((names[find.row], metric, *_found_cells(find, tried)))
    return rows, dict.fromkeys(values, tried)


def find_slices(
    values: npt.ArrayLike,
    rules: Sequence[Sequence[SliceRule]],
    units: Units,
    seed: int,
    draws: int = DRAWS,
) -> list[LowSlice]:
    """Return the rules whose turns have lower ``values`` [M, T] than the others.

    By row and lowest p first. The error rate is 5% for all rules and rows together.

    rules
        The rules of every row.

    Raises :class:`UsageError` if there are too few units.
    """
    check_units(units)
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    tests = _tests_of(table, rules, units, seed, draws)
    highest = np.full(draws, -np.inf)
    for test in tests:
        if len(test.drawn):
            drawn = _statistics(test.drawn, test.scale[:, None])
            highest = np.maximum(highest, drawn.max(axis=0))
    if not np.isfinite(highest).all():
        return []
    limit = float(np.quantile(highest, 1 - ALPHA, method="higher"))

    finds = []
    for row, (candidates, test) in enumerate(zip(rules, tests, strict=True)):
        earlier: list[_RuleFound] = []
        statistics = _statistics(test.differences, test.scale)
        for place in np.argsort(-statistics, kind="stable"):
            as_high = int((highest >= statistics[place] - _ROUNDING).sum())
            # the observed arrangement is one of the draws
            p = (1 + as_high) / (draws + 1)
            if p > ALPHA:
                break
            rule, difference = candidates[place], float(test.differences[place])
            find = LowSlice(
                row=row,
                rule=str(rule),
                turns=int(rule.mask.sum()),
                units=len(np.unique(units.codes[rule.mask])),
                value=float(table[row][rule.mask].mean()),
                rest=float(table[row][~rule.mask].mean()),
                difference=difference,
                at_most=difference + limit * float(test.scale[place]),
                p=p,
                like=_first_like(rule, earlier),
            )
            earlier.append(_RuleFound(rule, find))
        finds += [find for _, find in earlier]
    return finds


class _RuleTests(NamedTuple):
    """Differences of the R rules of a row of values: mean of the rule's turns − that of the others.

    differences
        float64[R]: the observed ones.
    drawn
        float64[R, draws]: those of rearranged values.
    scale
        float64[R]: their root mean square, the observed ones included.
    """

    differences: Floats
    drawn: Floats
    scale: Floats


def _tests_of(
    table: Floats, rules: Sequence[Sequence[SliceRule]], units: Units, seed: int, draws: int
) -> list[_RuleTests]:
    """Return the differences of the ``rules`` of each row of ``table`` [M, T]."""
    weights = [_weights(of_row, table.shape[1]) for of_row in rules]
    drawn = [np.empty((len(of_row), draws)) for of_row in rules]
    done = 0
    for block in rearranged(table, units, seed, draws, levels=True):
        end = done + block.shape[1]
        for row, of_row in enumerate(weights):
            drawn[row][:, done:end] = of_row.dot(block[row].T)
        done = end

    tests = []
    for row, of_row in enumerate(weights):
        differences = of_row @ table[row]
        squares = (drawn[row] ** 2).sum(axis=1) + differences**2
        tests.append(_RuleTests(differences, drawn[row], np.sqrt(squares / (draws + 1))))
    return tests


def _statistics(differences: Floats, scale: Floats) -> Floats:
    """Return how far the ``differences`` are below 0; −∞ without variation."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(-differences / scale, nan=-np.inf)


def _weights(rules: Sequence[SliceRule], turns: int) -> Floats:
    """Return float64[R, T], whose product with scores is the mean of a rule's turns − the rest's.

    ``rules``: R rules. ``turns``: T.
    """
    masks = [rule.mask for rule in rules]
    inside = np.array(masks, dtype=np.bool_).reshape(len(masks), turns)
    of_turns = 1 / inside.sum(axis=1, keepdims=True)
    of_others = -1 / (~inside).sum(axis=1, keepdims=True)
    weights: Floats = np.where(inside, of_turns, of_others)
    return weights


class _RuleFound(NamedTuple):
    """A rule and its row in the table of found slices."""

    rule: SliceRule
    find: LowSlice


def _first_like(rule: SliceRule, earlier: Sequence[_RuleFound]) -> str:
    """Return the first earlier rule with mostly the same turns; empty if there is none.

    Rules that are themselves like another one are passed over.
    """
    for other, find in earlier:
        if not find.like and _alike(rule.mask, other.mask):
            return str(other)
    return ""


def _alike(first: Mask, second: Mask) -> bool:
    return bool((first & second).sum() >= SAME * (first | second).sum())
