"""Trials of ``coverage.py``: resampled conversations of public runs, and the estimates from them.

The conversations of a collection are the population, and the value over all of them is the truth. A trial draws K conversations
with replacement, treats each draw as a separate conversation, and checks whether the resulting interval contains the truth.
"Equal" systems are the same draws with the two systems swapped at random in whole conversations.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.measures import score_columns
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import Qrels, read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from robustcs.statistics.agreement import (
    Statistic,
    agreement_estimate,
    alpha_of,
    alpha_sums,
    cohen_of,
    cohen_sums,
    fleiss_of,
    fleiss_sums,
)
from robustcs.statistics.columns import detectable_noncentrality, effect_sizes, within_margin
from robustcs.statistics.estimate import Estimate
from robustcs.statistics.families import holm_family, max_t_family
from robustcs.statistics.means import mean_estimates, share_estimates
from robustcs.statistics.ranks import kendall, rank_stability
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.unit_correlation import (
    CORRELATIONS,
    unit_correlation,
    unit_partial_correlation,
)
from robustcs.statistics.units import Units, units_of

#: Random sign patterns of a trial; each trial draws new ones. The program uses twenty times this number.
DRAWS = 4_999
POLICY = EvaluationPolicy(relevance_level=2)
SCALE = np.arange(4)
#: Judges of the agreement cells: one harsh, one close to human judges. The first acts as a second rater.
JUDGES = ("willia-umbrela1", "h2oloo-fewself")

Floats = np.ndarray


class Tally:
    """Counts over trials by (kind of estimate, row)."""

    FIELDS = ("covers", "intervals", "width", "at_05", "at_01", "tests", "found", "searched")

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], Floats] = defaultdict(lambda: np.zeros(len(self.FIELDS)))

    def interval(self, kind: str, row: str, estimate: Estimate, truth: float) -> None:
        """Count whether an interval contains the truth. Without upper limit it has no width; nan limits are no interval."""
        if not math.isnan(estimate.low):
            high = math.inf if math.isnan(estimate.high) else estimate.high
            width = 0.0 if math.isinf(high) else high - estimate.low
            # truth and limit may be the same share up to rounding
            self.counts[kind, row][:3] += (estimate.low - 1e-9 <= truth <= high + 1e-9, 1, width)

    def level(self, kind: str, row: str, p: float) -> None:
        """Count a p-value for equal systems."""
        self.counts[kind, row][3:6] += (p <= 0.05, p <= 0.01, 1)

    def power(self, kind: str, row: str, found: bool) -> None:
        """Count whether a real difference was found at 0.05."""
        self.counts[kind, row][6:] += (found, 1)

    def add(self, other: dict[tuple[str, str], Floats]) -> None:
        """Add the counts of other trials."""
        for key, counts in other.items():
            self.counts[key] += counts


# ---------------------------------------------------------------- the collections


@dataclass(frozen=True, eq=False)
class Collection:
    """Per-turn scores of systems, measure → float64[S, T], and the units of the T turns.

    ``pairs`` are indices (first, second) of the compared systems; the second is the baseline.
    """

    name: str
    units: Units
    scores: dict[str, Floats]
    pairs: tuple[tuple[int, int], ...]
    many: tuple[int, ...]

    def sums(self, measure: str) -> Floats:
        """Return the sums of a measure by unit, float64[S, K0]."""
        return self.units.sums(self.scores[measure])


def run_files(data: Path, name: str) -> list[str]:
    """Return the run files of a collection, relative to its folder."""
    return {
        "CAsT 2019": [*(f"runs/bert_base_{run}.trec.gz" for run in ("raw", "cv", "oracle")),
                      *(f"decaf/bm25{bert}_{run}.run.gz" for bert in ("", "_bert") for run in ("raw", "t5", "manual"))],
        "CAsT 2020": [f"runs/bert_{run}.trec.gz" for run in ("raw", "auto", "manual")],
    }.get(name) or sorted(f"runs/{path.name}" for path in (data / "dl2021" / "runs").iterdir())  # fmt: skip


def read_collection(data: Path, name: str) -> Collection:
    """Read ``CAsT 2019`` (nine runs), ``CAsT 2020`` (three) or ``DL 2021`` (40 runs, each topic is a unit)."""
    folder = data / name.lower().replace(" ", "")
    qrels = read_qrels(folder / ("qrels_human.txt.gz" if name == "DL 2021" else "qrels.txt.gz"))
    files = run_files(data, name)
    measures = [parse_measure(measure) for measure in ("ndcg_cut_3", "map", "P_1")]
    matrices = [grade_matrix(rank_run(read_run(folder / file), POLICY), qrels) for file in files]
    columns = [score_columns(matrix, measures, POLICY) for matrix in matrices]
    scores = {
        measure.name: np.array([column[measure.name] for column in columns]) for measure in measures
    }
    middle = np.argsort(scores["ndcg_cut_3"].mean(axis=1))
    # Original, QR and Human; for DL a poor, a medium and a good run
    three = (
        (0, 1, 2)
        if len(files) < 20
        else (int(middle[4]), int(middle[len(files) // 2]), int(middle[-4]))
    )
    pairs = ((three[0], three[2]), (three[1], three[2]), (three[0], three[1]))
    many = tuple(
        range(len(files)) if len(files) < 20 else middle[:: len(files) // 12][:12].tolist()
    )
    return Collection(name, units_of(matrices[0].turns), scores, pairs, many)


@dataclass(frozen=True, eq=False)
class Judgments:
    """Human grades (first row) and grades of :data:`JUDGES` for the same n pairs, int64[3, n], and the pairs' topics."""

    grades: np.ndarray
    topics: np.ndarray


