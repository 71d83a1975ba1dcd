"""A report in place of its project: the same tables, from the records of its turns."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.errors import InputError
from robustcs.project.reading import read_project
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.record import MOST_BYTES
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.fields import turns_of
from tests.conftest import Command

#: Tables in which only the names of the sides differ between a report and its project.
TABLES = ("measures", "turns", "conclusions", "gate", "reasons")
CAST = """\
qrels = "{data}/qrels.txt.gz"
metrics = ["ndcg_cut_3", "P_1", "map"]
policy.relevance_level = 2
formulations.original.run = "{data}/runs/bert_base_raw.trec.gz"
formulations.qr.run = "{qr}"
formulations.human.run = "{data}/runs/bert_base_oracle.trec.gz"
formulations.qr.rewrites = "{data}/runs/rewrites_cv.jsonl"
formulations.human.rewrites = "{data}/topics_resolved.tsv"
"""


def kept(project: Path, folder: Path, most: int = MOST_BYTES) -> Path:
    """The folder of a report with the records of the turns of a project alone."""
    folder.mkdir()
    turns = turns_of(TurnInputs(Workspace(read_project(project))))
    (folder / "turns.jsonl").write_bytes(turns.contents(most)[0])
    return folder


def tables(old: Path, new: Path, **options: Any) -> dict[str, Any]:
    result = robustcs.compare(old, new, fail_if=["drop>0.02", "qr>0.05"], **options)
    return {name: rows(result, name) for name in TABLES}


def rows(result: Comparison, name: str) -> list[dict[str, Any]]:
    return json.loads(result.tables[name].to_json(orient="records", double_precision=15))


@pytest.fixture(scope="module")
def cast(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CAsT 2019 with the rewriter's run, with that of raw turns in its place, and both as reports."""
    folder, data = tmp_path_factory.mktemp("cast"), shared_data / "cast2019"
    for name, run in (("old", "bert_base_cv"), ("new", "bert_base_raw")):
        text = CAST.format(data=data, qr=data / "runs" / f"{run}.trec.gz")
        (folder / f"{name}.toml").write_text(text)
        kept(folder / f"{name}.toml", folder / f"{name}_report")
        kept(folder / f"{name}.toml", folder / f"{name}_cut", most=10)
    return folder


@pytest.mark.parametrize("evidence", ["test", "bounds"])
def test_cast_2019(cast: Path, evidence: str) -> None:
    """Also the bounds, the judged shares and the passages that are new are the same."""
    expected = tables(cast / "old.toml", cast / "new.toml", evidence=evidence)
    assert len(expected["measures"]) == 9 and {one["outcome"] for one in expected["gate"]} > {
        "passed"
    }
    found = tables(cast / "old_report", cast / "new.toml", evidence=evidence)
    assert found == expected


def test_both_are_reports(cast: Path) -> None:
    """Without the runs, the grades of unjudged passages vary separately in both states."""
    expected = tables(cast / "old.toml", cast / "new.toml")
    found = tables(cast / "old_report", cast / "new_report")
    for name in ("turns", "conclusions"):
        assert found[name] == expected[name]
    for own, other in zip(found["measures"], expected["measures"], strict=True):
        for key in own.keys() - {"low", "high", "rescored"}:
            assert own[key] == other[key], key
    for own, other in zip(found["gate"], expected["gate"], strict=True):
        assert (own["outcome"], own["reason"]) == (other["outcome"], other["reason"])


