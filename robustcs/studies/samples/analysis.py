"""Differences between samples of a rewriter, in words, rankings and scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.errors import UsageError
from robustcs.result import (
    Evaluated,
    Result,
    count,
    difference,
    measure,
    number,
    score,
    share,
    table,
    text,
)
from robustcs.similarity.rouge_bleu import rouge
from robustcs.statistics.choice import best_choice, expected_best
from robustcs.statistics.estimate import Estimate, joined
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.samples import NORMAL, draws_needed, sampled_mean, sampling_error
from robustcs.statistics.units import Units, units_of
from robustcs.statistics.variance import variance_components

#: Component of :data:`robustcs.statistics.variance.COMPONENTS` → its name for samples.
COMPONENTS = {"turn": "turn", "set": "sample", "turn_set": "interaction", "wording": "drawing"}

_MEAN = "95% CI for other sampling units with these samples: cluster-robust t"
_NOTE = text("note", "caveats about the numbers, if any")
_REWRITER = text("rewriter", header="Rewriter")
_CUT = (_REWRITER, measure())


@dataclass(frozen=True)
class Sampled:
    """The samples of one rewriter.

    texts
        Turn → texts, one for each sample.
    scores
        Measure → float64[turns, samples] in the order of ``turns``; empty without scores.
    turns
        The scored turns.
    rankings
        Turn → mean rank-biased overlap of pairs of rankings; empty without runs.
    runs
        Number of runs.
    """

    rewriter: str
    texts: Mapping[str, Sequence[str]]
    scores: Mapping[str, np.ndarray]
    turns: Sequence[str]
    rankings: Mapping[str, float]
    runs: int


@dataclass(frozen=True)
class Samples(Result):
    """Differences between the samples of each rewriter."""

    study = "samples"

    samples = table(
        "samples", "Similarity of a rewriter's samples, in words and in rankings.",
        _REWRITER, count("texts", "largest number of texts of a turn; 0 for fewer than two", group="texts differ"),
        count("turns", "turns with two texts or more", group="texts differ"),
        count("differing", "of these, turns whose texts are not all the same", group="texts differ"),
        *share("differ", "differing / turns", "share", "texts differ")
        .between("differ_low", "differ_high", "95% CI: Wilson, clustered by sampling unit"),
        *number("wording", "stemmed ROUGE-1 F: mean over pairs of texts of a turn, then over turns", "ROUGE-1 F")
        .rounded(3).between("wording_low", "wording_high", _MEAN),
        count("runs", "samples with runs; 0 for fewer than two", group="rankings"),
        count("answered", "turns that all runs answer"),
        *number("ranking", "rank-biased overlap (p = 0.9): mean over pairs of runs, then over turns", "RBO", "rankings")
        .rounded(3).between("ranking_low", "ranking_high", _MEAN), _NOTE,
    )  # fmt: skip
    sample_scores = table(
        "sample_scores", "Scores of a rewriter's samples, and the gain of choosing among them.",
        *_CUT, count("samples"), count("turns"), score("first", "mean of the first sample, which all other commands use"),
        *score("mean", "over all samples", "mean of all samples").rounded(3)
        .between("mean_low", "mean_high",
                 "95% CI for other sampling units and samples: two-way random effects, Satterthwaite's t"),
        score("lowest", "lowest mean of a sample"), score("highest", "highest mean of a sample"),
        score("worst", "mean over turns of the lowest score of all samples", "worst of all").rounded(3),
        score("best", "mean over turns of the highest score of all samples", "best of all").rounded(3),
        *difference("gain", "best − highest: gain of a perfect choice in every turn over the best single sample").rounded(3)
        .between("gain_low", "gain_high", _MEAN),
        score("by_chance", "expected gain if samples were swapped at random in every turn", "chance"),
        *number("half", "half the 95% CI of the mean of one sample, for other samples on the same turns (Student's t)",
                "± of one sample").rounded(3)
        .between("half_low", "half_high",
                 "95% CI of 1.96 standard deviations of the mean of one sample"),
        number("within", "largest deviation allowed for the average of several samples"),
        count("needed", "samples needed to keep the deviation of their average at most within", "samples"),
        count("needed_low", "95% CI of needed"), count("needed_high"), _NOTE,
    )  # fmt: skip
    sample_variance = table(
        "sample_variance", "Variance of scores between turns and between samples.",
        *_CUT,
        text("component", "turn; sample: whole samples differ; interaction: a sample helps one turn and hurts another; drawing:"
             " sample and interaction together"),
        number("variance", "squared score units; negative estimates are set to 0"),
        *share("share", "share of the total variance").between(
            says="95% CI for other sampling units with these samples: nested bootstrap-t"), _NOTE,
    )  # fmt: skip
    best_of_n = table(
        "best_of_n", "Expected best and worst score of n samples drawn at random from all samples of a turn.",
        *_CUT, count("n"),
        *score("best", "mean over turns of the highest score of n samples").between("best_low", "best_high", _MEAN),
        *score("worst", "mean over turns of the lowest score of n samples").between("worst_low", "worst_high", _MEAN), _NOTE,
    )  # fmt: skip
    sample_turns = table(
        "sample_turns", "Texts, rankings and scores of the samples by turn.",
        _REWRITER, text("turn", header="Turn"), text("metric", "null without scores"),
        count("texts", "distinct texts; null without texts"), number("wording", "mean ROUGE-1 F of pairs of texts"),
        number("ranking", "mean rank-biased overlap of pairs of runs"), score("first", "score of the first sample"),
        score("mean"), score("low"), score("high"), score("range", "high − low"),
        text("wordings", "distinct texts, separated by |"),
    )  # fmt: skip


def compare_samples(
    sampled: Sequence[Sampled], evaluated: Evaluated, within: float = 0.01, seed: int = 0
) -> Samples:
    """Measure how much the samples of every rewriter differ. The sampling unit is that of ``evaluated.policy``.

    ``within`` is the largest deviation allowed for the average of several samples. Raises :class:`UsageError` unless it is
    above 0.
    """
    if not within > 0:
        raise UsageError(
            "bad-setting", f"margin is {within:g}", "write a number above 0, such as 0.01"
        )
    unit = evaluated.grouping
    rows: dict[str, Any] = {spec.name: [] for spec in Samples.declared}
    for one in sampled:
        wording = wording_of(one.texts)
        rows["samples"].append(
            _consistency(
                one, wording, units_of(list(wording), unit), units_of(list(one.rankings), unit)
            )
        )
        units = units_of(list(one.turns), unit)
        for metric, values in one.scores.items():
            cut = one.rewriter, metric
            bounds = (0.0, 1.0) if bool(((values >= 0) & (values <= 1)).all()) else None
            rows["sample_scores"].append((*cut, *_scores(values, units, bounds, within, seed)))
            rows["best_of_n"] += [(*cut, *row) for row in _best_of_n(values, units, bounds)]
            rows["sample_variance"] += [
                (*cut, COMPONENTS[part.name], part.variance, part.share, part.share.note)
                for part in (variance_components(values, units, seed) if len(values) > 1 else ())
            ]
        rows["sample_turns"] += _turns(one, wording)
    scored = [turn for one in sampled for turn in one.turns]
    every = list(
        dict.fromkeys(scored or (turn for one in sampled for turn in (*one.texts, *one.rankings)))
    )
    return Samples(
        units_of(every, unit).stated(replace(evaluated, turns=len(every))),
        content=Samples.built(**rows),
    )


def wording_of(texts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return turn → mean ROUGE-1 F over pairs of its texts, for turns with at least two texts."""
    pairs = {turn: list(combinations(some, 2)) for turn, some in texts.items() if len(some) > 1}
    different = list(
        dict.fromkeys(
            tuple(sorted(pair)) for some in pairs.values() for pair in some if pair[0] != pair[1]
        )
    )
    known = {}
    if different:
        found = rouge([first for first, _ in different], [second for _, second in different])[
            "rouge1_f"
        ]
        known = dict(zip(different, found.tolist(), strict=True))

    def alike(first: str, second: str) -> float:
        return 1.0 if first == second else float(known[min(first, second), max(first, second)])

    return {turn: sum(alike(*pair) for pair in some) / len(some) for turn, some in pairs.items()}


