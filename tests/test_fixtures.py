"""The demo collection is complete, consistent, rebuildable and shows every kind of error."""

from __future__ import annotations

import csv
import itertools
import json
import re
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

FORMULATIONS = ("original", "qr", "human")
BASELINES = tuple(f"{ranker}_{name}" for ranker in ("stem", "plain") for name in FORMULATIONS)
PARAPHRASED = tuple(f"stem_{kind}_{number}" for kind in ("manual", "raw") for number in (1, 2, 3))
LEVEL = 2


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_turns(demo: Path) -> dict[str, dict[str, Any]]:
    topics = read_json(demo / "topics.json")
    return {
        f"{topic['number']}_{turn['number']}": turn for topic in topics for turn in topic["turn"]
    }


def read_collection(demo: Path) -> dict[str, str]:
    lines = (demo / "collection.jsonl").read_text(encoding="utf-8").splitlines()
    passages = [json.loads(line) for line in lines]
    assert len({passage["id"] for passage in passages}) == len(passages)
    return {passage["id"]: passage["contents"] for passage in passages}


def read_paraphrases(demo: Path) -> dict[str, list[dict[str, str]]]:
    pairs: dict[str, list[dict[str, str]]] = {}
    with (demo / "paraphrases.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            pairs.setdefault(row["TURN_ID"], []).append(row)
    return pairs


def read_qrels(path: Path) -> dict[tuple[str, str], int]:
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    qrels = {(turn, passage): int(grade) for turn, _, passage, grade in rows}
    assert len(qrels) == len(rows), "a pair stands twice"
    return qrels


def read_run(demo: Path, name: str) -> dict[str, list[tuple[str, float]]]:
    """Passages and scores of one run by turn, in file order."""
    run: dict[str, list[tuple[str, float]]] = {}
    for line in (demo / "runs" / f"{name}.trec").read_text(encoding="utf-8").splitlines():
        turn, q0, passage, rank, score, tag = line.split(" ")
        ranking = run.setdefault(turn, [])
        ranking.append((passage, float(score)))
        assert (q0, int(rank), tag) == ("Q0", len(ranking), name)
    return run


def top(demo: Path, name: str, depth: int) -> list[tuple[str, str]]:
    return [
        (turn, passage)
        for turn, ranking in read_run(demo, name).items()
        for passage, _ in ranking[:depth]
    ]


def evaluate(demo: Path, name: str) -> dict[str, dict[str, float]]:
    """P_1 and ndcg_cut_3 of every turn; a turn without results scores 0."""
    qrels: dict[str, dict[str, int]] = {}
    for (turn, passage), grade in read_qrels(demo / "qrels.txt").items():
        qrels.setdefault(turn, {})[passage] = grade
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"P_1", "ndcg_cut_3"}, relevance_level=LEVEL)
    found = evaluator.evaluate(
        {turn: dict(ranking) for turn, ranking in read_run(demo, name).items()}
    )
    return {turn: found.get(turn, {"P_1": 0.0, "ndcg_cut_3": 0.0}) for turn in read_turns(demo)}


def token_f1(predicted: str, gold: str) -> float:
    if "CANNOTANSWER" in (predicted, gold):
        return float(predicted == gold)

    def tokens(text: str) -> Counter[str]:
        plain = "".join(letter for letter in text.lower() if letter not in string.punctuation)
        return Counter(re.sub(r"\b(a|an|the)\b", " ", plain).split())

    left, right = tokens(predicted), tokens(gold)
    return 2 * (left & right).total() / (left.total() + right.total())


def test_conversations_are_large_enough(demo: Path) -> None:
    topics = read_json(demo / "topics.json")
    assert len(topics) >= 8
    assert [topic["number"] for topic in topics] == list(range(1, len(topics) + 1))
    for topic in topics:
        assert topic["title"]
        assert topic["description"]
        assert len(topic["turn"]) >= 6
        assert [turn["number"] for turn in topic["turn"]] == list(range(1, len(topic["turn"]) + 1))


def test_first_turns_need_no_rewriting_and_most_others_do(demo: Path) -> None:
    turns = read_turns(demo)
    unchanged = {
        name
        for name, turn in turns.items()
        if turn["raw_utterance"] == turn["manual_rewritten_utterance"]
    }
    assert {name for name in turns if name.endswith("_1")} <= unchanged
    assert len(unchanged) < len(turns) / 2


