"""The eight correctness bins of Original / QR / Human, in the order of the error-analysis paper's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError
from robustcs.lazy import pd

#: Original, QR, Human; 1 is answered correctly. Rows 1–8 of Tables 1 and 2.
BINS = ("000", "100", "010", "110", "001", "101", "011", "111")
#: QR, Human, where nothing is known of Original.
BINS_WITHOUT_ORIGINAL = ("-00", "-10", "-01", "-11")
#: Who is to blame: Human ✗ → the QA component, Human ✓ and QR ✗ → the rewriter, else nobody (section 3 of the paper).
CAUSE_OF_BIN = {
    bin_: "qa" if bin_[2] == "0" else "qr" if bin_[1] == "0" else "correct" for bin_ in (*BINS, *BINS_WITHOUT_ORIGINAL)
}
CAUSES = ("qa", "qr", "correct")


def bin_index(
    original: npt.NDArray[np.bool_] | None, qr: npt.NDArray[np.bool_], human: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Index into :data:`BINS` of every turn, from three boolean arrays of correctness.

    Without Original, into :data:`BINS_WITHOUT_ORIGINAL`.
    """
    if original is None:
        return qr.astype(np.int64) + 2 * human.astype(np.int64)
    return original.astype(np.int64) + 2 * qr.astype(np.int64) + 4 * human.astype(np.int64)


def bins_of(table: pd.DataFrame) -> tuple[str, ...]:
    """The bins of a table with the columns original, qr and human."""
    return BINS if table["original"].notna().any() else BINS_WITHOUT_ORIGINAL


@dataclass(frozen=True)
class Formulations:
    """Scores of the three formulations of the same turns, for one or several rewriters.

    original, human
        float frames, turns × measures; Original may be unknown (None).
    rewriters
        Rewriter name → such a frame; all frames share index and columns.
    """

    original: pd.DataFrame | None
    rewriters: Mapping[str, pd.DataFrame]
    human: pd.DataFrame

    def __post_init__(self) -> None:
        if not self.rewriters:
            raise UsageError("no-rewriter", "no scores of a rewriter", "give them with --qr")
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
        """Names of the measures."""
        return list(self.human.columns)

    def graded(self) -> Formulations:
        """Only the measures that take other values than 0 and 1, where there are any: a threshold moves no others."""
        graded = [name for name in self.measures if not all(frame[name].isin([0.0, 1.0]).all() for frame in self._frames)]
        if not graded:
            return self
        rewriters = {name: frame[graded] for name, frame in self.rewriters.items()}
        original = None if self.original is None else self.original[graded]
        return Formulations(original, rewriters, self.human[graded])
