"""Several rewriters side by side: which is best, which cannot be told from it, what none repairs, what a choice would give."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.terms import TERMS
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.lazy import pd
from robustcs.result import count, difference, number, p_value, score, share, table, text
from robustcs.statistics.choice import best_choice
from robustcs.statistics.columns import DETECTABLE, EFFECT, EXACT, P_FLOOR
from robustcs.statistics.effect import detectable_differences, effect_sizes
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.families import max_t_family
from robustcs.statistics.letters import compact_letters, told_apart
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import Units
from robustcs.studies.breakdown.comparisons import COMPARED, compared

#: The level at which two rewriters are told apart.
ALPHA = 0.05

_CUT = (text("metric"), text("threshold", "what makes an answer correct"))
_OF = "95 %: Wilson's interval with whole units"

REWRITERS = table(
    "rewriters", "All rewriters side by side. What Human fails is the same for all of them.",
    text("rewriter", header="Rewriter"), *_CUT,
    share("qa", "errors of the QA component, of all turns"), share("qa_low", _OF), share("qa_high"),
    share("qr", "errors of the rewriter"), share("qr_low", _OF), share("qr_high"),
    share("correct", "QR and Human correct"), share("correct_low", _OF), share("correct_high"),
    share("answered", TERMS["answered"]), share("answered_low", _OF), share("answered_high"),
    score("mean", "mean score"), number("mean_low", "95 %, cluster-robust t over whole units"), number("mean_high"),
    difference("to_human", "mean − mean of Human"), number("to_human_low", "95 %, inverted sign-flip test of whole units"),
    number("to_human_high"),
    difference("to_best", "mean − mean of the best rewriter"),
    text("letters", "rewriters that share a letter do not differ by their mean scores (max-T over the pairs)", "group"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip
OVERVIEW = table(
    "overview", "Human, every rewriter and Original side by side.",
    text("system", "human, the name of a rewriter, or original"), *_CUT,
    share("answered", TERMS["answered"]), share("answered_low", _OF), share("answered_high"),
    share("error", "errors of the rewriter; null for Human and Original"), share("error_low", _OF), share("error_high"),
    score("mean", "mean score"), number("mean_low", "95 %, cluster-robust t over whole units"), number("mean_high"),
    difference("to_human", "mean − mean of Human"), number("to_human_low", "95 %, inverted sign-flip test of whole units"),
    number("to_human_high"),
    text("letters", "as in rewriters; empty for Human and Original"),
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
    p_value("p_corrected", "adjusted by step-down max-T over the pairs of the measure", "p adj."),
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
    count("human_fails", "turns that Human does not answer and these rewriters do; none: that no system answers"),
    text("human_fails_turns", "their ids"),
)  # fmt: skip
CHOICE = table(
    "best_of", "The best rewriter for every turn, as if one could choose.",
    text("metric"), text("best", "the rewriter with the highest mean"), score("best_mean"),
    score("chosen", "mean of the highest score of every turn"), difference("gain", "chosen − best_mean"),
    number("ci_low", "95 %, cluster-robust t over whole units"), number("ci_high"),
    score("by_chance", "gain expected if the rewriters were exchanged at random in every turn; above gain where one leads"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip

SIDE_BY_SIDE = (REWRITERS, OVERVIEW, REWRITER_TESTS, REWRITER_SCORES, REPAIRS, CHOICE)


def side_by_side(
    scores: Formulations, thresholds: Sequence[Threshold], units: Units, seed: int, every_pair: bool = True
) -> dict[str, pd.DataFrame]:
    """The tables :data:`SIDE_BY_SIDE`; with one rewriter those of pairs and of a choice have no rows.

    Without ``every_pair`` those of pairs have none either, and nobody has letters.
    """
    rewriters: list[tuple[Any, ...]] = []
    systems: list[tuple[Any, ...]] = []
    tests: list[dict[str, Any]] = []
    pairs: list[tuple[Any, ...]] = []
    repairs: list[tuple[Any, ...]] = []
    choices: list[tuple[Any, ...]] = []
    names = list(scores.rewriters)
    frames = {"human": scores.human, **scores.rewriters} | ({} if scores.original is None else {"original": scores.original})
    for metric in scores.measures:
        every = np.stack([frame[metric].to_numpy() for frame in frames.values()])
        table = every[1 : len(names) + 1]
        rows, letters = _score_pairs(metric, names, table, units, seed) if every_pair else ([], [""] * len(names))
        pairs += rows
        means = _means(every, units, seed)
        for threshold in distinct_thresholds(metric, thresholds):
            cut, right = (metric, str(threshold)), threshold.holds(every)
            beside, above = _rows(cut, list(frames), len(names), right, means, letters, units)
            rewriters, systems = rewriters + beside, systems + above
            tests += _discordant(*cut, names, right[1 : len(names) + 1], units) if every_pair else []
            repairs += _repairs(*cut, names, right[1 : len(names) + 1], right[0], scores.turns)
        if len(names) > 1:
            choices.append(_choice(metric, names, table, units, seed))
    rewriters.sort(key=lambda row: names.index(row[0]))
    return {
        "rewriters": REWRITERS.frame(rewriters),
        "overview": OVERVIEW.frame(systems),
        "rewriter_tests": _tested(tests, units, seed),
        "rewriter_scores": REWRITER_SCORES.frame(pairs),
        "repairs": REPAIRS.frame(repairs),
        "best_of": CHOICE.frame(choices),
    }


def _means(every: np.ndarray, units: Units, seed: int) -> list[tuple[Estimate, Estimate]]:
    """Of every system its mean score, and its difference to the first, Human; ``every``: float[systems, turns]."""
    bounded = bool(((every >= 0) & (every <= 1)).all())
    means = mean_estimates(units.sums(every), units.sizes, units.kind, (0.0, 1.0) if bounded else None)
    return list(zip(means, paired_tests(units.sums(every - every[0]), units.sizes, seed, units.kind), strict=True))


def _rows(
    cut: tuple[str, str],
    systems: Sequence[str],
    rewriters: int,
    right: np.ndarray,
    means: Sequence[tuple[Estimate, Estimate]],
    letters: Sequence[str],
    units: Units,
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The rows of a cut in :data:`REWRITERS` and in :data:`OVERVIEW`.

    ``right``: who is correct, bool[systems, turns], Human first, then so many ``rewriters``.
    """
    kinds = (np.broadcast_to(~right[0], right.shape), right[0] & ~right, right[0] & right, right)
    shares = [share_estimates(units.sums(kind), units.sizes, units.kind) for kind in kinds]
    best = max(mean.value for mean, _ in means[1 : rewriters + 1])
    beside, above = [], []
    for place, name in enumerate(systems):
        qa, error, correct, answered, mean, to_human = (
            (one.value, one.low, one.high) for one in (*(share[place] for share in shares), *means[place])
        )
        is_rewriter = 0 < place <= rewriters
        letter, note = letters[place - 1] if is_rewriter else "", means[place][0].note
        if is_rewriter:
            to_best = mean[0] - best
            beside.append((name, *cut, *qa, *error, *correct, *answered, *mean, *to_human, to_best, letter, note))
        error = error if is_rewriter else (np.nan,) * 3
        above.append((name, *cut, *answered, *error, *mean, *to_human, letter, note))
    return beside, above


