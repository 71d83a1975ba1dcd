"""The command ``robustcs sweep``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from robustcs.studies.signature import Opt
from robustcs.studies.study import BY, FORMULATIONS, SCORING, SEED, UNIT, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.sweep.analysis import Sweep


def ask(workspace: Workspace, *, step: Annotated[float, Opt("T", rare=True)] = 0.02) -> Sweep:
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
    from robustcs.studies.sweep.analysis import sweep, threshold_grid

    grid = threshold_grid(step)
    scores, evaluated = workspace.formulation_scores()
    return sweep(
        scores if workspace.project.metrics else scores.graded(),
        evaluated,
        grid,
        workspace.project.seed,
    )


COMMAND = Command(ask, (*FORMULATIONS, *SCORING, *BY, *UNIT, *SEED))
