"""The command ``robustcs robustness``: drops of existing runs, or the whole experiment starting from paraphrases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from robustcs.documents.headline import headline_measure
from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.messages import Message, OptionName
from robustcs.project.hole_imputation import filled_drops
from robustcs.project.model import Project, needs, of_rankings
from robustcs.project.requirements import groups, is_experiment
from robustcs.project.retrieved import Retrieval, plan_of
from robustcs.project.slices import slicings
from robustcs.project.trust import claim_of_misfits
from robustcs.project.workspace import Workspace
from robustcs.studies.robustness.analysis import (
    ALWAYS,
    DEFAULT_MEASURES,
    Robustness,
    categories_of,
    robustness,
)
from robustcs.studies.robustness.experiment import SETS, Experiment, experiment, with_testsets
from robustcs.studies.robustness.findings import robustness_findings, verdicts
from robustcs.studies.robustness.show import show
from robustcs.studies.signature import Opt, Slices
from robustcs.studies.study import BY, SCORING, SEED, SYSTEMS, UNIT, Answer, Call, Command, Question


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
    categories, notes = _categories(workspace)
    evaluated = replace(evaluated, notes=(*evaluated.notes, *told, *notes))
    result = robustness(
        project.groups, scores, evaluated, cut, texts, margin, project.seed, categories
    )
    pairs = ((group.baseline, name) for group in project.groups.values() for name in group.sets)
    misfit, unordered = claim_of_misfits(workspace.fit, pairs, "rewording")
    result = result.changed(misfit=misfit, unordered=unordered)
    result = result.without_p() if unordered else result
    return result if plan is None else experiment(workspace, names, result, plan)


def _categories(workspace: Workspace) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return set → turn → category of its paraphrase, by the texts of the sets, and notes.

    Empty if no paraphrase has a category.
    """
    project = workspace.project
    if project.paraphrases is None:
        return {}, []
    paraphrases = workspace.paraphrases
    if not any(row.category for rows in paraphrases.values() for row in rows):
        return {}, []
    found: dict[str, dict[str, str]] = {}
    sets = dict.fromkeys(name for group in project.groups.values() for name in group.sets)
    for name, texts in workspace.texts_of_sets.items():
        raw = name not in project.texts
        unchanged = workspace.texts.get("original" if raw else "human", {})
        found[name] = categories_of(paraphrases, texts, raw, unchanged)
    notes = list(paraphrases.notes)
    lacking = [name for name in sets if name not in found]
    if lacking:
        notes.append(
            f"no drops by category for {', '.join(lacking)}: add their texts to [texts] or [raw_texts]"
        )
    return found, notes


def _run(
    call: Call, group: Annotated[tuple[str, ...], Opt("NAME=BASELINE,SET,…")], **settings: Any
) -> None:
    """Run it for the command line.

    group
        Group of runs to compare with a baseline run, named as in --run or as in the project (original, human, …). Replaces the
        groups of the project.
    """
    project = call.project
    if group:
        given = dict(map(_group, group))
        if len(given) < len(group):
            raise UsageError(
                "repeated-group",
                "two groups have the same name",
                "use a different NAME in each --group",
            )
        marks = tuple(mark for mark in project.marks if mark[0] != "groups")
        project = replace(project, groups=given, marks=marks)
    workspace = call.workspace(project) if is_experiment(project) else call.answered(project)
    result = call.ask(workspace, tell=call.tell, **settings)
    call.emit(workspace, result)


def _group(text: str) -> tuple[str, Group]:
    name, equals, members = text.partition("=")
    baseline, *sets = members.split(",")
    if not (name and equals and sets and all(part.strip() for part in (baseline, *sets))):
        raise UsageError("bad-group", f"--group {text}", "write --group NAME=BASELINE,SET,SET")
    return name, Group(baseline.strip(), tuple(part.strip() for part in sets))


COMMAND = Command(
    ask,
    (*SYSTEMS, "paraphrases", "texts", "raw_texts", "new_judgments", *SCORING, *BY, *UNIT, *SEED),
    run=_run,
)


_READING = (
    "How to read it: every test set paraphrases the same turns and is compared with its baseline turn by turn. If the interval"
    " of a loss includes zero, the loss may be due to chance. Unjudged passages count as not relevant; the sentence after each"
    " drop gives the expected drop if the hole model grades them."
)


def _inputs(project: Project) -> Project:
    needs(
        project.qrels,
        "no-qrels",
        "no qrels",
        Message("add qrels = … to robustcs.toml or use ", OptionName("qrels")),
    )
    keys = ["qrels", "qrels_selection", "runs", "groups", "run_groups", "policy", "seed"]
    if project.texts or project.raw_texts:  # they determine the variation of a set for each turn
        keys += ["paraphrases", "texts", "raw_texts"]
    # all runs: the hole model learns from all of them
    return of_rankings(project, keys, ("run", "rewrites"))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    assert isinstance(result, Robustness)  # groups are needed here, so it is no experiment
    drops = filled_drops(
        workspace,
        [headline_measure(result.groups["metric"])],
        result.turns["turn"],
        result.fully_asked,
    )
    result = result.changed(drops=drops)
    findings = robustness_findings(result, drops)
    return Answer(result, show(result), findings, _READING, verdicts=verdicts(result, drops))


QUESTIONS = (
    Question("robustness", "How much do scores drop when questions are paraphrased?", ("measures", "turns"), 
             _inputs, _answer),
)  # fmt: skip