def read_judgments(data: Path) -> Judgments:
    """Read the LLMJudge pairs."""

    def keyed(qrels: Qrels) -> dict[tuple[str, str], int]:
        documents = qrels.documents.texts()
        return {
            (qrels.turns[turn], documents[document]): grade
            for turn, document, grade in zip(
                qrels.turn_codes.tolist(),
                qrels.document_codes.tolist(),
                qrels.grades.tolist(),
                strict=True,
            )
        }

    folder = data / "llmjudge"
    files = [
        folder / "human.qrels.gz",
        *(folder / "judges" / f"{judge}.qrels.gz" for judge in JUDGES),
    ]
    tables = [keyed(read_qrels(file)) for file in files]
    pairs = sorted(set.intersection(*map(set, tables)))
    topics = np.unique([topic for topic, _ in pairs], return_inverse=True)[1]
    return Judgments(np.array([[table[pair] for pair in pairs] for table in tables]), topics)


# ---------------------------------------------------------------- trials
# Each trial function is built once per collection and then called with drawn units, a generator and the tally.

Trial = Callable[[np.ndarray, np.random.Generator, Tally], None]


def _ratio(sums: Floats, sizes: Floats) -> Floats:
    return np.asarray(sums.sum(axis=-1) / sizes.sum())


def means_trial(some: Collection) -> Trial:
    """Return a trial of means of NDCG and MAP, of shares of turns, and of means with the turn as unit."""
    sizes = some.units.sizes
    systems = sorted({system for pair in some.pairs for system in pair})
    dense = {name: some.sums(name)[systems] for name in ("ndcg_cut_3", "map")}
    top = some.scores["P_1"] > 0
    shares = {"share of turns (P@1)": some.units.sums(top[systems])}
    # turns that only the first of a pair answers, which are rare
    shares["rare share of turns"] = some.units.sums(
        np.array([top[first] & ~top[second] for first, second in some.pairs])
    )
    squares = some.units.sums(some.scores["ndcg_cut_3"][systems] ** 2)

    def trial(drawn: np.ndarray, _: np.random.Generator, tally: Tally) -> None:
        turns = sizes[drawn]
        for name, sums in dense.items():
            for row, estimate in enumerate(mean_estimates(sums[:, drawn], turns, bounds=(0, 1))):
                tally.interval(
                    f"mean {LABELS[name]}", str(row), estimate, float(_ratio(sums[row], sizes))
                )
        for kind, sums in shares.items():
            for row, estimate in enumerate(share_estimates(sums[:, drawn], turns)):
                tally.interval(kind, str(row), estimate, float(_ratio(sums[row], sizes)))
        if len(sizes) < len(some.units.codes):
            sums, number = dense["ndcg_cut_3"], turns.sum()
            for row in range(len(systems)):
                mean = sums[row, drawn].sum() / number
                error = math.sqrt((squares[row, drawn].sum() / number - mean**2) / (number - 1))
                half = stdtrit(number - 1, 0.975) * error
                estimate = Estimate(mean, mean - half, mean + half, len(drawn), "t over turns")
                tally.interval(
                    "mean NDCG, the turn as unit",
                    str(row),
                    estimate,
                    float(_ratio(sums[row], sizes)),
                )

    return trial


