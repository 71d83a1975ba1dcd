"""What nobody judged in the runs of a workspace: what ``robustcs unjudged`` works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, get_args

from robustcs.documents.order import figures_first
from robustcs.errors import UsageError
from robustcs.evaluation.bounds import Scope
from robustcs.evaluation.holes import JudgedRun, grades_by_pair, judged_run, only_relevant, only_turns
from robustcs.evaluation.measures import sampling_notes
from robustcs.evaluation.ranking import Ranking
from robustcs.evaluation.run_pool import CollectedRun, PoolBuilder, collect_run
from robustcs.evaluation.state import Group
from robustcs.inputs.qrels import Qrels
from robustcs.project.hole_imputation import fill, selection_warnings
from robustcs.project.model import Project, judged_runs
from robustcs.project.open_questions import comparable_groups
from robustcs.project.scoring import DEFAULT_MEASURES
from robustcs.project.slices import slicings
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.statistics.units import units_of
from robustcs.studies.signature import MOST, Opt, Slices
from robustcs.studies.study import BY, MOST_COMPARED, SEED, SYSTEMS, UNIT, Answer, Question, command
from robustcs.studies.unjudged.analysis import ONLY_RELEVANT, Gaps, Settings, Unjudged, ranks_of_pairs, unjudged
from robustcs.studies.unjudged.findings import unjudged_findings, verdicts
from robustcs.studies.unjudged.show import show

#: Depth of the judged shares, as in Table 13 of the ECAsT paper.
DEFAULT_DEPTH = 3
#: Pairs of runs up to which tipping points are sought without being asked for, about a second each.
TIPPED_PAIRS = 21


def ask(
    workspace: Workspace,
    *,
    top: Annotated[int, Opt("K", low=1, high=MOST)] | None = None,
    scope: Literal["cutoff", "run", "pool"] = "cutoff",
    max_grade: Annotated[int, Opt("N", low=0, high=1000)] | None = None,
    expected: bool = False,
    pairs: bool | None = None,
    tipping: bool | None = None,
    slices: Slices = None,
) -> Unjudged:
    """How much of the top K did nobody judge, and how far could scores move if somebody did?

    Here --top K is the depth of the judged shares (default 3); measures go as deep as their own cut-off. Every measure gets
    the lowest and the highest value that any grades of the unjudged passages of the --scope could give. All runs of the project
    count: those of the formulations and every --run; more than 50 are compared with each other only with --table pairs.
    An --output that ends in .png, .svg or .pdf gets the figure.

    top
        Depth of the judged shares (default 3).

    scope
        Which unjudged passages could get a grade: those inside the measure's cut-off, all of the run, or all of any run
        here, which enter ideal rankings too.

    max_grade
        Highest grade that an unjudged passage could get (default: the highest in the qrels).

    expected
        Fill in the unjudged passages of every top 10 by the hole model: expected differences, with one interval for
        sampling and unjudged passages, and how far the model may be off.

    slices
        Split the turns by first, depth, conversation, pronoun, ellipsis, length, shift, name, all that texts say (texts),
        or the columns of a TSV with a header and a column of turn ids; repeat for several.

    Raises :class:`UsageError` without runs or qrels, for a depth below that of the policy, where no turn is answered, or where
    the judgments cannot teach the model that draws grades.

    Examples:
      robustcs unjudged
      robustcs unjudged --top 10 --metric ndcg_cut_10 --metric map --scope pool
      robustcs unjudged --expected --table drops
      robustcs unjudged --table tipping
      robustcs unjudged --new-judgments new.txt --output unjudged.pdf
      robustcs unjudged --qrels docs.txt --run ance=passages.trec --documents
    """
    if scope not in get_args(Scope):
        raise UsageError("bad-scope", f"scope {scope!r}", "write cutoff, run or pool")
    project, limit = workspace.project, workspace.project.policy.depth
    if top and limit and top > limit:
        raise UsageError(
            "deeper-than-policy", f"--top {top}, but the project evaluates only the top {limit}",
            f"give at most --top {limit}, or leave depth out of the project's policy",
        )  # fmt: skip
    depth = top or min(DEFAULT_DEPTH, limit or DEFAULT_DEPTH)
    expected = expected or bool(tipping)
    measures, notes = workspace.ranking_measures(DEFAULT_MEASURES)
    workspace.require_runs()
    groups, left_out = _groups(project)
    qrels, policy = workspace.qrels, project.policy
    notes += [*left_out, *sampling_notes(measures, qrels.grades)]

    ranks = ranks_of_pairs(measures, scope)
    builder = PoolBuilder(qrels.turns, qrels) if expected else None
    files = workspace.system_files(list(project.systems))

    def keep(found: tuple[JudgedRun, CollectedRun | None]) -> JudgedRun:
        if builder is not None and found[1] is not None:
            builder.add(found[1])
        return found[0]

    read = workspace.per_run(files, _Read(qrels, depth, ranks, builder.turns if builder else None), keep=keep)
    later = grades_by_pair(*workspace.new_judgments) if project.new_judgments else None
    runs, evaluated = _evaluated(workspace, files, read, notes)
    turns, more = runs[0].matrix.turns, list[str]()
    filled = None
    if builder is not None:
        filled = fill(workspace, builder, measures, turns)
        filled = replace(filled, warnings=(*selection_warnings(project), *filled.warnings))
        evaluated = replace(evaluated, unit=filled.units.kind, units=filled.units.count)
        more += filled.warnings
    if pairs is None and not tipping and len(runs) > MOST_COMPARED:
        more.append(f"pairs of {len(runs)} runs left out, since they are more than {MOST_COMPARED}: --table pairs has them")
    pairs = bool(tipping) or len(runs) <= MOST_COMPARED if pairs is None else pairs
    tipped = pairs and expected and (len(runs) * (len(runs) - 1) // 2 <= TIPPED_PAIRS if tipping is None else tipping)
    positives = only_relevant(qrels, policy.relevance_level)
    more += [ONLY_RELEVANT] if positives else []
    cut, told = slicings(workspace, turns, slices) if slices else ((), ())
    units = units_of(turns, policy.unit) if cut else None
    evaluated = replace(evaluated, notes=(*evaluated.notes, *more, *told))
    if units is not None:
        evaluated = units.stated(evaluated)
    highest = max(int(qrels.grades.max()), 0) if max_grade is None else max_grade
    settings = Settings(depth, scope, highest, groups, _compared(project), pairs, tipped, project.qrels_selection, positives)
    new = {file.name: grades_by_pair(file) for file in workspace.new_judgments}
    judges = {name: grades_by_pair(labels.qrels) for name, labels in workspace.judges.items()} if project.judges else {}
    gaps = Gaps(runs, qrels, measures, policy, settings, later, filled, cut, units, project.seed, new, judges)
    return unjudged(gaps, evaluated)


@dataclass(frozen=True)
class _Read:
    """What is read of a run; ``turns``: those of the pool, if any."""

    qrels: Qrels
    depth: int
    ranks: int | None
    turns: Sequence[str] | None

    def __call__(self, ranking: Ranking) -> tuple[JudgedRun, CollectedRun | None]:
        run = judged_run(ranking, self.qrels, self.depth, self.ranks)
        return run, None if self.turns is None else collect_run(self.turns, ranking)


def _compared(project: Project) -> dict[str, Group]:
    """What drops are asked about: Human to every other formulation, by its name, and the project's groups."""
    human = next((part.name for part in project.formulations.values() if part.role == "human"), "")
    asked = {part.name: Group(human, (part.name,)) for part in project.formulations.values() if part.role != "human"}
    asked |= comparable_groups(project)
    systems = project.systems.keys()
    return {name: group for name, group in asked.items() if {group.baseline, *group.sets} <= systems}


