"""Fields of turns: the differences between samples are those of the study."""

from __future__ import annotations

from pathlib import Path

import pytest

import robustcs
from robustcs.project.reading import read_project
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.record import TurnRecords
from robustcs.studies.fields import turns_of


def turns(config: Path) -> TurnRecords:
    return turns_of(TurnInputs(Workspace(read_project(config))))


@pytest.fixture
def config(tmp_path: Path, demo: Path) -> Path:
    """A rewriter with two runs."""
    path = tmp_path / "robustcs.toml"
    path.write_text(
        f"""
qrels = "{demo}/qrels.txt"
metrics = ["ndcg_cut_3", "P_1"]
[policy]
relevance_level = 2
[formulations."qr:llm"]
run = ["{demo}/runs/stem_qr.trec", "{demo}/runs/plain_qr.trec"]
rewrites = "{demo}/topics.json:automatic"
[formulations.human]
run = "{demo}/runs/stem_human.trec"
rewrites = "{demo}/topics.json:manual"
""",
        "utf-8",
    )
    return path


def test_values_are_those_of_the_study(config: Path) -> None:
    rows = robustcs.samples(config).sample_turns
    rows = rows[rows["metric"] == "ndcg_cut_3"]
    records = turns(config)
    for row in rows.itertuples():
        own = records.record(row.turn)["systems"]["llm"]
        assert own["spread"] == pytest.approx(row.range, abs=1e-9)
    assert len(rows) == 70 and rows["range"].max() > 0.5
    assert len(records.table.where("spread@llm>0.5")) == (rows["range"] > 0.5).sum()


def test_the_measure_of_the_filter_counts(config: Path) -> None:
    rows = robustcs.samples(config).sample_turns
    wanted = rows[(rows["metric"] == "P_1") & (rows["range"] == 1)]["turn"].tolist()
    assert turns(config).table.where("at:P_1=1 spread=1") == wanted != []


def test_different_texts_of_a_turn(config: Path) -> None:
    (config.parent / "two.tsv").write_text("1_2\tHow do I make sourdough?\n1_3\tWhat is it?\n")
    config.write_text(
        config.read_text("utf-8").replace(':automatic"', ':automatic"\nsamples = "two.tsv"')
    )
    records = turns(config)
    known = set(records.table.where("wordings:*"))
    assert known == {"1_2", "1_3"} and set(records.table.where("wordings>1")) <= known
    assert records.table.where("wordings=2") != []


def test_samples_of_a_file(shared_data: Path, tmp_path: Path) -> None:
    path = tmp_path / "robustcs.toml"
    file = next((shared_data / "formats/llm4cs").glob("*rewrite*"))
    path.write_text(f'[formulations.qr]\nrewrites = "{file}"\n')
    table = turns(path).table
    # SPEC 11: of 479 turns, 48% have samples that differ
    assert len(table.ids) == 479 and len(table.where("wordings>1")) == 232


def test_without_samples(demo: Path) -> None:
    columns = turns(demo / "robustcs.toml").table.columns
    assert "spread" not in columns and "wordings" not in columns


def test_files_of_samples_are_inputs(config: Path) -> None:
    result = robustcs.turns(config, where="spread>0.5", limit=1)
    paths = " ".join(str(one["path"]) for one in result.inputs)
    assert "plain_qr.trec" in paths and "stem_qr.trec" in paths
