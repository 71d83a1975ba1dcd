"""The command ``robustcs robustness``: drops of existing runs, or the whole experiment starting from paraphrases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from robustcs.errors import UsageError
from robustcs.messages import Message, OptionName
from robustcs.studies.signature import Opt, Slices
from robustcs.studies.study import BY, SCORING, SEED, SYSTEMS, UNIT, Call, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.robustness.analysis import Robustness
    from robustcs.studies.robustness.experiment import Experiment


def ask(
    workspace: Workspace,
    *,
    slices: Slices = None,
    margin: Annotated[float, Opt("D")] | None = None,
    sets: Annotated[int, Opt("N", low=1, high=100)] | None = None,
    tell: Callable[[str], None] = lambda message: None,
) -> Robustness | Experiment:
    """How much do scores drop when questions are paraphrased?

    Each test set of paraphrases is compared with its baseline. The tables show drops of the score, also in percent, with
    confidence intervals and tests, gains and losses by turn, the share of the variance due to wording, and drops by position
    in the conversation.

    If robustcs.toml has paraphrases and an index but no groups, the command runs the whole experiment: it removes
    near-duplicates from the paraphrases (as robustcs testsets --clean does), draws test sets (--sets), retrieves passages for
    them, and adds the unjudged share of the top 3.

    slices
        Split the turns by first, depth, conversation, pronoun, ellipsis, length, shift or name; by texts (all properties of
        the texts); or by the columns of a TSV file with a header and a column of turn ids. Repeatable. first and depth are
        always included.

    margin
        Largest drop that counts as none. A drop is within the margin if its 95% CI lies inside ±D.

    sets
        Number of manual and of raw test sets that the whole experiment draws (default: 3).

    Raises :class:`UsageError` if there are no groups of runs, if ``sets`` is given together with groups, or if sets with
    rewritten questions have a baseline without rewriting.

    Examples:
      robustcs robustness
      robustcs robustness --metric ndcg_cut_3 --slices turns.tsv --margin 0.05
      robustcs robustness --qrels qrels.txt --run base=human.trec \\
          --run m1=manual_1.trec \\
          --run m2=manual_2.trec --group manual=base,m1,m2
      robustcs robustness --output drops.pdf
    """
    from robustcs.project.requirements import groups, is_experiment
    from robustcs.project.retrieved import Retrieval, plan_of
    from robustcs.project.slices import slicings
    from robustcs.project.trust import claim_of_misfits
    from robustcs.studies.robustness.analysis import ALWAYS, DEFAULT_MEASURES, robustness
    from robustcs.studies.robustness.experiment import SETS, experiment, with_testsets
    from robustcs.studies.robustness.steps import paraphrase_categories

    plan = None
    if sets is not None and not is_experiment(workspace.project):
        found = Message(
            OptionName("sets"),
            " requires the whole experiment, that is, paraphrases and an index but no groups",
        )
        raise UsageError(
            "no-experiment",
            found,
            Message("remove ", OptionName("sets"), ", or draw test sets with robustcs testsets"),
        )
    if is_experiment(workspace.project):
        retrieval = Retrieval(workspace.of(with_testsets(workspace, tell, sets or SETS)), tell)
        workspace = workspace.of(retrieval.complete())
        plan = plan_of(retrieval)
    project = workspace.project
    groups(workspace)
    names = [name for part in project.groups.values() for name in (part.baseline, *part.sets)]
    scores, evaluated = workspace.system_scores(
        names, project.metrics or DEFAULT_MEASURES, workspace.asked
    )
    workspace.note_names("formulations", "groups")
    turns = list(scores[names[0]].turns)
    sources = {**project.texts, **project.raw_texts}
    workspace.refuse_strangers(
        [(sources[name].path, own) for name, own in workspace.texts_of_sets.items()], turns
    )
    texts = workspace.texts_of(turns).get("human")
    cut, told = slicings(workspace, turns, slices, evaluated, always=ALWAYS)
    categories, notes = paraphrase_categories(workspace)
    evaluated = replace(evaluated, notes=(*evaluated.notes, *told, *notes))
    result = robustness(
        project.groups, scores, evaluated, cut, texts, margin, project.seed, categories
    )
    pairs = ((group.baseline, name) for group in project.groups.values() for name in group.sets)
    misfit, unordered = claim_of_misfits(workspace.fit, pairs, "rewording")
    result = result.changed(misfit=misfit, unordered=unordered)
    result = result.without_p() if unordered else result
    return result if plan is None else experiment(workspace, names, result, plan)


def _run(
    call: Call, group: Annotated[tuple[str, ...], Opt("NAME=BASELINE,SET,…")], **settings: Any
) -> None:
    """Run it for the command line.

    group
        Group of runs to compare with a baseline run, named as in --run or as in the project (original, human, …). Replaces the
        groups of the project.
    """
    from robustcs.project.requirements import is_experiment
    from robustcs.studies.robustness.steps import group_of

    project = call.project
    if group:
        given = dict(map(group_of, group))
        if len(given) < len(group):
            raise UsageError(
                "repeated-group",
                "two groups have the same name",
                "use a different NAME in each --group",
            )
        marks = tuple(mark for mark in project.marks if mark[0] != "groups")
        project = replace(project, groups=given, marks=marks)
    workspace = call.workspace(project) if is_experiment(project) else call.with_runs(project)
    result = call.ask(workspace, tell=call.tell, **settings)
    call.emit(workspace, result)


COMMAND = Command(
    ask,
    (*SYSTEMS, "paraphrases", "texts", "raw_texts", "new_judgments", *SCORING, *BY, *UNIT, *SEED),
    run=_run,
)
