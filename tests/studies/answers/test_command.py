"""``robustcs answers``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.documents.document import Figure, TableBlock
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.studies.answers.findings import answer_findings
from robustcs.studies.answers.questions import QUESTIONS
from robustcs.studies.answers.show import overview
from tests.conftest import Command

RESPONSES = "--response qr=responses/qr.jsonl --response human=responses/human.jsonl"


def test_the_demo(in_demo: Command) -> None:
    out = in_demo("answers").out
    assert max(map(len, out.splitlines())) <= 80
    for question in ("How much of the gold snippets do answers contain?", "How many of the nuggets do answers contain?",
                     "Which component loses vital nuggets?"):  # fmt: skip
        assert question in out
    assert (
        "70 turns in 10 conversations" in out
        and "a perfect rewriter would retrieve the passages of\nruns/stem_human.trec" in out
    )
    found = json.loads(in_demo("answers --format json").out)["tables"]
    vital = {(row["system"], row["cause"]): row["count"] for row in found["item_causes"]
             if (row["gold"], row["importance"]) == ("nuggets", "vital")}  # fmt: skip
    assert vital["human", "rewriter"] == 0 < vital["original", "rewriter"]
    for system in ("original", "qr", "human"):
        assert sum(count for (name, _), count in vital.items() if name == system) == 60
    # more of what the human question finds is held
    vital_score = {
        row["system"]: row["value"] for row in found["measures"] if row["metric"] == "nuggets_vital"
    }
    assert vital_score["human"] > vital_score["qr"] > vital_score["original"]


def test_a_report_shows_the_figure_of_one_system_once(demo: Path, tmp_path: Path) -> None:
    """It opens the question, and is no further figure below."""
    config = tmp_path / "robustcs.toml"
    config.write_text(f'[answers.responses]\nqr = "{demo / "responses" / "qr.jsonl"}"\n')
    answer = QUESTIONS[0].content
    assert answer is not None
    found = answer(Workspace(read_project(config)))
    blocks = [*found.overview, *found.blocks]
    assert [block.slug for block in blocks if isinstance(block, Figure)] == ["journey"]


def test_without_assignments_words_decide(in_demo: Command) -> None:
    found = json.loads(
        in_demo(f"answers {RESPONSES} --nuggets responses/nuggets.jsonl --format json").out
    )
    assert {row["metric"] for row in found["tables"]["measures"]} == {
        "nuggets_vital", "nuggets_vital_strict", "nuggets_all", "nuggets_all_strict", "length", "supported",
    }  # fmt: skip
    # the runs of the project with these names tell the causes, to the depth asked for
    assert (
        "assumption: each answer was generated from the top 3 passages of its run" in found["notes"]
    )
    shallow = json.loads(
        in_demo(
            f"answers {RESPONSES} --nuggets responses/nuggets.jsonl --read-depth 1 --format json"
        ).out
    )

    def generator(tables: dict[str, list[dict[str, object]]]) -> int:
        return sum(
            int(str(row["count"])) for row in tables["item_causes"] if row["cause"] == "generator"
        )

    assert generator(shallow["tables"]) < generator(found["tables"])


def test_answers_in_sentences_with_their_references(in_copy: Command, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    topics = [
        json.loads(line) for line in (folder / "responses/nuggets.jsonl").read_text().splitlines()
    ]
    rows = [{"topic_id": one["qid"], "run_id": "mine", "references": one["nuggets"][0]["passages"][:1],
             "answer": [{"text": "Nothing of that.", "citations": [0]}]} for one in topics[:40]]  # fmt: skip
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = json.loads(
        in_copy(
            "answers --response mine=mine.jsonl --nuggets responses/nuggets.jsonl --format json"
        ).out
    )
    assert "mine: assumption: each answer was generated from its references alone" in found["notes"]
    assert any(note.startswith("mine misses 20 turns") for note in found["notes"])
    causes = {
        row["cause"]: row["count"]
        for row in found["tables"]["item_causes"]
        if row["importance"] == "vital"
    }
    # every reference holds the nugget and no answer does; an answer that is lacking has no references either
    assert causes["generator"] == 40 and causes["covered"] == 0
    dropped = json.loads(in_copy(
        "answers --response mine=mine.jsonl --nuggets responses/nuggets.jsonl --missing drop --format json").out)  # fmt: skip
    assert dropped["policy"]["turns"] == 40


def test_assignments_alone_bring_their_answers(in_demo: Command) -> None:
    line = "answers --assignments qr=responses/assigned_qr.jsonl --assignments human=responses/assigned_human.jsonl"
    found = json.loads(in_demo(f"{line} --format json").out)["tables"]
    whole = json.loads(in_demo("answers --format json").out)["tables"]
    for metric in ("nuggets_vital", "length"):
        ours, theirs = ({row["system"]: row["value"] for row in tables["measures"] if row["metric"] == metric}
                        for tables in (found, whole))  # fmt: skip
        assert ours == {name: theirs[name] for name in ("qr", "human")}


def test_answers_alone_show_what_systems_did(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    refusal = "I do not have enough information to answer this question."
    said = {"Yes, it is a fish.": "answered", refusal: "abstained", "": "no_answer"}
    given = [*said] * 4
    (tmp_path / "a.json").write_text(
        json.dumps({f"{turn}_1": text for turn, text in enumerate(given)})
    )
    assert (
        run(
            [
                "answers",
                "--config",
                os.devnull,
                "--response",
                f"a={tmp_path / 'a.json'}",
                "--format",
                "json",
            ]
        )
        == 0
    )
    found = json.loads(capfd.readouterr().out)
    assert {row["outcome"]: row["count"] for row in found["tables"]["outcomes"]} == dict.fromkeys(
        said.values(), 4
    )
    assert {row["kind"] for row in found["tables"]["outcomes"]} == {"unknown"}
    assert not [note for note in found["notes"] if "missed items" in note]
    result = robustcs.answers(responses={"a": tmp_path / "a.json"})
    assert answer_findings(result) == (
        "a: 4 of 12 turns answered (33.3%); 4 abstained; 4 no answer.",
    )
    table, _ = overview(result)
    assert isinstance(table, TableBlock) and [row[0] for row in table.rows] == [
        "answered",
        "abstained",
        "no answer",
    ]


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("--nuggets responses/nuggets.jsonl", 2, "robustcs: no answers of systems are given; add --tasks NAME=FILE"),
        (f"{RESPONSES} --assignments qr=responses/assigned_qr.jsonl", 2,
         "robustcs: no assignments for human, but for qr; give assignments for all systems or for none: word"),
        (f"{RESPONSES} --nuggets responses/assigned_qr.jsonl --snippets responses/nuggets.jsonl", 3,
         "responses/nuggets.jsonl:1: not a file of snippet annotations"),
        ("--response a=clariq/need_hasty.txt --nuggets responses/nuggets.jsonl", 3, "clariq/need_hasty.txt"),
    ],
)  # fmt: skip
def test_wrong_use(in_demo: Command, line: str, code: int, message: str) -> None:
    assert in_demo(f"answers {line}", code).err.startswith(message)


def test_passages_that_the_collection_lacks_are_told(in_copy: Command, tmp_path: Path) -> None:
    collection = tmp_path / "demo" / "collection.jsonl"
    collection.write_text("".join(collection.read_text().splitlines(keepends=True)[::2]))
    found = json.loads(in_copy("answers --format json").out)
    (note,) = [note for note in found["notes"] if "has no text of" in note]
    assert note.startswith("collection.jsonl has no text of ") and note.endswith(" passages")
    assert "unknown" in {row["cause"] for row in found["tables"]["items"]}


def test_a_majority_of_annotators_makes_the_gold(in_demo: Command) -> None:
    found = json.loads(
        in_demo(f"answers {RESPONSES} --snippets annotations/workers.jsonl --format json").out
    )
    assert "snippets: text that at least 2 of 3 annotators selected" in found["notes"]
    texts = {row["text"] for row in found["tables"]["items"]}
    assert "cover loosely and keep at room temperature" in " ".join(texts)
    assert " · correct: recall of snippets ≥ 0.5 (QR: " in found["policy"]["line"]


def test_the_figure_and_the_report_section(in_copy: Command, tmp_path: Path) -> None:
    in_copy("answers --output causes.svg")
    svg = (tmp_path / "demo" / "causes.svg").read_text()
    assert "gold passage given" in svg and "correct" in svg


def test_advice_on_files_names_options_of_this_command(in_demo: Command) -> None:
    assert (
        in_demo("answers --tasks a=qrels.txt", code=3).err
        == "qrels.txt: these are TREC qrels; use them with --gold-passages\n"
    )
    assert in_demo("answers --gold-passages runs/stem_qr.trec", code=3).err.endswith(
        "a TREC run; use it with --passages\n"
    )
