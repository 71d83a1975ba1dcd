"""The unjudged share within slices of the turns."""

from __future__ import annotations

import json

import pytest

from tests.conftest import Command


def test_slices_add_up_to_the_rates(in_demo: Command) -> None:
    tables = json.loads(in_demo("unjudged --slices depth --slices pronoun --format json").out)[
        "tables"
    ]
    rates = {row["system"]: row for row in tables["rates"]}
    for run, whole in rates.items():
        for slicing in ("depth", "pronoun"):
            own = [
                row for row in tables["slices"] if (row["system"], row["slicing"]) == (run, slicing)
            ]
            for column in ("retrieved", "unjudged"):
                assert sum(row[column] for row in own) == whole[column]
    for row in tables["slices"]:
        assert row["share"] == pytest.approx(row["unjudged"] / row["retrieved"])
        assert row["ci_low"] <= row["share"] <= row["ci_high"]
        assert row["difference"] == pytest.approx(row["share"] - row["rest"])


def test_one_run_is_shown_of_many(in_demo: Command) -> None:
    shown = " ".join(in_demo("unjudged --slices conversation --table slices").out.split())
    assert shown.count("unjudged share of the top 3 by slice") == 1
    assert "Shown: the run with the largest unjudged share of 12; CSV and JSON have all." in shown
    assert "70 turns in 10 conversations" in shown


def test_without_slices_there_are_none(in_demo: Command) -> None:
    printed = json.loads(in_demo("unjudged --format json").out)
    assert printed["tables"]["slices"] == [] and "unit" not in printed["policy"]
