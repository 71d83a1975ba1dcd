"""The command ``robustcs sweep`` and its part of the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from robustcs.documents.document import Table
from robustcs.documents.headline import headline_of
from robustcs.evaluation.thresholds import reachable_thresholds
from robustcs.project.requirements import formulations_by_answers, formulations_by_rankings
from robustcs.project.workspace import Workspace
from robustcs.studies.signature import Opt
from robustcs.studies.study import BY, FORMULATIONS, SCORING, SEED, UNIT, Answer, Command, Question
from robustcs.studies.sweep.analysis import Sweep, sweep, threshold_grid
from robustcs.studies.sweep.findings import finding
from robustcs.studies.sweep.show import show


def ask(workspace: Workspace, *, step: Annotated[str, Opt("T", rare=True)] = "0.02") -> Sweep:
    """How do the bins change with the threshold? Count the turns per bin at every threshold and draw them as a figure.

    Measures that are 0 or 1 on every turn, such as P_1, are included only if --metric or the project file names them. Several
    measures or rewriters are shown side by side. If --output ends in .png, .svg or .pdf, the file contains the figure.

    step
        Step from one threshold to the next, between 0 and 1.

    Examples:
      robustcs sweep --metric ndcg_cut_3
      robustcs sweep --metric ndcg_cut_3 --output sweep.pdf
      robustcs sweep --qr T5=t5.trec --qr GPT=gpt.trec --output sweep.svg
    """
    grid = threshold_grid(step)
    scores, evaluated = workspace.formulation_scores()
    return sweep(
        scores if workspace.project.metrics else scores.graded(),
        evaluated,
        grid,
        workspace.project.seed,
    )


COMMAND = Command(ask, (*FORMULATIONS, *SCORING, *BY, *UNIT, *SEED))


def _answer(workspace: Workspace) -> Answer:
    scores, evaluated = workspace.formulation_scores()
    result = sweep(scores.graded(), evaluated, seed=workspace.project.seed)
    cut = headline_of(
        scores.measures,
        reachable_thresholds(workspace.project.thresholds, workspace.project.metrics),
    )
    blocks = (
        replace(block, slug=f"sweep-{block.slug}") if isinstance(block, Table) else block
        for block in show(result, marked=cut)
    )
    return Answer(result, tuple(blocks), finding(result, cut[:1]))


#: They continue the sections of the breakdown.
QUESTIONS = (
    Question("breakdown", "", ("blame",), formulations_by_rankings, _answer),
    Question("answers", "", ("blame",), formulations_by_answers, _answer),
)
