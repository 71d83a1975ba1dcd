"""The error breakdown: the figures of the paper, and a recount in a few lines of pandas."""

from __future__ import annotations

import operator
from collections import Counter
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binom, binomtest
from statsmodels.stats.multitest import multipletests

from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS, Binned, Cut, Formulations
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.evaluation.thresholds import Threshold, parse_threshold
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.texts import read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.statistics.units import Units, units_of
from robustcs.studies.breakdown.analysis import (
    Breakdown,
    answerable,
    attribution,
    breakdown,
    unchanged_turns,
)
from robustcs.studies.breakdown.rewriters import SIDE_BY_SIDE
from robustcs.studies.breakdown.show import show
from tests.formulations import formulations_of, score_frame
from tests.published import REAL_RUNS, TABLE_1

#: Table 2, reading comprehension: counts, and in brackets the questions that needed no rewriting.
TABLE_2 = {
    ">0": ([847, 174, 19, 135, 141, 65, 226, 3964], [136, 0, 0, 0, 0, 1, 0, 529]),
    ">=0.5": ([1855, 193, 35, 153, 288, 57, 324, 2666], [235, 0, 2, 0, 0, 1, 0, 428]),
    "=1": ([2701, 181, 40, 120, 232, 40, 269, 1988], [332, 0, 1, 0, 0, 0, 0, 333]),
}


def evaluated(turns: int) -> Evaluated:
    return Evaluated(EvaluationPolicy(), "scores", turns, 0)


def formulations(
    *triples: tuple[float, float, float], name: str = "qr", metric: str = "m"
) -> Formulations:
    index = pd.Index([f"1_{i}" for i in range(1, len(triples) + 1)], name="turn")
    original, qr, human = (
        pd.DataFrame({metric: column}, index=index, dtype=float)
        for column in zip(*triples, strict=True)
    )
    return formulations_of(original, {name: qr}, human)


def published_turns(
    counts: list[int], unchanged: list[int]
) -> tuple[Binned, list[bool | None], Units]:
    """Turns with the published counts: one cut of them, whether each needed no rewriting, and single turns as units."""
    places = np.repeat(np.arange(len(BINS)), counts)
    same = [
        place < some
        for count, some in zip(counts, unchanged, strict=True)
        for place in range(count)
    ]
    units = units_of([str(turn) for turn in range(len(places))])
    return Binned([Cut("qr", "m", "=1")], BINS, places[None]), same, units


def counts(result: Breakdown, metric: str, threshold: str, column: str = "count") -> list[int]:
    bins = result.bins
    return bins[(bins["metric"] == metric) & (bins["threshold"] == threshold)][column].tolist()


@pytest.fixture(scope="module")
def cast2019(shared_data: Path) -> Breakdown:
    folder = shared_data / "cast2019" / "qrqa"
    names = {"original": "original", "qr": "Transformer_Plus_Plus_Q", "human": "human"}
    frames = {
        role: read_scores(folder / f"{name}_query_metrics.txt")[["P_1", "ndcg_cut_3"]]
        for role, name in names.items()
    }
    texts = {
        "original": read_texts(folder / "Human.tsv", "original", "original"),
        "human": read_texts(folder / "Human.tsv", "human"),
        "qr": read_texts(folder / "Transformer_Plus_Plus_Q.tsv", "qr"),
    }
    thresholds = [parse_threshold(text) for text in (">0", ">=0.5", "=1")]
    scores = formulations_of(frames["original"], {"qr": frames["qr"]}, frames["human"])
    return breakdown(scores, evaluated(173), thresholds, texts)


@pytest.mark.parametrize(("metric", "threshold"), TABLE_1)
def test_table_1_of_the_paper(cast2019: Breakdown, metric: str, threshold: str) -> None:
    assert counts(cast2019, metric, threshold) == TABLE_1[metric, threshold]
    assert sum(counts(cast2019, metric, threshold, "unchanged")) == 53


