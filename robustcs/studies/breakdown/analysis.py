"""Bins of correct and wrong answers of Original, QR and Human, and the attribution of failures.

Source: Vakulenko et al. (2020), "A wrong answer or a wrong question?", sections 3 and 4, Tables 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.evaluation.bins import CAUSES, Binned, Cut, Formulations
from robustcs.evaluation.thresholds import DEFAULT_THRESHOLDS, TERMS, Threshold
from robustcs.lazy import pd
from robustcs.result import (
    Evaluated,
    Field,
    Result,
    TableSpec,
    computes,
    count,
    difference,
    flag,
    measure,
    number,
    p_value,
    points,
    score,
    share,
    table,
    text,
)
from robustcs.similarity.differences import ERROR_TYPES
from robustcs.slicing.estimates import against_rest, keys
from robustcs.slicing.search import FOUND
from robustcs.slicing.table import Slicing, TextsByFormulation
from robustcs.statistics.columns import DETECTABLE, EFFECT, EXACT, P_FLOOR, columns_of
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.units import Units, units_of
from robustcs.studies.breakdown import rewriters as more
from robustcs.studies.breakdown.rewriters import compared
from robustcs.wording import counted, many_missing, some_of

_CUT = (measure(), text("threshold", "what makes an answer correct: >0, >=0.5, =1"))
_WILSON = "95% CI: Wilson interval, clustered by sampling unit; null for fewer than five units"
_NOTE = text("note", "caveats")
_OF = "95% CI: Wilson interval, clustered by sampling unit"
_UNITS = (count("units", "sampling units of the interval: conversations (or single turns)"), _NOTE)
_SWAPPED = "if QR and Human were swapped at random in every turn"
#: In place of a threshold: Human's score counts wherever it is higher than QR's.
ANY = "any"

#: Columns of a comparison of two shares of the same turns.
COMPARED = (
    p_value("p", "McNemar's test, two-sided: sign flips of whole sampling units, mid-p"),
    p_value("p_corrected", "adjusted by step-down max-T over the family: all thresholds, pairs and rewriters of the measure; in"
            " blame of all measures", "p adj."),
    count("comparisons", "number of different comparisons in the family"),
    *points("difference", "share of the first − share of the second, of all turns", "pp").between(
        says="95% CI of the difference, from the same test as p; null if there is none (note says why)"
    ),
    P_FLOOR, EXACT, *EFFECT, DETECTABLE, _NOTE,
)  # fmt: skip


def _share(name: str, says: str, header: str = "") -> tuple[Field, ...]:
    return share(name, says, header).between(f"{name}_low", f"{name}_high", _OF)


_ANSWERED = _share("answered", TERMS["answered"])
_MEAN = (
    *score("mean", "mean score")
    .rounded(3)
    .between("mean_low", "mean_high", "95% CI: cluster-robust t interval"),
    *difference("to_human", "mean − mean of Human", "− Human")
    .rounded(3)
    .between("to_human_low", "to_human_high", "95% CI: inverted sign-flip test on sampling units"),
)


def _table(name: str, says: str, *fields: Field) -> TableSpec:
    return table(name, says, text("rewriter", header="Rewriter"), *_CUT, *fields)


@dataclass(frozen=True)
class Binning:
    """What the tables are computed from.

    scores
        Scores of Original, the rewriters and Human over the same turns; ``units`` are the sampling units of the turns.
    thresholds, texts, slicings, seed
        As in :func:`breakdown`.
    binned
        The bin of every turn.
    unchanged
        See :func:`unchanged_turns`.
    """

    scores: Formulations
    thresholds: Sequence[Threshold]
    texts: TextsByFormulation
    slicings: Sequence[Slicing]
    units: Units
    seed: int
    binned: Binned
    unchanged: Sequence[bool | None] | None


@dataclass(frozen=True)
class Breakdown(Result):
    """The bin and the cause of every turn, for every rewriter, measure and threshold.

    binning
        What the tables are computed from.
    tried
        Measure → number of rules tried in the search for slices; empty without a search.
    misfit
        How a claim begins if judgments do not fit the collection; empty if they fit.
    unordered
        Whether nothing can be claimed, because systems that are compared differ by these misfits.
    """

    study = "breakdown"
    bins = _table(
        "bins", "Turns per bin.",
        count("original", "1 if its answer is correct, else 0"), count("qr"), count("human"),
        count("count", "turns in the bin"),
        count("unchanged", "turns in the bin whose Human text equals the Original text; null without texts"),
        count("unknown", "turns in the bin without an Original or Human text; null without texts"),
        number("by_chance", f"turns expected in the bin {_SWAPPED}"),
    )  # fmt: skip
    attribution = _table(
        "attribution", "QA errors, rewriter errors, and turns on which QR and Human are correct.",
        text("cause", "qa, qr or correct"), count("count", "turns", "turns"),
        *share("share", "share of all turns").between(says=_WILSON), *_UNITS,
        number("by_chance", f"turns expected {_SWAPPED}"),
    )  # fmt: skip
    blame = _table(
        "blame", "Does the QA component fail more often than the rewriter? No turn is an error of both.",
        count("qa", "QA errors", "QA", "errors"),
        count("qr", "rewriter errors", "rewriter", "errors"),
        *COMPARED,
    )  # fmt: skip
    answerable = _table(
        "answerable", "Turns that Human answers, and how many of them Original answers too.",
        text("turns", "all, or rewritten: turns known to need rewriting"),
        count("answered", "turns on which Human and Original are correct"),
        count("answerable", "turns on which Human is correct"),
        *share("share", "answered ÷ answerable").between(says=_WILSON), *_UNITS,
    )  # fmt: skip
    tests = _table(
        "tests", "Pairs of formulations: does one answer more turns than the other?",
        text("first", "a formulation"), text("second", "another formulation"),
        count("only_first", "turns answered only by the first"), count("only_second", "turns answered only by the second"),
        *COMPARED,
    )  # fmt: skip
    headroom = _table(
        "headroom", "Mean scores, and the gain of a perfect rewriter: of Human's score on every rewriter error or, with the"
        f" threshold {ANY}, on every turn on which it is higher.",
        score("original", header="Original"), score("qr", header="QR").rounded(3),
        score("human", header="Human").rounded(3),
        score("repaired", "mean of QR with Human's score on these turns"),
        *score("gain", "repaired − qr").rounded(3).between(says="95% CI of the gain: cluster-robust t interval"),
        score("by_chance", f"gain expected {_SWAPPED}", "chance").rounded(3),
        difference("difference", "human − qr", "Human − QR").rounded(3), _NOTE,
    )  # fmt: skip
    turns = table(
        "turns", "Scores and bin of every turn.",
        text("rewriter"), text("turn"), *_CUT, score("original"), score("qr"), score("human"),
        text("bin", "Original, QR, Human as 0 or 1: 001; - for an unknown Original"), text("cause", "qa, qr or correct"),
        flag("unchanged", "whether the Human text equals the Original text; null if unknown"),
        text("original_text"), text("qr_text"), text("human_text"),
    )  # fmt: skip
    rewriters = table(
        "rewriters", "All rewriters. QA errors are the same for all of them.",
        text("rewriter", header="Rewriter"), *_CUT, *_share("qa", "QA errors, as a share of all turns"),
        *_share("qr", "rewriter errors, as a share of all turns", "rewriter error"), *_share("correct", "QR and Human correct"),
        *_ANSWERED, *_MEAN, difference("to_best", "mean − highest mean of a rewriter"),
        text("letters", "rewriters that share a letter do not differ significantly in their means (max-T over the pairs)",
             "group"), _NOTE,
    )  # fmt: skip
    overview = table(
        "overview", "Human, every rewriter and Original.",
        text("system", "human, the name of a rewriter, or original", "System"), *_CUT, *_ANSWERED,
        *_share("error", "rewriter errors, as a share of all turns; null for Human and Original", "rewriter error"), *_MEAN,
        text("letters", "as in rewriters; empty for Human and Original", "group"), _NOTE,
    )  # fmt: skip
    rewriter_tests = table(
        "rewriter_tests", "Pairs of rewriters: does one answer more turns than the other?",
        text("first", header="First"), text("second", header="Second"), *_CUT,
        count("only_first", "turns answered only by the first"), count("only_second", "turns answered only by the second"),
        *COMPARED,
    )  # fmt: skip
    rewriter_scores = table(
        "rewriter_scores", "Pairs of rewriters: the mean difference of their scores.",
        text("first", header="First"), text("second", header="Second"), measure(),
        *difference("difference", "first − second").rounded(3).between(says="95% CI, not adjusted, from the same test as p"),
        p_value(says="sign-flip test on sampling units, two-sided"),
        p_value("p_corrected", "adjusted by step-down max-T over the pairs of the measure", "p adj."),
        P_FLOOR, EXACT, *EFFECT, DETECTABLE, _NOTE,
    )  # fmt: skip
    repairs = table(
        "repairs", "Turns that Human answers, by the rewriters that answer them too.",
        *_CUT, text("answered_by", "all, some (two or more, not all), none, or the name of the only one"),
        count("count", "turns"), share("share", "of the turns that Human answers"), text("turns", "their ids"),
    )  # fmt: skip
    best_of = table(
        "best_of", "Gain if the best rewriter could be chosen for every turn.",
        measure(), text("best", "the rewriter with the highest mean"), score("best_mean", header="its mean").rounded(3),
        score("chosen", "mean of the highest score of every turn").rounded(3),
        *difference("gain", "chosen − best_mean").rounded(3).between(says="95% CI: cluster-robust t interval"),
        difference("by_chance", "gain expected if the rewriters were exchanged at random in every turn; above gain if one"
                   " leads", "by chance").rounded(3), _NOTE,
    )  # fmt: skip
    error_types = table(
        "error_types", "Differences between rewrites and Human texts, and their cost. A turn may have several types. No rows"
        " unless both have texts.",
        text("rewriter", header="Rewriter"), *_CUT,
        text("type", f"{', '.join(ERROR_TYPES)}; unknown: a text is missing", "Difference"),
        count("turns", "turns of this type"), share("share", "share of all turns"),
        *difference("loss", "mean Human − mean QR over these turns").rounded(3).between(
            "loss_low", "loss_high", "95% CI: inverted sign-flip test on sampling units; null if there is none (note says why)"
        ),
        count("errors", "rewriter errors on these turns", "errors"),
        *share("error_share", "errors ÷ turns of this type", "share").between("error_low", "error_high", _WILSON),
        share("of_errors", "errors ÷ all rewriter errors", "of all"),
        count("units", "conversations (or single turns) with such a turn"),
        text("note", "caveats"),
    )  # fmt: skip
    slices = table(
        "slices", "QA errors, rewriter errors and correct turns by slice; no rows without --slices.",
        text("rewriter", header="Rewriter"), *_CUT, *keys(), text("cause", "qa, qr or correct"),
        count("count", "turns of the slice with this cause"),
        share("share", "count ÷ turns of the slice"), share("ci_low", _WILSON), share("ci_high"), *against_rest("share"),
    )  # fmt: skip
    found_slices = table(
        "found_slices", "Slices on which the rewriter loses more to Human than on other turns; no rows without --find-slices."
        " Values are mean QR − mean Human.",
        text("rewriter"), text("metric"), *FOUND,
    )  # fmt: skip

    binning: Binning
    tried: Mapping[str, int] = field(default_factory=dict)
    misfit: str = ""
    unordered: bool = False

    def _tested(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of tests; without p and letters if missing scores may change every order."""
        if not many_missing(self.evaluated.unscored_by):
            return frame
        blank = {"p": math.nan, "p_corrected": math.nan, "letters": ""}
        return frame.assign(**{name: value for name, value in blank.items() if name in frame})

    @cached_property
    def _side_by_side(self) -> dict[str, pd.DataFrame]:
        """The tables that compare several rewriters."""
        own = self.binning
        few = self.evaluated.few
        return more.side_by_side(own.scores, own.thresholds, own.units, own.seed, few)

    @computes(attribution)
    def _attribution(self) -> pd.DataFrame:
        return attribution(self.binning.binned, self.binning.units)

    @computes(blame)
    def _blame(self) -> pd.DataFrame:
        return self._tested(_blame(self.binning.binned, self.binning.units, self.binning.seed))

    @computes(answerable)
    def _answerable(self) -> pd.DataFrame:
        return answerable(self.binning.binned, self.binning.unchanged, self.binning.units)

    @computes(tests)
    def _tests(self) -> pd.DataFrame:
        return self._tested(_tests(self.binning.binned, self.binning.units, self.binning.seed))

    @computes(headroom)
    def _headroom(self) -> pd.DataFrame:
        return _headroom(self.binning.scores, self.binning.binned, self.binning.units)

    @computes(turns)
    def _turns(self) -> pd.DataFrame:
        own = self.binning
        return _turns(own.scores, own.binned, own.unchanged, own.texts)

    @computes(rewriters)
    def _rewriters(self) -> pd.DataFrame:
        return self._tested(self._side_by_side["rewriters"])

    @computes(overview)
    def _overview(self) -> pd.DataFrame:
        return self._tested(self._side_by_side["overview"])

    @computes(rewriter_tests)
    def _rewriter_tests(self) -> pd.DataFrame:
        return self._tested(self._side_by_side["rewriter_tests"])

    @computes(rewriter_scores)
    def _rewriter_scores(self) -> pd.DataFrame:
        return self._tested(self._side_by_side["rewriter_scores"])

    @computes(repairs)
    def _repairs(self) -> pd.DataFrame:
        return self._side_by_side["repairs"]

    @computes(best_of)
    def _best_of(self) -> pd.DataFrame:
        return self._side_by_side["best_of"]

    @computes(error_types)
    def _error_types(self) -> pd.DataFrame:
        own = self.binning
        return more.error_costs(own.scores, own.binned, own.texts, own.units, own.seed)

    @computes(slices)
    def _slices(self) -> list[tuple[Any, ...]]:
        own = self.binning
        return more.slice_shares(own.binned, own.slicings, own.units, own.seed)