def _groups(project: Project) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Group → its runs without the baseline; all groups together where there are several; without groups all runs."""
    systems = project.systems
    groups = {name: group.sets for name, group in project.groups.items() if set(group.sets) <= systems.keys()}
    notes = [f"group {name} left out: not all of its runs are given" for name in project.groups if name not in groups]
    if not groups:
        return {"all runs": tuple(systems)}, notes
    if len(groups) > 1:
        groups["all groups"] = tuple(dict.fromkeys(name for sets in groups.values() for name in sets))
    return groups, notes


def _evaluated(
    workspace: Workspace, files: Sequence[tuple[str, Path]], runs: Sequence[JudgedRun], notes: Sequence[str]
) -> tuple[Sequence[JudgedRun], Evaluated]:
    """The runs on the turns that count by the policy, and what a reader should know about them."""
    told = [*notes, *workspace.qrels.notes, *(note for run in runs for note in run.matrix.notes)]
    turns = workspace.count_turns([name for name, _ in files], files, [run.matrix for run in runs], holes=True)
    if not turns.counted.all():
        runs = [only_turns(run, turns.counted) for run in runs]
    notes = tuple(dict.fromkeys([*told, *turns.notes]))
    policy = workspace.project.policy
    return runs, Evaluated(policy, "runs", int(turns.counted.sum()), int(turns.lacking.sum()), notes)


COMMAND = command(ask, (*SYSTEMS, "new_judgments", "judges", "metric", "relevance_level", "missing", "order",
    "documents", "jobs", "dask", *BY, *UNIT, *SEED), on_request=("pairs", "tipping"),
)  # fmt: skip


_READING = (
    "How to read it: nobody judged every passage, and an unjudged one counts as not relevant. The dot is the score as it is"
    " computed; the line around it goes from the lowest to the highest score that any grades of the unjudged passages of all"
    " these runs would give, however improbable: bounds, not an interval. These lines do not show whether two systems"
    " differ, because a passage that both found has one grade in both: the table of pairs tries all grades for both at once."
)


def _part(project: Project) -> Project:
    return judged_runs(project, ("groups", "run_groups", "seed"))


def _answer(workspace: Workspace) -> Answer:
    try:
        result = ask(workspace, scope="pool", expected=True, tipping=False)
    except UsageError as error:
        if error.slug != "one-grade":
            raise
        result = ask(workspace, scope="pool")
        told = (*result.evaluated.notes, f"No expected values: {error.found}.")
        result = result.changed(evaluated=replace(result.evaluated, notes=told))
    roles = {part.name: part.role for part in workspace.project.formulations.values()}
    groups = comparable_groups(workspace.project)
    return Answer(
        unjudged_findings(result, roles, groups), _READING, figures_first(show(result)), result.evaluated,
        {"unjudged": result}, verdicts=verdicts(result, roles, groups),
    )  # fmt: skip


QUESTIONS = (
    Question(
        "unjudged", "How much of the drop is due to unjudged passages?",
        ("drops", "tipping", "rates", "bounds", "pairs", "grades"), _part,
        given=lambda project: bool(project.systems), answer=_answer,
    ),
)  # fmt: skip
