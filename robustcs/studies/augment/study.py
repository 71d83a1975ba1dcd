"""The command ``robustcs augment``: effects of new judgments on the runs of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from robustcs.documents.files import write_text
from robustcs.errors import MAX_PROBLEMS, InputError, Problem, UsageError
from robustcs.evaluation.judgments import Conflict, Merge, OffScale, merge_qrels, qrels_text
from robustcs.evaluation.measure import Measure, grade_notes
from robustcs.evaluation.run_pool import RunPool
from robustcs.inputs.paths import IRDS_PREFIX
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.text import text_lines
from robustcs.lazy import pd
from robustcs.overwrite_guard import refuse_protected
from robustcs.project import hole_imputation
from robustcs.project.conversations import conversations_of
from robustcs.project.model import Project
from robustcs.project.requirements import judged_runs, new_judgments
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.statistics import Mask
from robustcs.statistics.units import units_of
from robustcs.studies.augment.analysis import (
    DEFAULT_MEASURES,
    Augmentation,
    augment,
    built,
    guessed_groups,
    without_folders,
)
from robustcs.studies.augment.analysis import leave_one_out as leave_out
from robustcs.studies.augment.findings import augment_findings, verdicts
from robustcs.studies.augment.judged import Estimated, estimate
from robustcs.studies.augment.show import show
from robustcs.studies.augment.whatif import what_if as draw
from robustcs.studies.signature import MOST, File, Opt
from robustcs.studies.study import SCORING, SEED, SYSTEMS, UNIT, Answer, Call, Command, Question
from robustcs.wording import counted as in_words


@dataclass(frozen=True)
class Pooled:
    """All runs of a project over the turns of its qrels. ``counted`` (bool[T]): the turns over which means are taken."""

    pool: RunPool
    merge: Merge
    measures: list[Measure]
    evaluated: Evaluated
    counted: Mask


def pool_runs(
    workspace: Workspace, rule: Literal["keep", "replace", "max", "fail"] = "keep"
) -> Pooled:
    """Read all runs and the new judgments of the project, and merge the judgments one file after the other.

    Raises :class:`InputError` for conflicting grades if ``rule`` is ``fail`` and for runs that do not belong to the judgments,
    and :class:`UsageError` if no turn remains.
    """
    old, policy = workspace.qrels, workspace.project.policy
    measures, notes = workspace.ranking_measures(DEFAULT_MEASURES)
    merge = merge_qrels(old, workspace.new_judgments, "keep" if rule == "fail" else rule)
    if rule == "fail" and merge.conflicts:
        raise _conflict_error(merge.conflicts)
    pool = hole_imputation.read_pool(workspace, merge.qrels, old.turns).build()
    turns = hole_imputation.counted_turns(workspace, pool, merge.qrels)
    notes += [
        *grade_notes(measures, merge.qrels.grades, policy.relevance_level),
        *merge.qrels.notes,
        *pool.notes,
    ]
    if added := sum(file.added_turns for file in merge.joined):
        notes.append(
            f"the new judgments include {in_words(added, 'turn')} without earlier judgments; these are added to the merged"
            " qrels but not to the scores, which cover the same turns before and after"
        )
    notes = list(dict.fromkeys([*notes, *turns.notes]))
    evaluated = Evaluated(
        policy, "runs", int(turns.counted.sum()), int(turns.lacking.sum()), tuple(notes),
        conversations=conversations_of(workspace, old.turns),
    )  # fmt: skip
    return Pooled(pool, merge, measures, evaluated, turns.counted)


def ask(
    workspace: Workspace,
    *,
    conflicts: Literal["keep", "replace", "max", "fail"] = "keep",
    what_if: Annotated[int, Opt("N", low=1, high=100000)] | None = None,
    leave_one_out: bool = False,
    pool_depth: Annotated[int, Opt("K", low=1, high=MOST)] = 10,
    within: Annotated[float, Opt("X")] | None = None,
    off_scale: Literal["refuse", "drop", "clip"] = "refuse",
) -> Augmentation:
    """How do scores and the ranking of systems change when more passages are judged?

    The command compares scores before and after new judgments, over the turns that the old judgments cover. --what-if and
    --leave-one-out use the merged judgments and work without new ones. --judge uses the scores that a model judge gives to all
    conversations, corrected by human judgments of some of them.

    The command scores all runs of the project: those of the formulations and every --run. With --output, the suffixes .png,
    .svg and .pdf write the figure.

    conflicts
        Grade of a passage that was judged twice with different grades: keep the earlier file's (then scores change only through
        previously unjudged passages), replace it by the later file's, take the higher one (max), or stop with an error
        (fail).

    what_if
        Draw grades for unjudged passages N times with the hole model, and show the distribution of each score.

    leave_one_out
        Score each run without the judgments that it alone contributed, then each group of runs in [run_groups]
        likewise.

    pool_depth
        Depth of the pool for --what-if and --leave-one-out, and of table sources: the top K of every run.

    within
        With --judge: compute the number of conversations that annotators must judge for a 95% CI of ±X.

    off_scale
        Treatment of a judge's grades outside the scale of the human judgments: reject the file (refuse), drop or clip them.

    Raises :class:`UsageError` if nothing is requested, or if there are no runs and more than the merged judgments is requested.

    Examples:
      robustcs augment --new-judgments new.txt --write-qrels merged.txt
      robustcs augment --set conflicts=max --metric ndcg_cut_3 --output t.tex
      robustcs augment --what-if 1000
      robustcs augment --leave-one-out --pool-depth 5
      robustcs augment --judge gpt=gpt.txt --within 0.03
    """
    project = workspace.project
    if within is not None and not project.judges:
        raise UsageError("within-alone", "--within requires judges", "add --judge NAME=FILE")
    if within is not None and not 0 < within < float("inf"):
        raise UsageError("bad-within", f"--within {within:g}", "use a width above 0, such as 0.03")
    asked = bool(project.new_judgments or what_if or leave_one_out)
    if not asked:
        new_judgments(workspace)
        return _judged_alone(workspace, pool_depth, within, off_scale)
    pooled = pool_runs(workspace, conflicts)
    pool, merge, counted, evaluated = pooled.pool, pooled.merge, pooled.counted, pooled.evaluated
    after, policy, seed = pool.grades(merge.qrels), project.policy, project.seed
    common = pool_depth, pooled.measures, policy, counted
    found, drawn, unit = dict[str, pd.DataFrame](), None, ""
    if project.new_judgments:
        units = units_of([pool.turns[turn] for turn in np.flatnonzero(counted)], evaluated.grouping)
        files = [
            (qrels.name, "new judgments", pool.grades(qrels)) for qrels in workspace.new_judgments
        ]
        judges = workspace.judges if project.judges else {}
        sources = [(workspace.qrels.name, "qrels", pool.grades(workspace.qrels)), *files]
        sources += [(name, "judge", pool.grades(labels.qrels)) for name, labels in judges.items()]
        found = augment(
            pool, sources, after, merge, pooled.measures, policy, counted, units, seed, pool_depth
        )
        evaluated = _with(
            evaluated, [units.note] if units.note else [], unit=units.kind, units=units.count
        )
    if what_if:
        run_sources = hole_imputation.run_sources(project, pool.names)
        drawn = draw(
            pool, after, pool_depth, what_if, pooled.measures, policy, counted, seed, run_sources
        )
        found |= {"what_if": drawn.scores, "flips": drawn.pairs, "tipping": drawn.tipping}
        evaluated = _with(
            evaluated, [*hole_imputation.selection_warnings(project), *drawn.warnings]
        )
    if leave_one_out:
        found["leave_one_out"] = leave_out(pool, after, *common)
        named = hole_imputation.run_groups(project)
        groups = (
            hole_imputation.group_numbers(named, pool.names)
            if named
            else guessed_groups(pool, after, pool_depth)
        )
        if named or len(set(groups)) < len(groups):
            found["leave_group_out"] = leave_out(
                pool, after, *common, groups, dict(enumerate(named)) or None
            )
    if project.judges:
        estimated, notes = _estimated(workspace, merge.qrels, pooled.measures, within, off_scale)
        found, unit = (found | estimated.tables, estimated.unit) if estimated else (found, unit)
        evaluated = _with(evaluated, notes)
    return Augmentation(evaluated, pool_depth, merge.qrels, drawn, unit, content=built(found))


def _with(evaluated: Evaluated, notes: Sequence[str], **more: Any) -> Evaluated:
    return replace(evaluated, notes=(*evaluated.notes, *notes), **more)


def _judged_alone(
    workspace: Workspace, depth: int, within: float | None, off_scale: OffScale
) -> Augmentation:
    """Return only estimates with the judges."""
    workspace.require_runs()
    project = workspace.project
    measures, notes = workspace.ranking_measures(DEFAULT_MEASURES)
    # a plan is possible before there are human judgments
    people = None if within is not None and project.qrels is None else workspace.qrels
    judged = hole_imputation.judged_pool(workspace, people, off_scale)
    evaluated = Evaluated(
        project.policy,
        "runs",
        0,
        int(judged.turns.lacking.sum()),
        conversations=conversations_of(workspace, judged.pool.turns),
    )
    found = estimate(judged, measures, evaluated, within, project.seed)
    notes += [*(people.notes if people else ()), *judged.notes(off_scale)]
    notes += [*judged.pool.notes, *judged.turns.notes, *found.notes]
    evaluated = replace(
        evaluated,
        turns=found.turns,
        notes=tuple(dict.fromkeys(notes)),
        unit=found.unit,
        units=found.units,
    )
    return Augmentation(
        evaluated, depth, people, judged_unit=found.unit, content=built(found.tables)
    )


def _estimated(
    workspace: Workspace,
    human: Qrels,
    measures: Sequence[Measure],
    within: float | None,
    off_scale: OffScale,
) -> tuple[Estimated | None, list[str]]:
    """Return the estimates with the judges in addition to the judgments ``human``, and notes.

    None if no judge covers further conversations. If an estimate is impossible, a note says why; if a plan is requested,
    :class:`UsageError` is raised instead.
    """
    conversations = conversations_of(workspace, human.turns)
    known = set(map(conversations.unit, human.turns))
    further = [
        not known.issuperset(map(conversations.unit, one.qrels.turns))
        for one in workspace.judges.values()
    ]
    if not (within or any(further)):
        return None, []
    judged = hole_imputation.judged_pool(workspace, human, off_scale)
    try:
        evaluated = Evaluated(workspace.project.policy, "runs", 0, 0, conversations=conversations)
        found = estimate(judged, measures, evaluated, within, workspace.project.seed)
    except UsageError as error:
        if within:
            raise
        return None, [f"no estimates with judges: {error}"]
    return found, [*judged.notes(off_scale), *found.notes]


def _conflict_error(conflicts: Sequence[Conflict]) -> InputError:
    """Return the error that lists every conflicting grade with its line in the new file."""
    problems = [
        Problem(
            conflict.new_file, _line_of(conflict),
            f"turn {conflict.turn} document {conflict.document} has grade {conflict.new} but grade {conflict.old} in"
            f" {conflict.old_file}",
            "correct one of the files, or use --set conflicts=keep, replace or max", "contradicting-grades",
        )
        for conflict in conflicts[:MAX_PROBLEMS]
    ]  # fmt: skip
    return InputError(problems, len(conflicts))


def _line_of(conflict: Conflict) -> int | None:
    if conflict.new_file.startswith(IRDS_PREFIX):
        return None
    for number, line in text_lines(conflict.new_file):
        fields = line.split()
        if fields[:1] == [conflict.turn] and fields[2:3] == [conflict.document]:
            return number
    return None


def _run(call: Call, write_qrels: File | None, **asked: Any) -> None:
    """Run it for the command line.

    write_qrels
        Write the merged judgments to FILE.
    """
    workspace = call.answered()
    if write_qrels is not None:
        refuse_protected(write_qrels)
        if not workspace.project.new_judgments:
            raise UsageError(
                "no-new-judgments",
                "--write-qrels requires new judgments",
                "add --new-judgments FILE",
            )
    else:
        workspace.require_runs()
    result = ask(workspace, **asked)
    if write_qrels is not None and result.merged is not None:
        write_text(write_qrels, qrels_text(result.merged))
        call.tell(f"wrote {write_qrels}")
    call.emit(workspace, result)


COMMAND = Command(
    ask, (*SYSTEMS, "new_judgments", "judges", "collection", *SCORING, *UNIT, *SEED), run=_run
)


_READING = (
    "How to read it: a score rises if new passages of the run are relevant, and falls if relevant passages of other runs"
    " improve the ideal ranking. Check whether the order of the runs changes, not only their scores."
)


def _inputs(project: Project) -> Project:
    return judged_runs(project, ("seed",))


def _answer(workspace: Workspace) -> Answer:
    result = without_folders(ask(workspace))
    return Answer(
        result, show(result), augment_findings(result), _READING, verdicts=verdicts(result)
    )


QUESTIONS = (
    Question("augment", "What do new judgments change?", ("measures", "ranking", "conflicts"), _inputs, _answer),
)  # fmt: skip
