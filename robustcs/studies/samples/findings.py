"""Findings on the differences between samples of a rewriter."""

from __future__ import annotations

import math
from typing import Any

from robustcs.documents.document import TurnSet
from robustcs.documents.headline import headline_measure
from robustcs.documents.words import measure_label, number, number_interval, percent, percent_range
from robustcs.records.filter import term
from robustcs.studies.samples.analysis import Samples
from robustcs.studies.samples.show import SHOWN, moving
from robustcs.wording import counted


def samples_findings(result: Samples) -> tuple[str, ...]:
    """Return the findings of each rewriter: the share of differing texts, the variation of scores, and the gain of a choice."""
    return tuple(" ".join(_about(result, row)) for row in result.samples.itertuples())


def turns_to_read(result: Samples) -> tuple[TurnSet, ...]:
    """Return the turns of each rewriter whose samples differ most."""
    sets = []
    for rewriter in result.samples["rewriter"]:
        differ, _, _ = moving(result, rewriter)
        turns = [str(turn) for turn in differ["turn"].head(SHOWN)]
        says = f"samples of {rewriter} differ most"
        sets.append(TurnSet(says, term("turn", *turns), len(turns)))
    return tuple(sets)


def _about(result: Samples, row: Any) -> list[str]:
    sentences = []
    if row.turns:
        between = (
            ""
            if math.isnan(row.differ_low)
            else f" (95% CI {percent_range(row.differ_low, row.differ_high)})"
        )
        turns = counted(row.turns, "turn")
        sentences.append(
            f"The sampled texts of {row.rewriter} differ on {percent(row.differ)} of {turns}{between}."
        )
    frame = result.sample_scores[result.sample_scores["rewriter"] == row.rewriter]
    if len(frame):
        metric = headline_measure(frame["metric"])
        [one] = frame[frame["metric"] == metric].itertuples()
        label = measure_label(metric)
        mean = f"The mean {label} of {row.rewriter} over {counted(one.samples, 'sample')} is {number(one.mean, 3)}"
        if not math.isnan(one.mean_low):
            limits, unit = number_interval(one.mean_low, one.mean_high), result.evaluated.unit
            mean += f" (95% CI {limits} for other {unit}s and other samples)"
        if not math.isnan(one.half):
            mean += f"; the mean of one sample has a 95% CI of ±{number(one.half, 3)} for other samples on these turns"
        sentences.append(f"{mean}.")
        sentences.append(
            f"A perfect choice among {one.samples} samples in every turn would gain {number(one.gain, 3)} {label} over the best"
            f" single sample; {number(one.by_chance, 3)} is expected by chance."
        )
    elif row.answered:
        sentences.append(
            f"Rankings of {row.rewriter} for the same turn have a mean rank-biased overlap of {number(row.ranking, 3)}."
        )
    return sentences
