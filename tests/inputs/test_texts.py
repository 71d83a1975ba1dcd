"""Question texts: every format, real files, and what bad input says."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import MAX_PROBLEMS, ExitCode, InputError
from robustcs.inputs.formats import Role
from robustcs.inputs.texts import read_texts
from tests.skipped_rows import without_count

FORMATS = "write TSV (id and query), JSONL, JSON {turn: text}, CAsT topic JSON or CANARD JSON"


def written(folder: Path, content: str | bytes | list[Any] | dict[str, Any]) -> Path:
    path = folder / "file"
    if isinstance(content, list | dict):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- real files: number of turns, one exact record, agreement with an independent reading ---

REAL: list[tuple[str, Role, str | None, int, str, str]] = [
    ("cast2019/topics.json", "original", None, 479, "31_4", "What are its symptoms?"),
    ("cast2020/topics_manual.json", "original", None, 216, "81_2", "Now it stopped working. Why?"),
    ("cast2020/topics_manual.json", "human", None, 216, "81_2", "Now my garage door opener stopped working. Why?"),
    ("cast2020/topics_manual.json", "qr", None, 216, "81_2", "Why did garage door opener stop working?"),
    ("cast2020/topics_manual.json", "qr", "manual", 216, "81_5", "How do I choose a new garage door opener?"),
    ("cast2020/topics_manual.json", "qr", "manual_canonical_result_id", 216, "81_1", "MARCO_5498474"),
    ("cast2020/topics_annotated.json", "original", None, 217, "81_2", "Now it's stopped working. Why?"),
    ("cast2020/topics_annotated.json", "human", None, 212, "81_5", "How do I choose a new garage door opener?"),
    ("cast2021/topics_manual.json.gz", "original", None, 239, "106_3", "How deadly is it?"),
    ("cast2021/topics_manual.json.gz", "human", None, 239, "106_3", "How deadly is lobular carcinoma in situ?"),
    (
        "cast2021/topics_manual.json.gz", "qr", None, 239, "106_2",
        "Once the cancer breaks out, how likely is it to spread?",
    ),
    (
        "canard/dev.json.gz", "original", None, 3430, "C_2d211835213b45588ad5ca868ce7fabd_0_q#1",
        "When did they disband?",
    ),
    (
        "canard/dev.json.gz", "human", None, 3430, "C_2d211835213b45588ad5ca868ce7fabd_0_q#1",
        "When did Zappa and the Mothers of Invention disband?",
    ),
    (
        "canard/dev.json.gz", "qr", None, 3430, "C_2d211835213b45588ad5ca868ce7fabd_0_q#1",
        "When did Zappa and the Mothers of Invention disband?",
    ),
    ("cast2019/runs/rewrites_cv.jsonl", "original", None, 429, "31_4", "What are its symptoms?"),
    ("cast2019/runs/rewrites_cv.jsonl", "human", None, 429, "31_4", "What are lung cancer's symptoms?"),
    ("cast2019/runs/rewrites_cv.jsonl", "qr", None, 429, "31_4", "What are the symptoms of lung cancer?"),
    ("cast2019/runs/rewrites_cv.jsonl", "qr", "title", 429, "31_4", "head and neck cancer"),
    ("cast2019/topics_resolved.tsv", "human", None, 479, "80_9", "What happened to Fort Clatsop?"),
    ("cast2019/qrqa/Human.tsv", "human", None, 479, "31_2", "Is throat cancer treatable?"),
    ("cast2019/qrqa/Human.tsv", "original", "original", 479, "31_2", "Is it treatable?"),
    ("cast2019/qrqa/Transformer_Plus_Plus_Q.tsv", "qr", None, 479, "31_2", "Is throat cancer treatable"),
    ("cast2020/rewrites/Human.tsv", "human", None, 216, "105_8", "Why were Rafael Ramos and Wenjian Liu killed?"),
    ("cast2020/rewrites/Original.tsv", "original", None, 216, "105_8", "Why were they killed?"),
    (
        "cast2020/rewrites/QuReTeC_QnA.tsv", "qr", None, 216, "105_8",
        "Why were they killed? rafael wenjian officers liu ramos nypd",
    ),
    ("cast2020/rewrites/Transformer_Plus_Plus_QnA.tsv", "qr", None, 216, "105_8", "Why were Blue Lives killed?"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "role", "column", "turns", "turn", "text"), REAL)
def test_real_files(
    shared_data: Path, name: str, role: Role, column: str | None, turns: int, turn: str, text: str
) -> None:
    texts = read_texts(shared_data / name, role, column)
    assert len(texts) == turns
    assert texts[turn] == text
    assert all(value and value == value.strip() for value in texts.values())


def test_53_turns_of_2019_needed_no_rewriting(shared_data: Path) -> None:
    """SPEC, section 1: of the 173 judged turns, 53 have Human = Original."""
    human = shared_data / "cast2019/qrqa/Human.tsv"
    manual, raw = read_texts(human, "human"), read_texts(human, "original", "original")
    with gzip.open(shared_data / "cast2019/qrels.txt.gz", "rt") as lines:
        judged = {line.split()[0] for line in lines}
    assert sum(manual[turn] == raw[turn] for turn in judged) == 53


def test_files_of_one_year_agree(shared_data: Path) -> None:
    """The same turns from topic JSON, from the resolved TSV and from the columns of a rewrites TSV."""
    raw = read_texts(shared_data / "cast2019/topics.json", "original")
    resolved = read_texts(shared_data / "cast2019/topics_resolved.tsv", "human")
    human = shared_data / "cast2019/qrqa/Human.tsv"
    assert list(raw) == list(resolved)
    assert read_texts(human, "original", "original") == raw
    assert read_texts(human, "human") == resolved
    rewritten = read_texts(shared_data / "cast2019/runs/rewrites_cv.jsonl", "original")
    assert set(raw) - set(rewritten) == {turn for turn in raw if turn.endswith("_1")}
    # a letter lost its accent
    assert {turn for turn, text in rewritten.items() if text != raw[turn]} == {"72_7"}


def test_annotated_turns_without_manual_text_are_absent(shared_data: Path) -> None:
    path = shared_data / "cast2020/topics_annotated.json"
    topics = json.loads(path.read_text())
    lacking = {
        f"{topic['number']}_{turn['number']}"
        for topic in topics
        for turn in topic["turn"]
        if "manual_rewritten_utterance" not in turn
    }
    assert len(lacking) == 5
    assert set(read_texts(path, "original")) - set(read_texts(path, "human")) == lacking


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        (
            "cast2020/runs/bert_raw.trec.gz",
            "this is a TREC run; use it with --run, --original, --qr or --human",
        ),
        (
            "cast2019/decaf/bm25_raw.run.gz",
            "this is a TREC run; use it with --run, --original, --qr or --human",
        ),
        (
            "clariq/dev_bm25",
            "this is a run of clarifying questions; use it with robustcs clariq --run",
        ),
        ("cast2020/qrels.txt.gz", "these are TREC qrels; use them with --qrels"),
        ("cast2022-regin/question_diversity.qrel", "these are TREC qrels; use them with --qrels"),
        (
            "cast2019/qrqa/human_query_metrics.txt",
            "these are per-turn scores; use them with --scores",
        ),
        (
            "cast2019/decaf/bm25_raw.evaluation.txt",
            "these are per-turn scores; use them with --scores",
        ),
    ],
)
def test_other_real_files_are_refused(shared_data: Path, name: str, advice: str) -> None:
    path = shared_data / name
    with pytest.raises(InputError) as caught:
        read_texts(path, "qr")
    assert str(caught.value) == f"{path}: {advice}"


# --- CAsT topics of 2022: turn numbers with a branch, turns of the system, the raw turn is the "utterance" ---

TREE = [
    {
        "number": 132,
        "turn": [
            {
                "number": "1-1", "participant": "User", "utterance": " What was it about? ",
                "manual_rewritten_utterance": "What was the fair about?",
                "automatic_rewritten_utterance": "What was it about?",
            },
            {"number": "1-2", "parent": "1-1", "participant": "System", "response": "Books.", "provenance": []},
            {
                "number": "1-3", "parent": "1-2", "participant": "User", "utterance": "And when?",
                "manual_rewritten_utterance": "And when was the fair?",
                "automatic_rewritten_utterance": "And when was that?",
            },
            {"number": "3-1", "parent": "1-3", "participant": "System", "utterance": "Which year?", "response": "x"},
            {
                "number": "3-2", "parent": "3-1", "participant": "User", "utterance": "2021.",
                "manual_rewritten_utterance": "2021.",
            },
        ],
    }
]  # fmt: skip
FLATTENED = [
    {"number": 132, "turn": [{"number": "1-1", "utterance": "What?", "response": "a"}]},
    {
        "number": 132,
        "turn": [
            {"number": "1-1", "utterance": "What?", "response": "b"},
            {"number": "2-1", "utterance": "Why?", "response": "c"},
        ],
    },
]


@pytest.mark.parametrize("column", [None, "raw", "utterance", "raw_utterance"])
def test_topics_of_2022(tmp_path: Path, column: str | None) -> None:
    path = written(tmp_path, TREE)
    raw = {"132_1-1": "What was it about?", "132_1-3": "And when?", "132_3-2": "2021."}
    assert read_texts(path, "original", column) == raw
    assert read_texts(path, "human")["132_1-3"] == "And when was the fair?"
    assert read_texts(path, "qr") == {
        "132_1-1": "What was it about?",
        "132_1-3": "And when was that?",
    }


def test_flattened_topics_of_2022_repeat_turns(tmp_path: Path) -> None:
    assert read_texts(written(tmp_path, FLATTENED), "original") == {
        "132_1-1": "What?",
        "132_2-1": "Why?",
    }
    differing = json.loads(json.dumps(FLATTENED).replace("What?", "Where?", 1))
    path = written(tmp_path, differing)
    with pytest.raises(InputError) as caught:
        read_texts(path, "original")
    assert (
        str(caught.value)
        == f"{path}: turn 132_1-1 has 'What?' here but 'Where?' earlier; keep one of the two"
    )


# --- the other formats, with the traps of real files ---

GOOD: list[tuple[str, str | bytes, str | None]] = [
    ("TSV with a header", "qid\tquery\n31_1\tone\n31_2\ttwo\n", None),
    ("other columns, other order", "query\tx\tid\none\t1\t31_1\ntwo\t2\t31_2\n", None),
    ("TURN_ID", "TURN_ID\tRAW\n31_1\tone\n31_2\ttwo\n", "RAW"),
    ("id before turn_id", "turn_id\tid\tquery\n1\t31_1\tone\n2\t31_2\ttwo\n", None),
    ("first of several text columns", "id\trewrite\ttext\n31_1\tx\tone\n31_2\ty\ttwo\n", None),
    ("no header", "31_1\tone\n31_2\ttwo", None),
    ("CRLF and BOM", b"\xef\xbb\xbf31_1\tone\r\n31_2\ttwo\r\n", None),
    ("BOM before a header", b"\xef\xbb\xbfid\tquery\r\n31_1\tone\r\n31_2\ttwo", None),
    ("blank lines and spaces", "\n31_1 \t one \n\n \n31_2\ttwo\n\n", None),
    ("repeated with the same text", "31_1\tone\n31_2\ttwo\n31_1\tone \n", None),
    ("gzip", gzip.compress(b"31_1\tone\n31_2\ttwo\n"), None),
    ("JSONL", '{"id": "31_1", "query": "one"}\n\n{"id": "31_2", "query": "two"}\n', None),
    (
        "JSONL, text",
        '{"turn_id": "31_1", "text": "one"}\r\n{"turn_id": "31_2", "text": " two"}\r\n',
        None,
    ),
    (
        "JSONL, rewrite",
        '{"query_id": "31_1", "rewrite": "one"}\n{"query_id": "31_2", "rewrite": "two"}',
        None,
    ),
    (
        "JSONL, named",
        '{"turn": "31_1", "query": "x", "q": "one"}\n{"turn": "31_2", "query": "x", "q": "two"}',
        "q",
    ),
    ("JSON", '{"31_1": "one", "31_2": "two"}', None),
    ("JSON, repeated", '{"31_1": "one",\n "31_2": "two",\n "31_1": "one"}', None),
    (
        "JSON with BOM and CRLF",
        b'\xef\xbb\xbf{\r\n  "31_1": "one",\r\n  "31_2": "two"\r\n}\r\n',
        None,
    ),
    (
        "JSONL of a rewriter",
        '{"topic_number": 31, "query_number": 1, "input": ["one"], "output": "x"}\n'
        '{"topic_number": "31", "query_number": "2", "input": ["one", "two"], "output": "y"}\n',
        "input",
    ),
]


@pytest.mark.parametrize(
    ("content", "column"), [good[1:] for good in GOOD], ids=[good[0] for good in GOOD]
)
def test_formats(tmp_path: Path, content: str | bytes, column: str | None) -> None:
    assert read_texts(written(tmp_path, content), "qr", column) == {"31_1": "one", "31_2": "two"}


def test_one_line_of_jsonl_is_a_record_and_one_object_of_turns_is_not(tmp_path: Path) -> None:
    assert read_texts(written(tmp_path, '{"id": 7, "query": "one"}'), "qr") == {"7": "one"}
    assert read_texts(written(tmp_path, '{"7": "one"}'), "qr") == {"7": "one"}


def test_quotes_and_odd_line_separators_belong_to_the_text(tmp_path: Path) -> None:
    content = 'id\tquery\n31_1\t"Who" is "it\n31_2\t"\u2028a\x0cb,"\n'
    assert read_texts(written(tmp_path, content), "qr") == {
        "31_1": '"Who" is "it',
        "31_2": '"\u2028a\x0cb,"',
    }


LINE = st.text(
    st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1
).filter(str.strip)


# with three numbers as its text, a turn would be a line of qrels, and with five, of a run
@settings(deadline=None)
@given(st.dictionaries(LINE, LINE.map("{} and why?".format), min_size=1))
def test_every_format_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    expected = {turn.strip(): text.strip() for turn, text in texts.items()}
    if len(expected) < len(texts):
        return
    tsv = "id\tquery\n" + "".join(f"{turn}\t{text}\n" for turn, text in texts.items())
    jsonl = "".join(
        json.dumps({"id": turn, "text": text}, ensure_ascii=False) + "\n"
        for turn, text in texts.items()
    )
    topics = [
        {"number": 1, "turn": [{"number": turn, "raw_utterance": text}]}
        for turn, text in texts.items()
    ]
    assert read_texts(written(folder, tsv), "original") == expected
    assert read_texts(written(folder, jsonl), "original") == expected
    by_topic = read_texts(written(folder, topics), "original")
    assert by_topic == {
        turn if turn.startswith("1_") else f"1_{turn}": text for turn, text in expected.items()
    }


def test_tsv_equals_the_csv_module_without_quoting(shared_data: Path) -> None:
    for path in sorted((shared_data / "cast2020/rewrites").glob("*.tsv")):
        with path.open(newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
        assert read_texts(path, "qr") == {row["id"]: row["query"].strip() for row in rows}


# --- bad input: the exact message ---

#: § stands for the path.
BAD: list[tuple[str, str | bytes | list[Any] | dict[str, Any], str | None, str]] = [
    ("empty file", "", None, "§: the file is empty; check the path"),
    ("blank file", "\n \n\t\n", None, "§: the file is empty; check the path"),
    ("header only", "id\tquery\n", None, "§: the file has no turns; check the path"),
    ("empty object", "{}", None, "§: the file has no turns; check the path"),
    ("empty list", "[]", None, f"§: JSON, but a list without texts of turns; {FORMATS}"),
    ("list of texts", '["a"]', None, f"§: JSON, but a list without texts of turns; {FORMATS}"),
    ("other JSON", {"turns": {}}, None, f"§: JSON, but an object without texts of turns; {FORMATS}"),
    ("QuAC's data set", {"data": []}, None,
     "§: these are answers of SQuAD or QuAC; use them with --response, --answers or --gold"),
    ("paraphrases", "TURN_ID,MANUAL PARAPHRASE,RAW PARAPHRASE\n1_1,a,b\n", None,
     "§: these are paraphrases; use them with --paraphrases"),
    ("no tab", "31_1 What?\n", None, f"§:1: not a file of texts; {FORMATS}"),
    ("run", "\n31_1 Q0 D1 1 2.5 tag of mine\n", None,
     "§: this is a TREC run; use it with --run, --original, --qr or --human"),
    ("tab run", "31_1\tQ0\tD1\t0\t-1e3\ttag\n", None,
     "§: this is a TREC run; use it with --run, --original, --qr or --human"),
    ("qrels", "31_1 0 D1 -1\n", None, "§: these are TREC qrels; use them with --qrels"),
    ("scores", "map\t31_1\t0.5\n", None,
     "§: these are per-turn scores; use them with --scores"),
    ("wrong column", "id\tquery\toriginal\n31_1\ta\tb\n", "manual",
     "§:1: no column 'manual'; the columns are: id, query, original; choose one of them as FILE:COLUMN"),
    ("no default column", "id\tquestion text\n31_1\ta\n", None,
     "§:1: no column 'query'; the columns are: id, question text; choose one of them as FILE:COLUMN"),
    ("column without header", "31_1\ta\n", "query",
     "§:1: no column 'query'; the columns are: id, text; choose one of them as FILE:COLUMN"),
    ("no header, three columns", "31_1\ta\tb\n31_2\tc\td\n", None,
     "§:1: 3 columns, but no header line that names one of id, qid, query_id, turn_id, turn, _id, sample_id, query-id, q_id;"
     " add a header line, or write id TAB text only"),
    ("tab inside a text", "31_1\ta\n31_2\tb\tc\n", None,
     "§:2: 3 columns, but a file without a header line has 2 (id, text); is there a tab inside a text?"),
    ("tab inside a text under a header", "id\tquery\n31_1\ta\tb\n", None,
     "§:2: 3 columns, but the header has 2; is there a tab inside a text?"),
    ("short line", "id\tx\tquery\n31_1\ta\tb\n\n31_2\n", None,
     "§:4: 1 column, but the header has 3; complete the row or delete it"),
    ("empty id", "31_1\ta\n \tb\n", None, "§:2: no turn id; add a turn id such as 31_4 to every entry"),
    ("empty text", "31_1\ta\n31_2\t \n", None, "§:2: turn 31_2: empty text; write the text or remove the turn"),
    ("two texts", "31_1\ta\n31_2\tb\n31_1\tc\n", None,
     "§:3: turn 31_1 has 'c' here but 'a' in line 1; keep one of the two"),
    ("two long texts", f"31_1\t{'a' * 80}\n31_1\tc\n", None,
     f"§:2: turn 31_1 has 'c' here but '{'a' * 59}…' in line 1; keep one of the two"),
    ("several problems", "31_1\ta\n31_2\n\tb\n", None,
     "§:2: 1 column, but a file without a header line has 2 (id, text); complete the row or delete it\n"
     "§:3: no turn id; add a turn id such as 31_4 to every entry"),
    ("not UTF-8", b"31_1\ta\n31_2\t\xff\n", None, "§:2: this line is not UTF-8; save the file as UTF-8"),
    ("UTF-16", "31_1\ta\n".encode("utf-16"), None, "§:1: the file is UTF-16; save it as UTF-8"),
    ("damaged gzip", gzip.compress(b"31_1\ta\n" * 99)[:-12], None,
     "§: the compressed data are damaged (Compressed file ended before the end-of-stream marker was reached);"
     " copy the file again"),
    ("bad JSON", '{\n"31_1": "a",\n"31_2" "b"\n}', None, "§:3: not JSON (Expecting ':' delimiter); check the file"),
    ("one broken line", '{"id": 31_1}', None, "§:1: not JSON (Expecting ',' delimiter); check the file"),
    ("list of other objects", [{"id": "31_1"}], None, f"§: JSON, but a list without texts of turns; {FORMATS}"),
    ("bad JSONL", '{"id": "31_1", "query": "a"}\n{"id": "31_2", "query"}\n[1]\n', None,
     "§:2: not JSON (Expecting ':' delimiter); write one JSON object per line\n"
     "§:3: not a JSON object; write one JSON object per line"),
    ("JSONL without the column", '{"id": "31_1", "query": "a"}\n{"id": "31_2", "query": "b"}\n', "raw",
     "§:1: no column 'raw'; the columns are: id, query; choose one of them as FILE:COLUMN"),
    ("JSONL, one line without", '{"id": "31_1", "query": "a"}\n{"id": "31_2"}\n', None,
     "§:2: no field 'query'; complete the row or delete it"),
    ("JSONL without id", '{"query": "a"}\n{"query": "b"}\n', None,
     "§:1: no turn id; add a turn id such as 31_4 to every entry\n"
     "§:2: no turn id; add a turn id such as 31_4 to every entry"),
    ("JSONL, id of a wrong type", '{"id": ["a"], "query": "a"}\n{"id": true, "query": "b"}\n', None,
     "§:1: turn id ['a'] is not a text; add a turn id such as 31_4 to every entry\n"
     "§:2: turn id True is not a text; add a turn id such as 31_4 to every entry"),
    ("JSONL, text of a wrong type", '{"id": 1, "query": null}\n{"id": 2, "query": ["b"]}\n', None,
     "§:1: turn 1: null is not a text; write a text in quotes\n"
     "§:2: turn 2: [\"b\"] is not a text; write a text in quotes"),
    ("JSONL, two texts", '{"id": 1, "query": "a"}\n{"id": "1", "query": "b"}\n', None,
     "§:2: turn 1 has 'b' here but 'a' in line 1; keep one of the two"),
    ("rewriter, empty input", '{"topic_number": 31, "query_number": 1, "input": []}\n', "input",
     "§:1: turn 31_1: [] is not a text; write a text in quotes"),
    ("JSON, two texts", '{"31_1": "a", "31_1": "b"}', None,
     "§: turn 31_1 has 'b' here but 'a' earlier; keep one of the two"),
    ("JSON, empty text and half a character", r'{"31_1": "", "31_2": "\ud800"}', None,
     "§: turn 31_1: empty text; write the text or remove the turn\n"
     "§: turn 31_2: half a character (a lone surrogate); save the file as UTF-8"),
    ("JSON with a column", {"31_1": "a"}, "query",
     "§: no column 'query'; the columns are: id, text; choose one of them as FILE:COLUMN"),
    ("topics without the field", TREE, "passage",
     "§: no column 'passage'; the columns are: participant, utterance, manual_rewritten_utterance,"
     " automatic_rewritten_utterance, parent; choose one of them as FILE:COLUMN"),
    ("topics with holes", [{"turn": []}, {"number": 5, "turn": [{"raw_utterance": "a"}]}, 7], "raw",
     "§: entry 3 of the list is not an object; write a JSON object\n"
     "§: topic 5: turn 1 of the list has no number; complete the turn\n"
     "§: topic 1 of the list has no number or no list of turns; complete the topic"),
    ("topics without turns", [{"number": 5, "turn": []}], "raw", "§: the file has no turns; check the path"),
    ("topic with an empty text", [{"number": 5, "turn": [{"number": 1, "raw_utterance": " "}]}], "raw",
     "§: turn 5_1: empty text; write the text or remove the turn"),
    ("CANARD without the column", [{"QuAC_dialog_id": "C", "Question_no": 1, "Question": "a"}], None,
     "§: no column 'Rewrite'; the columns are: QuAC_dialog_id, Question_no, Question;"
     " choose one of them as FILE:COLUMN"),
    ("CANARD with a hole", [{"QuAC_dialog_id": "C", "Question_no": 1, "Rewrite": "a"}, {"QuAC_dialog_id": "C"}], None,
     "§: entry 2 of the list: no QuAC_dialog_id or no Question_no; complete the entry"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "column", "message"), [bad[1:] for bad in BAD], ids=[bad[0] for bad in BAD]
)
def test_bad_input(tmp_path: Path, content: Any, column: str | None, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_texts(path, "qr", column)
    assert without_count(caught.value) == message.replace("§", str(path))
    assert caught.value.exit_code == ExitCode.BAD_INPUT


def test_topics_without_rewrites_name_what_there_is(shared_data: Path) -> None:
    path = shared_data / "cast2019/topics.json"
    with pytest.raises(
        InputError,
        match=re.escape("no column 'automatic_rewritten_utterance'; the columns are: raw_utt"),
    ):
        read_texts(path, "qr")


def test_problems_are_bounded(tmp_path: Path) -> None:
    path = written(tmp_path, "31_1\ta\n" + "31_2\n" * 50)
    with pytest.raises(InputError) as caught:
        read_texts(path, "qr")
    assert len(caught.value.problems) == MAX_PROBLEMS
    assert str(caught.value).startswith(f"{path}: 50 of 51 texts cannot be used; ")
    assert str(caught.value).endswith(f"… and {50 - (MAX_PROBLEMS - 1)} more problems")


@pytest.mark.parametrize("number", ["-" + "9" * 4300, '"a"', "[]"])
def test_places_of_canard_that_are_no_numbers(tmp_path: Path, number: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(
        '[{"QuAC_dialog_id": "C", "Question_no": ' + number + ', "Question": "a", "Rewrite": "b"}]'
    )
    with pytest.raises(
        InputError, match="entry 1 of the list: no QuAC_dialog_id or no Question_no"
    ):
        read_texts(path, "human")


def test_what_is_not_read_may_have_half_a_character(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text('{"id": "1_1", "text": "a", "response": "\\ud83d"}\n')
    assert read_texts(path, "human") == {"1_1": "a"}
    path.write_text(
        '[{"number": 1, "turn": [{"number": 1, "raw_utterance": "a", "passage": "\\ud83d"}]}]'
    )
    assert read_texts(path, "original") == {"1_1": "a"}


def test_nesting_that_json_reads_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"1_1": "a", "1_2": ' + "[" * 900 + "]" * 900 + "}")
    with pytest.raises(InputError, match=r"turn 1_2: \[\[.* is not a text"):
        read_texts(path, "human")
