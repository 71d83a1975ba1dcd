"""Valid examples of every format, made up anew from a seed."""

from __future__ import annotations

import csv
import io
import json
from random import Random
from typing import Any

WORDS = (
    "throat",
    "cancer",
    "What",
    "is",
    "it",
    "sourdough",
    "naïve",
    "“quoted”",
    "the",
    "of",
    "a, b",
    "don't",
)


# ---------------------------------------------------------------- what stands in files


def turns(random: Random) -> list[str]:
    form = random.choice(("31_{}", "132_1-{}", "C_a1_0_q#{}", "t{}"))
    return [form.format(place) for place in range(1, random.randint(2, 5))]


def text(random: Random) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(1, 5)))


def lines(rows: list[list[object]], separator: str) -> str:
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def table(random: Random, separator: str, columns: list[str], rows: list[list[object]]) -> str:
    order = (
        random.sample(range(len(columns)), len(columns))
        if random.random() < 0.2
        else range(len(columns))
    )
    out = io.StringIO()
    if separator == ",":
        csv.writer(out, lineterminator="\n").writerows(
            [row[place] for place in order] for row in [columns, *rows]
        )
        return out.getvalue()
    return lines([[row[place] for place in order] for row in [columns, *rows]], separator)


def jsonl(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


# ---------------------------------------------------------------- valid examples


def run(random: Random) -> str:
    separator = random.choice((" ", "\t", "  "))
    head = random.choice(("", "", "# ir_metadata\n", "query_id Q0 docno rank score tag\n"))
    rows: list[list[object]] = [
        [
            turn,
            "Q0",
            f"d{place}",
            place,
            round(random.uniform(-9, 99), 3),
            "my tag"[random.choice((0, 3)) :],
        ]
        for turn in turns(random)
        for place in range(1, random.randint(2, 5))
    ]
    return head + lines(rows, separator)


def qrels(random: Random) -> str:
    rows: list[list[object]] = [
        [turn, random.choice(("0", "Q0")), f"d{place}", random.randint(-1, 4)]
        for turn in turns(random)
        for place in range(random.randint(1, 5))
    ]
    return random.choice(("", "", "# judged twice\n")) + lines(
        rows, random.choice((" ", "\t", "  "))
    )


def scores(random: Random) -> str:
    rows: list[list[object]] = [
        [measure, turn, round(random.random(), 4)]
        for measure in ("map", "ndcg_cut_3")
        for turn in (*turns(random), "all")
    ]
    return lines(rows, random.choice((" ", "\t", " \t ")))


def scores_missing(random: Random) -> str:
    cells: tuple[object, ...] = (0.25, 0.5, "nan", "N/A", "-", "null", "None")
    rows: list[list[object]] = [["map", turn, random.choice(cells)] for turn in turns(random)]
    return lines([["map", "t0", 1], *rows, ["runid", "t0", "bm25"]], "\t")


def texts_tsv(random: Random) -> str:
    rows: list[list[object]] = [[turn, text(random)] for turn in turns(random)]
    return (
        lines(rows, "\t") if random.random() < 0.5 else table(random, "\t", ["id", "query"], rows)
    )


def texts_jsonl(random: Random) -> str:
    return jsonl(
        [{random.choice(("id", "qid")): turn, "text": text(random)} for turn in turns(random)]
    )


def texts_rewriter(random: Random) -> str:
    return jsonl([{"topic_number": 1, "query_number": place, "input": [text(random)] * place, "target": text(random),
                   "output": text(random)} for place in range(1, 4)])  # fmt: skip


def texts_object(random: Random) -> str:
    return as_json({turn: text(random) for turn in turns(random)})


def texts_cast(random: Random) -> str:
    entries = [{"number": place, "raw_utterance": text(random), "manual_rewritten_utterance": text(random),
                "automatic_rewritten_utterance": text(random), "participant": "User"} for place in range(1, 4)]  # fmt: skip
    return as_json([{"number": topic, "title": "x", "turn": entries} for topic in (31, "132_1")])


def texts_canard(random: Random) -> str:
    return as_json([{"QuAC_dialog_id": "C_a1_0", "Question_no": place, "Question": text(random), "Rewrite": text(random),
                     "History": ["a", "b"]} for place in range(1, 4)])  # fmt: skip


def answers(random: Random) -> str:
    return as_json({turn: random.choice((text(random), [text(random)])) for turn in turns(random)})


def answers_jsonl(random: Random) -> str:
    if random.random() < 0.3:
        return jsonl([{"qid": turns(random)[:1], "best_span_str": [text(random)]}])
    return jsonl([{"id": turn, "answer": text(random)} for turn in turns(random)])


def answers_squad(random: Random) -> str:
    questions = [
        {"id": turn, "answers": [{"text": text(random), "answer_start": 0}]}
        for turn in turns(random)
    ]
    return as_json(
        {"data": [{"paragraphs": [{"context": "x", "qas": questions}]}], "version": "1.1"}
    )


def paraphrases(random: Random) -> str:
    rows: list[list[object]] = [
        [turn, text(random), text(random)]
        for turn in turns(random)[:-1] + ["31_9"] * 2
        if "_" in turn
    ]
    return table(random, ",", ["TURN_ID", "MANUAL PARAPHRASE", "RAW PARAPHRASE"], rows)


def collection(random: Random) -> str:
    if random.random() < 0.3:
        return lines([[f"d{place}", text(random)] for place in range(4)], "\t")
    return jsonl([{"id": f"d{place}", "contents": text(random)} for place in range(4)])


def slices(random: Random) -> str:
    return table(
        random,
        "\t",
        ["turn", "kind", "length"],
        [[turn, "first", len(turn)] for turn in turns(random)],
    )


def snippets_jsonl(random: Random) -> str:
    return jsonl([{"turn": turn, "passage": "d1", "worker": worker, "query": "x", "text": "some words of a text",
                   "snippets": [[0, random.randint(1, 20)]]}
                  for turn in turns(random) for worker in ("ada", "ben")])  # fmt: skip


def snippets_csv(random: Random) -> str:
    unit = random.choice(("passage", "sentence"))
    columns = [
        "Input.turn_id",
        f"Input.{unit}_id",
        f"Input.{unit}",
        "WorkerId",
        "Answer.taskAnswers",
    ]
    rows: list[list[object]] = []
    for turn in turns(random):
        answer = [
            {"crowd-entity": {"entities": [{"startOffset": 0, "endOffset": random.randint(1, 9)}]}}
        ]
        rows.append(
            [
                turn,
                random.choice(("d1", '["d1"]')),
                "some words",
                "w1",
                random.choice((json.dumps, repr))(answer),
            ]
        )
    return table(random, ",", columns, rows)


def ratings(random: Random) -> str:
    names = ["turn", "item", "worker", "criterion", "grade"]
    rows: list[list[object]] = [[turn, f"{turn}#1", worker, "meaning", random.choice((1, 5, "3.0", ""))]
                                for turn in turns(random) for worker in ("w1", "w2")]  # fmt: skip
    rows.append(["1_9", "x", "w1", "c", 2])
    if random.random() < 0.4:
        return jsonl([dict(zip(names, row, strict=True)) for row in rows])
    return table(random, random.choice((",", "\t")), names, rows)


def grades(random: Random) -> str:
    rows: list[list[object]] = [[turn, f"Q{place}", worker, "relevance", random.randint(0, 3)]
                                for turn in turns(random) for place in (1, 2) for worker in ("w1", "w2")]  # fmt: skip
    return table(random, ",", ["turn", "item", "worker", "criterion", "grade"], rows)


def judgments_regin(random: Random) -> str:
    entries = [
        {
            "Question ID": "Q1",
            "Question Text": text(random),
            "Relevance": random.randint(0, 3),
            "Novelty": 1,
        }
    ]
    return as_json({turn: {"Questions": entries} for turn in turns(random)})


def gold_checks(random: Random) -> str:
    rows: list[list[object]] = [
        [turn, "Q1", "relevance", random.randint(0, 3)] for turn in turns(random)
    ]
    return table(random, ",", ["turn", "item", "criterion", "grade"], rows)


def bank(random: Random) -> str:
    return as_json({f"Q{place}": text(random) for place in range(1, 4)})


def turn_list(random: Random) -> str:
    return lines([[turn] for turn in turns(random)], " ")


def mixed_initiative(random: Random) -> str:
    asked = [{"question": text(random), "score": random.random()} for _ in range(2)]
    return as_json(
        {
            "run_name": "x",
            "turns": [{"turn_id": turn, "questions": asked} for turn in turns(random)],
        }
    )


def topics(random: Random) -> str:
    columns = ["topic_id", "initial_request", "topic_desc", "clarification_need", "facet_id", "facet_desc", "question_id",
               "question", "answer"]  # fmt: skip
    rows: list[list[object]] = [[topic, "Tell me.", "x", topic % 4 + 1, f"F{topic}{facet}", "about", f"Q{facet}", "what?", "no"]
                                for topic in (101, 102) for facet in (1, 2)]  # fmt: skip
    return table(random, "\t", columns, rows)


def question_bank(random: Random) -> str:
    rows: list[list[object]] = [["Q00001", ""], *([f"Q{place}", text(random)] for place in (2, 3))]
    return table(random, "\t", ["question_id", "question"], rows)


def needs(random: Random) -> str:
    return random.choice(("", "topic_id label\n")) + lines(
        [[topic, random.randint(1, 4)] for topic in (101, 102, 103)], " "
    )


def question_run(random: Random) -> str:
    if random.random() < 0.3:
        return run(random)
    return lines(
        [
            ["101", "0", f'"{text(random)}"', place, round(random.random(), 3), "tag"]
            for place in range(3)
        ],
        " ",
    )


def evaluation(random: Random) -> str:
    return as_json(
        {
            measure: {f"F{facet}": round(random.random(), 3) for facet in (1, 2)}
            for measure in ("NDCG3", "P1")
        }
    )


def performance(random: Random) -> str:
    entry = random.choice(({"no_answer": 0.1, "with_answer": 0.25}, 0.25))
    units = {f"F{facet}": {"Q1": entry, "MAX": 1, "MIN": 0} for facet in (1, 2)}
    return as_json({"NDCG3": units, "P1": units})


def conversations(random: Random) -> str:
    if random.random() < 0.4:
        return table(random, "\t", ["context_id", "topic_id", "facet_id", "question1", "answer1"],
                     [[place, 101, "F1", text(random), "no"] for place in (1, 2)])  # fmt: skip
    return as_json({str(place): {"topic_id": 101, "facet_id": "F1", "context_id": place, "question": "x",
                                 "conversation_context": [{"question": "a", "answer": "b"}]} for place in (1, 2)})  # fmt: skip


def turn_conversations(random: Random) -> str:
    rows: list[list[object]] = [
        [turn, f"c{random.randint(1, 2)}", place] for place, turn in enumerate(turns(random), 1)
    ]
    return table(random, "\t", ["turn", "conversation", "turn_number"], rows)


def preferences(random: Random) -> str:
    names = ["criterion", "first", "second", "winner", "pair"]
    rows: list[list[object]] = [
        ["humanness", "a", "b", random.choice(("a", "b", "tie")), f"d{place}"] for place in range(3)
    ]
    if random.random() < 0.3:
        return jsonl([dict(zip(names, row, strict=True)) for row in rows])
    return table(random, "\t", names, rows)


def sheet(random: Random) -> str:
    grades = ("", 0, 1, 3, "3.0")
    rows: list[list[object]] = [["31", "31_1", text(random), f"d{place}", text(random), 0.5, random.choice(grades)]
                                for place in range(5)]  # fmt: skip
    columns = ["topic", "turn", "human", "document", "passage", "influence", "grade"]
    return random.choice(("\ufeff", "")) + table(random, ",", columns, rows)


def labels_csv(random: Random) -> str:
    names = random.choice((["turn", "document", "grade"], ["query_id", "doc_id", "relevance"]))
    rows: list[list[object]] = [
        [turn, f"d{place}", random.choice((0, 1, 2, "3.0"))]
        for turn in turns(random)
        for place in range(random.randint(1, 4))
    ]
    return table(random, random.choice((",", "\t")), names, rows)


def labels_jsonl(random: Random) -> str:
    return jsonl([
        {"model": "m", "query": f"What is {turn}?", "passage": f"text {place}", "prediction": text(random),
         "judgment": random.randint(0, 3), "result_status": 1}
        for turn in range(2) for place in range(random.randint(1, 3))
    ])  # fmt: skip


def judgments(random: Random) -> str:
    return lines([["31_1", "0", f"d{place}", random.randint(0, 3)] for place in range(4)], " ")


def project(random: Random) -> str:
    parts = [
        'name = "x"\nqrels = "qrels.txt"\nmetrics = ["P_1", "nDCG@3", "P(rel=2)@1"]\n'
        'thresholds = [">0", 0.5, "=1"]\nseed = 3\n',
        '[policy]\nrelevance_level = 2\nmissing = "drop"\norder = "rank"\ndepth = 100\n',
        '[formulations.original]\nrun = "raw.trec"\nrewrites = "topics.json:raw"\n[formulations."qr:T5"]\nscores = "t5.eval"\n',
        '[runs]\na = "a.trec"\nb = "b.trec"\n[texts]\nm1 = "m1.tsv"\n[raw_texts]\nr1 = "r1.tsv"\n',
        '[groups.manual]\nbaseline = "a"\nsets = ["b"]\n',
        '[retrieval]\nindex = "index"\nmodel = "bm25"\nk1 = 0.9\nb = 0.4\nrm3 = true\nfb_terms = 10\ndepth = 100\n'
        'heap = "512m"\n'
        'rewriter = "previous"\nmu = 1000\noriginal_query_weight = 0.5\nrerank_depth = 50\n',
        '[clariq]\ntopics = "topics.tsv"\nqrels = "q.txt"\n[clariq.runs]\na = "a.trec"\n[clariq.needs]\na = "n.txt"\n',
        '[agreement]\nsnippets = ["a.jsonl", "b.csv"]\nmajority = 3\nmin_agreement = 0.4\n[agreement.groups]\nlow = [1, "2"]\n',
        '[crowd]\ngrades = "g.csv"\ntolerance = 1\ndepth = 3\nrelevance_level = 2\n[crowd.runs]\na = "a.json"\n',
    ]
    return parts[0] + "\n".join(part for part in parts[1:] if random.random() < 0.7)


# ---------------------------------------------------------------- today's collections


def texts_ikat(random: Random) -> str:
    of_2025 = random.random() < 0.5
    raw, list_name = ("user_utterance", "responses") if of_2025 else ("utterance", "turns")
    asked = [
        {"turn_id": place, raw: text(random), "resolved_utterance": text(random), "response": "x"}
        for place in (1, 2)
    ]
    ptkb: Any = ["a"] if of_2025 else {"1": "a"}
    return as_json(
        [{"number": random.choice((0, "1-1")), "title": "x", "ptkb": ptkb, list_name: asked}]
    )


def texts_samples(random: Random) -> str:
    if random.random() < 0.3:
        return jsonl([{"sample_id": turn, "cur_utt_text": text(random), "oracle_utt_text": text(random), "t5_rewrite": "x"}
                      for turn in turns(random)])  # fmt: skip
    return jsonl(
        [
            {"sample_id": turn, "predicted_rewrite": [text(random) for _ in range(3)]}
            for turn in turns(random)
        ]
    )


def texts_llm4cs(random: Random) -> str:
    asked = [
        {"turn_id": place, "question": text(random), "manual_rewrite": text(random), "rewrite": "x"}
        for place in (1, 2)
    ]
    return as_json([{"conv_id": 31, "turns": asked}])


def texts_qrecc(random: Random) -> str:
    return as_json([{"Conversation_no": 1, "Turn_no": place, "Question": text(random), "Rewrite": text(random), "Answer": "yes"}
                    for place in range(1, 4)])  # fmt: skip


def dpr(random: Random) -> str:
    found = [
        {"id": f"w:{place}", "score": random.choice((2.5, "1.5")), "has_answer": False}
        for place in range(2)
    ]
    records = [{"conv_id": 1, "turn_id": place, "question": f"{text(random)} [SEP] {text(random)}", "answers": ["x"],
                "ctxs": found} for place in (1, 2)]  # fmt: skip
    return random.choice((as_json, jsonl))(records)


def texts_mtrag(random: Random) -> str:
    said = [f"|user|: {text(random)}" for _ in range(2)]
    return jsonl([{"_id": f"abc<::>{place}", "text": "\n".join(said[:place])} for place in (1, 2)])


def variations(random: Random) -> str:
    rows: list[list[object]] = [[7, "typo", "what is it", text(random), True] for _ in range(2)]
    return table(random, ",", ["q_id", "method", "original_query", "variation", "valid"], rows)


def run_ikat(random: Random) -> str:
    if random.random() < 0.5:
        found = {"references": {"d1": 2.5, "d2": 1}, "responses": [], "metadata": {"run_id": "x"}}
        return jsonl([{"turn_id": f"1-1_{place}", **found} for place in (1, 2)])
    passages = [{"id": f"d{place}", "score": random.random(), "used": True} for place in range(3)]
    return as_json({"run_name": "x", "turns": [{"turn_id": turn, "responses": [{"rank": 1, "passage_provenance": passages}]}
                                               for turn in turns(random)]})  # fmt: skip


def answers_rag(random: Random) -> str:
    said = [{"text": text(random), "citations": [0]}]
    return jsonl(
        [
            {"run_id": "x", "topic_id": f"2024-{place}", "references": ["d1", "d2"], "answer": said}
            for place in (1, 2)
        ]
    )


def reports(random: Random) -> str:
    said = [
        {
            "text": text(random),
            "citations": {"d1": 0.5, "d2": 0.25},
            **({"rank": 1} if random.random() < 0.5 else {}),
        }
    ]
    name = random.choice(({"metadata": {"topic_id": "301"}}, {"turn_id": "1-1_1"}))
    return jsonl(
        [{**name, "responses": said}, {**name, "responses": said, "references": {"d1": 1}}][
            : random.randint(1, 2)
        ]
    )


def run_dictionary(random: Random) -> str:
    return as_json(
        {
            f"31_{turn}": {f"d{place}": round(random.random(), 3) + 0.5 for place in range(3)}
            for turn in (1, 2)
        }
    )


def tasks(random: Random) -> str:
    said = [{"speaker": "user", "text": text(random)}]
    return jsonl([
        {"task_id": f"c<::>{place}", "input": said, "targets": said, "predictions": said, "answerability": ["ANSWERABLE"],
         "contexts": [{"document_id": "d1", "score": 1.5, "text": "one"}, {"document_id": "d2", "score": 0.5, "text": "two"}]}
        for place in (1, 2)
    ])  # fmt: skip


def export(random: Random) -> str:
    task = {"task_id": "t", "input": text(random), "contexts": [{"document_id": "d1"}], "targets": [{"text": "x"}],
            "answerability": "yes"}  # fmt: skip
    answer = {"task_id": "t", "model_id": "m", "model_response": text(random)}
    return as_json({"models": [{"model_id": "m"}], "metrics": [], "documents": [{"document_id": "d1", "text": "one"}],
                    "tasks": [task], "evaluations": [answer]})  # fmt: skip


def answer_labels(random: Random) -> str:
    rows = [
        [turn, random.choice(("answerable", "unanswerable", "partial"))] for turn in turns(random)
    ]
    return table(random, ",", ["turn", "answerability"], rows)


def reviews(random: Random) -> str:
    sample = {"kind": "random", "seed": 1, "of": 70, "size": 5}
    return jsonl([
        {"turn": turn, "systems": ["qr"], "categories": random.choice(([], ["lost"])), "note": text(random), "coder": "a",
         "sample": sample}
        for turn in turns(random)
    ])  # fmt: skip


def nuggets(random: Random) -> str:
    return jsonl(
        [
            {"qid": str(place), "nuggets": [{"text": text(random), "importance": "vital"}]}
            for place in (1, 2)
        ]
    )


def assignments(random: Random) -> str:
    said = ("support", "partial_support", "not_support")
    return jsonl([
        {"qid": str(place), "run_id": "a", "answer_text": text(random),
         "nuggets": [{"text": text(random), "importance": "okay", "assignment": random.choice(said)}]}
        for place in (1, 2)
    ])  # fmt: skip


def run_table(random: Random) -> str:
    rows: list[list[object]] = [
        [turn, f"d{place}", place, random.random()] for turn in turns(random) for place in (1, 2)
    ]
    return table(random, random.choice((",", "\t")), ["query_id", "doc_id", "rank", "score"], rows)


def qrels_table(random: Random) -> str:
    names = random.choice((["query-id", "corpus-id", "score"], ["qid", "docno", "relevance"]))
    rows: list[list[object]] = [
        [turn, f"d{place}", random.randint(0, 3)] for turn in turns(random) for place in (1, 2)
    ]
    return table(random, random.choice((",", "\t")), names, rows)


def scores_table(random: Random) -> str:
    if random.random() < 0.5:
        rows: list[list[object]] = [[turn, "map", random.random()] for turn in turns(random)]
        return table(random, ",", ["query_id", "measure", "value"], rows)
    return table(
        random,
        "\t",
        ["qid", "map", "P_1"],
        [[turn, random.random(), 1.0] for turn in turns(random)],
    )


def three_columns(random: Random) -> str:
    return lines(
        [[turn, f"{turn}-d{place}", place] for turn in turns(random) for place in (1, 2)], "\t"
    )


def passages_beir(random: Random) -> str:
    return jsonl(
        [{"_id": f"d{place}", "title": "A title", "text": text(random)} for place in range(4)]
    )


#: The names of the examples above.
EXAMPLES = (
    "run", "qrels", "scores", "texts_tsv", "texts_jsonl", "texts_rewriter", "texts_object", "texts_cast", "texts_canard",
    "answers", "answers_jsonl", "answers_squad", "paraphrases", "collection", "slices", "snippets_jsonl", "snippets_csv",
    "ratings", "grades", "judgments_regin", "gold_checks", "bank", "turn_list", "mixed_initiative", "topics", "question_bank",
    "needs", "question_run", "evaluation", "performance", "conversations", "preferences", "sheet", "labels_csv",
    "labels_jsonl", "judgments", "project",
    "texts_ikat", "texts_samples", "texts_llm4cs", "texts_qrecc", "dpr", "texts_mtrag", "variations", "run_ikat",
    "answers_rag", "reports", "run_dictionary", "tasks", "export",
    "nuggets", "assignments", "answer_labels", "reviews",
    "run_table", "qrels_table", "scores_table", "scores_missing", "turn_conversations", "three_columns", "passages_beir",
)  # fmt: skip
