from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from robustcs.documents.document import Figure, TableBlock
from robustcs.documents.latex import render_latex
from robustcs.documents.style import COLUMN, PAGE, Width, in_style
from robustcs.documents.terminal import render_terminal
from robustcs.evaluation.measure import parse_measure
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.augment.analysis import Augmentation, built, leave_one_out
from robustcs.studies.augment.show import draw_change, show
from robustcs.studies.augment.whatif import what_if
from tests.evaluation.test_augmentation import Pairs, as_qrels
from tests.evaluation.test_run_pool import as_ranking, pool_of
from tests.studies.augment.test_analysis import compare

RUNS = [
    as_ranking("one", {"1_1": ["a", "u", "b"], "1_2": ["x", "a"]}),
    as_ranking("a_rather_long_name_of_a_run", {"1_1": ["u", "b"], "1_2": ["y", "x"]}),
]
OLD: Pairs = {("1_1", "a"): 2, ("1_1", "b"): 0, ("1_2", "x"): 2}
NEW: Pairs = {("1_1", "u"): 4, ("1_1", "b"): 2, ("1_2", "y"): 0}


@pytest.fixture(scope="module")
def result() -> Augmentation:
    policy = EvaluationPolicy(relevance_level=2)
    qrels = as_qrels(OLD)
    pool = pool_of(RUNS, qrels)
    grades = pool.grades(qrels)
    counted = np.array([True, True])
    measures = [parse_measure("P_2")]
    drawn = what_if(pool, grades, 3, 40, measures, policy, counted, seed=0)
    left = leave_one_out(pool, grades, 3, measures, policy, counted)
    found = vars(compare(RUNS, OLD, NEW, ("P_2",))) | {"leave_one_out": left}
    found |= {"what_if": drawn.scores, "flips": drawn.pairs, "tipping": drawn.tipping}
    return Augmentation(Evaluated(policy, "runs", 2, 0), 3, qrels, drawn, content=built(found))


def test_every_table_is_shown(result: Augmentation) -> None:
    shown = {block.of for block in show(result) if isinstance(block, TableBlock)}
    assert shown == set(result.tables) - {"flips", "tipping"}  # no pair changes places


def test_cells(result: Augmentation) -> None:
    tables = {block.slug: block for block in show(result) if isinstance(block, TableBlock)}
    before, after = tables["measures-P_2"].rows
    assert before[:4] == ("one", "0.5000", "0.7500", "+0.2500") and before[-1] == "1"
    assert (
        after[:4] == ("a_rather_long_name_of_a_run", "0.2500", "0.7500", "+0.5000")
        and after[-1] == "2 → 1"
    )
    assert tables["conflicts"].rows == (("1_1", "b", "0", "2", "2"),)
    assert tables["turns-P_2"].rows == (
        ("1_1", "a_rather_long_name_of_a_run", "0.0000", "1.0000", "1:4 2:0→2"),
    )
    kendall = tables["ranking"].rows[0]
    assert kendall[:3] == ("P@2", "Kendall's τ", "–")  # both runs are tied after


def test_terminal_and_latex(result: Augmentation) -> None:
    blocks = show(result)
    text = io.StringIO()
    render_terminal(blocks, result.evaluated.policy_line, (), Console(file=text, width=80))
    assert max(map(len, text.getvalue().splitlines())) <= 80
    assert render_latex(blocks, result.evaluated.policy_line, ()).count(r"\begin{tabular") >= 8


def test_parts_that_were_not_asked_for_are_absent(result: Augmentation) -> None:
    alone = Augmentation(
        result.evaluated,
        3,
        result.merged,
        content={"leave_one_out": result.table("leave_one_out")},
    )
    assert list(alone.tables) == [spec.name for spec in alone.declared] == ["leave_one_out"]
    blocks = show(alone)
    assert [block.slug for block in blocks if isinstance(block, TableBlock)] == [
        "leave_one_out-P_2"
    ]
    assert not any(isinstance(block, Figure) for block in blocks)


def test_figure_draws_every_run(result: Augmentation) -> None:
    figure = next(block for block in show(result) if isinstance(block, Figure))
    assert "one 0.5000 to 0.7500" in figure.alt
    [axes] = figure.draw(PAGE).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["one", "a_rather_long_name_of_a_run"]
    before, after = (marks.get_offsets()[:, 0].tolist() for marks in axes.collections[1:])
    assert before[0] == 0.5 and after[0] == 0.75


@pytest.mark.parametrize("width", [PAGE, COLUMN])
@pytest.mark.parametrize("panels", [1, 2, 3, 5])
def test_panels_do_not_overlap(panels: int, width: Width) -> None:
    rows = pd.DataFrame(
        {"system": [f"run {i} $x_y$" for i in range(12)], "before": 0.4, "after": 0.5}
    )
    measures = pd.concat([rows.assign(metric=f"ndcg_cut_{k}") for k in range(1, panels + 1)])
    with in_style(width):
        figure = draw_change(width, measures)
    figure.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    notes = [text.get_text() for text in figure.texts if "would not fit" in text.get_text()]
    assert len(boxes) + sum(int(note.split()[0]) for note in notes) == panels
    for number, box in enumerate(boxes):
        assert box is not None and box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1
        assert not any(box.overlaps(other) for other in boxes[number + 1 :] if other is not None)


def test_no_flips_are_said_in_words(result: Augmentation) -> None:
    assert result.drawn is not None
    still = replace(result.drawn, pairs=result.drawn.pairs.assign(flips=0.0))
    found = {name: result.table(name) for name in ("what_if", "flips", "tipping")}
    table = show(replace(result, content=found, drawn=still))[-1]
    assert (
        isinstance(table, TableBlock)
        and "0 of 1 pair of runs change places in at least one draw" in table.note
    )


@pytest.mark.parametrize("table", ["ranking", "flips", "leave_one_out"])
def test_every_column_of_every_part_is_declared(result: Augmentation, table: str) -> None:
    with pytest.raises(TypeError, match=f"table {table} has columns"):
        result.changed(**{table: result.tables[table].assign(odd=1)})


def test_nothing_changes_has_no_turns() -> None:
    change = compare(RUNS, OLD, OLD, ("P_2",))
    blocks = show(
        Augmentation(
            Evaluated(EvaluationPolicy(), "runs", 2, 0),
            10,
            as_qrels(OLD),
            content=built(vars(change)),
        )
    )
    assert not any(
        isinstance(block, TableBlock) and block.slug.startswith(("turns", "conflicts"))
        for block in blocks
    )
    assert isinstance(change.turns, pd.DataFrame) and change.turns.empty
