"""Native measures against pytrec_eval (the C code of trec_eval), on real and on made runs; names of measures."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from robustcs.errors import UsageError
from robustcs.evaluation.matrix import ABSENT, UNJUDGED, grade_matrix
from robustcs.evaluation.measure import (
    averaged,
    grade_notes,
    highest_score,
    is_averaged,
    parse_measure,
)
from robustcs.evaluation.measures import rank_discounts, rank_weights, score_of_run
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import read_run
from robustcs.policy import EvaluationPolicy
from tests.formulations import score_frame

#: Our name → what pytrec_eval is asked for.
REQUESTS = {
    "P_1": "P.1", "P_3": "P.3", "P_100": "P.100", "recall_5": "recall.5", "recall_1000": "recall.1000", "ndcg": "ndcg",
    "ndcg_cut_3": "ndcg_cut.3", "ndcg_cut_10": "ndcg_cut.10", "map": "map", "map_cut_5": "map_cut.5",
    "recip_rank": "recip_rank", "success_1": "success.1", "success_5": "success.5", "bpref": "bpref",
}  # fmt: skip
REAL = [
    ("cast2019/qrels.txt.gz", "cast2019/runs/*.trec.gz", 3),
    ("cast2019/qrels.txt.gz", "cast2019/decaf/*.run.gz", 6),
    ("cast2020/qrels.txt.gz", "cast2020/runs/*.trec.gz", 3),
    ("cast2021/qrels-docs.txt.gz", "cast2021/runs/*.gz", 6),
]


def ours(run: Path, qrels: Path, policy: EvaluationPolicy, names: list[str]) -> pd.DataFrame:
    matrix = grade_matrix(rank_run(read_run(run), policy), read_qrels(qrels))
    return score_frame(matrix, [parse_measure(name) for name in names], policy)


def theirs(run: dict, qrels: dict, level: int) -> dict:
    requests: set[str] = set()
    for request in REQUESTS.values():
        requests.add(request)
    merged: dict[str, list[str]] = {}
    for request in requests:
        base, _, cut = request.partition(".")
        merged.setdefault(base, []).extend([cut] if cut else [])
    asked = {
        f"{base}.{','.join(sorted(cuts, key=int))}" if cuts else base
        for base, cuts in merged.items()
    }
    return pytrec_eval.RelevanceEvaluator(qrels, asked, relevance_level=level).evaluate(run)


def assert_equal(frame: pd.DataFrame, expected: dict) -> None:
    for name in REQUESTS:
        reference = np.array(
            [expected[turn][name] if turn in expected else 0.0 for turn in frame.index]
        )
        np.testing.assert_allclose(
            frame[name].to_numpy(), reference, rtol=0, atol=1e-9, err_msg=name
        )


@pytest.mark.parametrize("level", [pytest.param(1, marks=pytest.mark.long), 2])
@pytest.mark.parametrize(("qrels", "runs", "count"), REAL)
def test_every_real_run_equals_pytrec_eval(
    shared_data: Path, qrels: str, runs: str, count: int, level: int
) -> None:
    with gzip.open(shared_data / qrels, "rt") as stream:
        judgments = pytrec_eval.parse_qrel(stream)
    files = sorted(shared_data.glob(runs))
    assert len(files) == count
    for file in files:
        with gzip.open(file, "rt") as stream:
            run = pytrec_eval.parse_run(stream)
        policy = EvaluationPolicy(relevance_level=level)
        assert_equal(
            ours(file, shared_data / qrels, policy, list(REQUESTS)), theirs(run, judgments, level)
        )


@pytest.mark.parametrize(
    "system", [f"bm25{bert}_{turns}" for bert in ("", "_bert") for turns in ("raw", "t5", "manual")]
)
def test_decaf_evaluations_are_reproduced_to_the_printed_digits(
    shared_data: Path, system: str
) -> None:
    folder = shared_data / "cast2019"
    published = {
        cells[0]: cells[2]
        for cells in (
            line.split()
            for line in (folder / "decaf" / f"{system}.evaluation.txt").read_text().splitlines()
        )
    }
    del published["runid"]
    measures = []
    unknown = set()
    for name in published:
        try:
            measures.append(parse_measure(name))
        except UsageError:
            unknown.add(name)
    assert unknown == set(), "the suite claims every measure of trec_eval"
    assert len(measures) > 60
    policy = EvaluationPolicy()
    matrix = grade_matrix(
        rank_run(read_run(folder / "decaf" / f"{system}.run.gz"), policy),
        read_qrels(folder / "qrels.txt.gz"),
    )
    scores = score_frame(matrix, measures, policy)
    got = {
        name: f"{score_of_run(name, scores[name].to_numpy()):.{len(published[name].partition('.')[2])}f}"
        for name in map(str, measures)
    }
    assert got == {name: published[name] for name in got}


documents = st.integers(0, 30).map(lambda number: f"d{number}")
# few distinct values make ties; neighbours closer than a float32 step make ties in trec_eval
scores_ = st.sampled_from(
    [0.0, 1.0, 1.0 + 1e-9, 1.00000005, 2.5, 2.5 + 1e-7, -3.0, 16777217.0, 16777216.0, 1e-42]
)
runs_ = st.dictionaries(
    st.sampled_from([f"1_{i}" for i in range(1, 6)]),
    st.dictionaries(documents, scores_, min_size=1, max_size=25),
    min_size=1,
)
qrels_ = st.dictionaries(
    st.sampled_from([f"1_{i}" for i in range(1, 6)]),
    st.dictionaries(
        documents, st.sampled_from([-2, -1, 0, 0, 0, 1, 2, 3, 4]), min_size=1, max_size=25
    )
    # pytrec_eval crashes the interpreter on a turn with negative grades alone; that case has a test of its own
    .filter(lambda judged: max(judged.values()) >= 0),
    min_size=1,
)


@settings(max_examples=40, deadline=None)
@given(run=runs_, qrels=qrels_, level=st.sampled_from([1, 2]))
def test_made_runs_equal_pytrec_eval(
    tmp_path_factory: pytest.TempPathFactory, run: dict, qrels: dict, level: int
) -> None:
    """Ties, float32-close scores, missing turns, extra turns, negative grades, turns without relevant passages."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "run").write_text(
        "".join(
            f"{turn} Q0 {doc} 0 {score!r} t\n"
            for turn, ranking in run.items()
            for doc, score in ranking.items()
        )
    )
    (folder / "qrels").write_text(
        "".join(
            f"{turn} 0 {doc} {grade}\n"
            for turn, judged in qrels.items()
            for doc, grade in judged.items()
        )
    )
    frame = ours(
        folder / "run", folder / "qrels", EvaluationPolicy(relevance_level=level), list(REQUESTS)
    )
    assert list(frame.index) == sorted(qrels)
    assert_equal(frame, theirs(run, qrels, level))
    totals = ["num_ret", "num_rel", "num_rel_ret", "gm_map"]
    results = pytrec_eval.RelevanceEvaluator(qrels, set(totals), relevance_level=level).evaluate(
        run
    )
    shared = [turn for turn in frame.index if turn in results]
    frame = ours(
        folder / "run", folder / "qrels", EvaluationPolicy(relevance_level=level), totals
    ).loc[shared]
    for name in totals if shared else ():
        expected = pytrec_eval.compute_aggregated_measure(
            name, [results[turn][name] for turn in shared]
        )
        assert score_of_run(name, frame[name].to_numpy()) == pytest.approx(expected, abs=1e-9), name


