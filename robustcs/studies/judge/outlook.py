"""When to stop judging: which orders are settled, and how many judgments the others probably take."""

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

#: Judged passages that a model must have learned from, to say that an order is certain.
ENOUGH = 50
#: A hole model with the effects of its holes; None where there is none.
Fitted = tuple[HoleModel | None, Floats | None]


class Outlook:
    """What is settled as grades come in; the hole model is fitted once, unless it is asked to learn anew or a grade is
    taken back that it learned from."""

    def __init__(self, holes: Holes, judged: Mapping[Pair, int], fitted: Fitted | None = None):
        self.holes = holes
        self.contest = holes.contest
        self._take(fitted or self._fitted(judged), judged)

    def learn(self, judged: Mapping[Pair, int]) -> None:
        """Fit the model to the judgments, with those given since."""
        self._take(self._fitted(judged), judged)

    def _take(self, fitted: Fitted, judged: Mapping[Pair, int]) -> None:
        model, effects = fitted
        #: Holes at the time of the fit.
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
        """Where judging stands with the grades ``judged``; ``queue`` is the order of work."""
        grades = self.holes.with_grades(judged)
        if not np.isin(self.contest.holes(grades), self.covered).all():
            # a grade that the model learned from was taken back: it does not know this hole
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
    """The holes in the order of work, and what judging them probably decides, with the grades ``judged`` so far."""
    project, judged = holes.project, judged or {}
    expected, warnings, notes = None, tuple[str, ...](), list(holes.notes)
    model = effects = None
    contest = holes.contest
    try:
        model = holes.model(holes.grades)
    except UsageError as error:
        if error.slug != "one-grade":
            raise
        notes.append(f"ordered by influence, however improbable the grade behind it: {error.found}")
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
