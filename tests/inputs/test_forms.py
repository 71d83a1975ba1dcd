"""Frames, dictionaries and records in place of files: read as a file with the same rows is, and refused as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import make_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import InputError, UsageError
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.answers import read_gold_answers, read_predicted_answers
from robustcs.inputs.clariq import read_needs, read_topics
from robustcs.inputs.collection import read_passages
from robustcs.inputs.files import sha256
from robustcs.inputs.forms import FORMS, as_file
from robustcs.inputs.mixed_initiative import read_bank
from robustcs.inputs.paraphrases import read_paraphrases
from robustcs.inputs.paths import MemoryFile
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.ratings import read_ratings, read_turn_list
from robustcs.inputs.runs import Run, read_run
from robustcs.inputs.scores import read_scores, read_slices
from robustcs.inputs.texts import read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.project.sources import READERS, SOURCES
from tests.skipped_rows import without_count


class Qrel(NamedTuple):
    """As ir_measures has it; TrecQrel of ir_datasets is the same."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """As ir_measures has it."""

    query_id: str
    doc_id: str
    score: float


class GenericDoc(NamedTuple):
    """As ir_datasets has it."""

    doc_id: str
    text: str


class GenericQuery(NamedTuple):
    """As ir_datasets has it."""

    query_id: str
    text: str


class Measure:
    """A measure of ir_measures is an object that says its name."""

    def __init__(self, name: str):
        self.name = name

    def __str__(self) -> str:
        return self.name


class Metric(NamedTuple):
    """As ``ir_measures.iter_calc`` gives it."""

    query_id: str
    measure: Any
    value: float


class Ranx:
    """What Qrels and Run of ranx have in common: compiled dictionaries inside, plain ones on demand."""

    def __init__(self, values: dict[str, dict[str, float]]):
        self.run = values

    def to_dict(self) -> dict[str, dict[str, float]]:
        return {turn: dict(found) for turn, found in self.run.items()}


def rows_of_run(run: Run) -> list[tuple[str, str, float]]:
    turns = [run.turns[code] for code in run.turn_codes]
    return list(zip(turns, run.ids.texts(), run.scores.tolist(), strict=True))


def rows_of_qrels(qrels: Qrels) -> list[tuple[str, str, int]]:
    documents = qrels.ids.texts()
    return [(qrels.turns[turn], document, int(grade))
            for turn, document, grade in zip(qrels.turn_codes, documents, qrels.grades, strict=True)]  # fmt: skip


def refusal(
    reader: str, value: Any, read: Callable[[Any], Any] = lambda file: None, role: str = ""
) -> str:
    with pytest.raises((InputError, UsageError)) as caught:
        read(as_file(reader, "it", value, role))
    return without_count(caught.value)


def test_every_reader_of_an_input_has_a_form() -> None:
    assert all(source.reader in FORMS for source in SOURCES) and FORMS.keys() == READERS.keys()


# ---------------------------------------------------------------- runs and qrels

#: Ids of one word that no line begins a comment or a header with.
IDS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=6
).map(lambda text: f"x{text}")
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=30)
@given(
    st.dictionaries(
        IDS, st.dictionaries(IDS, FLOATS, min_size=1, max_size=4), min_size=1, max_size=4
    )
)
def test_a_run_is_the_same_in_every_form(values: dict[str, dict[str, float]]) -> None:
    flat = [
        (turn, document, score)
        for turn, scores in values.items()
        for document, score in scores.items()
    ]
    with np.errstate(over="ignore"):
        expected = [(turn, document, float(np.float32(score))) for turn, document, score in flat]
    frame = pd.DataFrame(flat, columns=["qid", "docno", "score"])
    forms = [
        values, Ranx(values), frame, frame.set_index(["qid", "docno"]), frame.set_index(["qid", "docno"])["score"],
        [ScoredDoc(*row) for row in flat], (ScoredDoc(*row) for row in flat),
        [{"turn_id": turn, "passage_id": document, "score": np.float64(score)} for turn, document, score in flat],
        [make_dataclass("Found", ["query_id", "doc_id", "score"])(*row) for row in flat],
    ]  # fmt: skip
    for form in forms:
        assert rows_of_run(read_run(as_file("run", "qr", form))) == expected


@settings(max_examples=30)
@given(
    st.dictionaries(
        IDS,
        st.dictionaries(IDS, st.integers(-2, 4), min_size=1, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_qrels_are_the_same_in_every_form(values: dict[str, dict[str, int]]) -> None:
    flat = [
        (turn, document, grade)
        for turn, grades in values.items()
        for document, grade in grades.items()
    ]
    frame = pd.DataFrame(flat, columns=["query_id", "doc_id", "rel"])
    forms = [
        values, frame, frame.astype({"rel": float}), frame.astype({"rel": "Int64"}), frame.astype({"query_id": "category"}),
        [Qrel(*row) for row in flat],
        [{"qid": turn, "docno": document, "grade": np.int16(grade)} for turn, document, grade in flat],
    ]  # fmt: skip
    for form in forms:
        assert rows_of_qrels(read_qrels(as_file("qrels", "qrels", form))) == flat


def test_real_judgments_and_runs_are_those_of_the_file(shared_data: Path) -> None:
    path = shared_data / "cast2019" / "qrels.txt.gz"
    frame = pd.read_csv(
        path, sep=r"\s+", header=None, names=["query_id", "iteration", "doc_id", "relevance"]
    )
    assert rows_of_qrels(read_qrels(as_file("qrels", "qrels", frame))) == rows_of_qrels(
        read_qrels(path)
    )
    path = shared_data / "cast2019" / "runs" / "bert_base_cv.trec.gz"
    frame = pd.read_csv(
        path, sep=r"\s+", header=None, names=["qid", "Q0", "docno", "rank", "score", "tag"]
    )
    ours, theirs = (
        read_run(as_file("run", "qr", frame), "cv", ranks=True),
        read_run(path, "cv", ranks=True),
    )
    assert rows_of_run(ours) == rows_of_run(theirs)
    assert (
        ours.ranks is not None and theirs.ranks is not None and (ours.ranks == theirs.ranks).all()
    )


def test_ranks_are_the_order_where_there_are_no_scores() -> None:
    frame = pd.DataFrame({"qid": ["1", "1"], "pid": ["a", "b"], "rank": [2, 1]})
    run = read_run(as_file("run", "qr", frame), ranks=True)
    assert rows_of_run(run) == [("1", "a", -2.0), ("1", "b", -1.0)]
    assert run.ranks is not None and run.ranks.tolist() == [2, 1]


def test_judgments_of_beir_are_called_scores() -> None:
    frame = pd.DataFrame({"query-id": ["1", "1"], "corpus-id": ["a", "b"], "score": [2, 0]})
    assert rows_of_qrels(read_qrels(as_file("qrels", "qrels", frame))) == [
        ("1", "a", 2),
        ("1", "b", 0),
    ]
    # a run is no judgments
    assert refusal("qrels", RUN, read_qrels).startswith(
        "<it>: no column 'relevance'; the columns are: query_id, doc_id, score"
    )


def test_whole_numbers_are_ids() -> None:
    frame = pd.DataFrame(
        {"qid": [1037798, 104861], "docno": np.array([7, 8], dtype=np.int32), "score": [2, 1]}
    )
    assert rows_of_run(read_run(as_file("run", "qr", frame))) == [
        ("1037798", "7", 2.0),
        ("104861", "8", 1.0),
    ]


def test_an_id_that_begins_as_compressed_data_is_an_id() -> None:
    assert rows_of_qrels(read_qrels(as_file("qrels", "qrels", {"BZh1": {"d": 1}}))) == [
        ("BZh1", "d", 1)
    ]


RUN = pd.DataFrame(
    {"query_id": ["1_1", "1_1", "1_2"], "doc_id": ["a", "b", "a"], "score": [2.0, 1.0, 3.0]}
)
QRELS = RUN.drop(columns="score").assign(relevance=[1, 0, 2])


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("score", float("nan"), "<it>, row 2: score 'nan' is not a number; write a decimal number"),
        ("score", None, "<it>, row 2: score 'nan' is not a number; write a decimal number"),
        ("score", "high", "<it>, row 2: score 'high' is not a number; write a decimal number"),
        ("score", "1 2", "<it>, row 2: score '1 2' is not a number; write a number"),
        ("score", "1_0", "<it>, row 2: score '1_0' is not a number; write a decimal number"),
        ("score", True, "<it>, row 2: score 'True' is not a number; write a decimal number"),
        ("score", [1], "<it>, row 2: score '[1]' is not a number; write a decimal number"),
        ("query_id", None, "<it>, row 2: no query_id; complete the row or delete it"),
        ("query_id", " ", "<it>, row 2: no query_id; complete the row or delete it"),
        (
            "query_id",
            "1 1",
            "<it>, row 2: query_id '1 1' is not an id; give ids of one word that does not begin with #",
        ),
        (
            "query_id",
            "#1",
            "<it>, row 2: query_id '#1' is not an id; give ids of one word that does not begin with #",
        ),
        (
            "query_id",
            31.1,
            "<it>, row 2: query_id 31.1 is not an id; give ids of one word that does not begin with #",
        ),
        (
            "query_id",
            True,
            "<it>, row 2: query_id True is not an id; give ids of one word that does not begin with #",
        ),
        (
            "doc_id",
            ("a", "b"),
            "<it>, row 2: doc_id ['a', 'b'] is not an id; give ids of one word that does not begin with #",
        ),
        (
            "doc_id",
            "a\ud800",
            "<it>, row 2: doc_id 'a\\ud800' is not an id; give ids of one word that does not begin with #",
        ),
        (
            "doc_id",
            "a\nb",
            "<it>, row 2: doc_id 'a\\nb' is not an id; give ids of one word that does not begin with #",
        ),
        (
            "doc_id",
            "a\0b",
            "<it>, row 2: document 'a\\x00b' is not text; the file seems to be binary",
        ),
    ],
)
def test_a_bad_cell_of_a_run_is_named(column: str, value: Any, message: str) -> None:
    frame = RUN.astype({column: object})
    frame.at[1, column] = value
    if value is None and column == "score":
        frame = frame.astype({"score": float})
    assert refusal("run", frame, read_run) == message
    records = [dict(row) for row in frame.to_dict("records")]
    assert refusal("run", records, read_run) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.5, "<it>, row 2: grade '1.5' is not a whole number; write a whole number"),
        (float("nan"), "<it>, row 2: grade 'nan' is not a whole number; write a whole number"),
        (5000, "<it>, row 2: grade 5000 is out of range; write small whole numbers such as 0 to 4"),
        ("two", "<it>, row 2: grade 'two' is not a whole number; write a whole number"),
        (False, "<it>, row 2: grade 'False' is not a whole number; write a whole number"),
    ],
)
def test_a_bad_grade_is_named(value: Any, message: str) -> None:
    frame = QRELS.astype({"relevance": object})
    frame.at[1, "relevance"] = value
    assert refusal("qrels", frame, read_qrels) == message


def test_judgments_that_contradict_each_other_are_refused_and_repeated_ones_noted() -> None:
    twice = pd.concat([QRELS, QRELS.head(1)])
    assert read_qrels(as_file("qrels", "qrels", twice)).notes == (
        "<qrels>: 1 repeated judgment counted once",
    )
    message = refusal("qrels", twice.assign(relevance=[1, 0, 2, 3]), read_qrels)
    assert (
        message
        == "<it>, row 4: turn 1_1 document a has grade 3 but grade 1 in row 1; keep one of the two"
    )


def test_places_in_dictionaries_are_their_keys() -> None:
    message = refusal("run", {"1_1": {"a": 1.0}, "1_2": {"b": 2.0, "c": "x"}}, read_run)
    assert message == '<it>["1_2"]["c"]: score \'x\' is not a number; write a decimal number'
    assert (
        refusal("qrels", {"1_1": {"a": 1}, "1_2": 2})
        == "<it>: '2' under '1_2'; write {doc_id: relevance} there"
    )
    message = refusal(
        "texts", {"1_1": "What?", "1_2": None}, lambda file: read_texts(file, "human")
    )
    assert message == '<it>["1_2"]: turn 1_2: null is not a text; write a text in quotes'


def test_without_ranks_passages_have_their_order_as_in_files(tmp_path: Path) -> None:
    assert read_run(as_file("run", "it", RUN)).ranks is None
    turned, table = {"1_1": {"a": 1.0, "b": 2.0}, "1_2": {"c": 1.0, "d": 2.0}}, tmp_path / "run.csv"
    table.write_text("turn,document,score\n1_1,a,1\n1_1,b,2\n1_2,c,1\n1_2,d,2\n")
    for path in (as_file("run", "it", turned), table):
        ranking = rank_run(read_run(path, "x", ranks=True), EvaluationPolicy(order="rank"))
        assert dict(ranking.by_turn()) == {"1_1": ["a", "b"], "1_2": ["c", "d"]}


def test_columns_that_are_not_there_are_told_with_those_that_are() -> None:
    message = refusal("run", RUN.rename(columns={"doc_id": "url"}))
    assert message.startswith(
        "<it>: no column 'doc_id'; the columns are: query_id, url, score; rename one of them to doc_id or"
    )
    two = pd.DataFrame([["1_1", "a", "b", 1.0]], columns=["qid", "docno", "docno", "score"])
    assert (
        refusal("run", two)
        == "<it>: two columns have the same name; give every column its own name"
    )


@pytest.mark.parametrize("empty", [{}, [], RUN.head(0), {"1_1": {}}, iter(())])
def test_nothing_is_refused(empty: Any) -> None:
    assert refusal("run", empty, read_run) == "<it>: no rows; check the input"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (5, "an int"),
        (None, "None"),
        (b"x", "a bytes"),
        (Ranx, "a type"),
        (3.5, "a float"),
        (True, "a bool"),
    ],
)
def test_other_types_are_refused_with_what_is_taken(value: Any, what: str) -> None:
    message = refusal("run", value)
    assert message.startswith(f"it is {what}")
    assert message.endswith(f"; give a file, {FORMS['run'].takes}")
    assert refusal("run", [1, 2]).startswith(
        "<it>, row 1: '1' is not a record; give named tuples, data classes or dictionaries"
    )
    assert (
        refusal("ratings", {"item": ["a"]})
        == f"it is a dict; give a file, {FORMS['ratings'].takes}"
    )


# ---------------------------------------------------------------- scores and texts


def test_scores_are_the_same_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "x.eval"
    path.write_text(
        "P_1\t1_1\t1\nndcg_cut_3\t1_1\t0.25\nP_1\t1_2\t0\nndcg_cut_3\t1_2\t0.1\nP_1\tall\t0.5\n"
    )
    expected = read_scores(path)
    wide = pd.DataFrame({"query_id": ["1_1", "1_2"], "P_1": [1.0, 0.0], "ndcg_cut_3": [0.25, 0.1]})
    forms = [
        wide, wide.set_index("query_id"), expected, wide.to_dict("records"),
        {row.pop("query_id"): row for row in wide.to_dict("records")},
        wide.melt("query_id", var_name="measure"),
        [Metric(turn, Measure(name), value) for turn, name, value in wide.melt("query_id").itertuples(index=False)],
    ]  # fmt: skip
    for form in forms:
        pd.testing.assert_frame_equal(read_scores(as_file("scores", "scores", form)), expected)


def test_scores_may_be_missing_but_not_repeated() -> None:
    wide = pd.DataFrame(
        {"turn": ["1_1", "1_2"], "P_1": [1.0, 0.0], "ndcg_cut_3": [0.25, float("nan")]}
    )
    frame = read_scores(as_file("scores", "it", wide))
    assert frame["P_1"].tolist() == [1.0, 0.0] and frame["ndcg_cut_3"].isna().tolist() == [
        False,
        True,
    ]
    twice = [Metric("1_1", "P_1", 0.5), Metric("1_1", "P_1", 0.5)]
    assert refusal("scores", twice, read_scores).startswith(
        "<it>, row 2: P_1 of turn 1_1 is already in row 1"
    )


def test_texts_are_the_same_in_every_form() -> None:
    texts = {"1_1": 'What is "bread"?', "1_2": "And\trye\u2028?"}
    frame = pd.DataFrame({"query_id": list(texts), "query": list(texts.values())})
    forms = [
        texts, frame, frame.rename(columns={"query": "utterance of mine"}), frame.set_index("query_id")["query"],
        [GenericQuery(*pair) for pair in texts.items()], frame.assign(raw="no", n=1).rename(columns={"query": "manual"}),
    ]  # fmt: skip
    for form in forms:
        assert read_texts(as_file("texts", "it", form, "human"), "human") == texts
    topics = frame.assign(raw_utterance=["a", "b"], manual_rewritten_utterance=["c", "d"])
    assert read_texts(as_file("texts", "it", topics, "original"), "original") == texts
    topics = topics.drop(columns="query")
    assert list(read_texts(as_file("texts", "it", topics, "original"), "original").values()) == [
        "a",
        "b",
    ]
    assert list(read_texts(as_file("texts", "it", topics, "human"), "human").values()) == ["c", "d"]
    assert refusal("texts", topics, role="qr").startswith(
        "<it>: no column 'query'; the columns are: query_id, raw_utterance, "
    )


def test_bad_texts_are_refused() -> None:
    frame = pd.DataFrame({"qid": ["1_1", "1_1"], "text": ["a", "b"]})
    human = lambda file: read_texts(file, "human")  # noqa: E731
    assert (
        refusal("texts", frame, human)
        == "<it>, row 2: turn 1_1 has 'b' here but 'a' in row 1; keep one of the two"
    )
    frame["text"] = ["a", float("nan")]
    assert (
        refusal("texts", frame, human)
        == "<it>, row 2: turn 1_1: null is not a text; write a text in quotes"
    )
    assert (
        refusal("texts", {"1_1": " "}, human)
        == '<it>["1_1"]: turn 1_1: empty text; write the text or remove the turn'
    )
    assert refusal("texts", {"": "a"}, human).startswith('<it>[""]: no turn id')
    assert refusal("texts", {"1_1": object()}).startswith(
        '<it>["1_1"]: text: Object of type object is not JSON serializable'
    )


# ---------------------------------------------------------------- everything else


def test_answers_and_passages() -> None:
    assert read_predicted_answers(as_file("predicted_answers", "it", {"a": "x", "b": ""})) == {
        "a": "x",
        "b": "",
    }
    gold = {"a": ["x", "y"], "b": ["z"]}
    expected = {"a": ("x", "y"), "b": ("z",)}
    frame = pd.DataFrame({"id": list(gold), "answers": list(gold.values())})
    for form in (gold, frame, frame.assign(answers=[np.array(["x", "y"]), "z"])):
        assert read_gold_answers(as_file("gold_answers", "it", form)) == expected
    squad = {"data": [{"paragraphs": [{"qas": [{"id": "a", "answers": [{"text": "x"}]}]}]}]}
    assert read_gold_answers(as_file("gold_answers", "it", squad)) == {"a": ("x",)}
    passages = pd.DataFrame({"docno": ["d1", "d2"], "text": ["one", "two"]})
    for form in (passages, {"d1": "one", "d2": "two"}, [GenericDoc("d1", "one")]):
        assert read_passages(as_file("passages", "it", form), {"d1"}) == {"d1": "one"}


def test_tables_of_the_other_studies(demo: Path) -> None:
    """The files of the demo as pandas reads them give what the readers give for the files."""
    tsv = {"sep": "\t", "dtype": str, "quoting": 3}
    for reader, read, name in (("clariq_topics", read_topics, "clariq/topics.tsv"),
                               ("bank", read_bank, "clariq/question_bank.tsv")):  # fmt: skip
        frame = pd.read_csv(demo / name, **tsv)
        assert read(as_file(reader, "it", frame)) == read(demo / name)
    bank = read_bank(demo / "clariq/question_bank.tsv")
    assert read_bank(as_file("bank", "it", bank)) == bank
    ratings, notes = read_ratings(demo / "annotations/ratings.csv")
    ours, told = read_ratings(
        as_file("ratings", "it", pd.read_csv(demo / "annotations/ratings.csv"))
    )
    assert [one[:5] for one in ours] == [one[:5] for one in ratings] and told == notes
    paraphrases = read_paraphrases(demo / "paraphrases.csv")
    same = read_paraphrases(as_file("paraphrases", "it", pd.read_csv(demo / "paraphrases.csv")))
    assert {
        turn: [replace(one, line=one.line + 1) for one in some] for turn, some in same.items()
    } == {turn: list(some) for turn, some in paraphrases.items()}
    texts = read_bank(demo / "crowd/bank.json")
    frame = pd.DataFrame({"id": list(texts), "text": list(texts.values())})
    assert (
        read_bank(as_file("bank", "it", texts)) == read_bank(as_file("bank", "it", frame)) == texts
    )
    assert read_bank(
        as_file("bank", "it", pd.DataFrame({"question_id": ["Q1"], "question": ["Why?"]}))
    ) == {"Q1": "Why?"}
    needs = read_needs(demo / "clariq/need_careful.txt")
    assert read_needs(as_file("needs", "it", needs)) == needs
    frame = pd.DataFrame(
        {"topic_id": list(needs), "label": [*list(needs.values())[:-1], None]}
    ).iloc[:-1]
    assert read_needs(as_file("needs", "it", frame)) == dict(list(needs.items())[:-1])
    for form in (
        ["1_1", "2_1"],
        {"1_1", "2_1"},
        pd.DataFrame({"turn": ["1_1", "2_1"]}),
        {"1_1": {"d": 1}, "2_1": {"d": 0}},
    ):
        assert read_turn_list(as_file("turn_list", "it", form)) == {"1_1", "2_1"}
    kinds = pd.DataFrame({"kind": ["a", None]}, index=pd.Index(["1_1", "1_2"], name="turn"))
    assert read_slices(as_file("slices", "it", kinds)) == {"kind": {"1_1": "a"}}


def test_rows_below_a_header_are_counted_from_one() -> None:
    frame = pd.DataFrame({"topic_id": ["1", ""], "initial_request": ["a", "b"]})
    assert (
        refusal("clariq_topics", frame, read_topics)
        == "<it>, row 2: no topic id; complete the row or delete it"
    )
    paraphrases = pd.DataFrame(
        {"TURN_ID": ["1_1", "1_2"], "MANUAL PARAPHRASE": ["a\nb", ""], "RAW PARAPHRASE": ["c", "d"]}
    )
    message = refusal("paraphrases", paraphrases, read_paraphrases)
    assert message.startswith("<it>, row 2: turn 1_2: empty MANUAL PARAPHRASE")
    grades = pd.DataFrame({"id": ["a", "a"], "text": ["x", "y"]})
    assert (
        refusal("bank", grades, read_bank)
        == "<it>, row 2: question a has a different text earlier; keep one of the two"
    )


def test_the_checksum_follows_the_content() -> None:
    same = as_file("run", "qr", RUN), as_file("run", "human", RUN.copy())
    other = as_file("run", "qr", RUN.assign(score=[2.0, 1.0, 3.5]))
    assert sha256(same[0]) == sha256(same[1]) != sha256(other)
    assert isinstance(other, MemoryFile) and not other.exists()


def test_a_file_in_memory_does_not_follow_what_was_given() -> None:
    values = {"1_1": {"a": 1.0}}
    file = as_file("run", "qr", values)
    values["1_1"]["a"] = 7.0
    assert rows_of_run(read_run(file)) == [("1_1", "a", 1.0)]


def test_json_in_place_of_rows() -> None:
    table = {"NDCG3": {"F1": {"Q1": np.float32(0.5)}}}
    with as_file("performance", "it", table).reader() as file:
        assert json.load(file) == {"NDCG3": {"F1": {"Q1": 0.5}}}
