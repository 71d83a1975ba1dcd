"""Steps of ``robustcs augment``: collect the runs, and estimate scores with judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from robustcs.errors import MAX_PROBLEMS, InputError, Problem, UsageError
from robustcs.evaluation.judges import OffScale
from robustcs.evaluation.judgments import Conflict, Merge, merge_qrels
from robustcs.evaluation.measure import Measure, grade_notes
from robustcs.evaluation.run_pool import RunPool
from robustcs.inputs.paths import IRDS_PREFIX
from robustcs.inputs.qrels import Qrels
from robustcs.inputs.text import text_lines
from robustcs.messages import Message, OptionName
from robustcs.project import hole_imputation
from robustcs.project.conversations import conversations_of
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.statistics import Mask
from robustcs.studies.augment.analysis import DEFAULT_MEASURES, Augmentation, built
from robustcs.studies.augment.judged import Estimated, estimate
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


def with_notes(evaluated: Evaluated, notes: Sequence[str], **more: Any) -> Evaluated:
    """Return the policy with further notes; ``more``: other fields to replace."""
    return replace(evaluated, notes=(*evaluated.notes, *notes), **more)


def estimates_alone(
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


def estimates_with_judges(
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
            Message("correct one of the files, or use ", OptionName("conflicts"), " keep, replace or max"), "contradicting-grades",
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
