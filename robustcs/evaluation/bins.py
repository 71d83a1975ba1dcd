"""The eight correctness bins of Original / QR / Human, in the order of the error-analysis paper's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from robustcs.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

#: Original, QR, Human; 1 is answered correctly. Rows 1–8 of Tables 1 and 2.
BINS = ("000", "100", "010", "110", "001", "101", "011", "111")
#: Who is to blame: Human ✗ → the QA component, Human ✓ and QR ✗ → the rewriter, else nobody (section 3 of the paper).
CAUSE_OF_BIN = {bin_: "qa" if bin_[2] == "0" else "qr" if bin_[1] == "0" else "correct" for bin_ in BINS}
CAUSES = ("qa", "qr", "correct")


def bin_index(
    original: npt.NDArray[np.bool_], qr: npt.NDArray[np.bool_], human: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Index into :data:`BINS` of every turn, from three boolean arrays of correctness."""
    return original.astype(np.int64) + 2 * qr.astype(np.int64) + 4 * human.astype(np.int64)


@dataclass(frozen=True)
class Formulations:
    """Scores of the three formulations of the same turns, for one or several rewriters.

    original, human
        float frames, turns × measures.
    rewriters
        Rewriter name → such a frame; all frames share index and columns.
    """

    original: pd.DataFrame
    rewriters: Mapping[str, pd.DataFrame]
    human: pd.DataFrame

    def __post_init__(self) -> None:
        if not self.rewriters:
            raise UsageError("no-rewriter", "no scores of a rewriter", "give them with --qr")
        for frame in (*self.rewriters.values(), self.human):
            if not frame.index.equals(self.original.index) or list(frame.columns) != list(self.original.columns):
                raise ValueError("the three formulations must be scored on the same turns by the same measures")

    @property
    def turns(self) -> pd.Index:
        """The turns, in natural order."""
        return self.original.index

    @property
    def measures(self) -> Sequence[str]:
        """Names of the measures."""
        return list(self.original.columns)

    def graded(self) -> Formulations:
        """Only the measures that take other values than 0 and 1, where there are any: a threshold moves no others."""
        frames = (self.original, *self.rewriters.values(), self.human)
        graded = [name for name in self.measures if not all(frame[name].isin([0.0, 1.0]).all() for frame in frames)]
        if not graded:
            return self
        rewriters = {name: frame[graded] for name, frame in self.rewriters.items()}
        return Formulations(self.original[graded], rewriters, self.human[graded])
