"""Grids of wordings and rankers: their cells, the causes of wrong answers, and the largest complete subgrid."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustcs.errors import UsageError
from robustcs.evaluation.grid import CAUSES, Grid, causes_of, parse_cell


def cause_by_hand(right: np.ndarray, turn: int, wording: int, ranker: int) -> str:
    """The cause of one turn in one cell, by looking at one cell after the other."""
    if right[turn, wording, ranker]:
        return "correct"
    by_wording = any(
        right[turn, other, ranker] for other in range(right.shape[1]) if other != wording
    )
    by_ranker = any(
        right[turn, wording, other] for other in range(right.shape[2]) if other != ranker
    )
    somewhere = any(
        right[turn, one, other] for one in range(right.shape[1]) for other in range(right.shape[2])
    )
    if by_wording and by_ranker:
        return "either"
    if by_wording or by_ranker:
        return "wording" if by_wording else "ranker"
    return "both" if somewhere else "none"


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(1, 4),
    st.floats(0, 1),
)
def test_causes_equal_a_loop_over_cells(
    seed: int, turns: int, wordings: int, rankers: int, share: float
) -> None:
    right = np.random.default_rng(seed).random((turns, wordings, rankers)) < share
    found = causes_of(right)
    for turn, wording, ranker in product(range(turns), range(wordings), range(rankers)):
        assert CAUSES[found[turn, wording, ranker]] == cause_by_hand(right, turn, wording, ranker)


def test_the_six_causes_of_one_turn_each() -> None:
    yes = {
        "correct": [(0, 0)], "wording": [(1, 0)], "ranker": [(0, 1)], "either": [(1, 0), (0, 1)], "both": [(1, 1)], "none": [],
    }  # fmt: skip
    for cause, cells in yes.items():
        right = np.zeros((1, 2, 2), dtype=bool)
        for cell in cells:
            right[0][cell] = True
        assert CAUSES[causes_of(right)[0, 0, 0]] == cause


@pytest.mark.parametrize("name", ["t5", "/bm25", "t5/", "a/b/c", " /x", ""])
def test_a_cell_has_two_names(name: str) -> None:
    with pytest.raises(
        UsageError, match="not of the form WORDING/RANKER; write a name such as t5/bm25"
    ):
        parse_cell(name)


def test_names_of_cells_are_kept() -> None:
    assert parse_cell("Größe 1 / bm25+bert") == ("Größe 1", "bm25+bert")


def largest(cells: set[tuple[str, str]], wordings: list[str], rankers: list[str]) -> int:
    """The size of the largest complete subgrid with two levels of each factor, by trying all; 0 if there is none."""
    found = 0
    for some in (
        some for size in range(2, len(wordings) + 1) for some in combinations(wordings, size)
    ):
        for others in (
            others for size in range(2, len(rankers) + 1) for others in combinations(rankers, size)
        ):
            if all((one, other) in cells for one in some for other in others):
                found = max(found, len(some) * len(others))
    return found


@given(st.sets(st.tuples(st.sampled_from("abcd"), st.sampled_from("vwxyz")), min_size=1))
def test_the_largest_complete_subgrid(cells: set[tuple[str, str]]) -> None:
    grid = Grid(tuple(sorted(cells)))
    wordings, rankers = grid.complete()
    assert all((one, other) in cells for one in wordings for other in rankers)
    assert len(wordings) * len(rankers) == largest(cells, list("abcd"), list("vwxyz"))
    assert {*grid.cells, *grid.missing} == set(product(grid.wordings, grid.rankers)) and not {
        *grid.cells
    } & {*grid.missing}


def test_a_large_grid_without_one_cell_has_a_complete_subgrid() -> None:
    cells = tuple(
        (f"w{one}", f"r{other}")
        for one in range(30)
        for other in range(20)
        if (one, other) != (3, 4)
    )
    wordings, rankers = Grid(cells).complete()
    assert len(wordings) * len(rankers) == 29 * 20


@pytest.mark.parametrize("turned", [False, True], ids=["", "wordings and rankers exchanged"])
@pytest.mark.parametrize("levels", [12, 13])
def test_up_to_twelve_levels_all_subgrids_are_tried(levels: int, turned: bool) -> None:
    """Ten rankers have two wordings in common, but each of them also has a wording of its own.

    So no ranker has exactly the wordings of the subgrid. Exchanged, a ranker has: with thirteen levels, only this one is found.
    """
    cells = [(wording, ranker) for ranker in range(10) for wording in (0, 1, ranker + 2)]
    cells += [(wording, wording) for wording in range(10, levels)]
    grid = Grid(tuple((f"a{y}", f"b{x}") if turned else (f"a{x}", f"b{y}") for x, y in cells))
    assert len(grid.wordings) == len(grid.rankers) == levels
    some, others = grid.complete()
    assert (len(some), len(others)) == ((10, 2) if turned else (2, 10) if levels == 12 else (0, 0))


@pytest.mark.parametrize("turned", [False, True], ids=["", "wordings and rankers exchanged"])
@pytest.mark.parametrize("wordings", [13, 14])
def test_one_complete_row_of_a_large_grid_is_no_subgrid(wordings: int, turned: bool) -> None:
    row = [(0, ranker) for ranker in range(13)]
    column = [(wording, 0) for wording in range(1, wordings)]
    for square in (False, True):
        cells = [*row, *column, *([(1, 1)] if square else [])]
        grid = Grid(tuple((f"a{y}", f"b{x}") if turned else (f"a{x}", f"b{y}") for x, y in cells))
        found = grid.complete()
        assert found == ((("a0", "a1"), ("b0", "b1")) if square else ((), ()))


def test_of_equally_large_subgrids_the_first_counts() -> None:
    cells = [
        (wording, ranker)
        for block in ("ab", "cd")
        for wording in block
        for ranker in (f"{block}1", f"{block}2")
    ]
    assert Grid(tuple(cells)).complete() == (("a", "b"), ("ab1", "ab2"))


def test_scores_of_cells_as_a_cube() -> None:
    grid = Grid((("a", "x"), ("b", "y")))
    cube = grid.cube({("a", "x"): [0.5, 1.0], ("b", "y"): [0.0, 0.25]})
    assert cube.shape == (2, 2, 2)
    assert cube[:, 0, 0].tolist() == [0.5, 1.0] and cube[:, 1, 1].tolist() == [0.0, 0.25]
    assert np.isnan(cube[:, 0, 1]).all() and np.isnan(cube[:, 1, 0]).all()
