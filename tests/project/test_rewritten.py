"""Rewritten sets are compared with a baseline that went through the same rewriter, and with no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import sidecar_path
from robustcs.project.model import Formulation, Project, TextSource
from robustcs.project.open_questions import check_baselines, comparable_groups, systems_of
from robustcs.project.workspace import Workspace
from robustcs.retrieval.rewriting import rewriter_identity
from robustcs.retrieval.settings import RetrievalSettings
from robustcs.retrieval.sidecar import Sidecar


def run_file(folder: Path, name: str, rewriter: str | None) -> Path:
    """A run; with a rewriter (empty for none) as robustcs writes it, with what stands beside it."""
    path = folder / f"{name}.trec"
    path.write_text(f"1_1 Q0 d 1 2.0 {name}\n")
    if rewriter is not None:
        sidecar_path(path).write_text(Sidecar(sha256(path), {}, {"rewriter": rewriter}).as_text())
    return path


def project(folder: Path, baseline: str, **rewriters: str | None) -> Project:
    runs = {name: run_file(folder, name, rewriter) for name, rewriter in rewriters.items()}
    return Project(
        runs=runs, groups={"raw": Group(baseline, tuple(name for name in runs if name != baseline))}
    )


def test_an_unrewritten_baseline_is_refused_with_the_line_to_write(tmp_path: Path) -> None:
    own = project(tmp_path, "base", base="", raw_1="previous", raw_2="previous")
    with pytest.raises(UsageError) as error:
        check_baselines(own)
    assert str(error.value) == (
        "group raw: previous rewrote raw_1, raw_2, but not the baseline base; compare with a baseline of the same rewriter:"
        " --group raw=original_rewritten,raw_1,raw_2"
    )
    assert comparable_groups(own) == {}


@pytest.mark.parametrize("baseline", [None, "first", ""])
def test_every_other_baseline_is_refused(tmp_path: Path, baseline: str | None) -> None:
    with pytest.raises(UsageError, match="previous rewrote raw_1, but not the baseline base;"):
        check_baselines(project(tmp_path, "base", base=baseline, raw_1="previous", raw_2=""))


def test_what_can_be_compared(tmp_path: Path) -> None:
    check_baselines(project(tmp_path, "base", base="previous", raw_1="previous"))
    # nothing is known of runs from elsewhere, whatever their names; the user says what this baseline is
    check_baselines(project(tmp_path, "base", base="", raw_rewritten=None, raw_1=""))
    check_baselines(
        project(tmp_path, "original_rewritten", original_rewritten=None, raw_2="previous")
    )


def test_a_baseline_of_another_rewriter(tmp_path: Path) -> None:
    own = project(tmp_path, "original_rewritten", original_rewritten="first", raw_1="previous")
    with pytest.raises(
        UsageError,
        match="but not the baseline original_rewritten; compare with a baseline of the same rewriter",
    ):
        check_baselines(own)


def test_a_record_about_another_run_says_nothing(tmp_path: Path) -> None:
    own = project(tmp_path, "base", base="", raw_1="previous")
    own.runs["raw_1"].write_text("1_1 Q0 e 1 2.0 mine\n")
    check_baselines(own)


def test_the_rewritten_original_turns_are_a_system_where_a_group_names_them(tmp_path: Path) -> None:
    (tmp_path / "o.tsv").write_text("1_1\tHow do bees live?\n1_2\tAnd in winter?\n")
    texts = {
        "original": Formulation("original", "original", rewrites=(TextSource(tmp_path / "o.tsv"),))
    }
    settings = RetrievalSettings(tmp_path, rewriter="previous")
    own = Project(
        formulations=texts,
        retrieval=settings,
        groups={"raw": Group("original_rewritten", ("raw_1",))},
    )
    found = systems_of(Workspace(own))
    assert [(system.name, system.raw, system.open) for system in found] == [
        ("original", False, ("1_1", "1_2")), ("original_rewritten", True, ("1_1", "1_2")),
    ]  # fmt: skip
    given = run_file(tmp_path, "given", None)
    for other in (
        replace(own, groups={"raw": Group("original", ("raw_1",))}), replace(own, runs={"original_rewritten": given}),
        replace(own, retrieval=replace(settings, rewriter=None)),
    ):  # fmt: skip
        assert [system.name for system in systems_of(Workspace(other))] == ["original"]
    with pytest.raises(
        UsageError,
        match="no run is named 'original_rewritten'; to retrieve it from the Original texts, set",
    ):
        Workspace(replace(own, retrieval=None)).system_files(["original_rewritten"])


def test_what_names_a_rewriter(tmp_path: Path) -> None:
    table, model = tmp_path / "t.tsv", tmp_path / "model"
    table.write_text("1_1\tHow do bees live?\n")
    model.mkdir()
    (model / "weights").write_text("1")
    names = [
        rewriter_identity(str(one)) for one in ("previous", "first", table, f"{table}:query", model)
    ]
    assert names[:2] == ["previous", "first"] and len(set(names)) == 5
    assert (
        names[2].startswith("t.tsv (")
        and names[3].startswith("t.tsv:query (")
        and names[4].startswith("model (")
    )
    (model / "weights").write_text("2")
    assert rewriter_identity(str(model)) != names[4]
