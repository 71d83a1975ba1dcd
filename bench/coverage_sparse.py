"""Trials of ``coverage.py`` for pairs of systems that differ in few conversations, and for samples of a rewriter.

The sparse pairs are real: two runs of a collection under a measure, or a run with and without the judgments that only one run
contributed. A cell is the share of conversations in which the pair differs, and the number of conversations drawn.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from unittest.mock import patch

import numpy as np

from bench.coverage_cells import LABELS, POLICY, Collection, Floats, Tally, Trial, run_files
from bench.coverage_items import _scores, _tops
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.statistics import sign_flip
from robustcs.statistics.columns import UnitsNeeded, effect_sizes, units_needed, within_margin
from robustcs.statistics.estimate import Estimate, Tested, sparse_note
from robustcs.statistics.samples import sampled_mean, sampling_error
from robustcs.statistics.units import Units, units_of
from robustcs.studies.crowd.analysis import as_qrels

#: Cells by the share of conversations in which a pair differs.
SHARES = (0.0, 0.1, 0.25, 0.5)
NAMES = ("below 10%", "10 to 25%", "25 to 50%", "above 50%")
MEASURES = ("ndcg_cut_3", "map", "P_1", "P_3", "recip_rank", "success_10")
#: Largest number of pairs per measure and cell, and of pairs per cell whose needed units are checked.
PAIRS, PLANNED = 8, 4
#: Random sign patterns; this number suffices for 95% limits.
DRAWS = 999
#: Trials per estimate of power, and the largest number of units tried.
TRIALS, MOST = 600, 400

SAMPLES, SEED_EFFECTS = (3, 5), (0.0, 0.03)


# ---------------------------------------------------------------- sparse differences


def _differences(data: Path, name: str) -> tuple[Floats, Iterator[tuple[str, Floats]]]:
    """Return the sizes of the units, and the pairs' sums of differences by measure."""
    folder = data / name.lower().replace(" ", "")
    qrels = read_qrels(folder / ("qrels_human.txt.gz" if name == "DL 2021" else "qrels.txt.gz"))
    rankings = [rank_run(read_run(folder / file), POLICY) for file in run_files(data, name)]
    measures = [parse_measure(measure) for measure in MEASURES]
    matrices = [grade_matrix(ranking, qrels) for ranking in rankings]
    columns = [score_columns(matrix, measures, POLICY) for matrix in matrices]
    units = units_of(matrices[0].turns)

    def pairs() -> Iterator[tuple[str, Floats]]:
        for measure in measures:
            sums = units.sums(np.array([column[measure.name] for column in columns]))
            yield from (
                (measure.name, sums[a] - sums[b]) for a, b in combinations(range(len(sums)), 2)
            )
        if name.startswith("CAsT"):
            yield from _few_judgments(name, rankings, qrels, units)

    return units.sizes, pairs()


def _few_judgments(
    name: str, rankings: Sequence[Ranking], qrels: Qrels, units: Units
) -> Iterator[tuple[str, Floats]]:
    """Yield the change of every run by the judgments that only one run's top 3 contributed."""
    documents = qrels.documents.texts()
    pairs = zip(
        qrels.turn_codes.tolist(), qrels.document_codes.tolist(), qrels.grades.tolist(), strict=True
    )
    judged = [(qrels.turns[turn], documents[document], grade) for turn, document, grade in pairs]
    tops = [_tops(ranking) for ranking in rankings]
    after = _scores(rankings, qrels)
    for place, top in enumerate(tops):
        few = top.difference(*(other for number, other in enumerate(tops) if number != place))
        fewer = as_qrels(name, [row for row in judged if row[:2] not in few])
        if units_of(grade_matrix(rankings[0], fewer).turns).labels != units.labels:
            continue  # without these judgments, a turn has none
        for measure, scores in _scores(rankings, fewer).items():
            for sums in units.sums(np.round(after[measure] - scores, 9)):
                yield f"{LABELS[measure]} by few new judgments", sums


def _cell(sums: Floats) -> int:
    return int(np.searchsorted(SHARES, (sums != 0).mean(), side="right")) - 1


