"""Answers from question to outcome; coverage of gold information by answers, and the causes of missed items.

Gold items are snippets that annotators selected in passages (Łajewska and Balog 2023) or nuggets (TREC RAG: Pradeep et al.
2024). If an answer misses an item, either its passages contain the item, and the generator is the cause, or they do not, and
the rewriter or retrieval is the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np

from robustcs.evaluation.measure import GOLD_MEASURES, Gold
from robustcs.evaluation.outcomes import OUTCOMES, Traced
from robustcs.lazy import pd
from robustcs.result import (
    Evaluated,
    computes,
    count,
    difference,
    number,
    p_value,
    score,
    share,
    table,
    text,
)
from robustcs.similarity.texts import Words, content_words, held, precision
from robustcs.statistics.columns import EXACT, P_FLOOR, comparisons
from robustcs.statistics.families import Family
from robustcs.statistics.means import share_estimates
from robustcs.statistics.units import Units
from robustcs.studies.answers.outcomes import Journey, Outcomes, mean_of, tables_of

Cause = Literal["covered", "generator", "rewriter", "retrieval", "rewriter or retrieval", "unknown"]
COVERED: Cause = "covered"
UNKNOWN: Cause = "unknown"
CAUSES: tuple[Cause, ...] = (
    COVERED,
    "generator",
    "rewriter",
    "retrieval",
    "rewriter or retrieval",
    UNKNOWN,
)
LENGTH, SUPPORTED = "length", "supported"
_BY_UNIT = "95% CI, clustered by sampling unit; null if it cannot be computed (see note)"


@dataclass(frozen=True)
class Item:
    """One piece of gold information. ``passages`` are known to contain it."""

    gold: Gold
    turn: str
    text: str
    importance: str = ""
    passages: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SystemAnswers:
    """The answers of one system and their passages.

    answers
        Turn → answer.
    support
        Turn → nugget → assigned support from 0 to 1. If None, support is computed by word matching.
    given
        Turn → passages from which the answer was generated; None if unknown.
    human
        Turn → passages of the human question; None if unknown.
    is_human
        Whether the system answers the human question. Then the rewriter cannot be a cause.
    """

    name: str
    answers: Mapping[str, str]
    support: Mapping[str, Mapping[str, float]] | None = None
    given: Mapping[str, Sequence[str]] | None = None
    human: Mapping[str, Sequence[str]] | None = None
    is_human: bool = False


@dataclass(frozen=True)
class Coverage:
    """Coverage of snippets, nuggets or both by the answers of systems: tables, and the family of the pairs of each measure."""

    item_causes: list[tuple[Any, ...]]
    items: pd.DataFrame
    names: tuple[str, ...]
    values: np.ndarray


@dataclass(frozen=True)
class ScoredAnswers:
    """What the slow tables are computed from.

    systems, turns
        Names of the systems and of the turns; ``units`` are the sampling units of the turns.
    names
        Measures, and then the present outcomes.
    values
        float64[systems, names, turns]: scores, nan if undefined; for outcomes 1 if the turn has it, else 0.
    measures
        The number of measures.
    seed
        Random seed of sign patterns.
    """

    systems: Sequence[str]
    turns: Sequence[str]
    names: Sequence[str]
    values: np.ndarray
    measures: int
    units: Units
    seed: int

    @cached_property
    def compared(self) -> tuple[list[tuple[Any, ...]], list[pd.DataFrame], dict[str, Family]]:
        """The means, the pairs and their families of each measure and of each outcome."""
        return _compared(self.systems, self.names, self.values, self.units, self.seed)


@dataclass(frozen=True)
class Answers(Outcomes):
    """The answers of systems: their outcomes, and their coverage of snippets and nuggets.

    scored
        What the slow tables are computed from.
    covered
        The smallest share of an item's words (or support) that makes it covered, and of a sentence's words to be supported.
    criterion
        What makes an answer correct, such as ``RL_F ≥ 0.5``; empty without a criterion.
    responses_by
        System → what determined its responses.
    """

    measures = table(
        "measures", "Mean of every system, best first. length counts words; all other measures lie between 0 and 1.",
        text("system", header="System"), text("metric"), *number("value", header="mean").between(says=_BY_UNIT),
        count("turns", "turns for which the measure is defined"),
        text("note", "caveats about the interval, if any"),
    )  # fmt: skip
    pairs = table(
        "pairs", "Mean difference of two systems over the same turns.",
        text("first", header="First"), text("second", header="Second"), text("metric"),
        *difference("difference", "first minus second", "diff.").rounded(3).between(says="95% CI of this comparison alone"),
        p_value(says="two-sided sign-flip test over sampling units"),
        p_value("p_corrected", "adjusted by max-T over all pairs of the measure", "p adj."),
        P_FLOOR, EXACT, text("note"),
    )  # fmt: skip
    item_causes = table(
        "item_causes", "Gold items of every system by cause: covered, or why they are missed.",
        text("system", header="System"), text("gold"), text("importance", "vital, okay or all"),
        text("cause", "covered, or the cause of the miss: generator (the answer's passages contain the item), rewriter (only"
             " those of the human question do), retrieval (neither do), rewriter or retrieval, or unknown"),
        count("count"), count("items", "items of this importance"),
        *share("share", "count / items").between(says="95% CI: Wilson, clustered by sampling unit"), count("units"),
        text("note"),
    )  # fmt: skip
    items = table(
        "items", "Every gold item of every system.",
        text("system", header="System"), text("turn", header="Turn"), text("gold"), count("item", "number in the turn, from 1"),
        text("importance"), text("text", "snippet or nugget"),
        score("coverage", "share of the item in the answer"), text("cause", "covered, or the cause of the miss", "lost by"),
    )  # fmt: skip
    turn_scores = table(
        "turn_scores",
        "Every score of every turn.",
        text("system"),
        text("turn"),
        text("metric"),
        number("value"),
    )

    scored: ScoredAnswers
    covered: float
    criterion: str = ""
    responses_by: Mapping[str, str] = field(default_factory=dict)

    @property
    def families(self) -> Mapping[str, Family]:
        """Measure or outcome → family of its pairs."""
        return self.scored.compared[2]

    @computes(measures)
    def _measures(self) -> list[tuple[Any, ...]]:
        names = self.scored.names[: self.scored.measures]
        return [row for row in self.scored.compared[0] if row[1] in names]

    @computes(pairs)
    def _pairs(self) -> list[pd.DataFrame]:
        return self.scored.compared[1]

    @computes(turn_scores)
    def _turn_scores(self) -> list[tuple[Any, ...]]:
        own = self.scored
        rows: list[tuple[Any, ...]] = []
        for system, by_name in zip(own.systems, own.values.tolist(), strict=True):
            for name, scores in zip(own.names[: own.measures], by_name, strict=False):
                rows += [
                    (system, turn, name, value)
                    for turn, value in zip(own.turns, scores, strict=True)
                ]
        return rows


def answers(
    journey: Journey,
    evaluated: Evaluated,
    coverage: Coverage | None = None,
    covered: float = 0.5,
    criterion: str = "",
    seed: int = 0,
) -> Answers:
    """Return all tables on the answers of systems over the turns of ``journey``; ``coverage``: over the same turns."""
    systems, units = [one.name for one in journey.systems], journey.units
    own = [{**one.scores, **_supported(one)} for one in journey.systems]
    names = list(dict.fromkeys(metric for some in own for metric in some))
    nothing = np.full(len(journey.turns), np.nan)
    values = np.array([[some.get(name, nothing) for name in names] for some in own]).reshape(
        len(own), len(names), len(nothing)
    )
    if coverage is not None:
        names, values = [*coverage.names, *names], np.concatenate([coverage.values, values], axis=1)
    present = [one for one in OUTCOMES if any(one in system.outcomes for system in journey.systems)]
    hits = np.array(
        [
            [[own == one for own in system.outcomes] for one in present]
            for system in journey.systems
        ],
        dtype=float,
    )
    every = np.concatenate([values, hits], axis=1)
    scored = ScoredAnswers(
        systems, journey.turns, [*names, *present], every, len(names), units, seed
    )
    content = Answers.built(
        **tables_of(journey),
        item_causes=coverage.item_causes if coverage else (),
        items=coverage.items if coverage else (),
    )
    by = {one.name: one.by for one in journey.systems}
    return Answers(units.stated(evaluated), scored, covered, criterion, by, content=content)


def _supported(one: Traced) -> dict[str, np.ndarray]:
    """Return the share of supported sentences of every turn, if any is known; nan for turns without such sentences."""
    if not np.nan_to_num(one.sentences).any():
        return {}
    with np.errstate(invalid="ignore"):
        return {SUPPORTED: 1 - one.unsupported / np.where(one.sentences > 0, one.sentences, np.nan)}


def measures_of(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the measures of the kinds of gold with items, and :data:`LENGTH`; none without items."""
    golds = {item.gold for item in items}
    return (
        *(measure for gold in GOLD_MEASURES if gold in golds for measure in GOLD_MEASURES[gold]),
        *([LENGTH] if items else ()),
    )