@pytest.mark.parametrize(
    ("metric", "threshold", "unchanged", "share", "rewritten"),
    [
        ("P_1", "=1", 37, 0.45, 0.21), ("ndcg_cut_3", ">0", 52, 0.55, 0.34), ("ndcg_cut_3", ">=0.5", 33, 0.38, 0.13),
        ("ndcg_cut_3", "=1", 4, 0.21, 0.0),
    ],
)  # fmt: skip
def test_answerable_shares_of_the_paper_follow_from_its_counts(
    metric: str, threshold: str, unchanged: int, share: float, rewritten: float
) -> None:
    table = answerable(
        *published_turns(TABLE_1[metric, threshold], [0] * 7 + [unchanged])
    ).set_index("turns")
    assert table["share"].round(2).to_dict() == {"all": share, "rewritten": rewritten}


@pytest.mark.parametrize(
    ("metric", "threshold", "all_turns", "rewritten"),
    [
        ("P_1", "=1", (55, 122), (17, 83)), ("ndcg_cut_3", ">0", (89, 162), (38, 110)),
        ("ndcg_cut_3", ">=0.5", (44, 116), (11, 82)), ("ndcg_cut_3", "=1", (4, 19), (0, 15)),
    ],
)  # fmt: skip
def test_answerable_shares_of_the_data(
    cast2019: Breakdown,
    metric: str,
    threshold: str,
    all_turns: tuple[int, int],
    rewritten: tuple[int, int],
) -> None:
    """Within 0.006 of the paper, whose brackets differ by one or two turns from its data."""
    table = cast2019.answerable
    rows = table[(table["metric"] == metric) & (table["threshold"] == threshold)].set_index("turns")
    for turns, (answered, total) in (("all", all_turns), ("rewritten", rewritten)):
        assert rows.loc[turns, ["answered", "answerable"]].tolist() == [answered, total]
        assert rows.loc[turns, "share"] == answered / total


def test_attribution_of_the_paper_in_retrieval(cast2019: Breakdown) -> None:
    table = cast2019.attribution
    rows = table[(table["metric"] == "P_1") & (table["threshold"] == "=1")].set_index("cause")
    assert rows["count"].to_dict() == {"qa": 51, "qr": 19, "correct": 103}
    assert int(100 * rows["share"]["qa"]) == 29
    assert int(100 * rows["share"]["qr"] + 0.5) == 11
    turns = cast2019.turns[(cast2019.turns["metric"] == "P_1")]
    conversations = turns["turn"].str.split("_").str[0]
    assert (
        (cast2019.evaluated.unit, cast2019.evaluated.units)
        == ("conversation", 20)
        == ("conversation", conversations.nunique())
    )
    for cause in rows.index:
        low, high = wilson_by_conversation(
            (turns["cause"] == cause).to_numpy(), conversations.to_numpy()
        )
        assert rows.loc[cause, ["ci_low", "ci_high"]].tolist() == pytest.approx([low, high])
        plain = binomtest(int(rows.loc[cause, "count"]), 173).proportion_ci(method="wilson")
        assert high - low > plain.high - plain.low, "turns of a conversation depend on each other"


def wilson_by_conversation(hits: np.ndarray, conversations: np.ndarray) -> tuple[float, float]:
    """statsmodels' cluster-robust variance (CR1, without its factor, and with CR2's) in Wilson's formula, written out."""
    names = np.unique(conversations)
    lengths = np.array([(conversations == name).sum() for name in names])
    share, total = hits.mean(), len(hits)
    rest = np.array([(hits[conversations == name] - share).sum() for name in names])
    variance = (rest**2 / (1 - lengths / total)).sum() / total**2
    z, trials = stats.t.ppf(0.975, len(names) - 1), share * (1 - share) / variance
    # the two shares at which |estimate - share| = z times its standard error
    roots = np.roots([1 + z**2 / trials, -(2 * share + z**2 / trials), share**2])
    return float(roots.min()), float(roots.max())


def test_every_turn_of_a_bin_can_be_read(cast2019: Breakdown) -> None:
    turns = cast2019.turns
    shown = turns[
        (turns["metric"] == "P_1") & (turns["threshold"] == "=1") & (turns["bin"] == "001")
    ]
    assert len(shown) == 19
    row = shown.set_index("turn").iloc[0]
    assert (row["original"], row["qr"], row["human"], row["cause"]) == (0.0, 0.0, 1.0, "qr")
    assert shown[["original_text", "qr_text", "human_text"]].notna().all(axis=None)
    first = turns[turns["turn"] == "31_2"].iloc[0]
    assert (first["original_text"], first["human_text"]) == (
        "Is it treatable?",
        "Is throat cancer treatable?",
    )


