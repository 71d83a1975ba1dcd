"""Drops by category of variation: against sums by hand, and the whole chain on CAsT 2020 with BM25."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robustcs.cli.main import run
from robustcs.inputs.paraphrases import Paraphrase, read_paraphrases
from robustcs.inputs.texts import read_texts
from robustcs.statistics.units import units_of
from robustcs.studies.robustness.analysis import categories_of, variation_drops
from tests.statistics.test_families import brute_force

ROWS = {
    "1_1": (
        Paraphrase("1_1", "Same", "raw A", 2, "typo"),
        Paraphrase("1_1", "b", "raw B", 3, "order"),
    ),
    "1_2": (
        Paraphrase("1_2", "c", "raw C", 4, "typo"),
        Paraphrase("1_2", "C ", "raw D", 5, "order"),
    ),
    "1_3": (Paraphrase("1_3", "e", "raw E", 6),),
}


def test_a_category_is_told_by_the_text() -> None:
    # of the second turn two categories have the text; the third has no category; nobody knows the fourth
    texts = {"1_1": " B", "1_2": "c", "1_3": "e", "1_4": "x"}
    assert categories_of(ROWS, texts, False, {}) == {"1_1": "order"}
    assert categories_of(ROWS, {"1_1": "RAW a", "1_2": "raw d"}, True, {}) == {
        "1_1": "typo",
        "1_2": "order",
    }
    # the manual text that a variation left as it is
    assert categories_of(ROWS, {"1_1": "same"}, False, {"1_1": "Same"}) == {}
    assert categories_of(ROWS, {"1_1": "same"}, False, {"1_1": "Other"}) == {"1_1": "typo"}


def test_drops_are_means_over_turns_of_means_over_sets() -> None:
    rng = np.random.default_rng(5)
    turns = [f"{topic}_{depth}" for topic in range(1, 9) for depth in range(1, 6)]
    base, scores = rng.random(40), rng.random((40, 4))
    names = np.array(["", "typo", "order", "ellipsis"])[rng.integers(0, 4, (40, 4))]
    names[names == "ellipsis"] = np.where(
        rng.random((names == "ellipsis").sum()) < 0.9, "", "ellipsis"
    )
    categories = [
        {turn: str(name) for turn, name in zip(turns, column, strict=True) if name}
        for column in names.T
    ]
    found = {
        row["category"]: row
        for row in variation_drops(turns, base, scores, categories, units_of(turns), None, 0)
    }
    cells: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (turn, set_), name in np.ndenumerate(names):
        if name:
            cells[name][turn].append(scores[turn, set_])
    assert found.keys() == cells.keys()
    for name, by_turn in cells.items():
        values = {turn: np.mean(some) for turn, some in by_turn.items()}
        row = found[name]
        assert (row["turns"], row["texts"]) == (len(values), sum(map(len, by_turn.values())))
        assert row["value"] == pytest.approx(np.mean(list(values.values())))
        assert row["baseline"] == pytest.approx(np.mean([base[turn] for turn in values]))
        assert row["drop"] == pytest.approx(row["baseline"] - row["value"])
        if row["turns"] > 20:
            assert row["ci_low"] < row["drop"] < row["ci_high"] and 0 < row["p"] <= 1
    # one family over all conversations: 0 where a category has no turn
    sums = np.zeros((len(found), 8))
    for place, name in enumerate(found):
        for turn, some in cells[name].items():
            sums[place, turn // 5] += base[turn] - np.mean(some)
    adjusted = [row["p_corrected"] for row in found.values()]
    assert adjusted == pytest.approx(
        np.maximum([row["p"] for row in found.values()], brute_force(sums, False))
    )


def bm25_index(passages: dict[str, str]) -> Any:
    """BM25 over words."""
    import bm25s

    index = bm25s.BM25(method="lucene", k1=0.9, b=0.4, dtype="float64", backend="numpy")
    index.index(
        [re.findall(r"\w+", text.lower()) for text in passages.values()], show_progress=False
    )
    return index


def bm25_run(path: Path, texts: dict[str, str], ids: list[str], index: Any) -> None:
    """The best 50 passages; ties by place in the collection."""
    lines = []
    for turn, text in texts.items():
        scores = np.round(index.get_scores(sorted(re.findall(r"\w+", text.lower()))), 6)
        best = np.argsort(-scores, kind="stable")[:50]
        lines += [
            f"{turn} Q0 {ids[place]} {rank} {scores[place]} t\n"
            for rank, place in enumerate(best, 1)
        ]
    path.write_text("".join(lines))


def test_the_whole_chain_on_cast_2020(
    shared_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Vary, draw, rank, compare: word order costs a bag of words nothing, a typo does; the two formulations are told apart."""
    monkeypatch.chdir(tmp_path)
    data = shared_data / "cast2020"
    topics = data / "topics_manual.json"
    texts = ["--rewrites", f"original={topics}:raw", "--rewrites", f"human={topics}:manual"]
    assert run(["paraphrase", "--vary", *texts, "--folder", "varied"]) == 0
    drawn = ["--paraphrases", "varied/paraphrases.csv"]
    assert run(["testsets", *drawn, "--sets", "6", "--folder", "sets"]) == 0
    with gzip.open(data / "passages.jsonl.gz", "rt", encoding="utf-8") as stream:
        passages = {record["id"]: record["contents"] for record in map(json.loads, stream)}
    ids, index = list(passages), bm25_index(passages)
    line = [
        "--qrels",
        str(data / "qrels.txt.gz"),
        "--relevance-level",
        "2",
        "--metric",
        "ndcg_cut_3",
        *texts,
        *drawn,
    ]
    for role, name in (("original", "raw"), ("human", "manual")):
        bm25_run(tmp_path / f"{role}.trec", read_texts(topics, role), ids, index)  # type: ignore[arg-type]
        line += [f"--{role}", f"{role}.trec"]
        for number in range(1, 7):
            file = f"sets/{name}_{number}.tsv"
            bm25_run(tmp_path / f"{name}_{number}.trec", read_texts(file, "human"), ids, index)
            option = "--texts" if name == "manual" else "--raw-texts"
            line += [
                "--run",
                f"{name}_{number}={name}_{number}.trec",
                option,
                f"{name}_{number}={file}",
            ]
        line += [
            "--group",
            f"{name}={role}," + ",".join(f"{name}_{number}" for number in range(1, 7)),
        ]
    capsys.readouterr()
    assert run(["robustness", *line, "--format", "json", "--table", "variations"]) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["variations"]
    found = {(row["group"], row["category"]): row for row in rows}
    everywhere = {"typo", "word order", "function words", "ellipsis"}
    assert {name for group, name in found if group == "manual"} == everywhere
    assert {name for group, name in found if group == "raw"} == everywhere | {
        "antecedent",
        "pronoun",
    }
    for group in ("manual", "raw"):
        assert (
            found[group, "word order"]["drop"] == pytest.approx(0, abs=1e-12)
            and found[group, "word order"]["p"] == 1
        )
        assert found[group, "typo"]["drop"] > 0.02
        family = [row for row in rows if row["group"] == group]
        # never more than Holm's, of which the smallest is the smallest p times their number
        assert all(row["p"] <= row["p_corrected"] for row in family)
        assert min(row["p_corrected"] for row in family) <= len(family) * min(
            row["p"] for row in family
        )
    assert found["raw", "typo"]["p_corrected"] < 0.05
    # six sets take every variation whose text nobody else has, so turns are those of the variations
    made = read_paraphrases("varied/paraphrases.csv")
    turns = judged(data)
    typos = sum(
        any(row.category == "typo" for row in some) for turn, some in made.items() if turn in turns
    )
    assert found["manual", "typo"]["turns"] <= typos and found["manual", "typo"]["turns"] > 190


def judged(data: Path) -> set[str]:
    with gzip.open(data / "qrels.txt.gz", "rt", encoding="utf-8") as stream:
        return {line.split()[0] for line in stream}