def sparse_trial(data: Path, name: str) -> tuple[int, Trial]:
    """Return a trial of intervals of differences with and without the rule, equivalence at the margin, and units needed."""
    sizes, every = _differences(data, name)
    by_cell: dict[tuple[int, str], list[Floats]] = defaultdict(list)
    for what, sums in every:
        sums[np.abs(sums) < 1e-9] = 0
        if sums.any():
            by_cell[_cell(sums), what].append(sums)
    generator = np.random.default_rng(0)
    chosen = [
        (cell, f"{what} {place}", pairs[place])
        for (cell, what), pairs in by_cell.items() for place in sorted(generator.permutation(len(pairs))[:PAIRS].tolist())
    ]  # fmt: skip
    tables = np.array([sums for _, _, sums in chosen])
    truths = tables.sum(axis=1) / sizes.sum()
    planned = _planned(chosen, sizes, generator)

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        turns = sizes[drawn]
        seed = int(generator.integers(2**31))
        with patch.object(sign_flip, "sparse_note", lambda *_: ""):
            tests = sign_flip.paired_tests(tables[:, drawn], turns, seed, draws=DRAWS)
        for (cell, row, _), test, truth in zip(chosen, tests, truths.tolist(), strict=True):
            if math.isnan(test.low):
                # no unit differs, so the interval covers nothing
                test = replace(test, low=math.inf, high=-math.inf)
            _take(
                tally,
                f"sparse, {NAMES[cell]}, any",
                f"{name} {row}",
                test,
                truth,
                -abs(truth) < test.low <= test.high < abs(truth),
            )
            if sparse_note(test.moving, test.units, "unit") or not test.moving:
                test = replace(test, low=math.nan, high=math.nan)
            _take(
                tally,
                f"sparse, {NAMES[cell]}, rule",
                f"{name} {row}",
                test,
                truth,
                bool(within_margin(test, abs(truth))),
            )
        for place, number in planned.items():
            effects = effect_sizes(tables[place, drawn], turns)
            (needed,) = units_needed(effects)
            _planning(
                tally,
                f"needed, {NAMES[chosen[place][0]]}",
                f"{name} {chosen[place][1]}",
                effects[0],
                needed,
                number,
            )

    return len(sizes), trial


def _take(tally: Tally, kind: str, row: str, test: Tested, truth: float, equivalent: bool) -> None:
    """Count an interval, whether it is printed, and whether it wrongly calls a difference of the margin's size equivalent."""
    tally.interval(kind, row, test, truth)
    tally.power(kind, row, not math.isnan(test.low))
    tally.level(kind, row, 0.0 if equivalent else 1.0)


def _planned(
    chosen: list[tuple[int, str, Floats]], sizes: Floats, generator: np.random.Generator
) -> dict[int, int]:
    """Return the number of units that find the difference in 80% of trials, for some pairs of every cell."""
    found: dict[int, int] = {}
    left = dict.fromkeys(range(len(SHARES)), PLANNED)
    for place in generator.permutation(len(chosen)).tolist():
        cell, _, sums = chosen[place]
        if left[cell] and (number := _units_for_power(sums, generator)):
            found[place] = number
            left[cell] -= 1
    return found


def _units_for_power(sums: Floats, generator: np.random.Generator) -> int | None:
    """Return this number, found by bisection to 3%; None beyond :data:`MOST`."""

    def power(count: int) -> float:
        drawn = sums[generator.integers(0, len(sums), (TRIALS, count))]
        tests = sign_flip.paired_tests(
            drawn, np.ones(count), int(generator.integers(2**31)), draws=DRAWS
        )
        return float(np.mean([test.p <= 0.05 for test in tests]))

    # a t-test needs less time and excludes pairs that MOST units do not find
    if abs(sums.mean()) < 2.8 * sums.std() / math.sqrt(MOST):
        return None
    below, above = 5, MOST
    while above - below > max(1, 0.03 * above):
        middle = int(math.sqrt(below * above)) if above > 2 * below else (below + above) // 2
        below, above = (below, middle) if power(middle) >= 0.8 else (middle, above)
    return above if above < MOST else None


def _planning(
    tally: Tally, kind: str, row: str, effect: Estimate, needed: UnitsNeeded, truth: int
) -> None:
    """Count whether the interval of the units needed contains the truth, and whether it has an upper limit."""
    if needed.low is not None:
        high = math.nan if needed.high is None else float(needed.high)
        tally.interval(kind, row, Estimate(effect.value, needed.low, high, effect.units, ""), truth)
        tally.power(kind, row, needed.high is not None)


