"""The fields of turns that studies contribute, and the records made of them.

A study with values per turn has a module ``fields.py`` with a function ``fields(inputs, cut)``: the
fields that the project allows, each with the function that computes it when it is asked for.
"""

from __future__ import annotations

from typing import Any

from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.record import TurnRecords
from robustcs.records.schema import SCHEMA
from robustcs.records.table import Contribution, FieldColumns, TurnTable
from robustcs.studies.registry import STUDIES
from robustcs.version import __version__


def turns_of(inputs: TurnInputs) -> TurnRecords:
    """Return the turns of a project with the fields of all studies."""

    def head() -> dict[str, Any]:
        cuts = inputs.cuts
        return {
            "schema": SCHEMA,
            "version": __version__,
            "policy": inputs.evaluated.as_dict(),
            "inputs": inputs.workspace.inputs,
            "judges": inputs.judges,
            "headline": "".join(cuts[0].written) if cuts else inputs.headline,
        }

    cut = inputs.cuts[0] if inputs.cuts else None
    return TurnRecords(head, table_of(inputs, cut), [one.written for one in inputs.cuts], inputs)


def table_of(inputs: TurnInputs, cut: TurnCut | None) -> TurnTable:
    """Return the table of turns, with causes and places at ``cut``.

    Raises :class:`UsageError` if two studies, or a study and a column of the user, have a field of
    one name.
    """
    return TurnTable(
        inputs.ids,
        FieldColumns(contributions(inputs, cut)),
        lambda: inputs.searched,
        lambda measure, threshold: table_of(inputs, inputs.cut_of(measure, threshold)),
        inputs.headline,
    )


def contributions(inputs: TurnInputs, cut: TurnCut | None) -> list[Contribution]:
    """Return the fields of all studies, those of ``turns`` first; nothing is computed."""
    found: list[Contribution] = []
    for study in sorted(STUDIES, key=lambda one: one.name != "turns"):
        if study.gives_fields:
            found += study.part("fields").fields(inputs, cut)
    return found
