"""All turns of a report as one table, from which each opens as a card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustcs.documents.document import Column, Table
from robustcs.documents.words import marks

#: Slug of the table, by which a page knows it.
TURNS = "turns"


def turn_table(turns: Mapping[str, Any]) -> Table:
    """One row per turn: id, texts, and per cut its bin and the scores that put it there.

    :mod:`robustcs.reporting.turns` describes ``turns``.
    """
    names = turns["formulations"]
    texts = [any(turn["texts"][place] for turn in turns["turns"]) for place in range(len(names))]
    columns = [Column("turn", "left")]
    columns += [Column(name, "left") for name, known in zip(names, texts, strict=True) if known]
    shown = [place for place, cut in enumerate(turns["cuts"]) if cut["main"]]
    for place in shown:
        cut = turns["cuts"][place]
        columns.append(Column("bin", "left", cut["label"]))
        columns += [Column(names[formulation], group=cut["label"]) for formulation in cut["formulations"]]
    rows = []
    for turn in turns["turns"]:
        row = [turn["turn"], *(text or "" for text, known in zip(turn["texts"], texts, strict=True) if known)]
        for place in shown:
            cut = turns["cuts"][place]
            bin_ = turn["bins"][place]
            row.append(marks(bin_).replace(" ", "") if bin_ else "")
            values = turn["scores"][cut["measure"]]
            row += ["" if values[formulation] is None else f"{values[formulation]:.2f}" for formulation in cut["formulations"]]
        rows.append(tuple(row))
    note = "Bins: is the answer to Original, QR and Human correct? Empty: not scored." if shown else ""
    if turns["left_out"]:
        note += f" {turns['left_out']} further turns are in the CSV and JSON files."
    return Table(TURNS, f"All {len(rows)} turns", tuple(columns), tuple(rows), note.strip())