def _score_pairs(
    metric: str, names: Sequence[str], table: np.ndarray, units: Units, seed: int
) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Every pair by its scores, and the letters of the rewriters."""
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        return [], [""]
    sums = units.sums(np.array([table[first] - table[second] for first, second in pairs]))
    tests = paired_tests(sums, units.sizes, seed, units.kind)
    family = max_t_family(tests, sums, seed)
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
    return compared(pd.DataFrame(rows), units, seed) if rows else REWRITER_TESTS.frame([])


def _repairs(
    metric: str, threshold: str, names: Sequence[str], right: np.ndarray, human_right: np.ndarray, turns: Sequence[str]
) -> list[tuple[Any, ...]]:
    """``right``: which rewriters are correct, bool[rewriters, turns], also where Human is not."""
    number = right.sum(axis=0)
    groups = {"all": number == len(names)}
    if len(names) > 2:
        groups["some"] = (number > 1) & (number < len(names))
    if len(names) > 1:
        groups |= {name: (number == 1) & right[place] for place, name in enumerate(names)}
    groups["none"] = number == 0
    total = int(human_right.sum())

    def ids(chosen: np.ndarray) -> str:
        return " ".join(str(turn) for turn, keep in zip(turns, chosen, strict=True) if keep)

    rows = []
    for name, group in groups.items():
        chosen, fails = group & human_right, group & ~human_right
        share_ = chosen.sum() / total if total else np.nan
        rows.append((metric, threshold, name, int(chosen.sum()), share_, ids(chosen), int(fails.sum()), ids(fails)))
    return rows


def _choice(metric: str, names: Sequence[str], table: np.ndarray, units: Units, seed: int) -> tuple[Any, ...]:
    """What choosing the best rewriter in every turn would gain over the best one, and what it would gain by chance."""
    found = best_choice(table, units, seed)
    gain = found.gain
    return (
        metric, names[found.best], found.best_mean, found.chosen, gain.value, gain.low, gain.high, found.by_chance, gain.note,
    )  # fmt: skip
