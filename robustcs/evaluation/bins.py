"""The eight correctness bins of Original / QR / Human, in the order of the error-analysis paper's tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.measures import TurnScores
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.lazy import npt, pd
from robustcs.messages import Message, OptionName
from robustcs.statistics import Codes, Floats, Mask
from robustcs.statistics.units import Units

#: Original, QR, Human; 1: correct. Rows 1–8 of Tables 1 and 2 of the error-analysis paper.
BINS = ("000", "100", "010", "110", "001", "101", "011", "111")
#: QR, Human, if Original is unknown.
BINS_WITHOUT_ORIGINAL = ("-00", "-10", "-01", "-11")
#: Cause of the error: qa if Human is wrong; qr if Human is correct and QR wrong; else correct (section 3 of the paper).
CAUSE_OF_BIN = {
    bin_: "qa" if bin_[2] == "0" else "qr" if bin_[1] == "0" else "correct"
    for bin_ in (*BINS, *BINS_WITHOUT_ORIGINAL)
}
CAUSES = ("qa", "qr", "correct")


def bins_of(rows: Iterable[Any]) -> tuple[str, ...]:
    """Return the bins of the rows of a table with the columns original, qr and human."""
    return BINS if any(str(row.original) in "01" for row in rows) else BINS_WITHOUT_ORIGINAL


@dataclass(frozen=True)
class Formulations:
    """Scores of the three formulations of the same turns, for one or several rewriters.

    original, human
        Original is None if unknown.
    rewriters
        Rewriter → scores. All have the same turns and measures.
    """

    original: TurnScores | None
    rewriters: Mapping[str, TurnScores]
    human: TurnScores

    def __post_init__(self) -> None:
        if not self.rewriters:
            raise UsageError(
                "no-rewriter",
                "no scores of a rewriter are given",
                Message("add them with ", OptionName("qr")),
            )
        for scores in self.every:
            if scores.turns != self.human.turns or list(scores) != list(self.human):
                raise ValueError(
                    "the three formulations must be scored on the same turns by the same measures"
                )

    @property
    def every(self) -> tuple[TurnScores, ...]:
        """The scores of all formulations: Original if known, the rewriters, and Human."""
        return (
            *(() if self.original is None else (self.original,)),
            *self.rewriters.values(),
            self.human,
        )

    @property
    def bins(self) -> tuple[str, ...]:
        """The bins that turns can be in."""
        return BINS_WITHOUT_ORIGINAL if self.original is None else BINS

    @property
    def turns(self) -> tuple[str, ...]:
        """The turns, in natural order."""
        return self.human.turns

    @property
    def measures(self) -> Sequence[str]:
        """The names of the measures."""
        return list(self.human)

    def graded(self) -> Formulations:
        """Return the measures with values other than 0 and 1, if any: thresholds make no difference for the others."""
        graded = [
            name
            for name in self.measures
            if not all(np.isin(one[name], (0.0, 1.0)).all() for one in self.every)
        ]
        if not graded:
            return self
        rewriters = {name: scores.only(graded) for name, scores in self.rewriters.items()}
        original = None if self.original is None else self.original.only(graded)
        return Formulations(original, rewriters, self.human.only(graded))


class Cut(NamedTuple):
    """What makes the answers of a rewriter correct; a threshold of a sweep is a number."""

    rewriter: str
    metric: str
    threshold: str | float


@dataclass(frozen=True, eq=False)
class Binned:
    """T turns in their bins at C cuts, one for each rewriter, measure and threshold.

    cuts
        The cuts, by rewriter and measure.
    bins
        The B possible bins.
    places
        int64[C, T]: the bin of every turn.
    """

    cuts: Sequence[Cut]
    bins: Sequence[str]
    places: Codes

    @classmethod
    def of(
        cls, scores: Formulations, thresholds: Sequence[Threshold], distinct: bool = True
    ) -> Binned:
        """Return the bins at every one of ``thresholds``; if ``distinct``, only at those that differ for the measure."""
        cuts, places = [], []
        original = () if scores.original is None else (scores.original,)
        for rewriter, frame in scores.rewriters.items():
            for metric in scores.measures:
                for threshold in (
                    distinct_thresholds(metric, thresholds) if distinct else thresholds
                ):
                    cuts.append(Cut(rewriter, metric, str(threshold)))
                    # in the order of the bins, each formulation changes half as often as the one before
                    right = [
                        threshold.holds(one[metric]) for one in (*original, frame, scores.human)
                    ]
                    places.append(sum(2**place * own for place, own in enumerate(right)))
        return cls(cuts, scores.bins, np.array(places))

    @cached_property
    def keys(self) -> pd.DataFrame:
        """The cuts as a frame: rewriter, metric, threshold."""
        return pd.DataFrame(self.cuts, columns=list(Cut._fields))

    @property
    def right(self) -> dict[str, Mask]:
        """Formulation → bool[B]: the bins in which it is correct; Original only if known."""
        marks = {
            role: np.array([bin_[place] for bin_ in self.bins])
            for place, role in enumerate(("original", "qr", "human"))
        }
        return {role: own == "1" for role, own in marks.items() if "-" not in own}

    @property
    def blamed(self) -> Mask:
        """bool[3, B]: the bins of each of :data:`CAUSES`."""
        return np.array([[CAUSE_OF_BIN[bin_] == cause for bin_ in self.bins] for cause in CAUSES])

    def counts(self, turns: npt.ArrayLike | None = None) -> Codes:
        """Return int64[C, B]: numbers of turns in each bin, of all turns or of those selected by ``turns`` (bool[T])."""
        chosen = slice(None) if turns is None else np.asarray(turns)
        return np.array([np.bincount(own[chosen], minlength=len(self.bins)) for own in self.places])

    def by_unit(self, units: Units, turns: npt.ArrayLike | None = None) -> Floats:
        """Return float64[C, B, K]: the same for every sampling unit."""
        chosen = slice(None) if turns is None else np.asarray(turns)
        size = len(self.bins) * units.count
        found = [
            np.bincount((own * units.count + units.codes)[chosen], minlength=size)
            for own in self.places
        ]
        return np.array(found, dtype=np.float64).reshape(len(found), len(self.bins), units.count)

    def crossed(self, **columns: Sequence[object]) -> pd.DataFrame:
        """Return a row for every cut and every combination of the values in ``columns``."""
        return self.keys.merge(pd.DataFrame(columns), how="cross")

    def crossed_bins(self) -> list[tuple[object, ...]]:
        """Return a row for every cut and bin: the cut, original (None if unknown), qr and human as 0 or 1."""
        marks = [[None if mark == "-" else int(mark) for mark in bin_] for bin_ in self.bins]
        return [(*cut, *own) for cut in self.cuts for own in marks]

    def turns(self, scores: Formulations) -> pd.DataFrame:
        """Return the scores and the bin of every turn.

        Columns: rewriter, turn, metric, threshold, original (nan if unknown), qr, human, bin, cause.
        """
        bins, causes = (
            np.array(self.bins),
            np.array([CAUSE_OF_BIN[bin_] for bin_ in self.bins], dtype=object),
        )
        return pd.concat(
            [
                pd.DataFrame({
                    "rewriter": cut.rewriter, "turn": scores.turns, "metric": cut.metric, "threshold": cut.threshold,
                    "original": np.nan if scores.original is None else scores.original[cut.metric],
                    "qr": scores.rewriters[cut.rewriter][cut.metric], "human": scores.human[cut.metric],
                    "bin": bins[own], "cause": causes[own],
                })
                for cut, own in zip(self.cuts, self.places, strict=True)
            ],
            ignore_index=True,
        )  # fmt: skip