def _consistency(
    one: Sampled, wording: Mapping[str, float], texted: Units, ranked: Units
) -> tuple[Any, ...]:
    """Return the row of a rewriter.

    ``texted`` are the units of turns with texts, ``ranked`` those of turns that all runs answer.
    """
    differ = words = ranking = Estimate(math.nan, math.nan, math.nan, 0, "")
    vary = np.array([len(set(one.texts[turn])) > 1 for turn in wording])
    if wording:
        (differ,) = share_estimates(texted.sums(vary), texted.sizes, texted.kind)
        (words,) = mean_estimates(
            texted.sums(list(wording.values())), texted.sizes, texted.kind, (0.0, 1.0)
        )
    if one.rankings:
        (ranking,) = mean_estimates(
            ranked.sums(list(one.rankings.values())), ranked.sizes, ranked.kind, (0.0, 1.0)
        )
    return (
        one.rewriter, max((len(one.texts[turn]) for turn in wording), default=0), len(wording), int(vary.sum()), differ, words,
        one.runs, len(one.rankings), ranking, _notes(wording=words, ranking=ranking),
    )  # fmt: skip


def _notes(**estimates: Estimate) -> str:
    """Return the notes of the estimates, each with the name of its estimate."""
    return joined(*(f"{name}: {one.note}" if one.note else "" for name, one in estimates.items()))


