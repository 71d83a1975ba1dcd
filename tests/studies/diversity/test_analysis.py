"""Diversity of texts, on a few of them and on ECAsT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.inputs.texts import read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.similarity.encoders import Encoder
from robustcs.studies.diversity.analysis import TextSet, diversity

EVALUATED = Evaluated(EvaluationPolicy(), "texts", 2, 0)
SOURCE = TextSet(
    "source",
    {
        "1_1": ("how do bees make honey",),
        "1_2": ("why do bees dance",),
        "2_1": ("what is a moraine",),
    },
)
TARGET = TextSet(
    "target",
    {
        "1_1": (
            "how do bees make honey",
            "How do bees make their honey",
            "where does honey come from",
        ),
        "1_2": (
            "why do bees dance in the hive",
            "what makes bees dance there",
            "what makes bees dance there",
        ),
        "9_9": ("left out",),
    },
)


def test_counts_and_scores() -> None:
    result = diversity([(SOURCE, TARGET)], EVALUATED)
    line = result.diversity.iloc[0]
    assert (line["turns"], line["texts"]) == (2, 6)
    assert (line["copies"], line["duplicates"], line["near_duplicates"]) == (1, 1, 1)
    texts = [text for turn in ("1_1", "1_2") for text in TARGET.wordings[turn]]
    references = [SOURCE.wordings[turn][0] for turn in ("1_1", "1_2") for _ in range(3)]
    expected = sacrebleu.corpus_bleu(texts, [references], smooth_method="none").score
    assert result.bleu.iloc[0].to_dict() == pytest.approx(
        {"source": "source", "target": "target", "sentences": 6, "value": expected}
    )
    assert result.turns["turn"].tolist() == ["1_1", "1_2"]
    assert result.topics[["topic", "turns", "texts"]].to_numpy().tolist() == [["1", 2, 6]]
    assert result.topics["bleu"][0] == pytest.approx(expected)
    assert result.turns[["copies", "duplicates", "near_duplicates"]].to_numpy().tolist() == [
        [1, 0, 1],
        [0, 1, 0],
    ]


def test_cosine_with_the_source() -> None:
    encoder = Encoder("use", "model", "print", lambda texts: np.zeros((len(texts), 1)))
    vectors = {
        text: np.array([1.0, 0.0]) for wordings in SOURCE.wordings.values() for text in wordings
    }

    def vectors_of(texts: list[str]) -> dict[str, np.ndarray]:
        return {text: vectors.get(text, np.array([0.0, 1.0])) for text in texts}

    result = diversity([(SOURCE, TARGET)], EVALUATED, [(encoder, vectors_of)])
    assert result.similarity.set_index("measure")["value"]["cosine_use"] == pytest.approx(1 / 6)
    assert result.turns["distance_use"].tolist() == pytest.approx([2 / 3, 1.0])
    assert (
        result.diversity["distance_use"].tolist()
        == result.topics["distance_use"].tolist()
        == pytest.approx([5 / 6])
    )


def test_ecast_against_its_turns(shared_data: Path) -> None:
    manual = read_texts(shared_data / "cast2020" / "topics_manual.json", "human")
    source = TextSet("turns", {turn: (text,) for turn, text in manual.items()})
    paraphrases = read_paraphrases(shared_data / "ECAsT.csv.gz")
    target = TextSet(
        "ECAsT", {turn: tuple(one.manual for one in some) for turn, some in paraphrases.items()}
    )
    result = diversity([(source, target)], EVALUATED)
    texts = [one for turn, some in target.wordings.items() if turn in manual for one in some]
    references = [
        manual[turn] for turn, some in target.wordings.items() if turn in manual for _ in some
    ]
    assert len(texts) == 1507
    assert result.bleu["value"][0] == pytest.approx(
        sacrebleu.corpus_bleu(texts, [references], smooth_method="none").score
    )
    # diversified paraphrases stay far below the 32.06 that the paper prints for those that no author edited
    assert result.bleu["value"][0] < 32.06
    assert len(result.turns) == 216 and len(result.topics) == 25
    assert result.topics["texts"].sum() == 1507


def test_tables_have_the_columns_that_they_declare() -> None:
    result = diversity([(SOURCE, TARGET)], EVALUATED)
    assert list(result.tables) == [
        "bleu",
        "similarity",
        "similarity_pairs",
        "diversity",
        "turns",
        "topics",
    ]
    with pytest.raises(TypeError, match="table bleu has columns"):
        result.changed(bleu=result.bleu.drop(columns="sentences"))
    with pytest.raises(TypeError, match="column copies is"):
        result.changed(topics=result.topics.assign(copies=0.5))
