"""The pages on collections: their folders are built as shown, and their commands lead to a report with known figures."""

from __future__ import annotations

import gzip
import json
import random
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from robustcs.cli.main import run
from tests.conftest import ROOT
from tests.published import REAL_RUNS

PAGES = sorted((ROOT / "docs" / "collections").glob("*.md"))

Made = Callable[[Path], str]
Results = Mapping[str, Mapping[str, Any]]


class Collection(NamedTuple):
    """Where the files of a page come from (a public file, or a function that makes one), and what proves its report."""

    files: Mapping[str, str | Made]
    proof: Callable[[Results], None]


def layout(page: str) -> list[str]:
    """The files that the page shows, by their paths in the collection's folder."""
    block = page.partition("```text\n")[2].partition("```")[0].splitlines()
    assert block[0].endswith("/"), "the layout begins with the folder"
    return [line.split()[0] for line in block[1:]]


def commands(page: str) -> list[list[str]]:
    block = page.partition("```sh\n")[2].partition("```")[0].splitlines()
    assert all(line.startswith("robustcs ") for line in block)
    return [shlex.split(line)[1:] for line in block]


# ---------------------------------------------------------------- made files


def lines_of(texts: Mapping[str, str], documents: Callable[[str], list[str]]) -> str:
    """A run of a made ranker: equal texts of a turn get equal rankings, and long ones more often the relevant passage first."""
    lines = []
    for turn, text in texts.items():
        draw = random.Random(f"{turn} {text}")
        ranked = sorted(documents(turn), key=lambda document: draw.random())
        if draw.random() < len(text.split()) / 12:
            ranked.sort(key=lambda document: document != documents(turn)[0])
        lines += [
            f"{turn} Q0 {document} {rank} {20 - rank} made\n"
            for rank, document in enumerate(ranked, 1)
        ]
    return "".join(lines)


def judged(
    turns: Iterable[str], documents: Callable[[str], list[str]], grades: Iterable[int]
) -> str:
    return "".join(
        f"{turn} 0 {document} {grade}\n"
        for turn in turns
        for document, grade in zip(documents(turn), grades, strict=False)
    )


def made_run(turns: list[str], documents: Callable[[str], list[str]], text: str) -> Made:
    """Every turn is asked in the words of ``text``, its id in place of ``{}``."""
    return lambda _: lines_of({turn: text.format(turn) for turn in turns}, documents)


# CAsT 2022: a tree of turns, those of the user with odd numbers
TREE = [
    (topic, f"{path}-{number}")
    for topic in range(132, 140)
    for path in (1, 2)
    for number in (1, 3, 5)
]
TURNS_2022 = [f"{topic}_{number}" for topic, number in TREE]


def passages_2022(turn: str) -> list[str]:
    return [f"MARCO_{turn.partition('_')[0]}_{number}-{number % 3 + 1}" for number in range(1, 16)]


RAW, AUTOMATIC, MANUAL = (
    "What about it?",
    "What happened in {}?",
    "What happened in {} after all that was said?",
)


def topics_2022(field: str, text: str) -> Made:
    """Topics with the user's turns, and the system's between them, which are no questions."""

    def turn(topic: int, number: str) -> list[dict[str, Any]]:
        path, _, place = number.partition("-")
        user = {
            "number": number,
            "participant": "User",
            "utterance": RAW,
            field: text.format(f"{topic}_{number}"),
        }
        return [
            user,
            {"number": f"{path}-{int(place) + 1}", "participant": "System", "response": "This."},
        ]

    topics = [
        {
            "number": topic,
            "turn": [
                each for other, number in TREE if other == topic for each in turn(topic, number)
            ],
        }
        for topic in range(132, 140)
    ]
    return lambda _: json.dumps(topics)


# iKAT: the topics and the sample run are real, the judgments and three runs made of the sample's passages
def sample(data: Path) -> dict[str, list[str]]:
    content = json.loads((data / "formats/ikat/2024_sample_run.json").read_text())
    return {
        turn["turn_id"]: [passage["id"] for passage in turn["responses"][0]["passage_provenance"]]
        for turn in content["turns"]
    }


def ikat_qrels(data: Path) -> str:
    found = sample(data)
    return judged(found, lambda turn: found[turn], (4, 2, 1, 0, 3, 0, 0, 1, 0, 0))


