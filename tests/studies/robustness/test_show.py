"""Robustness as blocks: the layout of Table 11, and names of any length on 80 columns."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from robustcs.documents.document import TableBlock
from robustcs.documents.latex import render_latex
from robustcs.documents.terminal import render_terminal
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measures import TurnScores
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.robustness.analysis import Robustness, robustness
from robustcs.studies.robustness.show import show


def result(names: tuple[str, ...], turns: int = 30) -> Robustness:
    values = np.random.default_rng(0).random((len(names), turns))
    index = pd.Index([f"{i // 5}_{1 + i % 5}" for i in range(turns)], name="turn")
    frames = {
        name: TurnScores(index, {"ndcg_cut_3": row, "map": row / 2})
        for name, row in zip(names, values, strict=True)
    }
    evaluated = Evaluated(EvaluationPolicy(), "runs", turns, 0)
    texts = {
        turn: f"What about {turn} and everything else that one may ask about it?" for turn in index
    }
    return robustness({"manual": Group(names[0], names[1:])}, frames, evaluated, texts=texts)


def test_table_11() -> None:
    found = result(("CAsT", "m1", "m2"))
    table = show(found)[0]
    assert isinstance(table, TableBlock)
    assert [column.title for column in table.columns] == ["", "m1", "m2", "mean", "CAsT"]
    rows = {row[0].strip(): row[1:] for row in table.rows[:3]}
    drops = found.measures["drop"].to_numpy()[:2]
    assert list(rows) == ["NDCG@3", "drop", "in %"]
    assert [float(cell.replace("−", "-")) for cell in rows["drop"][:3]] == pytest.approx(
        [*drops, drops.mean()], abs=6e-5
    )
    assert float(rows["NDCG@3"][3]) == pytest.approx(found.measures["baseline"][0], abs=6e-5)


@pytest.mark.parametrize(
    "names",
    [
        ("a", "b"),
        ("a", "b", "c"),
        tuple(f"a_system_whose_name_is_long_{i}" for i in range(9)),
        ("[b]x[/b]", "\x1b[2J", "$_{"),
    ],
)
def test_any_names_fit(names: tuple[str, ...]) -> None:
    found = result(names)
    blocks = show(found)
    console = Console(file=io.StringIO(), width=80)
    render_terminal(blocks, found.evaluated.policy_line, found.evaluated.notes, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= 80 and "\x1b" not in text
    slugs = [block.slug for block in blocks if isinstance(block, TableBlock)]
    assert len(set(slugs)) == len(slugs)
    assert {block.of for block in blocks if isinstance(block, TableBlock)} <= found.tables.keys()
    assert render_latex(blocks, "", ()).count(r"\toprule") >= len(slugs)


def test_one_turn_has_no_tests() -> None:
    tables = {
        block.slug: block
        for block in show(result(("a", "b"), turns=1))
        if isinstance(block, TableBlock)
    }
    assert tables["measures-tests-map"].rows[0][4:] == ("–",)
    assert (
        tables["slices-first"].rows[0][-2:] == ("–", "–")
        and "(" not in tables["slices-first"].rows[0][-3]
    )
    assert "variance" not in tables


def test_a_turn_without_a_text_has_an_empty_cell() -> None:
    found = result(("a", "b"), turns=2)
    texts = [None, *found.turns["text"][1:]]
    blocks = show(found.changed(turns=found.turns.assign(text=pd.Series(texts, dtype=object))))
    [turns] = [block for block in blocks if isinstance(block, TableBlock) and block.of == "turns"]
    assert {row[0]: row[1][:16] for row in turns.rows} == {"0_1": "", "0_2": "What about 0_2 a"}
