"""Several rewriters side by side: against the tables of each alone, scipy, and what can be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.documents.document import Figure, TableBlock
from robustcs.documents.forms import shown_blocks
from robustcs.documents.headline import at
from robustcs.documents.style import PAGE
from robustcs.evaluation.bins import Formulations
from robustcs.evaluation.thresholds import Threshold, parse_threshold
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.breakdown.analysis import Breakdown, breakdown
from robustcs.studies.breakdown.findings import finding, verdicts
from robustcs.studies.breakdown.show import show
from robustcs.studies.breakdown.show_rewriters import overview
from tests.formulations import formulations_of

METRIC = "ndcg_cut_3"
CUT = [parse_threshold(">=0.5")]
NAMES = ("t5", "bert", "llm")
MORE = "The ranker fails on 60% of turns even with the human rewrite, more often than the rewriter (adjusted p = 0.002)"


def scored(
    table: np.ndarray, human: np.ndarray, names: tuple[str, ...] = NAMES, length: int = 5
) -> Formulations:
    """``table``: float[rewriters, turns], turns in conversations of ``length``."""
    index = pd.Index(
        [f"{turn // length + 1}_{turn % length + 1}" for turn in range(len(human))], name="turn"
    )
    frames = {
        name: pd.DataFrame({METRIC: row}, index=index)
        for name, row in zip(names, table, strict=True)
    }
    return formulations_of(None, frames, pd.DataFrame({METRIC: human}, index=index))


def asked(scores: Formulations, seed: int = 0, thresholds: Sequence[Threshold] = CUT) -> Breakdown:
    return breakdown(
        scores, Evaluated(EvaluationPolicy(), "runs", len(scores.turns), 0), thresholds, seed=seed
    )


def rewriters_of(
    generator: np.random.Generator, shifts: tuple[float, ...], turns: int = 100
) -> Formulations:
    topics = np.repeat(generator.normal(0, 0.1, turns // 5), 5)
    human = np.clip(0.75 + topics + generator.normal(0, 0.1, turns), 0, 1)
    table = np.clip([human + shift + generator.normal(0, 0.12, turns) for shift in shifts], 0, 1)
    return scored(np.asarray(table), human)


def test_every_row_is_that_of_the_rewriter_alone() -> None:
    scores = rewriters_of(np.random.default_rng(1), (-0.1, -0.2, -0.4))
    whole = asked(scores)
    for name, frame in scores.rewriters.items():
        alone = asked(formulations_of(None, {name: frame}, scores.human))
        row = whole.rewriters.set_index("rewriter").loc[name]
        shares = alone.attribution.set_index("cause")
        for cause in ("qa", "qr", "correct"):
            expected = shares.loc[cause, ["share", "ci_low", "ci_high"]].tolist()
            assert [row[cause], row[f"{cause}_low"], row[f"{cause}_high"]] == pytest.approx(
                expected
            )
        assert row["answered"] == (frame[METRIC] >= 0.5).mean(), (
            "its own score decides, whatever Human gets"
        )
        assert row["to_human"] == pytest.approx(-alone.headroom["difference"].iloc[0])
    assert (whole.rewriters["to_best"] <= 0).all() and whole.rewriters["to_best"].max() == 0


@given(st.data())
@settings(max_examples=12, deadline=None)
def test_repairs_are_a_partition_of_what_human_answers(data: st.DataObject) -> None:
    turns = data.draw(st.integers(1, 25))
    column = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=turns, max_size=turns)
    table, human = np.array([data.draw(column) for _ in range(3)]), np.array(data.draw(column))
    result = asked(scored(table, human))
    every = table >= 0.5
    right = every & (human >= 0.5)
    rows = result.repairs.set_index("answered_by")
    assert rows["count"].sum() == (human >= 0.5).sum()
    turn_ids = result.turns["turn"].unique()
    nobody = ~every.any(axis=0)
    assert rows["turns"]["none"].split() == list(turn_ids[nobody & (human >= 0.5)])
    assert rows["count"]["none"] == ((human >= 0.5) & ~right.any(axis=0)).sum()
    assert rows["count"]["all"] == right.all(axis=0).sum()
    for place, name in enumerate(NAMES):
        only = right[place] & (right.sum(axis=0) == 1)
        assert rows["turns"][name].split() == [
            str(turn) for turn in result.turns["turn"].unique()[only]
        ]


def test_tests_count_discordant_turns_and_tell_a_planted_loss() -> None:
    result = asked(rewriters_of(np.random.default_rng(2), (-0.05, -0.06, -0.5)))
    turns = result.turns.pivot(index="turn", columns="rewriter", values="qr") >= 0.5
    for row in result.rewriter_tests.itertuples():
        assert row.only_first == (turns[row.first] & ~turns[row.second]).sum()
        assert row.only_second == (turns[row.second] & ~turns[row.first]).sum()
    corrected = {
        (row.first, row.second): row.p_corrected for row in result.rewriter_scores.itertuples()
    }
    assert (
        corrected["t5", "llm"] < 0.001
        and corrected["bert", "llm"] < 0.001
        and corrected["t5", "bert"] > 0.05
    )
    letters = dict(zip(result.rewriters["rewriter"], result.rewriters["letters"], strict=True))
    assert letters["t5"] == letters["bert"] != letters["llm"]
    assert all(row.comparisons == 3 for row in result.rewriter_tests.itertuples())


@pytest.mark.long
def test_a_choice_among_equal_rewriters_gains_what_chance_gains() -> None:
    """Exchangeable rewriters: the gain of the best of every turn is, on average, its chance level."""
    generator = np.random.default_rng(3)
    gains = []
    for trial in range(60):
        result = asked(rewriters_of(generator, (-0.2, -0.2, -0.2)), seed=trial)
        row = result.best_of.iloc[0]
        assert row["chosen"] == pytest.approx(row["best_mean"] + row["gain"])
        gains.append(row["gain"] - row["by_chance"])
    assert abs(np.mean(gains)) < 3 * np.std(gains) / np.sqrt(len(gains)) + 1e-3
    # one rewriter that is always best: choosing gains nothing, chance would
    human = np.full(50, 1.0)
    sure = asked(scored(np.array([human, human - 0.3, human - 0.4]), human)).best_of.iloc[0]
    assert sure["gain"] == 0 and sure["by_chance"] > 0.2


def test_a_lead_lowers_the_gain_below_its_chance_level_and_the_note_says_so() -> None:
    """Exchanging leaves the highest scores and brings the best mean down to that of all."""
    generator = np.random.default_rng(6)
    result = asked(rewriters_of(generator, (-0.1, -0.2, -0.3), turns=200))
    row = result.best_of.iloc[0]
    of_all = result.rewriters["mean"].mean()
    assert row["gain"] < row["by_chance"] < row["chosen"] - of_all
    assert row["chosen"] - row["by_chance"] == pytest.approx(of_all, abs=0.03)
    [table] = [
        block for block in show(result) if isinstance(block, TableBlock) and block.of == "best_of"
    ]
    assert (
        "A gain below chance shows only that the best mean is higher than chance gives."
        in table.note
    )


def test_one_rewriter_alone_has_its_row_and_no_pairs() -> None:
    scores = rewriters_of(np.random.default_rng(4), (-0.1, -0.2, -0.4))
    result = asked(formulations_of(None, {"t5": scores.rewriters["t5"]}, scores.human))
    assert len(result.rewriters) == 1 and result.rewriter_tests.empty and result.best_of.empty
    assert set(result.repairs["answered_by"]) == {"all", "none"}


def test_several_are_shown_together_and_each_on_demand() -> None:
    result = asked(rewriters_of(np.random.default_rng(5), (-0.05, -0.06, -0.5)))
    blocks = show(result)
    assert isinstance(blocks[0], Figure) and blocks[0].draw(PAGE).axes
    captions = [getattr(block, "caption", "") for block in blocks]
    assert "What does no rewriter repair?" in captions
    for block in shown_blocks(result, blocks, ()):
        assert not getattr(block, "on_request", False) and not getattr(block, "requested", False)
    own = shown_blocks(result, show(result, ["attribution"]), ["attribution"])
    assert [getattr(block, "caption", "") for block in own] == ["What causes the errors?"]
    first, second, *_ = finding(result)
    assert "t5 has the highest mean NDCG@3 of 3 rewriters" in first
    assert "It ties with bert; llm scores significantly lower (max-T over 3 pairs)." in first
    assert "answered by no rewriter" in first and "t5 fails on" in second


@pytest.mark.parametrize(("shift", "verb"), [(-0.2, "loses"), (0.2, "gains")])
def test_the_verdict_gives_what_the_best_loses_or_gains_as_a_size(shift: float, verb: str) -> None:
    human = 0.5 + np.random.default_rng(4).normal(0, 0.05, 50)
    lost = verdicts(
        asked(
            scored(
                np.array([human + shift + np.linspace(-0.01, 0.01, 50), human - 0.3]),
                human,
                NAMES[:2],
            )
        )
    )[-1]
    assert (
        lost.text == f"t5 {verb} 0.200 NDCG@3 {'to' if verb == 'loses' else 'over'} Human"
        and lost.number == "0.200"
    )
    low, high = lost.interval.split(" to ")
    assert 0 < float(low) < 0.2 < float(high)


@pytest.mark.parametrize(
    ("low", "said"),
    [
        (
            [(0.3, 0.0)] * 25,
            "Blame depends on the threshold (ranker: NDCG@3 ≥ 0.5; rewriter: NDCG@3 > 0); the ranker fails on 60% of turns",
        ),
        ([(0.3, 0.0)] * 3 + [(0.0, 0.0)] * 2, MORE),
        ([(0.3, 0.0)] * 2 + [(0.0, 0.0)] * 3, MORE),
    ],
)
def test_the_verdict_says_where_another_threshold_blames_the_other(
    low: list[tuple[float, float]], said: str
) -> None:
    """At 0.5 Human fails in 30 of 50 turns and the rewriter in none; ``low``: (Human, QR) where they differ above 0."""
    scores = np.array([*low, *[(0.3, 0.3)] * (30 - len(low)), *[(0.8, 0.8)] * 20])[
        np.random.default_rng(5).permutation(50)
    ]
    both = [parse_threshold(text) for text in (">0", ">=0.5")]
    qa, qr, _ = verdicts(asked(scored(scores[None, :, 1], scores[:, 0], ("qr",)), thresholds=both))
    assert qa.text == said and qa.number == "60%"
    assert qr.text == "The rewriter fails on 0% of turns"


def test_the_squares_say_what_their_bins_add_up_to() -> None:
    human, qr = np.array([0.0, 0.0, 0.0, 0.9, 0.9] * 2), np.array([0.0, 0.8, 0.0, 0.9, 0.1] * 2)
    figure = overview(asked(scored(qr[None], human, ("qr",))))[1]
    assert isinstance(figure, Figure)
    assert figure.alt == "Turns per bin (QR, Human): × ×: 4; ✓ ×: 2; × ✓: 2; ✓ ✓: 2."
    assert (
        "The bins with Human × contain 6 QA errors; the bins with QR × and Human ✓ contain 2 rewriter errors."
        in figure.caption
    )


def test_letters_of_the_overview_are_those_of_its_cut() -> None:
    """Told apart by NDCG@3; equal by the measure that stands last."""
    scores = rewriters_of(np.random.default_rng(2), (-0.05, -0.06, -0.5))
    for frame in (*scores.rewriters.values(), scores.human):
        frame["map"] = np.full(len(frame.turns), 0.5)
    result = asked(scores)
    assert set(at(result.rewriters, ("map", ">=0.5"))["letters"]) == {"a"}
    shown = overview(result)[0]
    assert [row[-1] for row in shown.rows] == ["", "a", "a", "b"]
