"""Find the unjudged passages of a workspace, and decide when to stop judging: which orders are settled, and how many judgments
the others probably need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from robustcs.conversations import Conversations
from robustcs.errors import UsageError
from robustcs.evaluation import hole_order
from robustcs.evaluation.hole_check import check_hole_model, hole_warnings
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.run_pool import Grades
from robustcs.evaluation.turns import Turns
from robustcs.project.conversations import conversations_of
from robustcs.project.hole_imputation import (
    counted_turns,
    read_pool,
    run_sources,
    selection_warnings,
)
from robustcs.project.model import Project
from robustcs.project.requirements import highest_grade, measures_of_rankings
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.statistics import Floats
from robustcs.studies.judge.analysis import JudgingState, Pair, Worklist, judging_worklist, pairs_of

#: The measure by which CAsT ranks systems.
_DEFAULT_MEASURE = parse_measure("ndcg_cut_3")
#: The default depth for measures without a cutoff: that of the later judgments of CAsT 2020.
_DEFAULT_TOP = 3


@dataclass(frozen=True, eq=False)
class Holes:
    """The compared systems of a project and the unjudged passages in their top K.

    grades
        int16[N + 1]: the grades of the pairs of the pool.
    pairs
        Unjudged (turn, document) in the top K of any system → its number in the pool; only turns that count.
    """

    project: Project
    contest: hole_order.Contest
    grades: Grades
    turns: Turns
    pairs: Mapping[Pair, int]
    notes: Sequence[str]
    conversations: Conversations

    def with_grades(self, judged: Mapping[Pair, int]) -> Grades:
        """Return int16[N + 1], the grades of the pool updated with ``judged``."""
        grades = self.grades.copy()
        for pair, grade in judged.items():
            if pair in self.pairs:
                grades[self.pairs[pair]] = grade
        return grades

    def warnings(self, model: HoleModel) -> tuple[str, ...]:
        """Return the warnings about ``model`` that belong to each order of judging and each state of orders."""
        contest = self.contest
        known = contest.pool, self.grades, contest.measures
        check = check_hole_model(model, *known, contest.policy, contest.counted)
        sources = run_sources(self.project, contest.pool.names)
        return (*selection_warnings(self.project), *hole_warnings(model, *known, sources, check))

    def model(self, grades: Grades) -> tuple[HoleModel | None, str]:
        """Fit the hole model to ``grades``. Without a model, the second value is the reason; empty if nothing is unjudged."""
        pool = self.contest.pool
        try:
            return fit_hole_model(
                pool,
                grades,
                self.contest.top,
                run_sources(self.project, pool.names).learned,
                self.project.seed,
            ), ""
        except UsageError as error:
            if error.slug != "one-grade":
                raise
            return None, error.found


def find_holes(
    workspace: Workspace,
    top: int | None = None,
    max_grade: int | None = None,
    pairs: Sequence[tuple[str, str]] = (),
) -> Holes:
    """Read the compared systems, and find the unjudged passages in the top ``top`` of any of them.

    ``pairs``: the compared systems; default: the comparisons of the project.

    Raises :class:`UsageError` without qrels or runs, and for a measure of answers.
    """
    qrels, project = workspace.qrels, workspace.project
    workspace.require_runs()
    names, comparisons = _comparisons(project, pairs)
    measures_of_rankings(workspace)
    measures = workspace.averaged(project.metrics or (_DEFAULT_MEASURE,))
    top = top or max((measure.cutoff or 0 for measure in measures), default=0) or _DEFAULT_TOP
    pool = read_pool(workspace, qrels, files=workspace.system_files(names)).build()
    turns = counted_turns(workspace, pool, qrels, holes=True)
    compared = tuple((names.index(first), names.index(second)) for first, second in comparisons)
    contest = hole_order.Contest(
        pool,
        compared,
        tuple(measures),
        project.policy,
        turns.counted,
        top,
        max_grade or highest_grade(qrels),
    )
    grades = pool.grades(qrels)
    numbers = contest.holes(grades)
    in_turns = [pool.turns[turn] for turn in pool.pair_turns[numbers]]
    documents = pool.documents.take(pool.pair_documents[numbers]).texts()
    found = dict(zip(zip(in_turns, documents, strict=True), numbers.tolist(), strict=True))
    return Holes(
        project,
        contest,
        grades,
        turns,
        found,
        (*pool.notes, *qrels.notes),
        conversations_of(workspace, qrels.turns),
    )


def _comparisons(
    project: Project, requested: Sequence[tuple[str, str]]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the systems and the compared pairs: ``requested``, else each group's baseline with its sets, else all pairs."""
    systems = project.systems
    if not (requested or project.groups):
        return list(systems), list(combinations(systems, 2))
    pairs = list(requested) or [
        (group.baseline, name) for group in project.groups.values() for name in group.sets
    ]
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    return names, list(dict.fromkeys(pairs))


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
        self.learn(judged, fitted)

    def learn(self, judged: Mapping[Pair, int], fitted: Fitted | None = None) -> None:
        """Fit the model to the judgments and the grades ``judged``, unless it is given."""
        grades = self.holes.with_grades(judged)
        model, effects = fitted or (self.holes.model(grades)[0], None)
        if model is not None and effects is None:
            effects = hole_order.hole_effects(self.contest, grades, model.pairs, model.levels)
        #: Unjudged passages at the time of the fit.
        self.covered = self.contest.holes(grades)
        trusted = model is not None and len(model.judged) >= ENOUGH
        self.model, self.effects = (model, effects) if trusted else (None, None)
        self.drawn = (
            hole_order.drawn_grades(model, self.holes.with_grades({}))
            if model is not None and trusted
            else None
        )

    def of(self, judged: Mapping[Pair, int], queue: Sequence[Pair]) -> JudgingState:
        """Return the state of the orders with the grades ``judged``; ``queue`` is the order of judging."""
        grades = self.holes.with_grades(judged)
        if not np.isin(self.contest.holes(grades), self.covered).all():
            # an undo removed a grade that the model was fitted to: the model has no draws for this passage
            self.learn(judged)
        drawn = None if self.drawn is None else hole_order.with_known(self.drawn, grades)
        found = hole_order.orders(self.contest, grades, drawn)
        names = self.contest.pool.names
        if self.model is None or self.effects is None or drawn is None:
            total = (
                hole_order.JudgmentsNeeded(0, 0, 0) if not len(self.contest.holes(grades)) else None
            )
            return JudgingState(names, tuple(found), None, total)
        place = np.full(len(grades), -1)
        place[self.model.pairs] = np.arange(len(self.model.pairs))
        numbers = np.array([self.holes.pairs[pair] for pair in queue], dtype=np.int64)
        numbers = numbers[grades[numbers] == UNJUDGED]
        if not len(numbers) and any(order.state == "open" for order in found):
            return JudgingState(names, tuple(found), None, None)
        needed, total = hole_order.judgments_needed(
            self.contest, found, self.model, self.effects, grades, drawn, place[numbers]
        )  # fmt: skip
        return JudgingState(names, tuple(found), tuple(needed), total)