def write(folder: Path, run: str, qrels: str) -> tuple[Path, Path]:
    (folder / "run").write_text(run)
    (folder / "qrels").write_text(qrels)
    return folder / "run", folder / "qrels"


def test_a_turn_with_negative_grades_alone_scores_0_by_every_measure(tmp_path: Path) -> None:
    files = write(tmp_path, "1_1 Q0 a 1 1 t\n1_2 Q0 a 1 1 t\n", "1_1 0 a -1\n1_2 0 a 2\n")
    frame = ours(*files, EvaluationPolicy(), [*REQUESTS, "Rprec", "infAP", "rbp"])
    assert (frame.loc["1_1"] == 0).all()
    assert frame.loc["1_2", "Rprec"] == 1


def test_missing_turns_score_0_also_through_trec_eval(tmp_path: Path) -> None:
    files = write(tmp_path, "1_1 Q0 a 1 1 t\n", "1_1 0 a 1\n1_2 0 a 1\n")
    frame = ours(*files, EvaluationPolicy(), ["P_1", "Rprec", "num_rel_ret"])
    assert frame.loc["1_1"].tolist() == [1, 1, 1]
    assert frame.loc["1_2"].tolist() == [0, 0, 0]


def test_rbp_is_the_sum_of_its_definition(tmp_path: Path) -> None:
    files = write(
        tmp_path,
        "1_1 Q0 a 1 4 t\n1_1 Q0 b 1 3 t\n1_1 Q0 c 1 2 t\n",
        "1_1 0 a 1\n1_1 0 b 0\n1_1 0 c 2\n",
    )
    frame = ours(*files, EvaluationPolicy(), ["rbp", "rbp_0.5", "RBP(rel=2,p=0.5)", "rbp_cut_1"])
    assert frame.loc["1_1"].tolist() == pytest.approx(
        [0.2 * (1 + 0.8**2), 0.5 * (1 + 0.25), 0.5 * 0.25, 0.2]
    )


