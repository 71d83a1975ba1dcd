"""The error breakdown: the figures of the paper, and a recount in a few lines of pandas."""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from robustcs.errors import UsageError
from robustcs.evaluation.bins import BINS, Formulations
from robustcs.evaluation.matrix import grade_matrix
from robustcs.evaluation.measures import evaluate, parse_measure
from robustcs.evaluation.ranking import rank_run
from robustcs.evaluation.thresholds import Threshold, parse_threshold
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.texts import read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.result import Evaluated
from robustcs.studies.breakdown.analysis import Breakdown, answerable, attribution, breakdown, unchanged_turns

#: Table 1 of the paper: row order ✗✗✗ ✓✗✗ ✗✓✗ ✓✓✗ ✗✗✓ ✓✗✓ ✗✓✓ ✓✓✓.
TABLE_1 = {
    ("P_1", "=1"): [49, 0, 2, 0, 19, 0, 48, 55],
    ("ndcg_cut_3", ">0"): [10, 0, 0, 1, 10, 1, 63, 88],
    ("ndcg_cut_3", ">=0.5"): [55, 0, 1, 1, 25, 0, 47, 44],
    ("ndcg_cut_3", "=1"): [154, 0, 0, 0, 4, 0, 11, 4],
}
#: The same on the runs of cast2019/runs at relevance level 2, recomputed outside this project.
REAL_RUNS = {
    ("P_1", "=1"): [48, 3, 2, 2, 15, 2, 39, 62],
    ("ndcg_cut_3", ">0"): [13, 1, 4, 0, 16, 2, 48, 89],
    ("ndcg_cut_3", ">=0.5"): [63, 2, 2, 2, 22, 3, 33, 46],
    ("ndcg_cut_3", "=1"): [157, 0, 1, 0, 6, 0, 2, 7],
}
#: Table 2, reading comprehension: counts, and in brackets the questions that needed no rewriting.
TABLE_2 = {
    ">0": ([847, 174, 19, 135, 141, 65, 226, 3964], [136, 0, 0, 0, 0, 1, 0, 529]),
    ">=0.5": ([1855, 193, 35, 153, 288, 57, 324, 2666], [235, 0, 2, 0, 0, 1, 0, 428]),
    "=1": ([2701, 181, 40, 120, 232, 40, 269, 1988], [332, 0, 1, 0, 0, 0, 0, 333]),
}


def evaluated(turns: int) -> Evaluated:
    return Evaluated(EvaluationPolicy(), "scores", turns, 0)


def formulations(*triples: tuple[float, float, float], name: str = "qr", metric: str = "m") -> Formulations:
    index = pd.Index([f"1_{i}" for i in range(1, len(triples) + 1)], name="turn")
    original, qr, human = (pd.DataFrame({metric: column}, index=index, dtype=float) for column in zip(*triples, strict=True))
    return Formulations(original, {name: qr}, human)


def published_bins(counts: list[int], unchanged: list[int]) -> pd.DataFrame:
    frame = pd.DataFrame([[int(mark) for mark in bin_] for bin_ in BINS], columns=["original", "qr", "human"])
    return frame.assign(count=counts, unchanged=pd.array(unchanged, dtype="Int64"), unknown=pd.array([0] * 8, dtype="Int64"))


def counts(result: Breakdown, metric: str, threshold: str, column: str = "count") -> list[int]:
    bins = result.bins
    return bins[(bins["metric"] == metric) & (bins["threshold"] == threshold)][column].tolist()


@pytest.fixture(scope="module")
def cast2019(shared_data: Path) -> Breakdown:
    folder = shared_data / "cast2019" / "qrqa"
    names = {"original": "original", "qr": "Transformer_Plus_Plus_Q", "human": "human"}
    frames = {role: read_scores(folder / f"{name}_query_metrics.txt")[["P_1", "ndcg_cut_3"]] for role, name in names.items()}
    texts = {
        "original": read_texts(folder / "Human.tsv", "original", "original"),
        "human": read_texts(folder / "Human.tsv", "human"),
        "qr": read_texts(folder / "Transformer_Plus_Plus_Q.tsv", "qr"),
    }
    thresholds = [parse_threshold(text) for text in (">0", ">=0.5", "=1")]
    scores = Formulations(frames["original"], {"qr": frames["qr"]}, frames["human"])
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
    table = answerable(published_bins(TABLE_1[metric, threshold], [0] * 7 + [unchanged])).set_index("turns")
    assert table["share"].round(2).to_dict() == {"all": share, "rewritten": rewritten}


