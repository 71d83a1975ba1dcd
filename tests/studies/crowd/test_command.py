"""``robustcs crowd``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from robustcs.inputs.qrels import read_qrels
from tests.conftest import Command

GRADES = "crowd crowd/grades.csv --gold-checks crowd/gold_checks.csv"
RUNS = "--bank crowd/bank.json --run ids=crowd/ids.json --run texts=crowd/texts.json"


def tables(answer: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(answer)["tables"]
    return found


def test_everything_at_once(in_demo: Command) -> None:
    command = f"{GRADES} {RUNS} --subset crowd/needs_a_question.txt"
    out = in_demo(command).out
    assert max(map(len, out.splitlines())) <= 80
    assert out.endswith("5 turns · missing turns score 0 (1) · ties by docid descending · scores as\n"
                        "float32 · relevant ≥ 2 (binary measures)\n")  # fmt: skip
    found = tables(in_demo(f"{command} --format json").out)
    assert [(row["topic"], row["worker"], row["failed"]) for row in found["exclusions"]] == [
        ("1", "worker_4", 2), ("2", "worker_4", 1),
    ]  # fmt: skip
    assert {row["turn_set"]: row["turns"] for row in found["qrels"] if row["criterion"] == "relevance"} == {
        "all": 5, "filtered": 4, "subset": 3,
    }  # fmt: skip
    grades = {
        row["grade"]: (row["count"], row["share"])
        for row in found["distribution"]
        if row["criterion"] == "relevance"
    }
    judged = sum(number for number, _ in grades.values())
    assert judged == found["qrels"][0]["pairs"] and grades == {
        key: (n, pytest.approx(n / judged)) for key, (n, _) in grades.items()
    }
    assert found["unmapped"] == [
        {"system": "texts", "turn": "1_2", "question": "Do you own a jar?"}
    ]
    assert [row["criterion"] for row in found["measures"][::12]] == [
        "relevance",
        "diversity",
        "combined",
    ]
    assert len(found["measures"]) == 3 * 2 * 3 * 2
    assert {row["rule"] for row in found["grades"]} == {"mode", "mean"}


def test_the_project_file_names_the_same_files(in_demo: Command) -> None:
    given = json.loads(
        in_demo(f"{GRADES} {RUNS} --subset crowd/needs_a_question.txt --format json").out
    )
    bare = json.loads(in_demo("crowd --format json").out)
    assert bare == given
    deeper = tables(in_demo("crowd --pool-depth 2 --format json").out)
    assert len(deeper["pool"]) > len(given["tables"]["pool"])


def test_a_file_takes_the_place_of_files_and_not_of_settings(
    in_copy: Command, tmp_path: Path
) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    config.write_text(config.read_text().replace("[crowd]\n", "[crowd]\ntolerance = 3\n"))
    assert not tables(in_copy(f"{GRADES} --format json").out)["exclusions"]
    # the runs of the table are left out
    assert not tables(in_copy(f"{GRADES} --format json").out)["measures"]


def test_files_are_written_and_evaluate_to_the_same(in_copy: Command, tmp_path: Path) -> None:
    answer = in_copy(
        f"{GRADES} {RUNS} --subset crowd/needs_a_question.txt --folder out --pool-depth 2 --format json"
    )
    names = ["qrels_relevance.txt", "qrels_relevance_filtered.txt", "qrels_relevance_subset.txt", "qrels_diversity.txt",
             "qrels_diversity_filtered.txt", "qrels_diversity_subset.txt", "qrels_combined.txt",
             "qrels_combined_filtered.txt", "qrels_combined_subset.txt", "pool.txt", "ids.trec", "texts.trec"]  # fmt: skip
    assert answer.err == f"wrote 12 files to out: {', '.join(names)}\n"
    folder = tmp_path / "demo" / "out"
    assert read_qrels(folder / "qrels_relevance.txt").turns == ("1_1", "1_2", "1_3", "2_1", "2_3")
    first = [
        row
        for row in tables(answer.out)["measures"]
        if row["criterion"] == "relevance" and row["turn_set"] == "all"
    ]
    again = in_copy(
        "crowd --qrels out/qrels_relevance.txt --run ids=out/ids.trec --run texts=out/texts.trec --format json"
    ).out
    second = [row for row in tables(again)["measures"] if row["turn_set"] == "all"]
    assert [row["value"] for row in first] == [row["value"] for row in second]
    assert in_copy("crowd crowd/grades.csv --folder out", code=2).err.startswith(
        "robustcs: out/qrels_"
    )


def test_published_runs(in_demo: Command, shared_data: Path) -> None:
    folder = shared_data / "cast2022-regin"
    found = tables(in_demo(
        f"crowd --qrels {folder}/question_relevance_all.qrel --bank {folder}/question_bank.json --format json"
        f" --run bm25={folder}/bm25_baseline_mi_run.json.gz --run gpt={folder}/GPT-3_raw_run.json"
    ).out)  # fmt: skip
    scores = [
        (row["system"], round(row["value"], 4), row["answered"])
        for row in found["measures"]
        if row["turn_set"] == "all"
    ]
    assert scores == [
        ("bm25", 0.3268, 205),
        ("bm25", 0.2425, 205),
        ("gpt", 0.4098, 149),
        ("gpt", 0.2456, 149),
    ]
    assert {row["turn_set"]: row["turns"] for row in found["qrels"]} == {
        "all": 205,
        "filtered": 194,
    }


def test_means_over_the_intersection_of_judgments_and_run(
    in_demo: Command, shared_data: Path
) -> None:
    """As the organisers average ("only the evaluated turns at the intersection of the qrel file and the submission")."""
    folder = shared_data / "cast2022-regin"
    line = (
        f"crowd --qrels {folder}/question_relevance_all.qrel --bank {folder}/question_bank.json --missing own --metric P_1"
        f" --metric ndcg_cut_3 --run bm25={folder}/bm25_baseline_mi_run.json.gz --run gpt={folder}/GPT-3_raw_run.json"
    )
    result = json.loads(in_demo(f"{line} --format json").out)
    judged: dict[str, dict[str, int]] = {}
    for turn, _, item, grade in map(
        str.split, (folder / "question_relevance_all.qrel").read_text().splitlines()
    ):
        judged.setdefault(turn, {})[item] = int(grade)
    bank = json.loads((folder / "question_bank.json").read_text())
    ids = {text.strip(): name for name, text in reversed(bank.items())}
    runs = {"gpt": json.loads((folder / "GPT-3_raw_run.json").read_text()),
            "bm25": json.loads(gzip.decompress((folder / "bm25_baseline_mi_run.json.gz").read_bytes()))}  # fmt: skip
    for name, run in runs.items():
        ranked = {
            turn["turn_id"]: {ids.get(asked["question"].strip(), asked["question"].strip()): asked["score"]
                              for asked in turn["questions"]}
            for turn in run["turns"] if turn["questions"]
        }  # fmt: skip
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {"P_1", "ndcg_cut.3"}, relevance_level=2)
        expected = evaluator.evaluate(ranked)
        rows = [
            row
            for row in result["tables"]["measures"]
            if (row["system"], row["turn_set"]) == (name, "all")
        ]
        assert (
            {row["turns"] for row in rows} == {len(expected)} == {{"gpt": 149, "bm25": 205}[name]}
        )
        for row in rows:
            mean = sum(values[row["metric"]] for values in expected.values()) / len(expected)
            assert row["value"] == pytest.approx(mean, abs=1e-9)
    assert (
        "each run over the turns that it answers (149 to 205), as trec_eval without -c"
        in result["policy"]["line"]
    )


def test_a_published_run_scores_the_same_as_json_and_as_trec_lines(
    in_demo: Command, shared_data: Path, tmp_path: Path
) -> None:
    """One of its ids, Q2173, is not in the bank; the organisers pooled and judged it, so that it belongs where it stands."""
    folder = shared_data / "cast2022-regin"
    run = json.loads(gzip.decompress((folder / "bm25_baseline_mi_run.json.gz").read_bytes()))
    lines = [
        f"{turn['turn_id']} Q0 {asked['question']} {rank} {asked['score']} bm25\n"
        for turn in run["turns"] for rank, asked in enumerate(turn["questions"], 1)
    ]  # fmt: skip
    (tmp_path / "bm25.trec").write_text("".join(lines))
    found = tables(in_demo(
        f"crowd --qrels {folder}/question_relevance_all.qrel --bank {folder}/question_bank.json --format json"
        f" --run json={folder}/bm25_baseline_mi_run.json.gz --run trec={tmp_path}/bm25.trec"
    ).out)  # fmt: skip
    values = {
        (row["system"], row["turn_set"], row["metric"]): row["value"] for row in found["measures"]
    }
    assert (
        round(values["json", "all", "ndcg_cut_3"], 4) == 0.2425
        and round(values["json", "all", "P_1"], 4) == 0.3268
    )
    assert all(
        values["trec", *rest] == value for (run, *rest), value in values.items() if run == "json"
    )


def test_criteria_together(in_demo: Command, shared_data: Path) -> None:
    """Judgments of three criteria, from one file and from three; a run of responses as JSON and as TREC lines."""
    folder = shared_data / "cast2022-regin"
    runs = f"--bank {folder}/question_bank.json --run gpt={folder}/GPT-3_raw_run.json --format json"
    files = " ".join(
        f"--qrels {folder}/question_{name}.qrel"
        for name in ("relevance_all", "novelty", "diversity")
    )
    from_grades, from_qrels = (
        {
            row["metric"]: row["value"]
            for row in tables(in_demo(f"crowd {given} {runs}").out)["measures"]
            if (row["criterion"], row["turn_set"]) == ("combined", "all")
        }
        for given in (f"{folder}/question_judgments.json.gz", files)
    )
    assert from_grades == from_qrels and {name: round(value, 4) for name, value in from_qrels.items()} == {
        "P_1": 0.1659, "ndcg_cut_3": 0.1877,
    }  # fmt: skip
    # by hand: the grades of what the run asks first
    judged = json.loads(gzip.decompress((folder / "question_judgments.json.gz").read_bytes()))
    lowest = {
        (turn, entry["Question ID"]): min(entry["Relevance"], entry["Novelty"], entry["Diversity"])
        for turn, parts in judged.items() for entry in parts["Questions"]
    }  # fmt: skip
    bank = json.loads((folder / "question_bank.json").read_text())
    ids = {text.strip(): name for name, text in reversed(bank.items())}
    good = 0
    for turn in json.loads((folder / "GPT-3_raw_run.json").read_text())["turns"]:
        if turn["questions"]:
            first = max(turn["questions"], key=lambda asked: asked["score"])["question"].strip()
            good += (
                lowest.get((turn["turn_id"], first if first in bank else ids.get(first, "")), 0)
                >= 2
            )
    assert good / len(judged) == pytest.approx(from_qrels["P_1"], abs=1e-11)


def test_responses(in_demo: Command, shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "cast2022-regin"
    judged = [
        line.split() for line in (folder / "response_relevance.qrel").read_text().splitlines()
    ]
    first = {turn: item for turn, _, item, _ in reversed(judged)}
    (tmp_path / "bank.json").write_text(
        json.dumps({item: f"Text of {item}." for *_, item, _ in judged})
    )
    said = {
        turn: [{"rank": 1, "text": f"text of {item}", "provenance": []}]
        for turn, item in first.items()
    }
    value = {
        "run_name": "r",
        "turns": [{"turn_id": turn, "responses": some} for turn, some in said.items()],
    }
    (tmp_path / "r.json").write_text(json.dumps(value))
    (tmp_path / "r.trec").write_text(
        "".join(f"{turn} Q0 {item} 1 1.0 r\n" for turn, item in first.items())
    )
    files = " ".join(
        f"--qrels {folder}/response_{name}.qrel"
        for name in ("relevance", "naturalness", "conciseness")
    )
    found = tables(in_demo(
        f"crowd {files} --bank {tmp_path}/bank.json --run json={tmp_path}/r.json --run trec={tmp_path}/r.trec --metric P_1"
        " --format json"
    ).out)  # fmt: skip
    values = {
        (row["system"], row["criterion"]): row["value"]
        for row in found["measures"]
        if row["turn_set"] == "all"
    }
    grades = {(turn, item): int(grade) for turn, _, item, grade in judged}
    relevant = [grades[pair] >= 2 for pair in first.items()]
    assert values["json", "response_relevance"] == values["trec", "response_relevance"]
    assert values["json", "response_relevance"] == pytest.approx(
        sum(relevant) / len(relevant), abs=1e-11
    )
    assert values["json", "combined"] < values["json", "response_relevance"]
    assert {
        row["criterion"]: row["turns"] for row in found["qrels"] if row["turn_set"] == "all"
    } == dict.fromkeys(
        ("response_relevance", "response_naturalness", "response_conciseness", "combined"), 162
    )


def test_two_files_of_one_criterion(in_demo: Command, tmp_path: Path) -> None:
    (tmp_path / "r.qrels").write_text("1_1 0 Q1 1\n")
    (tmp_path / "r.txt").write_text("1_1 0 Q1 1\n")
    told = in_demo(f"crowd --qrels {tmp_path}/r.qrels --qrels {tmp_path}/r.txt", code=2).err
    assert told == "robustcs: two qrels files are named r; rename one of them\n"


def test_grades_alone(in_copy: Command) -> None:
    answer = in_copy("crowd crowd/grades.csv")
    assert "How do the runs score?" not in answer.out and answer.out.endswith(
        "5 turns · nothing is scored\n"
    )


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("crowd --bank crowd/bank.json", 2,
         "robustcs: neither grades nor runs are given; name a file of grades, or add --run NAME=FILE\n"),
        ("crowd crowd/grades.csv --qrels qrels.txt", 2, "robustcs: both grades and qrels are given; give only one of them\n"),
        ("crowd --run a=crowd/ids.json --gold-checks crowd/gold_checks.csv", 2,
         "robustcs: gold checks are given without grades; name the file of grades\n"),
        ("crowd --run a=crowd/texts.json", 2,
         "robustcs: run a has texts, such as 'What would you like to know about bread?'; give the bank with their ids"
         " as --bank FILE\n"),
        ("crowd crowd/grades.csv --run a=runs/stem_qr.trec --subset crowd/bank.json", 2,
         "robustcs: no turn of crowd/bank.json is judged; check its turn ids\n"),
        ("crowd paraphrases.csv", 3, "paraphrases.csv:1: no column 'item'; the columns are: TURN_ID, MANUAL PARAPHRASE,"),
    ],
)  # fmt: skip
def test_wrong_use(in_demo: Command, command: str, code: int, message: str) -> None:
    assert in_demo(command, code).err.startswith(message)


def test_the_unit(in_demo: Command) -> None:
    found = json.loads(in_demo(f"{GRADES} {RUNS} --format json").out)
    assert (found["policy"]["unit"], found["policy"]["units"]) == ("turn", 5)
    assert any(
        note.startswith("the sampling unit is the turn, because there are only 2 conversations")
        for note in found["notes"]
    )
    few = [row for row in found["tables"]["measures"] if row["turn_set"] == "filtered"]
    assert all(
        row["ci_low"] is None and row["note"] == "no interval: only 4 turns (at least 5 required)"
        for row in few
    )