def test_judged_share_counts_what_was_retrieved(tmp_path: Path) -> None:
    run = "1_1 Q0 a 1 4 t\n1_1 Q0 x 1 3 t\n1_2 Q0 x 1 1 t\n1_4 Q0 a 1 1 t\n"
    files = write(tmp_path, run, "1_1 0 a 0\n1_2 0 a 1\n1_3 0 a 1\n1_4 0 a 0\n")
    frame = ours(*files, EvaluationPolicy(), ["judged_1", "judged_3"])
    assert frame["judged_1"].tolist() == [1, 0, 0, 1]
    assert frame["judged_3"].tolist() == [0.5, 0, 0, 1]


def test_unjudged_share_is_that_of_trec_eval_10(tmp_path: Path) -> None:
    """Divided by k also where fewer were retrieved; a grade below 0 was not judged (m_unj.c)."""
    files = write(
        tmp_path,
        "1_1 Q0 a 1 4 t\n1_1 Q0 x 1 3 t\n1_1 Q0 n 1 2 t\n1_2 Q0 x 1 1 t\n",
        "1_1 0 a 0\n1_1 0 n -1\n1_2 0 a 1\n1_3 0 a 1\n",
    )
    frame = ours(*files, EvaluationPolicy(), ["unj_1", "unj_3", "unj_10"])
    assert frame["unj_1"].tolist() == [0, 1, 0]
    assert frame["unj_3"].tolist() == pytest.approx([2 / 3, 1 / 3, 0])
    assert frame["unj_10"].tolist() == pytest.approx([0.2, 0.1, 0])


def test_the_name_of_rbp_says_its_persistence() -> None:
    """ir_measures takes 0.8 where none is given, trec_eval 10 takes 0.9."""
    assert [parse_measure(name).label for name in ("rbp", "rbp_0.95", "rbp_cut_5")] == [
        "RBP(p=0.8)",
        "RBP(p=0.95)",
        "RBP(p=0.8)@5",
    ]
    own = parse_measure("RBP(rel=2)")
    assert own.name == own.label == "RBP(rel=2,p=0.8)" and parse_measure(own.name) == own