def test_real_runs_at_relevance_level_2(shared_data: Path) -> None:
    folder = shared_data / "cast2019"
    policy = EvaluationPolicy(relevance_level=2)
    qrels = read_qrels(folder / "qrels.txt.gz")
    measures = [parse_measure(name) for name in ("P_1", "ndcg_cut_3")]
    original, qr, human = (
        score_frame(
            grade_matrix(rank_run(read_run(folder / "runs" / name), policy), qrels),
            measures,
            policy,
        )
        for name in ("bert_base_raw.trec.gz", "bert_base_cv.trec.gz", "bert_base_oracle.trec.gz")
    )
    result = breakdown(formulations_of(original, {"qr": qr}, human), evaluated(173))
    assert {key: counts(result, *key) for key in REAL_RUNS} == REAL_RUNS
    assert result.bins["unchanged"].isna().all()
    assert set(result.answerable["turns"]) == {"all"}, (
        "without texts nobody knows which turns were rewritten"
    )


@pytest.mark.parametrize(
    ("threshold", "shares"), [(">0", [0.92, 0.91]), (">=0.5", [0.82, 0.79]), ("=1", [0.80, 0.77])]
)
def test_table_4_follows_from_table_2(threshold: str, shares: list[float]) -> None:
    turns = published_turns(*TABLE_2[threshold])
    assert turns[0].places.size == 5571 and sum(map(bool, turns[1])) == 666
    table = answerable(*turns)
    assert table["turns"].tolist() == ["all", "rewritten"]
    assert table["share"].round(2).tolist() == shares
    assert (table["ci_low"] < table["share"]).all() and (table["share"] < table["ci_high"]).all()


def test_equation_1_of_the_paper() -> None:
    table = answerable(*published_turns(*TABLE_2["=1"])).set_index("turns")
    assert table.loc["all", ["answered", "answerable"]].tolist() == [2028, 2529]
    assert table.loc["rewritten", ["answered", "answerable"]].tolist() == [1695, 2196]


def test_attribution_of_the_paper_in_reading_comprehension() -> None:
    binned, _, units = published_turns(*TABLE_2["=1"])
    table = attribution(binned, units).set_index("cause")
    assert table["share"].mul(100).round().to_dict() == {"qa": 55, "qr": 5, "correct": 41}


# quarters: scores often stand exactly on a threshold
score_ = st.integers(0, 4).map(lambda quarters: quarters / 4)
triples_ = st.lists(st.tuples(score_, score_, score_), min_size=1, max_size=40)
thresholds_ = st.sampled_from([">0", ">=0.5", "=1", "0.25", ">0.5", "=0"])
texts_ = st.lists(st.sampled_from(["why?", "why? ", "how?", None]), min_size=80, max_size=80)


