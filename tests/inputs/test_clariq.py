"""Text files of ClariQ."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustcs.errors import InputError
from robustcs.inputs.clariq import read_needs, read_question_run, read_topics
from robustcs.inputs.mixed_initiative import read_bank
from tests.skipped_rows import without_count


def problem(reader, path: Path, *more: object) -> str:
    with pytest.raises(InputError) as caught:
        reader(path, *more)
    return without_count(caught.value).replace(str(path), "F")


def written(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_real_topics(shared_data: Path) -> None:
    topics = read_topics(shared_data / "clariq" / "dev.tsv.gz")
    assert (len(topics.requests), len(topics.needs), len(topics.facets), topics.rows) == (
        50,
        50,
        163,
        2313,
    )
    assert sum("Q00001" in questions for questions in topics.questions.values()) == 39
    assert topics.requests["101"] == "Find me information about the Ritz Carlton Lake Las Vegas."
    assert topics.needs["101"] == 2 and topics.facets["F0010"] == "101"


def test_the_real_bank_and_run(shared_data: Path) -> None:
    bank = read_bank(shared_data / "clariq" / "question_bank.tsv.gz")
    assert len(bank) == 3941 and bank["Q00001"] == ""
    read = read_question_run(shared_data / "clariq" / "dev_bm25", "bm25", bank)
    assert (len(read.run), read.unknown) == (1508, 0)
    assert read_question_run(shared_data / "clariq" / "dev_worst_q", "worst", bank).unknown == 50


def test_topics_without_labels_or_questions(tmp_path: Path) -> None:
    topics = read_topics(written(tmp_path, 'topic_id\tinitial_request\n201\tsays "hi\n'))
    assert topics.requests == {"201": 'says "hi'} and not topics.needs and not topics.questions


def test_bad_topics(tmp_path: Path) -> None:
    head = "topic_id\tclarification_need\tfacet_id\tquestion_id\n"
    rows = "1\t5\tF1\tQ1\n1\t2\tF1\n2\t3\tF1\tQ1\n\t\t\tQ1\n2\t4\tF2\tQ1\n1\t1\tF1\tQ2\n"
    assert problem(read_topics, written(tmp_path, head + rows)) == (
        "F:2: unknown clarification need '5'; write 1, 2, 3 or 4\n"
        "F:3: 3 columns, but the header has 4; complete the row or delete it\n"
        "F:4: facet F1 belongs to topic 2 here but to 1 earlier; give every facet one topic\n"
        "F:5: no topic id; complete the row or delete it\n"
        "F:6: topic 2 has the clarification need 4 here but 3 earlier; give every topic one label"
    )
    assert problem(read_topics, written(tmp_path, "topic\tx\n1\t2\n")) == (
        "F:1: no column 'topic_id'; the columns are: topic, x; rename one of them to topic_id"
    )
    assert (
        problem(read_topics, written(tmp_path, "topic_id\n"))
        == "F: the file has no rows; check the path"
    )


def test_topics_of_another_kind(tmp_path: Path) -> None:
    path = written(
        tmp_path, '[\n {\n  "number": 81,\n  "turn": [{"number": 1, "raw_utterance": "a"}]\n }\n]\n'
    )
    assert problem(read_topics, path) == "F: these are CAsT topics; use them with --rewrites"


def test_bank_problems(tmp_path: Path) -> None:
    assert problem(read_bank, written(tmp_path, "question_id\tquestion\nQ1\ta\nQ1\tb\n\tc\n")) == (
        "F:3: question Q1 has a different text earlier; keep one of the two\nF:4: no question id; complete the row or delete it"
    )


def test_a_bank_whose_columns_are_spelled_otherwise(tmp_path: Path) -> None:
    """Any spelling of a column is found: other letter case, and spaces instead of underscores."""
    assert read_bank(written(tmp_path, "Question  ID\tQUESTION\nQ1\ta\n")) == {"Q1": "a"}
    damaged = "question  id\tquestion\n[policy]\nQ2\tNA a, b sourdough\nQ3\tna\xefve of sourd"
    assert "1 column, but the header has 2" in problem(read_bank, written(tmp_path, damaged))
    assert read_topics(written(tmp_path, "Topic ID\tInitial Request\n1\ttea\n")).requests == {
        "1": "tea"
    }


def test_needs(tmp_path: Path) -> None:
    assert read_needs(written(tmp_path, "topic_id\tlabel\n171 1\n170\t3\n171 1\n")) == {
        "171": 1,
        "170": 3,
    }
    assert problem(read_needs, written(tmp_path, "1 0\n1 2.0\n2\n3 1\n3 2\n")) == (
        "F:1: unknown label '0' of topic 1; write 1, 2, 3 or 4\n"
        "F:2: unknown label '2.0' of topic 1; write 1, 2, 3 or 4\n"
        "F:3: 1 column, but a prediction has 2 (topic_id label); write the topic and one label\n"
        "F:5: topic 3 has the label 2 here but 1 earlier; keep one of the two"
    )


BANK = {"Q00001": "", "Q1": "are you looking for reviews", "Q2": "what colour"}


def test_runs_of_texts(tmp_path: Path) -> None:
    text = '784 0 "are you looking for reviews" 0 13 x y\n785 0 "" 0 2.5 x\n786 0 “What colour?” 1 1 x\n'
    text += '786 0 "say "what"" 2 0\n'
    read = read_question_run(written(tmp_path, text), "r", BANK, ranks=True)
    assert read.run.ids.texts() == ["Q1", "Q00001", "Q2", '"say "what""'] and read.unknown == 1
    assert read.run.turns == ("784", "785", "786") and read.run.turn_codes.tolist() == [0, 1, 2, 2]
    assert read.run.scores.tolist() == [13, 2.5, 1, 0] and read.run.ranks.tolist() == [0, 0, 1, 2]  # type: ignore[union-attr]


def test_bad_runs_of_texts(tmp_path: Path) -> None:
    path = written(tmp_path, '1 0 "a" 0 1 x\n1 0 "a" first 1 x\n1 0 Q1 0 1 x\n')
    assert problem(read_question_run, path, "r", BANK).splitlines() == [
        f'F:{line}: not a line of a run of texts; write: context_id 0 "question" rank score tag'
        for line in (2, 3)
    ]
    strange = ("nan", "1_0", "inf", "-Infinity", "1e999", "0x1", "١", "first")
    path = written(
        tmp_path, "".join(f'1 0 "a" 0 {score} x\n' for score in strange) + '1 0 "a" 1_0 1 x\n'
    )
    assert problem(read_question_run, path, "r", BANK).splitlines() == [
        *(
            f"F:{line}: score {score!r} is not a number; write a decimal number"
            for line, score in enumerate(strange, 1)
        ),
        'F:9: not a line of a run of texts; write: context_id 0 "question" rank score tag',
    ]
    assert problem(read_question_run, path, "r", None) == (
        "F:1: the questions are texts, not ids; name the question bank with --questions FILE"
    )