def test_every_turn_has_paraphrases(demo: Path) -> None:
    pairs = read_paraphrases(demo)
    assert list(pairs) == list(read_turns(demo))
    for turn, rows in pairs.items():
        assert len(rows) >= 4, turn
        for column in ("MANUAL PARAPHRASE", "RAW PARAPHRASE"):
            texts = [row[column] for row in rows]
            assert all(text == text.strip() and text for text in texts), turn
            assert len(set(texts)) == len(texts), turn


def test_passages_are_many_and_short(demo: Path) -> None:
    passages = read_collection(demo)
    assert len(passages) >= 250
    for name, text in passages.items():
        assert 40 <= len(text.split()) <= 120, name
        assert text == " ".join(text.split()), name


def test_grades_name_turns_and_passages_that_exist(demo: Path) -> None:
    grades = read_qrels(demo / "grades.txt")
    turns, passages = read_turns(demo), read_collection(demo)
    assert all(turn in turns and passage in passages for turn, passage in grades)
    assert set(grades.values()) == {1, 2, 3, 4}
    assert {turn for turn, _ in grades} == set(turns)


def test_the_pool_is_judged_and_nothing_else(demo: Path) -> None:
    qrels, grades = read_qrels(demo / "qrels.txt"), read_qrels(demo / "grades.txt")
    pooled = set(itertools.chain.from_iterable(top(demo, name, 5) for name in BASELINES))
    assert qrels == {pair: grades.get(pair, 0) for pair in pooled}


def test_new_judgments_grade_what_the_paraphrases_add(demo: Path) -> None:
    qrels, grades = read_qrels(demo / "qrels.txt"), read_qrels(demo / "grades.txt")
    new = read_qrels(demo / "new_judgments.txt")
    found = set(itertools.chain.from_iterable(top(demo, name, 5) for name in PARAPHRASED))
    again = set(new) & set(qrels)
    assert set(new) - again == found - set(qrels)
    assert all(new[pair] == grades.get(pair, 0) for pair in set(new) - again)
    assert 2 <= len(again) <= 4
    assert all(new[pair] != qrels[pair] for pair in again)
    assert sum(new[pair] >= LEVEL for pair in set(new) - again) >= 20


@pytest.mark.parametrize("name", BASELINES + PARAPHRASED)
def test_runs_are_sorted_without_empty_scores(demo: Path, name: str) -> None:
    turns, passages = read_turns(demo), read_collection(demo)
    for turn, ranking in read_run(demo, name).items():
        assert turn in turns
        assert len(ranking) <= 100
        assert {passage for passage, _ in ranking} <= set(passages)
        assert all(score > 0 for _, score in ranking)
        pairs = [(score, passage) for passage, score in ranking]
        assert pairs == sorted(set(pairs), reverse=True)


def test_some_lists_are_short_and_one_run_lacks_a_turn(demo: Path) -> None:
    lengths = [len(ranking) for name in BASELINES for ranking in read_run(demo, name).values()]
    assert min(lengths) < 3
    assert max(lengths) == 100
    assert any(set(read_run(demo, name)) < set(read_turns(demo)) for name in PARAPHRASED)


@pytest.mark.parametrize("name", BASELINES + PARAPHRASED)
def test_unjudged_share_at_three(demo: Path, name: str) -> None:
    qrels = read_qrels(demo / "qrels.txt")
    retrieved = top(demo, name, 3)
    share = sum(pair not in qrels for pair in retrieved) / len(retrieved)
    assert share == 0 if name in BASELINES else 0.1 <= share <= 0.4


def test_gold_answers_stand_in_relevant_passages(demo: Path) -> None:
    grades, passages = read_qrels(demo / "grades.txt"), read_collection(demo)
    gold = read_json(demo / "answers" / "gold.json")
    assert list(gold) == list(read_turns(demo))
    unanswerable = [turn for turn, answers in gold.items() if answers == ["CANNOTANSWER"]]
    assert len(unanswerable) == 10
    for turn in set(gold) - set(unanswerable):
        relevant = [
            passages[passage]
            for (name, passage), grade in grades.items()
            if name == turn and grade >= 3
        ]
        for answer in gold[turn]:
            assert any(answer in text for text in relevant), (turn, answer)
            assert 1 <= len(answer.split()) <= 12


