"""Several rewriters side by side: which is best, which cannot be told from it, what none repairs, what a choice would give."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.result import count, difference, number, p_value, score, share, table, text
from robustcs.statistics.choice import best_choice
from robustcs.statistics.columns import DETECTABLE, EFFECT, EXACT, P_FLOOR
from robustcs.statistics.effect import detectable_differences, effect_sizes
from robustcs.statistics.families import holm_family
from robustcs.statistics.letters import compact_letters, told_apart
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units
from robustcs.studies.breakdown.comparisons import COMPARED, compared

if TYPE_CHECKING:
    import pandas as pd

#: The level at which two rewriters are told apart.
ALPHA = 0.05

_CUT = (text("metric"), text("threshold", "what makes an answer correct"))
_OF = "95 %: Wilson's interval with whole units"

REWRITERS = table(
    "rewriters", "All rewriters side by side. What Human fails is the same for all of them.",
    text("rewriter", header="Rewriter"), *_CUT,
    share("qa", "errors of the QA component, of all turns"), share("qa_low", _OF), share("qa_high"),
    share("qr", "errors of the rewriter"), share("qr_low", _OF), share("qr_high"),
    share("correct", "answered"), share("correct_low", _OF), share("correct_high"),
    score("mean", "mean score"), number("mean_low", "95 %, cluster-robust t over whole units"), number("mean_high"),
    difference("to_human", "mean − mean of Human"), number("to_human_low", "95 %, inverted sign-flip test of whole units"),
    number("to_human_high"),
    difference("to_best", "mean − mean of the best rewriter"),
    text("letters", "rewriters that share a letter are not told apart by scores (p ≤ .05, Holm over the pairs)", "group"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
REWRITER_TESTS = table(
    "rewriter_tests", "Two rewriters: does one answer more turns than the other? Of more than 50 on request.",
    text("first", header="First"), text("second", header="Second"), *_CUT,
    count("only_first", "turns that it alone answers"), count("only_second"), *COMPARED,
)  # fmt: skip
REWRITER_SCORES = table(
    "rewriter_scores", "Two rewriters: the mean difference of their scores. Of more than 50 on request.",
    text("first", header="First"), text("second", header="Second"), text("metric"),
    difference("difference", "first − second"), number("ci_low", "of this comparison alone, from the test that gives p"),
    number("ci_high"), p_value(says="sign-flip test of whole units, two-sided"),
    p_value("p_corrected", "by Holm over the pairs of the measure", "p Holm"),
    P_FLOOR,
    EXACT,
    *EFFECT,
    DETECTABLE,
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
REPAIRS = table(
    "repairs", "Of the turns that Human answers, which rewriters answer them too.",
    *_CUT, text("answered_by", "all, some (two or more, not all), none, or the name of the only one"),
    count("count", "turns"), share("share", "of the turns that Human answers"), text("turns", "their ids"),
)  # fmt: skip
CHOICE = table(
    "best_of", "The best rewriter for every turn, as if one could choose.",
    text("metric"), text("best", "the rewriter with the highest mean"), score("best_mean"),
    score("chosen", "mean of the highest score of every turn"), difference("gain", "chosen − best_mean"),
    number("ci_low", "95 %, cluster-robust t over whole units"), number("ci_high"),
    score("by_chance", "gain expected if the rewriters were exchanged at random in every turn; above gain where one leads"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip

SIDE_BY_SIDE = (REWRITERS, REWRITER_TESTS, REWRITER_SCORES, REPAIRS, CHOICE)


def side_by_side(
    scores: Formulations, thresholds: Sequence[Threshold], units: Units, seed: int, every_pair: bool = True
) -> dict[str, pd.DataFrame]:
    """The tables :data:`SIDE_BY_SIDE`; with one rewriter those of pairs and of a choice have no rows.

    Without ``every_pair`` those of pairs have none either, and nobody has letters.
    """
    rewriters: list[tuple[Any, ...]] = []
    tests: list[dict[str, Any]] = []
    pairs: list[tuple[Any, ...]] = []
    repairs: list[tuple[Any, ...]] = []
    choices: list[tuple[Any, ...]] = []
    names = list(scores.rewriters)
    for metric in scores.measures:
        human = scores.human[metric].to_numpy()
        table = np.stack([frame[metric].to_numpy() for frame in scores.rewriters.values()])
        rows, letters = _score_pairs(metric, names, table, units, seed) if every_pair else ([], [""] * len(names))
        pairs += rows
        cuts = distinct_thresholds(metric, thresholds)
        for threshold in cuts:
            right, human_right = threshold.holds(table), threshold.holds(human)
            rewriters += _rows(metric, str(threshold), names, table, human, right, human_right, letters, units, seed)
            tests += _discordant(metric, str(threshold), names, right, units) if every_pair else []
            repairs += _repairs(metric, str(threshold), names, right & human_right, human_right, scores.turns)
        if len(names) > 1:
            choices.append(_choice(metric, names, table, units, seed))
    rewriters.sort(key=lambda row: names.index(row[0]))
    return {
        "rewriters": REWRITERS.frame(rewriters),
        "rewriter_tests": _tested(tests, units, seed),
        "rewriter_scores": REWRITER_SCORES.frame(pairs),
        "repairs": REPAIRS.frame(repairs),
        "best_of": CHOICE.frame(choices),
    }


def _rows(
    metric: str,
    threshold: str,
    names: Sequence[str],
    table: np.ndarray,
    human: np.ndarray,
    right: np.ndarray,
    human_right: np.ndarray,
    letters: Sequence[str],
    units: Units,
    seed: int,
) -> list[tuple[Any, ...]]:
    """The rows of a cut, one for each rewriter; ``table``: scores, float[rewriters, turns]; ``right``: which are correct."""
    kinds = [np.broadcast_to(~human_right, right.shape), human_right & ~right, human_right & right]
    shares = [share_estimates(units.sums(kind), units.sizes, units.kind) for kind in kinds]
    bounded = bool(((table >= 0) & (table <= 1)).all())
    means = mean_estimates(units.sums(table), units.sizes, units.kind, (0.0, 1.0) if bounded else None)
    to_human = paired_tests(units.sums(table - human), units.sizes, seed, units.kind)
    best = max(mean.value for mean in means)
    rows = []
    for place, name in enumerate(names):
        limits = [(one[place].value, one[place].low, one[place].high) for one in shares]
        mean, against = means[place], to_human[place]
        rows.append((
            name, metric, threshold, *limits[0], *limits[1], *limits[2], mean.value, mean.low, mean.high,
            against.value, against.low, against.high, mean.value - best, letters[place], mean.note,
        ))  # fmt: skip
    return rows


def _score_pairs(
    metric: str, names: Sequence[str], table: np.ndarray, units: Units, seed: int
) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Every pair by its scores, and the letters of the rewriters."""
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        return [], [""]
    sums = units.sums(np.array([table[first] - table[second] for first, second in pairs]))
    tests = paired_tests(sums, units.sizes, seed, units.kind)
    family = holm_family(tests)
    effects = effect_sizes(sums, units.sizes, units.kind)
    least = detectable_differences(sums, units.sizes, units.kind)
    rows = [
        (names[first], names[second], metric, test.value, test.low, test.high, test.p, corrected, test.floor, test.exact,
         effect.value, effect.low, effect.high, found.value, test.note)
        for (first, second), test, corrected, effect, found in zip(
            pairs, tests, family.p.tolist(), effects, least, strict=True
        )
    ]  # fmt: skip
    order = np.argsort(-table.mean(axis=1), kind="stable")
    rank = {int(place): position for position, place in enumerate(order)}
    apart = {
        tuple(sorted((rank[first], rank[second]))): corrected
        for (first, second), corrected in zip(pairs, family.p.tolist(), strict=True)
    }
    letters = compact_letters(len(names), told_apart(apart, ALPHA))  # type: ignore[arg-type]
    return rows, [letters[rank[place]] for place in range(len(names))]