def _scores(
    values: np.ndarray, units: Units, bounds: tuple[float, float] | None, within: float, seed: int
) -> tuple[Any, ...]:
    mean = sampled_mean(values, units, bounds)
    of_samples = values.mean(axis=0)
    choice = best_choice(values.T, units, seed)
    half, spread = sampling_error(values, units)
    needed = [draws_needed(limit, within) for limit in (spread.value, spread.low, spread.high)]
    return (
        values.shape[1], len(values), float(of_samples[0]), mean, float(of_samples.min()), float(of_samples.max()),
        float(values.min(axis=1).mean()), choice.chosen, choice.gain, choice.by_chance,
        replace(spread, value=half, low=NORMAL * spread.low, high=NORMAL * spread.high), within, *needed,
        _notes(mean=mean, headroom=choice.gain, draw=spread),
    )  # fmt: skip


def _best_of_n(
    values: np.ndarray, units: Units, bounds: tuple[float, float] | None
) -> list[tuple[Any, ...]]:
    best = mean_estimates(units.sums(expected_best(values).T), units.sizes, units.kind, bounds)
    worst = mean_estimates(units.sums(-expected_best(-values).T), units.sizes, units.kind, bounds)
    return [
        (n, high, low, _notes(best=high, worst=low))
        for n, (high, low) in enumerate(zip(best, worst, strict=True), 1)
    ]


def _turns(one: Sampled, wording: Mapping[str, float]) -> list[tuple[Any, ...]]:
    """Return a row for every scored turn and measure, or without scores for every turn with texts or rankings."""
    rows: list[tuple[Any, ...]] = []

    def head(turn: str, metric: str | None) -> tuple[Any, ...]:
        different = len(dict.fromkeys(one.texts[turn])) if turn in one.texts else None
        return (
            one.rewriter,
            turn,
            metric,
            different,
            wording.get(turn, math.nan),
            one.rankings.get(turn, math.nan),
        )

    def words(turn: str) -> str:
        return " | ".join(dict.fromkeys(one.texts.get(turn, ())))

    for metric, values in one.scores.items():
        for turn, row in zip(one.turns, values, strict=True):
            low, high = float(row.min()), float(row.max())
            rows.append(
                (
                    *head(turn, metric),
                    float(row[0]),
                    float(row.mean()),
                    low,
                    high,
                    high - low,
                    words(turn),
                )
            )
    if not one.scores:
        rows += [
            (*head(turn, None), *[math.nan] * 5, words(turn))
            for turn in (*wording, *(one.rankings.keys() - wording))
        ]
    return rows
