"""Tasks of MTRAG and exports of InspectorRAGet: as runs, answers, reference answers, questions, passages and labels."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustcs.errors import InputError
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.collection import read_passages
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_slices
from robustcs.inputs.sniff import identify
from robustcs.inputs.texts import read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import answer_files
from robustcs.retrieval.index import checked_passages
from tests.formulations import score_frame
from tests.inputs.test_run_formats import rows, written

SAID = [
    {"speaker": "user", "text": "Who?"},
    {"speaker": "agent", "text": "Me."},
    {"speaker": "user", "text": "Why?"},
]
FIRST = {
    "task_id": "c1<::>2", "input": SAID, "targets": [{"text": "Because."}], "predictions": [{"text": "No idea."}],
    "contexts": [{"document_id": "d1", "score": 1.5, "text": "one"}, {"document_id": "d2", "score": 2.5, "text": "two"}],
    "Answerability": ["ANSWERABLE"], "Multi-Turn": ["Follow-up", "N/A"], "metrics": {"RL_F": [1.0]},
}  # fmt: skip
SECOND: dict[str, Any] = {
    "task_id": "c1<::>4", "input": SAID[:1], "targets": [], "predictions": [{"text": ""}], "contexts": [],
    "Answerability": ["UNANSWERABLE"],
}  # fmt: skip
REFERENCE = {
    "task_id": "c2<::>1",
    "targets": [{"text": "x"}],
    "contexts": [{"document_id": "d9"}, {"document_id": "d1"}],
}


def test_all_that_a_task_holds(tmp_path: Path) -> None:
    path = written(tmp_path, [FIRST, SECOND], lines=True)
    found = identify(path)
    assert (
        found is not None
        and found.kinds == ("answers", "run", "texts", "collection")
        and found.family == "MTRAG tasks"
    )
    assert rows(read_run(path)) == [("c1<::>2", "d1", 1.5), ("c1<::>2", "d2", 2.5)]
    assert read_predicted_answers(path) == {"c1<::>2": "No idea.", "c1<::>4": ""}
    assert read_gold_answers(path) == {"c1<::>2": ("Because.",)}
    assert read_texts(path, "original") == {"c1<::>2": "Why?", "c1<::>4": "Who?"}
    assert read_texts(path, "original", "conversation")["c1<::>2"] == "Who? Why?"
    assert read_passages(path, {"d2", "d7"}) == {"d2": "two"}
    assert read_slices(path) == {
        "Answerability": {"c1<::>2": "ANSWERABLE", "c1<::>4": "UNANSWERABLE"}, "Multi-Turn": {"c1<::>2": "Follow-up, N/A"}
    }  # fmt: skip


@pytest.mark.parametrize("lines", [True, False])
def test_passages_of_several_tasks_are_indexed_once(tmp_path: Path, lines: bool) -> None:
    path = written(tmp_path, [FIRST, {**SECOND, "contexts": FIRST["contexts"]}], lines)
    assert [(passage, text) for _, passage, text in checked_passages(path)] == [
        ("d1", "one"),
        ("d2", "two"),
    ]


def test_passages_of_a_list_of_tasks(tmp_path: Path) -> None:
    path = written(tmp_path, [FIRST, {**SECOND, "contexts": FIRST["contexts"]}])
    assert read_passages(path, {"d2", "d7"}) == {"d2": "two"}
    path = written(tmp_path, [FIRST, {**SECOND, "contexts": [{"document_id": "d2", "text": "2"}]}])
    with pytest.raises(
        InputError, match=f"^{re.escape(str(path))}: passage d2 has a different text"
    ):
        read_passages(path, {"d2", "d7"})


@pytest.mark.parametrize("value", [["m"], "m", None, 3])
def test_a_task_may_have_a_field_called_as_one_of_ours(tmp_path: Path, value: object) -> None:
    path = written(tmp_path, [{**FIRST, "answers of models": value}], lines=True)
    assert read_predicted_answers(path) == {"c1<::>2": "No idea."}


def test_passages_without_scores_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    assert rows(read_run(written(tmp_path, [REFERENCE], lines=True))) == [
        ("c2<::>1", "d9", -1.0),
        ("c2<::>1", "d1", -2.0),
    ]


@pytest.mark.parametrize(
    ("reader", "task", "message"),
    [
        (read_predicted_answers, REFERENCE, "§: tasks without predictions; name a file of answers"),
        (read_gold_answers, SECOND, "§: tasks without targets; name a file of tasks with targets"),
        (
            read_slices,
            REFERENCE,
            "§: tasks without labels; give tasks with labels such as answerability",
        ),
        (
            read_qrels,
            FIRST,
            "§: these are MTRAG tasks; use them with --response, --answers or --gold",
        ),
        (
            lambda path: read_texts(path, "original"),
            REFERENCE,
            "§: these are MTRAG tasks; use them with --response, --answers or --gold",
        ),
    ],
)
def test_what_tasks_lack_is_told(
    tmp_path: Path, reader: Callable[[Path], Any], task: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, [task], lines=True)
    with pytest.raises(InputError) as caught:
        reader(path)
    assert str(caught.value).replace(str(path), "§") == message


def export(version: int) -> dict[str, Any]:
    """The same tasks and answers in version 1 of the form and in version 2."""
    answers = [("c1<::>2", "a", "No."), ("c1<::>2", "b", "Yes."), ("c1<::>4", "a", "")]
    said = {
        1: lambda text: {"model_response": text},
        2: lambda text: {"output": [{"role": "assistant", "content": text}]},
    }
    text = {1: "text", 2: "value"}[version]
    tasks = [
        {
            "task_id": "c1<::>2",
            "input": SAID,
            "contexts": [{"document_id": "d1"}],
            "targets": [{text: "T"}],
        },
        {"task_id": "c1<::>4", "input": "Who?", "contexts": [{"document_id": "d2"}], "targets": []},
    ]
    return {
        "name": "x", "models": [{"model_id": "a", "name": "A"}, {"model_id": "b", "name": "B"}], "metrics": [{"name": "m"}],
        "documents": [{"document_id": "d1", "text": "one", "title": "t"}, {"document_id": "d2", "text": "two"}], "tasks": tasks,
        {1: "evaluations", 2: "results"}[version]: [
            {"task_id": task, "model_id": model, **said[version](words)} for task, model, words in answers
        ],
    }  # fmt: skip


@pytest.mark.parametrize("version", [1, 2])
def test_an_export_of_inspectorraget(tmp_path: Path, version: int) -> None:
    path = written(tmp_path, export(version))
    found = identify(path)
    assert found is not None and found.says == "this is an InspectorRAGet export"
    assert found.kinds == ("answers", "run", "texts", "collection")
    assert read_predicted_answers(path, "a") == {"c1<::>2": "No.", "c1<::>4": ""}
    assert read_predicted_answers(path, "b") == {"c1<::>2": "Yes."}
    assert read_gold_answers(path) == {"c1<::>2": ("T",)}
    assert rows(read_run(path)) == [("c1<::>2", "d1", -1.0), ("c1<::>4", "d2", -1.0)]
    assert read_texts(path, "original") == {"c1<::>2": "Why?", "c1<::>4": "Who?"}
    assert read_passages(path, {"d1", "d2"}) == {"d1": "one", "d2": "two"}
    with pytest.raises(
        InputError,
        match="the file contains answers of a, b, but not of 'c'; use one of these names for the answers",
    ):
        read_predicted_answers(path, "c")
    assert read_predicted_answers(answer_files([f"{path}:b"])) == {"c1<::>2": "Yes."}
    for text, found in (
        ("", "the file contains answers of a, b; name"),
        (":c", "the file contains answers of a, b, but not of 'c'; name"),
    ):
        with pytest.raises(InputError, match=f"{found} the model: FILE:MODEL"):
            read_predicted_answers(answer_files([f"{path}{text}"]))


def test_a_model_is_named_only_where_there_are_models(tmp_path: Path) -> None:
    plain = tmp_path / "plain.json"
    plain.write_text('{"c1": "x"}')
    with pytest.raises(
        InputError, match="the file names no models, so it has no answers of 'a'; remove :MODEL"
    ):
        read_predicted_answers(answer_files([f"{plain}:a"]))
    with pytest.raises(
        InputError,
        match="the file contains answers of no named model, but not of 'a'; remove :MODEL",
    ):
        read_predicted_answers(answer_files([f"{written(tmp_path, [FIRST], lines=True)}:a"]))


@pytest.mark.parametrize("version", [1, 2])
def test_two_answers_of_a_model_contradict_each_other(tmp_path: Path, version: int) -> None:
    found = export(version)
    answers = found[{1: "evaluations", 2: "results"}[version]]
    assert (
        len(
            read_predicted_answers(
                written(tmp_path, {**found, "evaluations": [*answers, answers[0]]}), "a"
            )
        )
        == 2
    )
    other = {**answers[1], "model_id": "a"}  # the answer of b to the same task
    path = written(tmp_path, {**found, "evaluations": [*answers, other]})
    with pytest.raises(
        InputError, match="turn c1<::>2 has 'Yes.' here but 'No.' earlier; keep one of the two"
    ) as caught:
        read_predicted_answers(path, "a")
    assert caught.value.exit_code == 3
    assert read_predicted_answers(path, "b") == {"c1<::>2": "Yes."}


# ---------------------------------------------------------------- real files


@pytest.mark.parametrize("ranker", ["bm25", "bge", "elser"])
@pytest.mark.parametrize("wording", ["lastturn", "questions", "rewrite"])
def test_the_published_score_of_every_turn(shared_data: Path, ranker: str, wording: str) -> None:
    path = shared_data / "mtrag-grid" / f"{ranker}_{wording}.jsonl.gz"
    qrels = read_qrels(shared_data / "mtrag-answers" / "qrels_clapnq.tsv")
    matrix = grade_matrix(rank_run(read_run(path), EvaluationPolicy()), qrels)
    measures = [parse_measure(name) for name in ("ndcg_cut_5", "recall_5")]
    scores = score_frame(matrix, measures, EvaluationPolicy())
    with gzip.open(path, "rt") as file:
        published = {task["task_id"]: task["retriever_scores"] for task in map(json.loads, file)}
    assert set(published) == set(matrix.turns) and len(published) == 208
    for measure in measures:
        expected = [published[turn][measure.name] for turn in matrix.turns]
        assert np.abs(np.asarray(scores[measure.name]) - expected).max() < 1e-9


def test_real_answers_and_labels(shared_data: Path) -> None:
    clapnq = shared_data / "mtrag-answers" / "clapnq.jsonl.gz"
    reference = shared_data / "mtragun" / "reference.jsonl.gz"
    with gzip.open(clapnq, "rt") as file:
        tasks = [json.loads(line) for line in file]
    assert read_predicted_answers(clapnq) == {
        task["task_id"]: task["predictions"][0]["text"].strip() for task in tasks
    }
    assert read_gold_answers(clapnq) == {
        task["task_id"]: (task["targets"][0]["text"].strip(),) for task in tasks
    }
    assert read_texts(clapnq, "original") == {
        task["task_id"]: task["input"][-1]["text"].strip() for task in tasks
    }
    kinds = list(read_slices(reference)["answerability"].values())
    # SPEC, section 19
    expected = {
        "ANSWERABLE": 285,
        "PARTIAL": 47,
        "UNANSWERABLE": 97,
        "UNDERSPECIFIED": 78,
    }
    assert {kind: kinds.count(kind) for kind in expected} == expected and len(kinds) == 507
    assert (
        sum(
            answer == ""
            for answer in read_predicted_answers(
                shared_data / "mtragun" / "gemini.jsonl.gz"
            ).values()
        )
        == 3
    )