def sparse_table(found: Mapping[tuple[str, int], Tally]) -> list[str]:
    """Return the Markdown table by share of conversations that differ, for all intervals and for the printed ones."""
    lines = [
        "| conversations that differ | pairs | K | all intervals: coverage (lowest) | false equivalence (highest) | printed"
        " | coverage (lowest) | false equivalence (highest) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell in NAMES:
        for count in _counts(found, "sparse"):
            every, ruled = (
                _rows(found, count, f"sparse, {cell}, {how}") for how in ("any", "rule")
            )
            parts = [f"{_covered(every)} | {_equivalent(every)}", f"{100 * ruled[:, 6].sum() / ruled[:, 7].sum():.0f}%",
                     f"{_covered(ruled)} | {_equivalent(ruled)}"]  # fmt: skip
            lines.append(f"| {cell} | {len(every)} | {count} | {' | '.join(parts)} |")
    return lines


def needed_table(found: Mapping[tuple[str, int], Tally]) -> list[str]:
    """Return the Markdown table of the coverage of the units needed to find a difference in 80% of trials."""
    lines = [
        "| conversations that differ | pairs | K | coverage (lowest) | with an upper limit |",
        "|---|---|---|---|---|",
    ]
    for cell in NAMES:
        for count in _counts(found, "needed"):
            rows = _rows(found, count, f"needed, {cell}")
            if len(rows):
                lines.append(
                    f"| {cell} | {len(rows)} | {count} | {_covered(rows)} | {100 * rows[:, 6].sum() / rows[:, 7].sum():.0f}% |"
                )
    return lines


def _counts(found: Mapping[tuple[str, int], Tally], kind: str) -> list[int]:
    return sorted(
        {
            count
            for (_, count), tally in found.items()
            if any(key[0].startswith(kind) for key in tally.counts)
        }
    )


def _rows(found: Mapping[tuple[str, int], Tally], count: int, kind: str) -> Floats:
    rows = [
        counts for (_, drawn), tally in found.items() if drawn == count
        for key, counts in sorted(tally.counts.items()) if key[0] == kind
    ]  # fmt: skip
    return np.array(rows).reshape(len(rows), len(Tally.FIELDS))


def _covered(rows: Floats) -> str:
    """Return the coverage of a cell, and the lowest of the pairs with an interval in at least a tenth of the trials."""
    if not rows[:, 1].any():
        return "–"
    often = rows[rows[:, 1] >= 0.1 * rows[:, 1:8].max()]
    lowest = f" ({100 * (often[:, 0] / often[:, 1]).min():.0f})" if len(often) else ""
    return f"{100 * rows[:, 0].sum() / rows[:, 1].sum():.1f}{lowest}"


def _equivalent(rows: Floats) -> str:
    shares = 100 * rows[:, 3] / rows[:, 5]
    return f"{shares.mean():.1f} ({shares.max():.0f})"


# ---------------------------------------------------------------- samples of a rewriter


def samples_trial(some: Collection) -> Trial:
    """Return a trial of samples: the collection's runs, redrawn in every turn or conversation, plus a seed effect."""
    scores = some.scores["ndcg_cut_3"]
    rows = [np.flatnonzero(some.units.codes == code) for code in range(some.units.count)]
    means = scores.mean(axis=0)

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        taken = np.concatenate([rows[code] for code in drawn])
        codes = np.repeat(np.arange(len(drawn)), [len(rows[code]) for code in drawn])
        units = Units("conversation", codes, tuple(map(str, range(len(drawn)))))
        here = float(means[taken].mean())
        for n in SAMPLES:
            for spread in SEED_EFFECTS:
                for how, whole in (("turn", False), ("conversation", True)):
                    row = f"{some.name} {how}"

                    def sample(count: int, whole: bool = whole, spread: float = spread) -> Floats:
                        run = generator.integers(0, len(scores), (len(drawn), count))[codes] if whole else (
                            generator.integers(0, len(scores), (len(taken), count))
                        )  # fmt: skip
                        return scores[run, taken[:, None]] + spread * generator.normal(size=count)

                    table = sample(n)
                    kind = f"samples, {n}, {spread:g}"
                    tally.interval(
                        f"{kind}, mean", row, sampled_mean(table, units), float(means.mean())
                    )
                    half, _ = sampling_error(table, units)
                    for what, value, reach in (
                        ("average", float(table.mean()), half / math.sqrt(n)), ("one", float(sample(1).mean()), half),
                    ):  # fmt: skip
                        estimate = Estimate(value, value - reach, value + reach, n, "")
                        tally.interval(f"{kind}, {what}", row, estimate, here)

    return trial


def samples_table(found: Mapping[tuple[str, int], Tally]) -> list[str]:
    """Return the Markdown table of the coverage for the mean of n samples, and of ± for their average and a new sample."""
    lines = [
        "| samples n | seed effect, sd | K | mean (lowest) | width | ± of the average | ± of a new sample | width |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for n in SAMPLES:
        for spread in SEED_EFFECTS:
            for count in _counts(found, "samples"):
                mean, average, one = (
                    _rows(found, count, f"samples, {n}, {spread:g}, {what}")
                    for what in ("mean", "average", "one")
                )
                parts = [
                    _covered(mean),
                    _width(mean),
                    _covered(average),
                    _covered(one),
                    _width(one),
                ]
                lines.append(f"| {n} | {spread:g} | {count} | {' | '.join(parts)} |")
    return lines


def _width(rows: Floats) -> str:
    return f"{rows[:, 2].sum() / rows[:, 1].sum():.3f}"


#: Part → name of a table in docs/statistics.md → function that makes it.
TABLES: dict[str, dict[str, Callable[[Mapping[tuple[str, int], Tally]], list[str]]]] = {
    "sparse": {"sparse": sparse_table, "needed": needed_table},
    "samples": {"samples": samples_table},
}
