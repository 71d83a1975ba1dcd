"""What a command works on: joined inputs, remembered with their checksums."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.measure import parse_measure
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import Formulation, Project, TextSource
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace


@pytest.fixture
def project(demo: Path) -> Project:
    return read_project(demo / "robustcs.toml")


def scores_file(path: Path, scores: dict[str, float], measure: str = "ndcg_cut_3") -> Path:
    path.write_text("".join(f"{measure}\t{turn}\t{score}\n" for turn, score in scores.items()))
    return path


def scored(folder: Path, **parts: dict[str, float]) -> Project:
    return Project(
        formulations={
            role: Formulation(role, role, scores=scores_file(folder / f"{role}.eval", scores))  # type: ignore[arg-type]
            for role, scores in parts.items()
        }
    )


def test_files_are_joined_by_turn_and_never_by_row(tmp_path: Path) -> None:
    project = scored(
        tmp_path,
        original={"1_1": 0.1, "1_2": 0.2},
        qr={"1_2": 0.4, "1_1": 0.3},
        human={"1_10": 0.9, "1_2": 0.6, "1_1": 0.5},
    )
    scores, evaluated = Workspace(project).formulation_scores()
    assert list(scores.turns) == ["1_1", "1_2"]
    assert list(scores.original["ndcg_cut_3"]) == [0.1, 0.2]
    assert list(scores.rewriters["qr"]["ndcg_cut_3"]) == [0.3, 0.4]
    assert (evaluated.turns, evaluated.missing, evaluated.unscored) == (2, 0, 1)
    assert evaluated.notes == (
        "1 turn left out, because a score is missing: Original 1_10; QR 1_10",
    )
    assert evaluated.policy_line.startswith(
        "2 turns · missing scores left out (1 turn) · scores as given"
    )


def test_with_qrels_a_turn_that_trec_eval_did_not_score_found_nothing(tmp_path: Path) -> None:
    project = scored(
        tmp_path,
        original={"1_1": 0.1},
        qr={"1_2": 0.4, "1_1": 0.3},
        human={"9_9": 1, "1_2": 0.6, "1_1": 0.5},
    )
    (tmp_path / "qrels.txt").write_text("1_1 0 a 1\n1_2 0 a 1\n1_3 0 a 1\n")
    project = replace(project, qrels=tmp_path / "qrels.txt")
    scores, evaluated = Workspace(project).formulation_scores()
    assert list(scores.turns) == ["1_1", "1_2", "1_3"]
    assert list(scores.original["ndcg_cut_3"]) == [0.1, 0, 0]
    assert (evaluated.missing, evaluated.unscored) == (2, 0)
    dropping = replace(project, policy=EvaluationPolicy(missing="drop"))
    scores, evaluated = Workspace(dropping).formulation_scores()
    assert list(scores.turns) == ["1_1"] and evaluated.policy_line.startswith(
        "1 turn · missing turns dropped (2)"
    )


def test_a_measure_that_a_turn_lacks_is_a_missing_turn(tmp_path: Path) -> None:
    project = scored(
        tmp_path, original={"1_1": 1, "1_2": 1}, qr={"1_1": 1, "1_2": 1}, human={"1_1": 1, "1_2": 1}
    )
    with (tmp_path / "qr.eval").open("a") as file:
        file.write("P_1\t1_1\t1\n")
    scores, evaluated = Workspace(
        replace(project, metrics=tuple(map(parse_measure, ("ndcg_cut_3",))))
    ).formulation_scores()
    assert (scores.measures, evaluated.missing) == (["ndcg_cut_3"], 0)


def test_swapped_roles_are_noted(tmp_path: Path) -> None:
    project = scored(tmp_path, original={"1_1": 0.9}, qr={"1_1": 0.5}, human={"1_1": 0.1})
    _, evaluated = Workspace(project).formulation_scores()
    assert evaluated.notes == (
        "Human scores below Original (ndcg_cut_3); check that the two files are not swapped",
    )


def test_inputs_are_read_once_and_remembered_once(project: Project) -> None:
    workspace = Workspace(project)
    first = workspace.qrels, workspace.texts
    assert (workspace.qrels, workspace.texts) == first
    assert [entry["role"] for entry in workspace.inputs] == [
        "qrels",
        "original texts, qr texts, human texts",
    ]


def test_progress_sees_every_run(project: Project) -> None:
    seen = []

    def track(items: object, what: str, total: int) -> object:
        seen.append((what, total))
        return items

    workspace = Workspace(replace(project, collection=None), track=track)  # type: ignore[arg-type]
    workspace.system_scores(["human", "plain_human", "human"])
    assert seen == [("reading runs", 2)]


def test_several_text_files_of_a_formulation_are_one(tmp_path: Path) -> None:
    for name, text in (
        ("a", "1_1\tfirst\n"),
        ("b", "1_1\t first \n1_2\tthird\n"),
        ("c", "1_2\tthird\n1_1\tsecond\n"),
    ):
        (tmp_path / f"{name}.tsv").write_text(text)

    def read(*names: str, role: Any = "human") -> Workspace:
        sources = tuple(TextSource(tmp_path / f"{name}.tsv") for name in names)
        return Workspace(Project(formulations={role: Formulation(role, role, rewrites=sources)}))

    assert read("a", "b").texts == {"human": {"1_1": "first", "1_2": "third"}}
    assert read("a", "b", role="qr").samples == {"qr": {"1_1": ("first",), "1_2": ("third",)}}
    for role in ("human", "qr"):
        both = read("a", "c", role=role)
        assert (both.texts if role == "human" else both.samples)[role]["1_1"] in (
            "first",
            ("first",),
        )
        assert both.notes == [
            f"c.tsv has a different text for 1 turn of {role} (1_1); the text of the earlier file is used"
        ]


def test_an_unknown_system_is_named_with_those_that_are_there(demo: Path) -> None:
    workspace = Workspace(Project(runs={"bm25": demo / "runs/plain_qr.trec"}))
    with pytest.raises(UsageError, match="^no run is named 't5'; choose from bm25$"):
        workspace.system_scores(["bm25", "t5"])


def test_answers_are_joined_with_the_gold_turns(project: Project) -> None:
    scores, evaluated = Workspace(project).formulation_scores([parse_measure("f1")])
    assert (len(scores.turns), evaluated.basis) == (70, "answers")
    assert scores.human["f1"].mean() == pytest.approx(0.4038, abs=5e-5)


def test_the_first_unusable_run_stops_everything(project: Project, tmp_path: Path) -> None:
    broken = tmp_path / "broken.trec"
    broken.write_text("1_1 Q0 d1 1 x t\n")
    workspace = Workspace(replace(project, runs={**project.runs, "broken": broken}))
    with pytest.raises(InputError, match="broken.trec:1: score 'x' is not a number"):
        workspace.matrices(workspace.system_files(["human", "broken"]))
    assert [entry["role"] for entry in workspace.inputs] == ["qrels"]
