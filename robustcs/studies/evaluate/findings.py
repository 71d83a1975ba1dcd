"""Which systems can be told apart, as verdicts and in plain sentences."""

from __future__ import annotations

from robustcs.documents.document import Verdict
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, number, number_interval
from robustcs.studies.evaluate.analysis import ALPHA, Evaluation
from robustcs.wording import counted, some_of

#: Systems that are named; the table has all.
_NAMED = 3


def verdicts(result: Evaluation) -> tuple[Verdict, ...]:
    """The best system and who cannot be told from it, and how many pairs can be told apart."""
    metric = headline_measure(result.measures["metric"])
    rows = result.measures[result.measures["metric"] == metric]
    best, *others = rows.itertuples()
    label = measure_label(metric)
    pairs = result.pairs[result.pairs["metric"] == metric]
    near = [row.run for row in others if set(row.letters.split()) & set(best.letters.split())]
    if near:
        beside = f"; {counted(len(near), 'system')} cannot be told from it ({some_of(near, _NAMED)})"
    else:
        beside = "; all others are told apart from it" if len(pairs) else ""
    first = Verdict(
        number(best.value, 3), number_interval(best.ci_low, best.ci_high).strip("–"),
        f"is the highest mean {label}, that of {best.run}{beside}", f"{best.turns} turns, {len(rows)} systems", 0.1, "correct",
    )  # fmt: skip
    if not len(pairs):
        return (first,)
    told = int((pairs["p_corrected"] <= ALPHA).sum())
    closest = pairs[pairs["p_corrected"] <= ALPHA]["difference"].abs().min() if told else None
    said = f"of the pairs of systems are told apart by {label}"
    if closest is not None:
        said += f"; the smallest difference among them is {number(float(closest), 3)}"
    apart = Verdict(
        f"{100 * told / len(pairs):.0f} %", "", said, f"{told} of {len(pairs)} pairs; p ≤ {ALPHA:g},"
        f" {result.families[metric].describe()}", 0.1 * (1 - told / len(pairs)), subject="differences",
    )  # fmt: skip
    return first, apart
