"""The eight correctness bins of Original / QR / Human, in the order of the error-analysis paper's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.evaluation.thresholds import Threshold, distinct_thresholds
from robustcs.lazy import pd
from robustcs.statistics.units import Units

#: Original, QR, Human; 1: correct. Rows 1–8 of Tables 1 and 2 of the error-analysis paper.
BINS = ("000", "100", "010", "110", "001", "101", "011", "111")
#: QR, Human, if Original is unknown.
BINS_WITHOUT_ORIGINAL = ("-00", "-10", "-01", "-11")
#: Cause of the error: qa if Human is wrong; qr if Human is correct and QR wrong; else correct (section 3 of the paper).
CAUSE_OF_BIN = {
    bin_: "qa" if bin_[2] == "0" else "qr" if bin_[1] == "0" else "correct" for bin_ in (*BINS, *BINS_WITHOUT_ORIGINAL)
}
CAUSES = ("qa", "qr", "correct")


def bin_index(
    original: npt.NDArray[np.bool_] | None, qr: npt.NDArray[np.bool_], human: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Return the index into :data:`BINS` of every turn, from three boolean arrays of correctness.

    Without Original, the index is into :data:`BINS_WITHOUT_ORIGINAL`.
    """
    if original is None:
        return qr.astype(np.int64) + 2 * human.astype(np.int64)
    return original.astype(np.int64) + 2 * qr.astype(np.int64) + 4 * human.astype(np.int64)


def bins_of(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the bins of a table with the columns original, qr and human."""
    return BINS if table["original"].notna().any() else BINS_WITHOUT_ORIGINAL


@dataclass(frozen=True)
class Formulations:
    """Scores of the three formulations of the same turns, for one or several rewriters.

    original, human
        Float frames, turns × measures. Original is None if unknown.
    rewriters
        Rewriter → such a frame. All frames have the same index and columns.
    """

    original: pd.DataFrame | None
    rewriters: Mapping[str, pd.DataFrame]
    human: pd.DataFrame

    def __post_init__(self) -> None:
        if not self.rewriters:
            raise UsageError("no-rewriter", "no scores of a rewriter are given", "add them with --qr")
        for frame in self._frames:
            if not frame.index.equals(self.human.index) or list(frame.columns) != list(self.human.columns):
                raise ValueError("the three formulations must be scored on the same turns by the same measures")

    @property
    def _frames(self) -> tuple[pd.DataFrame, ...]:
        return (*(() if self.original is None else (self.original,)), *self.rewriters.values(), self.human)

    @property
    def bins(self) -> tuple[str, ...]:
        """The bins that turns can be in."""
        return BINS_WITHOUT_ORIGINAL if self.original is None else BINS

    @property
    def turns(self) -> pd.Index:
        """The turns, in natural order."""
        return self.human.index

    @property
    def measures(self) -> Sequence[str]:
        """The names of the measures."""
        return list(self.human.columns)

    def graded(self) -> Formulations:
        """Return the measures with values other than 0 and 1, if any: thresholds make no difference for the others."""
        graded = [name for name in self.measures if not all(frame[name].isin([0.0, 1.0]).all() for frame in self._frames)]
        if not graded:
            return self
        rewriters = {name: frame[graded] for name, frame in self.rewriters.items()}
        original = None if self.original is None else self.original[graded]
        return Formulations(original, rewriters, self.human[graded])


@dataclass(frozen=True, eq=False)
class Binned:
    """T turns in their bins at C cuts, one for each rewriter, measure and threshold.

    keys
        The cuts: rewriter, metric, threshold.
    bins
        The B possible bins.
    places
        int64[C, T]: the bin of every turn.
    """

    keys: pd.DataFrame
    bins: Sequence[str]
    places: npt.NDArray[np.int64]

    @classmethod
    def of(cls, scores: Formulations, thresholds: Sequence[Threshold], distinct: bool = True) -> Binned:
        """Return the bins at every one of ``thresholds``; if ``distinct``, only at those that differ for the measure."""
        keys, places = [], []
        for rewriter, frame in scores.rewriters.items():
            for metric in scores.measures:
                for threshold in distinct_thresholds(metric, thresholds) if distinct else thresholds:
                    qr, human = (threshold.holds(one[metric]) for one in (frame, scores.human))
                    original = None if scores.original is None else threshold.holds(scores.original[metric])
                    keys.append((rewriter, metric, str(threshold)))
                    places.append(bin_index(original, qr, human))
        return cls(pd.DataFrame(keys, columns=["rewriter", "metric", "threshold"]), scores.bins, np.array(places))

    @property
    def right(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Formulation → bool[B]: the bins in which it is correct; Original only if known."""
        marks = {role: np.array([bin_[place] for bin_ in self.bins]) for place, role in enumerate(("original", "qr", "human"))}
        return {role: own == "1" for role, own in marks.items() if "-" not in own}

    @property
    def blamed(self) -> npt.NDArray[np.bool_]:
        """bool[3, B]: the bins of each of :data:`CAUSES`."""
        return np.array([[CAUSE_OF_BIN[bin_] == cause for bin_ in self.bins] for cause in CAUSES])

    def counts(self, turns: npt.ArrayLike | None = None) -> npt.NDArray[np.int64]:
        """Return int64[C, B]: numbers of turns in each bin, of all turns or of those selected by ``turns`` (bool[T])."""
        chosen = slice(None) if turns is None else np.asarray(turns)
        return np.array([np.bincount(own[chosen], minlength=len(self.bins)) for own in self.places])

    def by_unit(self, units: Units, turns: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
        """Return float64[C, B, K]: the same for every sampling unit."""
        chosen = slice(None) if turns is None else np.asarray(turns)
        size = len(self.bins) * units.count
        found = [np.bincount((own * units.count + units.codes)[chosen], minlength=size) for own in self.places]
        return np.array(found, dtype=np.float64).reshape(len(found), len(self.bins), units.count)

    def crossed(self, **columns: Sequence[object]) -> pd.DataFrame:
        """Return a row for every cut and every combination of the values in ``columns``."""
        return self.keys.merge(pd.DataFrame(columns), how="cross")

    def crossed_bins(self) -> pd.DataFrame:
        """Return a row for every cut and bin with original (null if unknown), qr and human as 0 or 1."""
        marks = [[None if mark == "-" else int(mark) for mark in bin_] for bin_ in self.bins]
        frame = pd.DataFrame(marks, columns=["original", "qr", "human"]).astype({"original": "Int64"})
        return self.keys.merge(frame, how="cross")

    def turns(self, scores: Formulations) -> pd.DataFrame:
        """Return the scores and the bin of every turn.

        Columns: rewriter, turn, metric, threshold, original (nan if unknown), qr, human, bin, cause.
        """
        bins, causes = np.array(self.bins), np.array([CAUSE_OF_BIN[bin_] for bin_ in self.bins], dtype=object)
        return pd.concat(
            [
                pd.DataFrame({
                    "rewriter": cut.rewriter, "turn": scores.turns, "metric": cut.metric, "threshold": cut.threshold,
                    "original": np.nan if scores.original is None else scores.original[cut.metric].to_numpy(),
                    "qr": scores.rewriters[cut.rewriter][cut.metric].to_numpy(), "human": scores.human[cut.metric].to_numpy(),
                    "bin": bins[own], "cause": causes[own],
                })
                for cut, own in zip(self.keys.itertuples(), self.places, strict=True)
            ],
            ignore_index=True,
        )  # fmt: skip
