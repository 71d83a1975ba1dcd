"""How far scores drop under other words, from the runs of a workspace; or the whole experiment, from paraphrases on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Literal

from robustcs.documents.document import Figure
from robustcs.documents.headline import headline_measure
from robustcs.documents.order import figures_first
from robustcs.errors import UsageError
from robustcs.evaluation.state import Group
from robustcs.project.hole_imputation import filled_drops
from robustcs.project.model import Project, measures, needs, only
from robustcs.project.requirements import groups
from robustcs.project.retrieved import Retrieval, plan_of
from robustcs.project.slices import slicings
from robustcs.project.workspace import Workspace
from robustcs.studies.robustness.analysis import ALWAYS, DEFAULT_MEASURES, Robustness, robustness
from robustcs.studies.robustness.drops import categories_of
from robustcs.studies.robustness.experiment import SETS, Experiment, experiment, is_experiment, with_testsets
from robustcs.studies.robustness.findings import robustness_findings, verdicts
from robustcs.studies.robustness.show import show
from robustcs.studies.signature import Opt, Slices
from robustcs.studies.study import BY, SEED, SYSTEMS, UNIT, Answer, Call, Question, command
from robustcs.wording import counted, verb


def ask(
    workspace: Workspace,
    *,
    slices: Slices = None,
    alpha: Annotated[float, Opt("A", low=0)] = 1.0,
    margin: Annotated[float, Opt("D")] | None = None,
    sets: Annotated[int, Opt("N", low=1, high=100)] | None = None,
    tell: Callable[[str], None] = lambda message: None,
) -> Robustness | Experiment:
    """How far do scores drop when the same is asked in other words?

    Every test set of paraphrases beside its baseline: drops in points and per cent with intervals and tests, gains and
    losses per turn, how much of the variance is wording, and where in the conversation scores drop.

    With paraphrases and an index in robustcs.toml, and no groups, the whole experiment is run: paraphrases are cleaned as by
    robustcs testsets --clean, test sets are drawn (--sets) and retrieved, and how much of the top 3 nobody judged is added.

    slices
        Split the turns by first, depth, conversation, pronoun, ellipsis, length, shift, name, all that texts say (texts),
        or the columns of a TSV with a header and a column of turn ids; repeat for several. first and depth stand in any
        case.

    alpha
        In U_Risk and T_Risk a loss weighs 1 + A times a gain.

    margin
        Say which drops are no larger than D: the whole 95 % interval lies inside ±D.

    sets
        Test sets of each kind that the whole experiment draws (default 3).

    Raises :class:`UsageError` without groups of runs, for ``sets`` where groups are given, and where
    rewritten sets have an unrewritten baseline.

    Examples:
      robustcs robustness
      robustcs robustness --metric ndcg_cut_3 --slices turns.tsv --margin 0.05
      robustcs robustness --qrels qrels.txt --run base=human.trec \\
          --run m1=manual_1.trec \\
          --run m2=manual_2.trec --group manual=base,m1,m2
      robustcs robustness --set figure=spread --output spread.pdf
    """
    if not (math.isfinite(alpha) and alpha >= 0):
        raise UsageError("bad-alpha", f"alpha {alpha}", "write a number from 0")
    plan = None
    if sets is not None and not is_experiment(workspace.project):
        found = "--sets is for the whole experiment, which needs paraphrases and an index, and no groups"
        raise UsageError("no-experiment", found, "leave it out, or draw sets with robustcs testsets")
    if is_experiment(workspace.project):
        retrieval = Retrieval(workspace.of(with_testsets(workspace, tell, sets or SETS)), tell)
        workspace = workspace.of(retrieval.complete())
        plan = plan_of(retrieval)
    project = workspace.project
    groups(workspace)
    names = [name for part in project.groups.values() for name in (part.baseline, *part.sets)]
    scores, evaluated = workspace.system_scores(names, project.metrics or DEFAULT_MEASURES)
    turns = list(scores[names[0]].index)
    texts = workspace.texts_of(turns).get("human")
    cut, told = slicings(workspace, turns, slices, always=ALWAYS)
    categories, notes = _categories(workspace, turns)
    evaluated = replace(evaluated, notes=(*evaluated.notes, *told, *notes))
    result = robustness(project.groups, scores, evaluated, cut, texts, alpha, margin, project.seed, categories)
    return result if plan is None else experiment(workspace, names, result, plan)


def _categories(workspace: Workspace, turns: Sequence[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Set → turn → category of its paraphrase, told by the texts of the sets; and notes. Empty where no paraphrase has any."""
    project = workspace.project
    if project.paraphrases is None:
        return {}, []
    paraphrases = workspace.paraphrases
    if not any(row.category for rows in paraphrases.values() for row in rows):
        return {}, []
    found: dict[str, dict[str, str]] = {}
    several = 0
    sets = dict.fromkeys(name for group in project.groups.values() for name in group.sets)
    for raw, sources in ((False, project.texts), (True, project.raw_texts)):
        unchanged = workspace.texts.get("original" if raw else "human", {})
        for name in sets:
            if name in sources:
                texts = workspace.text_file(sources[name], "original" if raw else "human", name)
                workspace.refuse_strangers([(sources[name].path, texts)], turns)
                found[name], ambiguous = categories_of(paraphrases, texts, raw, unchanged)
                several += ambiguous
    notes = list(paraphrases.notes)
    if several:
        notes.append(f"{counted(several, 'text')} of several categories {verb(several, 'counts', 'count')} for none")
    lacking = [name for name in sets if name not in found]
    if lacking:
        notes.append(f"no drops by category of {', '.join(lacking)}: name their texts in [texts] or [raw_texts]")
    return found, notes


