"""Between Arrow and numpy without pandas: pyarrow's own conversions import it, which takes longer than reading a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def as_numpy(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of an Arrow array without nulls: no copy, not to be written to."""
    return np.from_dlpack(array)


def as_arrow(codes: npt.NDArray[np.int32]) -> pa.Int32Array:
    """Codes as Arrow numbers, for its ``take``: no copy."""
    return pa.Array.from_buffers(pa.int32(), len(codes), [None, pa.py_buffer(codes)])