def test_predicted_answers_are_extracts_of_mixed_quality(demo: Path) -> None:
    passages, gold = read_collection(demo), read_json(demo / "answers" / "gold.json")
    means = {}
    for name in FORMULATIONS:
        predicted = read_json(demo / "answers" / f"{name}.json")
        assert list(predicted) == list(gold)
        for answer in set(predicted.values()) - {"CANNOTANSWER"}:
            assert len(answer.split()) <= 12
            assert any(answer in text for text in passages.values()), answer
        scores = [max(token_f1(predicted[turn], answer) for answer in gold[turn]) for turn in gold]
        means[name] = sum(scores) / len(scores)
        assert scores.count(0) >= 5
        assert scores.count(1) >= 5
        assert sum(0 < score < 1 for score in scores) >= 15
    assert means["original"] < means["qr"] < means["human"]


@pytest.mark.parametrize("ranker", ["stem", "plain"])
def test_rewriting_helps_and_people_do_it_best(demo: Path, ranker: str) -> None:
    def mean(name: str) -> float:
        scores = [scores["ndcg_cut_3"] for scores in evaluate(demo, f"{ranker}_{name}").values()]
        return sum(scores) / len(scores)

    assert mean("original") + 0.05 < mean("qr")
    assert mean("qr") + 0.05 < mean("human")


def test_all_eight_bins_occur(demo: Path) -> None:
    scores = [evaluate(demo, f"stem_{name}") for name in FORMULATIONS]
    cells: dict[tuple[str, str], Callable[[float], bool]] = {
        ("P_1", "=1"): lambda score: score == 1,
        ("ndcg_cut_3", ">0"): lambda score: score > 0,
        ("ndcg_cut_3", ">=0.5"): lambda score: score >= 0.5,
        ("ndcg_cut_3", "=1"): lambda score: score == 1,
    }
    bins = {
        cell: {tuple(correct(run[turn][cell[0]]) for run in scores) for turn in read_turns(demo)}
        for cell, correct in cells.items()
    }
    assert len(bins["P_1", "=1"]) == 8
    assert len(bins["ndcg_cut_3", ">=0.5"]) == 8
    rewriter_errors = {(False, False, True), (True, False, True)}
    assert all(rewriter_errors <= occurring for occurring in bins.values())


def test_readme_counts_are_true(demo: Path) -> None:
    rows = {
        "topics.json": len(read_turns(demo)),
        "paraphrases.csv": sum(map(len, read_paraphrases(demo).values())),
        "collection.jsonl": len(read_collection(demo)),
        "grades.txt": len(read_qrels(demo / "grades.txt")),
        "answers/gold.json": len(read_json(demo / "answers" / "gold.json")),
        "qrels.txt": len(read_qrels(demo / "qrels.txt")),
        "new_judgments.txt": len(read_qrels(demo / "new_judgments.txt")),
    }
    readme = (demo / "README.md").read_text(encoding="utf-8")
    assert {name: int(re.search(rf"\| `{name}` \| (\d+) \|", readme)[1]) for name in rows} == rows  # type: ignore[index]


def test_readme_names_the_mistakes_of_the_rewriter(demo: Path) -> None:
    readme = (demo / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z ]+): .* \| ([\d_ ]+) \|$", readme, re.MULTILINE)
    mistakes = {kind: names.split() for kind, names in rows}
    turns = read_turns(demo)
    named = [name for names in mistakes.values() for name in names]
    assert len(mistakes) == 6
    assert len(set(named)) == len(named)
    for name, turn in turns.items():
        raw, qr, human = (
            turn[f"{kind}_utterance"] for kind in ("raw", "automatic_rewritten", "manual_rewritten")
        )
        assert (qr == raw != human) == (name in mistakes["copied"]), name
        assert name not in mistakes["lost apostrophe"] or ("'" in human and "'" not in qr), name
        assert name not in named or qr.rstrip("?") != human.rstrip("?"), name


@pytest.mark.long
def test_rebuilding_gives_the_same_bytes(demo: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(demo / "build.py"), str(tmp_path)], check=True)
    built = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    runs = {Path("runs") / f"{name}.trec" for name in BASELINES + PARAPHRASED}
    answers = {Path("answers") / f"{name}.json" for name in FORMULATIONS}
    judges = {Path("judges") / name for name in ("lexical.txt", "six_conversations.txt")}
    annotations = {Path("annotations") / f"{name}.jsonl" for name in ("selected", "sentences")}
    responses = {
        Path("responses") / f"{name}.jsonl" for name in ("snippets", "nuggets", *FORMULATIONS)
    }
    responses |= {Path("responses") / f"assigned_{name}.jsonl" for name in FORMULATIONS}
    assert built == runs | answers | judges | annotations | responses | {
        Path("qrels.txt"),
        Path("new_judgments.txt"),
    }
    assert {
        path for path in built if (tmp_path / path).read_bytes() != (demo / path).read_bytes()
    } == set()