def test_the_relevance_level_moves_binary_measures_and_not_ndcg(demo: Path) -> None:
    run, qrels = demo / "runs" / "stem_human.trec", demo / "qrels.txt"
    one, two = (
        ours(run, qrels, EvaluationPolicy(relevance_level=level), list(REQUESTS))
        for level in (1, 2)
    )
    for name in REQUESTS:
        assert one[name].equals(two[name]) == name.startswith("ndcg"), name
    own = ours(run, qrels, EvaluationPolicy(), ["P(rel=2)@1"])
    assert own["P(rel=2)@1"].tolist() == two["P_1"].tolist()


def test_depth_cuts_the_run_for_native_and_foreign_measures(demo: Path) -> None:
    run, qrels = demo / "runs" / "stem_human.trec", demo / "qrels.txt"
    cut = ours(run, qrels, EvaluationPolicy(depth=5), ["recall_100", "num_ret"])
    whole = ours(run, qrels, EvaluationPolicy(), ["recall_5"])
    assert cut["recall_100"].tolist() == whole["recall_5"].tolist()
    assert cut["num_ret"].max() == 5


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("P_1", "P_1"), ("P@1", "P_1"), ("Precision@5", "P_5"), ("nDCG@3", "ndcg_cut_3"), ("NDCG@3", "ndcg_cut_3"),
        ("ndcg_cut_3", "ndcg_cut_3"), ("nDCG", "ndcg"), ("AP", "map"), ("AP@100", "map_cut_100"), ("RR", "recip_rank"),
        ("MRR@10", "recip_rank_cut_10"), ("R@1000", "recall_1000"), ("Success@5", "success_5"), ("Bpref", "bpref"),
        ("RBP", "rbp"), ("RBP(p=0.5)", "rbp_0.5"), ("Judged@3", "judged_3"), ("P(rel=2)@1", "P(rel=2)@1"),
        ("precision@1", "P_1"), ("recall@5", "recall_5"), ("MAP", "map"), ("mrr", "recip_rank"), ("RBP@7", "rbp_cut_7"),
        ("P_1000000", "P_1000000"), ("P(rel=1)@1", "P(rel=1)@1"),
        ("Rprec", "Rprec"), ("iprec_at_recall_0.10", "iprec_at_recall_0.10"), ("f1", "f1"), ("EM", "em"),
    ],
)  # fmt: skip
def test_spellings(spelling: str, name: str) -> None:
    measure = parse_measure(spelling)
    assert measure.name == name
    assert parse_measure(measure.name) == measure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc_cut_3", "did you mean ndcg_cut_3"),
        ("P", "unknown measure 'P'"),
        ("P@", "unknown measure"),
        ("P_0", "cutoff 0; use a cutoff from 1 to 1000000"),
        ("nDCG(rel=2)@3", "does not accept the argument 'rel=2'"),
        ("RBP(p=1.5)", "persistence '1.5'; use a number between 0 and 1"),
        (
            "",
            "unknown measure ''; use a trec_eval name such as P_1, P_5, recall_1000, success_1, ndcg_cut_3, ndcg_cut_5",
        ),
        ("Bpref@3", "unknown measure"),
        ("EM@1", "unknown measure"),
        ("F@1", "unknown measure"),
        *(
            (f"{name}()", "unknown measure")
            for name in ("P", "Precision", "R", "Recall", "Success", "Judged")
        ),
        ("nDCG(p=0.5)", "does not accept the argument 'p=0.5'"),
        ("Judged(rel=2)@3", "does not accept the argument 'rel=2'"),
        ("P(rel=0)@1", "does not accept the argument 'rel=0'"),
        ("RBP(p=0)", "use a number between 0 and 1"),
        ("RBP(p=1)", "use a number between 0 and 1"),
        ("P_1000001", "use a cutoff from 1 to 1000000"),
    ],
)
def test_a_measure_that_does_not_exist(text: str, message: str) -> None:
    with pytest.raises(UsageError, match="measure") as caught:
        parse_measure(text)
    assert message in str(caught.value)
    if not text:
        assert str(caught.value).endswith(message)


