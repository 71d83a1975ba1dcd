"""Where the first relevant passage of a turn is in a ranking, and so what could bring it up."""

from __future__ import annotations

from typing import Literal, get_args

#: ``top``: within the cutoff of the measure. ``10``, ``100``, ``deeper``: below it, to this rank.
#: ``absent``: not in the run. ``none``: no passage of the turn is judged relevant.
RelevantPlace = Literal["top", "10", "100", "deeper", "absent", "none"]
PLACES: tuple[RelevantPlace, ...] = get_args(RelevantPlace)
#: The ranks at which a re-ranker usually begins.
_SHALLOW, _DEEP = 10, 100


def place_of(first: int | None, cutoff: float, any_relevant: bool) -> RelevantPlace:
    """Return the place of the first relevant passage of a turn.

    first
        Its rank in the run, from 1; None if the run has no relevant passage.
    cutoff
        The cutoff of the measure; infinite for a measure without one.
    any_relevant
        Whether any passage of the turn is judged relevant.
    """
    if first is None:
        return "absent" if any_relevant else "none"
    if first <= cutoff:
        return "top"
    if first <= _SHALLOW:
        return "10"
    return "100" if first <= _DEEP else "deeper"