@settings(max_examples=30, deadline=None)
@given(triples=triples_, threshold=thresholds_, texts=texts_)
def test_equals_a_plain_recount(
    triples: list[tuple[float, float, float]], threshold: str, texts: list[str | None]
) -> None:
    turns = [f"1_{i}" for i in range(1, len(triples) + 1)]
    original_texts = {turn: text for turn, text in zip(turns, texts, strict=False) if text}
    human_texts = {turn: text for turn, text in zip(turns, texts[40:], strict=False) if text}
    parsed = parse_threshold(threshold)
    holds = partial(
        {">": operator.lt, ">=": operator.le, "=": operator.eq}[parsed.operator], parsed.value
    )
    result = breakdown(
        formulations(*triples), evaluated(len(triples)), [parsed], {"original": original_texts, "human": human_texts}, seed=1
    )  # fmt: skip

    bins = ["".join(str(int(holds(score))) for score in triple) for triple in triples]
    copied = [
        original_texts[turn].strip() == human_texts[turn].strip()
        if turn in original_texts and turn in human_texts
        else None
        for turn in turns
    ]
    notes = [
        note
        for note in result.evaluated.notes
        if not note.startswith("the sampling unit is the turn")
    ]
    assert result.turns["bin"].tolist() == bins
    assert result.turns["turn"].tolist() == turns
    assert result.bins["count"].tolist() == [Counter(bins)[bin_] for bin_ in BINS]
    known = bool(original_texts and human_texts)
    if known:
        unchanged = Counter(bin_ for bin_, same in zip(bins, copied, strict=True) if same)
        assert result.bins["unchanged"].tolist() == [unchanged[bin_] for bin_ in BINS]
        unknown = Counter(bin_ for bin_, same in zip(bins, copied, strict=True) if same is None)
        assert result.bins["unknown"].tolist() == [unknown[bin_] for bin_ in BINS]
        assert [" without an Original or Human text " in note for note in notes] == [True] * (
            None in copied
        )
    else:
        assert result.bins["unchanged"].isna().all() and result.bins["unknown"].isna().all()
        assert notes == []
    for bin_, by_chance in zip(BINS, result.bins["by_chance"], strict=True):
        assert by_chance == (bins.count(bin_) + bins.count(bin_[0] + bin_[2] + bin_[1])) / 2

    causes = Counter(
        "qa" if bin_[2] == "0" else "qr" if bin_[1] == "0" else "correct" for bin_ in bins
    )
    assert result.attribution["count"].tolist() == [
        causes[cause] for cause in ("qa", "qr", "correct")
    ]
    assert result.attribution["count"].sum() == len(triples)
    assert result.attribution["share"].sum() == pytest.approx(1)

    rows = result.answerable.set_index("turns")
    for kind, counted in (
        ("all", bins),
        ("rewritten", [b for b, same in zip(bins, copied, strict=True) if same is False]),
    ):
        if kind == "rewritten" and not known:
            assert kind not in rows.index
            continue
        human = [bin_ for bin_ in counted if bin_[2] == "1"]
        alone = [bin_ for bin_ in human if bin_[0] == "1"]
        assert rows.loc[kind, ["answered", "answerable"]].tolist() == [len(alone), len(human)]
        share = rows.loc[kind, "share"]
        assert np.isnan(share) if not human else share == pytest.approx(len(alone) / len(human))

    for _, test in result.tests.iterrows():
        place = {"original": 0, "qr": 1, "human": 2}
        first = sum(bin_[place[test["first"]]] > bin_[place[test["second"]]] for bin_ in bins)
        second = sum(bin_[place[test["first"]]] < bin_[place[test["second"]]] for bin_ in bins)
        assert (test["only_first"], test["only_second"]) == (first, second)
        assert test["difference"] == pytest.approx((first - second) / len(bins))
        # single turns, all in one conversation: McNemar's test, from six discordant turns on with mid-p
        exact = binomtest(first, first + second).pvalue if first + second else 1.0
        middle = exact - (binom.pmf(first, first + second, 0.5) if first != second else 0)
        expected = exact if first + second < 6 else middle
        assert test["p"] == pytest.approx(expected, abs=1e-9 if len(bins) <= 16 else 0.015)
    assert len(result.tests) == 3
    (blame,) = result.blame.itertuples()
    assert (blame.qa, blame.qr) == (causes["qa"], causes["qr"])
    assert blame.difference == pytest.approx((causes["qa"] - causes["qr"]) / len(bins))

    repaired = [
        human if bin_ in ("001", "101") else qr
        for (_, qr, human), bin_ in zip(triples, bins, strict=True)
    ]
    row = result.headroom.iloc[0]
    assert row["repaired"] == pytest.approx(np.mean(repaired))
    assert row["gain"] == pytest.approx(row["repaired"] - row["qr"])
    assert [row[role] for role in ("original", "qr", "human")] == pytest.approx(
        np.mean(triples, axis=0).tolist()
    )
    assert np.isnan(row["ci_low"]) or row["ci_low"] <= row["gain"] <= row["ci_high"]
    losses = [
        qr - human
        for (_, qr, human), bin_ in zip(triples, bins, strict=True)
        if bin_ in ("010", "110")
    ]
    assert row["by_chance"] == pytest.approx((row["gain"] + sum(losses) / len(triples)) / 2)
    choice = result.headroom.iloc[-1]
    assert choice["threshold"] == "any"
    assert choice.gain == pytest.approx(np.mean([max(human - qr, 0) for _, qr, human in triples]))
    assert choice.by_chance == pytest.approx(
        np.mean([abs(human - qr) for _, qr, human in triples]) / 2
    )
    assert (
        choice.difference
        == pytest.approx(row["difference"])
        == pytest.approx(row["human"] - row["qr"])
    )


