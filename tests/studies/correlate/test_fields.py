"""Fields of turns: similarity and overlap are those of the study."""

from __future__ import annotations

import math
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


@pytest.mark.parametrize("settings", [{}, {"answers_by": "answer_jaccard"}])
def test_values_are_those_of_the_study(demo: Path, settings: dict[str, str]) -> None:
    config = demo / "robustcs.toml"
    pairs = robustcs.correlate(config, with_original=True, **settings).pairs
    table = turns(config).table
    y = next(name for name in pairs if name.startswith(("overlap_", "answer_jaccard")))
    field = "answer_similarity" if settings else "overlap"
    compared = 0
    for row in pairs.to_dict("records"):
        place = list(table.ids).index(row["turn"])
        for name, wanted in (("similarity", row["rouge1_f"]), (field, row[y])):
            value = table.columns[name].numbers[row["rewriter"]][place]
            assert value == pytest.approx(wanted, abs=1e-9), (row["turn"], name)
            compared += 1
    assert compared > 200


def test_they_are_in_whole_records_and_computed_on_request(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(
        "robustcs.studies.correlate.fields.overlap", lambda pair, depth: asked.append(depth)
    )
    records = turns(demo / "robustcs.toml")
    record = records.record("1_5", complete=False)
    assert "similarity" not in record["systems"]["qr"] and not asked
    assert record["systems"]["qr"]["cause"]["ndcg_cut_3>=0.5"] == "rewriter"
    with pytest.raises(AttributeError):  # what the function above returns is no array
        records.record("1_5")
    assert asked == [100]


def test_turns_without_both(tmp_path: Path) -> None:
    (tmp_path / "qr.trec").write_text("1_1 Q0 a 1 2 t\n1_1 Q0 b 2 1 t\n")
    (tmp_path / "human.trec").write_text("1_1 Q0 b 1 2 t\n1_1 Q0 c 2 1 t\n1_2 Q0 a 1 1 t\n")
    (tmp_path / "qr.tsv").write_text("1_1\tsharks\n1_3\tteeth\n")
    (tmp_path / "human.tsv").write_text("1_1\tshark\n1_2\tteeth\n1_3\tjaws\n")
    (tmp_path / "robustcs.toml").write_text(
        '[formulations.qr]\nrun = "qr.trec"\nrewrites = "qr.tsv"\n'
        '[formulations.human]\nrun = "human.trec"\nrewrites = "human.tsv"\n'
    )
    records = turns(tmp_path / "robustcs.toml")
    assert records.record("1_1")["systems"]["qr"]["overlap"] == 0.5
    assert records.record("1_1")["systems"]["qr"]["similarity"] == 1  # of stems
    assert records.record("1_3")["systems"]["qr"]["similarity"] == 0
    assert records.table.where("overlap:*") == ["1_1"]
    assert records.table.where("similarity@qr<1") == ["1_3"]
    assert math.isnan(records.table.columns["similarity"].numbers["qr"][1])
