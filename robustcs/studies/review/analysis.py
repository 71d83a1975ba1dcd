"""Categories that coders assigned to turns: frequency among all turns, crossings, differences and agreement."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from robustcs.inputs.reviews import Review, Sample
from robustcs.inputs.turns import turn_sort_key
from robustcs.result import Evaluated, Result, count, flag, number, points, share, table, text
from robustcs.statistics.agreement import agreement_estimate, cohen_of, cohen_sums
from robustcs.statistics.estimate import Estimate, joined
from robustcs.statistics.finite import finite_difference, finite_share
from robustcs.statistics.units import units_of_items

#: The category of turns without any.
NONE = "(none)"
#: Why the shares of a sample are not estimates for all turns.
NO_ESTIMATE = "not a random sample: shares describe the reviewed turns only, not all turns"
_CI = "95% CI for all turns of the sample's population: Blaker's exact interval; null unless the sample is random"
_WHOSE = (text("category", header="Category"), text("systems", header="System"))
_BY = (
    text("coder", "empty if unknown", "Coder"),
    text("sample", "the sample, and the number of its turns that were reviewed"),
)


class Value(NamedTuple):
    """A property of the turns of one system: ``by`` is bin, component or outcome; ``values`` maps turns to it.

    ``also`` are systems that it describes, too: Original and Human for a bin, those with the same run for a cell.
    """

    by: str
    system: str
    values: Mapping[str, str]
    also: Sequence[str] = ()


@dataclass(frozen=True)
class Reviews(Result):
    """Categories of reviewed turns."""

    study = "review"

    categories = table(
        "categories", "Turns by category, in the sample and among all turns from which it was drawn.",
        *_WHOSE, count("count", "reviewed turns with this category", "turns"),
        *share("share", "count / reviewed", "share").between(says=_CI),
        count("reviewed", "reviewed turns, also those without a category"),
        count("of", "turns from which the sample was drawn; 0 if unknown"),
        text("where", "which turns these are; empty for all turns"),
        flag("random", "whether the sample was drawn at random; only then are there estimates for all turns"),
        *_BY, text("note", "caveats about the numbers, if any"),
    )  # fmt: skip
    crossings = table(
        "crossings", "Turns by category within a bin, component or outcome.",
        text("by", "bin, component or outcome", "By"), text("of_system", "rewriter, cell or system to which the value belongs"),
        text("value", "bin as Original, QR, Human; cause of components; or outcome", "Value"), *_WHOSE,
        count("count", "reviewed turns with this value and category", "turns"),
        *share("share", "count / reviewed", "share").between(says=_CI),
        count("reviewed", "reviewed turns with this value"), *_BY,
    )  # fmt: skip
    differences = table(
        "differences", "Categories that two systems have on the same turns.",
        text("category", header="Category"), text("first", header="First"), text("second", header="Second"),
        count("turns", "turns reviewed for both systems"), count("both", "turns on which both have the category"),
        count("only_first", "turns on which only the first has the category", "only first"),
        count("only_second", "turns on which only the second has the category", "only second"),
        *points("difference", "share of the first minus share of the second", "difference").between(
            says="95% CI for all turns: Bonett and Price, corrected for a finite population; null unless the sample is random"),
        flag("separates", "whether the simultaneous 95% CI of all categories and pairs of this sample (Bonferroni) excludes 0;"
             " null unless the sample is random"), *_BY,
    )  # fmt: skip
    coders = table(
        "coders", "Agreement of two coders on each category, beyond chance.",
        text("first", header="First"), text("second", header="Second"), text("category", header="Category"),
        *number("kappa", "Cohen's kappa of having the category or not", "κ").rounded(2).between(
            says="95% CI, nested bootstrap-t over sampling units; null for fewer than five"),
        count("turns", "turns that both coders reviewed; a turn counts once per system", "turns"),
        count("both", "turns to which both assign the category"), count("only_first", "", "only first"),
        count("only_second", "", "only second"), count("units", "conversations or turns"),
        text("note", "caveats of the interval"),
    )  # fmt: skip


class _CoderReviews:
    """The reviews of the systems ``names`` by one coder in one sample: turn → categories."""

    def __init__(self, names: tuple[str, ...], coder: str, sample: Sample):
        self.names, self.coder, self.sample = names, coder, sample
        self.turns: dict[str, set[str]] = {}

    @property
    def systems(self) -> str:
        """The names of its systems."""
        return ", ".join(self.names)

    def hits(self, category: str) -> set[str]:
        """Return the turns with a category, or without any."""
        return {
            turn
            for turn, own in self.turns.items()
            if (category in own if category != NONE else not own)
        }

    @property
    def of(self) -> int:
        """The number of turns from which the sample was drawn, as stated; 0 if unknown."""
        return self.sample.of

    @property
    def is_random(self) -> bool:
        """Whether the reviewed turns are a random sample of a known number of turns; all turns are one, too."""
        drawn = len(self.turns)
        return (self.sample.kind == "random" and drawn <= self.of) or (
            self.sample.kind == "all" and drawn == self.of
        )

    @property
    def note(self) -> str:
        """Why there is no estimate for all turns; empty if there is one."""
        if self.is_random:
            return ""
        if self.sample.kind == "random" and self.of:
            return f"more turns were reviewed than the sample's population has ({self.of}); {NO_ESTIMATE}"
        return NO_ESTIMATE

    @property
    def described(self) -> str:
        """The sample in words: ``random, 13 of 92 turns where …, seed 7``."""
        whole = f" of {self.of:,}" if self.of else ""
        where = f" {self.sample.where}" if self.sample.where else ""
        seed = (
            ""
            if self.sample.seed is None or self.sample.kind != "random"
            else f", seed {self.sample.seed}"
        )
        return f"{self.sample.kind}, {len(self.turns):,}{whole} turns{where}{seed}"

    def share(self, seen: int, drawn: int, population: int) -> Estimate:
        """Return a share of reviewed turns, with an interval if the sample is random."""
        found = finite_share(seen, drawn, max(drawn, population) if self.is_random else drawn)
        return (
            found
            if self.is_random
            else Estimate(found.value, math.nan, math.nan, drawn, "", self.note)
        )


def review(
    reviews: Iterable[Review], values: Sequence[Value], evaluated: Evaluated, seed: int = 0
) -> Reviews:
    """Count the categories of reviewed turns.

    A review of several systems counts for all of them. ``values`` are the bins, components and outcomes of turns to cross the
    categories with. The sampling unit of agreement is that of ``evaluated.policy``.
    """
    parts = _parts(reviews)
    agreement, evaluated = _agreement(parts, evaluated, seed)
    content = Reviews.built(
        categories=[row for part in parts for row in _counted(part)],
        crossings=[row for part in parts for value in _about(part, values) for row in _crossed(part, value)],
        differences=[row for some in _samples(parts) for row in _differences(some)],
        coders=agreement,
    )  # fmt: skip
    return Reviews(evaluated, content=content)


def _parts(reviews: Iterable[Review]) -> list[_CoderReviews]:
    """Return the reviews by sample, system and coder.

    If all reviews of a sample are about the same systems, these are one part; otherwise each system has its own.
    """
    every = list(reviews)
    together: dict[tuple[Any, ...], set[tuple[str, ...]]] = {}
    for one in every:
        together.setdefault(one.sample.identity, set()).add(one.systems)
    found: dict[tuple[Any, ...], _CoderReviews] = {}
    for one in every:
        alike = len(together[one.sample.identity]) == 1
        for names in [one.systems] if alike else [(name,) for name in one.systems]:
            part = found.setdefault(
                (one.sample.identity, names, one.coder), _CoderReviews(names, one.coder, one.sample)
            )
            part.turns.setdefault(one.turn, set()).update(one.categories)
    return list(found.values())


def _samples(parts: Sequence[_CoderReviews]) -> list[list[_CoderReviews]]:
    """Return the parts of each coder and sample."""
    found: dict[tuple[Any, ...], list[_CoderReviews]] = {}
    for part in parts:
        found.setdefault((part.sample.identity, part.coder), []).append(part)
    return list(found.values())


def _used(parts: Iterable[_CoderReviews], without: bool = True) -> list[str]:
    """Return the categories, the most frequent first; ``without``: also :data:`NONE`."""
    times: dict[str, int] = {}
    for part in parts:
        for own in part.turns.values():
            for name in own or ({NONE} if without else set()):
                times[name] = times.get(name, 0) + 1
    return sorted(times, key=lambda name: (name == NONE, -times[name], name))


def _counted(part: _CoderReviews) -> Iterable[tuple[Any, ...]]:
    drawn = len(part.turns)
    for category in _used([part]):
        seen = len(part.hits(category))
        found = part.share(seen, drawn, part.of)
        sample = (part.of, part.sample.where, part.is_random, part.coder, part.described, part.note)
        yield (category, part.systems, seen, found, drawn, *sample)


def _about(part: _CoderReviews, values: Sequence[Value]) -> list[Value]:
    """Return the values of the reviewed systems, all if the review names none; ``also`` counts if no system has its own."""
    names, own = {*part.names}, {value.by for value in values if value.system in part.names}
    return [
        value for value in values
        if not names or value.system in names or (value.by not in own and not names.isdisjoint(value.also))
    ]  # fmt: skip


def _crossed(part: _CoderReviews, value: Value) -> Iterable[tuple[Any, ...]]:
    """Yield the categories within each value; a domain of a random sample is a random sample of that domain."""
    drawn: dict[str, set[str]] = {}
    for turn in part.turns.keys() & value.values.keys():
        drawn.setdefault(value.values[turn], set()).add(turn)
    every = list(value.values.values())
    for name in sorted(drawn, key=lambda name: (-len(drawn[name]), name)):
        # turns with this value that the sample could have contained: at most all of them, and all not known to differ
        most = min(every.count(name), part.of - len(part.turns) + len(drawn[name]))
        for category in _used([part]):
            seen = len(part.hits(category) & drawn[name])
            found = part.share(seen, len(drawn[name]), most)
            yield (
                *value[:2],
                name,
                category,
                part.systems,
                seen,
                found,
                len(drawn[name]),
                part.coder,
                part.described,
            )


def _differences(parts: Sequence[_CoderReviews]) -> Iterable[tuple[Any, ...]]:
    """Yield the categories of every pair of systems that one coder reviewed in one sample."""
    compared = [
        (category, first, second, first.turns.keys() & second.turns.keys())
        for first, second in combinations(parts, 2) for category in _used([first, second], without=False)
    ]  # fmt: skip
    for category, first, second, turns in compared:
        own, other = first.hits(category) & turns, second.hits(category) & turns
        only = len(own - other), len(other - own)
        random = first.is_random and second.is_random
        found = finite_difference(*only, len(turns), first.of if random else len(turns))
        apart = None
        if random:
            every = finite_difference(*only, len(turns), first.of, len(compared))
            apart = every.low > 0 or every.high < 0
        else:
            found = replace(found, low=math.nan, high=math.nan)
        if turns:
            whole = (
                len(turns),
                len(own & other),
                *only,
                found,
                apart,
                first.coder,
                first.described,
            )
            yield (category, first.systems, second.systems, *whole)


def _agreement(
    parts: Sequence[_CoderReviews], evaluated: Evaluated, seed: int
) -> tuple[list[tuple[Any, ...]], Evaluated]:
    """Return Cohen's kappa of every pair of coders and category, on the turns that both reviewed, and the sampling unit."""
    of: dict[str, dict[tuple[str, str], set[str]]] = {}
    for part in parts:
        for turn, own in part.turns.items():
            of.setdefault(part.coder, {}).setdefault((part.systems, turn), set()).update(own)
    rows: list[tuple[Any, ...]] = []
    for first, second in combinations(of, 2):
        # random draws must not depend on the order of the files
        items = sorted(
            of[first].keys() & of[second].keys(), key=lambda item: (turn_sort_key(item[1]), item[0])
        )
        units = units_of_items([turn for _, turn in items], "turn", evaluated.grouping)
        if items and units.count >= evaluated.units:
            evaluated = replace(evaluated, unit=units.kind, units=units.count)
        names = {name for item in items for name in of[first][item] | of[second][item]}
        for name in sorted(names):
            codes = [
                np.array([name in of[coder][item] for item in items], dtype=np.int64)
                for coder in (first, second)
            ]
            kappa = agreement_estimate(
                units.sums(cohen_sums(codes[0], codes[1], 2).T).T, cohen_of(2), seed, units.kind
            )
            both, only = (
                int((codes[0] & codes[1]).sum()),
                [int((one > other).sum()) for one, other in (codes, codes[::-1])],
            )
            rows.append(
                (
                    first,
                    second,
                    name,
                    kappa,
                    len(items),
                    both,
                    *only,
                    units.count,
                    joined(kappa.note, units.note),
                )
            )
    return rows, evaluated


def slices_of(reviews: Iterable[Review]) -> str:
    """Return a TSV with one row per reviewed turn and a column per category: yes, no, or empty if reviews disagree.

    With several systems, a column is the category of one system.
    """
    parts = _parts(reviews)
    names: dict[str, set[str]] = {}
    for part in parts:
        names.setdefault(part.systems, set()).update(*part.turns.values())
    cells: dict[str, dict[str, set[str]]] = {}
    for part in parts:
        for name in sorted(names[part.systems]):
            column = cells.setdefault(f"{name} ({part.systems})" if len(names) > 1 else name, {})
            for turn, own in part.turns.items():
                column.setdefault(turn, set()).add("yes" if name in own else "no")
    turns = sorted(set().union(*(part.turns for part in parts)), key=turn_sort_key)
    rows = [[turn, *("".join(found) if len(found := column.get(turn, set())) == 1 else "" for column in cells.values())]
            for turn in turns]  # fmt: skip
    return "".join(
        "\t".join(" ".join(cell.split()) for cell in row) + "\n"
        for row in [["turn", *cells], *rows]
    )
