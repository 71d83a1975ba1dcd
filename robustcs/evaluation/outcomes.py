"""From a question to its answer: what the system did, the outcome, and what lost the turn.

A turn is *lost* if it can be answered and is not. Its cause is the generator if the answer's
passages include a gold passage. If not, retrieval is the cause, or one of its parts if rankings of
other wordings or rankers are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

from robustcs.statistics import Floats

if TYPE_CHECKING:
    from robustcs.inputs.answers import Kind, Response

#: A response other than an answer is an outcome too: ``abstained``, ``asked_back``, ``no_answer``.
Outcome = Literal[
    "correct",
    "answered",
    "wrong",
    "hedged",
    "made_up",
    "refused",
    "abstained",
    "asked_back",
    "no_answer",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
#: ``none``: the turn is not lost. ``unknown``: it is not known whether a gold passage was given.
Cause = Literal["none", "generator", "retrieval", "wording", "ranker", "either", "both", "unknown"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
#: Kinds of turns that have an answer.
ANSWERABLE: tuple[Kind, ...] = ("answerable", "partial")
#: Outcomes in which such turns are lost.
LOST: tuple[Outcome, ...] = ("wrong", "refused", "abstained", "asked_back", "no_answer")


def outcome_of(
    kind: Kind, response: Response, gold_given: bool | None, correct: bool | None
) -> Outcome:
    """Return the outcome of a turn.

    gold_given
        Whether the answer's passages include a gold passage; None if unknown.
    correct
        Whether an answer meets the criterion; None without one.
    """
    if response == "answered" or response == "partly":
        return _outcome_of_answer(kind, response, correct)
    if response == "abstained" and kind in ANSWERABLE and gold_given:
        return "refused"
    return response


def _outcome_of_answer(
    kind: Kind, response: Literal["answered", "partly"], correct: bool | None
) -> Outcome:
    """Return the outcome of a turn with an answer; see :func:`outcome_of`."""
    if kind in ANSWERABLE and correct is not None:
        return "correct" if correct else "wrong"
    if kind == "unanswerable":
        return "hedged" if response == "partly" else "made_up"
    return "answered"


def cause_of(
    kind: Kind, outcome: Outcome, gold_given: bool | None, not_given: Cause = "retrieval"
) -> Cause | Literal[""]:
    """Return the component that lost a turn; empty for turns without an answer.

    gold_given
        Whether the answer's passages include a gold passage; None if unknown.
    not_given
        The cause if they include none.
    """
    if kind not in ANSWERABLE:
        return ""
    if outcome not in LOST:
        return "none"
    if gold_given is None:
        return "unknown"
    return "generator" if gold_given else not_given


def whether_given(gold: Sequence[int], given: Sequence[int | None]) -> tuple[bool | None, ...]:
    """Return :attr:`Traced.gold_given` of :attr:`Traced.gold` and :attr:`Traced.given`."""
    return tuple(
        None if gold_passages == 0 or gold_in_answer is None else gold_in_answer > 0
        for gold_passages, gold_in_answer in zip(gold, given, strict=True)
    )


@dataclass(frozen=True, eq=False)
class Traced:
    """The answers of one system to T turns, in the order of the turns.

    by
        What determined the responses: ``labels (idk_eval)``, ``detector`` and so on.
    responses, outcomes, causes
        What the system did on each turn, the outcome, and the component that lost the turn
        (:func:`cause_of`).
    gold, given
        Number of gold passages of each turn, and of those among the answer's passages (None if they
        are unknown).
    labels, detected
        Responses by labels (None for turns without one), and by the detector or a program.
    human
        Outcomes by human labels, if only some turns have them; None for the others.
    sentences, unsupported
        float64[T]: number of sentences that were compared with the passages, and of those without
        support; nan if unknown.
    support_by
        What decided: ``words``, ``citations and words``, ``citations`` or ``program``; empty if
        unknown.
    scores
        Metric → float64[T]: scores from the file of answers; nan for turns without one.
    """

    name: str
    by: str
    responses: tuple[Response, ...]
    gold: tuple[int, ...]
    given: tuple[int | None, ...]
    outcomes: tuple[Outcome, ...]
    causes: tuple[str, ...]
    labels: tuple[Response | None, ...]
    detected: tuple[Response, ...]
    human: tuple[Outcome | None, ...]
    sentences: Floats
    unsupported: Floats
    support_by: str = ""
    scores: Mapping[str, Floats] = field(default_factory=dict)

    @cached_property
    def gold_given(self) -> tuple[bool | None, ...]:
        """Whether a gold passage was given; None if there is none or the passages are unknown."""
        return whether_given(self.gold, self.given)
