from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group, RunSources
from robustcs.project.hole_imputation import group_numbers, run_groups, run_sources
from robustcs.project.model import Project

RUNS = Project(runs={name: Path(name) for name in ("base", "a", "b", "c", "other")})


def test_named_groups_come_first_and_every_other_run_is_its_own() -> None:
    groups = run_groups(replace(RUNS, run_groups={"team": ("b", "base")}))
    assert groups == {"team": ("b", "base"), "a": ("a",), "c": ("c",), "other": ("other",)}
    assert group_numbers(groups, ("base", "a", "b", "c", "other")) == (0, 1, 0, 2, 3)


def test_sets_of_one_group_are_one_source_where_nothing_is_named() -> None:
    project = replace(RUNS, groups={"x": Group("base", ("a", "b")), "y": Group("a", ("b", "c"))})
    # a is a baseline as well, b belongs to the first group that has it
    assert run_groups(project) == {
        "the sets of x": ("b",), "the sets of y": ("c",), "base": ("base",), "a": ("a",), "other": ("other",),
    }  # fmt: skip
    assert run_groups(RUNS) == {}


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"t": ("a", "z")}, "names 'z', which is not a run"),
        ({"t": ("a",), "u": ("b", "a")}, "has 'a' in t and in u"),
        ({"a": ("b",)}, "a has the name of a run that is not in it"),
    ],
)
def test_names_that_do_not_fit(groups: dict[str, tuple[str, ...]], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_groups(replace(RUNS, run_groups=groups))


def test_the_model_learns_of_named_groups_and_warns_of_sets_as_well() -> None:
    runs = ("base", "a", "b", "c", "other")
    assert run_sources(RUNS, runs) == RunSources()
    sets = run_sources(replace(RUNS, groups={"x": Group("base", ("a", "b"))}), runs)
    assert sets == RunSources(
        None, (1, 0, 0, 2, 3), {0: "the sets of x", 1: "base", 2: "c", 3: "other"}
    )
    named = run_sources(replace(RUNS, run_groups={"team": ("b", "base")}), runs)
    assert named.learned == named.warned == (0, 1, 0, 2, 3)
    many = Project(
        runs={f"r{number}": Path("r") for number in range(12)}, run_groups={"team": ("r1", "r2")}
    )
    assert run_sources(many, tuple(many.runs)).learned is None
