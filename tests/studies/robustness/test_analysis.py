"""Robustness: Table 11's arithmetic, the demo's groups, real runs, and every table against a plain recomputation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustcs.errors import UsageError
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.measures import TurnScores
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import Project
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated
from robustcs.slicing.table import turn_slicings
from robustcs.statistics.sign_flip import paired_tests
from robustcs.statistics.units import units_of
from robustcs.studies.robustness.analysis import Robustness, robustness
from robustcs.studies.robustness.findings import robustness_findings
from tests.statistics.test_families import brute_force


def made(
    scores: dict[str, Sequence[float]], groups: dict[str, Group], **more: object
) -> Robustness:
    """Robustness of one measure over turns 1_1, 1_2, … of conversations of three."""
    count = len(next(iter(scores.values())))
    turns = pd.Index([f"{1 + i // 3}_{1 + i % 3}" for i in range(count)], name="turn")
    frames = {
        name: TurnScores(turns, {"ndcg_cut_3": np.array(values, dtype=float)})
        for name, values in scores.items()
    }
    return robustness(groups, frames, Evaluated(EvaluationPolicy(), "runs", count, 0), **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def of_demo(demo: Path) -> tuple[Robustness, dict[str, pd.DataFrame]]:
    project = read_project(demo / "robustcs.toml")
    names = [name for group in project.groups.values() for name in (group.baseline, *group.sets)]
    scores, evaluated = Workspace(project).system_scores(
        names, [parse_measure("ndcg_cut_3"), parse_measure("map")]
    )
    return robustness(project.groups, scores, evaluated), {
        name: one.frame() for name, one in scores.items()
    }


def test_table_11_of_the_paper() -> None:
    # CAsT 2019, manual: 0.506 0.512 0.500 against 0.624; "dropped on average 12 %" are points
    scores = {"m1": [0.506] * 2, "m2": [0.512] * 2, "m3": [0.5] * 2, "cast": [0.624] * 2}
    result = made(scores, {"manual": Group("cast", ("m1", "m2", "m3"))})
    assert result.measures["drop"].tolist() == pytest.approx([0.118, 0.112, 0.124])
    assert result.measures["drop_percent"].tolist() == pytest.approx(
        [18.910, 17.949, 19.872], abs=1e-3
    )
    mean = result.groups.iloc[0]
    assert round(mean["mean_drop"], 2) == 0.12
    assert mean["mean_drop"] == pytest.approx(result.measures["drop"].mean())
    assert mean["mean_drop_percent"] == pytest.approx(result.measures["drop_percent"].mean())


def test_contract_columns(of_demo: tuple[Robustness, object]) -> None:
    result, _ = of_demo
    promised = [
        "group",
        "set",
        "metric",
        "value",
        "baseline",
        "drop",
        "drop_percent",
        "p",
        "p_corrected",
    ]
    assert list(result.measures.columns[: len(promised)]) == promised
    assert {"group", "metric", "mean_drop", "mean_drop_percent"} <= set(result.groups.columns)


def test_every_column_is_declared(of_demo: tuple[Robustness, object]) -> None:
    result, _ = of_demo
    assert list(result.tables) == [spec.name for spec in result.declared]
    for name, frame in result.tables.items():
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            result.changed(**{name: frame.assign(odd=1)})
        if frame.empty:
            # the demo's paraphrases have no categories; a report asks for drops
            assert name in (
                "variations",
                "drops",
            )
            continue
        with pytest.raises(
            TypeError, match=f"table {name}: column {frame.columns[0]} is int64, declared is text"
        ):
            result.changed(**{name: frame.assign(**{frame.columns[0]: 1})})


def test_demo_values_and_tests(of_demo: tuple[Robustness, dict[str, pd.DataFrame]]) -> None:
    result, scores = of_demo
    assert len(result.measures) == 12
    for row in result.measures.itertuples():
        value, base = scores[row.set][row.metric], scores[row.baseline_run][row.metric]
        assert (row.value, row.baseline, row.drop) == pytest.approx(
            (value.mean(), base.mean(), base.mean() - value.mean())
        )
        by_conversation = (
            (base - value).groupby(base.index.str.partition("_").get_level_values(0)).sum()
        )
        totals = np.abs(
            np.array(list(product((-1, 1), repeat=len(by_conversation))))
            @ by_conversation.to_numpy()
        )
        assert (
            row.p == pytest.approx((totals >= abs(by_conversation.sum()) - 1e-9).mean())
            and row.exact
        )
        assert row.p == pytest.approx(row.t_p, abs=0.02)
        assert row.ci_low <= row.drop <= row.ci_high and (row.p <= 0.05) == (
            row.ci_low > 0 or row.ci_high < 0
        )
        assert row.p_floor == 2 / 2**10 and row.detectable > 0
    for metric, part in result.measures.groupby("metric"):
        drops = [
            scores[row.baseline_run][metric] - scores[row.set][metric] for row in part.itertuples()
        ]
        sums = np.array(
            [one.groupby(one.index.str.partition("_").get_level_values(0)).sum() for one in drops]
        )
        assert part["p_corrected"].tolist() == pytest.approx(brute_force(sums, False))
    # the careful rewrites lose to no paraphrase set; the raw turns lose little, as they were bad already
    assert (result.groups.set_index("group").loc["manual", "p"] < 0.01).all()
    assert (result.groups.set_index("group").loc["raw", "p"] > 0.05).all()


def test_demo_risk_spread_and_turns(of_demo: tuple[Robustness, dict[str, pd.DataFrame]]) -> None:
    result, scores = of_demo
    for row in result.risk.itertuples():
        base = scores["human" if row.group == "manual" else "original"][row.metric]
        gains = scores[row.set][row.metric] - base
        assert (row.wins, row.losses, row.ties) == (
            (gains > 1e-9).sum(),
            (gains < -1e-9).sum(),
            (gains.abs() <= 1e-9).sum(),
        )
        weighted = gains.where(gains > 0, 2 * gains)
        assert row.urisk == pytest.approx(weighted.mean())
        # swapped at random, gains and losses change places
        assert row.expected == pytest.approx(
            (weighted.mean() + (-gains).where(gains < 0, -2 * gains).mean()) / 2
        )
    table = pd.DataFrame({name: scores[name]["ndcg_cut_3"] for name in ("raw_1", "raw_2", "raw_3")})
    turns = result.turns.query("group == 'raw' and metric == 'ndcg_cut_3'").set_index("turn")
    for column, expected in (
        ("mean", table.mean(axis=1)),
        ("sd", table.std(axis=1)),
        ("low", table.min(axis=1)),
    ):
        assert turns[column].tolist() == pytest.approx(expected.tolist())
    assert turns["high_set"].tolist() == table.idxmax(axis=1).tolist()
    row = result.spread.query("group == 'raw' and metric == 'ndcg_cut_3'").iloc[0]
    assert row["mean_range"] == pytest.approx((table.max(axis=1) - table.min(axis=1)).mean())
    assert row["steady"] == (table.nunique(axis=1) == 1).sum()


def test_demo_variance(of_demo: tuple[Robustness, dict[str, pd.DataFrame]]) -> None:
    result, _ = of_demo
    for _, part in result.variance.groupby(["group", "metric"]):
        share = part.set_index("component")["share"]
        assert share["turn"] + share["set"] + share["turn_set"] == pytest.approx(1)
        assert share["wording"] == pytest.approx(share["set"] + share["turn_set"])
        assert (part["ci_low"] <= part["share"]).all() and (part["share"] <= part["ci_high"]).all()


def test_demo_slices_add_up(of_demo: tuple[Robustness, object]) -> None:
    result, _ = of_demo
    groups = result.groups.set_index(["group", "metric"])
    for key, part in result.slices.groupby(["group", "metric", "slicing"]):
        whole = groups.loc[key[:2]]
        assert part["turns"].sum() == 70
        assert (part["turns"] * part["drop"]).sum() / 70 == pytest.approx(whole["mean_drop"])
    depths = result.slices.query("slicing == 'depth'")["slice"].unique()
    assert depths.tolist() == ["1", "2", "3", "4", "5", "6", "7"]


def test_slices_of_a_user() -> None:
    scores = {"base": [1.0] * 42, "a": [0.5, 1.0] * 21, "b": [1.0] * 42}
    turns = [f"{1 + i // 3}_{1 + i % 3}" for i in range(42)]
    slices = {
        "type": {turn: "odd" if i % 2 else "even" for i, turn in enumerate(turns[:40])},
        "id": {turn: turn for turn in turns},
    }
    cut, notes = turn_slicings(("first", "depth"), turns, {}, slices)
    result = made(scores, {"g": Group("base", ("a", "b"))}, slicings=cut)
    mine = result.slices[result.slices["slicing"] == "type"]
    assert mine[["slice", "turns", "drop"]].to_numpy().tolist() == [
        ["even", 20, 0.25],
        ["odd", 20, 0.0],
    ]
    assert notes == ("slices: column type has no value for 2 of the 42 turns",)
    assert len(result.slices[result.slices["slicing"] == "id"]) == 42  # as many as there are
    even, odd = mine.itertuples()
    assert (even.difference, odd.difference) == (0.25, -0.25)


def test_one_set_and_a_baseline_of_zero() -> None:
    result = made({"base": [0, 0, 0], "a": [0, 0.5, 0]}, {"g": Group("base", ("a",))})
    assert math.isnan(result.measures["drop_percent"][0]) and result.measures["drop"][
        0
    ] == pytest.approx(-1 / 6)
    assert not len(result.variance) and "share" in result.variance
    assert (
        "the variance decomposition requires at least two sets in a group and two turns"
        in result.evaluated.notes
    )
    assert np.isnan(result.turns["sd"]).all()


def test_the_seed_decides() -> None:
    values = np.random.default_rng(0).random((3, 60))
    scores = dict(zip(("base", "a", "b"), values, strict=True))
    groups = {"g": Group("base", ("a", "b"))}
    first, again, other = (made(scores, groups, seed=seed) for seed in (1, 1, 2))
    assert first.measures.equals(again.measures) and first.variance.equals(again.variance)
    assert not first.measures["ci_low"].equals(other.measures["ci_low"])


def test_a_run_twice() -> None:
    with pytest.raises(UsageError, match="group 'g' contains a run twice; name each run once"):
        made({"base": [0.5, 1]}, {"g": Group("base", ("base",))})


def test_cast_2020(shared_data: Path) -> None:
    folder = shared_data / "cast2020"
    project = Project(
        qrels=folder / "qrels.txt.gz",
        runs={name: folder / "runs" / f"bert_{name}.trec.gz" for name in ("manual", "raw", "auto")},
        policy=EvaluationPolicy(relevance_level=2),
    )
    groups = {"rewriting": Group("manual", ("raw", "auto"))}
    scores, evaluated = Workspace(project).system_scores(
        ["manual", "raw", "auto"], [parse_measure("ndcg_cut_3")]
    )
    assert (evaluated.turns, evaluated.missing) == (208, 1)
    result = robustness(groups, scores, evaluated)
    first = result.slices.query("slicing == 'first'").set_index("slice")
    # the raw text of a first turn is the whole question: nothing to lose there
    assert first["turns"].to_dict() == {"first": 25, "later": 183}
    assert abs(first.loc["first", "drop"]) < 0.02 and first.loc["later", "drop"] > 0.2
    dropped = Project(
        qrels=project.qrels,
        runs=project.runs,
        policy=EvaluationPolicy(relevance_level=2, missing="drop"),
    )
    assert Workspace(dropped).system_scores(["manual", "raw"])[1].turns == 207


def test_every_drop_is_that_of_its_own_test(
    of_demo: tuple[Robustness, dict[str, pd.DataFrame]],
) -> None:
    """Sets and their mean are tested together: each as if it were alone."""
    result, scores = of_demo
    units = units_of(list(scores["human"].index))
    for row in result.measures.itertuples():
        sums = units.sums((scores[row.baseline_run] - scores[row.set])[row.metric].to_numpy())
        (alone,) = paired_tests(sums, units.sizes, 0)
        assert (row.drop, row.p, row.ci_low, row.ci_high) == pytest.approx(
            (alone.value, alone.p, alone.low, alone.high)
        )
        assert row.note == alone.note


def test_margin() -> None:
    values = np.random.default_rng(1).random(60) * 0.6 + 0.3
    scores = {
        "base": values,
        "near": values - 0.01 * np.sin(np.arange(60)),
        "far": values - 0.2 - 0.1 * np.cos(np.arange(60)),
    }
    groups = {"g": Group("base", ("near", "far"))}
    result = made(scores, groups, margin=0.05)
    assert result.measures["equivalent"].tolist() == [True, False] and result.groups[
        "equivalent"
    ].tolist() == [False]
    for row in result.measures.itertuples():
        assert row.equivalent == (row.ci_low > -0.05 and row.ci_high < 0.05)
    assert made(scores, groups).measures["equivalent"].isna().all()
    with pytest.raises(UsageError, match="margin -1; use a difference above 0"):
        made(scores, groups, margin=-1)


def test_what_few_conversations_cannot_say() -> None:
    values = np.random.default_rng(2).random((4, 18))
    scores = dict(zip(("base", "a", "b", "c"), values, strict=True))
    result = made(scores, {"g": Group("base", ("a", "b", "c"))})
    assert (result.evaluated.unit, result.evaluated.units) == ("conversation", 6)
    five = made(
        {name: some[:15] for name, some in scores.items()}, {"g": Group("base", ("a", "b", "c"))}
    )
    assert (
        "sets: no adjusted p can reach 0.05; the smallest possible is 0.062" in five.evaluated.notes
    )
    assert result.measures["note"].str.contains("unstable: only 6 conversations").all()
    late = {f"{c}_3": "late" for c in range(1, 5)}
    cut, _ = turn_slicings(("first",), list(result.turns["turn"].unique()), {}, {"kind": late})
    slices = made(scores, {"g": Group("base", ("a", "b", "c"))}, slicings=cut).slices
    (row,) = slices[slices["slicing"] == "kind"].itertuples()
    assert (row.turns, row.units) == (4, 4) and math.isnan(row.ci_low)
    assert row.note == "no interval: only 4 conversations (at least 5 required)"
    assert (slices.loc[slices["slicing"] == "first", "units"] == 6).all()


def test_findings_say_what_the_conversations_can_tell() -> None:
    values = np.random.default_rng(3).random(60) * 0.5 + 0.3
    noise = np.random.default_rng(4).normal(0, 0.1, 60)
    scores = {"base": values, "low": values - 0.2 - 0.1 * noise, "same": values + noise}
    result = made(
        scores, {"lower": Group("base", ("low",)), "alike": Group("base", ("same",))}, margin=0.2
    )
    lower, alike = robustness_findings(result, pd.DataFrame(columns=["group", "metric"]))
    assert lower.startswith("On the 1 test set of lower, NDCG@3 drops by 0.") and lower.endswith(
        " Unjudged passages count as not relevant."
    )
    assert "max-T over 2 groups" in lower and "20 conversations" not in lower
    row = result.groups.set_index("group").loc["alike"]
    assert row["p_corrected"] > 0.05
    assert "A drop larger than 0.2 is ruled out." in alike
    least = f"with 20 conversations, the test has 80% power for a drop of {row['detectable']:.3f}."
    assert alike.endswith(f" is not significant; {least}")
