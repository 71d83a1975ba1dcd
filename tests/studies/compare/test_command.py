"""``robustcs compare`` as users run it."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from robustcs.cli.main import run
from robustcs.errors import UsageError
from robustcs.project.model import Project
from robustcs.project.workspace import Workspace
from robustcs.records.record import READ
from robustcs.studies.compare.study import ask
from tests.conftest import COMMANDS, ROOT, Command

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
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    line: str,
    code: int,
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
    assert row["outcome"] == "failed" and row["low"] > 0.02 and row["p_corrected"] < 0.05
    assert err.startswith("failed: ndcg_cut_3:qr drop>0.02: qr, NDCG@3: the mean drops by 0.")
    assert err.endswith("gate: failed (1 failed)\n")
    (changed,) = [entry for entry in result["tables"]["inputs"] if entry["state"] != "same"]
    assert (changed["role"], changed["state"]) == ("qr", "changed")
    assert {row["why"] for row in result["tables"]["turns"]} == {"ranking"}
    assert (result["policy"]["unit"], result["policy"]["units"]) == ("conversation", 10)
    tool(worse, monkeypatch, capfd, f"compare after before {DROP}", 0)


def test_a_report_stands_for_its_inputs(
    worse: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], undrawn: None
) -> None:
    tool(worse / "before", monkeypatch, capfd, "report --output ../kept", 0)
    from_project = json.loads(
        tool(worse, monkeypatch, capfd, "compare before after --format json", 0)[0]
    )["tables"]
    shutil.rmtree(worse / "before")
    out, _ = tool(worse, monkeypatch, capfd, f"compare kept after {DROP} --format json", 1)
    from_report = json.loads(out)["tables"]
    assert (
        from_report["turns"] == from_project["turns"]
        and from_report["conclusions"] == from_project["conclusions"]
    )
    assert len(from_report["measures"]) == len(from_project["measures"]) > 10
    for own, other in zip(from_report["measures"], from_project["measures"], strict=True):
        same = ("old", "new", "change", "ci_low", "ci_high", "p", "p_corrected", "rescored")
        assert all(own[name] == other[name] for name in same)
        # what the report did not keep by name, further down, may be other passages than those of the new run: a little wider
        assert other["low"] - 0.02 <= own["low"] <= other["low"] + 1e-12
        assert other["high"] - 1e-12 <= own["high"] <= other["high"] + 0.02


def test_a_report_stands_for_its_judgments_and_passages(
    in_copy: Command, tmp_path: Path, undrawn: None
) -> None:
    in_copy("report --config plain.toml --output kept")
    folder = tmp_path / "demo"
    later = (folder / "new_judgments.txt").read_text()
    (folder / "more.txt").write_text(
        (folder / "qrels.txt").read_text()
        + "".join(
            line
            for line in later.splitlines(keepends=True)
            if line.split()[2] not in (folder / "qrels.txt").read_text()
        )
    )
    (folder / "more.toml").write_text(
        (folder / "robustcs.toml").read_text().replace('"qrels.txt"', '"more.txt"')
    )
    tables = [
        json.loads(in_copy(f"compare {old} more.toml --format json --html {page}.html").out)[
            "tables"
        ]
        for old, page in (("plain.toml", "from_project"), ("kept", "from_report"))
    ]
    assert tables[0]["turns"] == tables[1]["turns"] and any(
        "judgments" in row["why"] for row in tables[0]["turns"]
    )
    for own, other in zip(tables[1]["measures"], tables[0]["measures"], strict=True):
        assert own["rescored"] == other["rescored"] is not None
    pages = [
        cards((folder / f"{name}.html").read_text("utf-8"))
        for name in ("from_project", "from_report")
    ]
    assert pages[0] == pages[1] and pages[0]["rankings"]
    assert len(pages[0]["passages"]) == len(pages[0]["passage_texts"]) > 10
    for _, rankings in pages[0]["rankings"]:
        for ranking in rankings:  # place of a passage, grade, and so on in turn
            assert all(pages[0]["passage_texts"][place] for place in ranking[: 2 * READ : 2])


def cards(page: str) -> dict[str, Any]:
    """The turns of a page, as it holds them for its list and reader."""
    [data] = re.findall(
        r'<script type="application/gzip" id="data">([A-Za-z0-9+/=]*)</script>', page
    )
    return dict(json.loads(gzip.decompress(base64.b64decode(data)))["turns"])


GONE = "compare robustcs.toml plain.toml --metric ndcg_cut_3 --fail-if 'drop>0.02'"


def test_a_gate_that_cannot_tell(in_copy: Command, tmp_path: Path) -> None:
    """Nine runs and two groups are gone, and the drops of the others are not significant."""
    answer = in_copy(f"{GONE} --gate-report gate.xml", code=5)
    assert (
        answer.out.startswith("Gate: cannot tell (drop>0.02)\n") and "Condition" not in answer.out
    )
    said = " ".join(answer.out.split())
    assert (
        "manual_1, manual_2 and 4 more: the run exists only in the old state; manual, raw: the group exists only"
        in said
    )
    assert answer.err == "wrote gate.xml\ngate: cannot tell (14 cannot tell)\n"
    assert max(map(len, answer.out.splitlines())) <= 80
    (suite,) = ElementTree.parse(tmp_path / "demo" / "gate.xml").getroot()
    assert (
        suite.get("tests"),
        suite.get("failures"),
        suite.get("errors"),
        suite.get("skipped"),
    ) == ("14", "0", "14", "0")
    assert in_copy(f"{GONE} --cannot-tell fail --table inputs", code=1).err.endswith(
        "gate: cannot tell (14 cannot tell)\n"
    )
    told = in_copy(f"{GONE} --cannot-tell pass --gate-report gate.json --format json")
    report, printed = (
        json.loads((tmp_path / "demo" / "gate.json").read_text()),
        json.loads(told.out),
    )
    assert (report["outcome"], report["exit_code"]) == ("cannot tell", 0)
    assert (
        report["tables"]["gate"] == printed["tables"]["gate"]
        and report["policy"] == printed["policy"]
    )
    (gone,) = [line for line in told.err.splitlines() if "the run exists only" in line]
    assert (
        gone.startswith("cannot tell: every condition: plain_original, plain_qr, ")
        and gone.count("manual_1") == 1
    )
    assert report["reasons"] == told.err.splitlines()[1:-1] and gone in report["reasons"]


def test_every_form_of_the_gate(in_demo: Command) -> None:
    """The table is one for people where everything passes, too, and for several conditions."""
    passed = in_demo(
        "compare plain.toml robustcs.toml --metric ndcg_cut_3 --no-worse-than 0.02 --table gate"
    )
    assert "Human     NDCG@3   −0.064 (−0.112 to −0.019)  passed" in passed.out
    assert (
        "Note: gate: one-sided paired test on the available judgments, p adjusted by max-T over 3 cases, 10 conversations"
        in (" ".join(passed.out.split()))
    )
    line = "compare plain.toml robustcs.toml --fail-if 'ndcg_cut_3:qr drop>0.02' --fail-if 'qr>0.05' --table gate --format"
    text, latex = (in_demo(f"{line} {form}", code=5).out for form in ("table", "latex"))
    assert max(map(len, text.splitlines())) <= 80 and "NDCG@3 = 1  +0.057" in text
    assert "\\toprule" in latex and "Outcome" in latex and "0000" not in latex


def test_a_project_without_a_name_is_called_by_its_side(tmp_path: Path) -> None:
    """In Python, a side may be a project that was never read from a file."""
    (tmp_path / "q").write_text("1_1 0 a 1\n")
    (tmp_path / "r").write_text("1_1 Q0 a 1 1 t\n")
    old, new = (
        Project(qrels=tmp_path / "q", runs={name: tmp_path / "r"}) for name in ("bm25", "dense")
    )
    found = r"^b2 \(bm25\) and the new project \(dense\) share no system name"
    with pytest.raises(UsageError, match=found):
        ask(Workspace(Project()), old=replace(old, name="b2"), new=new)  # type: ignore[arg-type]


def test_states_without_a_common_run_cannot_be_told(in_copy: Command, tmp_path: Path) -> None:
    """Without a gate they are a mistake."""
    (tmp_path / "demo" / "other.toml").write_text(
        'qrels = "qrels.txt"\n[runs]\nmine = "runs/stem_qr.trec"\n'
    )
    answer = in_copy(
        "compare plain.toml other.toml --fail-if 'drop>0.02' --fail-if ':mine p<0.05'", code=5
    )
    assert answer.err == "gate: cannot tell (5 cannot tell)\n" and answer.out.startswith(
        "Gate: cannot tell\n"
    )


def test_annotations_of_github(in_demo: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    answer = in_demo(f"{GONE} --format json", code=5)
    assert json.loads(answer.out)["command"] == "compare"
    title, why = "robustcs compare%3A every condition", "the run exists only in the old state"
    names = "plain_original, plain_qr, plain_human, manual_1, manual_2 and 4 more"
    assert f"::warning title={title}::cannot tell: {names}: {why}\n" in answer.err


def test_the_workflow_file_of_the_docs_works(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    """Its command lines run as they stand, on checkouts of two branches under the names that it gives them."""
    page = (ROOT / "docs" / "compare.md").read_text("utf-8")
    workflow, hook = (
        yaml.safe_load(block.partition("```")[0]) for block in page.split("```yaml\n")[1:]
    )
    steps = workflow["jobs"]["gate"]["steps"]
    for step in steps[:2]:
        shutil.copytree(demo, tmp_path / step["with"]["path"])
    shutil.copy(demo / "plain.toml", tmp_path / "old" / "robustcs.toml")
    (line,) = (step["run"] for step in steps if step.get("run", "").startswith("robustcs "))
    assert "\n" not in line.strip()
    _, err = tool(tmp_path, monkeypatch, capfd, line.removeprefix("robustcs "), 0)
    assert err == "wrote gate.xml\nwrote changes.html\ngate: passed (3 passed)\n"
    assert all((tmp_path / name).is_file() for name in steps[-1]["with"]["path"].split())
    entry = shlex.split(hook["repos"][0]["hooks"][0]["entry"])
    assert COMMANDS["compare"].make_context("compare", entry[2:]).params["fail_if"] == (
        "ndcg_cut_3 drop>0.02",
    )


# ---------------------------------------------------------------- CAsT 2019


@pytest.fixture(scope="module")
def cast(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rewriter's run (``old``), the run of the raw turns in its place, and its rankings upside down."""
    folder, data = tmp_path_factory.mktemp("cast"), shared_data / "cast2019"
    lines = (
        gzip.decompress((data / "runs" / "bert_base_cv.trec.gz").read_bytes()).decode().splitlines()
    )
    rows = [line.split() for line in lines]
    (folder / "reversed.trec").write_text(
        "".join(
            f"{turn} Q0 {passage} 0 {-float(score)} x\n" for turn, _, passage, _, score, _ in rows
        )
    )
    gone = {"31", "32", "33"}
    (folder / "gone.trec").write_text(
        "".join(f"{line}\n" for line in lines if line.partition("_")[0] not in gone)
    )
    runs = {
        "old": data / "runs" / "bert_base_cv.trec.gz",
        "raw": data / "runs" / "bert_base_raw.trec.gz",
    }
    for name in ("reversed", "gone"):
        runs[name] = folder / f"{name}.trec"
    head = (
        f'qrels = "{data / "qrels.txt.gz"}"\nmetrics = ["ndcg_cut_3"]\npolicy.relevance_level = 2\n'
    )
    for name, file in runs.items():
        (folder / f"{name}.toml").write_text(f'{head}[runs]\nqr = "{file}"\n')
    return folder