def test_several_rewriters_measures_and_thresholds_stand_side_by_side() -> None:
    one, two = formulations((0, 0, 1), (0, 1, 1)), formulations((0, 1, 1), (1, 1, 1))
    scores = formulations_of(
        one.original.frame().assign(n=1.0),
        {"t5": one.rewriters["qr"].frame().assign(n=0.0), "bart": two.rewriters["qr"].frame().assign(n=1.0)},
        one.human.frame().assign(n=1.0),
    )  # fmt: skip
    texts = {
        "original": {"1_1": "it?"},
        "human": {"1_1": "it?"},
        "t5": {"1_1": "from t5"},
        "bart": {"1_2": "from bart"},
    }
    result = breakdown(scores, evaluated(2), [Threshold(">", 0.0), Threshold("=", 1.0)], texts)
    beside = list(SIDE_BY_SIDE)
    for name, table in result.tables.items():
        if name in (
            *beside[1:],
            "slices",
            "found_slices",
        ):
            # of pairs, of all together, and of what is asked for
            continue
        by = [column for column in ("rewriter", "metric", "threshold") if column in table]
        keys = list(table[by].drop_duplicates().itertuples(index=False, name=None))
        thresholds = [(">0",), ("=1",), *([("any",)] if name == "headroom" else [])]
        assert keys == [
            (r, m, *t) for r in ("t5", "bart") for m in ("m", "n") for t in thresholds
        ], name
    own = ["bins", "attribution", "blame", "answerable", "tests", "headroom", "turns"]
    assert list(result.tables) == [*own, *beside, "error_types", "slices", "found_slices"]
    turns = result.turns[(result.turns["metric"] == "m") & (result.turns["threshold"] == "=1")]
    assert turns["bin"].tolist() == ["001", "011", "011", "011"]
    assert turns["qr_text"].fillna("-").tolist() == ["from t5", "-", "-", "from bart"]
    assert turns["unchanged"].tolist() == [True, pd.NA, True, pd.NA]


def test_columns_of_the_contract() -> None:
    tables = breakdown(formulations((0, 0, 1)), evaluated(1)).tables
    for name, columns in {
        "bins": ["rewriter", "metric", "threshold", "original", "qr", "human", "count", "unchanged", "unknown"],
        "attribution": ["rewriter", "metric", "threshold", "cause", "count", "share", "ci_low", "ci_high"],
        "answerable": ["rewriter", "metric", "threshold", "turns", "answered", "answerable", "share", "ci_low", "ci_high"],
        "turns": ["rewriter", "turn", "metric", "threshold", "original", "qr", "human", "bin", "cause", "unchanged",
                  "original_text", "qr_text", "human_text"],
    }.items():  # fmt: skip
        assert list(tables[name].columns)[: len(columns)] == columns


def test_tables_have_the_columns_that_they_declare() -> None:
    result = breakdown(formulations((0, 0, 1)), evaluated(1))
    for name, frame in result.tables.items():
        assert [field.name for field in result.spec(name).fields] == list(frame)
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            result.changed(**{name: frame.rename(columns={frame.columns[-1]: "other"})})
    with pytest.raises(TypeError, match="column count is float64"):
        result.changed(bins=result.bins.assign(count=0.5))


def test_of_turns_without_a_text_it_is_unknown_whether_they_were_rewritten() -> None:
    turns = pd.Index(["1_1", "1_2", "1_3"])
    texts = {"original": {"1_1": " Why? ", "1_2": "Why?"}, "human": {"1_1": "Why?", "1_3": "Why?"}}
    assert unchanged_turns(turns, texts) == [True, None, None]
    assert unchanged_turns(turns, {"human": {"1_1": "Why?"}}) is None
    assert unchanged_turns(turns, {}) is None


