"""Find the unjudged passages of a workspace, and decide when to stop judging: which orders are settled, and how many judgments
the others probably need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from robustcs.errors import UsageError
from robustcs.evaluation import hole_order
from robustcs.evaluation.hole_check import check_hole_model, model_warnings
from robustcs.evaluation.hole_model import HoleModel, fit_hole_model
from robustcs.evaluation.holes import JudgedRun, judged_run
from robustcs.evaluation.matrix import UNJUDGED
from robustcs.evaluation.measure import Measure, parse_measure
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.run_pool import CollectedRun, Grades, PoolBuilder, RunPool, collect_run
from robustcs.evaluation.turns import Turns
from robustcs.inputs.qrels import Qrels
from robustcs.project.hole_imputation import run_sources, selection_warnings
from robustcs.project.model import Project
from robustcs.project.requirements import highest_grade, measures_of_rankings
from robustcs.project.workspace import Workspace
from robustcs.statistics import Floats
from robustcs.studies.judge.analysis import Pair, State, Worklist, judging_worklist, reach, with_grades

#: The measure by which CAsT ranks systems.
_DEFAULT_MEASURE = parse_measure("ndcg_cut_3")
#: The default depth for measures without a cutoff: that of the later judgments of CAsT 2020.
_DEFAULT_TOP = 3


@dataclass(frozen=True, eq=False)
class Holes:
    """The systems of a project and the unjudged passages in their top K.

    grades
        int16[N + 1]: the grades of the pairs of the pool.
    pairs
        Unjudged (turn, document) in the top K of any system → its number in the pool; only turns that count.
    """

    project: Project
    systems: Mapping[str, JudgedRun]
    comparisons: Sequence[tuple[str, str]]
    measures: Sequence[Measure]
    top: int
    max_grade: int
    pool: RunPool
    grades: Grades
    turns: Turns
    pairs: Mapping[Pair, int]
    notes: Sequence[str]

    @property
    def contest(self) -> hole_order.Contest:
        """The compared systems, as numbers of the pool."""
        names = self.pool.names
        compared = tuple((names.index(first), names.index(second)) for first, second in self.comparisons)
        counted = self.turns.counted
        return hole_order.Contest(
            self.pool, compared, tuple(self.measures), self.project.policy, counted, self.top, self.max_grade
        )

    def with_grades(self, judged: Mapping[Pair, int]) -> Grades:
        """Return int16[N + 1], the grades of the pool updated with ``judged``."""
        grades = self.grades.copy()
        for pair, grade in judged.items():
            if pair in self.pairs:
                grades[self.pairs[pair]] = grade
        return grades

    def warnings(self, model: HoleModel) -> tuple[str, ...]:
        """Return the warnings about ``model`` that belong to each order of judging and each state of orders."""
        known = self.pool, self.grades, self.measures
        check = check_hole_model(model, *known, self.project.policy, self.turns.counted)
        sources = run_sources(self.project, self.pool.names)
        return (*selection_warnings(self.project), *model_warnings(model, check, *known, sources))

    def model(self, grades: Grades) -> HoleModel | None:
        """Fit the hole model to ``grades``; None if no passage is unjudged. Raises :class:`UsageError` if fitting fails."""
        learned = run_sources(self.project, self.pool.names).learned
        return fit_hole_model(self.pool, grades, self.top, learned, self.project.seed)


def find_holes(
    workspace: Workspace, top: int | None = None, max_grade: int | None = None, pairs: Sequence[tuple[str, str]] = ()
) -> Holes:
    """Read the compared systems, and find the unjudged passages in the top ``top`` of any of them.

    ``pairs``: the compared systems; default: the comparisons of the project.

    Raises :class:`UsageError` without qrels or runs, and for a measure of answers.
    """
    highest = max_grade or highest_grade(workspace.qrels)
    project = workspace.project
    workspace.require_runs()
    names, comparisons = _comparisons(project, pairs)
    measures_of_rankings(workspace)
    measures = workspace.averaged(project.metrics or (_DEFAULT_MEASURE,))
    top = top or max((measure.cutoff or 0 for measure in measures), default=0) or _DEFAULT_TOP
    qrels = workspace.qrels
    depth = reach(measures, top)
    files = workspace.system_files(names)
    builder = PoolBuilder(qrels.turns, qrels)

    def keep(found: tuple[JudgedRun, CollectedRun]) -> JudgedRun:
        builder.add(found[1])
        return found[0]

    holes = workspace.per_run(files, partial(_read, builder.turns, qrels, depth), keep=keep)
    turns = workspace.count_turns(names, files, [one.matrix for one in holes], holes=True)
    pool = builder.build()
    found = Holes(
        project, dict(zip(names, holes, strict=True)), comparisons, measures, top, highest, pool, pool.grades(qrels), turns,
        {}, list(qrels.notes),
    )  # fmt: skip
    numbers = found.contest.holes(found.grades)
    in_turns = [pool.turns[turn] for turn in pool.pair_turns[numbers]]
    documents = pool.documents.take(pool.pair_documents[numbers]).texts()
    return replace(found, pairs=dict(zip(zip(in_turns, documents, strict=True), numbers.tolist(), strict=True)))


def _read(turns: Sequence[str], qrels: Qrels, depth: int | None, ranking: Ranking) -> tuple[JudgedRun, CollectedRun]:
    return judged_run(ranking, qrels, 0, depth), collect_run(turns, ranking)


def _comparisons(project: Project, asked: Sequence[tuple[str, str]]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the systems and the compared pairs: ``asked``, else each group's baseline with its sets, else all pairs."""
    systems = project.systems
    if not (asked or project.groups):
        return list(systems), list(combinations(systems, 2))
    pairs = list(asked) or [(group.baseline, name) for group in project.groups.values() for name in group.sets]
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
        self.drawn = hole_order.drawn_grades(model, self.holes.with_grades({})) if model is not None and trusted else None

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
        return model, hole_order.hole_effects(model, contest.pool, grades, contest.measures, contest.policy, contest.counted)

    def of(self, judged: Mapping[Pair, int], queue: Sequence[Pair]) -> State:
        """Return the state of the orders with the grades ``judged``; ``queue`` is the order of judging."""
        grades = self.holes.with_grades(judged)
        if not np.isin(self.contest.holes(grades), self.covered).all():
            # an undo removed a grade that the model was fitted to: the model has no draws for this passage
            self.learn(judged)
        drawn = None if self.drawn is None else hole_order.with_known(self.drawn, grades)
        found = hole_order.orders(self.contest, grades, drawn)
        names = self.contest.pool.names
        if self.model is None or self.effects is None or drawn is None:
            total = hole_order.Needed(0, 0, 0) if not len(self.contest.holes(grades)) else None
            return State(names, tuple(found), None, total)
        place = np.full(len(grades), -1)
        place[self.model.pairs] = np.arange(len(self.model.pairs))
        numbers = np.array([self.holes.pairs[pair] for pair in queue], dtype=np.int64)
        numbers = numbers[grades[numbers] == UNJUDGED]
        if not len(numbers) and any(order.state == "open" for order in found):
            return State(names, tuple(found), None, None)
        needed, total = hole_order.judgments_needed(
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
        effects = hole_order.hole_effects(model, holes.pool, holes.grades, holes.measures, project.policy, contest.counted)
        influence = hole_order.expected_influence(model, effects, contest.compared)
        by_number = dict(zip(model.pairs.tolist(), influence.tolist(), strict=True))
        expected = {pair: by_number[number] for pair, number in holes.pairs.items()}
        warnings = holes.warnings(model)
    worklist = judging_worklist(
        holes.systems, holes.comparisons, holes.measures, project.policy, holes.top, holes.max_grade, holes.turns, notes,
        expected, warnings,
    )  # fmt: skip
    worklist = with_grades(worklist, judged)
    outlook = Outlook(holes, judged, None if judged else (model, effects))
    state = outlook.of(judged, worklist.pairs)
    left = int(worklist.worklist["grade"].isna().sum())
    return replace(worklist, orders=state.order_table(), outlook=state.table(left)), outlook