def differences_trial(some: Collection) -> Trial:
    """Return a trial of differences, drops, effect sizes, detectable differences and margins of the collection's pairs."""
    sizes = some.units.sizes
    first, second = (np.array(side) for side in zip(*some.pairs, strict=True))
    tables = {name: some.sums(name)[first] - some.sums(name)[second] for name in some.scores}
    baseline = some.sums("ndcg_cut_3")[second]
    length = sizes.mean()

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        turns, count = sizes[drawn], len(drawn)
        seed = int(generator.integers(2**31))
        signs = generator.choice([-1.0, 1.0], size=count)

        def both(named: list[tuple[str, Floats]], mid_p: bool) -> None:
            stacked = np.concatenate([sums[:, drawn] for _, sums in named])
            tests = paired_tests(
                np.concatenate([stacked, stacked * signs]), turns, seed, mid_p=mid_p, draws=DRAWS
            )
            rows = [(kind, row, sums) for kind, sums in named for row in range(len(sums))]
            for (kind, row, sums), test, null in zip(rows, tests, tests[len(rows) :], strict=False):
                tally.interval(kind, str(row), test, float(_ratio(sums[row], sizes)))
                tally.power(kind, str(row), test.p <= 0.05)
                tally.level(kind, str(row), null.p)

        both([(f"difference {LABELS[name]}", sums) for name, sums in tables.items()], False)
        both([("difference of shares (McNemar, mid-p)", tables["P_1"])], True)
        sums = tables["ndcg_cut_3"]
        for row, test in enumerate(
            paired_tests(sums[:, drawn], baseline[:, drawn], seed, draws=DRAWS)
        ):
            tally.interval(
                "drop in % NDCG", str(row), test, float(sums[row].sum() / baseline[row].sum())
            )
        truth = _ratio(sums, sizes)
        rest = sums - truth[:, None] * sizes
        spread = np.sqrt((rest**2).mean(axis=1)) / length
        for row, estimate in enumerate(effect_sizes(sums[:, drawn], turns)):
            tally.interval("effect size NDCG", str(row), estimate, float(truth[row] / spread[row]))
        least = detectable_noncentrality(count) * spread / math.sqrt(count)
        # plant the difference that 80% of tests should find; as a margin, it should rarely count as "inside"
        planted = rest[:, drawn] + least[:, None] * turns
        for row, test in enumerate(paired_tests(planted, turns, seed, draws=DRAWS)):
            tally.power("detectable difference NDCG", str(row), test.p <= 0.05)
            inside = within_margin(test, float(least[row]))
            tally.level("equivalent at the margin (false)", str(row), 0.0 if inside else 1.0)

    return trial


def correlations_trial(some: Collection) -> Trial:
    """Return a trial of correlations over turns: NDCG of two systems, and NDCG of one system with another's gain over it.

    Under the null hypothesis, the second value changes its sign at random in whole conversations, so the correlation is 0 on
    average. The partial correlation controls for a third system's NDCG.
    """
    scores = some.scores["ndcg_cut_3"]
    low, middle, high = some.pairs[0][0], some.pairs[1][0], some.pairs[0][1]
    gain = scores[high] - scores[low]
    couples = {
        "0": (scores[low], scores[high]),
        "1": (scores[middle], scores[high]),
        "2": (scores[low], gain),
    }
    third = {"0": scores[middle], "1": scores[low], "2": scores[middle]}
    rows = [np.flatnonzero(some.units.codes == code) for code in range(some.units.count)]
    truths = {
        (method, row): unit_correlation(x, y, some.units, method).value
        for row, (x, y) in couples.items()
        for method in CORRELATIONS
    }
    partials = {
        row: unit_partial_correlation(*couples[row], third[row][:, None], some.units).value
        for row in couples
    }

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        taken = np.concatenate([rows[code] for code in drawn])
        signs = generator.choice([-1.0, 1.0], size=len(drawn))
        codes = np.repeat(np.arange(len(drawn)), [len(rows[code]) for code in drawn])
        units = Units("conversation", codes, tuple(map(str, range(len(drawn)))))
        for (method, row), truth in truths.items():
            x, y = couples[row]
            kind = f"{method.capitalize()} over turns"
            found = unit_correlation(x[taken], y[taken], units, method)
            tally.interval(kind, row, found, truth)
            tally.power(kind, row, found.p <= 0.05)
            tally.level(
                kind,
                row,
                unit_correlation(x[taken], (y[taken] - y.mean()) * signs[codes], units, method).p,
            )
        for row, truth in partials.items():
            x, y = couples[row]
            found = unit_partial_correlation(x[taken], y[taken], third[row][taken, None], units)
            tally.interval("Partial correlation over turns", row, found, truth)

    return trial


