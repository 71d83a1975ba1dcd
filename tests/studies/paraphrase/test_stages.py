"""Paraphrases in stages: by a program, by tiny models, by hand."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.errors import UsageError
from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.inputs.texts import read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.similarity.stripping import strip_feedback
from robustcs.studies.paraphrase.stages import (
    Made,
    Paraphrased,
    Request,
    paraphrase,
    without_context,
)
from tests.conftest import Command
from tests.retrieval_support import needs_transformers, save_mono_t5, save_rewriter

RAW = {"1_1": "Wow! What is honey?", "1_2": "Cool. Why doesn't it spoil?", "2_1": "What is tea?"}
MANUAL = {"1_1": "What is honey?", "1_2": "Cool. Why doesn't honey spoil?", "2_1": "What is tea?"}
EVALUATED = Evaluated(EvaluationPolicy(), "texts", 0, 0)


def told(answers: dict[str, list[str]]) -> Any:
    """A maker that answers by text, and notes what it was asked."""

    def make(requests: Sequence[Request]) -> Made:
        make.asked += requests  # type: ignore[attr-defined]
        return Made(
            "told",
            {request: answers[request.text] for request in requests if request.text in answers},
        )

    make.asked = []  # type: ignore[attr-defined]
    return make


def test_every_stage_gets_what_the_one_before_made() -> None:
    reformulate = told({"Why doesn't it spoil?": ["Why does honey keep?"]})
    write = told({
        "What is honey?": ["Define honey.", "", "Define  honey!", "What can honey be said to be?"],
        "What is tea?": ["Tell me about tea.", "what is TEA?", "x", "y"],
        "Why doesn't honey spoil?": ["How come honey never rots?"],
    })  # fmt: skip
    remove = told({"How come honey never rots?": ["How come it never rots?"], 
                   "Why doesn't honey spoil?": ["Why doesn't it spoil?"], "Why does honey keep?": [""]})  # fmt: skip
    makers: Any = {"reformulate": reformulate, "paraphrase": write, "remove_context": remove}
    result = paraphrase(RAW, MANUAL, makers, 3, ("raw", "manual"), EVALUATED)
    # turns that open a conversation are whole; feedback is taken off the turn and stays in the history
    assert reformulate.asked == [
        Request("reformulate", "1_2", "Why doesn't it spoil?", ("Wow! What is honey?",))
    ]
    assert [(one.turn, one.text, one.number) for one in write.asked] == [
        ("1_1", "What is honey?", 3), ("1_2", "Why doesn't honey spoil?", 3), ("1_2", "Why does honey keep?", 3),
        ("2_1", "What is tea?", 3),
    ]  # fmt: skip
    assert {one.text for one in remove.asked} == {
        "How come honey never rots?", "Why does honey keep?", "Why doesn't honey spoil?",
    }  # fmt: skip
    stages = result.stages.set_index("stage")
    assert dict(stages["requests"]) == {"reformulate": 1, "paraphrase": 4, "remove_context": 3}
    assert dict(stages["failed"]) == {"reformulate": 0, "paraphrase": 1, "remove_context": 0}
    assert dict(stages["empty"]) == {"reformulate": 0, "paraphrase": 1, "remove_context": 1}
    assert list(result.paraphrases.itertuples(index=False, name=None)) == [
        ("1_1", "manual", "What is honey?", "Define honey.", "Define honey."),
        (
            "1_2",
            "manual",
            "Why doesn't honey spoil?",
            "How come honey never rots?",
            "How come it never rots?",
        ),
        ("2_1", "manual", "What is tea?", "Tell me about tea.", "Tell me about tea."),
        ("2_1", "manual", "What is tea?", "x", "x"),
    ]
    # the empty one and the failed one became copies of their source; the other differs by its mark
    assert list(result.dropped[["turn", "kind", "relation", "dropped"]].itertuples(index=False, name=None)) == [
        ("1_1", "source", "exact", "What is honey?"), ("1_1", "manual", "few characters", "Define honey!"),
        ("1_2", "source", "exact", "Why does honey keep?"), ("2_1", "source", "exact", "what is TEA?"),
    ]  # fmt: skip
    everything = result.diversity.set_index(["stage", "source"])
    assert (
        everything.loc[("generated", "all"), "paraphrases"] == 8
        and everything.loc[("generated", "all"), "copies"] == 3
    )
    assert (
        everything.loc[("cleaned", "manual"), "paraphrases"] == 4
        and everything.loc[("cleaned", "manual"), "copies"] == 0
    )
    assert result.bleu.set_index("turns")["value"]["context removed"] == pytest.approx(100)
    assert list(result.stripped["before"]) == ["Wow!", "Cool.", "Cool."]


def test_cast_2021_without_feedback(shared_data: Path) -> None:
    """Table 9 of the ECAsT paper, "Original manual": 44.92; the turns as they are give 55.13."""
    path = shared_data / "cast2021" / "topics_manual.json.gz"
    nothing: Any = {"paraphrase": told({}), "remove_context": without_context}
    raw, manual = read_texts(path, "original"), read_texts(path, "human")
    result = paraphrase(raw, manual, nothing, 1, ("manual",), EVALUATED)
    value = result.bleu.set_index("turns")["value"]
    assert value["as they are"] == pytest.approx(55.13, abs=0.005)
    assert value["feedback taken off"] == pytest.approx(44.92, abs=0.005)
    # a tagger gave 34.09; word lists come near, and make turns less like raw ones as well
    assert value["nouns taken off"] == pytest.approx(38.22, abs=0.005)
    assert set(result.stripped["sentiment"]) == {"negative", "neutral", "positive"}
    assert len(result.stripped) == 101 + 94
    assert result.evaluated.notes[-1].startswith("239 turns without any paraphrase")


def test_cast_2020_without_nouns(shared_data: Path) -> None:
    path = shared_data / "cast2020" / "topics_manual.json"
    nothing: Any = {"paraphrase": told({}), "remove_context": without_context}
    raw, manual = read_texts(path, "original"), read_texts(path, "human")
    result = paraphrase(raw, manual, nothing, 1, ("manual",), EVALUATED, stripped=False)
    value = result.bleu.set_index("turns")["value"]
    assert value["as they are"] == pytest.approx(44.72, abs=0.005)
    # 30.16 with a tagger
    assert value["nouns taken off"] == pytest.approx(33.83, abs=0.005)
    assert value["as they are"] == value["feedback taken off"] and result.stripped.empty


def test_sentiment_of_what_is_taken_off() -> None:
    assert strip_feedback("That's awful. What else?").sentiment == "negative"
    assert strip_feedback("Great, thanks! What else?").sentiment == "positive"
    assert strip_feedback("I live in Seattle. What else?").sentiment == "neutral"
    assert (
        strip_feedback("Why?  Why?").question == "Why?"
        and strip_feedback("Why?  Why?").before == "Why?"
    )
    assert strip_feedback("What now").before == "" and strip_feedback("…").question == "…"


# ---------------------------------------------------------------- by a program

PROGRAM = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    with open("asked.log", "a") as log:
        log.write(line)
    text, words = request["text"], request["text"].split()
    if request["stage"] == "reformulate":
        answer = {"text": " ".join([*request["history"][:1], text])}
    elif request["stage"] == "paraphrase":
        answer = {"texts": [f"Tell me {n}: {text}" for n in ("please", "now or never")] + ["", "  "]}
    else:
        answer = {"text": " ".join(words[:2] + ["it"])}
    print("loading the model") if request["id"] == "0" else None
    if text != "What feeds a sourdough starter?":
        print(json.dumps({"id": request["id"], **answer}))
    if request["id"] == "1":
        print(json.dumps({"id": "1", "text": "again"}))
        print(json.dumps({"id": "nobody", "text": "x"}))
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ROBUSTCS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "program.py").write_text(PROGRAM)
    return "--with " + shlex.quote(f"{sys.executable} {tmp_path / 'program.py'}")


def test_a_program_does_all_stages_and_is_asked_once(
    in_copy: Command, program: str, tmp_path: Path
) -> None:
    log = tmp_path / "demo" / "asked.log"
    line = f"paraphrase {program} --number 4 --folder made"
    shown = in_copy(line)
    assert max(map(len, shown.out.splitlines())) <= 80
    first = json.loads(in_copy(f"{line} --format json").out)["tables"]
    asked = [json.loads(text) for text in log.read_text().splitlines()]
    assert {one["stage"] for one in asked} == {"reformulate", "paraphrase", "remove_context"}
    assert all(set(one) == {"id", "turn", "stage", "text", "history", "n", "seed"} for one in asked)
    assert sum(row["requests"] for row in first["stages"]) == len(asked)
    # the second start knew everything
    assert all(row["known"] == row["requests"] and not row["useless"] for row in first["stages"])
    written = read_paraphrases(tmp_path / "demo" / "made" / "paraphrases.csv")
    rows = [(row.turn, row.manual, row.raw) for some in written.values() for row in some]
    assert rows == [(row["turn"], row["manual"], row["raw"]) for row in first["paraphrases"]]
    for row in first["paraphrases"]:
        manual = row["manual"].split()
        assert row["raw"] == (
            row["manual"] if row["turn"].endswith("_1") else " ".join([*manual[:2], "it"])
        )
    # the sheet is a paraphrase file as well
    sheet = read_paraphrases(tmp_path / "demo" / "made" / "sheet.csv")
    assert [(row.turn, row.manual, row.raw) for some in sheet.values() for row in some] == rows
    in_copy("testsets --paraphrases made/sheet.csv --sets 2 --folder sets")
    # another seed is another question
    before = len(log.read_text().splitlines())
    in_copy(f"{line} --seed 2 --overwrite")
    assert len(log.read_text().splitlines()) > before


def test_what_a_program_gets_wrong_is_counted(in_copy: Command, program: str) -> None:
    found = json.loads(
        in_copy(f"paraphrase {program} --number 4 --turns manual --format json").out
    )["tables"]
    (row,) = [row for row in found["stages"] if row["stage"] == "paraphrase"]
    assert (row["useless"], row["failed"]) == (3, 0)
    assert row["empty"] == 2 * row["requests"] == 140
    assert [row["stage"] for row in found["stages"]] == ["paraphrase", "remove_context"]
    assert {row["source"] for row in found["paraphrases"]} == {"manual"}


def test_a_program_that_stops_is_taken_up_again(
    in_copy: Command, program: str, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    body = path.read_text()
    path.write_text(body.replace("for line in sys.stdin:", "import os\nfor n, line in enumerate(sys.stdin):\n"
                                 "    if n == 20 and not os.path.exists('again'): sys.exit('out of memory')"))  # fmt: skip
    line = f"paraphrase {program} --turns manual --context-remover nouns --format json"
    first = json.loads(in_copy(line).out)
    assert first["tables"]["stages"][0]["failed"] == 50
    assert "paraphrase: the program exited with status 1: out of memory" in first["notes"]
    (tmp_path / "demo" / "again").touch()
    second = json.loads(in_copy(line).out)["tables"]["stages"][0]
    assert (second["known"], second["failed"], second["requests"]) == (20, 0, 70)


def test_messages(
    in_copy: Command, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        "--vary and --with exclude each other"
        in in_copy(f"paraphrase --vary {program}", code=2).err
    )
    assert "--context-remover has no effect without --with; add --with" in in_copy(
        "paraphrase --context-remover nouns", code=2).err  # fmt: skip
    assert (
        "--with nothing-there: cannot be started"
        in in_copy("paraphrase --with nothing-there", code=2).err
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UsageError, match=r"no raw turns are given; add rewrites={'original': FILE}"
    ):
        robustcs.paraphrase(
            rewrites={"human": "demo/topics.json:manual"}, command="x", sources=["raw"]
        )
    for given in ({"sources": ["x"]}, {"context_remover": "x"}):
        with pytest.raises(UsageError, match="'x'; choose "):
            robustcs.paraphrase(rewrites={"human": "demo/topics.json:manual"}, command="x", **given)


# ---------------------------------------------------------------- by models

TURNS = {"1_1": "bees live", "1_2": "eat honey", "2_1": "bicycle chain"}


def by_models(folder: Path, **options: Any) -> Paraphrased:
    """The turns by the program of local models."""
    Path("turns.json").write_text(json.dumps(TURNS))
    project = robustcs.open_project(rewrites={"original": "turns.json"})
    words = [
        sys.executable,
        "-m",
        "robustcs.programs.models",
        "--reformulate",
        str(folder),
        "--paraphrase",
        str(folder),
    ]
    found = robustcs.paraphrase(
        project, command=shlex.join(words), context_remover="nouns", **options
    )
    assert isinstance(found, Paraphrased)
    return found


@needs_transformers
def test_models_reformulate_and_paraphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROBUSTCS_CACHE", str(tmp_path / "cache"))
    save_rewriter(tmp_path / "model")
    made = by_models(tmp_path / "model", number=3)
    assert (
        set(made.paraphrases["source_text"]) >= {"bees eat honey", "bicycle chain"}
        and made.stages["known"].sum() == 0
    )
    assert by_models(tmp_path / "model", number=3).paraphrases.equals(made.paraphrases)
    monkeypatch.setitem(TURNS, "3_1", "honey winter")
    counts = by_models(tmp_path / "model", number=3).stages.set_index("stage")
    assert counts["known"]["paraphrase"] == counts["requests"]["paraphrase"] - 1
    # the content of a model is part of what is known
    save_mono_t5(tmp_path / "model")
    assert by_models(tmp_path / "model", number=3).stages["known"].sum() == 0