def worklist_of(holes: Holes, judged: Mapping[Pair, int] | None = None) -> tuple[Worklist, Outlook]:
    """Return the unjudged passages in the order of judging, and the outlook with the grades ``judged`` so far."""
    contest, turns, judged = holes.contest, holes.turns, judged or {}
    model, reason = holes.model(holes.grades)
    numbers = np.array(list(holes.pairs.values()), dtype=np.int64)
    pairs, levels = numbers, np.arange(contest.max_grade + 1, dtype=np.int16)
    if model is not None:
        pairs, levels = model.pairs, np.union1d(levels, model.levels)
    effects = hole_order.hole_effects(contest, holes.grades, pairs, levels)
    rows = np.empty(len(holes.grades), dtype=np.int64)
    rows[pairs] = np.arange(len(pairs))
    moved = hole_order.influences(effects, contest.compared)[rows[numbers]]
    influence = moved[:, levels <= contest.max_grade].max(axis=1)
    influence[influence < 1e-12] = 0  # rounding errors of sums that cancel are no influence
    expected, warnings, fitted = None, tuple[str, ...](), None
    notes = (
        [f"passages are ordered by influence, because the hole model cannot be fitted: {reason}"]
        if reason
        else []
    )
    if model is not None:
        known = np.isin(levels, model.levels)
        expected = (moved[:, known] * model.probabilities()[rows[numbers]]).sum(axis=1)
        warnings, fitted = holes.warnings(model), (model, effects[:, known])
    told = dict.fromkeys([*holes.notes, *notes, *turns.notes, *warnings])
    outlook = Outlook(holes, judged, None if judged else fitted)
    frame = judging_worklist(contest, holes.pairs, influence, expected, judged, holes.conversations)
    state = outlook.of(judged, pairs_of(frame))
    evaluated = Evaluated(
        contest.policy, "runs", int(turns.counted.sum()), int(turns.lacking.sum()), tuple(told),
        conversations=holes.conversations,
    )  # fmt: skip
    left = int(frame["grade"].isna().sum())
    return Worklist(
        evaluated, warnings, content=Worklist.built(worklist=frame, **state.tables(left))
    ), outlook
