"""People and a judge on the same pairs: how far they agree, and in which direction the judge errs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.result import count, difference, flag, number, share, table, text
from robustcs.statistics.agreement import Statistic, alpha_of, cohen_of
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.means import share_estimates
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.unit_agreement import agreement_estimate
from robustcs.statistics.units import Units

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

#: The slice of all pairs.
ALL = "all"

AGREEMENT = table(
    "agreement", "How far a judge agrees with people on the pairs that both judged; intervals for other topics of this kind.",
    text("judge", header="Judge"), count("pairs", "that both judged"), share("agree", "pairs with the same grade", "agree"),
    number("kappa", "Cohen's, on all grades", "κ"), number("kappa_weighted", "Cohen's, quadratic weights", "κ weighted"),
    number("kappa_level", "Cohen's, relevant or not at the relevance level", "κ level"),
    number("alpha", "Krippendorff's, ordinal", "α"), number("ci_low", "of kappa"), number("ci_high"),
    number("agree_low"), number("agree_high"), number("kappa_weighted_low"), number("kappa_weighted_high"),
    number("kappa_level_low"), number("kappa_level_high"), number("alpha_low"), number("alpha_high"),
    count("units", "conversations, or turns, that the intervals rest on"),
    count("human_only", "pairs that people judged and the judge did not", "only people", "pairs"),
    count("judge_only", "pairs that the judge judged and people did not", "only judge", "pairs"),
    count("unlabelled", "rows of the file without a grade", "no grade", "rows"),
    count("fallback", "answers that a parser could not read; no grades", "not read", "rows"),
    count("unknown", "labels for texts that no turn or passage has", "unknown text", "rows"),
    count("off_scale", "labels off the scale", "off scale", "rows"), text("note", "what must be known beside the numbers"),
)  # fmt: skip
CONFUSION = table(
    "confusion", "The pairs that both judged, by both grades.",
    text("judge"), count("human", "grade of the people", "people"), count("model", "grade of the judge", "judge"),
    count("count", "pairs"),
)  # fmt: skip
BIAS = table(
    "bias", "In which direction a judge errs: all pairs, by the depth of the turn, and by the runs that found the passage.",
    text("judge", header="Judge"), text("slice", "all, depth N, or found by GROUP (in the top 10)", "Pairs"),
    share("human_share", "of the pairs that people call relevant", "people", "relevant"),
    share("judge_share", "of the pairs that the judge calls relevant", "judge", "relevant"),
    number("ratio", "judge_share over human_share; null where people call nothing relevant", "ratio"),
    difference("mean_difference", "mean grade of the judge minus that of the people", "difference"),
    number("ci_low", "of mean_difference"), number("ci_high"), number("ratio_low"), number("ratio_high"),
    count("pairs"), count("units"), text("note", "what must be known beside the numbers"),
)  # fmt: skip
OFF_SCALE = table(
    "off_scale", "Grades off the scale of the people's judgments; no rows where there are none.",
    text("judge", header="Judge"), count("grade"), count("count", "labels with it", "labels"),
    flag("kept", "were they clipped to the scale? else they were dropped", "clipped"),
)  # fmt: skip


CONFLICTS = table(
    "conflicts", "Pairs whose two grades lie at least two apart, the furthest first: worth reading.",
    text("judge", header="Judge"), text("turn"), text("document"), count("human", "grade of the people", "people"),
    count("model", "grade of the judge", "judge"), count("difference", "judge minus people"),
)  # fmt: skip
BETWEEN = table(
    "judge_conflicts", "Pairs that two judges see otherwise: grades at least two apart, the furthest first.",
    text("first", "a judge"), text("second", "another"), text("turn"), text("document"),
    count("first_grade", header="first"), count("second_grade", header="second"), count("difference", "first − second"),
)  # fmt: skip
#: Grades apart from which a pair is a conflict.
_FAR = 2


@dataclass(frozen=True, eq=False)
class Common:
    """The n pairs that people and a judge judged.

    human, model
        int64[n]: the grades.
    units
        int64[n]: the unit of every pair; ``of`` says what they are.
    slices
        Name → bool[n]: parts of the pairs.
    lowest, highest
        The scale.
    level
        The grade from which a passage is relevant.
    """

    human: Numbers
    model: Numbers
    units: Numbers
    of: Units
    slices: Mapping[str, Mask]
    lowest: int
    highest: int
    level: int

    @property
    def cells(self) -> Floats:
        """float64[K, V²]: how often each unit has each couple of grades."""
        width = self.highest - self.lowest + 1
        cell = (self.human - self.lowest) * width + self.model - self.lowest
        found = np.bincount(self.units * width**2 + cell, minlength=self.of.count * width**2)
        return found.reshape(self.of.count, width**2).astype(np.float64)

    def sums(self, values: npt.NDArray[Any], mask: Mask) -> Floats:
        """float64[K]: the sums of ``values`` [n] over every unit's pairs that ``mask`` chooses."""
        return np.asarray(np.bincount(self.units, weights=values * mask, minlength=self.of.count), dtype=np.float64)


