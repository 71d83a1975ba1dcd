"""Judgments: each pair once, contradictions named with both lines, irds: identifiers."""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from robustcs.errors import ExitCode, InputError, NotInstalledError, UsageError
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.sniff import kind_of


def write(folder: Path, content: str) -> Path:
    path = folder / "my.qrels"
    path.write_text(content)
    return path


def triples(qrels: Qrels) -> list[tuple[str, str, int]]:
    documents = qrels.ids.texts()
    return [(qrels.turns[turn], document, int(grade)) for turn, document, grade in
            zip(qrels.turn_codes, documents, qrels.grades, strict=True)]  # fmt: skip


def test_judgments_are_columns(tmp_path: Path) -> None:
    qrels = read_qrels(write(tmp_path, "31_2 0 d1 2\n31_1\tQ0\td1\t0\n31_2 0 d2 -2\n"))
    assert triples(qrels) == [("31_2", "d1", 2), ("31_1", "d1", 0), ("31_2", "d2", -2)]
    assert (qrels.name, qrels.turns, qrels.notes, len(qrels)) == (
        "my.qrels",
        ("31_2", "31_1"),
        (),
        3,
    )
    assert qrels.grades.dtype == np.int16


@pytest.mark.parametrize(
    "line",
    ["{turn}\t{query}\t{doc}\t{grade}", "{turn}\t{query}\t0\t{doc}\t{grade}", "{turn}\t0\t{doc}\t{grade}\t{query}",
     "{turn}\t{query}\t{doc}\t{grade}\r"],
)  # fmt: skip
def test_a_column_of_question_texts_is_ignored(tmp_path: Path, line: str) -> None:
    """One question is a single word, and one text is missing."""
    rows = [("1_1", "what is a shark", "d1", 2), ("1_2", "sharks", "d2", 0), ("1_3", "", "d1", -1)]
    path = tmp_path / "qrels.tsv"
    text = "".join(
        f"{line.format(turn=turn, query=query, doc=doc, grade=grade)}\n"
        for turn, query, doc, grade in rows
    )
    path.write_text(text)
    assert kind_of(path) == "qrels"
    assert list(read_qrels(path).rows()) == [(turn, doc, grade) for turn, _, doc, grade in rows]
    path.write_text(text * 17 + "1_4\tword\n" + text.replace("-1", "x"))
    with pytest.raises(InputError) as found:
        read_qrels(path)
    assert [problem.line for problem in found.value.problems] == [52, 55]


def test_a_pair_judged_twice_alike_counts_once(tmp_path: Path) -> None:
    qrels = read_qrels(
        write(
            tmp_path,
            "# pooled\nturn_id it doc grade\n1 0 a 2\n1 0 b 1\n1 0 a 2\n2 0 a 0\n1 0 a 2\n",
        )
    )
    assert triples(qrels) == [("1", "a", 2), ("1", "b", 1), ("2", "a", 0)]
    assert qrels.notes == (
        "my.qrels: skipped the header line",
        "my.qrels: skipped 1 comment line",
        "my.qrels: 2 repeated judgments counted once",
    )


@pytest.mark.parametrize(
    ("grades", "noted"),
    [([100, *[4] * 10], "1 judgment with a grade of up to 100, far above all others (at most 4)"),
     ([11, 50, *[1] * 18], "2 judgments with a grade of up to 50, far above all others (at most 1)"),
     ([100, *[4] * 8], ""), ([100, *[6] * 10], ""), ([10, *[1] * 20], ""), ([100, 100], ""), ([15, 7, 3, 1] * 9, "")],
)  # fmt: skip
def test_a_few_grades_far_above_all_others_are_noted(
    tmp_path: Path, grades: list[int], noted: str
) -> None:
    qrels = read_qrels(
        write(
            tmp_path, "".join(f"1 0 d{place} {grade}\n" for place, grade in enumerate([0, *grades]))
        )
    )
    assert qrels.notes == ((f"my.qrels: {noted}",) if noted else ())


def test_contradictions_name_both_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "# pooled\n1 0 a 2\n\n1 0 b 1\n1 0 a 1\n2 0 a 1\n1 0 b 3\n")
    with pytest.raises(InputError) as error:
        read_qrels(path)
    assert str(error.value) == (
        f"{path}:5: turn 1 document a has grade 1 but grade 2 in line 2; keep one of the two\n"
        f"{path}:7: turn 1 document b has grade 3 but grade 1 in line 4; keep one of the two"
    )
    assert error.value.exit_code is ExitCode.BAD_INPUT


