"""Made runs, judgments and scores of today's collections: JSON, three columns, tables by their columns."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import InputError
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.collection import read_passages
from robustcs.inputs.heads import ir_metadata
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import Run, read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.sniff import identify


def written(folder: Path, content: str | list[Any] | dict[str, Any], lines: bool = False) -> Path:
    path = folder / "file"
    if not isinstance(content, str):
        content = (
            "".join(json.dumps(one) + "\n" for one in content) if lines else json.dumps(content)
        )
    path.write_text(content)
    return path


def rows(run: Run) -> list[tuple[str, str, float]]:
    turns = [run.turns[code] for code in run.turn_codes]
    return list(zip(turns, run.ids.texts(), run.scores.tolist(), strict=True))


def triples(qrels: Qrels) -> list[tuple[str, str, int]]:
    documents = qrels.ids.texts()
    return [(qrels.turns[turn], document, int(grade)) for turn, document, grade in
            zip(qrels.turn_codes, documents, qrels.grades, strict=True)]  # fmt: skip


def refused(reader: Any, path: Path) -> str:
    with pytest.raises(InputError) as caught:
        reader(path)
    return str(caught.value).replace(str(path), "§")


# ---------------------------------------------------------------- JSON


def test_an_ikat_run_of_2025(tmp_path: Path) -> None:
    lines = [
        {
            "metadata": {"team_id": "t", "run_id": "r"},
            "turn_id": "1-1_1",
            "references": {"d1": 0.5, "d2": 2},
            "responses": [],
        },
        {
            "metadata": {"team_id": "t", "run_id": "r"},
            "turn_id": "1-1_2",
            "references": {},
            "responses": [],
        },
        {
            "turn_id": "1-1_3",
            "references": ["d3", "d1"],
            "responses": [{"rank": 1, "text": "x", "citations": {"d3": 1}}],
        },
    ]
    expected = [
        ("1-1_1", "d1", 0.5),
        ("1-1_1", "d2", 2.0),
        ("1-1_3", "d3", -1.0),
        ("1-1_3", "d1", -2.0),
    ]
    assert rows(read_run(written(tmp_path, lines, lines=True))) == expected
    assert rows(read_run(written(tmp_path, lines))) == expected


def test_several_responses_in_the_order_of_their_ranks(tmp_path: Path) -> None:
    responses = [
        {
            "rank": 2,
            "text": "b",
            "passage_provenance": [{"id": "d3", "used": True}, {"id": "d1", "used": False}],
        },
        {
            "rank": 1,
            "text": "a",
            "passage_provenance": [{"id": "d1", "used": True}, {"id": "d2", "used": False}],
        },
    ]
    path = written(
        tmp_path, {"run_name": "r", "turns": [{"turn_id": "9-1_1", "responses": responses}]}
    )
    assert rows(read_run(path)) == [
        ("9-1_1", "d1", -1.0),
        ("9-1_1", "d2", -2.0),
        ("9-1_1", "d3", -3.0),
    ]


def test_passages_of_topiocqa(tmp_path: Path) -> None:
    found = [
        {"id": "wiki:1", "title": "T", "text": "x", "score": "81.5", "has_answer": True},
        {"id": "wiki:2", "score": 80.25},
    ]
    line = {
        "conv_id": 3,
        "turn_id": 2,
        "question": "a [SEP] b",
        "answers": ["yes", "sure"],
        "ctxs": found,
    }
    path = written(tmp_path, [line])
    assert rows(read_run(path)) == [("3_2", "wiki:1", 81.5), ("3_2", "wiki:2", 80.25)]
    assert read_gold_answers(path) == {"3_2": ("yes", "sure")}


def test_answers_of_trec_rag(tmp_path: Path) -> None:
    said = [{"text": "One.", "citations": [1, 0]}, {"text": "Two.", "citations": []}]
    lines = [
        {"run_id": "r", "topic_id": "2024-145979", "references": ["m#1", "m#2"], "answer": said},
        {"metadata": {"run_id": "r", "narrative_id": 17}, "references": [],
         "answer": [{"text": "Three.", "citations": ["m#3", "m#1"]}, {"text": "Four.", "citations": ["m#3"]}]},
    ]  # fmt: skip
    path = written(tmp_path, lines, lines=True)
    assert rows(read_run(path)) == [
        ("2024-145979", "m#1", -1.0), ("2024-145979", "m#2", -2.0), ("17", "m#3", -1.0), ("17", "m#1", -2.0)
    ]  # fmt: skip
    assert read_predicted_answers(path) == {"2024-145979": "One. Two.", "17": "Three. Four."}


def test_reports_of_ragtime(tmp_path: Path) -> None:
    said = [
        {"text": "One.", "citations": {"d1": 0.25, "d2": 0.5}},
        {"text": "Two.", "citations": {"d2": 0.75}},
    ]
    lines = [
        {"metadata": {"team_id": "t", "run_id": "r", "topic_id": "301"}, "responses": said},
        {
            "metadata": {"topic_id": "302"},
            "responses": [{"text": "Three.", "citations": ["d7"]}],
            "references": ["d3", "d7"],
        },
    ]
    path = written(tmp_path, lines, lines=True)
    assert rows(read_run(path)) == [
        ("301", "d1", 0.25), ("301", "d2", 0.5), ("301", "d2", 0.75), ("302", "d3", -1.0), ("302", "d7", -2.0)
    ]  # fmt: skip
    assert read_predicted_answers(path) == {"301": "One. Two.", "302": "Three."}
    assert read_predicted_answers(written(tmp_path, lines)) == {"301": "One. Two.", "302": "Three."}


def test_answers_and_citations_of_ikat(tmp_path: Path) -> None:
    """Responses with ranks are alternatives: the answer is the first, not all of them joined."""
    responses = [
        {"rank": 2, "text": "b", "citations": {"d3": 0.5}},
        {"rank": 1, "text": "a", "citations": {"d1": 0.75}},
    ]
    of_2025 = written(tmp_path, [{"turn_id": "1-1_1", "responses": responses}], lines=True)
    assert rows(read_run(of_2025)) == [("1-1_1", "d1", 0.75), ("1-1_1", "d3", 0.5)]
    assert read_predicted_answers(of_2025) == {"1-1_1": "a"}
    of_2024 = {"run_name": "r", "turns": [
        {"turn_id": f"9-1_{turn}", "responses": [{"rank": 1, "text": f"t{turn}", "passage_provenance": [{"id": "d1"}]}]}
        for turn in (1, 2)
    ]}  # fmt: skip
    path = written(tmp_path, of_2024)
    assert read_predicted_answers(path) == {"9-1_1": "t1", "9-1_2": "t2"}
    found = identify(path)
    assert found is not None and found.kinds == ("run", "answers")


def test_a_run_as_a_dictionary(tmp_path: Path) -> None:
    run = {"31_1": {"d1": 1.5, "d2": 2}, "31_2": {"d1": 0.5}}
    path = written(tmp_path, run)
    assert rows(read_run(path)) == [("31_1", "d1", 1.5), ("31_1", "d2", 2.0), ("31_2", "d1", 0.5)]
    found = identify(path)
    assert (
        found is not None and found.family == "a run {turn: {passage: score}}" and not found.certain
    )


@pytest.mark.parametrize(
    "other",
    [
        {"31_1": {"d1": 1, "d2": 0}, "31_2": {"d1": 3}},  # grades
        {"31_1": {"map": 0.5, "ndcg_cut_3": 0.25}},  # scores of measures
        {"NDCG20": {"F0001": 0.5}, "MRR100": {"F0001": 0.25}},
        {"31_1": {"d1": "0.5"}},
        {"31_1": {"d1": {"d2": 0.5}}},
    ],
)
def test_dictionaries_of_other_numbers_are_no_runs(tmp_path: Path, other: dict[str, Any]) -> None:
    found = identify(written(tmp_path, other))
    assert found is None or "run" not in found.kinds


def test_a_run_with_ir_metadata(tmp_path: Path) -> None:
    """A header longer than what is looked at first; the tag is the run's, not that of a comment."""
    more = "".join(f"#   library {number}: something that was installed\n" for number in range(300))
    head = f'# ir_metadata.start\n# tag: "bm25"\n# actor:\n#   team: Team A\n# platform:\n{more}# ir_metadata.end\n'
    path = tmp_path / "run.trec"
    path.write_text(head + "1_1 Q0 d1 1 2.5 bm25\n1_1 Q0 d2 2 1.5 bm25\n")
    run = read_run(path)
    assert rows(run) == [("1_1", "d1", 2.5), ("1_1", "d2", 1.5)]
    assert run.notes == ("run.trec: skipped 306 comment lines",)
    assert ir_metadata(path) == "tag bm25, team Team A"
    path.write_text("# tag: x\n1_1 Q0 d1 1 2.5 bm25\n")
    assert ir_metadata(path) == ""