@pytest.mark.parametrize("name", ["P", "R", "F"])
def test_a_single_letter_can_be_a_column_of_scores(name: str) -> None:
    assert parse_measure(name, given=True).name == name
    with pytest.raises(UsageError, match="unknown measure"):
        parse_measure(name)


def test_names_of_all_trec() -> None:
    """The 99 names that trec_eval 10 prints for ``-m all_trec``, less ``runid`` and ``rbp_resid``."""
    cuts = ("P", "recall", "ndcg_cut", "map_cut", "relative_P")
    names = [
        f"{family}_{cut}" for family in cuts for cut in (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    ]
    names += [f"iprec_at_recall_{recall / 10:.2f}" for recall in range(11)]
    names += [f"Rprec_mult_{share / 5:.2f}" for share in range(1, 11)]
    names += [f"success_{cut}" for cut in (1, 5, 10)] + [f"unj_{cut}" for cut in (5, 10, 20)]
    names += ["map", "Rprec", "bpref", "recip_rank", "infAP", "utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg",
              "set_P", "set_relative_P", "set_recall", "set_map", "set_F", "rbp"]  # fmt: skip
    totals = [
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "num_nonrel_judged_ret",
        "gm_map",
        "gm_bpref",
    ]
    every = [parse_measure(name) for name in (*names, *totals)]
    assert len(set(every)) == 97 and averaged(every, totals=True) == every
    assert [str(one) for one in every if not is_averaged(str(one))] == totals
    for name in ("runid", "rbp_resid"):
        with pytest.raises(UsageError, match="unknown measure"):
            parse_measure(name)


def test_a_missing_turn_is_the_worst_in_a_geometric_mean(tmp_path: Path) -> None:
    files = write(tmp_path, "1_1 Q0 a 1 1 t\n", "1_1 0 a 1\n1_2 0 a 1\n")
    frame = ours(*files, EvaluationPolicy(), ["gm_map"])
    # trec_eval -c counts a missing turn as its floor, 0.00001
    assert score_of_run("gm_map", frame["gm_map"].to_numpy()) == pytest.approx((1 * 1e-5) ** 0.5)


def test_a_turn_without_judgments_scores_0_through_trec_eval(tmp_path: Path) -> None:
    run, qrels = write(tmp_path, "1_1 Q0 a 1 1 t\n1_2 Q0 a 1 1 t\n", "1_1 0 a 1\n1_2 0 a 1\n")
    matrix = grade_matrix(rank_run(read_run(run), EvaluationPolicy()), read_qrels(qrels))
    matrix = replace(
        matrix,
        judged=np.array([matrix.judged[0], [ABSENT]]),
        grades=np.array([matrix.grades[0], [UNJUDGED]]),
    )
    scores = score_frame(matrix, [parse_measure("Rprec"), parse_measure("map")], EvaluationPolicy())
    assert scores.loc["1_2"].tolist() == [0, 0]
    assert scores.loc["1_1"].tolist() == [1, 1]


def test_the_most_that_a_turn_can_score() -> None:
    ends = [
        "P_1",
        "ndcg",
        "rbp",
        "judged_3",
        "f1",
        "Rprec",
        "iprec_at_recall_0.10",
        "set_F",
        "relative_P_5",
    ]
    assert {highest_score(parse_measure(name)) for name in ends} == {1.0}
    assert [highest_score(parse_measure(name)) for name in ("utility", "num_rel")] == [None, None]


def test_names_that_are_no_numbers_are_no_measures() -> None:
    with pytest.raises(UsageError, match="unknown measure 'runid'"):
        parse_measure("runid")


#: Measures that only trec_eval computes and that tell lists of other lengths, and other judgments, apart.
FOREIGN = ["num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "Rprec", "infAP", "set_P", "set_recall", "set_F",
           "utility", "G", "binG", "Rndcg", "ndcg_rel", "11pt_avg", "gm_map", "iprec_at_recall_0.50",
           "relative_P_5"]  # fmt: skip


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("measures")


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(1, 8), st.dictionaries(st.integers(0, 11), st.integers(-2, 3), min_size=1, max_size=9)),
        min_size=2, max_size=5,
    ),
    st.integers(1, 3),
)  # fmt: skip
def test_lists_of_any_length_and_negative_grades_through_trec_eval(
    scratch: Path, turns: list[tuple[int, dict[int, int]]], level: int
) -> None:
    run: dict[str, dict[str, float]] = {}
    judged: dict[str, dict[str, int]] = {}
    for place, (length, grades) in enumerate(turns):
        run[f"1_{place}"] = {f"d{rank}": 20.0 - rank for rank in range(length)}
        # trec_eval reads outside its arrays where no grade of a turn is 0 or more
        judged[f"1_{place}"] = {f"d{document}": grade for document, grade in grades.items()} | {
            "z": 0
        }
    files = write(
        scratch,
        "".join(
            f"{turn} Q0 {name} 1 {score} t\n"
            for turn, own in run.items()
            for name, score in own.items()
        ),
        "".join(
            f"{turn} 0 {name} {grade}\n"
            for turn, own in judged.items()
            for name, grade in own.items()
        ),
    )
    frame = ours(*files, EvaluationPolicy(relevance_level=level), FOREIGN)
    requests = {
        name.replace("_0.50", ".0.50").replace("_5", ".5") if name[-1].isdigit() else name
        for name in FOREIGN
    }
    expected = pytrec_eval.RelevanceEvaluator(judged, requests, relevance_level=level).evaluate(run)
    for name in FOREIGN:
        assert frame[name].tolist() == [expected[turn][name] for turn in frame.index], name


