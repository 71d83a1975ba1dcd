"""Figures of agreement."""

from __future__ import annotations

import pandas as pd

from robustcs.documents.document import Figure
from robustcs.documents.svg import svg_text
from robustcs.studies.agreement.analysis import snippet_agreement
from robustcs.studies.agreement.show import show
from tests.studies.agreement.test_analysis import EVALUATED, many


def test_overlap_has_one_row_per_k() -> None:
    result = snippet_agreement(many(12, 6), {}, EVALUATED)
    (figure,) = [block for block in show(result) if isinstance(block, Figure)]
    assert isinstance(result.jaccard, pd.DataFrame) and figure.slug == "overlap"
    assert ">J2<" in svg_text(figure.draw(), "overlap", "words")