def families_trial(some: Collection) -> Trial:
    """Return a trial of all pairs of nine or twelve systems, and of their ranking.

    For equal systems, any adjusted p up to the level is a false positive. For real differences, the trial counts the pairs that
    max-T and Holm find.
    """
    many = list(some.many)
    ndcg, other, sizes = some.sums("ndcg_cut_3")[many], some.sums("map")[many], some.units.sizes
    pairs = np.array([(i, j) for i in range(len(many)) for j in range(i + 1, len(many))])
    tables = ndcg[pairs[:, 0]] - ndcg[pairs[:, 1]]
    rest = tables - _ratio(tables, sizes)[:, None] * sizes
    tau = float(kendall(_ratio(ndcg, sizes), _ratio(other, sizes)))
    label = f"max-T of {len(pairs)} pairs"

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        turns, seed = sizes[drawn], int(generator.integers(2**31))
        signs = generator.choice([-1.0, 1.0], size=len(drawn))
        for how, sums in (
            ("swapped", tables[:, drawn] * signs),
            ("equal means", rest[:, drawn]),
            ("", tables[:, drawn]),
        ):
            tests = paired_tests(sums, turns, seed, draws=DRAWS)
            family = max_t_family(tests, sums, seed, draws=DRAWS)
            if how:
                tally.level(f"{label}, any false ({how})", "0", float(family.p.min()))
                continue
            for kind, one in (
                (f"{label}, separated", family),
                (f"Holm of {len(pairs)} pairs, separated", holm_family(tests)),
            ):
                for p in one.p.tolist():
                    tally.power(kind, "0", p <= 0.05)
        stable = rank_stability(ndcg[:, drawn], other[:, drawn], turns, seed, resamples=500)
        tally.interval("Kendall's tau of rankings, lower limit", "0", stable, tau)

    return trial


def agreement_trial(judgments: Judgments, by_topic: bool) -> tuple[int, Trial]:
    """Return the number of units, and a trial of kappa and alpha of human and model judges by topic or by single pair."""
    human, judge = judgments.grades[:2]
    counts = np.stack([(judgments.grades == grade).sum(axis=0) for grade in SCALE], axis=1)
    parts: dict[tuple[str, str], tuple[Floats, Statistic]] = {}
    parts["Fleiss' kappa", "0"] = fleiss_sums(counts), fleiss_of
    parts["ordinal alpha", "0"] = alpha_sums(counts), alpha_of(SCALE, "ordinal")
    if by_topic:
        parts["Cohen's kappa", "0"] = cohen_sums(human, judge, 4), cohen_of(4)
        parts["Cohen's kappa, weighted", "0"] = (
            cohen_sums(human, judge, 4),
            cohen_of(4, "quadratic"),
        )
        parts["Cohen's kappa at a level", "0"] = cohen_sums(human >= 2, judge >= 2, 2), cohen_of(2)
        topics = Units(
            "conversation", judgments.topics, tuple(map(str, range(judgments.topics.max() + 1)))
        )
        parts = {
            key: (topics.sums(sums.T).T, statistic) for key, (sums, statistic) in parts.items()
        }
    truths = {key: float(statistic(sums.sum(axis=0))) for key, (sums, statistic) in parts.items()}
    where = "by topic" if by_topic else "over items"

    def trial(drawn: np.ndarray, generator: np.random.Generator, tally: Tally) -> None:
        seed = int(generator.integers(2**31))
        for (kind, row), (sums, statistic) in parts.items():
            estimate = agreement_estimate(sums[drawn], statistic, seed, resamples=500)
            tally.interval(f"{kind} {where}", row, estimate, truths[kind, row])

    return len(next(iter(parts.values()))[0]), trial


LABELS = {"ndcg_cut_3": "NDCG@3", "map": "MAP", "P_1": "P@1"}


def run_trials(trials: Sequence[Trial], units: int, drawn: int, count: int, seed: int) -> Tally:
    """Run ``count`` trials that each draw ``drawn`` of ``units`` units."""
    tally = Tally()
    generator = np.random.default_rng(seed)
    for _ in range(count):
        chosen = generator.integers(0, units, size=drawn)
        for trial in trials:
            trial(chosen, generator, tally)
    return tally