def breakdown(
    scores: Formulations,
    evaluated: Evaluated,
    thresholds: Sequence[Threshold] = DEFAULT_THRESHOLDS,
    texts: TextsByFormulation | None = None,
    seed: int = 0,
    slicings: Sequence[Slicing] = (),
    searched: Sequence[Slicing] = (),
) -> Breakdown:
    """Assign every turn to its bin and cause, for every rewriter, measure and threshold.

    scores
        Scores of Original, the rewriters and Human over the same turns.
    evaluated
        What was evaluated; its policy names the sampling unit.
    thresholds
        What makes an answer correct. Thresholds that are equivalent on a measure (all scores 0 or 1) are used once.
    texts
        Role (``original``, ``human`` or a rewriter's name) → turn → text. They show which turns needed no rewriting. A turn
        without an Original or Human text counts neither as unchanged nor as rewritten, and a note says so.
    seed
        Random seed of sign patterns, which are drawn if there are too many to try all.
    slicings
        How the turns are split.
    searched
        Slicings in which to search for slices on which a rewriter loses more than on other turns.
    Raises :class:`UsageError` if there are too few units to search for slices.
    """
    texts = texts or {}
    units = units_of(list(scores.turns), evaluated.grouping)
    unchanged = unchanged_turns(scores.turns, texts)
    if unchanged is not None and None in unchanged:
        unknown = [turn for turn, same in zip(scores.turns, unchanged, strict=True) if same is None]
        note = f"{counted(len(unknown), 'turn')} without an Original or Human text excluded from shares of rewritten turns"
        evaluated = replace(evaluated, notes=(*evaluated.notes, f"{note}: {some_of(unknown)}"))
    binned = Binned.of(scores, thresholds)
    found, tried = more.found_losses(scores, searched, units, seed) if searched else ([], {})
    binning = Binning(scores, thresholds, texts, slicings, units, seed, binned, unchanged)
    content = Breakdown.built(bins=_bins(binned, unchanged), found_slices=found)
    return Breakdown(units.stated(evaluated), binning, tried, content=content)


