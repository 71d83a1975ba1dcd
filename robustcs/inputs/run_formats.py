"""The kinds of files with retrieved passages other than the lines of TREC, and how a file of one is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustcs.inputs import ikat, open_domain, rag
from robustcs.inputs.run_format import RunFormat

#: All kinds; the first that fits a record counts.
FORMATS: tuple[RunFormat, ...] = (ikat.RUN, open_domain.DPR_RUN, open_domain.SCAI_RUN, rag.RUN)


def run_format_of(record: Mapping[str, Any]) -> RunFormat | None:
    """The kind of the file whose first record this is; None where it has no passages that are known."""
    return next((one for one in FORMATS if one.fits(record)), None)
