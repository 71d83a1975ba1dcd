"""Fields and filters on public data, against figures that other programs computed."""

from __future__ import annotations

import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import robustcs
from robustcs.studies.turns.analysis import TurnList

Inputs = dict[str, Any]


@pytest.fixture(scope="module")
def cast2019(shared_data: Path) -> Inputs:
    folder = shared_data / "cast2019"
    runs = folder / "runs"
    return {
        "qrels": folder / "qrels.txt.gz",
        "relevance_level": 2,
        "original": runs / "bert_base_raw.trec.gz",
        "qr": runs / "bert_base_cv.trec.gz",
        "human": runs / "bert_base_oracle.trec.gz",
        "rewrites": {
            "original": folder / "topics.json",
            "qr": runs / "rewrites_cv.jsonl",
            "human": folder / "topics_resolved.tsv",
        },
    }


@pytest.fixture(scope="module")
def cast2020(shared_data: Path) -> Inputs:
    folder = shared_data / "cast2020"
    runs = folder / "runs"
    return {
        "qrels": folder / "qrels.txt.gz",
        "relevance_level": 2,
        "original": runs / "bert_raw.trec.gz",
        "qr": runs / "bert_auto.trec.gz",
        "human": runs / "bert_manual.trec.gz",
    }


def places(result: TurnList, system: str) -> list[int]:
    """The number of turns in each place, and of all of them."""
    found = [result.record(turn)["systems"][system].get("place", {}) for turn in result.ids]
    counts = Counter(one.get("ndcg_cut_3>=0.5") for one in found)
    del counts[None]
    names = ("top", "10", "100", "deeper", "absent", "none")
    return [sum(counts.values()), *(counts[name] for name in names)]


def mean_of(result: TurnList, system: str) -> float:
    """The mean NDCG@3 of a system over the scored turns."""
    scores = [result.record(turn)["systems"][system]["scores"] for turn in result.ids]
    return statistics.fmean(one["ndcg_cut_3"] for one in scores if one)


def test_ranker_errors_of_2019(cast2019: Inputs) -> None:
    """The 69 turns of the headline; published counts of bins: SPEC 1."""
    result = robustcs.turns(**cast2019, where="cause:ranker")
    assert (result.selected, result.known, len(result.ids)) == (69, 479, 69)
    counts = {
        "cause:rewriter": 25,
        "cause:correct": 79,
        "at:ndcg_cut_3>0 cause:ranker": 18,
        'at:"NDCG@3">0 cause:rewriter': 18,
        "-cause:*": 479 - 173,
    }
    for where, number in counts.items():
        assert robustcs.turns(**cast2019, where=where).selected == number, where


def test_every_count_of_causes_can_be_listed(cast2019: Inputs) -> None:
    names = {"qa": "ranker", "qr": "rewriter", "correct": "correct"}
    rows = robustcs.breakdown(**cast2019).tables["attribution"]
    assert len(rows) == 12
    for row in rows.itertuples():
        where = f"at:{row.metric}{row.threshold} cause:{names[row.cause]}"
        assert robustcs.turns(**cast2019, where=where).selected == row.count, where


# places in the order top, 10, 100, deeper, absent, none: SPEC 23
def test_places_of_2019(cast2019: Inputs) -> None:
    result = robustcs.turns(**cast2019)
    assert places(result, "original") == [120, 29, 10, 11, 0, 68, 2]
    assert places(result, "qr") == [90, 47, 19, 8, 0, 14, 2]
    assert places(result, "human") == [69, 40, 13, 7, 0, 7, 2]
    assert robustcs.turns(**cast2019, where="place@qr:10,100").selected == 27


def test_places_and_ranker_errors_of_2020(cast2020: Inputs) -> None:
    result = robustcs.turns(**cast2020, where="cause:ranker")
    assert (result.selected, result.known) == (112, 208)
    result = robustcs.turns(**cast2020)
    assert places(result, "original") == [183, 19, 13, 16, 4, 122, 9]
    assert places(result, "qr") == [156, 35, 22, 25, 3, 62, 9]
    assert places(result, "human") == [112, 46, 23, 14, 0, 20, 9]