def _blame(binned: Binned, units: Units, seed: int) -> pd.DataFrame:
    qa, qr, _ = np.moveaxis(binned.blamed @ binned.by_unit(units), 1, 0)
    blame = binned.keys.assign(qa=qa.sum(axis=1).astype(int), qr=qr.sum(axis=1).astype(int))
    # one family, because the verdict considers all measures and thresholds
    return compared(blame, qa - qr, units, seed, family=None)


def unchanged_turns(turns: Sequence[str], texts: TextsByFormulation) -> list[bool | None] | None:
    """Return per turn whether Human and Original have the same text, apart from white space around it.

    The value is None for a turn without one of the two; the result is None if either formulation has no texts.
    """
    original, human = texts.get("original"), texts.get("human")
    if not original or not human:
        return None
    pairs = [(original.get(turn), human.get(turn)) for turn in turns]
    return [
        None if first is None or second is None else first.strip() == second.strip()
        for first, second in pairs
    ]


def _by_chance(binned: Binned) -> np.ndarray:
    """Return float64[C, B]: turns expected in each bin if QR and Human were swapped at random in every turn."""
    counts = binned.counts()
    return (
        counts
        + counts[
            :, [list(binned.bins).index(f"{bin_[0]}{bin_[2]}{bin_[1]}") for bin_ in binned.bins]
        ]
    ) / 2


