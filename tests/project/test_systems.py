"""Scores of systems by name: the same turns for all of them, by the policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from robustcs.errors import UsageError
from robustcs.evaluation.measure import parse_measure
from robustcs.policy import EvaluationPolicy
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace


def test_missing_turns_by_the_policy(demo: Path) -> None:
    project = read_project(demo / "robustcs.toml")
    scores, evaluated = Workspace(project).system_scores(["human", "raw_2", "human"])
    assert list(scores) == ["human", "raw_2"] and list(scores["human"]) == ["P_1", "ndcg_cut_3"]
    assert (evaluated.turns, evaluated.missing, evaluated.notes) == (
        70,
        1,
        ("raw_2 misses 1 turn: 4_4",),
    )
    assert scores["raw_2"].frame().loc["4_4"].tolist() == [0, 0]
    dropping = replace(project, policy=EvaluationPolicy(relevance_level=2, missing="drop"))
    dropped, evaluated = Workspace(dropping).system_scores(
        ["human", "raw_2"], [parse_measure("map")]
    )
    assert (evaluated.turns, evaluated.missing) == (69, 1)
    turns = {tuple(scores.turns) for scores in dropped.values()}
    assert turns == {tuple(dropped["human"].turns)} and "4_4" not in dropped["human"].turns


def test_equal_to_the_formulations(demo: Path) -> None:
    project = read_project(demo / "robustcs.toml")
    by_role, _ = Workspace(project).formulation_scores()
    by_name, _ = Workspace(project).system_scores(["original", "qr", "human"])
    assert by_role.original is not None
    for name, scores in {
        "original": by_role.original,
        "human": by_role.human,
        "qr": by_role.rewriters["qr"],
    }.items():
        assert by_name[name].frame().equals(scores.frame())


def test_unknown_name_before_any_file_is_read(demo: Path) -> None:
    workspace = Workspace(replace(read_project(demo / "robustcs.toml"), runs={}))
    with pytest.raises(
        UsageError, match="no run is named 'raw_1'; choose from original, qr, human"
    ):
        workspace.system_scores(["human", "raw_1"])
    assert workspace.inputs == []
