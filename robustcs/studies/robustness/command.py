"""``robustcs robustness``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from robustcs.cli.options import Options, load_project, shared_options

if TYPE_CHECKING:
    from robustcs.evaluation.groups import Group
    from robustcs.project.model import Project
    from robustcs.studies.retrieve.analysis import Plan


@click.command(short_help="How far do scores drop under other words?")
@click.option("--group", multiple=True, metavar="NAME=BASELINE,SET,…",
              help="Runs that are compared with a baseline run, by the names of --run or of the project (original, human, …)."
              " In place of the project's groups.")  # fmt: skip
@click.option("--slices", metavar="FILE", help="TSV with a header, a column of turn ids and others to slice the turns by.")
@click.option("--alpha", type=click.FloatRange(min=0), default=1.0, show_default=True, metavar="A",
              help="In U_Risk and T_Risk a loss weighs 1 + A times a gain.")  # fmt: skip
@click.option("--figure", type=click.Choice(["drops", "spread"]), default="drops", show_default=True,
              help="Which figure an --output that ends in .png, .svg or .pdf gets.")  # fmt: skip
@shared_options
def robustness(options: Options, group: tuple[str, ...], slices: str | None, alpha: float, figure: str) -> None:
    """How far do scores drop when the same is asked in other words?

    Every test set of paraphrases beside its baseline: drops in points and per cent with intervals and tests, gains and
    losses per turn, how much of the variance is wording, and where in the conversation scores drop.

    With paraphrases and an index in robustcs.toml, and no groups, the whole experiment is run: test sets are drawn and
    retrieved, and how much of the top 3 nobody judged is added.

    \b
    Examples:
      robustcs robustness
      robustcs robustness --metric ndcg_cut_3 --slices turn_types.tsv
      robustcs robustness --qrels qrels.txt --run base=human.trec --run m1=manual_1.trec \\
          --run m2=manual_2.trec --group manual=base,m1,m2
      robustcs robustness --figure spread --output spread.pdf
    """
    import math
    from dataclasses import replace
    from pathlib import Path

    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.documents.document import Figure
    from robustcs.errors import UsageError
    from robustcs.project.rewritten import check_baselines
    from robustcs.project.workspace import Workspace
    from robustcs.studies.robustness.analysis import DEFAULT_METRICS
    from robustcs.studies.robustness.analysis import robustness as analyse
    from robustcs.studies.robustness.show import present_robustness

    if not math.isfinite(alpha):
        raise UsageError("bad-alpha", f"--alpha {alpha}", "write a number from 0")
    project = load_project(options)
    if group:
        given = dict(map(_group, group))
        if len(given) < len(group):
            raise UsageError("repeated-group", "two groups have the same name", "give every --group a NAME of its own")
        project = replace(project, groups=given)
    plan = None
    if project.retrieval is not None:
        project, plan = _retrieved(project, options)
    workspace = Workspace(project, options.jobs, track)
    names = [name for part in project.groups.values() for name in (part.baseline, *part.sets)]
    if not names:
        raise UsageError("no-groups", "no groups of runs are given",
                         "name them with --group NAME=BASELINE,SET,SET or in robustcs.toml")  # fmt: skip
    cut = workspace.slices(Path(slices)) if slices else None
    check_baselines(project)
    scores, evaluated = workspace.system_scores(names, project.metrics or DEFAULT_METRICS)
    texts = workspace.texts_of(scores[names[0]].index).get("human")
    result = analyse(project.groups, scores, evaluated, cut, texts, alpha, project.seed)
    blocks = [block for block in present_robustness(result) if not isinstance(block, Figure) or block.slug == figure]
    if plan is None:
        emit("robustness", result, blocks, workspace.inputs, options)
        return
    from robustcs.studies.retrieve.show import present_plan
    from robustcs.studies.robustness.experiment import Experiment, holes_of
    from robustcs.studies.unjudged.show import present_unjudged

    holes = holes_of(workspace, names, project.metrics or DEFAULT_METRICS, evaluated)
    kept = ("rates", "unique", "grades")
    blocks += [block for block in present_unjudged(holes) if getattr(block, "slug", None) in kept]
    blocks += present_plan(plan)
    emit("robustness", Experiment(evaluated, plan.plan, result, holes), blocks, workspace.inputs, options)


def _retrieved(project: Project, options: Options) -> tuple[Project, Plan | None]:
    """The project with the runs that it lacks; with the plan where it is the whole experiment."""
    from robustcs.cli.progress import track
    from robustcs.cli.retrieved import answered
    from robustcs.cli.terminal import tell
    from robustcs.project.retrieved import Retrieval, plan_of
    from robustcs.project.workspace import Workspace
    from robustcs.studies.robustness.experiment import is_experiment, with_testsets

    if not is_experiment(project):
        return answered(project, options), None
    project = with_testsets(Workspace(project, options.jobs, track), tell)
    retrieval = Retrieval(Workspace(project, options.jobs, track), tell)
    return retrieval.complete(), plan_of(retrieval)


def _group(text: str) -> tuple[str, Group]:
    from robustcs.errors import UsageError
    from robustcs.evaluation.groups import Group

    name, equals, members = text.partition("=")
    baseline, *sets = members.split(",")
    if not (name and equals and sets and all(part.strip() for part in (baseline, *sets))):
        raise UsageError("bad-group", f"--group {text}", "write --group NAME=BASELINE,SET,SET")
    return name, Group(baseline.strip(), tuple(part.strip() for part in sets))