def test_what_is_unknown_is_no_part_of_the_shares_among_rewritten_turns_and_is_told() -> None:
    """Four turns that Human answers: unchanged, rewritten, and two that lack a text; the Original answers all but one."""
    scores = formulations((1, 1, 1), (0, 1, 1), (1, 1, 1), (1, 1, 1))
    texts = {
        "original": {"1_1": "a", "1_2": "b", "1_3": "c"},
        "human": {"1_1": "a", "1_2": "d", "1_4": "e"},
    }
    result = breakdown(scores, evaluated(4), [Threshold("=", 1.0)], texts)
    rows = result.answerable.set_index("turns")
    assert rows.loc["all", ["answered", "answerable"]].tolist() == [3, 4]
    assert rows.loc["rewritten", ["answered", "answerable"]].tolist() == [0, 1]
    assert result.evaluated.notes == (
        "2 turns without an Original or Human text excluded from shares of rewritten turns: 1_3, 1_4",
        "the sampling unit is the turn, because there is only 1 conversation: intervals may be too narrow and p too small",
    )


def test_human_texts_without_first_turns(shared_data: Path) -> None:
    """CAsT 2019, P@1 at level 1: among rewritten turns the Original answers 31 of 90, not 47 of 106."""
    folder = shared_data / "cast2019"
    qrels, policy = read_qrels(folder / "qrels.txt.gz"), EvaluationPolicy()
    frames = [
        score_frame(grade_matrix(rank_run(read_run(folder / "runs" / f"bert_base_{name}.trec.gz"), policy), qrels),
                 [parse_measure("P_1")], policy)
        for name in ("raw", "cv", "oracle")
    ]  # fmt: skip
    texts = {
        "original": read_texts(folder / "qrqa" / "Human.tsv", "original", "original"),
        "human": read_texts(folder / "runs" / "rewrites_cv.jsonl", "human"),
    }
    result = breakdown(
        formulations_of(frames[0], {"qr": frames[1]}, frames[2]),
        evaluated(173),
        [Threshold("=", 1.0)],
        texts,
    )
    rows = result.answerable.set_index("turns")
    assert rows.loc["rewritten", ["answered", "answerable"]].tolist() == [31, 90]
    assert result.bins["unknown"].sum() == 20
    assert result.evaluated.notes[0].startswith(
        "20 turns without an Original or Human text excluded from shares of rewritten turns: "
    )


def conversations(count: int, length: int, seed: int, rewriters: int = 1) -> Formulations:
    """Scores of turns in conversations that differ in how hard they are."""
    random = np.random.default_rng(seed)
    index = pd.Index(
        [f"{c}_{turn}" for c in range(1, count + 1) for turn in range(1, length + 1)], name="turn"
    )
    hard = np.repeat(random.normal(size=count), length)

    def frame(shift: float) -> pd.DataFrame:
        return pd.DataFrame(
            {"m": 1 / (1 + np.exp(-hard - shift - random.normal(size=len(index))))}, index=index
        )

    return formulations_of(
        frame(-1.0), {f"r{number}": frame(0.3 * number) for number in range(rewriters)}, frame(0.8)
    )


def test_random_sign_patterns_are_seeded() -> None:
    scores = conversations(20, 4, 0)
    cut = [Threshold(">=", 0.5)]
    first, again, other = (
        breakdown(scores, evaluated(80), cut, seed=seed).tests for seed in (0, 0, 1)
    )
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other) and not first["exact"].any()


