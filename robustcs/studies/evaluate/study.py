"""The command ``robustcs evaluate``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from robustcs.errors import UsageError
from robustcs.messages import Either, Message
from robustcs.studies.signature import Opt, Slices
from robustcs.studies.study import BY, MOST_COMPARED, SCORING, SEED, SYSTEMS, UNIT, Call, Command
from robustcs.wording import some_of, verb

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.evaluate.analysis import Evaluation


def ask(
    workspace: Workspace,
    *,
    scores: Mapping[str, Any] | None = None,
    baseline: Annotated[str, Opt("NAME")] | None = None,
    margin: Annotated[float, Opt("D")] | None = None,
    slices: Slices = None,
    find_slices: bool = False,
    pairs: bool | None = None,
) -> Evaluation:
    """Which systems differ significantly? Compute the mean of every system with its confidence interval, and compare all pairs.

    The sampling unit is the conversation, because turns of a conversation depend on each other. The tests flip the signs of
    whole conversations, and p-values are adjusted for the number of pairs (step-down max-T). The table of pairs also shows
    effect sizes and the smallest difference that the data can detect.

    scores
        Per-turn scores (output of trec_eval -q) of a system, instead of a run.

    baseline
        Compare all other systems with this one instead of comparing every pair.

    margin
        Report which pairs are equivalent: the whole 95% CI of the difference lies inside ±D.

    slices
        Split the turns by first, depth, conversation, pronoun, ellipsis, length, shift or name; by texts (all properties of
        the texts); or by the columns of a TSV file with a header and a column of turn ids. Repeatable.

    find_slices
        Search for slices with low scores. Each is a rule of one or two conditions on --slices (default: depth and texts). p
        is adjusted for the number of rules tried.

    pairs
        Without a baseline: compare every pair of systems (default: for up to 50 systems).

    Raises :class:`UsageError` if a slice needs texts that are missing, or if a search for slices has too few conversations
    or no slices.

    Examples:
      robustcs evaluate
      robustcs evaluate --metric ndcg_cut_3 --baseline human --margin 0.02
      robustcs evaluate --scores ours=ours.eval --scores theirs=theirs.eval
      robustcs evaluate --slices depth --slices texts --slices turn_types.tsv
      robustcs evaluate --find-slices
    """
    from robustcs.conversations import PATTERN, Conversations
    from robustcs.evaluation.measure import ANSWER_FAMILIES, GIVEN, is_averaged
    from robustcs.project.overrides import named_files
    from robustcs.project.slices import searched, slicings
    from robustcs.project.trust import limits_of_sources
    from robustcs.statistics.units import units_of
    from robustcs.studies.evaluate.analysis import evaluate
    from robustcs.studies.evaluate.findings import with_groups
    from robustcs.studies.evaluate.steps import is_share, ranked_alike

    files = workspace.scored_systems(
        named_files("scores", "scores", {} if scores is None else scores)
    )
    partly = {
        name: told
        for name, told in workspace.partly_asked().items()
        if name in [file.name for file in files]
    }
    files = [file for file in files if file.name not in partly] or files
    runs, requested = (
        [file.name for file in files if file.kind == "runs"],
        workspace.project.metrics,
    )
    if (
        scores
        and runs
        and requested
        and all(measure.family in (GIVEN, *ANSWER_FAMILIES) for measure in requested)
    ):
        found = f"{', '.join(map(str, requested))} cannot be computed from the project's runs ({some_of(runs)})"
        raise UsageError(
            "no-such-measure",
            found,
            Message(
                "use ",
                Either("--config /dev/null", "project='/dev/null'"),
                " to evaluate only the files of scores",
            ),
        )
    measures, notes = workspace.ranking_measures((), totals=True, given=not runs)
    frames, evaluated = workspace.scores_of(files, measures, alone=True)
    workspace.note_names("formulations")
    first = next(iter(frames.values()))
    if any((slices, find_slices, baseline, margin, pairs)) and not any(map(is_averaged, first)):
        are = verb(len(first), "is not a mean", "are not means")
        notes.append(f"slices and pairs of systems skipped: {', '.join(first)} {are} over turns")
    notes += [
        f"{told}, so it is not compared here; see robustcs robustness" for told in partly.values()
    ]
    notes += [limit.reason.rstrip(".") for limit in limits_of_sources(workspace.project)[:1]]
    evaluated = replace(evaluated, notes=(*evaluated.notes, *notes))
    bounded = {
        metric: is_share(metric, [frame[metric] for frame in frames.values()]) for metric in first
    }
    turns = list(first.turns)
    units = units_of(turns, evaluated.grouping)
    cut, told = slicings(workspace, turns, slices, evaluated)
    search = searched(workspace, turns, cut, evaluated) if find_slices else ()
    if pairs is None and baseline is None and len(frames) > MOST_COMPARED:
        left = f"pairs of {len(frames)} systems skipped (more than {MOST_COMPARED}); --table pairs compares them"
        told = (*told, left)
        pairs = False
    evaluated = replace(evaluated, notes=(*evaluated.notes, *told))
    seed = workspace.project.seed
    result = evaluate(
        frames,
        bounded,
        units,
        evaluated,
        baseline,
        margin,
        seed,
        cut,
        search,
        pairs is not False,
        workspace.fit,
    )
    result = result.changed(
        ranked_alike=ranked_alike(workspace, result, files), misfits=workspace.misfits
    )
    if evaluated.conversations_of(turns).note not in result.evaluated.notes:
        return result
    groups = units_of(turns, Conversations.from_ids(turns, PATTERN))
    other = evaluate(
        frames,
        bounded,
        groups,
        evaluated,
        baseline,
        margin,
        seed,
        every_pair=pairs is not False,
        fit=workspace.fit,
    )
    return result.with_notes(with_groups(result, other.changed(misfits=result.misfits)))


def _run(call: Call, scores: Annotated[tuple[str, ...], Opt("NAME=FILE")], **settings: Any) -> None:
    """Run the study for the command line, with files of scores by name.

    scores
        Per-turn scores (output of trec_eval -q) of a system, instead of a run.
    """
    from robustcs.project.sources import assigned, distinct

    named = [assigned("--scores", "NAME", text) for text in scores]
    distinct("--scores", [name for name, _ in named])
    files = dict(named)
    workspace = call.with_runs()
    result = call.ask(
        workspace, scores=files, pairs="pairs" in call.given["table"] or None, **settings
    )
    call.emit(workspace, result)


COMMAND = Command(ask, (*SYSTEMS, *SCORING, *BY, *UNIT, *SEED), on_request=("pairs",), run=_run)
