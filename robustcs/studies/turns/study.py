"""The command ``robustcs turns``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from robustcs.studies.signature import Opt, Slices, at_least
from robustcs.studies.study import FORMULATIONS, SCORING, SEED, Command

if TYPE_CHECKING:
    from robustcs.project.workspace import Workspace
    from robustcs.studies.turns.analysis import TurnList


def ask(
    workspace: Workspace,
    *,
    where: Annotated[str, Opt("FILTER")] = "",
    sort: Annotated[str, Opt("ORDER")] = "id",
    limit: Annotated[int, at_least(1)] | None = None,
    turn: Annotated[str, Opt("ID")] | None = None,
    show: Annotated[tuple[str, ...], Opt("SYSTEM")] = (),
    slices: Slices = None,
) -> TurnList:
    """Which turns should I read? List the turns that a filter selects, or show one of them.

    A filter consists of terms, all of which must hold: a field and its value (cause:ranker), a field of one system
    (cause@qr:rewriter), a number (ndcg_cut_3@qr<0.2, first>10), a word or "phrase" in texts, answers and passages, and any of
    these after a minus sign. Values with spaces or special characters are in quotes (type:"name lost"). docs/record.md lists
    the fields.

    The list shows texts, scores, causes and the rank of the first relevant passage. JSON and CSV contain every selected turn,
    and in the table records everything that is known about it. --turn shows one turn: the conversation, the texts with their
    differences from Human, answers with their passages, and two rankings side by side.

    where
        Only list the turns that this filter selects.

    sort
        Order: id, loss, first (deepest first), disagreement (of systems), random, or a measure (lowest first). NAME@SYSTEM
        takes the values of one system.

    limit
        Only keep the first N turns (default: all; the terminal shows 20).

    turn
        Show this turn.

    show
        Show only these systems (default: the formulations, or the first systems). Repeatable.

    slices
        Columns of a TSV file with a header and a column of turn ids, as further fields. Repeatable.

    Raises :class:`UsageError` for a filter that cannot be read, an unknown field, system, order or turn.

    Examples:
      robustcs turns --where cause:ranker
      robustcs turns --where 'type:"name lost" ndcg_cut_3@qr<0.2'
      robustcs turns --where "at:ndcg_cut_3>=0.2 cause:rewriter" --sort loss
      robustcs turns --sort random --seed 7 --limit 30
      robustcs turns --turn 31_4 --show qr --show human
    """
    from robustcs.inputs.readings import reading_once
    from robustcs.studies.turns.steps import listed

    with reading_once():
        return listed(workspace, where, sort, limit, turn, show, slices)


def prepare(workspace: Workspace) -> None:
    """Check the inputs."""
    from robustcs.project.requirements import turns_to_read

    turns_to_read(workspace)


COMMAND = Command(
    ask,
    (
        *FORMULATIONS,
        "runs",
        "components",
        "collection",
        "threshold",
        *SCORING,
        "conversation",
        *SEED,
    ),
)