def coverage(
    items: Sequence[Item],
    systems: Sequence[SystemAnswers],
    turns: Sequence[str],
    units: Units,
    covered: float = 0.5,
    passages: Mapping[str, str] | None = None,
) -> Coverage:
    """Compare the answers of ``systems`` with the gold ``items``; measures are nan for turns without items.

    A missing answer counts as empty. A passage contains an item if the gold says so. If ``passages`` (id → text) are given, it
    also contains the item if it has the share ``covered`` of the item's words. Remove items without content words before the
    call, since word matching cannot cover them.
    """
    words = cache(content_words)
    known = _PassageTexts(words, covered, passages)
    by_turn: dict[str, list[Item]] = {turn: [] for turn in turns}
    for item in items:
        by_turn[item.turn].append(item)
    names = measures_of(items)
    rows: list[tuple[Any, ...]] = []
    values = np.full((len(systems), len(names), len(turns)), np.nan)
    for place, system in enumerate(systems):
        for column, turn in enumerate(turns):
            answer = system.answers.get(turn, "")
            own = [(item, _degree(item, words(answer), system, words)) for item in by_turn[turn]]
            scores = _scores(own, words(answer), words) | {
                LENGTH: float(len(answer.split())) if own else np.nan
            }
            values[place, :, column] = [scores[name] for name in names]
            for number_, (item, degree) in enumerate(own, 1):
                cause = COVERED if degree >= covered else known.cause(item, system)
                rows.append(
                    (
                        system.name,
                        turn,
                        item.gold,
                        number_,
                        item.importance,
                        item.text,
                        degree,
                        cause,
                    )
                )
    frame = Answers.items.frame(rows)
    causes = _causes(frame, turns, units, _knowable(items, systems, bool(passages)))
    return Coverage(causes, frame, names, values)


