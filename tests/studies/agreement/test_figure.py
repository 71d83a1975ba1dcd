"""Figures of agreement."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.collections import PathCollection

from robustcs.documents.document import Figure
from robustcs.documents.style import PAGE
from robustcs.studies.agreement.analysis import snippet_agreement
from robustcs.studies.agreement.show import show
from tests.studies.agreement.test_analysis import EVALUATED, many


def test_overlap_has_one_row_per_k() -> None:
    result = snippet_agreement(many(12, 6), {}, EVALUATED)
    (figure,) = [block for block in show(result) if isinstance(block, Figure)]
    assert isinstance(result.jaccard, pd.DataFrame) and figure.slug == "overlap"
    (axes,) = figure.draw(PAGE).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        f"J{k}" for k in result.jaccard["k"]
    ]
    (dots,) = [marks for marks in axes.collections if isinstance(marks, PathCollection)]
    assert dots.get_offsets()[:, 0] == pytest.approx(result.jaccard["value"].to_numpy())
