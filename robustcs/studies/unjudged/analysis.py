"""How much of the rankings nobody judged (Tables 12 and 13 of the ECAsT paper), and how far scores could move for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from robustcs.evaluation import holes
from robustcs.evaluation.bounds import ROUNDING, Bounds, Scope, condensed, measure_bounds, outside_of, rbp_residual
from robustcs.evaluation.groups import Group
from robustcs.evaluation.hole_expectation import DROPS, EXPECTED, FilledHoles, contrasts, expected_drops
from robustcs.evaluation.hole_features import Floats
from robustcs.evaluation.hole_tipping import TIPPING, tipping
from robustcs.evaluation.holes import Grades, JudgedRun
from robustcs.evaluation.matrix import GradeMatrix
from robustcs.evaluation.measure import Measure
from robustcs.evaluation.measures import NATIVE, Scores, parse_measure, score_columns
from robustcs.evaluation.pair_bounds import LARGEST, MeanDifferences, PairMeasure
from robustcs.evaluation.provenance import SOURCES, sources_of_runs
from robustcs.evaluation.run_pair import run_pairs
from robustcs.inputs.qrels import Qrels
from robustcs.lazy import pd
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated, Result, count, difference, flag, score, share, table, text
from robustcs.slicing.table import Slicing
from robustcs.statistics.units import Units
from robustcs.studies.unjudged.slices import SLICES, unjudged_slices

Numbers = npt.NDArray[np.int64]

#: Measures that are made for incomplete judgments.
INCOMPLETE = (parse_measure("bpref"), parse_measure("rbp"))

#: What a reader must know where nothing that is judged is not relevant.
ONLY_RELEVANT = (
    "The qrels list relevant passages only: the judged share of a top k is its precision, not a measure of how complete the"
    " judgments are."
)
MEASURED = table(
    "measured", "The measured drop from a baseline to the sets of a group, with unjudged passages counted as not relevant.",
    text("group", "a group, or a formulation that is compared with Human", "Group"), text("metric", header="Measure"),
    text("baseline"), count("sets", "their number"), score("baseline_score"), score("score", "mean of the sets"),
    difference("drop", "baseline − mean of the sets"), share("baseline_unjudged", "of the top k passages of the baseline"),
    share("unjudged", "of those of the sets: mean"),
    difference("low", "of the drop by grades of the unjudged passages of the scope: mean over the sets, each with the baseline"
               " on its own; null where pairs were not compared"),
    difference("high"),
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What is asked.

    depth
        k of the judged shares; measures go as deep as their own cut-off.
    scope
        Which unjudged passages get grades for the bounds: see :mod:`robustcs.evaluation.bounds`.
    max_grade
        The highest grade that an unjudged passage could get.
    groups
        Group → names of the runs among which a passage is unique.
    compared
        Group → the runs whose mean is compared with a baseline.
    pairs
        Whether the runs are compared with each other; their pairs grow with the square of the runs.
    tipped
        Whether tipping points are sought for all pairs, and not for ``compared`` alone.
    selection
        How passages were selected for judging: see :attr:`robustcs.project.model.Project.qrels_selection`.
    positives
        The qrels list relevant passages only, so that a judged share is a precision.
    """

    depth: int
    scope: Scope
    max_grade: int
    groups: Mapping[str, Sequence[str]]
    compared: Mapping[str, Group] = field(default_factory=dict)
    pairs: bool = True
    tipped: bool = False
    selection: str = "pool"
    positives: bool = False