def test_turns_without_judgments_have_a_conversation(cast2019: Inputs) -> None:
    result = robustcs.turns(**cast2019, turn="31_4")
    record = result.record("31_4")
    assert record["texts"]["original"] == "What are its symptoms?"
    assert [one["text"] for one in record["history"]] == [
        "What is throat cancer?",
        "Is it treatable?",
        "Tell me about lung cancer.",
    ]
    assert (record["conversation"], record["depth"]) == ("31", 4)
    assert record["systems"]["qr"]["cause"].keys() == {
        "P_1=1",
        "ndcg_cut_3>0",
        "ndcg_cut_3>=0.5",
        "ndcg_cut_3=1",
    }
    judged = sum(record["judged"].values())
    assert robustcs.turns(**cast2019, where=f"turn:31_4 judged={judged}").ids == ("31_4",)


@pytest.mark.parametrize(
    ("cell", "counts"),
    [
        ("t5/bm25", [50, 7, 45, 4, 7, 60]),
        ("t5/bert", [90, 11, 6, 3, 3, 60]),
        ("raw/bert", [49, 53, 2, 2, 7, 60]),
        ("manual/bm25", [54, 2, 48, 5, 4, 60]),
    ],
)
def test_blame_in_a_grid(shared_data: Path, cell: str, counts: list[int]) -> None:
    """SPEC 18: correct, wording, ranker, either, both, none."""
    folder = shared_data / "cast2019"
    cells = {
        f"{wording}/{ranker}": folder / "decaf" / f"{file}_{wording}.run.gz"
        for wording in ("raw", "t5", "manual")
        for ranker, file in (("bm25", "bm25"), ("bert", "bm25_bert"))
    }
    result = robustcs.turns(
        qrels=folder / "qrels.txt.gz",
        relevance_level=2,
        components=cells,
        metrics="ndcg_cut_3",
        thresholds=">=0.5",
    )
    blame = [
        result.record(turn)["systems"][cell]["blame"]["ndcg_cut_3>=0.5"] for turn in result.ids
    ]
    found = Counter(blame)
    causes = ("correct", "wording", "ranker", "either", "both", "none")
    assert [found[cause] for cause in causes] == counts
    means = {name: mean_of(result, name) for name in cells}
    assert list(result.systems) == sorted(cells, key=lambda name: -means[name])[:4]


@pytest.fixture(scope="module")
def mtragun(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of three systems that answer, with labels, gold passages and conversations."""
    folder = shared_data / "mtragun"
    qrels = [str(folder / f"qrels_{name}.tsv") for name in ("clapnq", "cloud", "fiqa", "govt")]
    tasks = {name: str(folder / f"{name}.jsonl.gz") for name in ("gemini", "glm", "meno")}
    path = tmp_path_factory.mktemp("mtragun") / "robustcs.toml"
    lines = [f'{name} = "{file}"' for name, file in tasks.items()]
    path.write_text(
        f"[answers]\ngold_passages = {qrels!r}\nlabels = '{folder / 'reference.jsonl.gz'}'\n"
        "[answers.tasks]\n" + "\n".join(lines) + "\n",
        "utf-8",
    )
    return path


def test_made_up_answers_are_found(mtragun: Path) -> None:
    """What ``robustcs answers`` counts is listed, with the answers and conversations."""
    outcomes = robustcs.answers(mtragun).tables["outcomes"]
    made_up = outcomes[outcomes["outcome"] == "made_up"]
    assert made_up.groupby("system")["count"].sum().to_dict() == {"gemini": 0, "glm": 0, "meno": 42}
    for where in ("outcome@meno:made_up", 'outcome:"Made up"'):
        result = robustcs.turns(mtragun, where=where)
        assert (result.selected, result.known) == (42, 507)
    for turn in result.ids:
        own = result.record(turn)["systems"]["meno"]
        assert own["answer"] and own["outcome"] == "made_up" and own["kind"] == "unanswerable"
    assert robustcs.turns(mtragun, where="outcome@gemini:made_up").ids == ()


def test_an_elliptical_turn_has_its_conversation(mtragun: Path) -> None:
    result = robustcs.turns(mtragun)
    records = [result.record(turn) for turn in result.ids]
    with_history = [record for record in records if record["history"]]
    assert len(with_history) > 200
    assert {one["who"] for record in records for one in record["history"]} == {"user", "agent"}
    assert all(record["texts"]["original"] for record in records)
    asked = next(one for one in with_history if len(one["texts"]["original"]) < 40)
    shown = robustcs.turns(mtragun, turn=asked["turn"]).to_markdown()
    assert asked["texts"]["original"] in shown
    assert asked["history"][0]["text"].split("\n")[0][:30] in shown
