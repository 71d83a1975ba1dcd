"""How much of the gold information do answers hold, which systems differ, and what made them miss the rest?

Gold are snippets that people chose in passages (Łajewska and Balog 2023, whose motive this is) and nuggets (TREC RAG: Pradeep
et al. 2024). What an answer misses was not in the passages that it was made of (the rewriter's or retrieval's fault), or was
passed over there (the generator's).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Literal

import numpy as np

from robustcs.lazy import pd
from robustcs.result import Evaluated, Result, count, difference, flag, number, p_value, score, share, table, text
from robustcs.similarity.texts import Words, content_words, held, precision
from robustcs.statistics.families import Family, max_t_family
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units, units_of

Gold = Literal["snippets", "nuggets"]
Cause = Literal["covered", "generator", "rewriter", "retrieval", "rewriter or retrieval", "unknown"]
COVERED: Cause = "covered"
UNKNOWN: Cause = "unknown"
CAUSES: tuple[Cause, ...] = (COVERED, "generator", "rewriter", "retrieval", "rewriter or retrieval", UNKNOWN)
#: What each gold is measured by, the first of each the one that systems are compared by for people.
MEASURES: Mapping[Gold, tuple[str, ...]] = {
    "snippets": ("snippet_recall", "snippet_precision", "snippet_f1", "snippets_covered"),
    "nuggets": ("nuggets_vital", "nuggets_vital_strict", "nuggets_all", "nuggets_all_strict"),
}
LENGTH = "length"
_BY_UNIT = "95 %, for other conversations of this kind; null where no interval can be given: note says why"
SYSTEMS = table(
    "measures", "The mean of every system, best first. length is in words; all others lie between 0 and 1.",
    text("system", header="System"), text("metric"), *number("value", header="mean").between(says=_BY_UNIT),
    count("turns", "for which the measure is defined"),
    text("note", "what must be known beside the interval"),
)  # fmt: skip
PAIRS = table(
    "pairs", "The mean difference of two systems over the same turns.",
    text("first", header="First"), text("second", header="Second"), text("metric"),
    *difference("difference", "first minus second", "diff.").rounded(3).between(says="of this comparison alone"),
    p_value(says="sign-flip test of whole units, two-sided"),
    p_value("p_corrected", "adjusted by max-T over all pairs of the measure", "p adj."),
    number("p_floor", "the smallest p that this design could have shown"),
    flag("exact", "were all sign patterns tried? else a p at its floor is a bound"), text("note"),
)  # fmt: skip
CAUSE_TABLE = table(
    "causes", "Gold items by what became of them, for every system.",
    text("system", header="System"), text("gold"), text("importance", "vital, okay or all"),
    text("cause", "covered; or missed: the answer's passages held it (generator), those of the human question did (rewriter),"
         " neither did (retrieval), or it cannot be told"),
    count("count"), count("items", "of this importance"), *share("share").between(says="95 %, Wilson by units"),
    count("units"), text("note"),
)  # fmt: skip
ITEMS = table(
    "items", "Every gold item for every system.",
    text("system", header="System"), text("turn", header="Turn"), text("gold"), count("item", "its number in the turn, from 1"),
    text("importance"), text("text", "the snippet or nugget", "Missed"), score("coverage", "how much of it the answer holds"),
    text("cause", "covered, or why it was missed", "because of"),
)  # fmt: skip
TURNS = table("turns", "Every score.", text("system"), text("turn"), text("metric"), number("value"))


@dataclass(frozen=True)
class Item:
    """One piece of gold information; ``passages`` are those known to hold it."""

    gold: Gold
    turn: str
    text: str
    importance: str = ""
    passages: frozenset[str] = frozenset()


@dataclass(frozen=True)
class System:
    """What is known of one system.

    answers
        Turn → answer.
    support
        Turn → nugget → how much of it the answer holds, where somebody said so; None: counted by words.
    given
        Turn → the passages that the answer was made of; None where nobody says.
    human
        The same for the human question; None where nobody says.
    is_human
        Was the human question asked, so that no rewriter can be at fault?
    """

    name: str
    answers: Mapping[str, str]
    support: Mapping[str, Mapping[str, float]] | None = None
    given: Mapping[str, Sequence[str]] | None = None
    human: Mapping[str, Sequence[str]] | None = None
    is_human: bool = False


@dataclass(frozen=True)
class Coverage(Result):
    """Answers of systems against snippets, nuggets or both.

    families
        Measure → the family of its pairs.
    covered
        The share of an item's words (or of its support) from which it counts as covered.
    """

    study = "answers"
    declared = (SYSTEMS, PAIRS, CAUSE_TABLE, ITEMS, TURNS)

    measures: pd.DataFrame
    pairs: pd.DataFrame
    causes: pd.DataFrame
    items: pd.DataFrame
    turns: pd.DataFrame
    families: Mapping[str, Family]
    covered: float

    @property
    def golds(self) -> tuple[Gold, ...]:
        """What the answers were held against."""
        return tuple(gold for gold in MEASURES if (self.items["gold"] == gold).any())


def coverage(
    items: Sequence[Item],
    systems: Sequence[System],
    turns: Sequence[str],
    evaluated: Evaluated,
    covered: float = 0.5,
    passages: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Coverage:
    """Hold the answers of ``systems`` to ``turns`` against the ``items`` of these turns.

    An answer that a system lacks is empty. ``passages``: texts by id; where they are given, a passage holds an item if the gold
    says so, or if it has the share ``covered`` of its words. Items without a content word cannot be covered by words and should
    be left out before.
    """
    words = cache(content_words)
    known = _Passages(words, covered, passages)
    by_turn: dict[str, list[Item]] = {turn: [] for turn in turns}
    for item in items:
        by_turn[item.turn].append(item)
    golds = [gold for gold in MEASURES if any(item.gold == gold for item in items)]
    names = [*(measure for gold in golds for measure in MEASURES[gold]), LENGTH]
    rows: list[tuple[Any, ...]] = []
    values = np.full((len(systems), len(names), len(turns)), np.nan)
    for place, system in enumerate(systems):
        for column, turn in enumerate(turns):
            answer = system.answers.get(turn, "")
            own = [(item, _degree(item, words(answer), system, words)) for item in by_turn[turn]]
            scores = _scores(own, words(answer), words, covered) | {LENGTH: float(len(answer.split()))}
            values[place, :, column] = [scores[name] for name in names]
            for number_, (item, degree) in enumerate(own, 1):
                cause = COVERED if degree >= covered else known.cause(item, system)
                rows.append((system.name, turn, item.gold, number_, item.importance, item.text, degree, cause))
    units = units_of(turns, evaluated.policy.unit)
    frame = ITEMS.frame(rows)
    measures, pairs, families = _compared([system.name for system in systems], names, values, units, seed)
    told = [
        (system.name, turn, name, values[place, row, column])
        for place, system in enumerate(systems) for row, name in enumerate(names) for column, turn in enumerate(turns)
    ]  # fmt: skip
    causes = _causes(frame, turns, units, _knowable(items, systems, bool(passages)))
    return Coverage(units.stated(evaluated), measures, pairs, causes, frame, TURNS.frame(told), families, covered)


def _degree(item: Item, answer: Words, system: System, words: Callable[[str], Words]) -> float:
    """How much of an item an answer holds: what was assigned, else the share of its words."""
    if item.gold == "nuggets" and system.support is not None:
        return system.support.get(item.turn, {}).get(item.text, 0.0)
    return held(words(item.text), answer)


def _scores(
    own: Sequence[tuple[Item, float]], answer: Words, words: Callable[[str], Words], covered: float
) -> dict[str, float]:
    """The measures of one answer; nan where the turn has no such items, or no vital nugget."""
    snippets = [(item, degree) for item, degree in own if item.gold == "snippets"]
    nuggets = [(item, degree) for item, degree in own if item.gold == "nuggets"]
    vital = [degree for item, degree in nuggets if item.importance == "vital"]
    every = [degree for _, degree in nuggets]
    recall = _mean([degree for _, degree in snippets])
    exact = precision(answer, (words(item.text) for item, _ in snippets)).value if snippets else math.nan
    both = recall + exact
    return {
        "snippet_recall": recall,
        "snippet_precision": exact,
        "snippet_f1": 2 * recall * exact / both if both > 0 else both,  # 0 where both are, nan where neither is known
        "snippets_covered": _mean([float(degree >= covered) for _, degree in snippets]),
        "nuggets_vital": _mean(vital),
        "nuggets_vital_strict": _mean([float(degree == 1) for degree in vital]),
        "nuggets_all": _mean(every),
        "nuggets_all_strict": _mean([float(degree == 1) for degree in every]),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


# ---------------------------------------------------------------- why something is missed


@dataclass(frozen=True)
class _Passages:
    """What is known of the texts of passages, None without any, and from which share of its words one holds an item."""

    words: Callable[[str], Words]
    covered: float
    texts: Mapping[str, str] | None

    def hold(self, item: Item, there: Collection[str]) -> bool | None:
        """Does one of the passages ``there`` hold an item? None where that cannot be told, as one of them has no text."""
        texts = self.texts or {}
        if any(passage in item.passages for passage in there):
            return True
        known = [self.words(texts[passage]) for passage in there if passage in texts]
        if any(held(self.words(item.text), one) >= self.covered for one in known):
            return True
        return False if self.texts is None or len(known) == len(there) else None

    def cause(self, item: Item, system: System) -> Cause:
        """Why a system missed an item."""
        if system.given is None or not (item.passages or self.texts):
            return UNKNOWN
        own = self.hold(item, system.given.get(item.turn, ()))
        if own is not False:
            return "generator" if own else UNKNOWN
        if system.is_human:
            return "retrieval"
        by_human = None if system.human is None else self.hold(item, system.human.get(item.turn, ()))
        if by_human is None:
            return "rewriter or retrieval"
        return "rewriter" if by_human else "retrieval"


def _knowable(items: Sequence[Item], systems: Sequence[System], has_texts: bool) -> dict[tuple[str, str], set[Cause]]:
    """(system, gold) → the causes that can be told, so that a count of 0 says something."""
    known: dict[tuple[str, str], set[Cause]] = {}
    for gold in MEASURES:
        told = has_texts or any(item.passages for item in items if item.gold == gold)
        for system in systems:
            known[system.name, gold] = {COVERED}
            if told and system.given is not None:
                known[system.name, gold].add("generator")
                if system.is_human or system.human is not None:
                    known[system.name, gold] |= {"rewriter", "retrieval"}
    return known


def _causes(
    items: pd.DataFrame, turns: Sequence[str], units: Units, knowable: Mapping[tuple[str, str], set[Cause]]
) -> pd.DataFrame:
    place = {turn: number for number, turn in enumerate(turns)}
    rows: list[tuple[Any, ...]] = []
    for (system, gold), part in items.groupby(["system", "gold"], sort=False):
        for importance in ("all", "vital", "okay"):
            some = part if importance == "all" else part[part["importance"] == importance]
            if not len(some):
                continue
            of_unit = units.sums(np.bincount(some["turn"].map(place), minlength=len(turns)))
            for cause in CAUSES:
                hit = (some["cause"] == cause).to_numpy()
                if not hit.any() and cause not in knowable[system, gold]:
                    continue
                hits = units.sums(np.bincount(some["turn"].map(place), weights=hit, minlength=len(turns)))
                (found,) = share_estimates(hits, of_unit, units.kind)
                rows.append((system, gold, importance, cause, int(hit.sum()), len(some), found, found.units, found.note))
    return CAUSE_TABLE.frame(rows)


# ---------------------------------------------------------------- systems compared


def _compared(
    systems: Sequence[str], names: Sequence[str], values: np.ndarray, units: Units, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Family]]:
    """Means and pairs of every measure, over the turns for which it is defined; ``values`` [systems, measures, turns]."""
    means: list[tuple[Any, ...]] = []
    pairs: list[tuple[Any, ...]] = []
    families: dict[str, Family] = {}
    compared = list(combinations(range(len(systems)), 2))
    for row, name in enumerate(names):
        defined = ~np.isnan(values[0, row])
        own, table_ = units.take(defined), values[:, row, defined]
        sums = own.sums(table_)
        estimates = mean_estimates(sums, own.sizes, own.kind, None if name == LENGTH else (0.0, 1.0))
        for place in sorted(range(len(systems)), key=lambda place: -estimates[place].value):
            one = estimates[place]
            means.append((systems[place], name, one, int(defined.sum()), one.note))
        differences = np.array([sums[a] - sums[b] for a, b in compared])
        tests = paired_tests(differences, own.sizes, seed, own.kind) if compared else ()
        families[name] = max_t_family(tests, differences, seed)
        for (a, b), test, corrected in zip(compared, tests, families[name].p.tolist(), strict=True):
            pairs.append((systems[a], systems[b], name, test, test.p, corrected, test.floor, test.exact, test.note))
    return SYSTEMS.frame(means), PAIRS.frame(pairs), families
