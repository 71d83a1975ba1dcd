"""What judging still takes, as grades come and are taken back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robustcs.project.reading import find_project
from robustcs.project.workspace import Workspace
from robustcs.studies.judge.outlook import Outlook, find_holes, worklist_of


def test_a_grade_of_an_earlier_sitting_that_is_taken_back(demo: Path) -> None:
    holes = find_holes(
        Workspace(find_project(str(demo / "robustcs.toml"))), pairs=[("manual_1", "manual_2")]
    )
    earlier = dict.fromkeys(list(holes.pairs)[:5], 0)
    worklist, outlook = worklist_of(holes, earlier)
    taken_back = dict(list(earlier.items())[:-1])
    state = outlook.of(taken_back, worklist.pairs)
    assert outlook.model is not None
    assert np.isin(holes.contest.holes(holes.with_grades(taken_back)), outlook.model.pairs).all()
    assert state == Outlook(holes, taken_back).of(taken_back, worklist.pairs)
    # a passage that is judged again is no reason to fit anew
    model = outlook.model
    outlook.of(earlier, worklist.pairs)
    assert outlook.model is model
