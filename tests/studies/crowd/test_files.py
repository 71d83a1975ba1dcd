"""Crowd judgments as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.documents.files import write_folder
from robustcs.errors import UsageError
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.mixed_initiative import SystemUtterance, map_to_bank
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.studies.crowd.analysis import as_qrels, build_pool, judgments_of
from robustcs.studies.crowd.steps import files_of_crowd

RUN = map_to_bank(
    [
        SystemUtterance("1_10", "Q1", 0.1),
        SystemUtterance("1_2", "Q1", 1),
        SystemUtterance("1_2", "Q2", 2.5),
    ],
    None,
    "My run",
).run
RANKING = rank_run(RUN, EvaluationPolicy())
JUDGMENTS = judgments_of(
    {"Relevance!": as_qrels("r", [("1_10", "Q1", 1), ("1_2", "Q2", 3)])}, 2, {"1_10"}
)


def test_files_are_what_trec_eval_reads(tmp_path: Path) -> None:
    files = files_of_crowd(JUDGMENTS, build_pool([RANKING], 1, {}), [(RUN, RANKING)])
    assert files == {
        "qrels_relevance.txt": "1_2 0 Q2 3\n1_10 0 Q1 1\n",
        "qrels_relevance_filtered.txt": "1_2 0 Q2 3\n",
        "qrels_relevance_subset.txt": "1_10 0 Q1 1\n",
        "pool.txt": "1_2 Q0 Q2 1 0.0 pool\n1_10 Q0 Q1 1 0.0 pool\n",
        "my-run.trec": "1_10 Q0 Q1 1 0.10000000149011612 My_run\n1_2 Q0 Q2 1 2.5 My_run\n1_2 Q0 Q1 2 1.0 My_run\n",
    }
    assert len(write_folder(tmp_path / "new", files)) == 5
    assert len(read_qrels(tmp_path / "new" / "qrels_relevance.txt")) == 2
    again = read_run(tmp_path / "new" / "my-run.trec")
    assert again.scores.tolist() == [RUN.scores[row] for row in (0, 2, 1)]  # the same 32-bit floats


def test_other_content_is_not_replaced_unasked(tmp_path: Path) -> None:
    write_folder(tmp_path, {"a": "1\n", "b": "2\n"})
    write_folder(tmp_path, {"a": "1\n", "b": "2\n"})
    with pytest.raises(
        UsageError, match="b: exists with other content; name another --folder, or add --overwrite"
    ):
        write_folder(tmp_path, {"c": "3\n", "b": "4\n"})
    assert not (tmp_path / "c").exists() and (tmp_path / "b").read_text() == "2\n"
    write_folder(tmp_path, {"b": "4\n"}, overwrite=True)
    assert (tmp_path / "b").read_text() == "4\n"
