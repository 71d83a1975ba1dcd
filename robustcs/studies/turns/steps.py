"""Steps of ``robustcs turns``: select turns and collect what is shown of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from statistics import fmean
from typing import Any

from robustcs.errors import UsageError
from robustcs.messages import Message, OptionName
from robustcs.project.overrides import file_of
from robustcs.project.requirements import turns_to_read
from robustcs.project.sources import several
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.filter import named_systems, parse_filter
from robustcs.records.headwords import meant
from robustcs.records.record import READ, TurnRecords
from robustcs.records.schema import TurnRecord
from robustcs.records.table import ID
from robustcs.slicing import WORDS
from robustcs.studies.fields import turns_of
from robustcs.studies.turns.analysis import TurnList, turn_list
from robustcs.wording import nearest, some_of

#: Number of systems that are shown if none is named and there are no formulations: those with the
#: highest means.
_SHOWN = 4


def read_turns(workspace: Workspace, slices: Any = None) -> tuple[TurnInputs, TurnRecords]:
    """Return the inputs and the records of all turns of a project; most is read when it is used.

    slices
        Files whose columns are further fields; see ``ask`` of the study.

    Raises :class:`UsageError` if the project has no runs, texts or answers.
    """
    turns_to_read(workspace)
    inputs = TurnInputs(workspace, columns_of(workspace, slices))
    return inputs, turns_of(inputs)


def listed(
    workspace: Workspace,
    where: str,
    sort: str,
    limit: int | None,
    turn: str | None,
    show: Sequence[str],
    slices: Any,
) -> TurnList:
    """Return the turns that a filter selects, or one turn; see ``ask`` of the study."""
    if turn is not None and (where or sort != ID or limit is not None):
        raise UsageError(
            "conflicting-options",
            Message(OptionName("turn"), " shows one turn, whatever the list selects"),
            Message(
                "leave out ",
                OptionName("where"),
                ", ",
                OptionName("sort"),
                " and ",
                OptionName("limit"),
            ),
        )
    inputs, turns = read_turns(workspace, slices)
    asked = parse_filter(where)
    table = turns.table.asked_at(asked)
    selected = [one for one, chosen in zip(table.ids, table.selects(asked), strict=True) if chosen]
    ordered = table.ordered(selected, sort, workspace.project.seed)[:limit]
    if turn is not None:
        ordered = [_known(turns, turn)]
    cut = inputs.cuts[0] if inputs.cuts else None
    if asked.cut is not None:
        cut = inputs.cut_of(*asked.cut)
        turns.add_cut(cut.written)
    for one in ordered[:1] or table.ids[:1]:
        turns.record(one, complete=False)  # reads every file now, so that the result names it
    passages = {}
    if turn is not None:
        passages = inputs.passage_texts(_to_read(turns.record(ordered[0])))
    notes = list(inputs.notes) if turn is not None else []  # on passages, which a list lacks
    if not selected and (hint := meant(asked)):
        notes.append(hint)
    measure, threshold = cut.written if cut else (inputs.headline, "")
    result = turn_list(
        ordered,
        turns.record,
        replace(inputs.evaluated, notes=(*inputs.evaluated.notes, *notes)),
        measure,
        threshold,
        where=where,
        sort=sort,
        selected=len(selected),
        known=len(table.ids),
        systems=_shown(turns, show, inputs.scores.get(measure, {})),
        one=turn is not None,
        passages=passages,
        select=turns.table.where,
    )
    return workspace.stated(result)


def columns_of(workspace: Workspace, asked: Any) -> dict[str, dict[str, str]]:
    """Return the columns of the files of slices; properties of turns are fields in any case.

    Raises :class:`UsageError` for two files with the same column.
    """
    found: dict[str, dict[str, str]] = {}
    for one in () if asked is None else several(asked):
        if isinstance(one, str) and one in WORDS:
            continue
        for column, values in workspace.slices(file_of("slices", "slices", one)).items():
            if column in found:
                raise UsageError(
                    "repeated-slices",
                    f"two files of slices have a column {column}",
                    "rename one of them",
                )
            found[column] = values
    return found


def _known(turns: TurnRecords, turn: str) -> str:
    """Return the id of a turn. Raises :class:`UsageError`, with the nearest id, if there is none."""
    ids = turns.table.ids
    wanted = turn.strip()
    if wanted in ids:
        return wanted
    near = nearest(wanted, ids)
    advice = f"did you mean {near}?" if near else f"turns are {some_of(list(ids))}"
    raise UsageError("no-such-turn", f"there is no turn {turn!r}", advice)


def _shown(
    turns: TurnRecords, asked: Sequence[str], scores: Mapping[str, Mapping[str, float]]
) -> tuple[str, ...]:
    """Return the systems to show: those asked for, the formulations, or the best.

    ``scores``: system → turn → score. Raises :class:`UsageError` for an unknown system.
    """
    known = list(turns.details.systems)
    if not asked:
        parts = turns.details.formulations
        means = {name: fmean(own.values()) for name, own in scores.items() if own}
        best = sorted(known, key=lambda name: -means.get(name, -inf))
        return tuple(parts or best[:_SHOWN])
    return tuple(named_systems(asked, known))


def _to_read(record: TurnRecord) -> list[str]:
    """Return the passages of a turn whose texts are shown."""
    found: dict[str, None] = {}
    for own in record["systems"].values():
        for passage, _ in (*own.get("ranking", ())[:READ], *own.get("given", ())):
            found[passage] = None
    return list(found)
