"""Tables, figures and turns to read of a grid."""

from __future__ import annotations

import pandas as pd
import pytest

from robustcs.documents.document import Figure, TableBlock, TurnSet
from robustcs.documents.figures import draw_picture
from robustcs.evaluation.grid import CAUSES
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.components.analysis import Components, components
from robustcs.studies.components.show import SHOWN, overview, show, turns_to_read

TURNS = [f"{conversation}_{turn}" for conversation in range(6) for turn in range(2)]


def grid(wordings: int, rankers: int, without: set[tuple[int, int]] | None = None) -> Components:
    """A grid in which ranker 0 answers the first conversation, and wording w the conversations from w + 1 on."""
    scores = {
        (f"w{one}", f"r{other}"): pd.DataFrame(
            {"ndcg_cut_3": [float((place // 2 == 0 and other == 0) or place // 2 > one + 1) for place in range(12)]},
            index=pd.Index(TURNS, name="turn"),
        )
        for one in range(wordings) for other in range(rankers) if (one, other) not in (without or set())
    }  # fmt: skip
    return components(
        scores, Evaluated(EvaluationPolicy(), "runs", 12, 0), [parse_threshold("0.5")]
    )


def test_the_best_systems_open_a_report() -> None:
    table, figure = overview(grid(6, 3))
    assert (
        isinstance(table, TableBlock)
        and len(table.rows) == SHOWN
        and "The first 15 of 18 rows." in table.note
    )
    assert table.rows[0][0] == "w0/r0" and "6 wordings × 3 rankers." in table.note
    assert (
        isinstance(figure, Figure)
        and figure.alt.startswith("w0/r0: correct 83.3%")
        and "18 systems" in figure.caption
    )


@pytest.mark.parametrize("without", [set(), {(1, 1)}])
def test_every_figure_can_be_drawn(without: set[tuple[int, int]]) -> None:
    result = grid(3, 7, without)
    figures = [block for block in show(result) if isinstance(block, Figure)]
    assert [figure.slug for figure in figures] == ["causes", "means"]
    for figure in figures:
        picture = draw_picture(figure)
        assert "<svg" in picture.svg and figure.alt and picture.column
    assert ("w1/r1" in figures[1].alt) == (not without)


def test_many_rankers_leave_no_room_for_intervals() -> None:
    (few,) = [
        block for block in show(grid(2, 4)) if isinstance(block, TableBlock) and block.of == "means"
    ]
    (many,) = [
        block for block in show(grid(2, 5)) if isinstance(block, TableBlock) and block.of == "means"
    ]
    assert (
        "(" in few.rows[0][1]
        and "(" not in many.rows[0][1]
        and many.note == "CSV and JSON contain the intervals."
    )


def test_turns_to_read_are_those_of_the_best_system_by_cause() -> None:
    sets = turns_to_read(grid(2, 2))
    assert sets[0] == TurnSet(
        "w0/r0: lost by the wording", "blame@w0/r0:wording", 0, "disagreement"
    )
    assert sets[4] == TurnSet("w0/r0: answered by no system", "blame@w0/r0:none", 2, "disagreement")
    assert [one.where.rpartition(":")[2] for one in sets] == list(CAUSES[1:])


def test_missing_cells_have_a_table() -> None:
    tables = {block.slug: block for block in show(grid(2, 2)) if isinstance(block, TableBlock)}
    assert "swaps" in tables and "missing" not in tables
    assert "missing" in {
        block.slug for block in show(grid(2, 2, {(1, 1)})) if isinstance(block, TableBlock)
    }


def test_one_turn_has_no_halves() -> None:
    index = pd.Index(["1_1"], name="turn")
    scores = {
        ("a", "x"): pd.DataFrame({"P_1": [1.0]}, index=index),
        ("b", "x"): pd.DataFrame({"P_1": [0.0]}, index=index),
    }
    result = components(scores, Evaluated(EvaluationPolicy(), "runs", 1, 0))
    shown = {block.slug: block for block in show(result) if isinstance(block, TableBlock)}
    assert "choice" not in shown and shown["upper"].rows == (
        ("P@1", "a/x", "1.000", "1.000", "+0.000", "0.000"),
    )
    assert result.choice["note"].tolist() == ["no halves: only 1 turn"]
