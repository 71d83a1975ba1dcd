"""``robustcs breakdown`` on the demo collection: the JSON contract, every form of output, every option."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from robustcs import __version__
from robustcs.cli.main import run
from robustcs.evaluation.bins import BINS
from tests.conftest import Command

#: P@1 is 0 or 1, so that all thresholds say the same of it.
CUTS = [("P_1", "=1"), ("ndcg_cut_3", ">0"), ("ndcg_cut_3", ">=0.5"), ("ndcg_cut_3", "=1")]


def not_json(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def read(text: str) -> dict[str, Any]:
    return json.loads(text, parse_constant=not_json)


def counts(result: dict[str, Any], metric: str, threshold: str) -> list[int]:
    return [
        row["count"]
        for row in result["tables"]["bins"]
        if (row["metric"], row["threshold"]) == (metric, threshold)
    ]


@pytest.fixture(scope="module")
def asked() -> list[str]:
    """What the command printed, once a test has run it."""
    return []


@pytest.fixture
def result(asked: list[str], in_demo: Command) -> dict[str, Any]:
    if not asked:
        asked.append(in_demo("breakdown --format json").out)
    return read(asked[0])


def test_json_is_the_contract(result: dict[str, Any]) -> None:
    assert list(result) == ["command", "version", "policy", "inputs", "tables", "notes"]
    assert (result["command"], result["version"], result["notes"]) == ("breakdown", __version__, [])
    assert list(result["tables"]) == [
        "bins", "attribution", "blame", "answerable", "tests", "headroom", "turns",
        "rewriters", "overview", "rewriter_tests", "rewriter_scores", "repairs", "best_of", "error_types", "slices",
        "found_slices",
    ]  # fmt: skip
    compared = [
        "p", "p_corrected", "comparisons", "difference", "ci_low", "ci_high", "p_floor", "exact", "effect", "effect_low",
        "effect_high", "detectable", "note",
    ]  # fmt: skip
    columns = {name: list(rows[0]) for name, rows in result["tables"].items() if rows}
    # one rewriter alone
    assert (
        not {"rewriter_tests", "rewriter_scores", "best_of", "slices", "found_slices"}
        & columns.keys()
    )
    assert columns.pop("rewriters")[:4] == ["rewriter", "metric", "threshold", "qa"]
    assert columns.pop("error_types")[:6] == [
        "rewriter",
        "metric",
        "threshold",
        "type",
        "turns",
        "share",
    ]
    assert columns.pop("overview")[:4] == ["system", "metric", "threshold", "answered"]
    assert columns.pop("repairs")[:6] == [
        "metric",
        "threshold",
        "answered_by",
        "count",
        "share",
        "turns",
    ]
    assert columns == {
        "bins": ["rewriter", "metric", "threshold", "original", "qr", "human", "count", "unchanged", "unknown", "by_chance"],
        "attribution": [
            "rewriter", "metric", "threshold", "cause", "count", "share", "ci_low", "ci_high", "units", "note", "by_chance"
        ],
        "blame": ["rewriter", "metric", "threshold", "qa", "qr", *compared],
        "answerable": [
            "rewriter", "metric", "threshold", "turns", "answered", "answerable", "share", "ci_low", "ci_high", "units",
            "note",
        ],
        "tests": ["rewriter", "metric", "threshold", "first", "second", "only_first", "only_second", *compared],
        "headroom": [
            "rewriter", "metric", "threshold", "original", "qr", "human", "repaired", "gain", "ci_low", "ci_high",
            "by_chance", "difference", "note",
        ],
        "turns": [
            "rewriter", "turn", "metric", "threshold", "original", "qr", "human", "bin", "cause", "unchanged",
            "original_text", "qr_text", "human_text",
        ],
    }  # fmt: skip


def test_the_rows_are_complete_and_in_the_papers_order(result: dict[str, Any]) -> None:
    tables = result["tables"]
    assert [
        (row["metric"], row["threshold"], f"{row['original']}{row['qr']}{row['human']}")
        for row in tables["bins"]
    ] == [(*cut, bin_) for cut in CUTS for bin_ in BINS]
    assert [row["cause"] for row in tables["attribution"]] == ["qa", "qr", "correct"] * len(CUTS)
    assert [row["turns"] for row in tables["answerable"]] == ["all", "rewritten"] * len(CUTS)
    assert len(tables["turns"]) == 70 * len(CUTS)


def test_the_tables_agree_with_each_other(result: dict[str, Any]) -> None:
    tables = result["tables"]
    for metric, threshold in CUTS:
        turns = [
            row
            for row in tables["turns"]
            if (row["metric"], row["threshold"]) == (metric, threshold)
        ]
        members = Counter(row["bin"] for row in turns)
        assert counts(result, metric, threshold) == [members[bin_] for bin_ in BINS]
        causes = {
            row["cause"]: row["count"]
            for row in tables["attribution"]
            if (row["metric"], row["threshold"]) == (metric, threshold)
        }
        assert causes == Counter(row["cause"] for row in turns)
        assert sum(row["unchanged"] for row in turns) == 19
        gain = sum(row["human"] - row["qr"] for row in turns if row["cause"] == "qr") / 70
        [headroom] = [
            row
            for row in tables["headroom"]
            if (row["metric"], row["threshold"]) == (metric, threshold)
        ]
        assert headroom["gain"] == pytest.approx(gain, abs=1e-12)


def test_the_scores_are_trec_evals(result: dict[str, Any], demo: Path) -> None:
    import pytrec_eval

    with (demo / "qrels.txt").open() as file:
        qrels: dict[str, dict[str, int]] = {}
        for line in file:
            turn, _, document, grade = line.split()
            qrels.setdefault(turn, {})[document] = int(grade)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_3", "P_1"}, relevance_level=2)
    for role in ("original", "qr", "human"):
        run: dict[str, dict[str, float]] = {}
        with (demo / f"runs/stem_{role}.trec").open() as file:
            for line in file:
                turn, _, document, _, score, _ = line.split()
                run.setdefault(turn, {})[document] = float(score)
        expected = evaluator.evaluate(run)
        for row in result["tables"]["turns"]:
            assert row[role] == pytest.approx(expected[row["turn"]][row["metric"]], abs=1e-9)


def test_every_input_has_its_checksum_and_rows(result: dict[str, Any], demo: Path) -> None:
    inputs = result["inputs"]
    assert [list(entry) for entry in inputs] == [["role", "path", "sha256", "rows"]] * 6
    assert [(entry["role"], entry["rows"]) for entry in inputs] == [  # the collection shows whether the judgments fit
        ("qrels", 782), ("original", 2555), ("qr", 3167), ("human", 3526), ("collection", 277),
        ("original texts, qr texts, human texts", 70),
    ]  # fmt: skip
    for entry in inputs:
        assert entry["sha256"] == hashlib.sha256((demo / entry["path"]).read_bytes()).hexdigest()


def test_the_policy_stands_in_the_result(result: dict[str, Any]) -> None:
    assert result["policy"] == {
        "relevance_level": 2, "missing": "zero", "order": "score", "depth": None, "documents": False,
        "unit": "conversation", "units": 10,
        "basis": "runs", "turns": 70, "missing_turns": 0,
        "line": "70 turns in 10 conversations · missing turns score 0 (0) · ties by docid descending · scores as float32"
        " · relevant ≥ 2 (binary measures)",
    }  # fmt: skip


def test_csv_is_one_table_with_the_same_numbers(in_demo: Command, result: dict[str, Any]) -> None:
    answer = in_demo("breakdown --format csv --table headroom")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    expected = result["tables"]["headroom"]
    assert answer.err == ""
    assert list(rows[0]) == list(expected[0])
    assert [float(row["ci_low"]) for row in rows] == [row["ci_low"] for row in expected]
    answer = in_demo("breakdown --format csv")
    columns = "rewriter,metric,threshold,original,qr,human,count,unchanged,unknown,by_chance"
    assert answer.out.startswith(f"{columns}\nqr,P_1,=1,0,0,0,13,3,0,13.0\n")
    assert answer.err == (
        "csv contains one table, here bins; write the others with --table: attribution, blame, answerable, tests, headroom,"
        " turns, rewriters, overview, rewriter_tests, rewriter_scores, repairs, best_of, error_types,"
        " slices, found_slices\n"
    )


def test_markdown_has_the_published_layout(in_demo: Command) -> None:
    lines = in_demo("breakdown --format markdown --table bins").out.splitlines()
    assert (
        lines[2]
        == "| Original | QR | Human | P@1 · = 1 | NDCG@3 · &gt; 0 | NDCG@3 · ≥ 0.5 | NDCG@3 · = 1 |"
    )
    assert lines[4] == "| × | × | × | 13 (3) | 1 (0) | 4 (0) | 45 (10) |"
    assert lines[-1].startswith("*70 turns in 10 conversations · missing turns score 0")


@pytest.mark.parametrize("more", ["", "--format csv", "--format markdown --table turns"])
def test_show_lists_the_turns_of_a_bin_as_turns_does(more: str, in_demo: Command) -> None:
    asked = f"--metric ndcg_cut_3 --threshold 0.5 {more}"
    shown = in_demo(f"breakdown --show 100 {asked}").out
    assert shown == in_demo(f"turns --where bin:100 {asked}").out
    assert "2_6" in shown.replace("\\_", "_")


def test_the_turns_of_a_bin_are_those_of_the_table(in_demo: Command, tmp_path: Path) -> None:
    two = "--qr B=runs/plain_qr.trec --format json"
    rows = read(in_demo(f"breakdown {two}").out)["tables"]["turns"]
    for bin_ in ("000", "001", "110", "111"):
        wanted = {
            row["turn"]
            for row in rows
            if (row["metric"], row["threshold"], row["bin"]) == ("ndcg_cut_3", ">=0.5", bin_)
        }
        told = read(in_demo(f"breakdown --show {bin_} {two}").out)
        assert {row["turn"] for row in told["tables"]["records"]} == wanted != set()
        own = told["tables"]["records"][0]["record"]["systems"]
        assert bin_ in (own[name]["bin"]["ndcg_cut_3>=0.5"] for name in ("qr", "B"))
    slices = tmp_path / "slices.tsv"
    slices.write_text("turn\tlong\n1_1\tyes\n")
    told = read(in_demo(f"breakdown --show 111 --slices {slices} --format json").out)
    first = told["tables"]["records"][0]
    assert (first["turn"], first["record"]["slices"]["long"]) == ("1_1", "yes")


def test_bins_without_original(in_demo: Command) -> None:
    line = "breakdown --config /dev/null --qrels qrels.txt --qr runs/stem_qr.trec --human runs/stem_human.trec"
    assert 'turns selected by bin:"-01"' in in_demo(f"{line} --show=-01").out
    error = in_demo(f"{line} --show 001", code=2).err
    assert "there is no bin '001'; write Original, QR, Human as 0 or 1: -00, -10" in error


def test_missing_drop_leaves_out_the_turn_that_one_run_lacks(in_demo: Command) -> None:
    zero = read(in_demo("breakdown --original runs/stem_raw_2.trec --format json").out)
    drop = read(
        in_demo("breakdown --original runs/stem_raw_2.trec --missing drop --format json").out
    )
    assert (zero["policy"]["turns"], zero["policy"]["missing_turns"]) == (70, 1)
    assert (drop["policy"]["turns"], drop["policy"]["missing_turns"]) == (69, 1)
    assert zero["notes"] == drop["notes"] == ["Original misses 1 turn: 4_4"]
    turns = {
        row["turn"]: row["original"]
        for row in zero["tables"]["turns"]
        if row["metric"] == "ndcg_cut_3"
    }
    assert turns["4_4"] == 0
    assert {row["turn"] for row in drop["tables"]["turns"]} == turns.keys() - {"4_4"}


def test_components_name_the_ranker(in_copy: Command) -> None:
    """Only if they name one ranker for all runs; file names are no evidence."""
    config = Path("robustcs.toml")
    cells = {"raw/stem": "original", "t5/stem": "qr", "human/stem": "human"}
    before = config.read_text() + "\n[components]\n"
    config.write_text(
        before + "".join(f'"{cell}" = "runs/stem_{role}.trec"\n' for cell, role in cells.items())
    )
    assert read(in_copy("breakdown --format json").out)["policy"]["ranker"] == "stem"
    assert (
        "ranker"
        not in read(in_copy("breakdown --qr runs/plain_qr.trec --format json").out)["policy"]
    )


def test_order_and_depth_change_what_is_evaluated(in_copy: Command, tmp_path: Path) -> None:
    runs = tmp_path / "demo" / "runs"
    lines = (runs / "stem_qr.trec").read_text().splitlines()
    turned = []
    for line in lines:
        turn, q0, document, rank, score, tag = line.split()
        turned.append(f"{turn} {q0} {document} {rank} {-float(score)} {tag}\n")
    (runs / "turned.trec").write_text("".join(turned))
    by_score = read(in_copy("breakdown --format json --metric ndcg_cut_3").out)
    by_rank = read(
        in_copy(
            "breakdown --qr runs/turned.trec --order rank --format json --metric ndcg_cut_3"
        ).out
    )
    assert by_rank["tables"] == by_score["tables"]
    assert by_rank["policy"]["line"].endswith(
        "order by the rank column · relevant ≥ 2 (binary measures)"
    )
    turned_scores = read(
        in_copy("breakdown --qr runs/turned.trec --format json --metric ndcg_cut_3").out
    )
    assert turned_scores["tables"]["bins"] != by_score["tables"]["bins"]
    shallow = read(in_copy("breakdown --depth 1 --metric recall_1000 --format json").out)
    assert "top 1 only" in shallow["policy"]["line"]
    deep = read(in_copy("breakdown --metric recall_1000 --format json").out)
    assert sum(row["human"] for row in shallow["tables"]["turns"]) < sum(
        row["human"] for row in deep["tables"]["turns"]
    )


def test_several_rewriters_stand_side_by_side(in_demo: Command) -> None:
    command = (
        "breakdown --config /dev/null --qrels qrels.txt --relevance-level 2 --original runs/stem_original.trec"
        " --qr A=runs/stem_qr.trec --qr B=runs/plain_qr.trec --human runs/stem_human.trec"
        " --rewrites original=topics.json:raw --rewrites qr:A=topics.json --rewrites human=topics.json"
    )
    result = read(in_demo(f"{command} --format json").out)
    assert list(dict.fromkeys(row["rewriter"] for row in result["tables"]["bins"])) == ["A", "B"]
    alone = read(in_demo("breakdown --format json").out)
    for name, rows in result["tables"].items():
        if name in (
            "rewriters",
            "overview",
            "rewriter_tests",
            "rewriter_scores",
            "repairs",
            "best_of",
        ):
            continue
        # more rewriters make more comparisons
        family = dict.fromkeys(("p_corrected", "comparisons"))
        first = [{**row, "rewriter": "qr"} | family for row in rows if row["rewriter"] == "A"]
        assert first == [row | family for row in alone["tables"][name]]
    together = in_demo(command).out
    assert (
        "Turns that each system answers" in together and "What causes the errors?" not in together
    )


ASKED = "breakdown --qr plain=runs/plain_qr.trec --table attribution --table blame --table overview --format"


def test_tables_of_several_rewriters_have_a_view_where_they_are_asked_for(in_demo: Command) -> None:
    """Heads, captions and whole counts in every form, never the columns of the JSON as they are."""
    shown = in_demo(f"{ASKED} table").out
    assert (
        "What causes the errors?" in shown
        and "Does the ranker or the rewriter fail more often?" in shown
    )
    markdown = in_demo(f"{ASKED} markdown").out
    cells = ["P@1 = 1", "plain", "18", "26% (18–36%)", "31", "44% (31–59%)", "21", "30% (19–43%)"]
    assert cells in [
        [cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines()
    ]
    assert "p adj." in shown and "p adj.: max-T over 8 comparisons" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    latex = in_demo(f"{ASKED} latex").out
    assert r"\caption{What causes the errors?}" in latex and r"\caption{attribution}" not in latex
    markdown = in_demo(f"{ASKED} markdown").out
    assert "| P@1 = 1 | plain | 18 | 31 | 17.5 |" in markdown
    for text in (shown, latex, markdown):
        assert "ndcg" not in text and "143.0000" not in text and "ci_low" not in text
    every = in_demo("breakdown --qr plain=runs/plain_qr.trec").out
    assert "What causes the errors?" not in every


def test_per_turn_scores_give_what_the_runs_give(in_copy: Command, tmp_path: Path) -> None:
    from_runs = read(in_copy("breakdown --format json").out)
    for role in ("original", "qr", "human"):
        lines = [
            f"{row['metric']}\t{row['turn']}\t{row[role]!r}\n"
            for row in reversed(from_runs["tables"]["turns"])
            if row["threshold"] == "=1"
        ]
        (tmp_path / "demo" / f"{role}.eval").write_text("".join([*lines, "ndcg_cut_3\tall\t0.5\n"]))
    scored = read(
        in_copy(
            "breakdown --scores original=original.eval --scores qr=qr.eval --scores human=human.eval --format json"
        ).out
    )
    assert scored["policy"]["basis"] == "scores"
    assert scored["policy"]["line"] == (
        "70 turns in 10 conversations · missing turns score 0 (0) · scores as given, their own relevance level and order"
    )
    for name, rows in from_runs[
        "tables"
    ].items():  # the scores were rounded to 12 digits, so the last digits differ
        for found, expected in zip(scored["tables"][name], rows, strict=True):
            assert found == pytest.approx(expected, abs=1e-9, nan_ok=True), name


def test_a_run_beside_per_turn_scores(in_copy: Command, tmp_path: Path) -> None:
    """Human as per-turn scores, the others as runs: the same bins, and the policy line says whose scores stand as given."""
    options = "--format json --metric P_1 --metric ndcg_cut_3"
    from_runs = json.loads(in_copy(f"breakdown {options}").out)
    scores = tmp_path / "demo" / "human.eval"
    turns = {(row["metric"], row["turn"]): row["human"] for row in from_runs["tables"]["turns"]}
    lines = [f"{metric}\t{turn}\t{value!r}\n" for (metric, turn), value in turns.items()]
    scores.write_text("".join([*reversed(lines), "P_1\t999_1\t1\n", "ndcg_cut_3\t999_1\t1\n"]))
    mixed = json.loads(in_copy(f"breakdown {options} --scores human=human.eval").out)
    assert mixed["tables"]["bins"] == from_runs["tables"]["bins"]
    assert (mixed["policy"]["basis"], mixed["policy"]["as_given"]) == ("runs", ["human"])
    assert "human: scores as given, their own relevance level and order" in mixed["policy"]["line"]
    assert "1 turn of the scores of human has no judgments and is excluded" in mixed["notes"]
    scores.write_text("P_1\t999_1\t1\n")
    assert (
        "none of its turns is in the qrels"
        in in_copy("breakdown --metric P_1 --scores human=human.eval", code=3).err
    )


def test_answers_of_reading_comprehension(in_demo: Command) -> None:
    result = read(in_demo("breakdown --metric f1 --metric em --format json").out)
    assert result["policy"]["basis"] == "answers"
    assert counts(result, "f1", ">=0.5") == [36, 1, 1, 1, 10, 1, 4, 16]
    # an exact match is an F1 of 1
    assert counts(result, "em", "=1") == counts(result, "f1", "=1") == [58, 0, 0, 0, 2, 1, 2, 7]
    assert result["policy"]["line"] == (
        "70 turns in 10 conversations · missing turns score 0 (0) · best gold answer counts · SQuAD normalisation"
    )
    assert [entry["role"] for entry in result["inputs"][:4]] == [
        "original answers", "qr answers", "human answers", "gold answers"
    ]  # fmt: skip


def test_options_win_over_the_project_file(in_demo: Command) -> None:
    result = read(
        in_demo(
            "breakdown --relevance-level 1 --metric P_3 --threshold 0 --threshold 1 --qr runs/plain_qr.trec"
            " --qrels grades.txt --seed 7 --jobs 2 --format json"
        ).out
    )
    assert result["policy"]["relevance_level"] == 1
    assert [(entry["role"], entry["path"]) for entry in result["inputs"][:4]] == [
        ("qrels", "grades.txt"), ("original", "runs/stem_original.trec"), ("qr", "runs/plain_qr.trec"),
        ("human", "runs/stem_human.trec"),
    ]  # fmt: skip
    assert list(dict.fromkeys((row["metric"], row["threshold"]) for row in result["tables"]["bins"])) == [
        ("P_3", ">0"), ("P_3", ">=1")
    ]  # fmt: skip


def test_neither_seed_nor_jobs_change_what_is_tried_in_full(in_demo: Command) -> None:
    first = in_demo("breakdown --table tests --format csv").out
    assert in_demo("breakdown --table tests --format csv --jobs 3 --seed 1").out == first


def test_the_unit_is_an_option_and_a_key_of_the_project_file(
    in_copy: Command, tmp_path: Path
) -> None:
    whole, single = (
        read(in_copy(f"breakdown --unit {unit} --format json").out)
        for unit in ("conversation", "turn")
    )
    assert (whole["policy"]["unit"], whole["policy"]["units"]) == ("conversation", 10)
    assert (single["policy"]["unit"], single["policy"]["units"]) == ("turn", 70)
    for name in ("attribution", "blame", "answerable", "tests", "headroom"):
        limits = [
            [(row["ci_low"], row["ci_high"]) for row in result["tables"][name]]
            for result in (whole, single)
        ]
        assert limits[0] != limits[1]
    config = tmp_path / "demo" / "robustcs.toml"
    config.write_text(config.read_text().replace("[policy]", '[policy]\nunit = "turn"'))
    assert read(in_copy("breakdown --format json").out)["tables"] == single["tables"]


def test_who_fails_more_often_is_tested_and_the_gain_stands_beside_its_chance_level(
    in_demo: Command,
) -> None:
    shown = " ".join(in_demo("breakdown --metric ndcg_cut_3 --threshold 0").out.split())
    assert "NDCG@3 > 0 3 14 7.5 −15.7 (−29 to −5) 0.016 0.016" in shown
    assert "p adj.: max-T over 1 comparison (all rewriters, measures and thresholds)." in shown
    assert "NDCG@3 > 0 0.591 0.792 +0.201 0.153 (0.095 to 0.237) 0.079" in shown
    assert "NDCG@3, any 0.591 0.792 +0.201 0.235 (0.171 to 0.313) 0.134" in shown


def test_the_note_says_where_units_are_too_few(in_copy: Command, tmp_path: Path) -> None:
    qrels = tmp_path / "demo" / "qrels.txt"
    qrels.write_text(
        "".join(
            line
            for line in qrels.read_text().splitlines(True)
            if line.split()[0] in ("1_1", "2_1", "3_1")
        )
    )
    shown = " ".join(in_copy("breakdown --metric P_1 --table attribution").out.split())
    assert "No interval: only 3 turns (at least 5 required)" in shown and "% to " not in shown


def test_any_measure_of_trec_eval(in_demo: Command) -> None:
    result = read(in_demo("breakdown --metric set_F --metric nDCG@3 --format json").out)
    assert list(dict.fromkeys(row["metric"] for row in result["tables"]["bins"])) == [
        "set_F",
        "ndcg_cut_3",
    ]


def test_a_rewriter_with_the_run_of_human_is_noted(in_demo: Command) -> None:
    same = in_demo("breakdown --human runs/stem_qr.trec --table attribution").out
    assert (
        "Note: QR and Human have the same scores on every turn; check that their files differ"
        in " ".join(same.split())
    )
    assert "the same scores" not in in_demo("breakdown --table attribution").out


def test_captions_name_a_formulation_that_answers_few_turns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = [f"{1 + place // 4}_{1 + place % 4}" for place in range(24)]
    (tmp_path / "q.txt").write_text("".join(f"{turn} 0 p{turn} 1\n" for turn in turns))
    for role in ("original", "qr", "human"):
        own = turns[:1] if role == "human" else turns
        (tmp_path / role).write_text(
            "".join(f"{turn} Q0 {'x' if turn == turns[3] else 'p'}{turn} 1 1 r\n" for turn in own)
        )
    files = [
        part for role in ("original", "qr", "human") for part in (f"--{role}", str(tmp_path / role))
    ]
    assert (
        run(["breakdown", "--config", "/dev/null", "--qrels", str(tmp_path / "q.txt"), *files]) == 0
    )
    out = " ".join(capsys.readouterr().out.split())
    told = "Unanswered turns count as incorrect for Human, which answers 1 of 24 turns."
    assert out.startswith(f"Figure: {told}") and f"{told} What causes the errors?" in out
    assert f"{told} Does the ranker or the rewriter fail more often?" in out
