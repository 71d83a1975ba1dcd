"""Causes in a grid: proving figures, a recount by loops, ``breakdown`` turn by turn, and missing cells."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robustcs
from robustcs.evaluation.grid import CAUSES, Cell
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.families import max_t
from robustcs.statistics.halves import SPLITS, halves_of
from robustcs.statistics.units import units_of
from robustcs.studies.components.analysis import Components, components, single_changes
from tests.conftest import ROOT, load

BENCH = load(ROOT / "bench" / "coverage_components.py")
HALF = parse_threshold(">=0.5")


def of(
    scores: dict[Cell, list[float]], turns: list[str] | None = None, **settings: object
) -> Components:
    """The result of a grid with these scores of one measure, at NDCG@3 ≥ 0.5."""
    count = len(next(iter(scores.values())))
    index = pd.Index(turns or [f"{turn}_1" for turn in range(count)], name="turn")
    frames = {
        cell: pd.DataFrame({"ndcg_cut_3": own}, index=index, dtype=float)
        for cell, own in scores.items()
    }
    return components(frames, Evaluated(EvaluationPolicy(), "runs", count, 0), [HALF], **settings)  # type: ignore[arg-type]


def counts(result: Components, cell: str, threshold: str) -> list[int]:
    """The counts of a cell in the order of the causes."""
    wording, ranker = cell.split("/")
    rows = result.blame[(result.blame["wording"] == wording) & (result.blame["ranker"] == ranker)]
    rows = rows[rows["threshold"] == threshold].set_index("cause")
    return [int(rows.loc[cause, "count"]) for cause in CAUSES]


@pytest.fixture(scope="module")
def cast(shared_data: Path) -> Components:
    qrels = shared_data / "cast2019" / "qrels.txt.gz"
    return robustcs.components(
        qrels, cells=BENCH.cast_2019(shared_data), metrics="ndcg_cut_3", thresholds=0.5
    )


@pytest.fixture(scope="module")
def clapnq(shared_data: Path) -> Components:
    qrels = shared_data / "mtrag-answers" / "qrels_clapnq.tsv"
    return robustcs.components(
        qrels, cells=BENCH.mtrag(shared_data), metrics="ndcg_cut_5", thresholds=0
    )


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("t5/bm25", [50, 7, 45, 4, 7, 60]), ("t5/bert", [90, 11, 6, 3, 3, 60]), ("raw/bert", [49, 53, 2, 2, 7, 60]),
     ("manual/bm25", [54, 2, 48, 5, 4, 60])],
)  # fmt: skip
def test_causes_on_cast_2019(cast: Components, cell: str, expected: list[int]) -> None:
    assert cast.evaluated.turns == 173 and counts(cast, cell, ">=0.5") == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("rewrite/bge", [149, 9, 15, 8, 7, 20]), ("lastturn/elser", [148, 24, 5, 3, 8, 20]),
     ("questions/bm25", [83, 29, 29, 9, 38, 20])],
)  # fmt: skip
def test_causes_on_mtrag(clapnq: Components, cell: str, expected: list[int]) -> None:
    assert clapnq.evaluated.turns == 208 and counts(clapnq, cell, ">0") == expected


def average(result: Components, wording: str, ranker: str, cause: str) -> float:
    rows = result.blame[(result.blame["wording"] == wording) & (result.blame["ranker"] == ranker)]
    return float(rows.loc[rows["cause"] == cause, "average"].iloc[0])


def test_averages_over_the_levels_of_a_factor(cast: Components, clapnq: Components) -> None:
    lost = [counts(cast, f"{one}/bert", ">=0.5")[1] for one in ("raw", "t5", "manual")]
    assert lost == [53, 11, 5]
    assert {average(cast, one, "bert", "wording") for one in ("raw", "t5", "manual")} == {23}
    assert [
        counts(clapnq, f"{one}/elser", ">0")[1] for one in ("rewrite", "lastturn", "questions")
    ] == [12, 24, 60]
    assert average(clapnq, "rewrite", "elser", "wording") == 32
    assert all(
        math.isnan(average(cast, "t5", "bert", cause))
        for cause in ("correct", "either", "both", "none")
    )


def test_means_of_the_published_tables(cast: Components, clapnq: Components) -> None:
    means = {(row.wording, row.ranker): row.value for row in cast.means.itertuples()}
    shown = [
        round(100 * means[cell], 1)
        for cell in (("raw", "bm25"), ("raw", "bert"), ("t5", "bm25"), ("t5", "bert"))
    ]
    assert shown == [14.2, 28.4, 33.9, 50.4]
    own = clapnq.means[(clapnq.means["wording"] == "rewrite") & (clapnq.means["ranker"] == "elser")]
    assert own["value"].iloc[0] == pytest.approx(0.5135, abs=5e-5)


def test_effect_sizes_of_the_proof(cast: Components, clapnq: Components) -> None:
    for result, expected in (
        (cast, (0.364, 0.262, 0.418, 0.374)),
        (clapnq, (0.168, 0.229, 0.378, 0.378)),
    ):
        found = result.effects.set_index("factor")
        assert [
            round(found.loc[one, "omega2"], 3)
            for one in ("wording", "ranker", "turn*wording", "turn*ranker")
        ] == [*expected]
        assert (found["ci_low"] < found["omega2"]).all() and (
            found["omega2"] < found["ci_high"]
        ).all()


def test_correct_turns_are_those_of_breakdown(shared_data: Path, cast: Components) -> None:
    cells = BENCH.cast_2019(shared_data)
    for ranker in ("bm25", "bert"):
        broken = robustcs.breakdown(
            shared_data / "cast2019" / "qrels.txt.gz", original=cells[f"raw/{ranker}"], qr=cells[f"t5/{ranker}"],
            human=cells[f"manual/{ranker}"], metrics="ndcg_cut_3", thresholds=0.5,
        ).turns.set_index("turn")  # fmt: skip
        for place, (wording, role) in enumerate(
            (("raw", "original"), ("t5", "qr"), ("manual", "human"))
        ):
            own = cast.turns[
                (cast.turns["wording"] == wording) & (cast.turns["ranker"] == ranker)
            ].set_index("turn")
            assert own.index.equals(broken.index) and own["value"].equals(
                broken[role].rename("value")
            )
            assert ((own["cause"] == "correct") == (broken["bin"].str[place] == "1")).all()


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 3),
    st.floats(0.4, 1),
)
@settings(max_examples=25)
def test_counts_equal_a_loop_over_the_cells_that_are_there(
    seed: int, turns: int, wordings: int, rankers: int, there: float
) -> None:
    generator = np.random.default_rng(seed)
    cells = [
        (f"w{one}", f"r{other}")
        for one in range(wordings)
        for other in range(rankers)
        if generator.random() < there
    ]
    if len(cells) < 2:
        return
    right = {cell: generator.random(turns) < 0.5 for cell in cells}
    result = of({cell: own.astype(float).tolist() for cell, own in right.items()})
    found: Counter[tuple[str, str, str]] = Counter()
    for (wording, ranker), turn in product(cells, range(turns)):
        others = [cell for cell in cells if cell != (wording, ranker) and right[cell][turn]]
        same_ranker, same_wording = (
            any(cell[1] == ranker for cell in others),
            any(cell[0] == wording for cell in others),
        )
        if right[wording, ranker][turn]:
            cause = "correct"
        elif same_ranker and same_wording:
            cause = "either"
        elif same_ranker or same_wording:
            cause = "wording" if same_ranker else "ranker"
        else:
            cause = "both" if others else "none"
        found[wording, ranker, cause] += 1
    for row in result.blame.itertuples():
        assert row.count == found[row.wording, row.ranker, row.cause] and row.cells == len(cells)
    assert result.blame.groupby(["wording", "ranker"])["share"].sum().to_numpy() == pytest.approx(1)


def test_a_missing_cell_is_told_and_could_be_filled() -> None:
    result = of(
        {
            ("a", "x"): [1, 0, 0, 1, 1, 1],
            ("b", "x"): [0, 1, 0, 1, 1, 1],
            ("a", "y"): [0, 0, 0, 1, 1, 1],
        }
    )
    assert result.effects["omega2"].isna().all()
    assert set(result.effects["note"]) == {
        "they require two turns and a complete subgrid of at least two wordings and two rankers"
    }
    assert f"no effect sizes: {result.effects['note'].iloc[0]}" in result.evaluated.notes
    (row,) = result.missing.itertuples()
    assert (row.wording, row.ranker, row.turns) == ("b", "y", 3)
    # a/y changes from both to wording on the second turn; on the third, all cells change from none; on the first, a/y and b/x
    # are lost to the ranker and to the wording, and then to either
    filled = of({("a", "x"): [1, 0], ("b", "x"): [0, 1], ("a", "y"): [0, 0], ("b", "y"): [1, 1]})
    assert filled.missing.empty and filled.effects["omega2"].notna().all()


def test_effects_use_the_largest_complete_subgrid() -> None:
    generator = np.random.default_rng(3)
    scores = {(one, other): generator.random(12).tolist() for one in "abc" for other in "xy"}
    whole = of({cell: own for cell, own in scores.items() if cell[0] != "c"})
    part = of({cell: own for cell, own in scores.items() if cell != ("c", "y")})
    assert part.effects["omega2"].tolist() == whole.effects["omega2"].tolist()
    assert set(part.effects["wordings"]) == {"a|b"} and set(part.effects["rankers"]) == {"x|y"}


def test_one_factor_alone_has_no_effect_sizes_and_no_comparison_of_factors() -> None:
    result = of({("qr", "x"): [1, 0, 0, 1, 0, 0], ("human", "x"): [0, 1, 0, 1, 1, 0]})
    assert counts(result, "qr/x", ">=0.5") == [2, 2, 0, 0, 0, 2]
    assert set(result.effects["note"]) == {
        "they require two turns and a complete subgrid of at least two wordings and two rankers"
    }
    assert result.factors.empty and len(result.swaps) == 2 and result.missing.empty


def test_cells_that_share_nothing_have_no_single_change() -> None:
    result = of({("a", "x"): [1, 0, 0], ("b", "y"): [0, 1, 0]})
    assert counts(result, "a/x", ">=0.5") == [1, 0, 0, 0, 1, 1]
    assert result.swaps.empty and result.families == {} and len(result.choice) == 1


def test_swaps_are_means_after_minus_before_in_both_directions(cast: Components) -> None:
    means = {(row.wording, row.ranker): row.value for row in cast.means.itertuples()}
    rows = {(row.wording, row.ranker, row.changed, row.to): row for row in cast.swaps.itertuples()}
    assert len(rows) == len(cast.swaps) == 18
    for (wording, ranker, changed, to), row in rows.items():
        new = (to, ranker) if changed == "wording" else (wording, to)
        assert row.difference == pytest.approx(means[new] - means[wording, ranker])
        back = rows[(*new, changed, wording if changed == "wording" else ranker)]
        assert (back.ci_low, back.ci_high, back.p) == pytest.approx(
            (-row.ci_high, -row.ci_low, row.p)
        )
        assert row.p <= row.p_corrected and row.ci_low <= row.difference <= row.ci_high


def test_swaps_equal_evaluate_and_form_a_smaller_family(
    shared_data: Path, cast: Components
) -> None:
    found = robustcs.evaluate(
        shared_data / "cast2019" / "qrels.txt.gz",
        BENCH.cast_2019(shared_data),
        metrics="ndcg_cut_3",
    )
    pairs = {(row.first, row.second): row for row in found.pairs.itertuples()}
    mine = {(row.wording, row.ranker, row.changed, row.to): row for row in cast.swaps.itertuples()}
    by_cell = {
        key: part["value"].to_numpy()
        for key, part in cast.turns.groupby(["wording", "ranker"], sort=False)
    }
    units = units_of(cast.turns["turn"].drop_duplicates().tolist())
    changes = single_changes(cast.grid)
    adjusted = max_t(
        np.round([units.sums(by_cell[new] - by_cell[old]) for old, new in changes], 12), 0
    )
    for (old, new), p in zip(changes, adjusted, strict=True):
        changed = "ranker" if old[0] == new[0] else "wording"
        row, other = (
            mine[(*old, changed, new[changed == "ranker"])],
            pairs["/".join(old), "/".join(new)],
        )
        assert (row.difference, row.p) == pytest.approx((-other.difference, other.p))
        assert (
            row.p_corrected == pytest.approx(max(row.p, p))
            and row.p_corrected <= other.p_corrected + 1e-12
        )


def test_halves_equal_a_loop_over_splits() -> None:
    generator = np.random.default_rng(4)
    turns = [
        f"{conversation}_{turn}"
        for conversation in range(7)
        for turn in range(1 + conversation % 3)
    ]
    units = units_of(turns)
    table = generator.random((3, len(turns)))
    found = halves_of(table, units, 9, splits=50)
    inside = np.random.default_rng(9).permuted(np.tile(np.arange(7) < 3, (50, 1)), axis=1)
    half, other = list[tuple[float, float]](), list[tuple[float, float]]()
    for split, chosen, second in zip(inside, found.chosen, found.second, strict=True):
        own, rest = split[units.codes], ~split[units.codes]
        assert table[:, own].mean(axis=1).argsort()[::-1][:2].tolist() == [chosen, second]
        for part, kept in ((own, half), (rest, other)):
            best, next_best = table[chosen, part].mean(), table[second, part].mean()
            kept.append((best, best - next_best))
    assert (found.half, found.half_lead) == pytest.approx(np.mean(half, axis=0))
    assert (found.other.value, found.other_lead.value) == pytest.approx(np.mean(other, axis=0))
    assert found.other_lead.value < found.half_lead and found.half > found.other.value
    assert found.other.low < found.other.value < found.other.high
    few = halves_of(table[:, :4], units_of(["1_1", "2_1", "3_1", "4_1"]), 9, splits=50)
    assert math.isnan(few.other.low) and 0 <= few.other.value <= 1


def test_the_best_system_and_its_limits(cast: Components) -> None:
    (row,) = cast.choice.itertuples()
    assert (row.wording, row.ranker, row.second_wording, row.second_ranker) == (
        "manual",
        "bert",
        "t5",
        "bert",
    )
    assert row.splits == SPLITS and 0.9 < row.chosen <= 1
    highest = cast.turns.groupby("turn")["value"].max().mean()
    assert row.upper == pytest.approx(highest) and row.gain == pytest.approx(highest - row.value)
    assert row.other_low < row.other_half < row.other_high


def test_the_share_lost_to_each_component_is_a_mean_over_systems(cast: Components) -> None:
    (row,) = cast.factors.itertuples()
    shares = cast.blame.groupby("cause")["share"].mean()
    assert (row.wording, row.ranker) == pytest.approx(
        (shares["wording"], shares["ranker"])
    ) and row.systems == 6
    assert row.difference == pytest.approx(row.wording - row.ranker) and row.p <= row.p_corrected


@pytest.mark.long
@pytest.mark.parametrize("name", ["CAsT 2019", "MTRAG clapnq"])
def test_swaps_of_equal_systems_are_rarely_significant(shared_data: Path, name: str) -> None:
    assert BENCH.family_error(
        BENCH.populations(shared_data)[name], 20, 400, 7
    ) <= 0.065 + 2 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.long
def test_the_interval_of_the_other_half_covers(shared_data: Path) -> None:
    mean, lead = BENCH.half_coverage(BENCH.populations(shared_data)["CAsT 2019"], 20, 200, 3)
    assert mean >= 0.90 and lead >= 0.90