def test_rankings_that_were_cut(cast: Path) -> None:
    """To ten passages a turn, which hold all that NDCG@3 and P@1 see, but not what MAP does."""
    result = robustcs.compare(cast / "old_cut", cast / "new.toml", fail_if=["drop>0.02"])
    told = [note for note in result.evaluated.notes if "depth kept" in note]
    assert told == [
        f"rankings are compared at the depth kept (10) of {cast / 'old_cut'}, where MAP has no"
        " bounds; name the project instead"
    ]
    expected = robustcs.compare(cast / "old.toml", cast / "new.toml", fail_if=["drop>0.02"])
    assert list(result.turns["why"]) == list(expected.turns["why"])
    for own, other in zip(rows(result, "measures"), rows(expected, "measures"), strict=True):
        for key in ("old", "new", "change", "p", "p_corrected", "judged_old", "entered"):
            assert own["metric"] == "map" or own[key] == other[key], key
        if own["metric"] == "map":
            assert own["low"] is None is own["high"] and own["change"] == other["change"]
        else:
            assert other["low"] - 0.02 <= own["low"] <= other["low"] + 1e-12
        assert own["new_passages"] <= other["new_passages"]
        assert own["new_passages"] + own["possibly_new"] >= other["new_passages"]
    assert list(result.gate["outcome"]) == list(expected.gate["outcome"])


def test_equal_rankings_to_the_depth_kept(cast: Path) -> None:
    """Nothing changed; that this is so further down is not known."""
    same = robustcs.compare(cast / "old_cut", cast / "old.toml", no_worse_than=0.01)
    found = {row.metric: row.reason for row in same.gate.itertuples() if row.system == "qr"}
    assert found["ndcg_cut_3"] == found["P_1"] == "no turn differs"
    assert same.outcome == "cannot tell"
    assert found["map"].startswith("no score differs, but rankings do")
    assert robustcs.compare(cast / "old_report", cast / "old.toml", no_worse_than=0.01).outcome == (
        "passed"
    )


def test_the_demo(demo: Path, tmp_path: Path) -> None:
    """With answers, a grid, groups, and a system that misses a turn."""
    report = kept(demo / "robustcs.toml", tmp_path / "report")
    expected = tables(demo / "robustcs.toml", demo / "plain.toml")
    assert tables(report, demo / "plain.toml") == expected
    back = tables(demo / "plain.toml", demo / "robustcs.toml")
    found = tables(demo / "plain.toml", report)
    for own, other in zip(found["gate"], back["gate"], strict=True):
        assert (own["system"], own["outcome"]) == (other["system"], other["outcome"])
    assert found["turns"] == back["turns"]


def test_formulations_and_groups(demo: Path, tmp_path: Path) -> None:
    report = kept(demo / "robustcs.toml", tmp_path / "report")
    result = robustcs.compare(report, demo / "robustcs.toml", fail_if=["made_up>0.02"])
    assert result.outcome == "passed"
    old, new = result.old, result.new
    assert old.formulations == new.formulations and old.groups == new.groups and old.groups
    assert old.systems.keys() == new.systems.keys() and old.judgments == new.judgments
    assert old.systems["qr"] == new.systems["qr"] and old.systems["qr"].outcomes
    assert old.missing == new.missing == 1


# ---------------------------------------------------------------- broken files


def test_a_broken_line(in_copy: Command, tmp_path: Path, demo: Path) -> None:
    folder = tmp_path / "demo"
    report = kept(folder / "robustcs.toml", folder / "report")
    lines = (report / "turns.jsonl").read_text("utf-8").splitlines(keepends=True)
    lines[4] = lines[4].replace('"scores"', '"points"', 1)
    (report / "turns.jsonl").write_text("".join(lines), "utf-8")
    for name in ("report", "report/turns.jsonl"):
        answer = in_copy(f"compare {name} robustcs.toml", code=3)
        assert answer.err == (
            "report/turns.jsonl:5: its values are not those that robustcs writes; run robustcs"
            " report again, or name the project file\n"
        )


def test_a_report_that_is_moved(demo: Path, tmp_path: Path) -> None:
    """A file of records stands for its report; only in its folder its checksum is known."""
    report = kept(demo / "robustcs.toml", tmp_path / "report")
    shutil.copy(report / "turns.jsonl", tmp_path / "turns.jsonl")
    found = robustcs.compare(tmp_path / "turns.jsonl", demo / "robustcs.toml")
    assert not len(found.turns)
    manifest = {"report.html": "0" * 64, "turns.jsonl": "0" * 64}
    (report / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match="turns.jsonl: it was changed since the report was"):
        robustcs.compare(report, demo / "robustcs.toml")
