"""What kind of file is this? Told by its first lines."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from robustcs.errors import InputError
from robustcs.inputs.sniff import Kind, identify, kind_of, refuse_other_kinds
from tests.fuzz import examples as make

FILES = {
    "run": [
        "1_1 Q0 d1 1 9.5 tag\n1_1 Q0 d2 2 -1e-3 tag with spaces\n",
        "31_1\tQ0\td1\t0\t9.5\ttag\n",
        "query_id Q0 docno rank score tag\n1_1 Q0 d1 1 9.5 tag\n",
        "# ir_metadata\n# more\n1_1 Q0 d1 1 9.5 tag\n",
    ],
    "qrels": ["1_1 0 d1 2\n1_1 Q0 d2 -1\n", "\ufeff1_1\t0\td1\t2\n1_2\t0\td1\t0\n"],
    "scores": ["P_1\t1_1\t1.0\nP_1\tall\t0.5\n", "map                   \t31_1\t0.5136\n"],
    "texts": [
        "id\tquery\n1_1\tWhat?\n",
        "1_1\tWhat is throat cancer?\n1_2\tIs it treatable?\n",
        '[{"number": 1, "turn": [{"number": 1, "raw_utterance": "What?"}]}]',
        '[{"number": 132, "turn": [{"number": "1-1", "utterance": "What?"}]}]',
        '[{"QuAC_dialog_id": "C_1", "Question_no": 1, "Question": "What?"}]',
        '{"topic_number": 31, "query_number": 1, "input": ["What?"], "output": "What?"}\n',
        '{"id": "1_1", "query": "What?"}\n{"id": "1_2", "query": "Why?"}\n',
        '{"1_1": "What?", "1_2": "Why?"}',
    ],
    "answers": [
        '{"1_1": ["a tube"], "1_2": "yes"}',
        '{"id": "1_1", "answer": "a tube"}\n{"id": "1_2", "answers": ["yes"]}\n',
        '{"data": [{"paragraphs": []}]}',
        '{"qid": ["C_1_q#0"], "best_span_str": ["a tube"]}\n',
    ],
    "paraphrases": ["TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n1_1,What?,What?\n"],
    "collection": ['{"id": "d1", "contents": "Some text."}\n{"id": "d2", "contents": "More."}\n'],
    None: [
        "",
        "\n\n",
        "# only a comment\n",
        "Some prose that\nis no table.\n",
        "a,b\n1,2\n",
        "\0\1\2",
        "{",
        "1 2 3\n4 5 6\n",
    ],
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in FILES.items() for text in texts]
)
def test_kinds(tmp_path: Path, kind: str | None, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert kind_of(path) == kind
    path.write_bytes(gzip.compress(text.encode()))
    assert kind_of(path) == kind


def test_what_cannot_be_read_is_no_kind(tmp_path: Path) -> None:
    assert kind_of(tmp_path / "gone") is None
    assert kind_of(tmp_path) is None
    (tmp_path / "damaged.gz").write_bytes(b"\x1f\x8b\x08\x00")
    assert kind_of(tmp_path / "damaged.gz") is None
    (tmp_path / "utf16").write_bytes("1_1 0 d1 2\n".encode("utf-16"))
    assert kind_of(tmp_path / "utf16") is None


def test_public_files(shared_data: Path) -> None:
    expected = {
        "cast2019/qrels.txt.gz": "qrels",
        "cast2019/topics.json": "texts",
        "cast2019/topics_resolved.tsv": "texts",
        "cast2019/decaf/bm25_raw.run.gz": "run",
        "cast2019/qrqa/human_query_metrics.txt": "scores",
        "cast2019/qrqa/answer_overlap_r1000.txt": "scores",
        "cast2019/qrqa/Human.tsv": "texts",
        "cast2019/runs/bert_base_cv.trec.gz": "run",
        "cast2019/runs/rewrites_cv.jsonl": "texts",
        "cast2020/passages.jsonl.gz": "collection",
        "cast2021/runs/org_convdr.passages.trec.gz": "run",
        "canard/dev.json.gz": "texts",
        "ECAsT.csv.gz": "paraphrases",
        "cast2022-regin/question_relevance_all.qrel": "qrels",
        "cast2022-regin/question_bank.json": "question bank",
        "cast2022-regin/question_judgments.json.gz": "crowd grades",
        "cast2022-regin/GPT-3_raw_run.json": "mixed-initiative run",
        "cast2022-regin/question_pool_depth_1.pool": "question run",
        "clariq/dev.tsv.gz": "clariq topics",
        "clariq/dev_bm25": "question run",
        "clariq/dev_bm25.eval": "clariq evaluation",
        "clariq/question_bank.tsv.gz": "question bank",
        "snippets/topic_1-paragraph-expert.csv.gz": "snippets",
        "llmjudge/human.qrels.gz": "qrels",
        "dl2021/qrels_gpt4.txt.gz": "qrels",
    }
    assert {path: kind_of(shared_data / path) for path in expected} == expected


EXAMPLES: dict[Kind, tuple[Callable[[Random], str], ...]] = {
    "run": (make.run, make.run_ikat, make.dpr, make.run_table, make.three_columns, make.answers_rag),
    "qrels": (make.qrels, make.qrels_table),
    "scores": (make.scores, make.scores_table),
    "texts": (
        make.texts_tsv, make.texts_jsonl, make.texts_rewriter, make.texts_object, make.texts_cast, make.texts_canard,
        make.texts_ikat, make.texts_samples, make.texts_llm4cs, make.texts_qrecc, make.texts_mtrag, make.dpr, make.variations,
    ),
    "answers": (make.answers_jsonl, make.answers_squad, make.texts_qrecc, make.dpr, make.answers_rag),
    "paraphrases": (make.paraphrases,),
    "collection": (make.passages_beir,),
    "snippets": (make.snippets_jsonl, make.snippets_csv),
    "ratings": (make.ratings,),
    "mixed-initiative run": (make.mixed_initiative,),
    "nuggets": (make.nuggets,),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "example"), [(kind, one) for kind, some in EXAMPLES.items() for one in some],
    ids=[f"{kind}-{one.__name__}" for kind, some in EXAMPLES.items() for one in some],
)  # fmt: skip
def test_what_a_reader_takes_is_told(
    tmp_path: Path, kind: Kind, example: Callable[[Random], str]
) -> None:
    path, random = tmp_path / "file", Random(7)
    for _ in range(20):
        content = example(random)
        path.write_text(content, encoding="utf-8")
        found = identify(path)
        assert found is not None, content
        assert kind in found.kinds, content


def test_formulations_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "file"
    topic = '[{"number": "1-1", "ptkb": {}, "turns": [{"turn_id": 1, "utterance": "a", "resolved_utterance": "b"}]}]'
    for content, expected in (
        (topic, {"original": "utterance", "human": "resolved_utterance"}),
        ('{"sample_id": "1_1", "predicted_rewrite": ["a"]}\n', {"qr": "predicted_rewrite"}),
        ("id\tquery\toriginal\n1_1\ta\tb\n", {"original": "original"}),
        ("1_1\ta\n1_2\tb\n", {}),
        ('{"_id": "a<::>1", "text": "|user|: b"}\n', {}),
        (
            "qid,question,rewrite\n1_1,a,b\n",
            {"original": "question", "qr": "rewrite", "human": "rewrite"},
        ),
    ):
        path.write_text(content)
        found = identify(path)
        assert found is not None
        assert (found.kind, found.formulations) == ("texts", expected), content


def test_what_is_said_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"turn_id": "1_1", "references": {"d1": 1}, "responses": []}\n')
    assert refuse_other_kinds(path, "run") == identify(path)
    with pytest.raises(InputError) as caught:
        refuse_other_kinds(path, "texts")
    said = f"{path}: this is an iKAT run; use it with --run, --original, --qr or --human"
    assert str(caught.value) == f"{said}, or as answers with --response, --answers or --gold"
    # what may be of several kinds is left to the reader
    path.write_text("1_1\ta\n")
    found = refuse_other_kinds(path, "run")
    assert found is not None
    assert (found.kind, found.certain, found.shape) == ("texts", False, "lines")
