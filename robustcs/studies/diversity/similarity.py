"""Similarity of the texts of several rewriters to a reference, over all samples, and differences between the rewriters.

Measures ROUGE (Lin, 2004) of each text with the reference for its turn, the most similar one if there are several. Averages
over the texts of a turn, then over turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from robustcs.policy import Unit
from robustcs.result import count, difference, p_value, score, table, text
from robustcs.similarity.rouge import rouge
from robustcs.statistics.columns import EXACT, P_FLOOR
from robustcs.statistics.estimate import joined
from robustcs.statistics.families import max_t_family
from robustcs.statistics.means import mean_estimates
from robustcs.statistics.ranks import DECIMALS
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import units_of

#: The measure used in findings.
HEADLINE = "rouge1_f"
ROUGE = (HEADLINE, "rouge2_f", "rougeL_f")

#: Measure → float[texts]: similarity of each text to its source.
Similarities = Mapping[str, np.ndarray]
_NOTE = text("note", "caveats")
_MEASURE = text("measure", "rouge1_f, rouge2_f or rougeL_f (stemmed), and with an encoder cosine_NAME", "Measure")

SIMILARITY = table(
    "similarity", "Similarity of the texts of a target to their source: mean over the texts (samples) of a turn, then over"
    " turns.",
    text("source", "name of the reference texts", "Source"), text("target", "name of the measured texts", "Target"),
    _MEASURE, count("turns"), count("texts", "all samples of all turns"), count("samples", "largest number of texts of a turn"),
    *score("value", "0 to 1 for ROUGE; a text without letters or digits scores 0", "mean").rounded(3).between(
        says="95%, cluster-robust t; the texts are fixed"
    ), _NOTE,
)  # fmt: skip
PAIRS = table(
    "similarity_pairs", "Differences between targets in similarity to their source, over the turns that all three have. No"
    " rows for more than 50 targets.",
    text("source", header="Source"), text("first", header="First"), text("second", header="Second"), _MEASURE, count("turns"),
    *difference("difference", "first minus second", "diff.").rounded(3).between(
        says="not adjusted for multiple comparisons, from the same test as p"
    ), p_value(says="two-sided sign-flip test by sampling unit", header="p"),
    p_value("p_corrected", "adjusted by max-T over all pairs of the source and measure", "p adj."), P_FLOOR, EXACT, _NOTE,
)  # fmt: skip


def label(measure: str) -> str:
    """Return the name of a measure in texts, such as ``ROUGE-1 F`` for ``rouge1_f``."""
    kind, _, part = measure.partition("_")
    return f"ROUGE-{kind.removeprefix('rouge')} {part.upper()}" if measure in ROUGE else f"cosine ({part.replace('_', '-')})"


def rouge_of(texts: Sequence[str], references: Sequence[Sequence[str]]) -> Similarities:
    """Return ROUGE F of every text with its references; with several references, the highest."""
    sizes = [len(some) for some in references]
    candidates = [one for one, size in zip(texts, sizes, strict=True) for _ in range(size)]
    found = rouge(candidates, [one for some in references for one in some])
    starts = np.cumsum([0, *sizes[:-1]])
    return {name: np.maximum.reduceat(found[name], starts) for name in ROUGE}


def compare_similarities(
    source: str, targets: Mapping[str, tuple[Mapping[str, int], Similarities]], unit: Unit, seed: int, every_pair: bool = True
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows of both tables for one source; ``targets``: name → (turn → its number of texts, similarities)."""
    turns = list(dict.fromkeys(turn for sizes, _ in targets.values() for turn in sizes))
    place = {turn: at for at, turn in enumerate(turns)}
    units = units_of(turns, unit)
    names = list(targets)
    there = np.zeros((len(names), len(turns)), dtype=bool)
    for row, (sizes, _) in zip(there, targets.values(), strict=True):
        row[[place[turn] for turn in sizes]] = True
    compared = list(combinations(range(len(names)), 2)) if every_pair else []
    # pairs of targets without a common turn cannot be compared
    both = {pair: there[pair[0]] & there[pair[1]] for pair in compared}
    both = {pair: common for pair, common in both.items() if common.any()}
    means: list[tuple[Any, ...]] = []
    pairs: list[tuple[Any, ...]] = []
    for measure in next(iter(targets.values()))[1]:
        values = np.zeros(there.shape)
        for row, (sizes, found) in zip(values, targets.values(), strict=True):
            counts = np.array(list(sizes.values()))
            starts = np.cumsum([0, *counts[:-1]])
            row[[place[turn] for turn in sizes]] = np.add.reduceat(found[measure], starts) / counts
        bounds = (0.0, 1.0) if measure in ROUGE else None
        estimates = mean_estimates(units.sums(values), units.sums(there), units.kind, bounds)
        for name, one in zip(names, estimates, strict=True):
            many = targets[name][0].values()
            means.append((source, name, measure, len(many), sum(many), max(many), one, joined(one.note, units.note)))
        if not both:
            continue
        rows = [np.where(common, values[first] - values[second], 0) for (first, second), common in both.items()]
        sums = np.round(units.sums(np.array(rows)), DECIMALS)
        tests = paired_tests(sums, units.sums(np.array(list(both.values()))), seed, units.kind)
        family = max_t_family(tests, sums, seed)
        for ((first, second), common), test, corrected in zip(both.items(), tests, family.p.tolist(), strict=True):
            pairs.append((
                source, names[first], names[second], measure, int(common.sum()), test, test.p, corrected, test.floor,
                test.exact, joined(test.note, family.note, units.note),
            ))  # fmt: skip
    return means, pairs
