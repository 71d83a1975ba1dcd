"""Field of turns: which component of a grid of wordings and rankers loses the answer."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np

from robustcs.evaluation.grid import CAUSES, Grid, causes_of, parse_cell
from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.table import Contribution, TurnField, Values, aligned_words

BLAME = TurnField(
    "blame",
    "words",
    "which change of a cell of the grid would answer the turn: correct, wording, ranker, either,"
    " both or none",
    "components",
    per_system=True,
    by_cut=True,
)
#: Fewest cells that can be compared.
_LEAST_CELLS = 2


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return the cause in the grid, if the project has one that is scored."""
    if cut is None or len(inputs.project.components) < _LEAST_CELLS:
        return []
    return [Contribution(BLAME, partial(_blame, inputs, cut))]


def _blame(inputs: TurnInputs, cut: TurnCut) -> Values:
    """Return cell → cause of every scored turn; a run with a name of its own also has it there."""
    names: dict[Path, list[str]] = {}
    for name, path in inputs.runs.items():
        names.setdefault(path, []).append(name)
    cells = {parse_cell(name): path for name, path in inputs.project.components.items()}
    scored, _ = inputs.ranked
    scores = {}
    for cell, path in cells.items():
        own = scored[names[path][0]] if path in names else {}
        if cut.measure in own:
            scores[cell] = own[cut.measure]
    if len(scores) < len(cells):
        return {}
    grid = Grid(tuple(cells))
    cube = np.nan_to_num(grid.cube(scores), nan=-math.inf)
    codes = causes_of(cut.threshold.holds(cube))
    found = {}
    for cell, (row, column) in grid.places.items():
        own_codes = codes[:, row, column].tolist()
        causes = {
            turn: (CAUSES[code],) for turn, code in zip(inputs.ranked_turns, own_codes, strict=True)
        }
        for name in dict.fromkeys(("/".join(cell), *names[cells[cell]])):
            found[name] = aligned_words(inputs.ids, causes)
    return found
