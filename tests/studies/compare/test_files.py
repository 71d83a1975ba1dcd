"""``robustcs compare`` and ``robustcs.compare`` with two runs or two files of per-turn scores."""

from __future__ import annotations

import gzip
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import pytrec_eval

import robustcs
from robustcs.errors import InputError, UsageError
from tests.case_files import CASES, case
from tests.conftest import Command, _runner

OLD, NEW = "runs/plain_qr.trec", "runs/stem_qr.trec"


@pytest.fixture
def alone(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Runs a command line in a folder with runs, qrels and a file of texts, but without a project."""
    shutil.copytree(demo / "runs", tmp_path / "files/runs")
    shutil.copytree(demo / "runs", tmp_path / "files/later")
    for name in ("qrels.txt", "topics.json"):
        shutil.copy(demo / name, tmp_path / "files" / name)
    return _runner(tmp_path / "files", monkeypatch, capfd)


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder without a project."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def by_hand(
    demo: Path, metric: str = "ndcg_cut_3", level: int = 2
) -> list[dict[str, dict[str, float]]]:
    """Per-turn scores of both runs by pytrec_eval."""
    qrels = pytrec_eval.parse_qrel((demo / "qrels.txt").open())
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {metric, "P_1", "map"}, relevance_level=level)
    return [evaluator.evaluate(pytrec_eval.parse_run((demo / name).open())) for name in (OLD, NEW)]


# ---------------------------------------------------------------- two runs


def test_two_runs_are_one_system_in_two_states(alone: Command, demo: Path) -> None:
    line = f"compare {OLD} {NEW} --qrels qrels.txt --relevance-level 2 --metric ndcg_cut_3"
    assert alone(line).out.startswith(f"From {OLD} to {NEW}\n")
    result = json.loads(alone(f"{line} --format json").out)
    (row,) = result["tables"]["measures"]
    before, after = ([one["ndcg_cut_3"] for one in scores.values()] for scores in by_hand(demo))
    assert (row["system"], row["turns"], row["scored"]) == ("run", 70, 70)
    assert (row["old"], row["new"]) == pytest.approx((np.mean(before), np.mean(after)), abs=1e-9)
    assert (
        row["change"] == pytest.approx(np.mean(after) - np.mean(before), abs=1e-9)
        and row["change"] > 0.05
    )
    assert {one["path"]: one["state"] for one in result["tables"]["inputs"]} == {
        NEW: "changed",
        "qrels.txt": "same",
    }


def test_exchanged_runs_change_by_the_opposite(demo: Path, nowhere: Path) -> None:
    asked: dict[str, Any] = {"qrels": demo / "qrels.txt", "relevance_level": 2}
    there, back = (
        robustcs.compare(*pair, **asked).measures
        for pair in ((demo / OLD, demo / NEW), (demo / NEW, demo / OLD))
    )
    assert there["change"].tolist() == pytest.approx((-back["change"]).tolist())
    # random draws are not mirrored
    assert there["ci_low"].tolist() == pytest.approx((-back["ci_high"]).tolist(), abs=0.01)
    assert there["low"].tolist() == pytest.approx((-back["high"]).tolist())


def test_runs_in_files_of_one_name_keep_it(alone: Command) -> None:
    out = json.loads(
        alone("compare runs/stem_qr.trec later/stem_qr.trec --qrels qrels.txt --format json").out
    )
    assert {row["system"] for row in out["tables"]["measures"]} == {"stem_qr"}
    assert alone("compare runs/stem_qr.trec later/stem_qr.trec --qrels qrels.txt").out.startswith(
        "No score changed from runs/stem_qr.trec to later/stem_qr.trec.\n"
    )


def test_the_project_of_the_folder_gives_qrels_and_policy(in_demo: Command, demo: Path) -> None:
    own = json.loads(in_demo(f"compare {OLD} {NEW} --format json").out)
    runs = f"--config /dev/null --qrels qrels.txt --relevance-level 2 --run a={OLD} --run b={NEW}"
    evaluated = json.loads(in_demo(f"evaluate {runs} --format json").out)
    assert own["policy"]["relevance_level"] == 2
    changes = {row["metric"]: row["change"] for row in own["tables"]["measures"]}
    assert changes == pytest.approx(
        {row["metric"]: -row["difference"] for row in evaluated["tables"]["pairs"]}, abs=1e-9
    )


def test_the_measures_of_the_folder_are_those_that_the_files_have(
    in_copy: Command, tmp_path: Path
) -> None:
    config = tmp_path / "demo/robustcs.toml"
    config.write_text('qrels = "qrels.txt"\nmetrics = ["recall_5"]\npolicy.relevance_level = 2\n')

    def measures(line: str) -> list[tuple[str, float]]:
        rows = json.loads(in_copy(f"compare {line} --format json").out)["tables"]["measures"]
        return [(row["metric"], round(row["old"], 4)) for row in rows]

    ((metric, at_two),) = measures(f"{OLD} {NEW}")
    assert metric == "recall_5" and measures(f"{OLD} {NEW} --relevance-level 1") != [
        (metric, at_two)
    ]
    assert [name for name, _ in measures(f"{OLD} {NEW} --metric P_1")] == ["P_1"]
    monday = CASES / "missing-scores/monday.tsv"
    assert [name for name, _ in measures(f"{monday} {monday}")] == ["faithfulness"]
    gate = in_copy(f"compare {monday} {monday} --fail-if 'drop>0.02' --table gate").err
    assert gate == "gate: passed (1 passed)\n"


def test_the_gate_and_its_files_work_as_with_projects(alone: Command, tmp_path: Path) -> None:
    gate = "--qrels qrels.txt --metric ndcg_cut_3 --fail-if 'drop>0.02'"
    assert alone(f"compare {OLD} {NEW} {gate}").err.endswith("gate: passed (1 passed)\n")
    worse = alone(f"compare {NEW} {OLD} {gate} --table gate", code=5)
    assert (
        worse.out.startswith("Gate: cannot tell (drop>0.02)\n")
        and "run     NDCG@3   +0.060" in worse.out
    )
    alone(
        f"compare {NEW} {OLD} {gate} --gate-report gate.json --html page.html --output gate.csv --table gate",
        code=5,
    )
    report = json.loads((tmp_path / "files/gate.json").read_text("utf-8"))
    assert (report["old"], report["new"], report["outcome"]) == (NEW, OLD, "cannot tell")
    assert (tmp_path / "files/page.html").read_text("utf-8").count(NEW) and (
        tmp_path / "files/gate.csv"
    ).is_file()
    human = "compare runs/stem_human.trec runs/stem_original.trec"
    assert alone(f"{human} {gate} --table gate", code=1).err == "gate: failed (1 failed)\n"
    assert alone(f"{human} {gate} --evidence bounds --table gate", code=1).out.startswith(
        "Gate: failed"
    )
    kept = alone(f"compare {OLD} {NEW} --qrels qrels.txt --output {OLD} --format csv", code=2)
    assert (
        kept.err
        == f"robustcs: {OLD} is an input, which is never overwritten; choose another name for the output\n"
    )


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (f"{OLD} {NEW}", 2, f"robustcs: {OLD} is a run, but no qrels are given; add --qrels FILE\n"),
        (f"qrels.txt {NEW} --qrels qrels.txt", 3,
         "qrels.txt: these are TREC qrels; name a run or per-turn scores here, and the qrels with --qrels FILE\n"),
        (f"{OLD} topics.json --qrels qrels.txt", 3, "topics.json: these are CAsT topics; name a run or per-turn scores\n"),
        (f"{OLD} nothing.trec --qrels qrels.txt", 3, "nothing.trec: no such file or folder; check the path\n"),
        (f"{OLD} {NEW} --qrels {OLD}", 3, f"{OLD}: this is a TREC run; use it with"),
        (f"{OLD} runs --qrels qrels.txt", 2,
         f"robustcs: runs is a project or a folder, but {OLD} is not; compare two projects, or two runs or files of"),
        (f"{OLD} {NEW} --qrels qrels.txt --metric ndgc_cut_3", 2, "robustcs: unknown measure 'ndgc_cut_3'; did you mean ndcg"),
    ],
)  # fmt: skip
def test_wrong_files(alone: Command, line: str, code: int, message: str) -> None:
    answer = alone(f"compare {line}", code=code)
    assert answer.err.startswith(message) and answer.out == "" and answer.err.count("\n") == 1


def test_projects_have_their_own_qrels_and_policy(in_demo: Command) -> None:
    answer = in_demo("compare plain.toml robustcs.toml --qrels qrels.txt", code=2)
    assert answer.err == (
        "robustcs: --qrels is given, but OLD and NEW are projects; set qrels in both projects, or compare two runs\n"
    )
    answer = in_demo("compare plain.toml robustcs.toml --missing drop", code=2)
    assert answer.err.startswith("robustcs: --missing is given, but OLD and NEW are projects; ")


def test_a_system_that_answers_few_turns_is_named_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    call = _runner(case("one-turn", tmp_path), monkeypatch, capfd)
    said = "run answers 1 of 18 turns in the {} state (one.trec); its other turns score 0."
    later = call("compare full.trec one.trec --qrels qrels.txt")
    assert " ".join(later.out.split()).startswith(said.format("new"))
    gate = call(
        "compare full.trec one.trec --qrels qrels.txt --fail-if 'drop>0.02' --format json", code=1
    )
    assert gate.err.startswith(said.format("new") + "\nfailed: ")
    rows = json.loads(gate.out)["tables"]["measures"]
    assert {(row["scored"], row["answered_old"], row["answered_new"]) for row in rows} == {
        (18, 18, 1)
    }
    earlier = call("compare one.trec full.trec --qrels qrels.txt")
    assert " ".join(earlier.out.split()).startswith(said.format("old"))
    left = call("compare full.trec one.trec --qrels qrels.txt --missing drop")
    assert " ".join(left.out.split()).startswith(
        said.format("new").replace("score 0", "are excluded")
    )
    assert "answers" not in call("compare full.trec full.trec --qrels qrels.txt").out


# ---------------------------------------------------------------- two files of scores


@pytest.fixture
def scored(demo: Path, alone: Command, tmp_path: Path) -> tuple[Command, list[pd.DataFrame]]:
    """A command and the scores of two states, of which it finds ``old.csv`` and ``new.csv``."""
    frames = [
        pd.DataFrame(scores).T.rename(columns={"map": "faithfulness"}) for scores in by_hand(demo)
    ]
    for name, frame in zip(("old", "new"), frames, strict=True):
        frame.to_csv(tmp_path / "files" / f"{name}.csv", index_label="turn")
        frame[["faithfulness"]].to_csv(tmp_path / "files" / f"only_{name}.csv", index_label="turn")
        lines = [f"ndcg_cut_3 {turn} {value}\n" for turn, value in frame["ndcg_cut_3"].items()]
        (tmp_path / "files" / f"{name}.eval").write_text("".join(lines))
    return alone, frames


def test_files_of_scores_are_compared_by_their_measures(
    scored: tuple[Command, list[pd.DataFrame]],
) -> None:
    call, (old, new) = scored

    def changes(line: str) -> dict[str, float]:
        rows = json.loads(call(f"compare {line} --format json").out)["tables"]["measures"]
        assert {row["system"] for row in rows} == {"scores"}
        return {row["metric"]: row["change"] for row in rows}

    mean = (new - old).mean()
    assert changes("old.csv new.csv") == pytest.approx(
        {name: mean[name] for name in ("P_1", "ndcg_cut_3")}
    )
    assert changes("old.csv new.csv --metric faithfulness") == pytest.approx(
        {"faithfulness": mean["faithfulness"]}
    )
    assert changes("only_old.csv new.csv") == pytest.approx({"faithfulness": mean["faithfulness"]})
    assert changes("old.eval new.csv") == pytest.approx({"ndcg_cut_3": mean["ndcg_cut_3"]})
    assert call("compare old.csv new.csv --metric recall_5", code=2).err.startswith(
        "robustcs: old.csv has no recall_5; it has "
    )
    gate = "--fail-if 'faithfulness drop>0.02' --metric faithfulness --table gate"
    assert call(f"compare old.csv new.csv {gate}").out.startswith("Gate: passed")
    assert "scores  faithfulness  +0.105" in call(f"compare new.csv old.csv {gate}", code=1).out


def test_a_measure_that_the_new_scores_lack_is_gone(
    scored: tuple[Command, list[pd.DataFrame]], tmp_path: Path
) -> None:
    call, (old, new) = scored
    pd.concat([old["faithfulness"], old["faithfulness"].rename("relevancy")], axis=1).to_csv(
        tmp_path / "files/two.csv", index_label="turn"
    )
    answer = call("compare two.csv only_new.csv --fail-if 'drop>0.02' --table gate", code=5)
    assert "relevancy: only the old state has relevancy of scores" in " ".join(answer.out.split())
    nothing = call("compare only_old.csv old.eval", code=2).err
    assert nothing == "robustcs: the two states have no measure in common; add one with --metric\n"


def test_a_run_and_scores_are_compared_by_measures_of_rankings(
    scored: tuple[Command, list[pd.DataFrame]],
) -> None:
    call, (old, new) = scored
    assert call(f"compare old.csv {NEW}", code=2).err.startswith(
        f"robustcs: {NEW} is a run, but no qrels are given; "
    )
    result = json.loads(
        call(f"compare old.csv {NEW} --qrels qrels.txt --relevance-level 2 --format json").out
    )
    changes = {row["metric"]: row["change"] for row in result["tables"]["measures"]}
    assert changes == pytest.approx((new - old)[["P_1", "ndcg_cut_3"]].mean().to_dict(), abs=1e-9)
    assert (
        "the scores of the old state are those in its files; the others are computed from runs"
        in result["notes"]
    )
    assert call(f"compare only_old.csv {NEW} --qrels qrels.txt", code=2).err == (
        "robustcs: only_old.csv: no measures that can be computed from a run (faithfulness); compare two runs, or two files of"
        " per-turn scores\n"
    )


def test_turns_of_one_state_only_are_left_out(
    scored: tuple[Command, list[pd.DataFrame]], tmp_path: Path
) -> None:
    call, (old, new) = scored
    new[["faithfulness"]].iloc[:20].to_csv(tmp_path / "files/few.csv", index_label="turn")
    answer = json.loads(call("compare only_old.csv few.csv --format json").out)
    (row,) = answer["tables"]["measures"]
    assert (row["turns"], row["scored"], row["answered_old"], row["answered_new"]) == (
        20,
        70,
        70,
        20,
    )
    assert row["change"] == pytest.approx((new - old)["faithfulness"].iloc[:20].mean())
    assert "turns scored in only one state are excluded" in " ".join(answer["notes"])
    first = " ".join(call("compare only_old.csv few.csv").out.split())
    assert first.startswith(
        "50 of 70 scores are missing in the new state (few.csv). From only_old.csv"
    )
    assert "(70 turns" not in first and call(
        "compare only_old.csv few.csv --fail-if 'drop>0.9' --table gate", code=5
    )


def test_equal_scores_of_two_days() -> None:
    monday = CASES / "missing-scores/monday.tsv"
    result = robustcs.compare(monday, monday)
    (row,) = result.measures.itertuples()
    assert (row.metric, row.change, row.turns) == ("faithfulness", 0, 45)


# ---------------------------------------------------------------- Python


def test_objects_are_sides_as_files_are(demo: Path, nowhere: Path) -> None:
    qrels = pytrec_eval.parse_qrel((demo / "qrels.txt").open())
    runs = [pytrec_eval.parse_run((demo / name).open()) for name in (OLD, NEW)]
    frames = [
        pd.DataFrame(
            [(turn, *pair) for turn, own in run.items() for pair in own.items()],
            columns=["qid", "docno", "score"],
        )
        for run in runs
    ]
    asked: dict[str, Any] = {"relevance_level": 2, "metric": "ndcg_cut_3"}
    files = robustcs.compare(
        demo / OLD, str(demo / NEW), qrels=demo / "qrels.txt", **asked
    ).measures
    for old, new in (
        runs,
        frames,
        (frames[0].set_index("qid"), frames[1].to_dict("records")),
        (frames[0].itertuples(index=False), frames[1]),
        ({"run": runs[0]}, {"run": demo / NEW}),
        ({"run": [demo / OLD]}, frames[1]),
    ):
        result = robustcs.compare(old=old, new=new, qrels=qrels, **asked)
        pd.testing.assert_frame_equal(result.measures, files)
        assert (result.old.name, result.new.name) == ("old", "new")
    several = robustcs.compare(
        {"a": runs[0], "b": frames[0]}, {"a": runs[1], "b": demo / NEW}, qrels=qrels, **asked
    )
    assert list(several.measures["system"]) == ["a", "b"] and len(several.conclusions) == 1
    one = robustcs.compare({"bm25": runs[0]}, demo / NEW, qrels=qrels, **asked)
    assert list(one.measures["system"]) == ["bm25"]
    listed = robustcs.compare(
        [demo / OLD, demo / NEW], [demo / OLD, demo / NEW], qrels=qrels, **asked
    )
    assert list(listed.measures["system"]) == ["plain_qr", "stem_qr"] and not len(listed.turns)


def test_objects_with_scores(demo: Path, nowhere: Path) -> None:
    old, new = by_hand(demo)
    frames = [pd.DataFrame(one).T.rename_axis("turn") for one in (old, new)]
    long = frames[1].reset_index().melt("turn", var_name="measure", value_name="value")
    expected = robustcs.compare(old, new).measures
    assert list(expected["metric"]) == ["P_1", "ndcg_cut_3"]
    for sides in (frames, (frames[0], long), (frames[0].reset_index(), new)):
        pd.testing.assert_frame_equal(robustcs.compare(*sides).measures, expected, rtol=1e-12)
    judged = [
        {turn: {"faithfulness": one["map"]} for turn, one in scores.items()}
        for scores in (old, new)
    ]
    for result in (
        robustcs.compare(*judged),
        robustcs.compare(*judged, qrels=demo / "qrels.txt"),
    ):
        # no run, with qrels, either
        (row,) = result.measures.itertuples()
        assert (row.system, row.metric) == ("scores", "faithfulness")


def test_a_dictionary_with_the_same_passages_for_every_turn_is_a_run(nowhere: Path) -> None:
    run = {"1_1": {"a": 2.0, "b": 1.0}, "1_2": {"a": 1.0, "b": 2.0}}
    other = {turn: dict(zip(own, reversed(own.values()), strict=True)) for turn, own in run.items()}
    result = robustcs.compare(run, other, qrels={"1_1": {"a": 1}, "1_2": {"b": 1}}, metric="P_1")
    (row,) = result.measures.itertuples()
    assert (row.old, row.new) == (1, 0)


def test_the_present_signature_stays(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    positional = robustcs.compare(str(demo / "plain.toml"), demo, metric="ndcg_cut_3")
    opened = robustcs.compare(
        old=robustcs.open_project(demo / "plain.toml"), new=demo, metric="ndcg_cut_3"
    )
    pd.testing.assert_frame_equal(positional.measures, opened.measures)
    assert list(positional.measures["system"]) == ["original", "qr", "human"]
    # the measures of the folder's project do not replace those of the states
    monkeypatch.chdir(demo)
    pd.testing.assert_frame_equal(
        robustcs.compare("plain.toml", ".", metric="ndcg_cut_3").measures, opened.measures
    )


RUN = CASES / "one-turn/full.trec"
QRELS = CASES / "one-turn/qrels.txt"
FOLDER = CASES / "rechunked/old"
#: The same function, for calls that type checkers reject.
COMPARE: Any = robustcs.compare
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: None, "{} is None; give "),
    "a number": (lambda: 5, "{} is an int; give "),
    "not a number": (lambda: float("nan"), "{} is a float; give "),
    "bytes": (lambda: b"1_1", "{} is a bytes; give "),
    "a function": (lambda: len, "{} is a builtin_function_or_method; give "),
    "an array without dimensions": (lambda: np.array(1.0), "{} is a ndarray; give "),
    "no columns": (lambda: pd.DataFrame(), "<{}>: no rows; "),
    "wrong columns": (lambda: pd.DataFrame({"a": [1], "b": ["x"]}), "<{}>, row 1: no column 'query_id'; the columns are: a, "),
    "judgments": (lambda: pd.DataFrame({"qid": ["1"], "docno": ["a"], "rel": [1]}), "<{}>: no column 'score'; "),
    "one name twice": (lambda: pd.DataFrame([[1, 2]], columns=["qid", "qid"]), "<{}>: two columns have the same name; "),
    "no id": (lambda: pd.DataFrame({"qid": [None], "docno": ["a"], "score": [1.0]}), "<{}>, row 1: no qid; "),
    "text": (lambda: pd.DataFrame({"qid": ["1"], "docno": ["a"], "score": ["x"]}), "<{}>, row 1: score 'x' is not a number; "),
    "a series": (lambda: pd.Series([1.0, 2.0]), "<{}>, row 1: no column 'query_id'; "),
    "a missing file": (lambda: "/nowhere/a.trec", "/nowhere/a.trec: no such file"),
    "no name": (lambda: "", "the name of a file is empty; "),
    "judgments in a file": (lambda: QRELS, f"{QRELS}: these are TREC qrels; "),
    "a list": (lambda: [1, 2], "<{}>, row 1: '1' is not a record; "),
    "a generator": (lambda: (number for number in [1]), "<{}>, row 1: '1' is not a record; "),
    "a record": (lambda: [{"x": 1}], "<{}>, row 1: no column 'query_id'; the columns are: x; "),
    "a dictionary": (lambda: {"1_1": 5}, '{}["1_1"] is an int; give '),
    "texts": (lambda: {"1_1": {"doc110": "high"}}, '<{}>["1_1"]["doc110"]: score \'high\' is not a number; '),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_objects_are_errors_of_robustcs(name: str, nowhere: Path) -> None:
    made, message = WRONG[name]
    for keyword, sides in (("old", lambda: (made(), RUN)), ("new", lambda: (RUN, made()))):
        with pytest.raises((UsageError, InputError)) as caught:
            robustcs.compare(*sides(), qrels=QRELS)
        assert str(caught.value).startswith(message.format(keyword))
    calls: list[Callable[[], Any]] = [
        lambda: robustcs.evaluate(qrels=QRELS, runs=made()), lambda: robustcs.evaluate(scores=made()),
        lambda: robustcs.evaluate(scores={"a": made()}), lambda: robustcs.evaluate(qrels=made(), runs=RUN),
    ]  # fmt: skip
    for call in calls if made() is not QRELS else calls[:3]:
        with pytest.raises((UsageError, InputError), match="; "):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: COMPARE(), "argument old of compare is missing; give old and new"),
        (lambda: COMPARE(RUN), "argument new of compare is missing; give old and new"),
        (lambda: COMPARE(RUN, RUN), f"{RUN} is a run, but no qrels are given; add qrels=FILE"),
        (lambda: COMPARE(RUN, RUN, QRELS), "compare has 3 positional arguments; give old and new by position"),
        (lambda: COMPARE(RUN, RUN, old=RUN), "old is given both by position and by keyword; give it once"),
        (lambda: COMPARE(RUN, RUN, qrel=QRELS), "no input is named 'qrel'; did you mean 'qrels'?"),
        (lambda: COMPARE(RUN, RUN, qrels=5), "qrels is an int; give a file, "),
        (lambda: COMPARE(RUN, RUN, qrels=[]), "qrels has no file; give one file, or a list of several"),
        (lambda: COMPARE(RUN, RUN, qrels=QRELS, fail_if=5), "fail_if is 5; give a string"),
        (lambda: COMPARE(RUN, RUN, qrels=QRELS, fail_if=None), "fail_if is None; give a string"),
        (lambda: COMPARE([RUN, RUN], RUN, qrels=QRELS), "two files of old are named 'full'; write {NAME: FILE}"),
        (lambda: COMPARE(FOLDER, RUN), f"{FOLDER} is a project or a folder, but {RUN} is not; compare two projects"),
        (lambda: COMPARE({"1": {"a": 1}}, FOLDER), f"{FOLDER} is a project or a folder, but old is not; "),
    ],
)  # fmt: skip
def test_wrong_calls(call: Callable[[], Any], message: str, nowhere: Path) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value).startswith(message)


# ---------------------------------------------------------------- public data


def test_a_comparison_is_the_pair_of_evaluate(shared_data: Path, nowhere: Path) -> None:
    """CAsT 2019: Original and a rewriter, as runs; their means also by pytrec_eval."""
    old, new = (shared_data / f"cast2019/runs/bert_base_{name}.trec.gz" for name in ("raw", "cv"))
    qrels = shared_data / "cast2019/qrels.txt.gz"
    asked: dict[str, Any] = {
        "qrels": qrels,
        "relevance_level": 2,
        "metrics": ["ndcg_cut_3", "P_1", "recip_rank"],
    }
    ours = robustcs.compare(old, new, **asked).measures.set_index("metric")
    pairs = robustcs.evaluate(runs={"new": new, "old": old}, **asked).pairs.set_index("metric")
    for own, other in (
        ("change", "difference"),
        ("ci_low", "ci_low"),
        ("ci_high", "ci_high"),
        ("p", "p"),
    ):
        pd.testing.assert_series_equal(
            ours[own], pairs[other], check_names=False, check_dtype=False, rtol=1e-9
        )
    judged = pytrec_eval.parse_qrel(io.StringIO(gzip.decompress(qrels.read_bytes()).decode()))
    evaluator = pytrec_eval.RelevanceEvaluator(
        judged, {"P_1", "recip_rank", "ndcg_cut_3"}, relevance_level=2
    )
    texts = [gzip.decompress(path.read_bytes()).decode() for path in (old, new)]
    sums = [evaluator.evaluate(pytrec_eval.parse_run(io.StringIO(text))) for text in texts]
    for metric in ours.index:
        means = [
            sum(scores.get(turn, {}).get(metric, 0.0) for turn in judged) / len(judged)
            for scores in sums
        ]
        assert ours.loc[metric, ["old", "new"]].tolist() == pytest.approx(means, abs=1e-9)
    assert len(judged) == 173 == ours.loc["P_1", "turns"]


def test_a_comparison_of_score_files_is_the_pair_of_evaluate(
    shared_data: Path, nowhere: Path
) -> None:
    old, new = (
        shared_data / f"cast2019/qrqa/{name}_query_metrics.txt"
        for name in ("original", "Transformer_Plus_Plus_Q")
    )
    ours = robustcs.compare(old, new).measures.set_index("metric")
    pairs = robustcs.evaluate(
        scores={"new": new, "old": old}, metrics=["P_1", "ndcg_cut_3"]
    ).pairs.set_index("metric")
    assert list(ours.index) == ["P_1", "ndcg_cut_3"]
    for own, other in (
        ("change", "difference"),
        ("ci_low", "ci_low"),
        ("ci_high", "ci_high"),
        ("p", "p"),
    ):
        pd.testing.assert_series_equal(
            ours[own], pairs[other], check_names=False, check_dtype=False, rtol=1e-9
        )