def ikat_run(field: str) -> Made:
    def made(data: Path) -> str:
        topics = json.loads((data / "formats/ikat/2024_test_topics.json").read_text())
        texts = {
            f"{topic['number']}_{turn['turn_id']}": turn[field]
            for topic in topics
            for turn in topic["turns"]
        }
        return lines_of(texts, sample(data).__getitem__)

    return made


# QReCC and TopiOCQA: six conversations of five turns
CONVERSATIONS = [(conversation, turn) for conversation in range(1, 7) for turn in range(1, 6)]
TURNS_QA = [f"{conversation}_{turn}" for conversation, turn in CONVERSATIONS]


def pages_qa(turn: str) -> list[str]:
    return [f"wiki:{turn}_{number}" for number in range(1, 11)]


def questions_qa(rewrites: bool) -> Made:
    records = [
        {
            "Conversation_no": conversation, "Turn_no": turn, "Question": RAW, "Answer": f"answer {turn}", "Context": [],
            **({"Rewrite": MANUAL.format(f"{conversation}_{turn}")} if rewrites else {}),
        }
        for conversation, turn in CONVERSATIONS
    ]  # fmt: skip
    return lambda _: json.dumps(records)


def scai_run(_: Path) -> str:
    return json.dumps([
        {"Conversation_no": conversation, "Turn_no": turn, "Model_rewrite": AUTOMATIC.format(f"{conversation}_{turn}"),
         "Model_passages": dict(zip(pages_qa(f"{conversation}_{turn}"), range(20, 0, -turn), strict=False)),
         "Model_answer": f"answer {turn}"}
        for conversation, turn in CONVERSATIONS
    ])  # fmt: skip


def dpr_run(text: str) -> Made:
    """As DPR writes its results: a list of questions with the passages found."""
    found: dict[str, list[tuple[str, float]]] = {}
    for line in made_run(TURNS_QA, pages_qa, text)(Path()).splitlines():
        turn, _, document, _, score, _ = line.split()
        found.setdefault(turn, []).append((document, float(score)))
    records = [
        {"conv_id": conversation, "turn_id": turn, "question": text.format(f"{conversation}_{turn}"),
         "answers": [f"answer {turn}"],
         "ctxs": [{"id": document, "title": "T", "text": "x", "score": str(score), "has_answer": False}
                  for document, score in found[f"{conversation}_{turn}"]]}
        for conversation, turn in CONVERSATIONS
    ]  # fmt: skip
    return lambda _: json.dumps(records)


# MTRAG: texts and judgments are real, the runs made of judged passages and of others
def mtrag_run(kind: str) -> Made:
    def made(data: Path) -> str:
        folder, found = data / "formats/mtrag", dict[str, list[str]]()
        for line in (folder / "clapnq_qrels_dev.tsv").read_text().splitlines()[1:]:
            turn, document, _ = line.split("\t")
            found.setdefault(turn, []).append(document)
        records = [
            json.loads(line) for line in (folder / f"clapnq_{kind}.jsonl").read_text().splitlines()
        ]
        texts = {record["_id"]: record["text"] for record in records}
        return lines_of(
            texts, lambda turn: [*found[turn], *(f"{number}-{turn[:6]}" for number in range(8))]
        )

    return made


# ---------------------------------------------------------------- what proves a report


