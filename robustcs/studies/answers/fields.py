"""Fields of turns: the kind of a turn, the outcome of its answer, and what lost it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.table import Contribution, TurnField, Values, aligned_words
from robustcs.studies.answers.study import ask

KIND = TurnField(
    "kind",
    "words",
    "answerable, partial, unanswerable, underspecified, other or unknown",
    "answers",
    per_system=True,
)
OUTCOME = TurnField(
    "outcome",
    "words",
    "`correct`, `answered`, `wrong`, `hedged`, `made_up`, `refused`, `abstained`, `asked_back` or"
    " `no_answer`",
    "answers",
    per_system=True,
)
LOST = TurnField(
    "lost",
    "words",
    "the component that lost an answerable turn: generator, retrieval, wording, ranker, either,"
    " both or unknown",
    "answers",
    per_system=True,
)


def fields(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return the fields of generated answers, if there are some."""
    if inputs.answer_inputs is None:
        return []
    rows = cache(lambda: ask(inputs.workspace).rows("turns"))
    return [
        Contribution(KIND, partial(_values, inputs, rows, "kind")),
        Contribution(OUTCOME, partial(_values, inputs, rows, "outcome")),
        Contribution(LOST, partial(_values, inputs, rows, "cause")),
    ]


def _values(inputs: TurnInputs, rows: Callable[[], Any], name: str) -> Values:
    """Return system → the values of a column of the table of turns; turns that are not lost have none."""
    found: dict[str, dict[str, tuple[str]]] = {}
    for row in rows():
        value = getattr(row, name)
        if value and not (name == "cause" and value == "none"):
            found.setdefault(row.system, {})[row.turn] = (value,)
    return {system: aligned_words(inputs.ids, values) for system, values in found.items()}
