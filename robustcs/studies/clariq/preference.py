"""Which of two systems people prefer, criterion by criterion (Acute-eval)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robustcs.inputs.preferences import TIE, Preference
from robustcs.inputs.turns import turn_sort_key
from robustcs.lazy import pd
from robustcs.result import count, number, p_value, share, table, text
from robustcs.statistics.columns import P_FLOOR
from robustcs.statistics.estimate import Tested
from robustcs.statistics.families import holm_family
from robustcs.statistics.means import preferred_share

PREFERENCE = table(
    "preference", "Which of two systems people prefer; a pair stands in the order in which the file names it first.",
    text("criterion", header="Criterion"), text("first"), text("second"), count("wins", "of the first system"),
    count("losses", "of the first system"), count("ties"), share("share", "wins of wins and losses; null with ties only"),
    number("ci_low", "95 %, from the test that gives p; null for fewer than five units"), number("ci_high"),
    p_value("p", "of the share against one half, two-sided, ties left out"),
    p_value("p_corrected", "Holm, over the criteria of the two systems", "p adj."), count("judgments"),
    count("units", "independent pairs of conversations, or judgments, that decide"),
    P_FLOOR,
    text("method", "exact binomial test; Wilson with the effective sample size of the pairs where one was judged repeatedly"),
    text("note", "what must be known beside the numbers"),
)  # fmt: skip


def preference_table(preferences: Sequence[Preference]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table :data:`PREFERENCE`, one row per criterion and pair of systems, and what its tests cannot show.

    Judgments of the same pair of conversations depend on each other, so that pair is the unit; a judgment without one is a unit
    of its own.
    """
    systems: dict[frozenset[str], tuple[str, str]] = {}
    judged: dict[tuple[str, str, str], list[Preference]] = {}
    for one in preferences:
        first, second = systems.setdefault(frozenset((one.first, one.second)), (one.first, one.second))
        judged.setdefault((one.criterion, first, second), []).append(one)
    rows = []
    tests: dict[tuple[str, str], list[Tested]] = {}
    for (criterion, first, second), some in judged.items():
        units: dict[tuple[str, int], list[int]] = {}
        for place, one in enumerate(sorted(some, key=lambda one: turn_sort_key(one.pair))):
            tally = units.setdefault((one.pair, -1 if one.pair else place), [0, 0, 0])
            tally[(first, second, TIE).index(one.winner)] += 1
        table = np.array(list(units.values()))
        wins, losses, ties = table.sum(axis=0).tolist()
        noun = "pair" if any(one.pair for one in some) else "judgment"
        test = preferred_share(table[:, 0], table[:, 0] + table[:, 1], noun)
        tests.setdefault((first, second), []).append(test)
        rows.append(
            (criterion, first, second, wins, losses, ties, test.value, test.low, test.high, test.p, float("nan"), len(some),
             test.units, test.floor, test.method, test.note)
        )  # fmt: skip
    frame = PREFERENCE.frame(rows)
    notes = []
    for (first, second), own in tests.items():
        family = holm_family(own)
        frame.loc[(frame["first"] == first) & (frame["second"] == second), "p_corrected"] = family.p
        notes += [f"preference, {first} and {second}: {family.note}"] if family.note else []
    return frame, tuple(notes)