def _run(
    call: Call,
    group: Annotated[tuple[str, ...], Opt("NAME=BASELINE,SET,…")],
    slices: tuple[str, ...],
    alpha: float,
    margin: float | None,
    sets: int | None,
    figure: Literal["drops", "spread", "variations"] = "drops",
) -> None:
    """Run it for the command line.

    group
        Runs that are compared with a baseline run, by the names of --run or of the project (original, human, …). In place
        of the project's groups.

    figure
        Which figure an --output that ends in .png, .svg or .pdf gets.
    """
    project = call.project
    if group:
        given = dict(map(_group, group))
        if len(given) < len(group):
            raise UsageError("repeated-group", "two groups have the same name", "give every --group a NAME of its own")
        project = replace(project, groups=given)
    workspace = call.workspace(project) if is_experiment(project) else call.answered(project)
    result = call.ask(workspace, slices=list(slices), alpha=alpha, margin=margin, sets=sets, tell=call.tell)
    blocks = [block for block in show(result) if not isinstance(block, Figure) or block.slug == figure]
    call.emit(workspace, result, blocks)


def _group(text: str) -> tuple[str, Group]:
    from robustcs.errors import UsageError
    from robustcs.evaluation.state import Group

    name, equals, members = text.partition("=")
    baseline, *sets = members.split(",")
    if not (name and equals and sets and all(part.strip() for part in (baseline, *sets))):
        raise UsageError("bad-group", f"--group {text}", "write --group NAME=BASELINE,SET,SET")
    return name, Group(baseline.strip(), tuple(part.strip() for part in sets))


COMMAND = command(ask, (*SYSTEMS, "paraphrases", "texts", "raw_texts", "new_judgments", "metric", "relevance_level",
    "missing", "order", "depth", "documents", "jobs", "dask", *BY, *UNIT, *SEED), run=_run,
)  # fmt: skip


_READING = (
    "How to read it: every test set asks the same turns in other words and is compared with its baseline, turn by turn. A"
    " point right of zero is a loss; an interval that crosses zero says that the loss may be chance. Paraphrases find passages"
    " that are unjudged, and here these count as not relevant: the sentence after each drop says what is expected of it with"
    " unjudged passages filled in by the model, and the question before has more of that."
)


def _part(project: Project) -> Project:
    needs(project.groups, "no-groups", "no groups of runs", "name them with [groups.NAME] in robustcs.toml")
    needs(project.qrels, "no-qrels", "no qrels", "name them with qrels = … or --qrels")
    keys = ["qrels", "qrels_selection", "runs", "groups", "run_groups", "policy", "seed"]
    if project.texts or project.raw_texts:  # they tell what kind of variation a set has for a turn
        keys += ["paraphrases", "texts", "raw_texts"]
    # all runs: what is expected of holes is learned from all of them
    part = only(project, keys, ("run", "rewrites"))
    return replace(part, metrics=measures(project, of_answers=False))


def _answer(workspace: Workspace) -> Answer:
    result = ask(workspace)
    assert isinstance(result, Robustness)  # groups are needed here, so it is no experiment
    drops = filled_drops(workspace, [headline_measure(result.groups["metric"])], result.turns["turn"])
    result = replace(result, drops=drops)
    return Answer(
        robustness_findings(result, drops), _READING, figures_first(show(result)), result.evaluated,
        {"robustness": result}, verdicts=verdicts(result, drops),
    )  # fmt: skip


QUESTIONS = (
    Question(
        "robustness",
        "How far do scores drop under other words?",
        ("measures", "turns"),
        _part,
        given=lambda project: bool(project.groups),
        answer=_answer,
    ),
)