def test_negative_grades_alone_count_as_one_that_is_not_relevant(tmp_path: Path) -> None:
    # lists of other lengths, so that the turn's row is padded; its passages stay retrieved and judged
    run = "1_1 Q0 a 1 3 t\n1_1 Q0 b 2 2 t\n1_2 Q0 a 1 4 t\n1_2 Q0 b 2 3 t\n1_2 Q0 c 3 2 t\n1_2 Q0 d 4 1 t\n"
    files = write(
        tmp_path, run, "1_1 0 a -1\n1_1 0 x -2\n1_2 0 a -1\n1_2 0 c 1\n1_2 0 e 0\n1_2 0 f 2\n"
    )
    frame = ours(
        *files,
        EvaluationPolicy(),
        ["num_ret", "num_rel", "num_rel_ret", "set_P", "set_recall", "Rprec", "utility"],
    )
    assert frame.loc["1_1"].tolist() == [2, 0, 0, 0, 0, 0, -2]
    assert frame.loc["1_2"].tolist() == [4, 2, 1, 0.25, 0.5, 0, -2]


@pytest.mark.parametrize(
    "name",
    ["ndcg_3", "G_1", "Rndcg_3", "relative_P_0", "relative_P_inf", "relative_P_99999999999999999999", "relative_P_٣", "set_F_1",
     "relative_P_1e400", "relative_P_1_0", "Rprec_mult_inf", "iprec_at_recall_0.5", "P(rel=²)@1", f"P(rel={'9' * 5000})@1",
     f"P_{'9' * 5000}", f"P@{'9' * 5000}", f"relative_P_{'9' * 5000}", "P(rel=1001)@1"],
)  # fmt: skip
def test_numbers_in_names_that_nobody_can_compute(name: str) -> None:
    # trec_eval would break an assertion of its own at some of them, and end the process
    with pytest.raises(UsageError) as caught:
        parse_measure(name)
    assert "measure" in str(caught.value) and len(str(caught.value)) < 1200


