"""``robustcs compare`` as users run it."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from tests.conftest import Command

Capture = pytest.CaptureFixture[str]
DROP = "--fail-if 'ndcg_cut_3:qr drop>0.02'"


#: The rankings of the demo alone, so that a report of them is soon made.
RANKINGS = """\
qrels = "qrels.txt"
policy.relevance_level = 2
formulations.original.run = "runs/stem_original.trec"
formulations.qr.run = "runs/stem_qr.trec"
formulations.human.run = "runs/stem_human.trec"
runs.plain_original = "runs/plain_original.trec"
runs.plain_qr = "runs/plain_qr.trec"
runs.plain_human = "runs/plain_human.trec"
"""


@pytest.fixture
def worse(demo: Path, tmp_path: Path) -> Path:
    """The rankings of the demo, and beside them a state whose QR run finds judged passages that are not relevant first."""
    for state in ("before", "after"):
        shutil.copytree(demo, tmp_path / "demo" / state)
        (tmp_path / "demo" / state / "robustcs.toml").write_text(RANKINGS)
    grades: dict[str, list[tuple[int, str]]] = {}
    for line in (demo / "qrels.txt").read_text().splitlines():
        turn, _, document, grade = line.split()
        grades.setdefault(turn, []).append((int(grade), document))
    lines = [
        f"{turn} Q0 {document} {rank} {100 - rank} worse\n"
        for turn, judged in grades.items()
        for rank, (_, document) in enumerate(sorted(judged), 1)
    ]
    (tmp_path / "demo" / "after" / "runs" / "stem_qr.trec").write_text("".join(lines))
    return tmp_path / "demo"


def tool(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], line: str, code: int
) -> tuple[str, str]:

    monkeypatch.chdir(folder)
    returned = run(shlex.split(line))
    out, err = capfd.readouterr()
    assert returned == code, err
    return out, err


def test_a_proven_drop_fails(worse: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    out, err = tool(worse, monkeypatch, capfd, f"compare before after {DROP} --format json", 1)
    result = json.loads(out)
    (row,) = result["tables"]["gate"]
    assert row["state"] == "failed" and row["low"] > 0.02 and row["p_corrected"] < 0.05
    assert err.startswith("failed: ndcg_cut_3:qr drop>0.02: qr, NDCG@3: +0.")
    (changed,) = [entry for entry in result["tables"]["inputs"] if entry["state"] != "same"]
    assert (changed["role"], changed["state"]) == ("qr", "changed")
    assert {row["why"] for row in result["tables"]["turns"]} == {"ranking"}
    assert (result["policy"]["unit"], result["policy"]["units"]) == ("conversation", 10)
    tool(worse, monkeypatch, capfd, f"compare after before {DROP}", 0)


def test_a_report_stands_for_its_inputs(
    worse: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    tool(worse / "before", monkeypatch, capfd, "report --output ../kept", 0)
    from_project = json.loads(tool(worse, monkeypatch, capfd, "compare before after --format json", 0)[0])["tables"]
    shutil.rmtree(worse / "before")
    out, _ = tool(worse, monkeypatch, capfd, f"compare kept after {DROP} --format json", 1)
    from_report = json.loads(out)["tables"]
    assert from_report["turns"] == from_project["turns"] and from_report["conclusions"] == from_project["conclusions"]
    assert len(from_report["measures"]) == len(from_project["measures"]) > 10
    for own, other in zip(from_report["measures"], from_project["measures"], strict=True):
        same = ("old", "new", "change", "ci_low", "ci_high", "p", "p_corrected", "rescored")
        assert all(own[name] == other[name] for name in same)
        # what the report did not keep by name, further down, may be other passages than those of the new run: a little wider
        assert other["low"] - 0.02 <= own["low"] <= other["low"] + 1e-12
        assert other["high"] - 1e-12 <= own["high"] <= other["high"] + 0.02


def test_a_report_stands_for_its_judgments_and_passages(in_copy: Command, tmp_path: Path) -> None:
    in_copy("report --config plain.toml --output kept")
    folder = tmp_path / "demo"
    later = (folder / "new_judgments.txt").read_text()
    (folder / "more.txt").write_text(
        (folder / "qrels.txt").read_text()
        + "".join(line for line in later.splitlines(keepends=True) if line.split()[2] not in (folder / "qrels.txt").read_text())
    )
    (folder / "more.toml").write_text((folder / "robustcs.toml").read_text().replace('"qrels.txt"', '"more.txt"'))
    tables = [
        json.loads(in_copy(f"compare {old} more.toml --format json --html {page}.html").out)["tables"]
        for old, page in (("plain.toml", "from_project"), ("kept", "from_report"))
    ]
    assert tables[0]["turns"] == tables[1]["turns"] and any("judgments" in row["why"] for row in tables[0]["turns"])
    for own, other in zip(tables[1]["measures"], tables[0]["measures"], strict=True):
        assert own["rescored"] == other["rescored"] is not None
    pages = [cards((folder / f"{name}.html").read_text("utf-8")) for name in ("from_project", "from_report")]
    assert pages[0] == pages[1] and pages[0]["runs"] and all(text for _, text in pages[0]["passages"])


def cards(page: str) -> dict[str, Any]:
    """The turns of a page, as it holds them for its dialog."""
    [data] = re.findall(r'<script type="application/gzip" id="data">([A-Za-z0-9+/=]*)</script>', page)
    return dict(json.loads(gzip.decompress(base64.b64decode(data)))["turns"])


def test_an_unproven_drop_is_told(in_demo: Command) -> None:
    answer = in_demo("compare robustcs.toml plain.toml --fail-if 'drop>0.02'")
    assert "unproven: drop>0.02: human, NDCG@3: +0.064" in answer.err and "Conditions that are met" in answer.out


def test_new_judgments_alone_are_no_drop(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    judged = {}
    for name in ("new_judgments.txt", "qrels.txt"):  # where both judged a passage, the first judgment stays
        judged |= {tuple(line.split()[:3]): line for line in (folder / name).read_text().splitlines()}
    (folder / "more.txt").write_text("".join(f"{line}\n" for line in judged.values()))
    (folder / "more.toml").write_text((folder / "robustcs.toml").read_text().replace('"qrels.txt"', '"more.txt"'))
    result = json.loads(in_copy("compare robustcs.toml more.toml --fail-if 'drop>0' --format json").out)
    assert {row["why"] for row in result["tables"]["turns"]} == {"judgments"} and result["tables"]["turns"]
    assert {row["state"] for row in result["tables"]["gate"]} == {"passed"}
    for row in result["tables"]["measures"]:
        assert row["rescored"] == pytest.approx(row["new"]) and row["low"] == pytest.approx(0) == row["high"]


def test_the_page_shows_old_beside_new(in_copy: Command, tmp_path: Path) -> None:
    in_copy("compare plain.toml robustcs.toml --html changes.html")
    page = (tmp_path / "demo" / "changes.html").read_text("utf-8")
    known = cards(page)
    assert len(known["turns"]) > 40 and None not in {text for turn in known["turns"] for text in turn["texts"]}
    assert None not in {score for turn in known["turns"] for row in turn["scores"] for score in row}
    assert {"qr, old", "qr, new"} <= set(known["runs"]) and "From plain.toml to robustcs.toml" in page


def test_per_turn_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    for side, shift in (("old", 0.5), ("new", 0.2)):
        folder = tmp_path / side
        folder.mkdir()
        rows = [f"ndcg_cut_3\t{topic}_{turn}\t{shift + topic / 100}\n" for topic in range(10) for turn in range(3)]
        (folder / "qr.eval").write_text("".join(rows))
        (folder / "robustcs.toml").write_text('[formulations.qr]\nscores = "qr.eval"\n')
    out, err = tool(tmp_path, monkeypatch, capfd, "compare old new --fail-if 'drop>0.1' --format json", 1)
    (row,) = json.loads(out)["tables"]["gate"]
    assert (row["state"], row["low"], row["note"]) == ("failed", None, "scores as given: their holes are unknown")
    assert {row["why"] for row in json.loads(out)["tables"]["turns"]} == {"scores"} and "their holes are unknown" in err


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("compare nowhere robustcs.toml", 3, "nowhere"),
        ("compare runs robustcs.toml", 2, "runs has neither robustcs.toml nor state.json; name a folder with robustcs.toml"),
        ("compare state.json robustcs.toml", 3, "state.json: this is no state of a robustcs report; make the report again"),
        ("compare robustcs.toml robustcs.toml --fail-if 'drop>x'", 2, "--fail-if 'drop>x' cannot be read; write 'drop>0.02'"),
        ("compare robustcs.toml robustcs.toml --fail-if ':t5 drop>0.1'", 2, "no run 't5' in both"),
        ("compare robustcs.toml robustcs.toml --fail-if 'map drop>0.1'", 2, "no map in both; there are P_1, ndcg_cut_3"),
        ("compare robustcs.toml other.toml", 2, "give the same system the same name in both"),
    ],
)
def test_wrong_use(in_copy: Command, tmp_path: Path, line: str, code: int, message: str) -> None:
    folder = tmp_path / "demo"
    (folder / "state.json").write_text('{"format": "another"}')
    (folder / "other.toml").write_text('qrels = "qrels.txt"\n[runs]\nmine = "runs/stem_qr.trec"\n')
    assert message in in_copy(line, code=code).err