def _bins(binned: Binned, unchanged: Sequence[bool | None] | None) -> list[tuple[Any, ...]]:
    rows, numbers = binned.crossed_bins(), binned.counts().ravel().tolist()
    some: list[Any] = [[None] * len(rows)] * 2
    if unchanged is not None:
        some = [
            binned.counts([one is mark for one in unchanged]).ravel().tolist()
            for mark in (True, None)
        ]
    found = zip(rows, numbers, *some, _by_chance(binned).ravel().tolist(), strict=True)
    return [(*row, *own) for row, *own in found]


def attribution(binned: Binned, units: Units) -> pd.DataFrame:
    """Return the turns per cause, with their shares of all turns."""
    turns = (binned.blamed @ binned.by_unit(units)).reshape(-1, units.count)
    return binned.crossed(cause=CAUSES).assign(
        count=turns.sum(axis=1).astype(int),
        by_chance=(_by_chance(binned) @ binned.blamed.T).ravel(),
        **columns_of(
            share_estimates(turns, units.sizes, units.kind), "share", units="units", note="note"
        ),
    )


def answerable(
    binned: Binned, unchanged: Sequence[bool | None] | None, units: Units
) -> pd.DataFrame:
    """Return the share of the turns answered by Human that Original answers too (equation 1, Tables 3 and 4 of the paper).

    It is computed over all turns and, if there are texts, over the turns known to be rewritten. Units without a turn that
    Human answers do not enter the interval.
    """
    right = binned.right
    if "original" not in right:
        return pd.DataFrame()
    slices = {"all": None} | (
        {} if unchanged is None else {"rewritten": [one is False for one in unchanged]}
    )
    turns = np.stack([binned.by_unit(units, own) for own in slices.values()], axis=1)
    total, answered = (
        turns[:, :, bins].sum(axis=2).reshape(-1, units.count)
        for bins in (right["human"], right["human"] & right["original"])
    )
    return binned.crossed(turns=list(slices)).assign(
        answered=answered.sum(axis=1).astype(int), answerable=total.sum(axis=1).astype(int),
        **columns_of(share_estimates(answered, total, units.kind), "share", units="units", note="note"),
    )  # fmt: skip


