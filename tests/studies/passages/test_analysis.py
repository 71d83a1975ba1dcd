"""Passages chosen for annotation."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from robustcs.errors import NotInstalledError
from robustcs.inputs.collection import read_passages
from robustcs.inputs.qrels import read_qrels
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.crowd.analysis import as_qrels
from robustcs.studies.passages.analysis import choose_passages, one_per_cluster

SUBJECTS = ("bread dough oven", "moon tide sea", "wheel chain gear")


def evaluated(level: int = 1) -> Evaluated:
    return Evaluated(EvaluationPolicy(relevance_level=level), "texts", 1, 0)


def test_the_example_of_the_paper() -> None:
    """Three highly relevant passages and ten relevant ones: all three, and one of each of two clusters."""
    pytest.importorskip("sklearn")
    judged = (
        [("1_1", f"high{i}", 4) for i in range(3)]
        + [("1_1", f"good{i}", 3) for i in range(10)]
        + [("1_1", "no", 0)]
    )
    texts = {item: f"{SUBJECTS[i % 2]} {i}" for i, (_, item, _) in enumerate(judged)}
    result = choose_passages(as_qrels("q", judged), texts, evaluated())
    rows = result.passages
    assert (
        rows["grade"].tolist() == [4, 4, 4, 3, 3]
        and rows["chosen"].tolist() == ["grade"] * 3 + ["cluster"] * 2
    )
    assert rows["cluster"].tolist()[3:] == [1, 2] and rows["candidates"].tolist() == [
        3,
        3,
        3,
        10,
        10,
    ]
    assert {text.split(" ")[0] for text in rows["text"][3:]} == {"bread", "moon"}
    assert result.turns.values.tolist() == [["1_1", 5, 13, 0, 3]]


def test_one_of_each_subject_whatever_the_seed() -> None:
    pytest.importorskip("sklearn")
    texts = [f"{subject} {word}" for subject in SUBJECTS for word in ("a", "b", "c", "d")]
    drawn = set()
    for seed in range(6):
        chosen = one_per_cluster(texts, 3, np.random.default_rng(seed))
        assert sorted(place // 4 for place in chosen) == [0, 1, 2]
        drawn.add(tuple(chosen))
    assert len(drawn) > 1


def test_equal_texts_are_drawn_without_repeating() -> None:
    pytest.importorskip("sklearn")
    assert sorted(one_per_cluster(["same"] * 4 + ["other"], 4, np.random.default_rng(0)))[-1] == 4
    assert len(set(one_per_cluster(["same"] * 5, 3, np.random.default_rng(0)))) == 3


def test_what_fits_needs_no_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    judged = [
        ("1_2", "b", 2),
        ("1_2", "a", 2),
        ("1_2", "c", 1),
        ("1_10", "a", 0),
        ("1_1", "gone", 3),
    ]
    result = choose_passages(as_qrels("q", judged), dict.fromkeys("abc", "text"), evaluated(2))
    assert result.passages["passage"].tolist() == ["a", "b"]
    turns = result.turns.set_index("turn")
    assert turns.index.tolist() == ["1_1", "1_2", "1_10"]
    assert turns[["chosen", "relevant", "without_text"]].values.tolist() == [
        [0, 1, 1],
        [2, 2, 0],
        [0, 0, 0],
    ]
    with pytest.raises(NotInstalledError) as caught:
        choose_passages(
            as_qrels("q", [("1_1", item, 1) for item in "abc"]),
            {item: item for item in "abc"},
            evaluated(),
            2,
        )
    assert (
        caught.value.advice == "install it with: pip install 'robustcs[passages]'"
        and caught.value.exit_code == 4
    )


@pytest.mark.parametrize("name", ["passages", "turns"])
def test_every_column_is_declared(name: str) -> None:
    result = choose_passages(as_qrels("q", [("1_1", "a", 2)]), {"a": "text"}, evaluated())
    with pytest.raises(TypeError, match=f"table {name} has columns"):
        result.changed(**{name: result.tables[name].assign(odd=1)})


def test_real_passages(shared_data: Path) -> None:
    pytest.importorskip("sklearn")
    folder = shared_data / "cast2020"
    qrels = read_qrels(folder / "qrels.txt.gz")
    some = {f"81_{depth}" for depth in range(1, 9)}
    documents = qrels.documents.texts()
    judged = [(qrels.turns[turn], documents[document], int(grade))
              for turn, document, grade in zip(qrels.turn_codes, qrels.document_codes, qrels.grades, strict=True)
              if qrels.turns[turn] in some]  # fmt: skip
    texts = read_passages(folder / "passages.jsonl.gz", {item for _, item, _ in judged})
    first, again, other = (
        choose_passages(as_qrels("q", judged), texts, evaluated(2), seed=seed) for seed in (1, 1, 2)
    )
    assert first.passages.equals(again.passages) and not first.passages.equals(other.passages)
    assert (first.passages.groupby("turn").size() <= 5).all()
    alone = choose_passages(
        as_qrels("q", [one for one in judged if one[0] == "81_2"]), texts, evaluated(2), seed=1
    )
    assert (
        alone.passages["passage"].tolist()
        == first.passages[first.passages["turn"] == "81_2"]["passage"].tolist()
    )