@dataclass(frozen=True)
class Unjudged(Result):
    """What nobody judged. ``share`` of a table with ``unjudged`` and ``retrieved`` is the unjudged share of the retrieved.

    ``warnings``: what must stand beside expected differences.
    """

    study = "unjudged"
    declared = (
        holes.RATES,
        table(
            "bounds", "How far grades of unjudged passages could move a score.",
            text("run", header="Run"), text("metric", header="Measure"),
            score("low", "null for a measure of trec_eval that robustcs does not compute itself", "lowest"), score("score"),
            score("high", header="highest"),
            score("condensed", "the score with unjudged passages taken out of the ranking"),
            count("unjudged", "in the scope, over all turns"), count("turns", "that have any"),
            text("scope", "whose unjudged passages get grades: cutoff (those inside the measure's cut-off), run or pool"),
            count("max_grade"),
            flag("exact", "some grades reach low and high; bpref's ends in the scope pool are outer ones"),
        ),
        table(
            "pairs", "How far the difference of two runs could move: a passage that both retrieve has one grade in both."
            " No rows for a measure that has no bounds, nor for more than 50 runs unless they are asked for.",
            text("metric", header="Measure"), text("first", header="First"), text("second", header="Second"),
            difference("difference", "first − second"),
            difference("low", "by grades of the unjudged passages of the scope, in the two runs (pool: in all runs)"),
            difference("high"),
            flag("separable", "0 lies outside: whatever these grades, one run stays the better one"),
            flag("exact", "else the true interval may be narrower, and pairs that are not separable may be so: MAP and bpref"),
            *EXPECTED,
        ),
        MEASURED,
        DROPS,
        TIPPING,
        holes.UNIQUE,
        holes.UNIQUE_RUNS,
        holes.LATER_GRADES,
        holes.GRADES,
        SOURCES,
        table("ranks", "Unjudged passages by rank, 1 to 100.", text("run", header="Run"), count("rank"), *holes.SHARES),
        table(
            "turn_depths", "Unjudged passages of the top k by place of the turn in its conversation.",
            text("run", header="Run"), count("turn_depth", "from 1"), count("turns"), *holes.SHARES,
        ),
        table("short", "Turns with fewer than k passages.", text("run", header="Run"), text("turn"), count("retrieved")),
        table(
            "incomplete", "Measures that are made for incomplete judgments.",
            text("run", header="Run"), score("bpref"), score("rbp", "p = 0.8", "score", "RBP (p = 0.8)"),
            score("rbp_residual", "weight of unjudged passages", "residual", "RBP (p = 0.8)"),
            score("rbp_tail", "weight below the end of the lists", "below the list", "RBP (p = 0.8)"),
        ),
        SLICES,
        table(
            "turns", "The bounds turn by turn.",
            text("run"), text("turn"), text("metric"), count("unjudged", "in the scope"), score("low"), score("score"),
            score("high"),
        ),
    )  # fmt: skip

    settings: Settings
    rates: pd.DataFrame
    bounds: pd.DataFrame
    pairs: pd.DataFrame
    measured: pd.DataFrame
    drops: pd.DataFrame
    tipping: pd.DataFrame
    unique: pd.DataFrame
    unique_runs: pd.DataFrame
    grades: pd.DataFrame
    qrels: pd.DataFrame
    ranks: pd.DataFrame
    turn_depths: pd.DataFrame
    short: pd.DataFrame
    incomplete: pd.DataFrame
    slices: pd.DataFrame
    turns: pd.DataFrame
    sources: pd.DataFrame
    warnings: tuple[str, ...] = ()


def unjudged(
    runs: Sequence[JudgedRun],
    qrels: Qrels,
    measures: Sequence[Measure],
    evaluated: Evaluated,
    settings: Settings,
    later: Grades | None = None,
    filled: FilledHoles | None = None,
    slicings: Sequence[Slicing] = (),
    units: Units | None = None,
    seed: int = 0,
    new: Mapping[str, Grades] | None = None,
    judges: Mapping[str, Grades] | None = None,
) -> Unjudged:
    """Count what is unjudged in ``runs`` (all on the same turns, ids known to :func:`ranks_of_pairs`) and bound their scores.

    ``later`` are grades given since, of which only those of unjudged passages are looked at. ``filled``: the same runs and
    measures with grades drawn for what is unjudged. ``slicings`` split the turns, whose ``units`` they take as independent.
    ``new`` and ``judges``: the grades of every file of new judgments, and of every judge, by name.
    """
    natives = [measure for measure in measures if measure.family in NATIVE]
    pairs, pool = _side_by_side(runs, natives, evaluated, settings)
    bounds, turns = [], []
    for run in runs:
        dense = condensed(run.matrix)
        for measure in measures:
            row, per_turn = _bounds(run, measure, evaluated, settings, pool)
            row["condensed"] = float(score_columns(dense, [measure], evaluated.policy)[measure.name].mean())
            bounds.append(row)
            turns.append(per_turn)
    columns = ["run", "metric", "low", "score", "high", "condensed", "unjudged", "turns", "scope", "max_grade", "exact"]
    frame = pd.DataFrame(bounds)[columns].astype({"unjudged": "Int64", "turns": "Int64"})
    unique, unique_runs = holes.unique_holes(runs, settings.groups)
    names = [run.name for run in runs]
    expected, drops = expected_drops(names, measures, settings.compared, filled, settings.pairs)
    family = contrasts(names, settings.compared, settings.pairs)
    tipped = family[: None if settings.tipped else 0] or family[len(family) - len(settings.compared) :]
    if settings.selection != "pool" and not settings.tipped:
        expected = {}
    return Unjudged(
        evaluated=evaluated,
        settings=settings,
        rates=(rates := holes.rates(runs, settings.depth, later)),
        bounds=frame,
        pairs=_expected(pairs, expected),
        measured=measured_drops(frame, rates, pairs, settings.compared),
        drops=drops,
        tipping=tipping(filled, {measure.name: tipped for measure in measures}, family),
        unique=unique,
        unique_runs=unique_runs,
        grades=holes.later_grades(runs, later),
        qrels=holes.grades_of(qrels),
        ranks=holes.rates_by_rank(runs),
        turn_depths=holes.rates_by_turn_depth(runs, settings.depth),
        short=holes.short_lists(runs, settings.depth),
        incomplete=_incomplete(runs, evaluated),
        slices=unjudged_slices(runs, settings.depth, slicings, units, seed),
        turns=pd.concat(turns, ignore_index=True),
        sources=SOURCES.frame(
            sources_of_runs(runs, settings.depth, evaluated.policy.relevance_level, qrels.name, new or {}, judges or {})
        ),
        warnings=filled.warnings if filled else (),
    )