def _tests(binned: Binned, units: Units, seed: int) -> pd.DataFrame:
    """Compare every pair of formulations by the turns that only one of them answers."""
    right, by_unit = binned.right, binned.by_unit(units)
    pairs = list(combinations(right, 2))
    only_first, only_second = (
        np.stack(
            [by_unit[:, right[one] & ~right[other]].sum(axis=1) for one, other in ways], axis=1
        ).reshape(-1, units.count)
        for ways in (pairs, [pair[::-1] for pair in pairs])
    )
    frame = binned.crossed(
        first=[first for first, _ in pairs], second=[second for _, second in pairs]
    )
    frame = frame.assign(
        only_first=only_first.sum(axis=1).astype(int),
        only_second=only_second.sum(axis=1).astype(int),
    )
    return compared(frame, only_first - only_second, units, seed)


def _headroom(scores: Formulations, binned: Binned, units: Units) -> pd.DataFrame:
    """Return the gain of QR's mean if every rewriter error had Human's score, and with Human's score wherever it is higher."""
    right, original = binned.right, scores.original
    errors, opposite = right["human"] & ~right["qr"], right["qr"] & ~right["human"]
    every = [
        (cut, errors[own], opposite[own])
        for cut, own in zip(binned.cuts, binned.places, strict=True)
    ]
    for name, own in scores.rewriters.items():
        ahead = {metric: np.sign(scores.human[metric] - own[metric]) for metric in scores.measures}
        every += [(Cut(name, metric, ANY), sign > 0, sign < 0) for metric, sign in ahead.items()]
    order = list(dict.fromkeys(cut[:2] for cut in binned.cuts))
    every.sort(key=lambda one: order.index(one[0][:2]))
    rows = []
    for (rewriter, metric, threshold), repaired, reverse in every:
        qr, human = scores.rewriters[rewriter][metric], scores.human[metric]
        moved = human - qr
        # a threshold such as =0 makes low scores correct, and gains negative
        bounded = all(((one >= 0) & (one <= 1)).all() for one in (moved * repaired, qr, human))
        (gain,) = mean_estimates(
            units.sums(moved * repaired), units.sizes, units.kind, (0.0, 1.0) if bounded else None
        )
        rows.append({
            "rewriter": rewriter, "metric": metric, "threshold": threshold,
            "original": math.nan if original is None else original[metric].mean(), "qr": qr.mean(), "human": human.mean(),
            "repaired": qr.mean() + gain.value, "gain": gain.value, "ci_low": gain.low, "ci_high": gain.high,
            # swapped in half of the turns, half of the losses are gains
            "by_chance": (moved * repaired - moved * reverse).mean() / 2, "difference": moved.mean(), "note": gain.note,
        })  # fmt: skip
    return pd.DataFrame(rows)


def _turns(
    scores: Formulations,
    binned: Binned,
    unchanged: Sequence[bool | None] | None,
    texts: TextsByFormulation,
) -> pd.DataFrame:
    frame = binned.turns(scores)
    same = [None] * len(scores.turns) if unchanged is None else unchanged
    frame["unchanged"] = pd.array([*same] * len(binned.cuts), dtype="boolean")
    for role in ("original", "qr", "human"):
        known = [texts.get(cut.rewriter if role == "qr" else role, {}) for cut in binned.cuts]
        frame[f"{role}_text"] = [own.get(turn) for own in known for turn in scores.turns]
    return frame