def _discordant(metric: str, threshold: str, names: Sequence[str], right: np.ndarray, units: Units) -> list[dict[str, Any]]:
    rows = []
    for first, second in combinations(range(len(names)), 2):
        one, two = right[first] & ~right[second], right[second] & ~right[first]
        rows.append({
            "first": names[first], "second": names[second], "metric": metric, "threshold": threshold,
            "only_first": int(one.sum()), "only_second": int(two.sum()), "moved": units.sums(one) - units.sums(two),
        })  # fmt: skip
    return rows


def _tested(rows: list[dict[str, Any]], units: Units, seed: int) -> pd.DataFrame:
    import pandas as pd

    return compared(pd.DataFrame(rows), units, seed) if rows else REWRITER_TESTS.frame([])


def _repairs(
    metric: str, threshold: str, names: Sequence[str], answered: np.ndarray, human_right: np.ndarray, turns: Sequence[str]
) -> list[tuple[Any, ...]]:
    """``answered``: bool[rewriters, turns], of the turns that Human answers."""
    number = answered.sum(axis=0)
    groups = {"all": human_right & (number == len(names))}
    if len(names) > 2:
        groups["some"] = (number > 1) & (number < len(names))
    if len(names) > 1:
        groups |= {name: (number == 1) & answered[place] for place, name in enumerate(names)}
    groups["none"] = human_right & (number == 0)
    total = int(human_right.sum())
    return [
        (metric, threshold, name, int(chosen.sum()), chosen.sum() / total if total else np.nan,
         " ".join(str(turn) for turn, keep in zip(turns, chosen, strict=True) if keep))
        for name, chosen in groups.items()
    ]  # fmt: skip


def _choice(metric: str, names: Sequence[str], table: np.ndarray, units: Units, seed: int) -> tuple[Any, ...]:
    """What choosing the best rewriter in every turn would gain over the best one, and what it would gain by chance."""
    found = best_choice(table, units, seed)
    gain = found.gain
    return (
        metric, names[found.best], found.best_mean, found.chosen, gain.value, gain.low, gain.high, found.by_chance, gain.note,
    )  # fmt: skip
