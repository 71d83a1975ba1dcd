"""``robustcs paraphrase`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.inputs.sniff import kind_of
from tests.conftest import Command


def test_variations_become_test_sets(in_copy: Command, tmp_path: Path) -> None:
    shown = in_copy("paraphrase --vary --folder varied")
    assert max(map(len, shown.out.splitlines())) <= 80
    path = tmp_path / "demo" / "varied" / "paraphrases.csv"
    assert kind_of(path) == "paraphrases"
    written = [
        (row.turn, row.category, row.manual, row.raw)
        for rows in read_paraphrases(path).values()
        for row in rows
    ]
    expected = robustcs.paraphrase(tmp_path / "demo" / "robustcs.toml").variations
    assert written == list(expected.itertuples(index=False, name=None))
    assert (
        "wrote varied/paraphrases.csv; next: robustcs testsets --paraphrases varied/paraphrases.csv"
        in shown.err
    )
    found = json.loads(
        in_copy("testsets --paraphrases varied/paraphrases.csv --sets 6 --format json").out
    )["tables"]
    assert {(row["turn"], row["category"], row["raw"]) for row in found["sets"]} <= {
        row[:2] + row[3:] for row in written
    }


def test_nothing_is_replaced_unasked(in_copy: Command) -> None:
    in_copy("paraphrase --vary --folder varied")
    in_copy("paraphrase --folder varied")
    assert (
        "paraphrases.csv: exists with other content"
        in in_copy("paraphrase --folder varied --seed 1", code=2).err
    )
    in_copy("paraphrase --folder varied --seed 1 --overwrite")


def test_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["paraphrase", "--vary"]) == 2
    assert capsys.readouterr().err == (
        "robustcs: no turns are given; add --rewrites original=FILE and --rewrites human=FILE\n"
    )