def agreement(common: Common, seed: int) -> dict[str, Estimate]:
    """The coefficients of agreement by the name of their column, each with its interval by units."""
    cells = common.cells
    width = common.highest - common.lowest + 1
    grades = np.arange(common.lowest, common.highest + 1)
    relevant = np.stack([grades < common.level, grades >= common.level], axis=1).astype(np.float64)
    square = (*cells.shape[:-1], width, width)

    def at_level(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], width, width)
        return cohen_of(2)((relevant.T @ table @ relevant).reshape(*sums.shape[:-1], 4))

    def ordinal(sums: Floats) -> Floats:
        table = sums.reshape(*sums.shape[:-1], width, width)
        # two ratings of a pair coincide in both orders
        return alpha_of(grades, "ordinal")((table + table.swapaxes(-1, -2)).reshape(sums.shape))

    statistics: dict[str, Statistic] = {
        "kappa": cohen_of(width), "kappa_weighted": cohen_of(width, "quadratic"), "kappa_level": at_level, "alpha": ordinal,
    }  # fmt: skip
    same = np.trace(cells.reshape(square), axis1=-2, axis2=-1)
    [agree] = share_estimates(same, cells.sum(axis=1), common.of.kind)
    estimates = {name: agreement_estimate(cells, of, seed, common.of.kind) for name, of in statistics.items()}
    return {"agree": agree, **estimates}


def confusion_rows(judge: str, common: Common) -> list[tuple[str, int, int, int]]:
    """Every couple of grades of the scale, those that never occur included."""
    width = common.highest - common.lowest + 1
    counts = common.cells.sum(axis=0).reshape(width, width).astype(int)
    return [
        (judge, human + common.lowest, model + common.lowest, int(counts[human, model]))
        for human in range(width)
        for model in range(width)
    ]


def conflict_rows(judge: str, common: Common, turns: Sequence[str], documents: Sequence[str]) -> list[tuple[Any, ...]]:
    """Pairs that judge and people see quite otherwise; ``turns`` and ``documents`` are the n pairs' ids."""
    apart = common.model - common.human
    far = np.flatnonzero(np.abs(apart) >= _FAR)
    order = far[np.argsort(-np.abs(apart[far]), kind="stable")]
    return [
        (judge, turns[place], documents[place], int(common.human[place]), int(common.model[place]), int(apart[place]))
        for place in order.tolist()
    ]


def between_rows(
    first: str, second: str, grades: Sequence[npt.NDArray[Any]], turns: Sequence[str], documents: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Rows of :data:`BETWEEN`: ``grades`` are those of both judges on the pairs that both judged."""
    apart = grades[0].astype(np.int64) - grades[1]
    far = np.flatnonzero(np.abs(apart) >= _FAR)
    order = far[np.argsort(-np.abs(apart[far]), kind="stable")]
    return [
        (first, second, turns[place], documents[place], int(grades[0][place]), int(grades[1][place]), int(apart[place]))
        for place in order.tolist()
    ]


def bias_rows(judge: str, common: Common, seed: int) -> list[tuple[Any, ...]]:
    """Shares called relevant, their ratio, and the mean difference of grades in every slice that has pairs.

    Intervals are inverted sign-flip tests of whole units: of the mean difference, and of the judge's relevant pairs relative to
    those of the people.
    """
    slices = {ALL: np.ones(len(common.human), dtype=bool), **common.slices}
    slices = {name: mask for name, mask in slices.items() if mask.any()}
    ones = np.ones(len(common.human))
    relevant = [(grades >= common.level).astype(np.float64) for grades in (common.human, common.model)]
    parts = [
        np.stack([common.sums(values, mask) for mask in slices.values()])
        for values in (ones, common.model - common.human, *relevant)
    ]
    pairs, apart, human, model = parts
    noun = common.of.kind
    differences = paired_tests(apart, pairs, seed, noun)
    ratios = paired_tests(model - human, human, seed, noun)
    rows = []
    for place, name in enumerate(slices):
        total, said = pairs[place].sum(), human[place].sum()
        mean, ratio = differences[place], ratios[place]
        value = model[place].sum() / said if said else math.nan
        rows.append((
            judge, name, said / total, model[place].sum() / total, value, mean.value, mean.low, mean.high, 1 + ratio.low,
            1 + ratio.high, int(total), int((pairs[place] > 0).sum()), mean.note,
        ))  # fmt: skip
    return rows