def _bounds(
    run: JudgedRun, measure: Measure, evaluated: Evaluated, settings: Settings, pool: Numbers | None
) -> tuple[dict[str, object], pd.DataFrame]:
    """The row of a run and a measure, and its bounds turn by turn; ``pool``: unjudged passages of all runs, by turn."""
    matrix, policy = run.matrix, evaluated.policy
    row: dict[str, object] = {
        "run": run.name, "metric": measure.name, "scope": settings.scope, "max_grade": settings.max_grade,
        "exact": measure.family in NATIVE and not (measure.family == "bpref" and pool is not None),
    }  # fmt: skip
    if measure.family not in NATIVE:
        score = score_columns(matrix, [measure], policy)[measure.name]
        nothing = np.full(len(score), np.nan)
        row |= {"low": np.nan, "score": float(score.mean()), "high": np.nan, "unjudged": None, "turns": None}
        found = Bounds(nothing, score, nothing, np.zeros(len(score), dtype=np.int64))
        counts = pd.array([pd.NA] * len(score), dtype="Int64")
    else:
        outside = None if pool is None else outside_of(matrix, measure, pool)
        found = measure_bounds(matrix, measure, policy, settings.max_grade, settings.scope, outside)
        row |= {"low": found.low.mean(), "score": found.score.mean(), "high": found.high.mean()}
        row |= {"unjudged": int(found.unjudged.sum()), "turns": int((found.unjudged > 0).sum())}
        counts = pd.array(found.unjudged, dtype="Int64")
    per_turn = pd.DataFrame(
        {
            "run": run.name, "turn": matrix.turns, "metric": measure.name, "unjudged": counts,
            "low": found.low, "score": found.score, "high": found.high,
        }
    )  # fmt: skip
    return row, per_turn


def ranks_of_pairs(measures: Sequence[Measure], scope: Scope) -> int | None:
    """How deep the ids of unjudged passages must be known, so that pairs of runs can be bounded; None is all of them."""
    native = [measure for measure in measures if measure.family in NATIVE]
    if scope == "cutoff" and all(measure.cutoff for measure in native):
        return max((measure.cutoff or 0 for measure in native), default=0)
    return None


def measured_drops(
    bounds: pd.DataFrame, rates: pd.DataFrame, pairs: pd.DataFrame, compared: Mapping[str, Group]
) -> pd.DataFrame:
    """Return the table ``measured`` of the groups ``compared`` all of whose runs have bounds, from the tables of that name."""
    shares = rates.set_index("run")["share"]
    rows: list[tuple[Any, ...]] = []
    for metric, part in bounds[bounds["low"].notna()].groupby("metric", sort=False):
        scores = part.set_index("run")["score"]
        own = pairs[pairs["metric"] == metric]
        ends = {(row.first, row.second): (row.low, row.high) for row in own.itertuples()}
        ends |= {(second, first): (-high, -low) for (first, second), (low, high) in ends.items()}
        for name, group in compared.items():
            runs = list(group.sets)
            if not {group.baseline, *runs} <= set(scores.index):
                continue
            # a baseline among its own sets does not differ from itself
            same, without = (0.0, 0.0), (np.nan, np.nan)
            found = [same if run == group.baseline else ends.get((group.baseline, run), without) for run in runs]
            low, high = np.mean(found, axis=0).tolist()
            score_ = float(scores[runs].mean())
            rows.append((
                name, metric, group.baseline, len(runs), scores[group.baseline], score_, scores[group.baseline] - score_,
                shares[group.baseline], float(shares[runs].mean()), low, high,
            ))  # fmt: skip
    return MEASURED.frame(rows)


