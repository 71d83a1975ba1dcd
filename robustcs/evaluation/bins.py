"""The eight correctness bins of Original / QR / Human, in the order of the error-analysis paper.

A bin has one mark for each formulation: ``0`` wrong, ``1`` correct, ``-`` unknown.
"""

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

#: Original, QR, Human. Rows 1–8 of Tables 1 and 2 of the error-analysis paper.
BINS = ("000", "100", "010", "110", "001", "101", "011", "111")
#: QR, Human, if Original is unknown.
BINS_WITHOUT_ORIGINAL = ("-00", "-10", "-01", "-11")
_ROLES = ("original", "qr", "human")
CAUSES = ("qa", "qr", "correct")


def _cause_of(marks: str) -> str:
    """Return the cause of the error in a bin, after section 3 of the paper."""
    qr, human = marks[1], marks[2]
    if human == "0":
        return "qa"
    if qr == "0":
        return "qr"
    return "correct"


#: Bin → one of :data:`CAUSES`.
CAUSE_OF_BIN = {marks: _cause_of(marks) for marks in (*BINS, *BINS_WITHOUT_ORIGINAL)}


def bins_of(rows: Iterable[Any]) -> tuple[str, ...]:
    """Return the bins of the rows of a table with the columns original, qr and human."""
    if any(str(row.original) in ("0", "1") for row in rows):
        return BINS
    return BINS_WITHOUT_ORIGINAL


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
        rewritten = (*self.rewriters.values(), self.human)
        return rewritten if self.original is None else (self.original, *rewritten)

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
        """Return the scores by the measures with values other than 0 and 1; all if there are none.

        Thresholds make no difference for the other measures.
        """
        graded = [name for name in self.measures if not self._right_or_wrong(name)]
        if not graded:
            return self
        rewriters = {name: scores.only(graded) for name, scores in self.rewriters.items()}
        original = None if self.original is None else self.original.only(graded)
        return Formulations(original, rewriters, self.human.only(graded))

    def _right_or_wrong(self, measure: str) -> bool:
        """Return whether all scores by the measure are 0 or 1."""
        return all(np.isin(scores[measure], (0.0, 1.0)).all() for scores in self.every)


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
        """Return the bins at ``thresholds``, or only at those that differ for a measure."""
        cuts, places = [], []
        for rewriter, qr in scores.rewriters.items():
            formulations = [qr, scores.human]
            if scores.original is not None:
                formulations.insert(0, scores.original)
            for metric in scores.measures:
                chosen = distinct_thresholds(metric, thresholds) if distinct else thresholds
                for threshold in chosen:
                    cuts.append(Cut(rewriter, metric, str(threshold)))
                    correct = [threshold.holds(scored[metric]) for scored in formulations]
                    places.append(_bin_numbers(correct))
        return cls(cuts, scores.bins, np.array(places))

    @cached_property
    def keys(self) -> pd.DataFrame:
        """The cuts as a frame: rewriter, metric, threshold."""
        return pd.DataFrame(self.cuts, columns=list(Cut._fields))

    @property
    def right(self) -> dict[str, Mask]:
        """Formulation → bool[B]: the bins in which it is correct; Original only if known."""
        right = {}
        for place, role in enumerate(_ROLES):
            marks = [bin_[place] for bin_ in self.bins]
            if "-" not in marks:
                right[role] = np.array(marks) == "1"
        return right

    @property
    def blamed(self) -> Mask:
        """bool[3, B]: the bins of each of :data:`CAUSES`."""
        causes = np.array([CAUSE_OF_BIN[marks] for marks in self.bins])
        return np.asarray(causes == np.array(CAUSES)[:, None])

    def counts(self, turns: npt.ArrayLike | None = None) -> Codes:
        """Return int64[C, B]: the number of turns in each bin.

        ``turns`` (bool[T]) selects the turns that count; all by default.
        """
        selected = slice(None) if turns is None else np.asarray(turns)
        counts = [np.bincount(bins[selected], minlength=len(self.bins)) for bins in self.places]
        return np.array(counts)

    def by_unit(self, units: Units, turns: npt.ArrayLike | None = None) -> Floats:
        """Return float64[C, B, K]: :meth:`counts` in each of the K sampling units."""
        selected = slice(None) if turns is None else np.asarray(turns)
        size = len(self.bins) * units.count
        counts = []
        for bins in self.places:
            # one number for each pair of bin and unit, so that a single pass counts all of them
            cells = bins * units.count + units.codes
            counts.append(np.bincount(cells[selected], minlength=size))
        shape = (len(counts), len(self.bins), units.count)
        return np.array(counts, dtype=np.float64).reshape(shape)

    def crossed(self, **columns: Sequence[object]) -> pd.DataFrame:
        """Return a row for every cut and every combination of the values in ``columns``."""
        return self.keys.merge(pd.DataFrame(columns), how="cross")

    def crossed_bins(self) -> list[tuple[object, ...]]:
        """Return a row for every cut and bin: the cut, original (None if unknown), qr and human.

        The last three are 0 or 1.
        """
        values_of = {"-": None, "0": 0, "1": 1}
        rows: list[tuple[object, ...]] = []
        for cut in self.cuts:
            for marks in self.bins:
                rows.append((*cut, *(values_of[mark] for mark in marks)))
        return rows

    def turns(self, scores: Formulations) -> pd.DataFrame:
        """Return the scores and the bin of every turn, cut after cut.

        Columns: rewriter, turn, metric, threshold, original (nan if unknown), qr, human, bin and
        cause.
        """
        names = np.array(self.bins)
        causes = np.array([CAUSE_OF_BIN[marks] for marks in self.bins], dtype=object)
        frames = []
        for cut, bins in zip(self.cuts, self.places, strict=True):
            original = np.nan if scores.original is None else scores.original[cut.metric]
            columns = {
                "rewriter": cut.rewriter,
                "turn": scores.turns,
                "metric": cut.metric,
                "threshold": cut.threshold,
                "original": original,
                "qr": scores.rewriters[cut.rewriter][cut.metric],
                "human": scores.human[cut.metric],
                "bin": names[bins],
                "cause": causes[bins],
            }
            frames.append(pd.DataFrame(columns))
        return pd.concat(frames, ignore_index=True)


def _bin_numbers(correct: Sequence[Mask]) -> Codes:
    """Return int64[T]: the index of every turn's bin; ``correct``: bool[T] for each formulation.

    The index is a binary number whose lowest digit is the first formulation: so are BINS ordered.
    """
    numbers = np.zeros(len(correct[0]), dtype=np.int64)
    for digit, marks in enumerate(correct):
        numbers += 2**digit * marks
    return numbers
