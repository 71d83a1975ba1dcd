"""A sheet to review turns with: a random sample of those that a filter selects."""

from __future__ import annotations

import json
from collections.abc import Sequence

from robustcs.documents.words import measure_label
from robustcs.errors import UsageError
from robustcs.project.requirements import turns_to_read
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.filter import named_systems, quoted
from robustcs.studies.fields import turns_of


def sheet(workspace: Workspace, where: str, limit: int, systems: Sequence[str]) -> str:
    """Return JSON lines that a coder completes, one for each turn drawn, in random order.

    where
        The filter that selects the turns to draw from; empty for all turns with a score in the
        headline measure, or all turns if there is none.
    limit
        The number of turns to draw.
    systems
        The systems that the coder reads; empty for the rewriters, or all systems without them.

    Raises :class:`UsageError` for a bad filter, an unknown system, and if no turn is selected.
    """
    turns_to_read(workspace)
    inputs = TurnInputs(workspace)
    table = turns_of(inputs).table
    said = f"where {where}" if where else ""
    asked = where
    if not where and inputs.headline:
        asked = f"{quoted(inputs.headline)}:*"
        said = f"with a score in {measure_label(inputs.headline)}"
    population = table.where(asked)
    if not population:
        raise UsageError(
            "no-turns", f"no turn is selected by {asked}", "try other filters with robustcs turns"
        )
    if len(population) == len(table.ids):
        said = ""
    seed = workspace.project.seed
    drawn = table.ordered(population, "random", seed)[:limit]
    sample = {
        "kind": "random",
        "seed": seed,
        "of": len(population),
        "size": len(drawn),
        "where": said,
    }
    names = _systems(inputs, systems)
    lines = []
    for turn in drawn:
        texts = inputs.texts_by_formulation(turn)
        answers = {name: inputs.answer(name, turn) for name in names}
        lines.append(
            {
                "turn": turn,
                "systems": names,
                "categories": None,
                "note": "",
                "coder": "",
                "sample": sample,
                "history": [text for _, text in inputs.history(turn)],
                "texts": texts,
                "answers": {name: text for name, text in answers.items() if text is not None},
            }
        )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _systems(inputs: TurnInputs, asked: Sequence[str]) -> list[str]:
    """Return the systems that the coder reads. Raises :class:`UsageError` for an unknown one."""
    parts = inputs.project.formulations.values()
    rewriters = [part.name for part in parts if part.role == "qr"]
    return named_systems(asked, inputs.systems) or rewriters or inputs.systems
