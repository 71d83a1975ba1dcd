"""The ranking that counts, against a straightforward sort in plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation import ranking as ranking_module
from robustcs.evaluation.matrix import graded_run
from robustcs.evaluation.ranking import Ranking, notes_on_ranks, rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy

Row = tuple[str, str, int, float]
BY_SCORE = EvaluationPolicy()

# few values: many ties, many repeated documents; neighbours that are one float32
rows_ = st.lists(
    st.tuples(
        st.sampled_from(["1_1", "1_2", "1_10"]),
        st.sampled_from(["a", "b", "B", "ab", "d1", "d10", "d9", "é", "z", "\U0001f600", "\uffff"]),
        st.integers(-1, 3),
        st.sampled_from(
            [0.0, -0.0, 1.0, 1.0 + 1e-9, 2.5, -3.0, 16777216.0, 16777217.0, 1e300, 1e301, -1e300]
        ),
    ),
    min_size=1,
    max_size=40,
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ranking") / "my.run"


def rank(path: Path, rows: list[Row], policy: EvaluationPolicy = BY_SCORE) -> Ranking:
    path.write_text(
        "".join(
            f"{turn} Q0 {document} {rank} {score!r} t\n" for turn, document, rank, score in rows
        ),
        "utf-8",
    )
    return rank_run(read_run(path, ranks=policy.order == "rank"), policy)


def as_dict(ranking: Ranking) -> dict[str, list[str]]:
    documents = ranking.ids.texts()
    return {
        turn: [
            documents[code]
            for code in ranking.document_codes[ranking.starts[i] : ranking.starts[i + 1]]
        ]
        for i, turn in enumerate(ranking.turns)
    }


def plainly(rows: list[Row], policy: EvaluationPolicy) -> tuple[dict[str, list[str]], int]:
    """Turn → documents, best first, and how many repeated ones were left out."""
    with np.errstate(over="ignore"):
        rows = [
            (turn, document, rank, float(np.float32(score))) for turn, document, rank, score in rows
        ]
    if policy.order == "rank":
        rows = sorted(rows, key=lambda row: row[2])
    else:
        rows = sorted(
            sorted(rows, key=lambda row: row[1].encode(), reverse=True), key=lambda row: -row[3]
        )
    ranked: dict[str, list[str]] = {}
    repeated = 0
    for turn, document, _, _ in rows:
        known = ranked.setdefault(turn, [])
        if document in known:
            repeated += 1
        else:
            known.append(document)
    return {turn: documents[: policy.depth] for turn, documents in ranked.items()}, repeated


@settings(deadline=None)
@given(rows=rows_, order=st.sampled_from(["score", "rank"]), depth=st.none() | st.integers(1, 6))
def test_equals_a_plain_sort(scratch: Path, rows: list[Row], order: str, depth: int | None) -> None:
    policy = EvaluationPolicy(order=order, depth=depth)
    expected, repeated = plainly(rows, policy)
    ranking = rank(scratch, rows, policy)
    assert as_dict(ranking) == expected
    assert ranking.repeated == repeated
    assert list(ranking.turns) == list(dict.fromkeys(row[0] for row in rows))
    equal = policy.order == "score" and ranking.constant > 0.1 * len(expected)
    assert len(ranking.notes) == (repeated > 0) + equal


def test_score_descending_whatever_the_file_says(scratch: Path) -> None:
    ranking = rank(
        scratch, [("1", "a", 1, 1.0), ("1", "b", 2, 3.0), ("2", "c", 1, 1.0), ("1", "d", 3, 2.0)]
    )
    assert as_dict(ranking) == {"1": ["b", "d", "a"], "2": ["c"]}


@pytest.mark.parametrize("order", ["score", "rank"])
@pytest.mark.parametrize("places", ["132", "213", "231", "123", "1324", "1243", "2134", "1342"])
def test_every_two_neighbours_of_a_file_may_be_out_of_order(
    scratch: Path, order: Literal["score", "rank"], places: str
) -> None:
    rows = [
        (turn, f"d{place}", int(place), -float(place)) for turn in ("1", "2") for place in places
    ]
    found = as_dict(rank(scratch, rows, EvaluationPolicy(order=order)))
    assert found == dict.fromkeys(("1", "2"), [f"d{place}" for place in sorted(places)])


def test_order_by_rank_keeps_equal_ranks_in_file_order(scratch: Path) -> None:
    rows = [("1", "a", 2, 9.0), ("1", "b", 1, 1.0), ("1", "c", 1, 2.0), ("1", "d", 0, 0.0)]
    assert as_dict(rank(scratch, rows, EvaluationPolicy(order="rank"))) == {
        "1": ["d", "b", "c", "a"]
    }


def test_the_best_ranked_of_a_repeated_document_counts(scratch: Path) -> None:
    ranking = rank(
        scratch, [("1", "a", 1, 1.0), ("1", "b", 2, 2.0), ("1", "a", 3, 3.0), ("2", "a", 1, 1.0)]
    )
    assert as_dict(ranking) == {"1": ["a", "b"], "2": ["a"]}
    assert ranking.repeated == 1
    assert ranking.notes == (
        "my.run: 1 repeated document skipped; the best-ranked row of each counts",
    )


def test_repeated_documents_are_found_in_every_block_of_turns(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking_module, "_ROWS", 4)
    rows = [
        (f"{turn}", document, 1, 9.0 - place)
        for turn in range(1, 7)
        for place, document in enumerate("aab")
    ]
    assert as_dict(rank(scratch, rows)) == {str(turn): ["a", "b"] for turn in range(1, 7)}


def test_depth_is_cut_after_repeated_documents_are_left_out(scratch: Path) -> None:
    rows = [("1", "a", 1, 9.0), ("1", "a", 2, 8.0), ("1", "b", 3, 7.0), ("1", "c", 4, 6.0)]
    assert as_dict(rank(scratch, rows, EvaluationPolicy(depth=2))) == {"1": ["a", "b"]}


def scored(path: Path, *turns: list[tuple[int, float]]) -> Path:
    """Write a run with the (rank, score) of the passages of every turn."""
    rows = [
        (turn, place, *one) for turn, found in enumerate(turns) for place, one in enumerate(found)
    ]
    path.write_text(
        "".join(f"{turn} Q0 d{place} {rank} {score} t\n" for turn, place, rank, score in rows)
    )
    return path


SOUND = [(1, 3.0), (2, 2.0), (3, 2.0)]
EQUAL = [(1, 1.0), (2, 1.0), (3, 1.0)]
#: The score is the rank; another file lists the worst passage first.
REVERSED, BOTTOM_UP = [(1, 1.0), (2, 2.0), (3, 3.0)], SOUND[::-1]
BY_RANK = '--order rank (order = "rank" in [policy]) orders them by rank'


def test_equal_scores_in_many_turns_are_noted(tmp_path: Path) -> None:
    """Two equal passages, and a few such turns, say nothing; the depth of the policy hides no scores."""
    few = scored(tmp_path / "few", EQUAL, EQUAL[:2], *[SOUND] * 8)
    many = scored(tmp_path / "many", EQUAL, EQUAL, *[SOUND] * 8)
    note = (
        f"many: all scores are equal in 2 of 10 turns, whose passages are ordered by id; {BY_RANK}"
    )
    for policy in (BY_SCORE, EvaluationPolicy(depth=1), EvaluationPolicy(order="rank")):
        ranks = policy.order == "rank"
        assert rank_run(read_run(few, ranks=ranks), policy).notes == ()
        assert rank_run(read_run(many, ranks=ranks), policy).notes == (() if ranks else (note,))
    qrels = tmp_path / "qrels"
    qrels.write_text("0 0 d0 1\n")
    assert graded_run(many, "many", BY_SCORE, read_qrels(qrels))[0].notes == (note,)


def test_ranks_that_contradict_scores_are_noted(tmp_path: Path) -> None:
    def notes(
        *turns: list[tuple[int, float]], order: Literal["score", "rank"] = "score"
    ) -> tuple[str, ...]:
        path = scored(tmp_path / "my.run", *turns)
        return notes_on_ranks(read_run(path), path, EvaluationPolicy(order=order))

    what = "my.run: in 2 of 10 turns, another passage has a higher score than that of rank 1; passages are ordered by score"
    assert notes(*[REVERSED] * 2, *[BOTTOM_UP] * 8) == (f"{what}, and {BY_RANK}",)
    assert notes(*[REVERSED] * 2, *[BOTTOM_UP] * 8, order="rank") == ()
    assert notes(REVERSED, *[BOTTOM_UP] * 9) == notes(*[EQUAL] * 9) == notes(*[SOUND] * 9) == ()
    assert notes(*[[(0, 1.0), (0, 2.0)]] * 9) == (), "a rank that repeats says nothing"
    table = tmp_path / "table.csv"
    table.write_text("query_id,doc_id,score\n1_1,a,1\n1_1,b,2\n")
    assert notes_on_ranks(read_run(table), table, BY_SCORE) == (), "a table without ranks"