@pytest.mark.parametrize(
    ("metric", "threshold", "all_turns", "rewritten"),
    [
        ("P_1", "=1", (55, 122), (17, 83)), ("ndcg_cut_3", ">0", (89, 162), (38, 110)),
        ("ndcg_cut_3", ">=0.5", (44, 116), (11, 82)), ("ndcg_cut_3", "=1", (4, 19), (0, 15)),
    ],
)  # fmt: skip
def test_answerable_shares_of_the_data(
    cast2019: Breakdown, metric: str, threshold: str, all_turns: tuple[int, int], rewritten: tuple[int, int]
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
    for cause, count in rows["count"].items():
        interval = binomtest(count, 173).proportion_ci(method="wilson")
        assert rows.loc[cause, ["ci_low", "ci_high"]].tolist() == pytest.approx([interval.low, interval.high])


def test_every_turn_of_a_bin_can_be_read(cast2019: Breakdown) -> None:
    turns = cast2019.turns
    shown = turns[(turns["metric"] == "P_1") & (turns["threshold"] == "=1") & (turns["bin"] == "001")]
    assert len(shown) == 19
    row = shown.set_index("turn").iloc[0]
    assert (row["original"], row["qr"], row["human"], row["cause"]) == (0.0, 0.0, 1.0, "qr")
    assert shown[["original_text", "qr_text", "human_text"]].notna().all(axis=None)
    first = turns[turns["turn"] == "31_2"].iloc[0]
    assert (first["original_text"], first["human_text"]) == ("Is it treatable?", "Is throat cancer treatable?")


def test_real_runs_at_relevance_level_2(shared_data: Path) -> None:
    folder = shared_data / "cast2019"
    policy = EvaluationPolicy(relevance_level=2)
    qrels = read_qrels(folder / "qrels.txt.gz")
    measures = [parse_measure(name) for name in ("P_1", "ndcg_cut_3")]
    original, qr, human = (
        evaluate(grade_matrix(rank_run(read_run(folder / "runs" / name), policy), qrels), measures, policy)
        for name in ("bert_base_raw.trec.gz", "bert_base_cv.trec.gz", "bert_base_oracle.trec.gz")
    )
    result = breakdown(Formulations(original, {"qr": qr}, human), evaluated(173))
    assert {key: counts(result, *key) for key in REAL_RUNS} == REAL_RUNS
    assert result.bins["unchanged"].isna().all()
    assert set(result.answerable["turns"]) == {"all"}, "without texts nobody knows which turns were rewritten"


@pytest.mark.parametrize(("threshold", "shares"), [(">0", [0.92, 0.91]), (">=0.5", [0.82, 0.79]), ("=1", [0.80, 0.77])])
def test_table_4_follows_from_table_2(threshold: str, shares: list[float]) -> None:
    bins = published_bins(*TABLE_2[threshold])
    assert bins["count"].sum() == 5571 and bins["unchanged"].sum() == 666
    table = answerable(bins)
    assert table["turns"].tolist() == ["all", "rewritten"]
    assert table["share"].round(2).tolist() == shares
    assert (table["ci_low"] < table["share"]).all() and (table["share"] < table["ci_high"]).all()


def test_equation_1_of_the_paper() -> None:
    table = answerable(published_bins(*TABLE_2["=1"])).set_index("turns")
    assert table.loc["all", ["answered", "answerable"]].tolist() == [2028, 2529]
    assert table.loc["rewritten", ["answered", "answerable"]].tolist() == [1695, 2196]


def test_attribution_of_the_paper_in_reading_comprehension() -> None:
    table = attribution(published_bins(*TABLE_2["=1"])).set_index("cause")
    assert table["share"].mul(100).round().to_dict() == {"qa": 55, "qr": 5, "correct": 41}


# quarters: scores often stand exactly on a threshold
score_ = st.integers(0, 4).map(lambda quarters: quarters / 4)
triples_ = st.lists(st.tuples(score_, score_, score_), min_size=1, max_size=40)
thresholds_ = st.sampled_from([">0", ">=0.5", "=1", "0.25", ">0.5", "=0"])
texts_ = st.lists(st.sampled_from(["why?", "why? ", "how?", None]), min_size=80, max_size=80)


@settings(deadline=None)
@given(triples=triples_, threshold=thresholds_, texts=texts_)
def test_equals_a_plain_recount(triples: list[tuple[float, float, float]], threshold: str, texts: list[str | None]) -> None:
    turns = [f"1_{i}" for i in range(1, len(triples) + 1)]
    original_texts = {turn: text for turn, text in zip(turns, texts, strict=False) if text}
    human_texts = {turn: text for turn, text in zip(turns, texts[40:], strict=False) if text}
    parsed = parse_threshold(threshold)
    holds = partial({">": operator.lt, ">=": operator.le, "=": operator.eq}[parsed.operator], parsed.value)
    result = breakdown(
        formulations(*triples), evaluated(len(triples)), [parsed], {"original": original_texts, "human": human_texts}, seed=1
    )  # fmt: skip

    bins = ["".join(str(int(holds(score))) for score in triple) for triple in triples]
    copied = [
        original_texts[turn].strip() == human_texts[turn].strip() if turn in original_texts and turn in human_texts else None
        for turn in turns
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
        assert len(result.evaluated.notes) == (None in copied)
    else:
        assert result.bins["unchanged"].isna().all() and result.bins["unknown"].isna().all()
        assert result.evaluated.notes == ()

    causes = Counter("qa" if bin_[2] == "0" else "qr" if bin_[1] == "0" else "correct" for bin_ in bins)
    assert result.attribution["count"].tolist() == [causes[cause] for cause in ("qa", "qr", "correct")]
    assert result.attribution["count"].sum() == len(triples)
    assert result.attribution["share"].sum() == pytest.approx(1)

    rows = result.answerable.set_index("turns")
    for kind, counted in (("all", bins), ("rewritten", [b for b, same in zip(bins, copied, strict=True) if same is False])):
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
        assert test["p"] == pytest.approx(binomtest(first, first + second).pvalue if first + second else 1.0)
    assert len(result.tests) == 3

    repaired = [human if bin_ in ("001", "101") else qr for (_, qr, human), bin_ in zip(triples, bins, strict=True)]
    row = result.headroom.iloc[0]
    assert row["repaired"] == pytest.approx(np.mean(repaired))
    assert row["gain"] == pytest.approx(row["repaired"] - row["qr"])
    assert [row[role] for role in ("original", "qr", "human")] == pytest.approx(np.mean(triples, axis=0).tolist())
    assert row["ci_low"] - 1e-12 <= row["gain"] <= row["ci_high"] + 1e-12 or len(triples) < 20


def test_several_rewriters_measures_and_thresholds_stand_side_by_side() -> None:
    one, two = formulations((0, 0, 1), (0, 1, 1)), formulations((0, 1, 1), (1, 1, 1))
    scores = Formulations(
        one.original.assign(n=1.0), {"t5": one.rewriters["qr"].assign(n=0.0), "bart": two.rewriters["qr"].assign(n=1.0)},
        one.human.assign(n=1.0),
    )  # fmt: skip
    texts = {"original": {"1_1": "it?"}, "human": {"1_1": "it?"}, "t5": {"1_1": "from t5"}, "bart": {"1_2": "from bart"}}
    result = breakdown(scores, evaluated(2), [Threshold(">", 0.0), Threshold("=", 1.0)], texts)
    for name, table in result.tables.items():
        keys = list(table[["rewriter", "metric", "threshold"]].drop_duplicates().itertuples(index=False, name=None))
        assert keys == [(r, m, t) for r in ("t5", "bart") for m in ("m", "n") for t in (">0", "=1")], name
    assert list(result.tables) == ["bins", "attribution", "answerable", "tests", "headroom", "turns"]
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
        assert list(tables[name].columns) == columns


def test_tables_have_the_columns_that_they_declare() -> None:
    result = breakdown(formulations((0, 0, 1)), evaluated(1))
    for name, frame in result.tables.items():
        assert [field.name for field in result.spec(name).fields] == list(frame)
        with pytest.raises(TypeError, match=f"table {name} has columns"):
            replace(result, **{name: frame.rename(columns={frame.columns[-1]: "other"})})
    with pytest.raises(TypeError, match="column count is float64"):
        replace(result, bins=result.bins.assign(count=0.5))


def test_of_turns_without_a_text_it_is_unknown_whether_they_were_rewritten() -> None:
    turns = pd.Index(["1_1", "1_2", "1_3"])
    texts = {"original": {"1_1": " Why? ", "1_2": "Why?"}, "human": {"1_1": "Why?", "1_3": "Why?"}}
    assert unchanged_turns(turns, texts).tolist() == [True, pd.NA, pd.NA]
    assert unchanged_turns(turns, {"human": {"1_1": "Why?"}}) is None
    assert unchanged_turns(turns, {}) is None


def test_what_is_unknown_is_no_part_of_the_shares_among_rewritten_turns_and_is_told() -> None:
    """Four turns that Human answers: unchanged, rewritten, and two that lack a text; the Original answers all but one."""
    scores = formulations((1, 1, 1), (0, 1, 1), (1, 1, 1), (1, 1, 1))
    texts = {"original": {"1_1": "a", "1_2": "b", "1_3": "c"}, "human": {"1_1": "a", "1_2": "d", "1_4": "e"}}
    result = breakdown(scores, evaluated(4), [Threshold("=", 1.0)], texts)
    rows = result.answerable.set_index("turns")
    assert rows.loc["all", ["answered", "answerable"]].tolist() == [3, 4]
    assert rows.loc["rewritten", ["answered", "answerable"]].tolist() == [0, 1]
    assert result.evaluated.notes == (
        "whether 2 turns needed rewriting is unknown: no Original or no Human text of 1_3, 1_4;"
        " left out of shares among rewritten turns",
    )


def test_human_texts_without_first_turns(shared_data: Path) -> None:
    """CAsT 2019, P@1 at level 1: among rewritten turns the Original answers 31 of 90, not 47 of 106."""
    folder = shared_data / "cast2019"
    qrels, policy = read_qrels(folder / "qrels.txt.gz"), EvaluationPolicy()
    frames = [
        evaluate(grade_matrix(rank_run(read_run(folder / "runs" / f"bert_base_{name}.trec.gz"), policy), qrels),
                 [parse_measure("P_1")], policy)
        for name in ("raw", "cv", "oracle")
    ]  # fmt: skip
    texts = {
        "original": read_texts(folder / "qrqa" / "Human.tsv", "original", "original"),
        "human": read_texts(folder / "runs" / "rewrites_cv.jsonl", "human"),
    }
    result = breakdown(Formulations(frames[0], {"qr": frames[1]}, frames[2]), evaluated(173), [Threshold("=", 1.0)], texts)
    rows = result.answerable.set_index("turns")
    assert rows.loc["rewritten", ["answered", "answerable"]].tolist() == [31, 90]
    assert result.bins["unknown"].sum() == 20
    assert result.evaluated.notes[0].startswith("whether 20 turns needed rewriting is unknown: ")


def test_the_bootstrap_is_seeded() -> None:
    random = np.random.default_rng(0)
    scores = formulations(*[tuple(row) for row in random.random((60, 3))])
    first, again, other = (breakdown(scores, evaluated(60), seed=seed).headroom for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def test_formulations_must_be_scored_alike() -> None:
    one, two = formulations((0, 0, 1)), formulations((0, 0, 1), (0, 0, 1))
    with pytest.raises(ValueError, match="the same turns by the same measures"):
        Formulations(one.original, two.rewriters, one.human)
    with pytest.raises(ValueError, match="the same turns by the same measures"):
        Formulations(one.original, one.rewriters, formulations((0, 0, 1), metric="other").human)
    with pytest.raises(UsageError, match="no scores of a rewriter; give them with --qr"):
        Formulations(one.original, {}, one.human)
