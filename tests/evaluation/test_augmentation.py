from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation.judgments import (
    Conflict,
    ConflictRule,
    Joined,
    Merge,
    merge_qrels,
    qrels_text,
)
from robustcs.inputs.ids import Ids
from robustcs.inputs.qrels import Qrels, read_qrels

Pairs = dict[tuple[str, str], int]
RULES: tuple[ConflictRule, ...] = ("keep", "replace", "max")

pairs = st.dictionaries(
    st.tuples(st.sampled_from(["31_1", "31_2", "31_10", "4_1"]), st.sampled_from(["a", "B-1", "é", "z"])),
    st.integers(-1, 4), min_size=1,
)  # fmt: skip


def as_qrels(judged: Pairs, name: str = "qrels") -> Qrels:
    turns = {turn: number for number, turn in enumerate(dict.fromkeys(turn for turn, _ in judged))}
    return Qrels(
        name, tuple(turns), np.array([turns[turn] for turn, _ in judged], np.int32),
        Ids.of(document for _, document in judged),
        np.array(list(judged.values()), np.int16),
    )  # fmt: skip


def as_pairs(qrels: Qrels) -> Pairs:
    documents = qrels.documents.texts()
    found = {
        (qrels.turns[turn], documents[document]): int(grade)
        for turn, document, grade in zip(
            qrels.turn_codes, qrels.document_codes, qrels.grades, strict=True
        )
    }
    assert len(found) == len(qrels), "a pair stands twice"
    return found


@settings(deadline=None)
@given(st.lists(pairs, min_size=1, max_size=4), st.sampled_from(RULES))
def test_merging_is_dictionaries_joined_one_after_the_other(
    files: list[Pairs], rule: ConflictRule
) -> None:
    expected, conflicts = dict(files[0]), set()
    added = []
    for number, file in enumerate(files[1:], 1):
        added.append(len(file.keys() - expected.keys()))
        for pair, grade in file.items():
            old = expected.setdefault(pair, grade)
            if grade != old:
                expected[pair] = {"keep": old, "replace": grade, "max": max(old, grade)}[rule]
                conflicts.add((*pair, old, grade, expected[pair], str(number)))
    merge = merge_qrels(
        as_qrels(files[0], "0"),
        [as_qrels(file, str(n)) for n, file in enumerate(files[1:], 1)],
        rule,
    )
    assert as_pairs(merge.qrels) == expected
    assert {
        (c.turn, c.document, c.old, c.new, c.kept, c.new_file) for c in merge.conflicts
    } == conflicts
    assert [file.added for file in merge.joined] == added
    assert all(
        file.added + file.repeated + file.conflicts == file.judgments for file in merge.joined
    )


@given(pairs, pairs)
def test_keeping_the_one_is_replacing_by_it(first: Pairs, second: Pairs) -> None:
    one, two = as_qrels(first), as_qrels(second)
    assert as_pairs(merge_qrels(one, [two], "keep").qrels) == as_pairs(
        merge_qrels(two, [one], "replace").qrels
    )
    assert as_pairs(merge_qrels(one, [two], "max").qrels) == as_pairs(
        merge_qrels(two, [one], "max").qrels
    )


@given(pairs, st.sampled_from(RULES))
def test_joining_a_file_to_itself_changes_nothing(judged: Pairs, rule: ConflictRule) -> None:
    merge = merge_qrels(as_qrels(judged), [as_qrels(judged)], rule)
    assert as_pairs(merge.qrels) == judged
    assert merge.conflicts == ()


@given(pairs, st.data())
def test_withdrawn_and_added_again_is_the_original(judged: Pairs, data: st.DataObject) -> None:
    withdrawn = data.draw(
        st.lists(st.sampled_from(list(judged)), unique=True, max_size=len(judged) - 1)
    )
    left = {pair: grade for pair, grade in judged.items() if pair not in withdrawn}
    files = [as_qrels({pair: judged[pair]}) for pair in withdrawn]
    merge = merge_qrels(as_qrels(left), files, "keep")
    assert qrels_text(merge.qrels) == qrels_text(as_qrels(judged))


def test_conflicts_between_two_new_files_name_both() -> None:
    old, one, two = (
        {("1_1", "a"): 1},
        {("1_1", "b"): 2},
        {("1_1", "b"): 0, ("9_1", "a"): 1, ("1_1", "a"): 1},
    )
    merge = merge_qrels(as_qrels(old, "old"), [as_qrels(one, "one"), as_qrels(two, "two")], "max")
    assert merge.conflicts == (Conflict("1_1", "b", 2, 0, 2, "one", "two"),)
    assert merge.joined == (Joined("one", 1, 1, 0, 0, 0), Joined("two", 3, 1, 1, 1, 1))


def test_text_is_sorted_and_reads_back(tmp_path: Path) -> None:
    judged = {("31_10", "b"): 0, ("31_9", "b"): 4, ("31_9", "a"): -1, ("4_1", "é"): 2}
    text = qrels_text(as_qrels(judged))
    assert text == "4_1 0 é 2\n31_9 0 a -1\n31_9 0 b 4\n31_10 0 b 0\n"
    (tmp_path / "q.txt").write_text(text, encoding="utf-8")
    assert as_pairs(read_qrels(tmp_path / "q.txt")) == judged


def test_demo(demo: Path) -> None:
    old, new = read_qrels(demo / "qrels.txt"), read_qrels(demo / "new_judgments.txt")
    merges: dict[str, Merge] = {rule: merge_qrels(old, [new], rule) for rule in RULES}
    assert [(c.turn, c.document, c.old, c.new, c.kept) for c in merges["keep"].conflicts] == [
        ("3_1", "bicycles_28", 1, 2, 1), ("6_1", "coffee_27", 1, 2, 1), ("9_2", "compost_03", 1, 2, 1),
    ]  # fmt: skip
    assert all(
        conflict.kept == 2 for rule in ("replace", "max") for conflict in merges[rule].conflicts
    )
    assert all(len(merge.qrels) == 782 + 634 - 3 for merge in merges.values())


@pytest.mark.parametrize("year", ["2019", "2020"])
def test_real_judgments_taken_apart_and_joined(shared_data: Path, year: str) -> None:
    judged = as_pairs(read_qrels(shared_data / f"cast{year}" / "qrels.txt.gz"))
    parts: list[Pairs] = [{}, {}, {}]
    for number, (pair, grade) in enumerate(judged.items()):
        parts[number % 7 % 3][pair] = grade
    merge = merge_qrels(as_qrels(parts[0]), [as_qrels(part) for part in parts[1:]], "keep")
    assert as_pairs(merge.qrels) == judged
    assert not merge.conflicts
