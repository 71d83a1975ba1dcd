"""Files of today's collections, untouched: iKAT, LLM4CS, MTRAG, query variations; each against a plain reading of its bytes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from robustcs.conversations import Conversations
from robustcs.errors import InputError
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.sniff import identify
from robustcs.inputs.texts import TextFile, read_samples, read_texts


@pytest.fixture(scope="module")
def formats(shared_data: Path) -> Path:
    return shared_data / "formats"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("file", "turns_name", "raw", "turns", "conversations"),
    [
        ("2023_train_topics.json", "turns", "utterance", 95, 8),
        ("2024_test_topics.json", "turns", "utterance", 218, 17),
        ("2025_test_topics.json", "responses", "user_utterance", 188, 9),
    ],
)
def test_ikat_topics(
    formats: Path, file: str, turns_name: str, raw: str, turns: int, conversations: int
) -> None:
    topics = json.loads((formats / "ikat" / file).read_text())
    expected = {
        role: {
            f"{topic['number']}_{turn['turn_id']}": turn[field].strip()
            for topic in topics
            for turn in topic[turns_name]
        }
        for role, field in (("original", raw), ("human", "resolved_utterance"))
    }
    original = read_texts(formats / "ikat" / file, "original")
    assert original == expected["original"]
    assert read_texts(formats / "ikat" / file, "human") == expected["human"]
    for name in ("original", "raw", raw):
        assert read_texts(formats / "ikat" / file, "qr", name) == expected["original"]
    assert read_texts(formats / "ikat" / file, "qr", "manual") == expected["human"]
    assert len(original) == turns
    units = set(map(Conversations.from_ids(original).unit, original))
    assert units == {str(topic["number"]).split("-")[0] for topic in topics}
    assert len(units) == conversations
    with pytest.raises(
        InputError, match="no column 'rewritten_utterance'; the columns are: turn_id, "
    ):
        read_texts(formats / "ikat" / file, "qr")


def test_an_ikat_run_ranks_its_provenance(formats: Path) -> None:
    path = formats / "ikat/2024_sample_run.json"
    run = read_run(path, ranks=True)
    expected = [
        (turn["turn_id"], passage["id"])
        for turn in json.loads(path.read_text())["turns"]
        for response in turn["responses"]
        for passage in response["passage_provenance"]
    ]
    assert (
        list(zip([run.turns[code] for code in run.turn_codes], run.ids.texts(), strict=True))
        == expected
    )
    assert (len(run.turns), len(run)) == (218, 2180)
    assert run.scores[0] == pytest.approx(3.160177230834961)
    assert run.ranks is not None
    assert run.ranks[:11].tolist() == [*range(1, 11), 1]
    assert set(run.turns) == set(read_texts(formats / "ikat/2024_test_topics.json", "original"))


def test_samples_of_llm4cs(formats: Path) -> None:
    path = formats / "llm4cs/cast19_rewrites.jsonl"
    samples = read_samples(path, "qr")
    assert samples == {
        one["sample_id"]: tuple(map(str.strip, one["predicted_rewrite"])) for one in lines_of(path)
    }
    assert len(samples) == 479
    assert {len(some) for some in samples.values()} == {5}
    # SPEC, section 11: of 479 turns, 48 % have samples that differ
    assert round(sum(len(set(some)) > 1 for some in samples.values()) / 479, 2) == 0.48
    assert read_texts(path, "qr") == {turn: some[0] for turn, some in samples.items()}
    assert TextFile(path).notes("qr") == (
        "cast19_rewrites.jsonl has up to 5 texts for a turn; the first is used",
    )
    with pytest.raises(
        InputError,
        match=r":1: no column 'oracle_utt_text'; the columns are: sample_id, predicted_rewrite",
    ):
        read_texts(path, "human")


def test_topics_of_llm4cs_are_those_of_cast(formats: Path, shared_data: Path) -> None:
    path = formats / "llm4cs/cast19_test.json"
    raw, human = read_texts(path, "original"), read_texts(path, "human")
    topics = read_texts(shared_data / "cast2019/topics.json", "original")
    assert list(raw) == list(topics)
    assert sum(raw[turn] == topics[turn] for turn in topics) >= 470
    assert list(human) == list(topics)
    assert human["31_2"] == "Is throat cancer treatable?"


def test_mtrag_asks_the_last_that_was_said(formats: Path) -> None:
    files = {
        name: formats / f"mtrag/clapnq_{name}.jsonl"
        for name in ("lastturn", "rewrite", "questions")
    }
    last, rewrite, whole = (read_texts(path, "original") for path in files.values())
    assert last == {
        one["_id"]: one["text"].removeprefix("|user|: ").strip()
        for one in lines_of(files["lastturn"])
    }
    assert whole == last
    assert rewrite["dd6b6ffd177f2b311abe676261279d2f<::>2"] == (
        "Where do the Arizona Cardinals play, regardless of location, this week?"
    )
    history = read_texts(files["questions"], "original", "conversation")
    assert history["dd6b6ffd177f2b311abe676261279d2f<::>2"] == (
        "where do the arizona cardinals play this week Do the Arizona Cardinals play outside the US?"
    )
    assert not any(
        "|user|" in text for texts in (last, rewrite, whole, history) for text in texts.values()
    )
    turn = "dd6b6ffd177f2b311abe676261279d2f<::>2"
    known = Conversations.from_ids(last)
    assert (known.unit(turn), known.depth(turn)) == ("dd6b6ffd177f2b311abe676261279d2f", 2)
    qrels = read_qrels(formats / "mtrag/clapnq_qrels_dev.tsv")
    rows = [
        line.split("\t")
        for line in (formats / "mtrag/clapnq_qrels_dev.tsv").read_text().splitlines()[1:]
    ]
    documents = qrels.ids.texts()
    read = [[qrels.turns[turn], document, str(grade)]
            for turn, document, grade in zip(qrels.turn_codes, documents, qrels.grades, strict=True)]  # fmt: skip
    assert read == rows
    assert set(qrels.turns) == set(last)
    assert len(set(map(Conversations.from_ids(qrels.turns).unit, qrels.turns))) == 29


def test_original_texts_of_query_variations(formats: Path) -> None:
    path = formats / "variations/variations_trec2019_labeled.csv"
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert read_texts(path, "original") == {row["q_id"]: row["original_query"] for row in rows}


def test_every_file_is_known(formats: Path) -> None:
    found = {path.name: identify(path) for path in sorted(formats.rglob("*")) if path.is_file()}
    assert {name: one and (one.kind, one.family) for name, one in found.items()} == {
        "2023_train_topics.json": ("texts", "iKAT topics"),
        "2024_sample_run.json": ("run", "an iKAT run"),
        "2024_test_topics.json": ("texts", "iKAT topics"),
        "2025_test_topics.json": ("texts", "iKAT topics"),
        "cast19_rewrites.jsonl": ("texts", "rewrites by LLM4CS or ConvGQR"),
        "cast19_test.json": ("texts", "LLM4CS topics"),
        "clapnq_lastturn.jsonl": ("texts", "BEIR or MTRAG queries"),
        "clapnq_qrels_dev.tsv": ("qrels", "BEIR qrels"),
        "clapnq_questions.jsonl": ("texts", "BEIR or MTRAG queries"),
        "clapnq_rewrite.jsonl": ("texts", "BEIR or MTRAG queries"),
        "variations_trec2019_labeled.csv": ("paraphrases", "labelled query variations"),
    }


@pytest.mark.parametrize("reader", [read_run, read_qrels])
def test_readers_name_what_they_were_given(formats: Path, reader: Any) -> None:
    path = formats / "ikat/2025_test_topics.json"
    with pytest.raises(InputError) as caught:
        reader(path)
    assert str(caught.value) == f"{path}: these are iKAT topics; use them with --rewrites"
    path = formats / "mtrag/clapnq_qrels_dev.tsv"
    with pytest.raises(InputError) as caught:
        read_texts(path, "original")
    assert str(caught.value) == f"{path}: these are BEIR qrels; use them with --qrels"