def test_qrels_whose_header_is_repeated(tmp_path: Path) -> None:
    path = tmp_path / "qrels.tsv"
    head = "query-id\tcorpus-id\tscore\n"
    path.write_text(f"{head}c<::>1\td1\t1\n{head}c<::>2\td2\t2\n{head}")
    assert triples(read_qrels(path)) == [("c<::>1", "d1", 1), ("c<::>2", "d2", 2)]
    path.write_text(f"{head}c<::>1\td1\t1\nquery-id\tcorpus-id\tgrade\n")
    assert (
        refused(read_qrels, path)
        == "§:3: score 'grade' is not a whole number; write a whole number"
    )


def test_answers_of_qrecc_and_topiocqa(tmp_path: Path) -> None:
    more = [{"Answer_spans": [], "Answer": "Yes"}, {"Answer": ""}]
    entries = [
        {
            "Conversation_no": 1,
            "Turn_no": 1,
            "Question": "a",
            "Rewrite": "b",
            "Answer": "yes",
            "Additional_answers": more,
        },
        {"Conversation_no": 1, "Turn_no": 2, "Question": "a", "Rewrite": "b", "Answer": ""},
    ]
    assert read_gold_answers(written(tmp_path, entries)) == {"1_1": ("yes", "Yes")}
    model = [{"Conversation_no": 1, "Turn_no": 1, "Question": "a", "Model_rewrite": "c", "Model_answer": "no",
              "Model_passages": {"d1": 3, "d2": 5}}]  # fmt: skip
    path = written(tmp_path, model)
    assert read_predicted_answers(path) == {"1_1": "no"}
    assert rows(read_run(path)) == [("1_1", "d1", 3.0), ("1_1", "d2", 5.0)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"turn_id": "1_1", "references": {"d1": "x"}, "responses": []}],
         "§:1: turn 1_1 passage d1: score 'x' is not a decimal number; write a decimal number"),
        ([{"turn_id": "1_1", "references": [{"score": 2}], "responses": []}],
         "§:1: turn 1_1: a passage without an id; add an id to every passage"),
        ([{"turn_id": "1_1", "references": {}, "responses": []}], "§: the file has no passages; check the path"),
        ([{"turn_id": "1_1", "references": {"a": 1}, "responses": []}, {"references": {}, "responses": []}],
         "§:2: turn 2 has no turn_id; complete the turn"),
    ],
)  # fmt: skip
def test_broken_runs_of_json(tmp_path: Path, content: list[Any], message: str) -> None:
    assert refused(read_run, written(tmp_path, content, lines=True)) == message