def _side_by_side(
    runs: Sequence[JudgedRun], measures: Sequence[Measure], evaluated: Evaluated, settings: Settings
) -> tuple[pd.DataFrame, Numbers | None]:
    """How far differences of runs could move, and, for bounds by the pool, its unjudged passages by turn."""
    needed = ranks_of_pairs(measures, settings.scope)
    widths = [run.matrix.grades.shape[1] for run in runs]
    compared, pooled = settings.pairs and bool(measures), settings.scope == "pool"
    assert not compared or all(run.ranks >= min(width, needed or width) for run, width in zip(runs, widths, strict=True))
    pools, means, turns = [], [], len(runs[0].matrix.turns)
    for some in holes.stretches(runs) if compared or pooled else ():
        numbers = holes.passage_numbers(some)
        pool = holes.pool_holes(some, numbers) if pooled else None
        pools += [pool] if pool is not None else []
        if compared:
            tops = [run.top for run in some]
            found = _differences(tops, numbers, pool, measures, evaluated.policy, settings)
            means.append(found * (len(tops[0].turns) / turns))
    frame = _pairs(runs, measures, np.sum(means, axis=0) if compared else None, settings)
    return frame, np.concatenate(pools) if pooled else None


def _differences(
    runs: Sequence[GradeMatrix],
    numbers: Sequence[Numbers],
    pool: Numbers | None,
    measures: Sequence[Measure],
    policy: EvaluationPolicy,
    settings: Settings,
) -> Scores:
    """float64[M, 3, P]: mean low, difference and high of every pair by every measure."""
    asked = [MeanDifferences(PairMeasure(runs, measure, policy, settings.max_grade, settings.scope)) for measure in measures]
    for pairs in run_pairs(runs, numbers, pool):
        for one in asked:
            one.add(pairs)
    return np.stack([one.means() for one in asked])


def _pairs(runs: Sequence[JudgedRun], measures: Sequence[Measure], means: Scores | None, settings: Settings) -> pd.DataFrame:
    """The pairs with their :func:`_differences`; no row without them."""
    columns = ["metric", "first", "second", "difference", "low", "high", "separable", "exact"]
    if means is None:
        return pd.DataFrame(columns=columns)
    names = np.array([run.name for run in runs], dtype=object)
    first, second = (names[places] for places in np.triu_indices(len(runs), 1))
    frames = []
    for measure, (low, middle, high) in zip(measures, means, strict=True):
        parts = {"metric": measure.name, "first": first, "second": second, "difference": middle, "low": low, "high": high}
        separable = (low > ROUNDING) | (high < -ROUNDING)
        frames.append(pd.DataFrame({**parts, "separable": separable, "exact": measure.family in LARGEST}, columns=columns))
    return pd.concat(frames, ignore_index=True)


def _expected(pairs: pd.DataFrame, expected: Mapping[str, Floats]) -> pd.DataFrame:
    """The pairs with what their differences probably are, by measure."""
    columns = [field.name for field in EXPECTED]
    values = np.full((len(pairs), len(columns)), np.nan)
    for name, found in expected.items():
        rows = np.flatnonzero(pairs["metric"] == name)
        values[rows] = found[: len(rows)]
    return pairs.assign(**dict(zip(columns, values.T, strict=True)))


def _incomplete(runs: Sequence[JudgedRun], evaluated: Evaluated) -> pd.DataFrame:
    rows = []
    for run in runs:
        scores = score_columns(run.matrix, INCOMPLETE, evaluated.policy)
        residual, tail = rbp_residual(run.matrix)
        rows.append((run.name, *(scores[m.name].mean() for m in INCOMPLETE), residual.mean(), tail.mean()))
    return pd.DataFrame(rows, columns=["run", "bpref", "rbp", "rbp_residual", "rbp_tail"])