def table(results: Results, study: str, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = results[study]["tables"][name]
    return rows


def turns(study: str, turns: int, level: int, missing: int = 0) -> Callable[[Results], None]:
    def proof(results: Results) -> None:
        policy = results[study]["policy"]
        assert (policy["turns"], policy["relevance_level"], policy["missing_turns"]) == (
            turns,
            level,
            missing,
        )

    return proof


def bins_of_2019(results: Results) -> None:
    turns("breakdown", 173, 2)(results)
    found: dict[tuple[str, str], list[int]] = {}
    for row in table(results, "breakdown", "bins"):
        found.setdefault((row["metric"], row["threshold"]), []).append(row["count"])
    assert {key: found[key] for key in REAL_RUNS} == REAL_RUNS


def published_clariq(results: Results) -> None:
    recall = {
        row["k"]: round(row["recall"], 6) for row in table(results, "clariq", "question_relevance")
    }
    assert recall == {5: 0.324557, 10: 0.563804, 20: 0.667500, 30: 0.691282}
    means = {
        (row["system"], row["metric"]): row["value"]
        for row in table(results, "clariq", "document_relevance")
    }
    assert [round(means[name, "NDCG3"], 4) for name in ("best", "bm25", "no", "worst")] == [
        0.2578,
        0.1608,
        0.1450,
        0.0252,
    ]


def published_snippets(results: Results) -> None:
    found = {
        row["k"]: round(row["value"], 4) for row in table(results, "snippets-agreement", "jaccard")
    }
    assert found == {5: 0.1795, 4: 0.3465, 3: 0.5322, 2: 0.7317}


def published_crowd(results: Results) -> None:
    scores = [
        (row["system"], row["metric"], round(row["value"], 4), row["answered"])
        for row in table(results, "crowd", "measures")
        if (row["criterion"], row["turn_set"]) == ("relevance", "all")
    ]
    assert scores == [
        ("GPT-3_raw_run", "P_1", 0.4098, 149), ("GPT-3_raw_run", "ndcg_cut_3", 0.2456, 149),
        ("bm25_baseline_mi_run", "P_1", 0.3268, 205), ("bm25_baseline_mi_run", "ndcg_cut_3", 0.2425, 205),
    ]  # fmt: skip


def named(folder: str, names: Iterable[str]) -> dict[str, str | Made]:
    return {name: f"{folder}/{name}" for name in names}


COLLECTIONS = {
    "cast-2019": Collection({
        "2019qrels.txt": "cast2019/qrels.txt",
        "evaluation_topics_v1.0.json": "cast2019/topics.json",
        "evaluation_topics_annotated_resolved_v1.0.tsv": "cast2019/topics_resolved.tsv",
        "rewrites_cv.jsonl": "cast2019/runs/rewrites_cv.jsonl",
        "runs/bert_raw.trec": "cast2019/runs/bert_base_raw.trec",
        "runs/bert_cv.trec": "cast2019/runs/bert_base_cv.trec",
        "runs/bert_manual.trec": "cast2019/runs/bert_base_oracle.trec",
    }, bins_of_2019),
    "cast-2020": Collection({
        "2020qrels.txt": "cast2020/qrels.txt",
        "2020_manual_evaluation_topics_v1.0.json": "cast2020/topics_manual.json",
        "runs/bert_raw.trec": "cast2020/runs/bert_raw.trec",
        "runs/bert_auto.trec": "cast2020/runs/bert_auto.trec",
        "runs/bert_manual.trec": "cast2020/runs/bert_manual.trec",
    }, turns("breakdown", 208, 2, 1)),
    "cast-2021": Collection({
        "trec-cast-qrels-docs.2021.qrel": "cast2021/qrels-docs.txt",
        "2021_manual_evaluation_topics_v1.0.json": "cast2021/topics_manual.json",
        "runs/org_convdr.run": "cast2021/runs/org_convdr.run",
        "runs/org_manual_ance.run": "cast2021/runs/org_manual_ance.run",
        "runs/org_manual_bm25.run": "cast2021/runs/org_manual_bm25.run",
    }, turns("unjudged", 158, 2)),
    "cast-2022": Collection({
        "cast2022.qrel": lambda _: judged(TURNS_2022, passages_2022, (4, 3, 2, 1, 0, 0, 1, 0, 0, 0, 2, 0)),
        "2022_automatic_evaluation_topics_tree_v1.0.json": topics_2022("automatic_rewritten_utterance", AUTOMATIC),
        "2022_annotated_evaluation_topics_flattened_duplicated_v1.0.json": topics_2022("manual_rewritten_utterance", MANUAL),
        "runs/bm25_raw.trec": made_run(TURNS_2022, passages_2022, RAW),
        "runs/bm25_automatic.trec": made_run(TURNS_2022, passages_2022, AUTOMATIC),
        "runs/bm25_manual.trec": made_run(TURNS_2022, passages_2022, MANUAL),
    }, turns("breakdown", 48, 2)),
    "ikat": Collection({
        "2024_test_topics.json": "formats/ikat/2024_test_topics.json",
        "qrels.txt": ikat_qrels,
        "runs/sample_run.json": "formats/ikat/2024_sample_run.json",
        "runs/bm25_raw.trec": ikat_run("utterance"),
        "runs/bm25_manual.trec": ikat_run("resolved_utterance"),
    }, turns("unjudged", 218, 2)),
    "qrecc": Collection({
        "qrecc_test.json": questions_qa(True),
        "qrels.txt": lambda _: judged(TURNS_QA, pages_qa, (1,)),
        "runs/original.trec": made_run(TURNS_QA, pages_qa, RAW),
        "runs/t5.json": scai_run,
        "runs/human.trec": made_run(TURNS_QA, pages_qa, MANUAL),
    }, turns("breakdown", 30, 1)),
    "topiocqa": Collection({
        "topiocqa_dev.json": questions_qa(False),
        "qrels.txt": lambda _: judged(TURNS_QA, pages_qa, (1,)),
        "runs/dpr_original.json": dpr_run(RAW),
        "runs/dpr_rewrites.json": dpr_run(MANUAL),
        "runs/dpr_all_history.json": dpr_run(f"Tell me of {{}} [SEP] It was the first one, long ago [SEP] {RAW}"),
    }, turns("unjudged", 30, 1)),
    "mtrag": Collection({
        "clapnq_lastturn.jsonl": "formats/mtrag/clapnq_lastturn.jsonl",
        "clapnq_rewrite.jsonl": "formats/mtrag/clapnq_rewrite.jsonl",
        "clapnq_questions.jsonl": "formats/mtrag/clapnq_questions.jsonl",
        "qrels/dev.tsv": "formats/mtrag/clapnq_qrels_dev.tsv",
        "runs/bm25_lastturn.trec": mtrag_run("lastturn"),
        "runs/bm25_rewrite.trec": mtrag_run("rewrite"),
    }, turns("unjudged", 208, 1)),
    "clariq": Collection(
        named("clariq", ["dev.tsv", "question_bank.tsv", "dev_bm25", "dev_bm25.eval", "dev_best_q.eval", "dev_worst_q.eval",
                         "dev_no_q.eval"]),
        published_clariq,
    ),
    "cast-snippets": Collection({
        f"subtask_1-topic_{topic}-paragraph-{who}.csv": f"snippets/topic_{topic}-paragraph-{who}.csv"
        for topic in (1, 2) for who in ("expert", "master")
    }, published_snippets),
    "cast-regin": Collection(
        named("cast2022-regin", ["question_judgments.json", "question_bank.json", "GPT-3_raw_run.json",
                                 "bm25_baseline_mi_run.json"]),
        published_crowd,
    ),
}  # fmt: skip


#: Pages whose reports are drawn; those of others have the same figures.
DRAWN = {"cast-snippets"}


# ---------------------------------------------------------------- the tests


def bytes_of(path: Path) -> bytes:
    """A public file as its collection publishes it, unpacked."""
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()


def test_every_collection_has_a_page_and_stands_in_the_index() -> None:
    assert {page.stem for page in PAGES} == set(COLLECTIONS)
    index = (ROOT / "docs" / "collections.md").read_text("utf-8")
    assert set(re.findall(r"\(collections/([\w-]+)\.md\)", index)) == set(COLLECTIONS)


@pytest.mark.parametrize(
    "page",
    # these pages have the same kinds of files as those on CAsT 2019 and 2022
    [
        pytest.param(
            page,
            id=page.stem,
            marks=[pytest.mark.long] * (page.stem in ("cast-2020", "cast-2021", "cast-regin")),
        )
        for page in PAGES
    ],
)
def test_the_commands_of_the_page_lead_to_a_report(
    page: Path,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    text, collection = page.read_text("utf-8"), COLLECTIONS[page.stem]
    if page.stem not in DRAWN:
        request.getfixturevalue("undrawn")
    public = any(isinstance(source, str) for source in collection.files.values())
    data = request.getfixturevalue("shared_data") if public else tmp_path
    folder = tmp_path / page.stem
    assert sorted(layout(text)) == sorted(collection.files)
    for name in layout(text):
        source = collection.files[name]
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        content = bytes_of(data / source) if isinstance(source, str) else source(data).encode()
        (folder / name).write_bytes(content)
    monkeypatch.chdir(folder)
    assert len(commands(text)) == 3
    for command in commands(text):
        assert run(command) == 0, capfd.readouterr().err
    report = folder / "reports" / page.stem
    assert ((report / "report.html").stat().st_size > 0) == (page.stem in DRAWN)
    collection.proof(
        {
            path.stem: json.loads(path.read_text("utf-8"))
            for path in (report / "results").glob("*.json")
        }
    )
    # what the page shows of robustcs.toml is what init wrote
    written = (folder / "robustcs.toml").read_text("utf-8")
    for part in text.partition("```toml\n")[2].partition("```")[0].split("\n\n"):
        assert part.strip() in written
