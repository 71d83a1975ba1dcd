"""Similarities of questions by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robustcs.errors import UsageError
from robustcs.similarity.encoders import Encoder
from robustcs.similarity.questions import check_similarities, question_similarities
from robustcs.similarity.store import EmbeddingStore


def test_columns_in_the_order_asked_for(tmp_path: Path) -> None:
    encoder = Encoder("use", "m", "f", lambda texts: np.array([[len(text), 1.0] for text in texts]))
    found = question_similarities(["a", "bb"], ["a", "b"], ["use", "rouge1_f"], [encoder], store=EmbeddingStore(tmp_path))
    assert list(found) == ["use", "rouge1_f"]
    assert found["use"] == pytest.approx([1.0, 3 / np.sqrt(10)])
    assert found["rouge1_f"].tolist() == [1.0, 0.0]


def test_wrong_names() -> None:
    with pytest.raises(UsageError, match=r"no similarity of questions is named 'rouge'; there are rouge1_precision, .*, use"):
        check_similarities(["rouge1_f", "rouge"], [])
    with pytest.raises(UsageError, match="use needs a model; name it with --use MODEL"):
        check_similarities(["use"], ["sentence_transformer"])
    check_similarities(["use", "rougeL_f"], ["use"])