def test_p_is_that_of_all_signs_of_whole_conversations() -> None:
    scores = conversations(8, 5, 3)
    result = breakdown(scores, evaluated(40), [Threshold(">=", 0.5)])
    correct = {"original": scores.original, "qr": scores.rewriters["r0"], "human": scores.human}
    marks = {role: (frame["m"] >= 0.5).astype(int) for role, frame in correct.items()}
    causes = {
        cause: (result.turns["cause"] == cause).to_numpy().astype(int) for cause in ("qa", "qr")
    }
    moved = [marks[row.first] - marks[row.second] for row in result.tests.itertuples()] + [
        causes["qa"] - causes["qr"]
    ]
    for row, values in zip(
        [*result.tests.itertuples(), *result.blame.itertuples()], moved, strict=True
    ):
        sums = values.reshape(8, 5).sum(axis=1)
        middle = np.count_nonzero(sums) >= 6  # below, the test stays conservative
        totals = np.array([abs(np.dot(signs, sums)) for signs in product((-1, 1), repeat=8)])
        expected = (totals > abs(sums.sum())).mean() + (totals == abs(sums.sum())).mean() / (
            2 if sums.sum() and middle else 1
        )
        assert row.p == pytest.approx(expected)
        assert (row.p <= 0.05) == (row.ci_low > 0 or row.ci_high < 0)


def test_the_family_is_every_different_comparison_of_a_measure() -> None:
    """Original against Human is one comparison, however many rewriters there are."""
    result = breakdown(
        conversations(12, 4, 1, rewriters=3),
        evaluated(48),
        [Threshold(">=", 0.4), Threshold(">=", 0.6)],
    )
    tests = result.tests
    assert set(tests["comparisons"]) == {2 * (3 + 3 + 1)} and set(result.blame["comparisons"]) == {
        2 * 3
    }
    shared = (tests["first"] == "original") & (tests["second"] == "human")
    once = tests[~shared | (tests["rewriter"] == "r0")]
    assert (once["p_corrected"] >= once["p"]).all() and (
        once["p_corrected"] < multipletests(once["p"], method="holm")[1]
    ).any()
    for _, rows in tests[shared].groupby("threshold"):
        assert rows["p_corrected"].nunique() == rows["p"].nunique() == 1
    # written out: the largest statistic of all comparisons over every sign pattern, for the largest observed one
    causes = {
        (row.rewriter, row.threshold, row.turn): row.cause for row in result.turns.itertuples()
    }
    turns = list(dict.fromkeys(result.turns["turn"]))
    sums = np.array([
        [sum((cause == "qa") - (cause == "qr") for turn in turns[start : start + 4]
             for cause in [causes[row.rewriter, row.threshold, turn]]) for start in range(0, 48, 4)]
        for row in result.blame.itertuples()
    ])  # fmt: skip
    norms = np.sqrt((sums**2).sum(axis=1))
    signs = np.array(list(product((-1, 1), repeat=12)))
    largest = (np.abs(signs @ sums.T) / norms).max(axis=1)
    observed = np.abs(sums.sum(axis=1)) / norms
    first = int(observed.argmax())
    expected = max(result.blame["p"][first], (largest >= observed[first] - 1e-9).mean())
    assert result.blame["p_corrected"][first] == pytest.approx(expected)
    assert result.blame["p_corrected"].min() == result.blame["p_corrected"][first]


def test_no_interval_below_five_units() -> None:
    result = breakdown(
        formulations((0, 0, 1), (0, 1, 1), (1, 1, 1), (0, 0, 0)),
        evaluated(4),
        [Threshold("=", 1.0)],
    )
    assert (result.evaluated.unit, result.evaluated.units) == ("turn", 4)
    for table in (
        result.attribution,
        result.blame,
        result.answerable,
        result.tests,
        result.headroom,
    ):
        assert table[["ci_low", "ci_high"]].isna().all(axis=None)
        assert table["note"].str.contains("at least 5 required|none of", regex=True).all()
    assert result.attribution["units"].tolist() == [4, 4, 4] and result.answerable[
        "units"
    ].tolist() == [3]


def test_the_turn_as_unit_is_a_policy() -> None:
    scores = conversations(10, 6, 2)
    whole, single = (
        breakdown(
            scores, Evaluated(EvaluationPolicy(unit=unit), "scores", 60, 0), [Threshold(">=", 0.5)]
        )
        for unit in ("conversation", "turn")
    )
    assert (whole.evaluated.unit, whole.evaluated.units) == ("conversation", 10)
    assert (single.evaluated.unit, single.evaluated.units) == ("turn", 60)
    assert whole.attribution["share"].tolist() == single.attribution["share"].tolist()
    wide, narrow = (
        (frame["ci_high"] - frame["ci_low"]).sum()
        for frame in (whole.attribution, single.attribution)
    )
    assert wide > narrow


