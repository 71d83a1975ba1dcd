"""Turns of a comparison: the field change, the order of changed turns, and their records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robustcs
from robustcs.documents.page.pack import packed_turns
from robustcs.errors import UsageError
from robustcs.project.reading import read_project
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.compare.turns import changed_turns
from robustcs.studies.fields import turns_of
from tests.conftest import Command


@pytest.fixture(scope="module", params=["project", "report"])
def result(
    request: pytest.FixtureRequest, demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Comparison:
    """The demo against its plain rankings, which are a project or a report."""
    new = demo / "plain.toml"
    if request.param == "report":
        turns = turns_of(TurnInputs(Workspace(read_project(new))))
        new = tmp_path_factory.mktemp("report") / "turns.jsonl"
        turns.write(new)
    return robustcs.compare(demo / "robustcs.toml", new)


@pytest.mark.parametrize(
    ("where", "metric", "holds"),
    [
        ("change@qr<-0.2", "ndcg_cut_3", lambda change: change < -0.2),
        ("change@qr>0", "ndcg_cut_3", lambda change: change > 0),
        ("at:P_1=1 change@qr<0", "P_1", lambda change: change < 0),
        ('at:"P@1"=1 change@QR>=1', "P_1", lambda change: change >= 1),
    ],
)
def test_filters_select_the_rows_of_the_table(result: Comparison, where, metric, holds) -> None:  # type: ignore[no-untyped-def]
    rows = result.turns[(result.turns["system"] == "qr") & (result.turns["metric"] == metric)]
    expected = {row.turn for row in rows.itertuples() if holds(row.change)}
    assert expected and set(result.turns_where(where)) == expected


def test_filters_ask_for_the_new_state(result: Comparison) -> None:
    wrong = result.turns_where("change@qr<-0.2 cause@qr:rewriter")
    assert wrong and set(wrong) < set(result.turns_where("change@qr<-0.2"))
    for turn in wrong:
        own = result.record(turn)["systems"]["qr"]
        assert own["cause"]["ndcg_cut_3>=0.5"] == "rewriter"
    assert len(result.turns_where("change:*")) == 70
    assert result.turns_where("change=0 -change<0 -change>0")
    with pytest.raises(UsageError, match="no turn has a field 'chnge'; did you mean change"):
        result.turns_where("chnge@qr<0")


def test_changed_turns_are_in_the_order_of_their_changes(result: Comparison) -> None:
    sizes = np.abs(result.turns["change"].to_numpy())
    assert (np.diff(sizes) <= 0).all() and sizes[0] == 1


def test_a_record_has_its_changes_and_its_conversation(result: Comparison) -> None:
    row = result.turns[result.turns["metric"] == "ndcg_cut_3"].iloc[0]
    record = result.record(row.turn)
    assert record["change"][row.system]["ndcg_cut_3"] == pytest.approx(row.change, abs=1e-12)
    assert len(record["history"]) == (record["depth"] or 0) - 1 > 0
    unchanged = result.turns_where("change@human=0")[0]
    assert result.record(unchanged)["change"]["human"]["ndcg_cut_3"] == 0


def test_the_page_shows_both_states(result: Comparison) -> None:
    """With the conversation, texts of passages, and causes of the new state alone."""
    packed = packed_turns(changed_turns(result))
    assert set(packed["ids"]) == set(result.turns["turn"]) and packed["ids"][0] == "10_2"
    names = [name for name, _ in packed["systems"]]
    assert names[:2] == ["original, old", "original"] and len(names) == 6
    row = result.turns[(result.turns["system"] == "qr") & (result.turns["metric"] == "P_1")].iloc[0]
    place = packed["ids"].index(row.turn)
    fields = {one["name"]: one for one in packed["fields"]}
    scores = {name: values[place] for name, values in fields["P_1"]["columns"][0]}
    assert (scores["qr, old"], scores["qr"]) == (row.old, row.new)
    changes = dict(fields["change"]["columns"][packed["cuts"].index(_cut(packed, "P_1"))])
    assert changes["qr"][place] == row.change
    assert [name for name, _ in fields["cause"]["columns"][0]] == ["qr"]
    conversation = [packed["messages"][one] for one in packed["history"][place]]
    depth = dict(fields["depth"]["columns"][0])[""][place]
    assert len(conversation) == depth - 1 and packed["messages"]
    rankings = {name: tops[place] for name, tops in packed["rankings"]}
    assert rankings["qr, old"] != rankings["qr"]
    best = packed["passages"][rankings["qr, old"][0]]
    record = result.records[0].record(row.turn)  # type: ignore[index]
    assert best == record["systems"]["qr"]["ranking"][0][0]
    assert packed["passage_texts"][rankings["qr, old"][0]]
    assert "human" in dict(packed["texts"]) and "human, old" not in dict(packed["texts"])


def _cut(packed: dict[str, Any], measure: str) -> dict[str, Any]:
    return next(cut for cut in packed["cuts"] if measure in cut["names"])


def test_the_terminal_lists_the_largest_changes_first(in_demo: Command) -> None:
    line = "compare robustcs.toml plain.toml --metric ndcg_cut_3"
    out = in_demo(f"{line} --table turns").out
    table = out[out.index("Largest changes: 10 of 131 changed scores") :].splitlines()
    assert table[2].split() == [
        "Turn",
        "System",
        "Measure",
        "old",
        "new",
        "change",
        "what",
        "changed",
    ]
    changes = [float(row.split()[5].replace("−", "-")) for row in table[4:14]]
    assert changes == sorted(changes, key=abs, reverse=True) and abs(changes[0]) == 1
    rows = json.loads(in_demo(f"{line} --format json").out)["tables"]["turns"]
    assert [row["change"] for row in rows[:10]] == pytest.approx(changes, abs=5e-5)
