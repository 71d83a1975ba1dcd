"""Names with characters that mean something in filters, and in other cases than in the files, through the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import robustcs
from robustcs.records.filter import quoted
from tests.conftest import Command, _runner
from tests.studies.turns.test_filters import _shell

QR, RUN, TWIN = "T5: large @ v2", "acme:chat<small>", "ACME:Chat<Small>"
ANSWERS = "Gen=AI, <x>"
IDS = ("C:1_1", "a<b@c", "d_e>f", "Turn_4", "turn,5", 'say"6"')


@pytest.fixture
def names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Six turns; Human retrieves the relevant passage first, QR on every second turn, two runs with one name."""

    def run(name: str, right: list[bool]) -> str:
        lines = []
        for turn, first in zip(IDS, right, strict=True):
            top = ("good", "bad") if first else ("bad", "good")
            lines += [f"{turn} Q0 {top[0]} 1 2 t\n", f"{turn} Q0 {top[1]} 2 1 t\n"]
        (tmp_path / name).write_text("".join(lines), "utf-8")
        return name

    evens = [place % 2 == 0 for place in range(6)]
    run("human.trec", [True] * 6)
    run("qr.trec", evens)
    run("run.trec", [place < 2 for place in range(6)])
    run("twin.trec", [place == 5 for place in range(6)])
    (tmp_path / "qrels.txt").write_text("".join(f"{one} 0 good 2\n{one} 0 bad 0\n" for one in IDS))
    texts = {one: f"What about {one}?" for one in IDS}
    for name in ("human", "qr"):
        rows = [{"id": one, "text": text} for one, text in texts.items()]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "answers.json").write_text(json.dumps(dict.fromkeys(IDS[:3], "An answer.")))
    (tmp_path / "slices.tsv").write_text(
        "turn\tKind of: Turn\n"
        + "".join(f"{one}\tHow<Much> {place}\n" for place, one in enumerate(IDS))
    )
    review = {"turn": IDS[0], "categories": ["Entity: Lost"], "coder": "Ann <a@b>"}
    (tmp_path / "review.jsonl").write_text(json.dumps(review) + "\n")
    (tmp_path / "robustcs.toml").write_text(
        f"""
qrels = "qrels.txt"
metrics = ["P_1"]
[formulations.{json.dumps(f"qr:{QR}")}]
run = "qr.trec"
rewrites = "qr.jsonl"
[formulations.human]
run = "human.trec"
rewrites = "human.jsonl"
[runs]
{json.dumps(RUN)} = "run.trec"
{json.dumps(TWIN)} = "twin.trec"
[answers.responses]
{json.dumps(ANSWERS)} = "answers.json"
[review]
files = ["review.jsonl"]
""",
        "utf-8",
    )
    return _runner(tmp_path, monkeypatch, capfd)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (f"cause@{quoted(QR)}:rewriter", [1, 3, 5]),
        (f"cause@{quoted(QR.upper())}:REWRITER", [1, 3, 5]),
        (f"correct@{quoted(QR.lower())}:Yes -turn:{quoted('c:1 1')}", [2, 4]),
        # one name in two cases means both systems
        (f"correct@{quoted(RUN)}:yes", [0, 1, 5]),
        (f"p_1@{quoted(TWIN)}=1", [0, 1, 5]),
        (f'"p@1"@{quoted(QR)}<0.5', [1, 3, 5]),
        (f"-outcome@{quoted(ANSWERS.lower())}:No_Answer", [0, 1, 2]),
        (f"turn:{quoted('A<B@C')},{quoted('D_E>F')}", [1, 2]),
        (f"conversation:{quoted('TURN,5')}", [4]),
        (f'turn:{quoted(IDS[5])} {quoted("ABOUT SAY")}', [5]),
        (f"tag:{quoted('entity: lost')} coder:{quoted('ann <A@B>')}", [0]),
        (f"{quoted('kind of: turn')}:{quoted('how<much> 3')},{quoted('HOW<MUCH>_4')}", [3, 4]),
        (f"bin@{quoted(QR)}:{quoted('-01')}", [1, 3, 5]),
    ],
)  # fmt: skip
def test_filters(where: str, wanted: list[int], names: Command, tmp_path: Path) -> None:
    line = f"turns --slices slices.tsv --where {_shell(where)} --format json --table records"
    rows = json.loads(names(line).out)["tables"]["records"]
    turns = [IDS[place] for place in wanted]
    assert sorted(row["turn"] for row in rows) == sorted(turns)
    result = robustcs.breakdown("robustcs.toml", slices="slices.tsv")
    assert result.turns_where(where) == [row["turn"] for row in rows]


def test_orders_systems_and_turns(names: Command) -> None:
    sort, show = _shell(f"P_1@{quoted(QR.upper())}"), _shell(QR.lower())
    shown = names(f"turns --sort {sort} --show {show} --limit 1").out
    assert f"{QR} · P@1 0.0000 · first relevant at 2 · rewriter error" in " ".join(shown.split())
    one = names(f"turns --turn {_shell(IDS[1])} --show {show}").out
    assert f"Turn {IDS[1]}" in one and "What about a<b@c?" in one
    error = names(f"turns --where {_shell('cause@T5: large:rewriter')}", code=2).err
    assert "put values with spaces or : @ < > = , in quotes" in " ".join(error.split())


def test_bins_and_sheets(names: Command, tmp_path: Path) -> None:
    told = json.loads(names("breakdown --show=-01 --format json --table records").out)
    assert {row["turn"] for row in told["tables"]["records"]} == {IDS[1], IDS[3], IDS[5]}
    where = _shell(f"cause@{quoted(QR)}:rewriter")
    names(f"review --export sheet.jsonl --where {where} --show {_shell(QR.lower())}")
    drawn = [json.loads(line) for line in (tmp_path / "sheet.jsonl").read_text().splitlines()]
    assert {one["turn"] for one in drawn} == {IDS[1], IDS[3], IDS[5]}
    assert drawn[0]["systems"] == [QR]
    assert drawn[0]["sample"]["where"] == f"where cause@{quoted(QR)}:rewriter"
