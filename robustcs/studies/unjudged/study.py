"""The command ``robustcs unjudged``: unjudged passages in the runs of a workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from robustcs.errors import UsageError
from robustcs.messages import Message, OptionName
from robustcs.studies.signature import MOST, Opt, Slices
from robustcs.studies.study import BY, MOST_COMPARED, SEED, SYSTEMS, UNIT, Command

if TYPE_CHECKING:
    from robustcs.evaluation.groups import Group
    from robustcs.evaluation.holes import JudgedRun
    from robustcs.evaluation.run_pool import CollectedRun
    from robustcs.project.workspace import Workspace
    from robustcs.studies.unjudged.analysis import Unjudged


#: Depth of the judged shares, as in Table 13 of the ECAsT paper.
DEFAULT_DEPTH = 3

#: Largest number of pairs of runs whose tipping points are computed by default. Each pair takes about a second.
TIPPED_PAIRS = 21


def ask(
    workspace: Workspace,
    *,
    top: Annotated[int, Opt("K", low=1, high=MOST)] | None = None,
    scope: Literal["cutoff", "run", "pool"] = "cutoff",
    max_grade: Annotated[int, Opt("N", low=0, high=1000, rare=True)] | None = None,
    expected: bool = False,
    pairs: bool | None = None,
    tipping: bool | None = None,
    slices: Slices = None,
) -> Unjudged:
    """How many top passages are unjudged, and how much could scores change?

    --top K sets the depth of the unjudged shares. Measures use their own cutoffs. For every measure, the command computes the
    lowest and highest score that any grades of the unjudged passages in --scope could give.

    The command analyzes all runs of the project: those of the formulations and every --run. For more than 50 runs, pairs are
    compared only with --table pairs. With --output, the suffixes .png, .svg and .pdf write the figure.

    top
        Depth of the unjudged shares (default: 3).

    scope
        Unjudged passages that could get a grade: those within the cutoff of the measure, all of the run, or those of all runs,
        which also enter the ideal rankings.

    max_grade
        Highest grade that an unjudged passage could get (default: the highest grade in the qrels).

    expected
        Estimate differences with the unjudged passages in the top 10 of all runs filled in by the hole model. Their
        intervals cover sampling and unjudged passages. Tipping points state how wrong the model may be.

    slices
        Split the turns by first, depth, conversation, pronoun, ellipsis, length, shift or name; by texts (all properties of
        the texts); or by the columns of a TSV file with a header and a column of turn ids. Repeatable.

    Raises :class:`UsageError` if there are no runs or no qrels, if ``top`` exceeds the depth of the policy, if no turn is
    answered, or if the judgments do not suffice to fit the hole model.

    Examples:
      robustcs unjudged
      robustcs unjudged --top 10 --metric ndcg_cut_10 --metric map --scope pool
      robustcs unjudged --expected --table drops
      robustcs unjudged --table tipping
      robustcs unjudged --new-judgments new.txt --output unjudged.pdf
      robustcs unjudged --qrels docs.txt --run ance=passages.trec --documents
    """
    from robustcs.evaluation.holes import grades_by_pair, only_relevant, only_turns
    from robustcs.evaluation.measure import grade_notes
    from robustcs.evaluation.run_pool import PoolBuilder
    from robustcs.project.conversations import conversations_of
    from robustcs.project.hole_imputation import fill, selection_warnings
    from robustcs.project.scoring import DEFAULT_MEASURES
    from robustcs.project.slices import slicings
    from robustcs.result import Evaluated
    from robustcs.statistics.units import units_of
    from robustcs.studies.unjudged.analysis import (
        ONLY_RELEVANT,
        Gaps,
        Settings,
        ranks_of_pairs,
        unjudged,
    )
    from robustcs.studies.unjudged.steps import (
        compared_groups,
        groups_of_every_turn,
        groups_of_runs,
        read_judged,
        short_lists,
    )

    project, limit = workspace.project, workspace.project.policy.depth
    if top and limit and top > limit:
        found = Message(
            OptionName("top"), f" {top} is deeper than the top {limit} that the project evaluates"
        )
        raise UsageError(
            "deeper-than-policy",
            found,
            Message(
                "use at most ", OptionName("top", str(limit)), ", or remove depth from [policy]"
            ),
        )
    depth = top or min(DEFAULT_DEPTH, limit or DEFAULT_DEPTH)
    expected = expected or bool(tipping)
    measures, notes = workspace.ranking_measures(DEFAULT_MEASURES)
    workspace.require_runs()
    groups, left_out = groups_of_runs(project)
    compared: Callable[[], Mapping[str, Group]] = partial(compared_groups, project)
    qrels, policy = workspace.qrels, project.policy
    notes += [*left_out, *grade_notes(measures, qrels.grades, policy.relevance_level)]

    ranks = ranks_of_pairs(measures, scope)
    builder = PoolBuilder(qrels.turns, qrels) if expected else None
    files = workspace.system_files(list(project.systems))

    def keep(found: tuple[JudgedRun, CollectedRun | None]) -> JudgedRun:
        if builder is not None and found[1] is not None:
            builder.add(found[1])
        return found[0]

    reading = partial(
        read_judged, qrels=qrels, depth=depth, ranks=ranks, turns=builder.turns if builder else None
    )
    read = workspace.per_run(files, reading, keep=keep)
    later = grades_by_pair(*workspace.new_judgments) if project.new_judgments else None
    names, matrices = [name for name, _ in files], [run.matrix for run in read]
    counted = workspace.count_turns(names, files, matrices, holes=True)
    if expected and project.groups:
        asked_turns = workspace.count_turns(names, files, matrices, True, workspace.asked).asked
        complete, partly = groups_of_every_turn(compared(), asked_turns)
        compared, notes = lambda: complete, [*notes, *partly]
    runs = read if counted.counted.all() else [only_turns(run, counted.counted) for run in read]
    conversations = conversations_of(workspace, qrels.turns) if slices else None
    evaluated = Evaluated(
        policy,
        "runs",
        int(counted.counted.sum()),
        int(counted.lacking.sum()),
        conversations=conversations,
    )
    notes = list(
        dict.fromkeys(
            [
                *notes,
                *qrels.notes,
                *(note for run in read for note in run.matrix.notes),
                *counted.notes,
            ]
        )
    )
    turns, filled = runs[0].matrix.turns, None
    if builder is not None:
        filled = fill(workspace, builder, measures, turns)
        filled = replace(filled, warnings=(*selection_warnings(project), *filled.warnings))
        evaluated = replace(evaluated, unit=filled.units.kind, units=filled.units.count)
        notes += filled.warnings
    if pairs is None and not tipping and len(runs) > MOST_COMPARED:
        notes.append(
            f"the pairs of {len(runs)} runs are not compared (more than {MOST_COMPARED} runs); use --table pairs"
        )
    pairs = bool(tipping) or len(runs) <= MOST_COMPARED if pairs is None else pairs
    tipped = (
        pairs
        and expected
        and (len(runs) * (len(runs) - 1) // 2 <= TIPPED_PAIRS if tipping is None else tipping)
    )
    positives = only_relevant(qrels, policy.relevance_level)
    notes += [*([ONLY_RELEVANT] if positives else []), *short_lists(runs, depth)]
    cut, told = slicings(workspace, turns, slices, evaluated) if slices else ((), ())
    units = units_of(turns, evaluated.grouping) if cut else None
    evaluated = replace(evaluated, notes=(*notes, *told))
    if units is not None:
        evaluated = units.stated(evaluated)
    highest = max(int(qrels.grades.max()), 0) if max_grade is None else max_grade
    settings = Settings(
        depth, scope, highest, groups, compared, pairs, tipped, project.qrels_selection, positives
    )
    new = {file.name: grades_by_pair(file) for file in workspace.new_judgments}
    judges = (
        {name: grades_by_pair(labels.qrels) for name, labels in workspace.judges.items()}
        if project.judges
        else {}
    )
    workspace.note_names("formulations", "groups", "judges")
    gaps = Gaps(
        runs,
        qrels,
        measures,
        policy,
        settings,
        later,
        filled,
        cut,
        units,
        project.seed,
        new,
        judges,
    )
    return unjudged(gaps, evaluated)


COMMAND = Command(ask, (*SYSTEMS, "new_judgments", "judges", "metric", "relevance_level", "missing", "order",
    "documents", "jobs", "dask", *BY, *UNIT, *SEED), on_request=("pairs", "tipping"),
)  # fmt: skip