@pytest.mark.parametrize(("runs", "by_chance"), [("cv", 0.06), ("Transformer++", 0.05)])
def test_swapping_qr_and_human_at_random_still_gains(
    shared_data: Path, runs: str, by_chance: float
) -> None:
    """CAsT 2019, NDCG@3: a maximum of two noisy scores gains although nothing is better than anything."""
    folder = shared_data / "cast2019"
    if runs == "cv":
        policy, qrels = EvaluationPolicy(relevance_level=2), read_qrels(folder / "qrels.txt.gz")
        frames = [
            score_frame(grade_matrix(rank_run(read_run(folder / "runs" / f"bert_base_{name}.trec.gz"), policy), qrels),
                     [parse_measure("ndcg_cut_3")], policy)
            for name in ("raw", "cv", "oracle")
        ]  # fmt: skip
    else:
        names = ("original", "Transformer_Plus_Plus_Q", "human")
        frames = [
            read_scores(folder / "qrqa" / f"{name}_query_metrics.txt")[["ndcg_cut_3"]]
            for name in names
        ]
    (row,) = (
        breakdown(formulations_of(frames[0], {"qr": frames[1]}, frames[2]), evaluated(173))
        .headroom.tail(1)
        .itertuples()
    )
    assert round(row.by_chance, 2) == by_chance
    qr, human = (frame["ndcg_cut_3"].to_numpy() for frame in frames[1:])
    random = np.random.default_rng(0)
    gains = []
    for _ in range(2000):
        swapped = random.random(len(qr)) < 0.5
        one, two = np.where(swapped, human, qr), np.where(swapped, qr, human)
        gains.append(np.maximum(one, two).mean() - one.mean())
    assert row.by_chance == pytest.approx(np.mean(gains), abs=0.001)
    assert row.difference == pytest.approx(human.mean() - qr.mean())
    assert row.gain > row.difference > 0 and row.ci_low < row.gain < row.ci_high


def test_formulations_must_be_scored_alike() -> None:
    one, two = formulations((0, 0, 1)), formulations((0, 0, 1), (0, 0, 1))
    with pytest.raises(ValueError, match="the same turns by the same measures"):
        formulations_of(one.original, two.rewriters, one.human)
    with pytest.raises(ValueError, match="the same turns by the same measures"):
        formulations_of(one.original, one.rewriters, formulations((0, 0, 1), metric="other").human)
    with pytest.raises(UsageError, match="no scores of a rewriter are given; add them with --qr"):
        formulations_of(one.original, {}, one.human)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 3), min_size=1, max_size=30))
@settings(max_examples=10, deadline=None)
def test_without_original_the_bins_are_those_of_qr_and_human(
    triples: list[tuple[float, float, float]],
) -> None:
    """Every pair of bins that differs in Original alone is one; who is to blame and what QR and Human share stay."""
    known = formulations(*triples, metric="ndcg_cut_3")
    unknown = formulations_of(None, known.rewriters, known.human)
    whole, part = (
        breakdown(known, evaluated(len(triples))),
        breakdown(unknown, evaluated(len(triples))),
    )
    keys = ["rewriter", "metric", "threshold", "qr", "human"]
    merged = whole.bins.groupby(keys, sort=False)[["count", "by_chance"]].sum()
    assert part.bins["original"].isna().all() and len(part.bins) == len(merged)
    pd.testing.assert_frame_equal(
        part.bins.set_index(keys)[["count", "by_chance"]].sort_index(), merged.sort_index()
    )
    for name in ("attribution", "blame"):
        pd.testing.assert_frame_equal(part.tables[name], whole.tables[name])
    assert list(part.turns["bin"].str[1:]) == list(whole.turns["bin"].str[1:]) and set(
        part.turns["bin"].str[0]
    ) == {"-"}
    assert part.answerable.empty and set(part.tests["first"]) == {"qr"}
    assert show(part) and part.headroom["original"].isna().all()