def _degree(
    item: Item, answer: Words, system: SystemAnswers, words: Callable[[str], Words]
) -> float:
    """Return the share of an item that an answer contains: the assigned support, else the share of its words."""
    if item.gold == "nuggets" and system.support is not None:
        return system.support.get(item.turn, {}).get(item.text, 0.0)
    return held(words(item.text), answer)


def _scores(
    own: Sequence[tuple[Item, float]], answer: Words, words: Callable[[str], Words]
) -> dict[str, float]:
    """Return the measures of one answer, nan for measures without items in the turn."""
    snippets = [(item, degree) for item, degree in own if item.gold == "snippets"]
    nuggets = [(item, degree) for item, degree in own if item.gold == "nuggets"]
    vital = [degree for item, degree in nuggets if item.importance == "vital"]
    every = [degree for _, degree in nuggets]
    recall = _mean([degree for _, degree in snippets])
    exact = (
        precision(answer, (words(item.text) for item, _ in snippets)).value
        if snippets
        else math.nan
    )
    both = recall + exact
    return {
        "snippet_recall": recall,
        "snippet_precision": exact,
        "snippet_f1": 2 * recall * exact / both
        if both > 0
        else both,  # 0 if both are 0, nan if undefined
        "nuggets_vital": _mean(vital),
        "nuggets_vital_strict": _mean([float(degree == 1) for degree in vital]),
        "nuggets_all": _mean(every),
        "nuggets_all_strict": _mean([float(degree == 1) for degree in every]),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


# ---------------------------------------------------------------- causes of missed items


@dataclass(frozen=True)
class _PassageTexts:
    """Passage texts (None if unknown), and the share of an item's words that a passage must have to contain it."""

    words: Callable[[str], Words]
    covered: float
    texts: Mapping[str, str] | None

    def hold(self, item: Item, there: Collection[str]) -> bool | None:
        """Return whether one of the passages ``there`` contains an item, or None if texts are missing to decide it."""
        texts = self.texts or {}
        if any(passage in item.passages for passage in there):
            return True
        known = [self.words(texts[passage]) for passage in there if passage in texts]
        if any(held(self.words(item.text), one) >= self.covered for one in known):
            return True
        return False if self.texts is None or len(known) == len(there) else None

    def cause(self, item: Item, system: SystemAnswers) -> Cause:
        """Return the cause of a missed item."""
        if system.given is None or not (item.passages or self.texts):
            return UNKNOWN
        own = self.hold(item, system.given.get(item.turn, ()))
        if own is not False:
            return "generator" if own else UNKNOWN
        if system.is_human:
            return "retrieval"
        by_human = (
            None if system.human is None else self.hold(item, system.human.get(item.turn, ()))
        )
        if by_human is None:
            return "rewriter or retrieval"
        return "rewriter" if by_human else "retrieval"


def _knowable(
    items: Sequence[Item], systems: Sequence[SystemAnswers], has_texts: bool
) -> dict[tuple[str, str], set[Cause]]:
    """Return (system, gold) → causes that the inputs can show. Only for these, a count of 0 is informative."""
    known: dict[tuple[str, str], set[Cause]] = {}
    for gold in GOLD_MEASURES:
        locatable = has_texts or any(item.passages for item in items if item.gold == gold)
        for system in systems:
            known[system.name, gold] = {COVERED}
            if locatable and system.given is not None:
                known[system.name, gold].add("generator")
                if system.is_human or system.human is not None:
                    known[system.name, gold] |= {"rewriter", "retrieval"}
    return known


def _causes(
    items: pd.DataFrame,
    turns: Sequence[str],
    units: Units,
    knowable: Mapping[tuple[str, str], set[Cause]],
) -> list[tuple[Any, ...]]:
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
                hits = units.sums(
                    np.bincount(some["turn"].map(place), weights=hit, minlength=len(turns))
                )
                (found,) = share_estimates(hits, of_unit, units.kind)
                rows.append(
                    (
                        system,
                        gold,
                        importance,
                        cause,
                        int(hit.sum()),
                        len(some),
                        found,
                        found.units,
                        found.note,
                    )
                )
    return rows


# ---------------------------------------------------------------- comparison of systems


def _compared(
    systems: Sequence[str], names: Sequence[str], values: np.ndarray, units: Units, seed: int
) -> tuple[list[tuple[Any, ...]], list[pd.DataFrame], dict[str, Family]]:
    """Return the means of every measure over the turns for which it is defined, and pairs over the turns that all have.

    ``values``: float64[systems, measures, turns].
    """
    means: list[tuple[Any, ...]] = []
    pairs: list[pd.DataFrame] = []
    families: dict[str, Family] = {}
    compared = list(combinations(range(len(systems)), 2))
    for row, name in enumerate(names):
        known = ~np.isnan(values[:, row])
        estimates = {
            place: mean_of(values[place, row], units)
            for place in range(len(systems))
            if known[place].any()
        }
        for place, one in sorted(estimates.items(), key=lambda pair: -pair[1].value):
            means.append((systems[place], name, one, int(known[place].sum()), one.note))
        defined = known.all(axis=0)
        if not (compared and defined.any()):
            continue
        own = units.take(defined)
        sums = own.sums(values[:, row, defined])
        found = comparisons(
            np.array([sums[a] - sums[b] for a, b in compared]),
            own.sizes,
            own.kind,
            seed,
            power=False,
        )
        (families[name],) = found.families
        first, second = zip(*((systems[a], systems[b]) for a, b in compared), strict=True)
        pairs.append(found.frame.assign(first=first, second=second, metric=name))
    return means, pairs, families