# ---------------------------------------------------------------- three columns


def test_three_columns_of_ms_marco(tmp_path: Path) -> None:
    path = written(tmp_path, "1048585\t7187158\t1\n1048585\t7187157\t2\n1048585\t11\t3\n2\t7\t1\n")
    run = read_run(path, "r", ranks=True)
    assert rows(run) == [
        ("1048585", "7187158", -1),
        ("1048585", "7187157", -2),
        ("1048585", "11", -3),
        ("2", "7", -1),
    ]
    assert run.ranks is not None
    assert run.ranks.tolist() == [1, 2, 3, 1]
    assert run.notes == ("r: three columns, read as turn, document and rank",)


def test_three_columns_of_judgments(tmp_path: Path) -> None:
    path = written(tmp_path, "1\t7\t1\n1\t8\t0\n2\t7\t1\n")
    qrels = read_qrels(path)
    assert triples(qrels) == [("1", "7", 1), ("1", "8", 0), ("2", "7", 1)]
    assert qrels.notes == ("file: three columns, read as turn, document and grade",)
    assert refused(read_scores, path) == "§: these are MS MARCO qrels; use them with --qrels"
    assert refused(read_run, written(tmp_path, "1\t7\t1\n1\t8\t1\n1\t9\t0\n")) == (
        "§: three columns, but the numbers repeat within a turn, so they are not ranks; use grades with --qrels"
    )
    ranked = written(tmp_path, "".join(f"1 d{rank} {rank}\n" for rank in range(1, 9)))
    assert refused(read_qrels, ranked) == (
        "§: three columns, but the numbers are not grades; use ranks with --run"
    )
    assert (
        refused(read_scores, ranked)
        == "§: this is an MS MARCO run; use it with --run, --original, --qr or --human"
    )