@pytest.mark.parametrize(("new", "drop"), [("raw", 0.1637), ("reversed", 0.4538)])
def test_wrecked_systems_fail(
    cast: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture, new: str, drop: float
) -> None:
    out, _ = tool(
        cast,
        monkeypatch,
        capfd,
        f"compare old.toml {new}.toml --fail-if 'drop>0.02' --format json",
        1,
    )
    (row,) = json.loads(out)["tables"]["gate"]
    assert row["drop"] == pytest.approx(drop, abs=5e-4) and row["p"] <= row["p_corrected"] < 0.001
    # whatever else is wrong
    assert "; the judged share of the top 3 falls from 88.2% to " in row["reason"]


def test_identical_states_pass(cast: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    line = "compare old.toml old.toml --fail-if 'drop>0' --fail-if 'p<0.05' --no-worse-than 0.01 --format json"
    out, _ = tool(cast, monkeypatch, capfd, line, 0)
    gate = json.loads(out)["tables"]["gate"]
    assert [(row["outcome"], row["reason"]) for row in gate] == [("passed", "no turn differs")] * 3


def test_lost_turns(cast: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    line = "compare old.toml gone.toml --fail-if 'drop>0.9' --format json"
    out, _ = tool(cast, monkeypatch, capfd, line, 5)
    (row,) = json.loads(out)["tables"]["gate"]
    assert (
        row["lost"] == 28 and "28 turns are gone (31_1, 31_2, 31_3, 31_4, 31_5 …)" in row["reason"]
    )
    tool(cast, monkeypatch, capfd, f"{line} --allow-missing 27", 5)
    tool(cast, monkeypatch, capfd, f"{line} --allow-missing 28", 0)


def test_expected_evidence(cast: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    """Half of the unjudged passages stand in one state alone; the hole model leaves the drop where it is."""
    line = "compare old.toml raw.toml --fail-if 'drop>0.02' --evidence expected --format json"
    out, _ = tool(cast, monkeypatch, capfd, line, 1)
    (row,) = json.loads(out)["tables"]["gate"]
    assert (
        abs(row["expected"] - row["drop"]) < 0.03
        and row["expected"] != row["drop"]
        and row["p_corrected"] < 0.001
    )
    assert any("unjudged passages filled in" in note for note in json.loads(out)["notes"])


def test_new_judgments_alone_are_no_drop(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    judged = {}
    for name in (
        "new_judgments.txt",
        "qrels.txt",
    ):
        # where both judged a passage, the first judgment stays
        judged |= {
            tuple(line.split()[:3]): line for line in (folder / name).read_text().splitlines()
        }
    (folder / "more.txt").write_text("".join(f"{line}\n" for line in judged.values()))
    (folder / "more.toml").write_text(
        (folder / "robustcs.toml").read_text().replace('"qrels.txt"', '"more.txt"')
    )
    result = json.loads(
        in_copy("compare robustcs.toml more.toml --fail-if 'drop>0' --format json").out
    )
    assert {row["why"] for row in result["tables"]["turns"]} == {"judgments"} and result["tables"][
        "turns"
    ]
    assert {row["outcome"] for row in result["tables"]["gate"]} == {"passed"}
    assert any(note.endswith(", both states with the new judgments") for note in result["notes"])
    for row in result["tables"]["measures"]:
        assert (
            row["rescored"] == pytest.approx(row["new"])
            and row["low"] == pytest.approx(0) == row["high"]
        )


def test_judgments_taken_away_are_told(in_copy: Command, tmp_path: Path) -> None:
    """Every run is as it was, but two of three judgments are gone."""
    folder = tmp_path / "demo"
    lines = (folder / "qrels.txt").read_text().splitlines(keepends=True)
    (folder / "fewer.txt").write_text("".join(lines[::3]))
    toml = (folder / "plain.toml").read_text()
    (folder / "fewer.toml").write_text(toml.replace('"qrels.txt"', '"fewer.txt"'))
    call = "compare plain.toml fewer.toml --metric ndcg_cut_3 --fail-if 'drop>0.02' --format json"
    for row in json.loads(in_copy(call, code=5).out)["tables"]["gate"]:
        assert row["outcome"] == "cannot tell" and "the new judgments cover" in row["reason"]


def test_the_page_shows_old_beside_new(in_copy: Command, tmp_path: Path) -> None:
    in_copy("compare plain.toml robustcs.toml --html changes.html")
    page = (tmp_path / "demo" / "changes.html").read_text("utf-8")
    known = cards(page)
    assert len(known["ids"]) > 40
    assert None not in {text for _, texts in known["texts"] for text in texts}
    fields = {one["name"]: one["columns"][0] for one in known["fields"]}
    assert None not in {score for _, scores in fields["ndcg_cut_3"] for score in scores}
    assert {"qr, old", "qr"} <= set(dict(known["rankings"]))
    assert "From plain.toml to robustcs.toml" in page
    assert {"change", "conversation", "depth", "P_1"} < set(fields)
    scores, changes = dict(fields["ndcg_cut_3"]), dict(fields["change"])["qr"]
    for old, new, change in zip(scores["qr, old"], scores["qr"], changes, strict=True):
        assert change is None or change == pytest.approx(new - old)


def test_the_project_of_the_current_folder_has_no_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    """Measures and sampling unit are those of the two states; only options replace them."""
    for side, shift in (("old", 0.5), ("new", 0.2)):
        (tmp_path / side).mkdir()
        rows = [
            f"ndcg_cut_3\t{topic}_{turn}\t{shift + topic / 100}\n"
            for topic in range(10)
            for turn in range(3)
        ]
        (tmp_path / side / "qr.eval").write_text("".join(rows))
        (tmp_path / side / "robustcs.toml").write_text(
            'policy.unit = "turn"\nformulations.qr.scores = "qr.eval"\n'
        )
    alone, _ = tool(
        tmp_path, monkeypatch, capfd, "compare old new --fail-if 'drop>0.1' --format json", 1
    )
    (tmp_path / "robustcs.toml").write_text(
        'metrics = ["P_1"]\nseed = 7\nqrels = "qrels of another study"\n'
    )
    beside, _ = tool(
        tmp_path, monkeypatch, capfd, "compare old new --fail-if 'drop>0.1' --format json", 1
    )
    assert json.loads(alone) == json.loads(beside)
    assert json.loads(alone)["policy"]["unit"] == "turn"


def test_per_turn_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    for side, shift in (("old", 0.5), ("new", 0.2)):
        folder = tmp_path / side
        folder.mkdir()
        rows = [
            f"ndcg_cut_3\t{topic}_{turn}\t{shift + topic / 100}\n"
            for topic in range(10)
            for turn in range(3)
        ]
        (folder / "qr.eval").write_text("".join(rows))
        (folder / "robustcs.toml").write_text('[formulations.qr]\nscores = "qr.eval"\n')
    out, err = tool(
        tmp_path, monkeypatch, capfd, "compare old new --fail-if 'drop>0.1' --format json", 1
    )
    (row,) = json.loads(out)["tables"]["gate"]
    assert (row["outcome"], row["low"], row["judged_new"]) == ("failed", None, None)
    assert {row["why"] for row in json.loads(out)["tables"]["turns"]} == {"scores"}
    out, _ = tool(
        tmp_path, monkeypatch, capfd, "compare old new --fail-if 'drop>0.1' --evidence bounds", 5
    )
    assert "the effect of unjudged passages is unknown" in " ".join(out.split())
    _, err = tool(
        tmp_path,
        monkeypatch,
        capfd,
        "compare old new --fail-if 'drop>0.1' --evidence expected --table inputs",
        5,
    )
    assert (
        "cannot tell: drop>0.1: qr, NDCG@3: the hole model needs the rankings of both states, not scores alone\n"
        in err
    )


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("compare nowhere robustcs.toml", 3, "nowhere"),
        (
            "compare runs robustcs.toml",
            2,
            "runs has neither robustcs.toml nor turns.jsonl; name a folder with robustcs.toml",
        ),
        (
            "compare turns.jsonl robustcs.toml",
            3,
            "turns.jsonl:1: the first line is not that of turns.jsonl; name a file of",
        ),
        (
            "compare earlier robustcs.toml",
            3,
            "earlier/state.json: the report was written by an earlier version, which kept no"
            " turns.jsonl; run robustcs report again, or name the project file",
        ),
        (
            "compare robustcs.toml robustcs.toml --fail-if 'drop>x'",
            2,
            "--fail-if 'drop>x' cannot be read; write 'drop>0.02'",
        ),
        ("compare robustcs.toml robustcs.toml --fail-if 'nonsense drop>0.1'", 2, "nonsense"),
        (
            "compare robustcs.toml robustcs.toml --no-worse-than -1",
            2,
            "--no-worse-than -1 is not at least 0 and below 1; write",
        ),
        (
            "compare robustcs.toml robustcs.toml --cannot-tell pass",
            2,
            "--cannot-tell needs a condition; add --fail-if",
        ),
        (
            "compare robustcs.toml robustcs.toml --fail-if 'drop>0' --gate-report x.txt",
            2,
            "name a file that ends in .json or",
        ),
        (
            "compare robustcs.toml robustcs.toml --fail-if 'drop>0' --gate-report no/x.xml",
            3,
            "no/x.xml: not written",
        ),
        (
            "compare robustcs.toml robustcs.toml --fail-if 'drop>0' --gate-report topics.json",
            2,
            "topics.json",
        ),
        ("compare robustcs.toml other.toml", 2, "give the same system the same name in both"),
    ],
)
def test_wrong_use(in_copy: Command, tmp_path: Path, line: str, code: int, message: str) -> None:
    folder = tmp_path / "demo"
    (folder / "turns.jsonl").write_text('{"format": "another"}')
    (folder / "earlier").mkdir()
    (folder / "earlier" / "state.json").write_text('{"format": "robustcs state 2"}')
    (folder / "other.toml").write_text('qrels = "qrels.txt"\n[runs]\nmine = "runs/stem_qr.trec"\n')
    assert message in in_copy(line, code=code).err


def test_judgments_that_are_no_pool_leave_the_hole_model_nothing_to_decide(
    tmp_path: Path, in_copy: Command
) -> None:
    project = tmp_path / "demo" / "plain.toml"
    text = project.read_text().replace('qrels = "qrels.txt"\n', "")
    project.write_text(f'{text}\n[qrels]\nfile = "qrels.txt"\nselection = "filtered"\n')
    answer = in_copy(
        "compare robustcs.toml plain.toml --fail-if ':human drop>0.01' --evidence expected --format json",
        code=5,
    )
    reasons = [row["reason"] for row in json.loads(answer.out)["tables"]["gate"]]
    assert any("not selected for judging by pooling" in reason for reason in reasons)
