"""Decide when to stop judging: which orders are settled, and how many judgments the others probably need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation.hole_model import HoleModel
from robustcs.evaluation.hole_order import (
    Needed,
    drawn_grades,
    expected_influence,
    hole_effects,
    judgments_needed,
    orders,
    with_known,
)
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.statistics import Floats
from robustcs.studies.judge.analysis import Pair, State, Worklist, judging_worklist, with_grades, with_outlook
from robustcs.studies.judge.holes import Holes

#: Judged passages that a hole model needs before its draws can make an order certain.
ENOUGH = 50
#: A hole model and the effects of its unjudged passages; None without a model.
Fitted = tuple[HoleModel | None, Floats | None]


class Outlook:
    """Which orders are settled as grades come in.

    The hole model is fitted once. It is fitted again by :meth:`learn`, and after an undo of a grade that it was fitted to.
    """

    def __init__(self, holes: Holes, judged: Mapping[Pair, int], fitted: Fitted | None = None):
        self.holes = holes
        self.contest = holes.contest
        self._take(fitted or self._fitted(judged), judged)

    def learn(self, judged: Mapping[Pair, int]) -> None:
        """Fit the model to the judgments and the grades ``judged``."""
        self._take(self._fitted(judged), judged)

    def _take(self, fitted: Fitted, judged: Mapping[Pair, int]) -> None:
        model, effects = fitted
        #: Unjudged passages at the time of the fit.
        self.covered = self.contest.holes(self.holes.with_grades(judged))
        trusted = model is not None and len(model.judged) >= ENOUGH
        self.model, self.effects = (model, effects) if trusted else (None, None)
        self.drawn = drawn_grades(model, self.holes.with_grades({})) if model is not None and trusted else None

    def _fitted(self, judged: Mapping[Pair, int]) -> Fitted:
        contest, grades = self.contest, self.holes.with_grades(judged)
        try:
            model = self.holes.model(grades)
        except UsageError as error:
            if error.slug != "one-grade":
                raise
            return None, None
        if model is None:
            return None, None
        return model, hole_effects(model, contest.pool, grades, contest.measures, contest.policy, contest.counted)

    def of(self, judged: Mapping[Pair, int], queue: Sequence[Pair]) -> State:
        """Return the state of the orders with the grades ``judged``; ``queue`` is the order of judging."""
        grades = self.holes.with_grades(judged)
        if not np.isin(self.contest.holes(grades), self.covered).all():
            # an undo removed a grade that the model was fitted to: the model has no draws for this passage
            self.learn(judged)
        drawn = None if self.drawn is None else with_known(self.drawn, grades)
        found = orders(self.contest, grades, drawn)
        names = self.contest.pool.names
        if self.model is None or self.effects is None or drawn is None:
            total = Needed(0, 0, 0) if not len(self.contest.holes(grades)) else None
            return State(names, tuple(found), None, total)
        place = np.full(len(grades), -1)
        place[self.model.pairs] = np.arange(len(self.model.pairs))
        numbers = np.array([self.holes.pairs[pair] for pair in queue], dtype=np.int64)
        numbers = numbers[grades[numbers] == UNJUDGED]
        if not len(numbers) and any(order.state == "open" for order in found):
            return State(names, tuple(found), None, None)
        needed, total = judgments_needed(
            self.contest, found, self.model, self.effects, grades, drawn, place[numbers]
        )  # fmt: skip
        return State(names, tuple(found), tuple(needed), total)


def worklist_of(holes: Holes, judged: Mapping[Pair, int] | None = None) -> tuple[Worklist, Outlook]:
    """Return the unjudged passages in the order of judging, and the outlook with the grades ``judged`` so far."""
    project, judged = holes.project, judged or {}
    expected, warnings, notes = None, tuple[str, ...](), list(holes.notes)
    model = effects = None
    contest = holes.contest
    try:
        model = holes.model(holes.grades)
    except UsageError as error:
        if error.slug != "one-grade":
            raise
        notes.append(f"passages are ordered by influence, because the hole model cannot be fitted: {error.found}")
    if model is not None:
        effects = hole_effects(model, holes.pool, holes.grades, holes.measures, project.policy, contest.counted)
        influence = expected_influence(model, effects, contest.compared)
        by_number = dict(zip(model.pairs.tolist(), influence.tolist(), strict=True))
        expected = {pair: by_number[number] for pair, number in holes.pairs.items()}
        warnings = holes.warnings(model)
    worklist = judging_worklist(
        holes.systems, holes.comparisons, holes.measures, project.policy, holes.top, holes.max_grade, holes.turns, notes,
        expected, warnings,
    )  # fmt: skip
    worklist = with_grades(worklist, judged)
    outlook = Outlook(holes, judged, None if judged else (model, effects))
    return with_outlook(worklist, outlook.of(judged, worklist.pairs)), outlook