def test_scores_stay_scores(tmp_path: Path) -> None:
    path = written(tmp_path, "own_measure 31_1 1\nown_measure 31_2 0\nother 31_1 3\nother 31_2 1\n")
    assert read_scores(path).to_dict() == {
        "own_measure": {"31_1": 1.0, "31_2": 0.0},
        "other": {"31_1": 3.0, "31_2": 1.0},
    }
    assert "3 columns, but a run has 6" in refused(read_run, path)
    assert "3 columns, but a qrels file has 4" in refused(read_qrels, path)


# ---------------------------------------------------------------- tables

ID = st.text("abc0189_-", min_size=1, max_size=6)


@settings(deadline=None, max_examples=40)
@given(
    pairs=st.lists(st.tuples(ID, ID), min_size=1, unique=True),
    names=st.sampled_from(
        [("query_id", "doc_id"), ("qid", "docno"), ("turn_id", "passage_id"), ("Topic", "DocID")]
    ),
    form=st.sampled_from(["csv", "tsv", "spaces", "gzip", "parquet"]),
    seed=st.integers(0, 99),
)
def test_tables_give_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    pairs: list[tuple[str, str]],
    names: tuple[str, str],
    form: str,
    seed: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "table"
    random = np.random.default_rng(seed)
    scores = [float(np.float32(score)) for score in random.normal(size=len(pairs))]
    grades = [int(grade) for grade in random.integers(0, 4, len(pairs))]
    columns: dict[str, list[Any]] = {
        "score": scores, names[1]: [document for _, document in pairs], "rel": grades, names[0]: [turn for turn, _ in pairs],
    }  # fmt: skip

    def write(leave_out: str) -> None:
        kept = {name: cells for name, cells in columns.items() if name != leave_out}
        if form == "parquet":
            pq.write_table(pa.table(kept), path)
            return
        separator = {"tsv": "\t", "spaces": " "}.get(form, ",")
        table = [list(kept), *map(list, zip(*kept.values(), strict=True))]
        data = "\n".join(separator.join(map(repr_of, row)) for row in table).encode()
        path.write_bytes(gzip.compress(data) if form == "gzip" else data)

    def repr_of(cell: object) -> str:
        return repr(cell) if isinstance(cell, float) else str(cell)

    write("rel")
    assert rows(read_run(path)) == [
        (turn, document, score) for (turn, document), score in zip(pairs, scores, strict=True)
    ]
    write("score")
    assert triples(read_qrels(path)) == [
        (turn, document, grade) for (turn, document), grade in zip(pairs, grades, strict=True)
    ]


def test_ranks_of_a_table(tmp_path: Path) -> None:
    run = read_run(written(tmp_path, "qid,docno,rank\n1_1,a,2\n1_1,b,1\n"), ranks=True)
    assert rows(run) == [("1_1", "a", -2.0), ("1_1", "b", -1.0)]
    assert run.ranks is not None
    assert run.ranks.tolist() == [2, 1]
    both = read_run(written(tmp_path, "qid,docno,rank,score\n1_1,a,2,0.5\n1_1,b,x,0.75\n"))
    assert rows(both) == [("1_1", "a", 0.5), ("1_1", "b", 0.75)]


def test_a_table_of_passages_that_are_judged_is_both(tmp_path: Path) -> None:
    path = written(
        tmp_path, "qid,docno,rank,score,query,label\n1_1,a,1,2.5,what?,2\n1_1,b,2,1.5,what?,0\n"
    )
    assert rows(read_run(path)) == [("1_1", "a", 2.5), ("1_1", "b", 1.5)]
    assert triples(read_qrels(path)) == [("1_1", "a", 2), ("1_1", "b", 0)]


