"""Passage ids cut to document ids, and rankings of passages read as rankings of documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, graded_run
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.ids import Ids, are_passage_ids, document_ids
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy


def test_only_the_last_hyphen_separates_and_only_before_a_number() -> None:
    ids = Ids.of(
        ["MARCO_D1599536-11", "WAPO_a2b3-44-77-5", "KILT_105219", "WAPO_a2b3-44-ff", "-3", "a-"]
    )
    expected = ["MARCO_D1599536", "WAPO_a2b3-44-77", "KILT_105219", "WAPO_a2b3-44-ff", "", "a-"]
    assert document_ids(ids).texts() == expected


@pytest.mark.parametrize(
    ("ids", "passages"),
    [(["a-1", "b-22"], True), (["a-1", "b"], False), (["a-b"], False), ([], False)],
)
def test_ids_that_look_like_passages(ids: list[str], passages: bool) -> None:
    assert are_passage_ids(Ids.of(ids)) is passages


def by_turn(ranking: Ranking) -> dict[str, list[str]]:
    names = ranking.ids.take(ranking.document_codes).texts()
    starts = ranking.starts.tolist()
    return {
        turn: names[start:end]
        for turn, start, end in zip(ranking.turns, starts, starts[1:], strict=False)
    }


def test_the_first_passage_of_a_document_counts(tmp_path: Path) -> None:
    lines = ["1_1 Q0 a-1 1 9 t", "1_1 Q0 b-1 2 8 t", "1_1 Q0 a-2 3 7 t", "1_1 Q0 c-4 4 7 t", "1_1 Q0 b-2 5 7 t",
             "1_1 Q0 d 6 7 t", "1_2 Q0 a-7 1 7 t"]  # fmt: skip
    (tmp_path / "run").write_text("\n".join(lines))
    run = read_run(tmp_path / "run")
    documents = rank_run(run, EvaluationPolicy(documents=True))
    assert by_turn(documents) == {"1_1": ["a", "b", "d", "c"], "1_2": ["a"]}
    assert documents.tied.tolist() == [False, False, False, True, False]
    told = "run: 2 further passages of documents skipped; the best-ranked passage of each document counts"
    assert documents.notes[-1] == told
    top = rank_run(run, EvaluationPolicy(documents=True, depth=3))
    assert by_turn(top) == {"1_1": ["a", "b", "d"], "1_2": ["a"]}
    (tmp_path / "qrels").write_text("1_1 0 b 2\n1_1 0 a-2 1\n1_2 0 a 1\n")
    qrels = read_qrels(tmp_path / "qrels")
    matrix, rows = graded_run(tmp_path / "run", "run", EvaluationPolicy(documents=True), qrels)
    assert rows == 7 and matrix.notes == (told,)
    assert matrix.grades.tolist() == [
        [UNJUDGED, 2, UNJUDGED, UNJUDGED],
        [1, ABSENT, ABSENT, ABSENT],
    ]
    assert (
        documents.repeated == 2
        and "documents by their best passage" in EvaluationPolicy(documents=True).describe()
    )


def test_a_real_run_equals_plain_python(shared_data: Path) -> None:
    run = read_run(shared_data / "cast2021/runs/org_convdr.passages.trec.gz")
    expected = {
        turn: list(dict.fromkeys(passage.rpartition("-")[0] for passage in passages))
        for turn, passages in by_turn(rank_run(run, EvaluationPolicy())).items()
    }
    assert by_turn(rank_run(run, EvaluationPolicy(documents=True))) == expected


@pytest.mark.parametrize("value", ["true", 1, None])
def test_documents_is_true_or_false(value: object) -> None:
    with pytest.raises(UsageError, match="documents"):
        EvaluationPolicy(documents=value)  # type: ignore[arg-type]
