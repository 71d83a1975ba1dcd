"""JSON tables of ClariQ, and the pickles that are refused."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.clariq import (
    CONVERT,
    is_json,
    read_conversations,
    read_evaluation,
    read_performance,
)

TABLE = {
    "NDCG3": {
        "F1": {
            "Q1": {"no_answer": 0.1, "with_answer": 0.2},
            "MIN": {"no_answer": 0, "with_answer": 0},
        }
    }
}


def written(folder: Path, value: object) -> Path:
    path = folder / "file"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def problem(reader, path: Path) -> str:
    with pytest.raises(InputError) as caught:
        reader(path)
    return str(caught.value).replace(str(path), "F")


class Trap:
    def __reduce__(self) -> tuple:
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("wrap", ["plain", "gzip"])
def test_pickles_are_never_loaded(tmp_path: Path, protocol: int, wrap: str) -> None:
    data = pickle.dumps({"NDCG3": Trap()}, protocol)
    path = tmp_path / "single_turn_train_eval.pkl"
    path.write_bytes(gzip.compress(data) if wrap == "gzip" else data)
    for reader in (read_performance, read_evaluation, read_conversations, is_json):
        with pytest.raises(InputError) as caught:
            reader(path)
        assert (
            "this is a pickle, which robustcs never loads: loading it can run any program"
            in str(caught.value)
        )
        assert CONVERT in str(caught.value)


def test_pickles_inside_tar(tmp_path: Path) -> None:
    path = tmp_path / "dev.pkl.tar.gz"
    data = pickle.dumps({})
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo("multi_turn_dev_eval.pkl")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    assert "a pickle, which robustcs never loads" in problem(read_performance, path)


def test_the_conversion_works(tmp_path: Path) -> None:
    (tmp_path / "single_turn_train_eval.pkl").write_bytes(pickle.dumps(TABLE))
    subprocess.run([sys.executable, *shlex.split(CONVERT)[1:]], cwd=tmp_path, check=True)
    assert read_performance(tmp_path / "single_turn_train_eval.json") == {
        "NDCG3": {"F1": {"Q1": 0.2, "MIN": 0.0}}
    }


def test_the_real_evaluations(shared_data: Path) -> None:
    means = {}
    for name in ("best", "worst", "no"):
        scores = read_evaluation(shared_data / "clariq" / f"dev_{name}_q.eval")
        assert {len(values) for values in scores.values()} == {160} and len(scores) == 11
        means[name] = [
            round(sum(scores[m].values()) / 160, 4) for m in ("NDCG3", "NDCG5", "MRR100")
        ]
    assert means == {
        "best": [0.2578, 0.2470, 0.4541],
        "worst": [0.0252, 0.0314, 0.0841],
        "no": [0.1450, 0.1475, 0.3000],
    }


def test_tables_in_the_wrong_place(tmp_path: Path) -> None:
    assert problem(read_evaluation, written(tmp_path, TABLE)) == (
        "F: NDCG3 of F1 has a value per question; use --performance FILE for this table"
    )
    assert problem(read_performance, written(tmp_path, {"P1": {"F1": 0.5}})) == (
        "F: P1 of F1 has no values per question; use --evaluations NAME=FILE for the values of one system"
    )
    assert problem(read_evaluation, written(tmp_path, {"Recall5": {"1": 0.5}})) == (
        "F: these are recalls of questions; robustcs computes them from --run NAME=FILE"
    )
    assert problem(
        read_evaluation, written(tmp_path, {"P1": {"F1": True, "F2": "x", "F3": 1}})
    ) == ("F: P1 of F1 is True; write a number\nF: P1 of F2 is 'x'; write a number")
    assert problem(
        read_performance, written(tmp_path, '{"P1": {"F1": {"Q1": NaN, "Q2": {"no_answer": 1}}}}')
    ) == (
        'F: P1 of F1, Q1: nan is not a value; write a number, or {"with_answer": number}\n'
        "F: P1 of F1, Q2: {'no_answer': 1} is not a value; write a number, or {\"with_answer\": number}"
    )
    assert problem(read_evaluation, written(tmp_path, [1])) == (
        'F: JSON, but not a table by measure and facet; write {"NDCG3": {"F0001": …}}'
    )


def record(context: int, asked: int, topic: int = 8) -> dict:
    turns = [{"question": "q", "answer": "a"}] * asked
    return {
        "topic_id": topic,
        "facet_id": "F0968",
        "context_id": context,
        "conversation_context": turns,
    }


def test_conversations(tmp_path: Path) -> None:
    path = written(tmp_path, {"2287": record(968, 0), "2288": record(968, 0), "9": record(9765, 2)})
    assert read_conversations(path) == {"968": "8", "9765": "8"}
    path = written(
        tmp_path,
        "\ttopic_id\tfacet_id\tquestion1\tanswer1\tquestion2\n0\t8\tF1\tq\ta\t\n1\t8\tF1\tq\ta\tq\n",
    )
    assert read_conversations(path) == {"0": "8", "1": "8"}
    assert problem(
        read_conversations,
        written(tmp_path, {"1": {}, "2": record(1, 0), "3": record(1, 1, topic=9)}),
    ) == (
        "F: record 1 has no topic_id or context_id; complete the record\n"
        "F: context 1 belongs to topic 9 here but to 8 earlier; give each its own id"
    )
