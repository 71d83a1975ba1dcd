"""``result.turns_where``: the turns that ``robustcs turns --where`` lists, on the results of any study."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import robustcs
from robustcs.errors import InputError, UsageError
from tests.conftest import Command

#: Studies of the demo about the turns of its project.
STUDIES = ("breakdown", "sweep", "correlate", "evaluate", "unjudged", "robustness", "review",
           "answers", "turns")  # fmt: skip


def listed(command: Command, where: str, *more: str) -> list[str]:
    """The turns that the command lists."""
    line = ["turns", "--where", f"'{where}'", *more, "--format json --table records"]
    rows = json.loads(command(" ".join(line)).out)["tables"]["records"]
    return [row["turn"] for row in rows]


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_selects_what_the_command_lists(name: str, in_demo: Command) -> None:
    result = getattr(robustcs, name)("robustcs.toml")
    for where in ('cause:rewriter type:"words dropped"', "outcome@qr:wrong", "sourdough first>3"):
        turns = result.turns_where(where)
        assert turns == listed(in_demo, where) != []


def test_measure_threshold_and_slices_are_those_of_the_call(
    in_demo: Command, tmp_path: Path
) -> None:
    path = tmp_path / "length.tsv"
    path.write_text("turn\thard\n1_5\tyes\n4_2\tyes\n2_6\tno\n")
    result = robustcs.breakdown("robustcs.toml", metric="P_1", slices=path)
    where = "cause:rewriter hard:yes"
    turns = result.turns_where(where)
    assert turns == listed(in_demo, where, f"--metric P_1 --slices {path}")
    lost = result.turns.query("cause == 'qr'")["turn"].tolist()
    assert turns == [turn for turn in ("1_5", "4_2") if turn in lost] == ["1_5", "4_2"]


def test_changed_results_select_turns_and_sent_ones_do_not(demo: Path) -> None:
    result = robustcs.evaluate(demo / "robustcs.toml")
    changed = result.changed(measures=result.measures)
    assert changed.turns_where("turn:1_5") == ["1_5"]
    with pytest.raises(UsageError, match="this result of evaluate has no turns of a project"):
        pickle.loads(pickle.dumps(result)).turns_where("turn:1_5")


def test_inputs_in_memory() -> None:
    run = {"1_1": {"a": 1.0, "b": 0.5}, "1_2": {"b": 1.0}}
    result = robustcs.evaluate({"1_1": {"b": 1}, "1_2": {"b": 1}}, {"Acme": run})
    assert result.turns_where("first@acme=2") == ["1_1"]


def test_what_selects_no_turns(demo: Path, tmp_path: Path) -> None:
    config = demo / "robustcs.toml"
    (tmp_path / "empty.toml").write_text("")
    snippets = robustcs.agreement(
        project=tmp_path / "empty.toml", snippets=demo / "annotations/workers.jsonl"
    )
    with pytest.raises(UsageError, match=r"no runs, texts or answers are given; .*runs="):
        snippets.turns_where("cause:ranker")
    with pytest.raises(UsageError, match="did you mean cause"):
        robustcs.evaluate(config).turns_where("cuase:ranker")


def test_inputs_that_went(demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "qr.trec"
    path.write_text((demo / "runs/stem_qr.trec").read_text("utf-8"), "utf-8")
    result = robustcs.evaluate(demo / "qrels.txt", path)
    path.unlink()
    with pytest.raises(InputError, match=r"qr\.trec"):
        result.turns_where("first:1")
