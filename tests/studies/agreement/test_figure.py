"""Figures of agreement."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd

from robustcs.documents.drawing import Area
from robustcs.documents.svg import svg_text
from robustcs.studies.agreement.analysis import SnippetAgreement
from robustcs.studies.agreement.show import draw_overlap


def test_overlap_draws_one_row_per_k() -> None:
    values = np.linspace(0, 1, 21)
    jaccard = pd.DataFrame({"k": [3, 2], "value": [0.5, 0.6], "ci_low": [0.4, 0.5], "ci_high": [0.6, 0.7]})
    texts = pd.DataFrame({"jaccard_3": values, "jaccard_2": np.append(values[:-1] * 0, [np.nan])})
    figure = draw_overlap(cast(SnippetAgreement, SimpleNamespace(jaccard=jaccard, texts=texts)))
    (panel,) = figure.panels
    assert [label for _, label in panel.y_ticks] == ["J3", "J2"]
    boxes = [[x for x, _ in mark.points] for mark in panel.marks if isinstance(mark, Area)]
    assert np.allclose([(min(box), max(box)) for box in boxes], [(0.25, 0.75), (0, 0)])
    assert ">J2<" in svg_text(figure, "overlap", "words")
