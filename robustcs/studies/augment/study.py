"""The command ``robustcs augment``: effects of new judgments on the runs of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from robustcs.errors import UsageError
from robustcs.messages import Message, OptionName
from robustcs.studies.signature import MOST, File, Opt
from robustcs.studies.study import SCORING, SEED, SYSTEMS, UNIT, Call, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.augment.analysis import Augmentation


def ask(
    workspace: Workspace,
    *,
    conflicts: Annotated[Literal["keep", "replace", "max", "fail"], Opt(rare=True)] = "keep",
    what_if: Annotated[int, Opt("N", low=1, high=100000)] | None = None,
    leave_one_out: bool = False,
    pool_depth: Annotated[int, Opt("K", low=1, high=MOST)] = 10,
    within: Annotated[float, Opt("X")] | None = None,
    off_scale: Annotated[Literal["refuse", "drop", "clip"], Opt(rare=True)] = "refuse",
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
      robustcs augment --conflicts max --metric ndcg_cut_3 --output t.tex
      robustcs augment --what-if 1000
      robustcs augment --leave-one-out --pool-depth 5
      robustcs augment --judge gpt=gpt.txt --within 0.03
    """
    import numpy as np

    from robustcs.lazy import pd
    from robustcs.project import hole_imputation
    from robustcs.project.requirements import new_judgments
    from robustcs.statistics.units import units_of
    from robustcs.studies.augment.analysis import Augmentation, augment, built, guessed_groups
    from robustcs.studies.augment.analysis import leave_one_out as leave_out
    from robustcs.studies.augment.steps import (
        estimates_alone,
        estimates_with_judges,
        pool_runs,
        with_notes,
    )
    from robustcs.studies.augment.whatif import what_if as draw

    project = workspace.project
    if within is not None and not project.judges:
        raise UsageError(
            "within-alone",
            Message(OptionName("within"), " requires judges"),
            Message("add ", OptionName("judge", "NAME=FILE")),
        )
    if within is not None and not 0 < within < float("inf"):
        raise UsageError(
            "bad-within",
            Message(OptionName("within"), f" {within:g}"),
            "use a width above 0, such as 0.03",
        )
    requested = bool(project.new_judgments or what_if or leave_one_out)
    if not requested:
        new_judgments(workspace)
        return estimates_alone(workspace, pool_depth, within, off_scale)
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
        evaluated = with_notes(
            evaluated, [units.note] if units.note else [], unit=units.kind, units=units.count
        )
    if what_if:
        run_sources = hole_imputation.run_sources(project, pool.names)
        drawn = draw(
            pool, after, pool_depth, what_if, pooled.measures, policy, counted, seed, run_sources
        )
        found |= {"what_if": drawn.scores, "flips": drawn.pairs, "tipping": drawn.tipping}
        evaluated = with_notes(
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
        estimated, notes = estimates_with_judges(
            workspace, merge.qrels, pooled.measures, within, off_scale
        )
        found, unit = (found | estimated.tables, estimated.unit) if estimated else (found, unit)
        evaluated = with_notes(evaluated, notes)
    return Augmentation(evaluated, pool_depth, merge.qrels, drawn, unit, content=built(found))


def _run(call: Call, write_qrels: File | None, **settings: Any) -> None:
    """Run it for the command line.

    write_qrels
        Write the merged judgments to FILE.
    """
    from robustcs.documents.files import write_text
    from robustcs.evaluation.judgments import qrels_text
    from robustcs.overwrite_guard import refuse_protected

    workspace = call.with_runs()
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
    result = ask(workspace, **settings)
    if write_qrels is not None and result.merged is not None:
        write_text(write_qrels, qrels_text(result.merged))
        call.tell(f"wrote {write_qrels}")
    call.emit(workspace, result)


COMMAND = Command(
    ask, (*SYSTEMS, "new_judgments", "judges", "collection", *SCORING, *UNIT, *SEED), run=_run
)
