"""Rows that cannot be used: skipped where they are few, refused where they are many, and never in runs and judgments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from robustcs.errors import InputError
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.readings import take_skipped
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores, read_slices
from robustcs.inputs.texts import read_samples, read_texts

#: What is written for a list of texts, of which an empty one cannot be used.
Written = Callable[[Path, list[str]], object]


def _lines(line: str, header: str = "") -> Written:
    def write(path: Path, texts: list[str]) -> None:
        rows = [
            line.replace("TURN", f"1_{place}").replace("TEXT", text)
            for place, text in enumerate(texts, 1)
        ]
        path.write_text(header + "\n".join(rows) + "\n")

    return write


def _json(make: Callable[[list[tuple[str, str]]], Any]) -> Written:
    def write(path: Path, texts: list[str]) -> None:
        path.write_text(
            json.dumps(make([(str(place), text) for place, text in enumerate(texts, 1)]))
        )

    return write


def _parquet(path: Path, texts: list[str]) -> None:
    ids = [f"1_{place}" for place in range(1, len(texts) + 1)]
    pd.DataFrame({"turn_id": ids, "query": [text or None for text in texts]}).to_parquet(path)


def _texts(path: Path) -> Any:
    return read_texts(path, "human")


FAMILIES: dict[str, tuple[Written, Callable[[Path], Any], str]] = {
    "TSV": (_lines("TURN\tTEXT"), _texts, "texts"),
    "TSV with a header": (_lines("TURN\tTEXT", "id\tquery\n"), _texts, "texts"),
    "CSV": (_lines('TURN,"TEXT"', "id,query\n"), _texts, "texts"),
    "JSONL": (_lines('{"id": "TURN", "query": "TEXT"}'), _texts, "texts"),
    "JSON by turn": (_json(lambda rows: {f"1_{turn}": text for turn, text in rows}), _texts, "texts"),
    "CAsT topics": (
        _json(lambda rows: [{"number": 1, "turn": [{"number": int(turn), "manual_rewritten_utterance": text}
                                                   for turn, text in rows]}]),
        _texts, "texts",
    ),
    "iKAT topics": (
        _json(lambda rows: [{"number": "1", "ptkb": {}, "turns": [
            {"turn_id": turn, "utterance": "a", "resolved_utterance": text} for turn, text in rows]}]),
        _texts, "texts",
    ),
    "Parquet": (_parquet, _texts, "texts"),
    "gold answers, JSONL": (_lines('{"id": "TURN", "answers": ["TEXT"]}'), read_gold_answers, "answers"),
    "gold answers": (_json(lambda rows: {f"1_{turn}": [text] for turn, text in rows}), read_gold_answers, "answers"),
    "paraphrases": (
        _lines("TURN,TEXT,b", "TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n"), read_paraphrases, "paraphrases"
    ),
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_one_of_twenty_is_skipped_and_two_of_39_are_refused(tmp_path: Path, family: str) -> None:
    write, read, what = FAMILIES[family]
    path = tmp_path / "file"
    write(path, ["a"] * 20)
    assert len(read(path)) == 20 and take_skipped(path, True) is None
    write(path, ["a"] * 4 + [""] + ["a"] * 15)
    assert list(read(path)) == [f"1_{turn}" for turn in range(1, 21) if turn != 5]
    skipped = take_skipped(path, False)
    assert skipped is not None and str(skipped) == f"1 of 20 {what} empty"
    assert take_skipped(path, False) is None, "it is told once"
    read(path)
    with pytest.raises(InputError) as strict:
        take_skipped(path, True)
    assert [problem.line for problem in strict.value.problems] == [skipped.problems[0].line]
    assert "1_5: " in str(strict.value) and strict.value.total == 1
    write(path, ["a"] * 4 + [""] + ["a"] * 33 + [""])
    with pytest.raises(InputError) as refused:
        read(path)
    first, *rows = str(refused.value).splitlines()
    assert (
        first
        == f"{path}: 2 of 39 {what} cannot be used; correct them: at most 5% of a file may be skipped"
    )
    assert ["1_5: " in rows[0], "1_39: " in rows[1], len(rows)] == [True, True, 2]
    assert take_skipped(path, False) is None, "what an earlier reading skipped is forgotten"


LINES = [f'{{"id": "1_{place}", "query": "a"}}' for place in range(1, 20)]


@pytest.mark.parametrize(
    "broken",
    [
        '{"id": "1_',
        "garbage",
        "[1]",
        '{"id": "1_20"}',
        '{"query": "b"}',
        '{"id": "1_20", "query": 7}',
    ],
)
@pytest.mark.parametrize("place", [1, 7, 19])
def test_a_line_that_is_no_record_is_skipped_wherever_it_stands(
    tmp_path: Path, broken: str, place: int
) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join([*LINES[:place], broken, *LINES[place:]]))
    assert len(read_texts(path, "human")) == 19
    skipped = take_skipped(path, False)
    assert skipped is not None and str(skipped) == "1 of 20 texts unusable"
    assert [problem.line for problem in skipped.problems] == [place + 1]


def test_lines_of_tables_that_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "texts"
    rows = [f"1_{place},a" for place in range(1, 39)]
    path.write_text("\n".join(["id,query", *rows[:5], '1_39,"b" c', *rows[5:], "1_40"]))
    assert len(read_texts(path, "human")) == 38
    skipped = take_skipped(path, False)
    assert skipped is not None and [problem.line for problem in skipped.problems] == [7, 41]
    # a quote that takes further rows with it has the file refused
    path.write_text("\n".join(["id,query", *rows[:5], '1_39,"b', *rows[5:]]))
    with pytest.raises(InputError, match="not CSV"):
        read_texts(path, "human")
    # so does a second text of a turn, beside a row that is skipped
    path.write_text("\n".join(["id,query", *rows, "1_39", "1_1,b"]))
    with pytest.raises(InputError) as caught:
        read_texts(path, "human")
    assert [problem.slug for problem in caught.value.problems] == ["contradicting-entries"]


def test_a_broken_line_of_whole_conversations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "topics.jsonl"
    turns = [{"turn_id": place, "question": "a", "manual_rewrite": "b"} for place in range(1, 41)]
    path.write_text(
        json.dumps({"conv_id": "1", "turns": turns}) + '\n{"conv_id": "2", "turns": [\n'
    )
    with pytest.raises(InputError, match="not JSON"):
        read_texts(path, "human")


def test_an_empty_draw_keeps_its_place(tmp_path: Path) -> None:
    path = tmp_path / "rewrites.jsonl"
    draws = [["a", "b"]] * 18 + [["a", " "], ["", "b"], [None, ""]]
    path.write_text(
        "\n".join(
            json.dumps({"sample_id": f"1_{n}", "predicted_rewrite": one})
            for n, one in enumerate(draws, 1)
        )
    )
    with pytest.raises(InputError, match="4 of 42 texts cannot be used"):
        read_samples(path, "qr")
    more = [["a", "b"]] * 19
    path.write_text(
        path.read_text()
        + "".join(
            "\n" + json.dumps({"sample_id": f"2_{n}", "predicted_rewrite": one})
            for n, one in enumerate(more)
        )
    )
    samples = read_samples(path, "qr")
    assert [samples[turn] for turn in ("1_1", "1_19", "1_20", "1_21")] == [
        ("a", "b"),
        ("a", ""),
        ("", "b"),
        ("", ""),
    ]
    assert str(take_skipped(path, False)) == "4 of 80 texts empty"
    # the first draw stands for the rewriter: without it the turn has no text
    assert read_texts(path, "qr").keys() == samples.keys() - {"1_20", "1_21"}


def test_slices(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("\n".join(["turn\tkind", *(f"1_{place}\ta" for place in range(1, 20)), "\ta"]))
    assert (
        len(read_slices(path)["kind"]) == 19
        and str(take_skipped(path, False)) == "1 of 20 rows unusable"
    )


def test_a_prediction_may_be_empty(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({f"1_{place}": "" for place in range(40)}))
    assert len(read_predicted_answers(path)) == 40 and take_skipped(path, True) is None


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_scores, "\n".join([*(f"P_1 1_{place} 0.5" for place in range(1, 100)), "P_1 1_100 high"])),
        (read_qrels, "\n".join(["turn,doc_id,grade", *(f"1_1,d{place},1" for place in range(99)), "1_2"])),
        (read_qrels, "\n".join([*(f"1_1 0 d{place} 1" for place in range(99)), "1_2 0"])),
        (read_run, "\n".join([*(f"1_1 Q0 d{place} 1 1 t" for place in range(99)), "1_2 Q0"])),
        (read_run, "\n".join([*(f'{{"turn_id": "{n}", "references": {{"d": 1}}, "responses": []}}' for n in range(99)), "{"])),
    ],
    ids=["scores", "qrels, a table", "qrels", "run", "run, JSONL"],
)  # fmt: skip
def test_runs_and_judgments_skip_nothing(
    tmp_path: Path, read: Callable[[Path], object], text: str
) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.problems[0].line == 100 + text.startswith("turn")