def test_beir_judgments(tmp_path: Path) -> None:
    path = written(tmp_path, "query-id\tcorpus-id\tscore\na<::>1\td 1\t2\na<::>1\td2\t0\n")
    assert triples(read_qrels(path)) == [("a<::>1", "d 1", 2), ("a<::>1", "d2", 0)]
    assert refused(read_run, path) == "§: these are BEIR qrels; use them with --qrels"
    assert refused(read_scores, path) == "§: these are BEIR qrels; use them with --qrels"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("qid,docno,rel\n1,a,1\n1,b,1.5\n", "§:3: rel '1.5' is not a whole number; write a whole number"),
        ("qid,docno,rel\n1,a,1\n1,a,2\n", "§:3: turn 1 document a has grade 2 but grade 1 in line 2; keep one of the two"),
        ("qid,docno,rel\n\n1,a\n,b,1\n1,c,5000\n", "§:3: 2 columns, but the header has 3; complete the row or delete it\n"
         "§:4: no turn id or no passage id; complete the row or delete it"),
        ("qid,docno,rel\n1,c,5000\n", "§:2: grade 5000 is out of range; write small whole numbers such as 0 to 4"),
        ("qid,docno,rel,rel\n1,c,1,1\n", "§:1: two columns have the same name; give every column its own name in the"
            " first line"),
    ],
)  # fmt: skip
def test_broken_tables_of_judgments(tmp_path: Path, content: str, message: str) -> None:
    assert refused(read_qrels, written(tmp_path, content)) == message


def test_empty_columns_of_a_spreadsheet_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "qid;docno;score;;\n1_1;a;0,5;;\n1_1;b;0,75;;\n")
    assert rows(read_run(path)) == [("1_1", "a", 0.5), ("1_1", "b", 0.75)]


def test_scores_in_tables(tmp_path: Path) -> None:
    expected = {"ndcg_cut_3": {"1_1": 0.5, "1_2": 0.25}, "P_1": {"1_1": 1.0, "1_2": 0.0}}
    long = "qid,measure,value\n1_1,ndcg_cut_3,0.5\n1_1,P_1,1\nall,P_1,0.5\n1_2,ndcg_cut_3,0.25\n1_2,P_1,0\n"
    assert read_scores(written(tmp_path, long)).to_dict() == expected
    wide = "query_id\tndcg_cut_3\tP_1\n1_1\t0.5\t1\n1_2\t0.25\t0\n"
    assert read_scores(written(tmp_path, wide)).to_dict() == expected
    table = pa.table({"qid": ["1_1", "1_2"], "P_1": [1.0, 0.0], "ndcg_cut_3": [0.5, 0.25]})
    pq.write_table(table, tmp_path / "scores.parquet")
    assert read_scores(tmp_path / "scores.parquet").to_dict() == expected
    assert refused(
        read_scores, written(tmp_path, "qid,measure,value\n1_1,map,high\n1_2,map,1\n")
    ) == ("§:2: map of turn 1_1: 'high' is not a number; write a decimal number")


def test_damaged_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"qid": ["1"], "docno": ["a"], "rel": [1]}), tmp_path / "q")
    (tmp_path / "file").write_bytes((tmp_path / "q").read_bytes()[:-9])
    for reader in (read_qrels, read_run, read_scores):
        assert "§" in refused(reader, tmp_path / "file")


def test_statements_about_a_person_are_no_passages(tmp_path: Path) -> None:
    judged = "".join(
        f"9-1_{turn} 0 {statement} {statement % 2}\n" for turn in (1, 2) for statement in range(12)
    )
    message = "these are iKAT's judgments of statements about a person (PTKB), not of passages; give the judgments of"
    message += " passages instead"
    assert refused(read_qrels, written(tmp_path, judged)) == f"§: {message}"
    graded = judged.replace("9-1_1 0 3 1", "9-1_1 0 3 4")
    assert len(read_qrels(written(tmp_path, graded))) == 24


def test_passages_of_beir_and_ms_marco(tmp_path: Path) -> None:
    beir = [
        {"_id": "d1", "title": "A title", "text": "The text.", "metadata": {}},
        {"_id": "d2", "title": "", "text": "More."},
    ]
    assert read_passages(written(tmp_path, beir, lines=True), {"d1", "d2"}) == {
        "d1": "A title The text.",
        "d2": "More.",
    }
    marco = [
        {
            "docid": "msmarco_v2.1_doc_1#2",
            "url": "u",
            "title": "T",
            "headings": "h",
            "segment": "Words.",
        }
    ]
    path = written(tmp_path, marco, lines=True)
    assert read_passages(path, {"msmarco_v2.1_doc_1#2"}) == {"msmarco_v2.1_doc_1#2": "T Words."}
    topics = written(tmp_path, [{"number": 1, "turn": [{"number": 1, "raw_utterance": "x"}]}])
    with pytest.raises(InputError, match="these are CAsT topics; use them with --rewrites"):
        read_passages(topics, {"d1"})
