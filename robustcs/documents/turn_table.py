"""The table of all turns of a report; each turn opens as a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from robustcs.documents.bins import marks
from robustcs.documents.document import Column, Table

#: The largest number of systems with a column if no bins are shown; the cards have all.
MOST_SYSTEMS = 5
#: Slug of the table, by which the page identifies it.
TURNS = "turns"


def turn_table(turns: Mapping[str, Any]) -> Table:
    """Return one row per turn: id, texts, and the bin and its scores; without cuts, a score per system.

    With several bins, their scores are left out, and with several rewriters their texts, so that the table fits a page.

    :mod:`robustcs.reporting.turns` describes ``turns``.
    """
    names = turns["formulations"]
    shown = [place for place, cut in enumerate(turns["cuts"]) if cut["main"]]
    several = len({turns["cuts"][place]["formulations"][-2] for place in shown}) > 1
    texts = [
        any(turn["texts"][place] for turn in turns["turns"]) and not (several and 0 < place < len(names) - 1)
        for place in range(len(names))
    ]
    columns = [Column("turn", "left")]
    columns += [Column(name, "left") for name, known in zip(names, texts, strict=True) if known]
    for place in shown:
        cut = turns["cuts"][place]
        columns.append(Column(names[cut["formulations"][-2]] if several else "bin", "left", cut["label"]))
        if len(shown) == 1:
            columns += [Column(names[formulation], group=cut["label"]) for formulation in cut["formulations"]]
    scored = [] if shown or not turns["measures"] else _scored(turns)
    columns += [Column(turns["systems"][place], group=turns["measures"][turns["headline"]]) for place in scored[:MOST_SYSTEMS]]
    rows = []
    for turn in turns["turns"]:
        row = [turn["turn"], *(text or "" for text, known in zip(turn["texts"], texts, strict=True) if known)]
        for place in shown:
            cut = turns["cuts"][place]
            bin_ = turn["bins"][place]
            row.append(marks(bin_).replace(" ", "") if bin_ else "")
            row += _cells(turn["scores"][cut["measure"]], cut["formulations"]) if len(shown) == 1 else []
        if scored:
            row += _cells(turn["scores"][turns["headline"]], scored[:MOST_SYSTEMS])
        rows.append(tuple(row))
    note = (
        "Bin: whether the answers to Original, QR and Human are correct (✓) or wrong (×). Empty: not scored." if shown else ""
    )
    if len(scored) > MOST_SYSTEMS:
        note += f" The first {MOST_SYSTEMS} of {len(scored)} systems; the card of a turn has all."
    if turns["left_out"]:
        note += f" {turns['left_out']} further turns are in the CSV and JSON files."
    return Table(TURNS, f"All {len(rows)} turns", tuple(columns), tuple(rows), note.strip())


def _scored(turns: Mapping[str, Any]) -> list[int]:
    """Return the indices of the systems with a score on any turn."""
    values = [turn["scores"][turns["headline"]] for turn in turns["turns"]]
    return [place for place in range(len(turns["systems"])) if any(scores[place] is not None for scores in values)]


def _cells(values: Sequence[float | None], places: Sequence[int]) -> list[str]:
    return ["" if (value := values[place]) is None else f"{value:.2f}" for place in places]