@pytest.mark.parametrize(
    "name", ["relative_P_5", "Rprec_mult_0.20", "iprec_at_recall_0.33", "iprec_at_recall_1.50"]
)
def test_numbers_in_names_of_trec_eval(name: str) -> None:
    assert str(parse_measure(name)) == name


def test_a_level_above_every_grade(tmp_path: Path) -> None:
    files = write(tmp_path, "1_1 Q0 a 1 1 t\n", "1_1 0 a 1000\n")
    assert ours(*files, EvaluationPolicy(relevance_level=1000), ["Rprec", "P_1"]).loc[
        "1_1"
    ].tolist() == [1, 1]
    for level in (1001, 2**31, 10**20):
        assert ours(*files, EvaluationPolicy(relevance_level=level), ["Rprec", "P_1"]).loc[
            "1_1"
        ].tolist() == [0, 0]


def test_trec_eval_gets_no_turn_without_a_grade_from_0_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it reads outside its arrays there; what comes of that is chance, so what it is given is looked at
    given_: dict[str, dict[str, int]] = {}

    class Recorder(pytrec_eval.RelevanceEvaluator):
        def __init__(self, qrels: dict[str, dict[str, int]], *arguments: object, **options: object):
            given_.update(qrels)
            super().__init__(qrels, *arguments, **options)

    run = "1_1 Q0 a 1 1 t\n1_2 Q0 a 1 1 t\n1_3 Q0 a 1 1 t\n"
    files = write(tmp_path, run, "1_1 0 a -1\n1_2 0 b -2\n1_3 0 a 0\n1_3 0 b -1\n")
    monkeypatch.setattr(pytrec_eval, "RelevanceEvaluator", Recorder)
    assert (ours(*files, EvaluationPolicy(), ["Rprec"])["Rprec"] == 0).all()
    grades = {turn: sorted(given_[turn].values()) for turn in ("1_1", "1_2", "1_3")}
    assert grades == {"1_1": [-1, 0], "1_2": [-2, 0], "1_3": [-1, 0]}


def test_weights_of_ranks_in_dcg_and_rbp() -> None:
    assert (
        rank_discounts(7)[[0, 2, 6]].tolist() == [1, 1 / 2, 1 / 3] and len(rank_discounts(7)) == 7
    )
    assert rank_weights(0.5, 4).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16]
    assert not len(rank_discounts(0)) and not len(rank_weights(0.8, 0))


def test_measures_of_one_rank_that_are_right_or_wrong() -> None:
    found = {
        name: parse_measure(name).right_or_wrong
        for name in ("P_1", "P_5", "ndcg_cut_1", "success_5", "map_cut_1")
    }
    assert found == {
        "P_1": True,
        "P_5": False,
        "ndcg_cut_1": False,
        "success_5": True,
        "map_cut_1": False,
    }


@pytest.mark.parametrize(
    ("grades", "level", "names", "notes"),
    [
        ([0, 1, 2], 2, ["P_1", "map", "ndcg_cut_3"], []),
        ([0, 1], 2, ["P_1", "map", "ndcg_cut_3", "P(rel=1)@3"],
         ["no passage has a grade of 2 or more (the highest grade is 1), so P@1, MAP are 0 for every turn"]),
        ([-1, 0], 1, ["ndcg_cut_3", "judged_3"],
         ["no passage has a grade of 1 or more (the highest grade is 0), so NDCG@3 is 0 for every turn"]),
        ([1], 1, ["rbp", "R(rel=4)@10"],
         ["no passage has a grade of 4 or more (the highest grade is 1), so R(rel=4)@10 is 0 for every turn"]),
    ],
)  # fmt: skip
def test_measures_that_are_always_zero_are_noted(
    grades: list[int], level: int, names: list[str], notes: list[str]
) -> None:
    assert grade_notes([parse_measure(name) for name in names], np.array(grades), level) == notes