@pytest.mark.parametrize("first", ["1 0 d{} 0\n", "1 0 a 999999\n"])
def test_problems_are_bounded_and_counted(tmp_path: Path, first: str) -> None:
    pairs = "".join(first.format(i) for i in range(50))
    contradictions = "".join(f"1 0 d{i} 1\n" for i in range(50))
    path = write(tmp_path, pairs + contradictions)
    with pytest.raises(InputError) as error:
        read_qrels(path)
    assert (len(error.value.problems), error.value.total) == (20, 50)
    assert str(error.value).endswith("\n… and 30 more problems")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("31_1 Q0 d1 1 2.5 t\n", ": this is a TREC run; use it with --run, --original, --qr or --human"),
        ("P_1 31_1 0.5\n", ": these are per-turn scores; use them with --scores"),
        ("1 0 a 1\nask about the turn 31_1 again please\n", ":2: 7 columns, but a qrels file has 4"
         " (turn iteration document grade); write the four columns of qrels"),
        ("1 0 a 1\n1 0 b", ":2: 3 columns, but a qrels file has 4 (turn iteration document grade); "
         "the file may be cut: its last line has no line end"),
        ("31_1 0\n", ":1: 2 columns, but a qrels file has 4 (turn iteration document grade); "
         "write the four columns of qrels"),
        ("1 0 a 1\n1 0 b 1.5\n", ":2: grade '1.5' is not a whole number; write a whole number"),
        ("1 0 a 0x1\n", ":1: grade '0x1' is not a whole number; write a whole number"),
        ("# c\n1 0 a 1\n1 0 b 1001\n", ":3: grade 1001 is out of range; write small whole numbers such as 0 to 4"),
        ("1 0 a -1001\n", ":1: grade -1001 is out of range; write small whole numbers such as 0 to 4"),
        ("1 0 a -9223372036854775808\n", ":1: grade '-9223372036854775808' is not a whole number; write a whole number"),
        ("", ": the file is empty; write lines of: turn iteration document grade"),
    ],
)  # fmt: skip
def test_what_is_not_qrels_is_told_what_it_looks_like(
    tmp_path: Path, content: str, message: str
) -> None:
    path = write(tmp_path, content)
    with pytest.raises(InputError) as error:
        read_qrels(path)
    assert str(error.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("year", "turns", "grades"),
    [
        ("cast2019/qrels.txt.gz", 173, None),
        ("cast2020/qrels.txt.gz", 208, {0: 33781, 1: 2697, 2: 1834, 3: 1408, 4: 731}),
        ("cast2021/qrels-docs.txt.gz", 158, None),
    ],
)
def test_real_judgments_equal_a_plain_reading(
    shared_data: Path, year: str, turns: int, grades: dict[int, int] | None
) -> None:
    qrels = read_qrels(shared_data / year)
    with gzip.open(shared_data / year, "rt") as stream:
        rows = [line.split() for line in stream]
    assert triples(qrels) == [(row[0], row[2], int(row[3])) for row in rows]
    assert len(qrels.turns) == turns
    if grades:
        assert Counter(qrels.grades.tolist()) == grades


@pytest.mark.parametrize(("year", "nothing"), [("cast2019", 2), ("cast2020", 9)])
def test_turns_without_anything_relevant(shared_data: Path, year: str, nothing: int) -> None:
    """At level 2; they score 0 and count all the same."""
    qrels = read_qrels(shared_data / year / "qrels.txt.gz")
    relevant = {qrels.turns[code] for code in qrels.turn_codes[qrels.grades >= 2]}
    assert len(qrels.turns) - len(relevant) == nothing


def fake_ir_datasets(
    monkeypatch: pytest.MonkeyPatch, rows: list[tuple[str, str, int]] | None
) -> None:
    def load(identifier: str) -> SimpleNamespace:
        if identifier != "trec-cast/v1/2020/judged":
            raise KeyError(identifier)
        qrels = [
            SimpleNamespace(query_id=turn, doc_id=document, relevance=grade)
            for turn, document, grade in rows or []
        ]
        return SimpleNamespace(has_qrels=lambda: rows is not None, qrels_iter=lambda: iter(qrels))

    monkeypatch.setitem(sys.modules, "ir_datasets", SimpleNamespace(load=load))


def test_judgments_of_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ir_datasets(monkeypatch, [("81_1", "a", 2), ("81_1", "b", 0), ("81_2", "a", 1)])
    qrels = read_qrels("irds:trec-cast/v1/2020/judged")
    assert triples(qrels) == [("81_1", "a", 2), ("81_1", "b", 0), ("81_2", "a", 1)]
    assert qrels.name == "irds:trec-cast/v1/2020/judged"


def test_ir_datasets_without_judgments(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ir_datasets(monkeypatch, None)
    with pytest.raises(UsageError) as usage:
        read_qrels("irds:trec-cast/v1/2020/judged")
    assert (
        str(usage.value)
        == "trec-cast/v1/2020/judged has no qrels; choose a subset with qrels, such as …/judged"
    )
    with pytest.raises(UsageError) as usage:
        read_qrels("irds:no/such")
    assert (
        str(usage.value)
        == "ir_datasets has no data set 'no/such'; see the catalogue of ir_datasets"
    )
    fake_ir_datasets(monkeypatch, [])
    with pytest.raises(InputError) as empty:
        read_qrels("irds:trec-cast/v1/2020/judged")
    assert str(empty.value) == "irds:trec-cast/v1/2020/judged: no judgments; choose another subset"


def test_contradictions_in_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_ir_datasets(monkeypatch, [("1", "a", 2), ("1", "a", 1)])
    with pytest.raises(InputError, match="turn 1 document a has grade 1 but grade 2 before"):
        read_qrels("irds:trec-cast/v1/2020/judged")
    fake_ir_datasets(monkeypatch, [("1", "a", 99999)])
    with pytest.raises(InputError, match="grade 99999 is out of range"):
        read_qrels("irds:trec-cast/v1/2020/judged")


def test_ir_datasets_that_is_not_installed_is_named_with_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(NotInstalledError) as error:
        read_qrels("irds:trec-cast/v1/2020/judged")
    assert (
        str(error.value)
        == "irds:trec-cast/v1/2020/judged needs ir_datasets; pip install ir_datasets"
    )
    assert error.value.exit_code is ExitCode.NOT_INSTALLED
