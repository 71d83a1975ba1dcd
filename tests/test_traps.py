"""Every trap that real public files of this field have set, one test each, on made files and on the real ones."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustcs.errors import InputError
from robustcs.evaluation.matrix import UNJUDGED, GradeMatrix, grade_matrix
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.ranking import Ranking, rank_run
from robustcs.inputs.qrels import read_qrels
from robustcs.inputs.runs import Run, read_run
from robustcs.inputs.scores import read_scores
from robustcs.inputs.texts import read_texts
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import Formulation, Project
from robustcs.project.workspace import Workspace
from tests.formulations import score_frame

RUN = "31_1 Q0 d1 1 3.5 t\n31_1 Q0 d2 2 2.5 t\n31_2 Q0 d3 1 1.5 t\n"
QRELS = "31_1 0 d1 1\n31_1 0 d2 2\n31_2 0 d3 0\n31_2 0 d4 1\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def ranked(run: Run, policy: EvaluationPolicy | None = None) -> dict[str, list[str]]:
    ranking: Ranking = rank_run(run, policy or EvaluationPolicy())
    documents = ranking.ids.take(ranking.document_codes).texts()
    return {
        turn: documents[ranking.starts[i] : ranking.starts[i + 1]]
        for i, turn in enumerate(ranking.turns)
    }


def matrix_of(run: Path, qrels: Path) -> GradeMatrix:
    return grade_matrix(rank_run(read_run(run), EvaluationPolicy()), read_qrels(qrels))


def scores_of(run: Path, qrels: Path, *measures: str, level: int = 1) -> pd.DataFrame:
    return score_frame(
        matrix_of(run, qrels), [parse_measure(name) for name in measures], EvaluationPolicy(level)
    )


def assert_same_run(first: Run, second: Run) -> None:
    assert ranked(first) == ranked(second)
    assert first.scores.tolist() == second.scores.tolist()


# ------------------------------------------------------------------------------------------------- rank columns


@pytest.mark.parametrize("ranks", ["0 1 0", "1 2 1", "1 1 1", "7 -3 9"])
def test_the_rank_column_may_start_anywhere_and_repeat(tmp_path: Path, ranks: str) -> None:
    first, second, third = ranks.split()
    content = f"31_1 Q0 d2 {second} 2.5 t\n31_2 Q0 d3 {third} 1.5 t\n31_1 Q0 d1 {first} 3.5 t\n"
    assert ranked(read_run(write(tmp_path, "run", content))) == {
        "31_1": ["d1", "d2"],
        "31_2": ["d3"],
    }


def test_order_by_rank_works_from_0_and_from_1(tmp_path: Path) -> None:
    policy = EvaluationPolicy(order="rank")
    for first in (0, 1):
        content = "".join(f"31_1 Q0 d{i} {first + i} {i} t\n" for i in range(3))
        run = read_run(write(tmp_path, "run", content), ranks=True)
        assert ranked(run, policy) == {"31_1": ["d0", "d1", "d2"]}
        assert ranked(run) == {"31_1": ["d2", "d1", "d0"]}, "by score it is the other way round"


@pytest.mark.parametrize(
    ("run", "first"),
    [("cast2019/decaf/bm25_raw.run.gz", 0), ("cast2019/runs/bert_base_raw.trec.gz", 1)],
)
def test_real_rank_columns_start_at_0_and_at_1(shared_data: Path, run: str, first: int) -> None:
    read = read_run(shared_data / run, ranks=True)
    assert read.ranks is not None and read.ranks.min() == first
    assert (
        len(scores_of(shared_data / run, shared_data / "cast2019" / "qrels.txt.gz", "P_1")) == 173
    )


# ------------------------------------------------------------------------------------------------- separators


@pytest.mark.parametrize("separator", ["\t", "   ", " \t ", "\t\t"])
def test_tabs_and_many_spaces_between_columns(tmp_path: Path, separator: str) -> None:
    odd = read_run(write(tmp_path, "odd", RUN.replace(" ", separator)))
    assert_same_run(odd, read_run(write(tmp_path, "plain", RUN)))
    assert len(read_qrels(write(tmp_path, "qrels", QRELS.replace(" ", separator)))) == 4
    scores = write(tmp_path, "scores", "P_1 31_1 0.5\n".replace(" ", separator))
    assert read_scores(scores)["P_1"].to_dict() == {"31_1": 0.5}


def test_a_real_run_with_tabs(shared_data: Path) -> None:
    path = shared_data / "cast2019" / "decaf" / "bm25_raw.run.gz"
    with gzip.open(path, "rt") as stream:
        lines = stream.read().splitlines()
    assert all(line.count("\t") == 5 for line in lines)
    assert len(read_run(path)) == len(lines)


# ------------------------------------------------------------------------------------------------- headers, comments, tags


def test_a_header_line_in_a_run(tmp_path: Path) -> None:
    run = read_run(write(tmp_path, "run", "query_id Q0 passage_id 1 999 res_2020_raw.txt\n" + RUN))
    assert run.turns == ("31_1", "31_2")
    assert run.notes == ("run: skipped the header line",)


def test_a_header_line_in_the_real_runs_of_2020(shared_data: Path) -> None:
    files = sorted((shared_data / "cast2020" / "runs").glob("*.gz"))
    assert len(files) == 3
    for path in files:
        run = read_run(path)
        assert "query_id" not in run.turns and len(run.turns) == 215
        assert run.notes == (f"{path.name}: skipped the header line",)


def test_metadata_lines_of_ir_metadata(tmp_path: Path) -> None:
    metadata = (
        '# ir_metadata.start\n# platform:\n#   hardware:\n#     cpu: "x"\n# ir_metadata.end\n'
    )
    run = read_run(write(tmp_path, "run", metadata + RUN + "# end\n"))
    assert_same_run(run, read_run(write(tmp_path, "plain", RUN)))
    assert run.notes == ("run: skipped 6 comment lines",)


def test_tags_that_hold_spaces(tmp_path: Path) -> None:
    plain = read_run(write(tmp_path, "plain", RUN))
    assert_same_run(read_run(write(tmp_path, "run", RUN.replace(" t\n", " my own tag\n"))), plain)
    some = RUN.replace(" t\n", " my tag\n", 1)
    assert_same_run(read_run(write(tmp_path, "run", some)), plain)


@pytest.mark.parametrize(
    ("start", "end"),
    [("", "\r\n"), ("\ufeff", "\n"), ("\ufeff", "\r\n"), ("\ufeff# a\r\n", "\r\n")],
)
def test_carriage_returns_and_byte_order_marks(tmp_path: Path, start: str, end: str) -> None:
    run = read_run(write(tmp_path, "run", start + RUN.replace("\n", end)))
    assert_same_run(run, read_run(write(tmp_path, "plain", RUN)))
    qrels = read_qrels(write(tmp_path, "qrels", start + QRELS.replace("\n", end)))
    assert (qrels.turns, qrels.grades.tolist()) == (("31_1", "31_2"), [1, 2, 0, 1])
    texts = write(
        tmp_path, "texts", (start.partition("#")[0] + "31_1\tWhy?\n31_2\tHow?\n").replace("\n", end)
    )
    assert read_texts(texts, "human") == {"31_1": "Why?", "31_2": "How?"}


def test_carriage_returns_in_the_real_resolved_turns(shared_data: Path) -> None:
    path = shared_data / "cast2019" / "topics_resolved.tsv"
    assert path.read_bytes().count(b"\r\n") >= 479
    texts = read_texts(path, "human")
    assert len(texts) == 479
    assert not any("\r" in text for text in texts.values())


# ------------------------------------------------------------------------------------------------- turns


def test_extra_turns_of_a_run_are_left_out_and_counted(tmp_path: Path) -> None:
    run = write(tmp_path, "run", RUN + "99_1 Q0 d1 1 1 t\n99_2 Q0 d1 1 1 t\n")
    matrix = matrix_of(run, write(tmp_path, "qrels", QRELS))
    assert (matrix.turns, matrix.extra_turns) == (("31_1", "31_2"), 2)


def test_extra_turns_of_a_real_run(shared_data: Path) -> None:
    matrix = matrix_of(
        shared_data / "cast2019/runs/bert_base_raw.trec.gz", shared_data / "cast2019/qrels.txt.gz"
    )
    assert (len(matrix.turns), matrix.extra_turns) == (173, 306)


def test_a_turn_that_one_run_lacks_scores_0_or_is_dropped_for_all(tmp_path: Path) -> None:
    whole = "31_1 Q0 d1 1 1 t\n31_2 Q0 d4 1 1 t\n"
    files = {"original": whole, "qr": whole.splitlines()[0] + "\n", "human": whole}
    formulations = {
        role: Formulation(role, role, run=write(tmp_path, role, content)) for role, content in files.items()
    }  # fmt: skip
    for missing, turns in (("zero", ["31_1", "31_2"]), ("drop", ["31_1"])):
        project = Project(
            qrels=write(tmp_path, "qrels", QRELS), formulations=formulations, metrics=tuple(map(parse_measure, ("P_1",))),
            policy=EvaluationPolicy(missing=missing),
        )  # fmt: skip
        scores, evaluated = Workspace(project).formulation_scores()
        assert scores.human.frame()["P_1"].to_dict() == dict.fromkeys(turns, 1.0)
        assert scores.rewriters["qr"].frame()["P_1"].to_dict() == dict(
            zip(turns, [1.0, 0.0], strict=False)
        )
        assert evaluated.missing == 1
        assert "QR misses 1 turn: 31_2" in evaluated.notes


def test_the_turn_that_the_real_runs_of_2020_lack(shared_data: Path) -> None:
    run = shared_data / "cast2020/runs/bert_raw.trec.gz"
    matrix = matrix_of(run, shared_data / "cast2020/qrels.txt.gz")
    lacking = [turn for turn, missing in zip(matrix.turns, matrix.missing, strict=True) if missing]
    assert (len(matrix.turns), lacking) == (208, ["105_9"])
    scores = scores_of(run, shared_data / "cast2020/qrels.txt.gz", "ndcg_cut_3", "P_1")
    assert scores.loc["105_9"].tolist() == [0.0, 0.0]


def test_the_all_row_of_per_turn_files_is_not_a_turn(tmp_path: Path) -> None:
    frame = read_scores(write(tmp_path, "scores", "P_1 31_1 1.0\nP_1 31_2 0.0\nP_1 all 0.5\n"))
    assert frame["P_1"].to_dict() == {"31_1": 1.0, "31_2": 0.0}


def test_the_all_row_of_a_real_per_turn_file(shared_data: Path) -> None:
    path = shared_data / "cast2019/qrqa/original_query_metrics.txt"
    assert "\tall\t" in path.read_text()
    frame = read_scores(path)
    assert len(frame) == 173 and "all" not in frame.index


def test_turns_are_joined_by_id_and_never_by_row(tmp_path: Path) -> None:
    rows = [f"P_1 31_{i} {i % 2}\n" for i in range(1, 12)]
    files = {"original": rows, "qr": rows[::-1], "human": rows[5:] + rows[:5]}
    formulations = {
        role: Formulation(role, role, scores=write(tmp_path, role, "".join(lines))) for role, lines in files.items()
    }  # fmt: skip
    scores, _ = Workspace(
        Project(formulations=formulations, metrics=tuple(map(parse_measure, ("P_1",))))
    ).formulation_scores()
    expected = {f"31_{i}": float(i % 2) for i in range(1, 12)}
    for one in (scores.original, scores.rewriters["qr"], scores.human):
        assert one.frame()["P_1"].to_dict() == expected
        assert list(one.turns) == list(expected), "natural order: 31_2 before 31_10"


def test_runs_in_another_order_score_the_same(tmp_path: Path, shared_data: Path) -> None:
    path = shared_data / "cast2019/decaf/bm25_raw.run.gz"
    with gzip.open(path) as stream:
        lines = stream.readlines()
    np.random.default_rng(0).shuffle(lines)
    shuffled = write(tmp_path, "run", b"".join(lines))
    qrels = shared_data / "cast2019/qrels.txt.gz"
    pd.testing.assert_frame_equal(
        scores_of(path, qrels, "ndcg_cut_3", "map"), scores_of(shuffled, qrels, "ndcg_cut_3", "map")
    )


# ------------------------------------------------------------------------------------------------- qrels


@pytest.mark.parametrize("iteration", ["0", "Q0", "1", "-"])
def test_column_2_of_qrels_does_not_matter(tmp_path: Path, iteration: str) -> None:
    qrels = read_qrels(write(tmp_path, "qrels", QRELS.replace(" 0 ", f" {iteration} ")))
    assert (qrels.turns, qrels.grades.tolist()) == (("31_1", "31_2"), [1, 2, 0, 1])


@pytest.mark.parametrize(("year", "iteration", "turns"), [("2019", "Q0", 173), ("2020", "0", 208)])
def test_column_2_of_real_qrels(shared_data: Path, year: str, iteration: str, turns: int) -> None:
    path = shared_data / f"cast{year}" / "qrels.txt.gz"
    with gzip.open(path, "rt") as stream:
        assert {line.split()[1] for line in stream} == {iteration}
    assert len(read_qrels(path).turns) == turns


def test_negative_grades_are_judged_and_not_relevant(tmp_path: Path) -> None:
    qrels = write(tmp_path, "qrels", "31_1 0 d1 -2\n31_1 0 d2 1\n31_1 0 d5 -1\n")
    run = write(tmp_path, "run", RUN)
    matrix = matrix_of(run, qrels)
    assert matrix.grades.tolist() == [[-2, 1]]
    scores = scores_of(run, qrels, "P_1", "ndcg_cut_3", "judged_2", "recip_rank").loc["31_1"]
    assert scores.tolist() == [0.0, pytest.approx(1 / np.log2(3)), 1.0, 0.5]


def test_contradicting_judgments_are_not_settled_silently(tmp_path: Path) -> None:
    path = write(tmp_path, "qrels", QRELS + "31_1 0 d1 2\n")
    with pytest.raises(InputError, match="turn 31_1 document d1 has grade 2 but grade 1 in line 1"):
        read_qrels(path)


# ------------------------------------------------------------------------------------------------- scores of runs


def test_tied_scores_are_ordered_by_document_id_descending(tmp_path: Path) -> None:
    content = "".join(
        f"31_1 Q0 {document} {i} 5 t\n" for i, document in enumerate(["d1", "d10", "d9", "D9", "é"])
    )
    assert ranked(read_run(write(tmp_path, "run", content))) == {
        "31_1": ["é", "d9", "d10", "d1", "D9"]
    }


def test_ties_of_a_real_run_change_its_scores(shared_data: Path) -> None:
    """The order of the file is another ranking than the one that trec_eval scores."""
    path, qrels = (
        shared_data / "cast2019/decaf/bm25_raw.run.gz",
        read_qrels(shared_data / "cast2019/qrels.txt.gz"),
    )
    means = {}
    for order in ("score", "rank"):
        policy = EvaluationPolicy(order=order)
        matrix = grade_matrix(rank_run(read_run(path, ranks=True), policy), qrels)
        means[order] = score_frame(matrix, [parse_measure("map")], policy)["map"].mean()
    assert means["score"] != means["rank"]
    assert means["score"] == pytest.approx(means["rank"], abs=0.002)


def test_scores_closer_than_a_float32_step_are_tied(tmp_path: Path) -> None:
    content = "31_1 Q0 d1 1 1.00000002 t\n31_1 Q0 d2 2 1.00000001 t\n31_1 Q0 d3 3 1.0 t\n31_1 Q0 d4 4 0.9999999 t\n"
    assert ranked(read_run(write(tmp_path, "run", content))) == {"31_1": ["d3", "d2", "d1", "d4"]}


def test_a_document_twice_for_one_turn_counts_once_at_its_best_rank(tmp_path: Path) -> None:
    run = write(tmp_path, "run", "31_1 Q0 d2 1 1 t\n31_1 Q0 d1 2 2 t\n31_1 Q0 d2 3 3 t\n")
    ranking = rank_run(read_run(run), EvaluationPolicy())
    assert ranked(read_run(run)) == {"31_1": ["d2", "d1"]}
    assert ranking.notes == (
        "run: 1 repeated document skipped; the best-ranked row of each counts",
    )
    scores = scores_of(run, write(tmp_path, "qrels", QRELS), "recall_10", "P_3").loc["31_1"]
    assert scores.tolist() == [1.0, pytest.approx(2 / 3)], "two passages, not three"


def test_a_real_run_with_repeated_documents(shared_data: Path) -> None:
    path = shared_data / "clariq" / "dev_bm25"
    pairs = Counter(tuple(line.split()[:3:2]) for line in path.read_text().splitlines())
    ranking = rank_run(read_run(path), EvaluationPolicy())
    assert ranking.repeated == sum(pairs.values()) - len(pairs) == 8
    assert len(ranking.document_codes) == len(pairs)


# ------------------------------------------------------------------------------------------------- ids and texts


def test_ids_with_hyphens_are_whole(tmp_path: Path) -> None:
    run = write(
        tmp_path,
        "run",
        "106_1 Q0 WAPO_a-b-c-1 1 3 t\n106_1 Q0 WAPO_a-b-c-2 2 2 t\n106_1 Q0 WAPO_a-b-c 3 1 t\n",
    )
    qrels = write(tmp_path, "qrels", "106_1 0 WAPO_a-b-c-2 2\n")
    assert matrix_of(run, qrels).grades.tolist() == [[UNJUDGED, 2, UNJUDGED]]


def test_passages_of_2021_do_not_match_document_judgments_by_accident(shared_data: Path) -> None:
    qrels = shared_data / "cast2021/qrels-docs.txt.gz"
    for run, judged in (("org_convdr.run.gz", True), ("org_convdr.passages.trec.gz", False)):
        matrix = matrix_of(shared_data / "cast2021/runs" / run, qrels)
        assert bool((matrix.grades > UNJUDGED).any()) == judged


def test_quotes_in_tsv_belong_to_the_text(tmp_path: Path) -> None:
    content = '31_1\t"Why" is it?\n31_2\t"unclosed\n31_3\tsays ""so""\n'
    assert read_texts(write(tmp_path, "texts", content), "human") == {
        "31_1": '"Why" is it?', "31_2": '"unclosed', "31_3": 'says ""so""',
    }  # fmt: skip


def test_quotes_in_a_real_tsv(shared_data: Path) -> None:
    texts = read_texts(shared_data / "cast2020/rewrites/Human.tsv", "human")
    assert len(texts) == 216
    assert texts["105_5"] == '"Who named the movement ""Black Lives Matter""?"'
    assert texts["105_6"].strip() and '"' not in texts["105_6"], "the next row is a row of its own"
