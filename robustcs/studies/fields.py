"""The fields of turns that studies contribute, and the records made of them.

A study with values per turn has a module ``fields.py`` with a function ``fields(inputs, cut)``: the
fields that the project allows, each with the function that computes it when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from robustcs.project.turn_scores import TurnCut
from robustcs.project.turns import TurnInputs
from robustcs.records.file_fields import turns_in
from robustcs.records.reading import TurnsFile
from robustcs.records.record import TurnRecords
from robustcs.records.schema import SCHEMA, Head, InputFile
from robustcs.records.table import Contribution, FieldColumns, TurnField, TurnTable
from robustcs.studies.registry import STUDIES
from robustcs.version import __version__


def turns_of(inputs: TurnInputs, files: Callable[[], list[InputFile]] | None = None) -> TurnRecords:
    """Return the turns of a project with the fields of all studies.

    files
        Returns the files that were read, if their names are shown in another way.
    """

    def head() -> Head:
        cuts, project = inputs.cuts, inputs.project
        parts, groups = project.formulations.values(), project.groups.items()
        return {
            "schema": SCHEMA,
            "version": __version__,
            "name": project.name,
            "policy": {**inputs.evaluated.as_dict(), **project.policy.as_dict()},
            "inputs": inputs.workspace.inputs if files is None else files(),  # type: ignore[typeddict-item]
            "measures": [measure.name for measure in project.metrics],
            "thresholds": [str(threshold) for threshold in project.thresholds],
            "formulations": {part.name: part.role for part in parts},
            "groups": {
                name: {"baseline": group.baseline, "sets": list(group.sets)}
                for name, group in groups
            },
            "absent": [name for name, one in inputs.of_files.items() if one.absent_is_missing],
            "conversations": inputs.conversations.source,
            "judges": inputs.judges,
            "headline": "".join(cuts[0].written) if cuts else inputs.headline,
            "depth": inputs.longest,
        }

    cut = inputs.cuts[0] if inputs.cuts else None
    return TurnRecords(head, table_of(inputs, cut), [one.written for one in inputs.cuts], inputs)


def turns_of_file(file: TurnsFile) -> TurnRecords:
    """Return the turns of ``turns.jsonl`` with the fields that it has."""
    return turns_in(file, declared_fields())


def declared_fields() -> list[TurnField]:
    """Return the fields that studies declare, in the order of the registry."""
    found = []
    for study in STUDIES:
        if study.gives_fields:
            values = vars(study.part("fields")).values()
            found += [value for value in values if isinstance(value, TurnField)]
    return found


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
