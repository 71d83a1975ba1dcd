"""The table of all turns of a report; each turn opens as a card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robustcs.documents.bins import marks
from robustcs.documents.document import Column, Table
from robustcs.wording import counted

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
    main = [place for place, cut in enumerate(turns["cuts"]) if cut["main"]]
    cuts = [turns["cuts"][place] for place in main]
    several = len({cut["formulations"][-2] for cut in cuts}) > 1
    texts = [
        place for place in range(len(names))
        if any(turn["texts"][place] for turn in turns["turns"]) and not (several and 0 < place < len(names) - 1)
    ]  # fmt: skip
    measure, scored = turns["headline"], [] if cuts or not turns["measures"] else _scored(turns)
    shown = scored[:MOST_SYSTEMS]
    if len(cuts) == 1:
        measure, shown = cuts[0]["measure"], cuts[0]["formulations"]
    columns = [Column("turn", "left"), *(Column(names[place], "left") for place in texts)]
    columns += [Column(names[cut["formulations"][-2]] if several else "bin", "left", cut["label"]) for cut in cuts]
    columns += [
        Column(turns["systems"][place], group=cuts[0]["label"] if cuts else turns["measures"][measure]) for place in shown
    ]
    rows = [
        (
            turn["turn"], *(turn["texts"][place] or "" for place in texts),
            *(marks(turn["bins"][place]).replace(" ", "") for place in main),
            *("" if (value := turn["scores"][measure][place]) is None else f"{value:.2f}" for place in shown),
        )
        for turn in turns["turns"]
    ]  # fmt: skip
    note = "Bin: whether the answers to Original, QR and Human are correct (✓) or wrong (×). Empty: not scored." if cuts else ""
    if len(scored) > MOST_SYSTEMS:
        note += f" The first {MOST_SYSTEMS} of {len(scored)} systems; the card of a turn has all."
    if turns["left_out"]:
        note += f" The CSV and JSON files contain {counted(turns['left_out'], 'further turn')}."
    return Table(TURNS, f"All {counted(len(rows), 'turn')}", tuple(columns), tuple(rows), note.strip())


def _scored(turns: Mapping[str, Any]) -> list[int]:
    """Return the indices of the systems with a score on any turn."""
    values = [turn["scores"][turns["headline"]] for turn in turns["turns"]]
    return [place for place in range(len(turns["systems"])) if any(scores[place] is not None for scores in values)]
