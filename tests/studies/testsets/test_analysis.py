"""Test sets of paraphrases: ECAsT's published figures, disjointness, and histories of what was drawn."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from itertools import combinations
from math import comb
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.inputs.paraphrases import Paraphrase, read_paraphrases
from robustcs.similarity.paraphrases import clean, clean_turns, draw, relation
from robustcs.studies.testsets.analysis import ParaphraseSets, draw_testsets


@pytest.fixture(scope="module")
def ecast(shared_data: Path) -> ParaphraseSets:
    return draw_testsets(read_paraphrases(shared_data / "ECAsT.csv.gz"), 3, seed=0)


def test_published_statistics(ecast: ParaphraseSets) -> None:
    row = ecast.statistics.iloc[0]
    assert (row["paraphrases"], row["topics"], row["turns"]) == (9214, 131, 1203)
    assert round(row["per_turn"], 2) == 7.66 and (row["per_turn_min"], row["per_turn_max"]) == (
        5,
        22,
    )


def test_near_duplicates_of_ecast(ecast: ParaphraseSets, shared_data: Path) -> None:
    similar = ecast.similar.set_index("kind")
    with gzip.open(shared_data / "ECAsT.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    for column, kind in enumerate(("manual", "raw"), 1):
        same = Counter((row[0], " ".join(row[column].lower().split())) for row in rows)
        assert similar.loc[kind, "exact"] == sum(comb(count, 2) for count in same.values())
    assert similar["one_word"].to_dict() == {"manual": 413, "raw": 497}


def test_three_sets_of_ecast_share_nothing(ecast: ParaphraseSets) -> None:
    assert not len(ecast.overlaps)
    for kind in ("manual", "raw"):
        assert (
            not ecast.sets.assign(text=ecast.sets[kind].str.lower())
            .duplicated(["turn", "text"])
            .any()
        )
    assert ecast.sets.groupby("set").size().to_dict() == {1: 1203, 2: 1203, 3: 1203}


def test_what_could_not_be_kept_disjoint(shared_data: Path) -> None:
    found = draw_testsets(read_paraphrases(shared_data / "ECAsT.csv.gz"), 5, seed=0).overlaps
    assert found.to_dict("list") == {
        "turn": ["73_5", "73_5", "83_3", "111_7"], "kind": ["manual", "raw", "raw", "raw"],
        "texts": [4, 4, 4, 4], "sets": [5, 5, 5, 5], "repeated": [2, 2, 2, 2],
    }  # fmt: skip


def test_histories_are_the_chosen_paraphrases(demo: Path) -> None:
    sets = draw_testsets(read_paraphrases(demo / "paraphrases.csv"), 5, seed=3).sets
    for (_, topic), part in sets.assign(topic=sets["turn"].str.split("_").str[0]).groupby(
        ["set", "topic"]
    ):
        raws = list(part["raw"])
        assert list(part["turn"]) == [f"{topic}_{depth}" for depth in range(1, 8)]
        assert list(part["history"]) == [raws[:depth] for depth in range(7)]


def test_the_draw_depends_on_seed_and_turn_only(demo: Path) -> None:
    found = read_paraphrases(demo / "paraphrases.csv")
    whole = draw_testsets(found, 3, seed=1).sets
    turned = {turn: rows[::-1] for turn, rows in found.items() if turn.startswith("4_")}
    part = draw_testsets(turned, 3, seed=1).sets
    assert part["manual"].tolist() == whole[whole["turn"].str.startswith("4_")]["manual"].tolist()
    assert draw_testsets(found, 3, seed=2).sets["manual"].tolist() != whole["manual"].tolist()


def test_every_paraphrase_gets_its_turn() -> None:
    rows = [Paraphrase("1_1", f"m{i}", f"r{i}", i) for i in range(5)]
    first = Counter(draw(rows, 1, seed)[0].manual for seed in range(1000))
    assert all(150 <= first[f"m{i}"] <= 250 for i in range(5))


ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8)


@settings(max_examples=200)
@given(ROWS, st.integers(1, 6), st.integers(0, 3))
def test_disjoint_wherever_rows_allow_it(
    pairs: list[tuple[int, int]], sets: int, seed: int
) -> None:
    rows = [
        Paraphrase("1_1", f"M {manual}", f"r {raw}", line)
        for line, (manual, raw) in enumerate(pairs, 2)
    ]
    drawn = draw(rows, sets, seed)
    assert len(drawn) == sets and all(row in rows for row in drawn)

    def disjoint(chosen: tuple[Paraphrase, ...]) -> bool:
        return (
            len({row.manual for row in chosen}) == len({row.raw for row in chosen}) == len(chosen)
        )

    possible = max(
        size for size in range(1, sets + 1) if any(map(disjoint, combinations(rows, size)))
    )
    assert disjoint(tuple(drawn[:possible]))


def test_gaps_in_a_conversation_are_told() -> None:
    rows = {turn: (Paraphrase(turn, "a", "b", 2),) for turn in ("1_1", "1_3", "2_1")}
    result = draw_testsets(rows, 1, seed=0)
    assert result.evaluated.notes == (
        "seed 0",
        "turns without paraphrases are missing from the histories of 1 topic: 1",
    )
    assert result.evaluated.policy_line == "3 turns · nothing is scored"


def test_cleaning_ecast(shared_data: Path) -> None:
    """Against a comparison of all pairs: what stays has no twin, what goes has one that stays, and no turn is left without."""
    found = read_paraphrases(shared_data / "ECAsT.csv.gz")
    kept, dropped = clean_turns(found)
    assert (sum(map(len, kept.values())), len(dropped)) == (
        8628,
        586,
    ) and kept.keys() == found.keys()
    cleaned = draw_testsets(kept, 3, 0, dropped=dropped)
    assert cleaned.similar["paraphrases"].tolist() == [0, 0]
    assert cleaned.dropped["kind"].isin(["manual", "raw"]).all() and len(cleaned.dropped) == 586
    for one in dropped:
        assert one.kept in kept[one.dropped.turn] and one.dropped not in kept[one.dropped.turn]
        assert relation(getattr(one.kept, one.kind), getattr(one.dropped, one.kind)) == one.relation
    before = draw_testsets(found, 1, 0).similar
    assert before["paraphrases"].tolist() == [836, 964]


def test_variations_of_different_categories_are_no_twins() -> None:
    rows = [Paraphrase("1_1", "What is a goat?", "What is it?", 2, "typo"),
            Paraphrase("1_1", "What is the goat?", "And what is that there?", 3, "order"),
            Paraphrase("1_1", "What is one goat?", "So?", 4, "typo"),
            Paraphrase("1_1", "WHAT IS A GOAT?", "Well?", 5)]  # fmt: skip
    kept, dropped = clean(rows)
    assert [row.line for row in kept] == [2, 3]
    assert [(one.dropped.line, one.kept.line, one.relation) for one in dropped] == [
        (4, 2, "one word"),
        (5, 2, "exact"),
    ]
