"""Overlap, Jaccard and rank-biased overlap of two runs, against their definitions written out."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.ids import Ids
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.similarity.rankings import (
    equal_rankings,
    jaccard,
    overlap,
    pair_rankings,
    ranking_depth,
    ranking_rbo,
)
from robustcs.statistics.ranks import system_rbo

Lists = dict[str, list[tuple[str, float]]]


def ranking(folder: Path, lists: Lists) -> Ranking:
    path = folder / "run"
    rows = [f"{turn} Q0 {doc} 0 {score} tag" for turn, docs in lists.items() for doc, score in docs]
    path.write_text("\n".join(rows) + "\n")
    return rank_run(read_run(path), EvaluationPolicy())


def ordered(docs: list[tuple[str, float]]) -> list[tuple[str, float]]:
    by_name = sorted(docs, reverse=True)
    return sorted(by_name, key=lambda item: -item[1])


def tied_sets(docs: list[tuple[str, float]]) -> list[set[str]]:
    """The set of documents seen at each depth, those of a tie together."""
    starts: list[tuple[str, int]] = []
    for _, group in groupby(ordered(docs), key=lambda item: item[1]):
        members = list(group)
        rank = len(starts) + 1
        starts += [(doc, rank) for doc, _ in members]
    return [{doc for doc, rank in starts if rank <= depth} for depth in range(1, len(docs) + 1)]


def rbo_by_hand(qr: list[tuple[str, float]], human: list[tuple[str, float]], p: float) -> float:
    """Webber et al. (2010), equation 32, rank by rank, with the agreement of tied lists."""
    first, second = sorted((tied_sets(qr), tied_sets(human)), key=len)
    agreement: list[float] = []
    for depth in range(1, len(second) + 1):
        long = second[depth - 1]
        if depth <= len(first):
            short = first[depth - 1]
            agreement.append(2 * len(short & long) / (len(short) + len(long)))
        else:
            common = len(first[-1] & long) + (depth - len(first)) * agreement[len(first) - 1]
            agreement.append(2 * common / (depth + len(long)))
    inside = sum((1 - p) * p**rank * value for rank, value in enumerate(agreement))
    return inside + agreement[-1] * p ** len(agreement)


DOCS = st.lists(
    st.tuples(st.sampled_from([f"d{n}" for n in range(12)]), st.sampled_from([1.0, 2.0, 2.5, 3.0])),
    min_size=1, max_size=10, unique_by=lambda item: item[0],
)  # fmt: skip


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(DOCS, DOCS), min_size=1, max_size=3),
    st.integers(1, 12),
    st.sampled_from([0.5, 0.9, 0.98]),
)
def test_equal_to_the_definitions(
    tmp_path_factory: pytest.TempPathFactory, turns: list, k: int, p: float
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    qr = ranking(folder, {f"1_{n}": docs for n, (docs, _) in enumerate(turns)})
    human = ranking(folder, {f"1_{n}": docs for n, (_, docs) in enumerate(turns)})
    pair = pair_rankings(qr, human)
    # of the shallower run
    depth = min(max(len(ordered(both[side])) for both in turns) for side in (0, 1))
    for row, (ours, theirs) in enumerate(turns):
        first, second = ({doc for doc, _ in ordered(docs)[:k]} for docs in (ours, theirs))
        assert overlap(pair, k)[row] == len(first & second) / len(second)
        assert jaccard(pair, k)[row] == len(first & second) / len(first | second)
        assert equal_rankings(pair)[row] == (
            [doc for doc, _ in ordered(ours)[:depth]] == [doc for doc, _ in ordered(theirs)[:depth]]
        )
        assert ranking_rbo(pair, p)[row] == pytest.approx(rbo_by_hand(ours, theirs, p), abs=1e-12)


def test_turns_are_joined_by_id_and_lacking_ones_score_zero(tmp_path: Path) -> None:
    qr = ranking(
        tmp_path, {"2_1": [("c", 2), ("d", 1)], "1_1": [("a", 2), ("b", 1)], "9_9": [("a", 1)]}
    )
    human = ranking(
        tmp_path,
        {"1_1": [("a", 2), ("b", 1)], "1_2": [("a", 1)], "2_1": [("d", 3), ("c", 2), ("e", 1)]},
    )
    pair = pair_rankings(qr, human)
    assert pair.turns == ("1_1", "1_2", "2_1")
    assert equal_rankings(pair).tolist() == [True, False, False]
    assert overlap(pair, 2).tolist() == [1.0, 0.0, 1.0]
    assert overlap(pair, 3).tolist() == [1.0, 0.0, 2 / 3]
    assert ranking_rbo(pair)[:2] == pytest.approx([1.0, 0.0])
    assert (ranking_depth(qr), ranking_depth(human)) == (2, 3)


@given(st.permutations(range(6)))
@settings(deadline=None, max_examples=30)
def test_rbo_equals_that_of_complete_rankings(
    tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    scores = np.array([3.0, 2.0, 2.0, 1.0, 0.5, 0.1])
    other = scores[order]
    lists = [
        {"1_1": [(f"d{n}", score) for n, score in enumerate(some)]} for some in (scores, other)
    ]
    folder = tmp_path_factory.mktemp("runs")
    pair = pair_rankings(ranking(folder, lists[0]), ranking(folder, lists[1]))
    assert ranking_rbo(pair, 0.9)[0] == pytest.approx(
        float(system_rbo(scores, other, 0.9)), abs=1e-12
    )


def test_documents_whose_keys_collide_are_all_matched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = {
        turn: [(f"d{number}", float(-number)) for number in range(40)] for turn in ("1_1", "1_2")
    }
    one = ranking(tmp_path, lists)
    two = ranking(
        tmp_path, {turn: [(doc, -score) for doc, score in docs] for turn, docs in lists.items()}
    )
    expected = pair_rankings(one, two)
    true_hashes = Ids.hashes
    monkeypatch.setattr(Ids, "hashes", lambda ids: true_hashes(ids) & np.uint64(7))
    found = pair_rankings(one, two)
    assert len(found.row) == len(expected.row) == 80
    assert sorted(zip(found.row, found.first, found.second, strict=True)) == sorted(
        zip(expected.row, expected.first, expected.second, strict=True)
    )
