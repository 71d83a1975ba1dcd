"""Which turns form a conversation: documented ids, ids that only look like them, fields of files, and public collections."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from robustcs.conversations import Conversations
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.texts import read_texts
from robustcs.statistics.units import units_of


@pytest.mark.parametrize(
    ("turn", "depth", "of", "unit"),
    [
        ("31_4", 4, "31", "31"),  # CAsT 2019–2021
        ("0_12", 12, "0", "0"),  # iKAT 2024
        ("1-1_3", 3, "1-1", "1"),  # iKAT 2023: conversations on one topic
        ("132_1-3", 3, "132_1", "132"),  # CAsT 2022: branches of one topic
        ("C_abc_1_q#2", 3, "C_abc_1", "C_abc_1"),  # QuAC and CANARD count from 0
        (
            "dd6b6ffd177f2b311abe676261279d2f<::>4",
            4,
            "dd6b6ffd177f2b311abe676261279d2f",
            "dd6b6ffd177f2b311abe676261279d2f",
        ),
        (
            "dd6b6ffd177f2b311abe676261279d2f::4",
            4,
            "dd6b6ffd177f2b311abe676261279d2f",
            "dd6b6ffd177f2b311abe676261279d2f",
        ),
        (
            "dd6b6ffd177f2b311abe676261279d2f_4",
            4,
            "dd6b6ffd177f2b311abe676261279d2f",
            "dd6b6ffd177f2b311abe676261279d2f",
        ),
        ("a_b-1<::>12", 12, "a_b-1", "a_b-1"),
        ("QReCC-Test_7_2", 2, "QReCC-Test_7", "QReCC-Test_7"),
        ("conv12_3", 3, "conv12", "conv12"),
        ("session-7_2", 2, "session-7", "session-7"),
    ],
)
def test_every_known_form(turn: str, depth: int, of: str, unit: str) -> None:
    known = Conversations.from_ids([turn])
    assert (known.source, known.depth(turn), known.of(turn), known.unit(turn)) == (
        "pattern",
        depth,
        of,
        unit,
    )


def grid(form: str, groups: Iterable[object], places: Iterable[int]) -> list[str]:
    """``form`` filled with every group and place."""
    places = list(places)
    return [form.format(group, place) for group in groups for place in places]


@pytest.mark.parametrize(
    "turns",
    [
        grid("{}_{:04d}", range(2015, 2025), range(805, 825)),  # dates: 2024_0812
        grid(
            "{}-{:02d}",
            ["billing", "returns", "login", "orders", "pro-plan", "refunds"],
            range(1, 21),
        ),
        grid("q{}_{}", [""], range(1, 30)),  # q_17
        grid("doc_{}_{}", range(1, 9), range(1, 40)),  # doc_3_1200
        grid("{}_{}", range(1, 9), range(40, 60)),  # begin at 40
        grid("locomo_{}_qa{}", range(10), range(20)),
        ["2024-145979", "1037798", "17", "opening", "31_", "_4", ""],
    ],
)
def test_other_numbers_are_no_places(turns: list[str]) -> None:
    known = Conversations.from_ids(turns)
    assert known.source == "none"
    assert all(
        (known.of(turn), known.unit(turn), known.depth(turn)) == (turn, turn, None)
        for turn in turns
    )
    units = units_of(turns, known)
    assert (units.kind, units.count, units.note) == ("turn", len(turns), "")
    assert known.earlier(turns) == {turn: [] for turn in turns}


def test_two_thirds_of_the_conversations_decide() -> None:
    good, bad = grid("{}_{}", range(4), (1, 2, 3)), grid("{}_{}", range(10, 12), (40, 41))
    assert Conversations.from_ids([*good, *bad]).source == "pattern"
    assert Conversations.from_ids([*good, *bad, "12_40", "12_41"]).source == "none"
    twos = grid("{}_1-{}", range(130, 136), (1, 3, 5, 9))  # as CAsT 2022 counts, some judged
    assert Conversations.from_ids(twos).source == "pattern"
    assert Conversations.from_ids(grid("{}_{}", range(6), (3, 10))).source == "pattern"
    assert Conversations.from_ids(grid("{}_{}", range(6), (4, 10))).source == "none"
    assert Conversations.from_ids(grid("{}_{}", range(6), (3, 11))).source == "none"


def test_single_turns_keep_their_places() -> None:
    turns = [f"{place:032x}<::>{place % 9 + 1}" for place in range(30)]
    known = Conversations.from_ids(turns)
    assert [known.depth(turn) for turn in turns] == [place % 9 + 1 for place in range(30)]
    assert (units_of(turns, known).kind, units_of(turns, known).count) == ("turn", 30)
    assert Conversations.from_ids([f"20{year}_0812" for year in range(10, 25)]).source == "none"


def test_places_of_thousands_of_digits_are_unknown() -> None:
    known = Conversations(by_ids=True)
    for turn in ("1_" + "7" * 5000, "C_1_q#" + "7" * 5000, "1_" + "9" * 19, "a<::>x"):
        assert known.depth(turn) is None
    assert known.of("1_" + "7" * 5000) == "1"
    assert known.depth("1_" + "9" * 18) == 10**18 - 1
    assert known.depth("1_" + "0" * 5000 + "7") == 7


def test_a_note_offers_groups_of_other_ids() -> None:
    turns = grid(
        "{}-{:02d}", ["billing", "returns", "login", "orders", "plans", "refunds"], range(1, 21)
    )
    note = Conversations.from_ids(turns).note
    assert "6 names, such as billing in billing-01" in note and "--conversation pattern" in note
    assert units_of(turns, Conversations.from_ids(turns, "pattern")).count == 6
    assert Conversations.from_ids(turns, "pattern").depth("billing-07") == 7
    for other in (
        grid("{}_{}", range(20), range(1, 4)),
        ["q49", "q22"],
        grid("q_{1}", [0], range(40)),
        turns[:80],
    ):
        assert not Conversations.from_ids(other).note


def test_none_is_none_for_any_ids() -> None:
    turns = grid("{}_{}", range(20), range(1, 4))
    known = Conversations.from_ids(turns, "none")
    assert (known.source, known.of("1_2"), known.depth("1_2")) == ("none", "1_2", None)
    assert known.said == "conversations set to none"


def test_fields_precede_ids() -> None:
    turns = ["a", "b", "c", "1_2", "1_1", "d"]
    known = Conversations.from_fields(
        {"a": ("x", 2), "b": ("x", 1), "c": ("y", None)}, turns, "t.tsv"
    )
    assert (known.source, known.of("a"), known.depth("b"), known.of("1_2"), known.of("d")) == (
        "fields",
        "x",
        1,
        "1_2",
        "d",
    )
    assert known.earlier(turns) == {"c": [], "d": [], "1_1": [], "b": [], "1_2": [], "a": ["b"]}
    assert known.in_words == "conversations from the fields of t.tsv: a is turn 2 of conversation x"
    # fields that repeat the ids are no other source
    same = Conversations.from_fields({"1_1": ("1", 1), "1_2": ("1", 2)}, ["1_1", "1_2"], "t.tsv")
    assert (same.source, same.said) == ("pattern", "")


def test_names_from_fields_and_from_ids_are_never_one_conversation() -> None:
    """1_1 is in conversation 2 of the file, so the ids 2_1 to 2_3 are not in it; nor is the turn x in conversation x."""
    turns = [*grid("{}_{}", range(1, 9), range(1, 4)), "x"]
    known = Conversations.from_fields({"1_1": ("2", None), "1_2": ("x", None)}, turns, "t.tsv")
    units = units_of(turns, known)
    assert units.count == len(turns) and len(set(map(known.of, turns))) == len(turns)


def test_the_choice_in_words() -> None:
    said = Conversations.from_ids(grid("{}_{}", range(31, 40), range(1, 5))).in_words
    assert said == "conversations from turn ids: 31_2 is turn 2 of conversation 31"
    assert (
        Conversations.from_ids(["q1", "q2"]).in_words
        == "no conversations: each turn is a sampling unit"
    )


# ---------------------------------------------------------------- public collections


def turns_of(folder: Path, what: str) -> list[str]:
    """The turns of one public file."""
    kind, _, name = what.partition(" ")
    path = folder / name
    if kind == "tasks":
        with gzip.open(path) as lines:
            return [json.loads(line)["task_id"] for line in lines]
    if kind == "texts":
        return list(read_texts(path, "original"))
    return list(read_qrels(path).turns if kind == "qrels" else read_run(path).turns)


@pytest.mark.parametrize(
    ("what", "turns", "kind", "units", "deepest"),
    [
        ("qrels cast2019/qrels.txt.gz", 173, "conversation", 20, 11),
        ("qrels cast2020/qrels.txt.gz", 208, "conversation", 25, 13),
        ("qrels cast2021/qrels-docs.txt.gz", 158, "conversation", 19, 11),
        ("texts cast2019/topics.json", 479, "conversation", 50, 12),
        ("texts cast2020/topics_manual.json", 216, "conversation", 25, 13),
        ("qrels cast2022-regin/question_relevance_all.qrel", 205, "topic", 18, 19),
        ("qrels cast2022-regin/question_relevance_mi_subset.qrel", 24, "topic", 11, 13),
        ("run mtrag-grid/bge_lastturn.jsonl.gz", 208, "conversation", 29, 9),
        ("tasks mtrag-answers/clapnq.jsonl.gz", 224, "conversation", 29, 9),
        ("tasks mtrag-answers/cloud.jsonl.gz", 205, "conversation", 26, 12),
        ("tasks mtragun/reference.jsonl.gz", 507, "turn", 507, 11),
        ("qrels mtragun/qrels_govt.tsv", 105, "turn", 105, 10),
        ("texts canard/dev.json.gz", 3430, "conversation", 490, 12),
        ("texts formats/ikat/2023_train_topics.json", 95, "topic", 8, 14),
        ("texts formats/ikat/2024_test_topics.json", 218, "conversation", 17, 17),
        ("run clariq/dev_bm25", 50, "turn", 50, None),
        ("qrels dl2021/qrels_human.txt.gz", 53, "turn", 53, None),
        ("qrels llmjudge/human.qrels.gz", 25, "turn", 25, None),
    ],
)
def test_public_collections(
    shared_data: Path, what: str, turns: int, kind: str, units: int, deepest: int | None
) -> None:
    """Figures of single ids before their sets decided: nothing changed on the collections whose ids are documented."""
    every = turns_of(shared_data, what)
    known = Conversations.from_ids(every)
    found = units_of(every, known)
    depths = [depth for turn in every if (depth := known.depth(turn)) is not None]
    assert (len(every), found.kind, found.count, found.note) == (turns, kind, units, "")
    assert len(depths) in (0, turns) and max(depths, default=None) == deepest
    assert not known.note
