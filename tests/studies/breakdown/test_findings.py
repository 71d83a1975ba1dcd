"""The sentences of a breakdown, on tables made by hand: what they say follows from the tables alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustcs.documents.headline import at
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.units import Units, units_of
from robustcs.studies.breakdown.analysis import Breakdown, breakdown
from robustcs.studies.breakdown.findings import finding, verdicts
from robustcs.studies.breakdown.rewriters import compared
from robustcs.studies.breakdown.show_rewriters import overview
from tests.formulations import formulations_of

CUT = ("ndcg_cut_3", ">=0.5")


@cache
def made(
    names: tuple[str, ...] = ("qr",),
    basis: Any = "runs",
    thresholds: tuple[str, ...] = (">0", ">=0.5", "=1"),
) -> Breakdown:
    """A breakdown of 100 turns by NDCG@3 and P@1, whose tables the tests replace."""
    generator = np.random.default_rng(1)
    index = pd.Index([f"{turn // 5 + 1}_{turn % 5 + 1}" for turn in range(100)], name="turn")

    def frame(shift: float) -> pd.DataFrame:
        score = np.clip(generator.normal(shift, 0.3, 100), 0, 1)
        return pd.DataFrame({"ndcg_cut_3": score, "P_1": (score > 0.5).astype(float)}, index=index)

    scores = formulations_of(
        frame(0.4), {name: frame(0.5 - place / 10) for place, name in enumerate(names)}, frame(0.6)
    )
    return breakdown(
        scores,
        Evaluated(EvaluationPolicy(), basis, 100, 0),
        [parse_threshold(one) for one in thresholds],
    )


def with_cells(frame: pd.DataFrame, where: dict[str, Any], **cells: Any) -> pd.DataFrame:
    """The frame with other cells in the rows that ``where`` names."""
    rows = np.logical_and.reduce([frame[name] == value for name, value in where.items()])
    assert rows.any(), where
    frame = frame.copy()
    for name, value in cells.items():
        frame.loc[rows, name] = value
    return frame


def blamed(result: Breakdown, **by_threshold: tuple[int, int, float, float]) -> Breakdown:
    """``result`` whose rewriters have (QA errors, rewriter errors, p, adjusted p) at the thresholds any, half and one."""
    names = {"any": ">0", "half": ">=0.5", "one": "=1"}
    blame = result.blame.assign(
        p=0.9, p_corrected=0.9, comparisons=7, ci_low=-0.1, ci_high=0.3, detectable=0.22, exact=True
    )
    attribution = result.attribution
    for key, (qa, qr, p, corrected) in by_threshold.items():
        where = {"metric": "ndcg_cut_3", "threshold": names[key]}
        blame = with_cells(
            blame, where, qa=qa, qr=qr, p=p, p_corrected=corrected, difference=(qa - qr) / 100
        )
        for cause, number in (("qa", qa), ("qr", qr), ("correct", 100 - qa - qr)):
            cells = {
                "count": number,
                "share": number / 100,
                "ci_low": number / 100 - 0.05,
                "ci_high": number / 100 + 0.06,
            }
            attribution = with_cells(attribution, where | {"cause": cause}, **cells)
    return result.changed(blame=blame, attribution=attribution)


@pytest.mark.parametrize(
    ("half", "said"),
    [
        ((44, 11, 0.01, 0.03), ("The ranker fails on 44% of turns even with the human rewrite, more often than the rewriter"
                                " (adjusted p = 0.030)", "The rewriter fails on 11% of turns")),
        ((11, 44, 0.01, 0.03), ("The ranker fails on 11% of turns even with the human rewrite",
                                "The rewriter fails on 44% of turns, more often than the ranker (adjusted p = 0.030)")),
        # the raw p alone decides nothing
        ((44, 11, 0.01, 0.21), ("The ranker fails on 44% of turns; the data do not show whether it or the rewriter fails more"
                                " often (adjusted p = 0.210)", "The rewriter fails on 11% of turns")),
        ((11, 44, 0.01, 0.21), ("The ranker fails on 11% of turns even with the human rewrite",
                                "The rewriter fails on 44% of turns; the data do not show whether it or the ranker fails more"
                                " often (adjusted p = 0.210)")),
        # of equal shares the first carries the test
        ((20, 20, 0.9, 1.0), ("The ranker fails on 20% of turns; the data do not show whether it or the rewriter fails more"
                              " often (adjusted p = 1.000)", "The rewriter fails on 20% of turns")),
    ],
)  # fmt: skip
def test_verdicts_at_one_threshold(
    half: tuple[int, int, float, float], said: tuple[str, str]
) -> None:
    qa, qr, _ = verdicts(blamed(made(), half=half))
    assert (qa.text, qr.text) == said
    assert (qa.number, qa.interval) == (f"{half[0]}%", f"{half[0] - 5}% to {half[0] + 6}%")
    assert qr.basis == f"{half[1]} of 100 turns; correct if NDCG@3 ≥ 0.5"
    ends = f"95% CI {half[1] - 5}% to {half[1] + 6}%; {qr.basis})."
    clause, semicolon, rest = qr.text.partition("; ")
    ends = ends.removesuffix(".")
    first = f"{clause[:-1]}; {ends}" if clause.endswith(")") else f"{clause} ({ends}"
    assert qr.sentence == f"{first}{semicolon}{rest}."


def test_the_ranker_and_the_rewriter_have_their_names() -> None:
    result = blamed(made(("gpt4o",)), half=(44, 11, 0.01, 0.03))
    qa, *_ = verdicts(result.changed(evaluated=replace(result.evaluated, ranker="bm25")))
    assert qa.text == (
        "The ranker bm25 fails on 44% of turns even with the human rewrite, more often than the rewriter gpt4o (adjusted"
        " p = 0.030)"
    )


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        # both significant: the change comes first, and names each side at its threshold
        ({"any": (3, 24, 0.001, 0.04), "half": (30, 26, 0.5, 0.9), "one": (80, 5, 0.001, 0.002)},
         "Blame depends on the threshold (ranker: NDCG@3 = 1; rewriter: NDCG@3 > 0); the ranker fails on 30% of turns"),
        ({"any": (24, 3, 0.001, 0.04), "half": (26, 30, 0.5, 0.9), "one": (5, 80, 0.001, 0.002)},
         "Blame depends on the threshold (ranker: NDCG@3 > 0; rewriter: NDCG@3 = 1); the rewriter fails on 30% of turns"),
        # one of the two only by its raw p: no change
        ({"any": (3, 24, 0.001, 0.06), "half": (30, 26, 0.5, 0.9), "one": (80, 5, 0.001, 0.002)},
         "The ranker fails on 30% of turns; the data do not show whether it or the rewriter fails more often (adjusted"
         " p = 0.900)"),
    ],
)  # fmt: skip
def test_verdicts_over_thresholds(
    cells: dict[str, tuple[int, int, float, float]], said: str
) -> None:
    result = blamed(made(), **cells)
    assert said in [verdict.text for verdict in verdicts(result)]


def test_another_measure_can_turn_the_verdict() -> None:
    result = blamed(made(), half=(44, 11, 0.01, 0.03))
    blame = with_cells(result.blame, {"metric": "P_1"}, p_corrected=0.01, difference=-0.2)
    qa, _, _ = verdicts(result.changed(blame=blame))
    assert qa.text.startswith(
        "Blame depends on the measure and threshold (ranker: NDCG@3 ≥ 0.5; rewriter: P@1 = 1); "
    )


def test_verdicts_have_at_most_25_words() -> None:
    worst = {"any": (3, 24, 0.001, 0.04), "half": (30, 26, 0.5, 0.9), "one": (80, 5, 0.001, 0.002)}
    for cells in (
        worst,
        worst | {"any": (3, 24, 0.1, 0.4)},
        {"half": (44, 11, 0.1, 0.2)},
        {"half": (44, 11, 0.01, 0.03)},
    ):
        for basis in ("runs", "answers"):
            for verdict in verdicts(blamed(made(basis=basis), **cells)):
                assert len(verdict.text.split()) <= 25, verdict.text


def test_answers_blame_the_reader() -> None:
    qa, _, _ = verdicts(blamed(made(basis="answers"), half=(44, 11, 0.01, 0.03)))
    assert qa.text.startswith("The reader fails on 44%")


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((0.2, 0.1, 0.3), "The rewriter loses 0.200 NDCG@3 to Human"),
        ((-0.2, -0.3, -0.1), "The rewriter gains 0.200 NDCG@3 over Human"),
        (
            (0.2, -0.1, 0.5),
            "The data do not show whether the rewriter or Human has the higher mean NDCG@3 (they differ by 0.200)",
        ),
        (
            (-0.2, -0.5, 0.1),
            "The data do not show whether the rewriter or Human has the higher mean NDCG@3 (they differ by 0.200)",
        ),
    ],
)
def test_what_the_rewriter_loses(ends: tuple[float, float, float], said: str) -> None:
    result = made()
    names = ("to_human", "to_human_high", "to_human_low")
    cells = dict(zip(names, (-end for end in ends), strict=True))
    lost = verdicts(
        result.changed(rewriters=with_cells(result.rewriters, {"metric": "ndcg_cut_3"}, **cells))
    )[-1]
    low, high = sorted((ends[1], ends[2])) if ends[0] > 0 else sorted((-ends[1], -ends[2]))
    assert lost.text == said and lost.interval == f"{low:.3f} to {high:.3f}".replace("-", "−")


def test_findings_of_one_rewriter() -> None:
    said = finding(blamed(made(), half=(44, 11, 0.01, 0.03)))
    assert said[0] == (
        "Of 100 turns (correct if NDCG@3 ≥ 0.5), the ranker fails on 44 (44%, 95% CI 39% to 50%) even with the human rewrite,"
        " the rewriter fails on 11 (11%, 95% CI 6% to 17%), and QR and Human are correct on 45 (45%, 95% CI 40% to 51%)."
    )
    assert said[1] == (
        "The ranker fails more often than the rewriter at NDCG@3 ≥ 0.5, by 33.0 percentage points (95% CI −10 to +30; adjusted"
        " p = 0.030, max-T over 7 comparisons)."
    )
    undecided = finding(blamed(made(), half=(11, 44, 0.01, 0.21)))[1]
    assert undecided == (
        "The data do not show whether the ranker or the rewriter fails more often at NDCG@3 ≥ 0.5: on these turns, the rewriter"
        " does, by 33.0 percentage points (95% CI −30 to +10; adjusted p = 0.210, max-T over 7 comparisons)."
    )
    equal = finding(blamed(made(), half=(20, 20, 1.0, 1.0)))[1]
    assert equal.startswith(
        "The data do not show whether the ranker or the rewriter fails more often at NDCG@3 ≥ 0.5: "
    )


def test_findings_of_several_rewriters() -> None:
    """t5 leads; bert shares its letter, llm does not; of 50 answerable turns 9 are answered by none."""
    result = made(("t5", "bert", "llm"))
    rewriters = result.rewriters
    for name, mean, letters in (("t5", 0.6, "a"), ("bert", 0.55, "a b"), ("llm", 0.4, "b")):
        rewriters = with_cells(
            rewriters,
            {"rewriter": name},
            mean=mean,
            mean_low=mean - 0.1,
            mean_high=mean + 0.1,
            letters=letters,
        )
    repairs = result.repairs.assign(count=0)
    cut = {"metric": CUT[0], "threshold": CUT[1]}
    repairs = with_cells(repairs, cut | {"answered_by": "all"}, count=41)
    repairs = with_cells(repairs, cut | {"answered_by": "none"}, count=9, share=0.18)
    said = finding(result.changed(rewriters=rewriters, repairs=repairs))[0]
    assert said == (
        "t5 has the highest mean NDCG@3 of 3 rewriters (0.600, 95% CI 0.500 to 0.700). It ties with bert"
        "; llm scores significantly lower (max-T over 3 pairs). Of the 50 turns that Human answers (correct if NDCG@3 ≥"
        " 0.5), 9 (18%) are answered by no rewriter."
    )
    [_, qr, _] = verdicts(result.changed(rewriters=rewriters, repairs=repairs))
    assert qr.tone == "qr" and qr.text.startswith("The rewriter t5 fails ")
    assert qr.basis.endswith("; t5 has the highest mean NDCG@3 of 3 rewriters and ties with bert")


def test_a_rewriter_that_answers_less_than_half_is_named_so_and_not_ranked() -> None:
    result = made()
    one = blamed(
        result.changed(evaluated=replace(result.evaluated, few={"qr": 7})),
        half=(44, 11, 0.01, 0.03),
    )
    qa, qr, lost = verdicts(one)
    few = "(QR answers 7 of 100 turns)"
    assert qa.text.startswith(f"The ranker {few} fails on 44%") and qr.text.startswith(
        f"The rewriter {few} fails on 11%"
    )
    assert f"{few} has the higher mean" in lost.text or lost.text.startswith(f"The rewriter {few} ")
    told = finding(one)
    assert told[0].startswith(
        "Of 100 turns (correct if NDCG@3 ≥ 0.5; QR answers 7 of 100 turns), the ranker fails on 44"
    )
    assert told[1].startswith(f"The ranker {few} fails more often than the rewriter") and told[
        2
    ].startswith(f"If QR and Human {few} were")
    three = made(("t5", "bert", "llm"))
    ranked = finding(three.changed(evaluated=replace(three.evaluated, few={"t5": 7})))[0]
    assert (
        not ranked.startswith("t5")
        and "ot ranked: t5, which answers 7 of 100 turns (max-T" in ranked
    )


def test_three_rewriters_of_many_are_named() -> None:
    result = made(("t5", *"abcdefgh"))
    rewriters = result.rewriters.assign(letters="a", mean=0.5)
    for name in "efgh":
        rewriters = with_cells(rewriters, {"rewriter": name}, letters="b")
    rewriters = with_cells(rewriters, {"rewriter": "t5"}, mean=0.6)
    said = finding(result.changed(rewriters=rewriters))[0]
    assert "It ties with a, b, c …; e, f, g … score significantly lower" in said
    basis = verdicts(result.changed(rewriters=rewriters))[1].basis
    assert basis.endswith("of 9 rewriters and ties with a, b …"), "a verdict has less space: two"


def test_the_overview_shows_cells_of_its_table() -> None:
    """A renderer computes nothing: other cells in the table are other cells on the page."""
    result = made(("t5", "bert"))
    changed = result.overview.assign(
        answered=0.123, answered_low=0.1, answered_high=0.2, mean=0.777, mean_low=0.7, mean_high=0.8
    )
    changed["to_human"], changed["error"] = (
        -0.055,
        np.where(changed["system"].isin(["t5", "bert"]), 0.31, np.nan),
    )
    changed["error_low"], changed["error_high"] = 0.25, 0.35
    table, _ = overview(result.changed(overview=changed))
    assert [row[0] for row in table.rows] == [
        "Human",
        "t5",
        "bert",
        "Original",
    ] and table.of == "overview"
    for row in table.rows:
        assert row[1] == "12% (10–20%)" and row[3] == "0.777 (0.700 to 0.800)"
        assert (row[2], row[4]) == (
            ("31% (25–35%)", "−0.055")
            if row[0] in ("t5", "bert")
            else ("–", "–" if row[0] == "Human" else "−0.055")
        )


def test_the_overview_and_the_table_of_rewriters_say_the_same() -> None:
    """Answered is what passes the threshold by its own score, in every table and test."""
    result = made(("t5", "bert"))
    for cut in dict.fromkeys(
        zip(result.rewriters["metric"], result.rewriters["threshold"], strict=True)
    ):
        systems = at(result.overview, cut).set_index("system")
        for row in at(result.rewriters, cut).itertuples():
            line = systems.loc[row.rewriter]
            assert line[["answered", "answered_low", "error", "mean", "to_human"]].tolist() == [
                row.answered, row.answered_low, row.qr, row.mean, row.to_human,
            ]  # fmt: skip
        assert systems.loc["human", "answered"] == pytest.approx(
            1 - at(result.rewriters, cut)["qa"].iloc[0]
        )
        [pair] = at(result.rewriter_tests, cut).itertuples()
        assert pair.difference == pytest.approx(
            systems.loc["t5", "answered"] - systems.loc["bert", "answered"]
        )
        p_1 = systems if cut[0] == "P_1" else None
        if p_1 is not None:
            assert p_1["answered"].tolist() == pytest.approx(p_1["mean"].tolist()), (
                "P@1 = 1 is the mean P@1"
            )


def null_share(moved: np.ndarray, units: Units, families: list[str], trials: int = 200) -> float:
    """In which share of trials with random signs of whole conversations any adjusted p is at most .05; all trials at once."""
    signs = np.random.default_rng(7).choice([-1, 1], size=(trials, 1, moved.shape[1]))
    keys = [
        (f"{family} {trial}", str(row))
        for trial in range(trials)
        for row, family in enumerate(families)
    ]
    frame = pd.DataFrame(keys, columns=["metric", "threshold"])
    false = (
        compared(
            frame.assign(rewriter="qr"), (moved * signs).reshape(-1, moved.shape[1]), units, 0
        )["p_corrected"]
        <= 0.05
    )
    return float(false.to_numpy().reshape(trials, -1).any(axis=1).mean())


@pytest.mark.long
def test_blame_is_false_in_few_null_trials() -> None:
    """Six measures at three thresholds: where neither fails more often, 7.5 % of verdicts at most say that one does.

    The null: in every conversation at random its QA errors are rewriter errors and the reverse, for all measures together.
    """
    generator = np.random.default_rng(3)
    hard = generator.normal(size=(1, 8, 1))
    human, qr = (
        np.clip(0.5 + 0.2 * hard + generator.normal(0, 0.3, (6, 8, 6)), 0, 1) for _ in range(2)
    )
    cuts = [0.2, 0.5, 0.8]
    moved = np.concatenate(
        [((human < cut) * 1 - ((human >= cut) & (qr < cut))).sum(axis=2) for cut in cuts]
    ).astype(float)
    units = units_of([f"{unit}_{turn}" for unit in range(8) for turn in range(6)])
    assert null_share(moved, units, ["all"] * 18) <= 0.075
    assert (
        null_share(moved, units, [f"m{measure}" for _ in cuts for measure in range(6)], 40) > 0.075
    ), "each measure alone"


def test_errors_by_chance_are_those_of_the_rewriter() -> None:
    result = blamed(made(), half=(44, 11, 0.01, 0.03))
    where = {"metric": "ndcg_cut_3", "threshold": ">=0.5"}
    attribution = with_cells(result.attribution, where | {"cause": "qr"}, by_chance=12.5)
    attribution = with_cells(attribution, where | {"cause": "qa"}, by_chance=40.0)
    assert finding(result.changed(attribution=attribution))[-1] == (
        "If QR and Human were swapped at random in every turn, 12.5 turns would still count as rewriter errors."
    )
