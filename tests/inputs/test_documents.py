"""Passage ids cut to document ids, and rankings of passages read as rankings of documents."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from robustcs.evaluation.documents import as_documents
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.documents import are_passage_ids, document_ids
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy


def test_only_the_last_hyphen_separates_and_only_before_a_number() -> None:
    ids = pa.array(["MARCO_D1599536-11", "WAPO_a2b3-44-77-5", "KILT_105219", "WAPO_a2b3-44-ff", "-3", "a-"])
    expected = ["MARCO_D1599536", "WAPO_a2b3-44-77", "KILT_105219", "WAPO_a2b3-44-ff", "", "a-"]
    assert document_ids(ids).to_pylist() == expected


@pytest.mark.parametrize(("ids", "passages"), [(["a-1", "b-22"], True), (["a-1", "b"], False), (["a-b"], False), ([], False)])
def test_ids_that_look_like_passages(ids: list[str], passages: bool) -> None:
    assert are_passage_ids(pa.array(ids, pa.string())) is passages


def by_turn(ranking: Ranking) -> dict[str, list[str]]:
    names = ranking.documents.take(pa.array(ranking.document_codes)).to_pylist()
    starts = ranking.starts.tolist()
    return {turn: names[start:end] for turn, start, end in zip(ranking.turns, starts, starts[1:], strict=False)}


def test_the_first_passage_of_a_document_counts(tmp_path: Path) -> None:
    lines = ["1_1 Q0 a-1 1 9 t", "1_1 Q0 b-1 2 8 t", "1_1 Q0 a-2 3 7 t", "1_1 Q0 c-4 4 7 t", "1_1 Q0 b-2 5 7 t",
             "1_1 Q0 d 6 7 t", "1_2 Q0 a-7 1 7 t"]  # fmt: skip
    (tmp_path / "run").write_text("\n".join(lines))
    ranking = rank_run(read_run(tmp_path / "run"), EvaluationPolicy())
    documents = as_documents(ranking)
    assert by_turn(documents) == {"1_1": ["a", "b", "d", "c"], "1_2": ["a"]}
    assert documents.tied.tolist() == [False, False, False, True, False]
    assert documents.notes[-1] == ("run: passages DOC-N count as documents DOC; 2 further passages of a document left out")
    assert by_turn(as_documents(ranking, 3)) == {"1_1": ["a", "b", "d"], "1_2": ["a"]}


def test_a_real_run_equals_plain_python(shared_data: Path) -> None:
    ranking = rank_run(read_run(shared_data / "cast2021/runs/org_convdr.passages.trec.gz"), EvaluationPolicy())
    expected = {
        turn: list(dict.fromkeys(passage.rpartition("-")[0] for passage in passages))
        for turn, passages in by_turn(ranking).items()
    }
    assert by_turn(as_documents(ranking)) == expected
