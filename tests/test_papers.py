"""docs/papers.md says what the commands give: every figure is computed here; every figure of the specification has a test."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import shlex
from pathlib import Path

import pytest

from robustcs.cli.main import run
from tests.conftest import ROOT
from tests.papers import COMMANDS, PAPERS, RECOMPUTED, Paper, Row, Tables, page

ROWS = [*(row for paper in PAPERS for row in paper.rows), *RECOMPUTED]

#: Lines of the specification with figures, by words that no other such line has: figures of the line, and the test that
#: compares them. All that carry a mark [P], [A] or [R] are here.
SPECIFICATION = {
    "**The judgments must fit.**": (
        ("0.0855", "0.011", "85"), "tests/studies/compare/test_fit.py::test_other_systems_still_fail",
    ),
    "**Who was asked.**": (
        (), "tests/studies/robustness/test_asked.py::test_only_the_turns_of_the_set_are_compared",
    ),
    "**Missing scores are missing data.**": (
        (), "tests/evaluation/test_missing_scores.py::test_a_judge_that_fails_on_bad_answers_makes_no_system_better",
    ),
    "On the demo, Holm separates 0 of 66 pairs and max-T 19": (
        ("66", "19"), "tests/studies/evaluate/test_command.py::test_max_t_finds_in_ten_conversations_what_holm_cannot",
    ),
    "Coverage must be at least 90% for K = 8, 20, 50": (
        (), "tests/test_coverage.py::test_samples_are_covered_with_an_effect_of_the_seed",
    ),
    "The hole model learns from judged passages and is wrong where passages were selected": (
        (), "tests/studies/unjudged/test_findings.py::test_selected_judgments_leave_no_verdict_of_the_model",
    ),
    "CAsT: 173 of 479 in 2019, 208 of 216 in 2020": (
        ("173", "208"), "tests/inputs/test_qrels.py::test_real_judgments_equal_a_plain_reading",
    ),
    "9 such turns in CAsT 2020 at level 2": (("9",), "tests/inputs/test_qrels.py::test_turns_without_anything_relevant"),
    "From these counts follow Table 4's shares": (
        ("0.92", "0.82", "0.80", "0.91", "0.79", "0.77"),
        "tests/studies/breakdown/test_analysis.py::test_table_4_follows_from_table_2",
    ),
    "836 manual and 964 raw are in ECAsT today": (
        ("836", "964"), "tests/studies/testsets/test_analysis.py::test_near_duplicates_of_ecast",
    ),
    "still gives 0.06 with cv and 0.05": (
        ("0.06", "0.05"), "tests/studies/breakdown/test_analysis.py::test_swapping_qr_and_human_at_random_still_gains",
    ),
    "NDCG@10, 40 runs": (
        ("0.889602", "0.445831", "0.569627", "0.672365", "0.839900"),
        "tests/studies/audit/test_command.py::test_different_topics",
    ),
    "`r = .772` on Human ✓": (
        ("0.772",), "tests/studies/correlate/test_command.py::test_published_correlations_and_outliers",
    ),
    "Transformer++ rewriter, BERT re-ranker, 173 turns": (("173",), "tests/cli/test_published.py::test_table_1"),
    "for 53 turns in total": (("53",), "tests/cli/test_published.py::test_table_1"),
    "that the Original question answers alone": (
        ("0.45", "0.55", "0.38", "0.21"), "tests/cli/test_published.py::test_shares_that_the_original_answers_alone",
    ),
    "The same on real runs plus qrels": ((), "tests/cli/test_published.py::test_runs_and_qrels"),
    "Table 2 of the paper": (("5571",), "tests/studies/breakdown/test_analysis.py::test_table_4_follows_from_table_2"),
    "ROUGE-1 F, stemmed, 479 turns": (
        ("0.7506224569", "0.7565"), "tests/studies/correlate/test_command.py::test_published_correlations_and_outliers",
    ),
    "0.760 on the 173 judged": (
        ("0.760",), "tests/studies/correlate/test_command.py::test_published_correlations_and_outliers",
    ),
    "Outlier corners": (
        ("45_5", "50_3", "50_4", "55_5", "55_6", "70_8", "72_7", "76_4"),
        "tests/studies/correlate/test_command.py::test_published_correlations_and_outliers",
    ),
    "different questions, same answers": (
        ("32_6", "44_6", "62_6"), "tests/studies/correlate/test_command.py::test_published_correlations_and_outliers",
    ),
    "9,214 paraphrases, 131 topics": (
        ("9214", "131", "1203", "7.6592"), "tests/studies/testsets/test_command.py::test_ecast_in_json",
    ),
    "Table 12, qrels statistics": (
        ("33781", "2697", "1834", "1408", "731", "40451"),
        "tests/studies/unjudged/test_command.py::test_unjudged_passages_of_the_top_3",
    ),
    "Real runs, k = 3": (
        ("132", "61", "39", "519", "238", "36", "17", "621"),
        "tests/studies/unjudged/test_command.py::test_unjudged_passages_of_the_top_3",
    ),
    "BLEU (Tables 9, 10)": (("44.72",), "tests/similarity/test_bleu.py::test_cast_2020_manual_against_raw_turns"),
    "data/clariq/dev_bm25": (
        ("0.324557", "0.563804", "0.667500", "0.691282"), "tests/studies/clariq/test_command.py::test_published_figures",
    ),
    "mean over 160 facets": (
        ("0.2578", "0.2470", "0.3688", "0.4541", "0.1608", "0.1530", "0.2313", "0.3096", "0.1450", "0.1475", "0.2062",
         "0.3000", "0.0252", "0.0314", "0.0125", "0.0841"),
        "tests/studies/clariq/test_command.py::test_published_figures",
    ),
    "topics 1+2, 110 texts": (
        ("110", "0.1795", "0.3465", "0.5322", "0.7317", "0.2538", "0.5418"),
        "tests/studies/agreement/test_analysis.py::test_tables_2_and_3_of_the_snippets_paper",
    ),
    "question_relevance_all.qrel": (
        ("0.3268", "0.4098", "0.2456"), "tests/studies/crowd/test_command.py::test_published_runs",
    ),
    "intervals of means over 20–25 conversations cover": (
        ("1.1", "2.7", "0.21"), "tests/statistics/test_units.py::test_turns_of_a_conversation_depend_on_each_other",
    ),
    "held the truth in 6–56 %": ((), "tests/evaluation/test_hole_model.py::test_hidden_judgments_of_cast_are_covered"),
    "Proving figures": (
        ("4423", "0.286272", "0.398530", "0.7232", "0.277434", "0.427999", "1.0304", "0.262472", "0.365683", "0.7519",
         "0.182944", "0.269702", "2.2321", "0.077933", "0.030792", "0.0759"),
        "tests/studies/audit/test_command.py::test_published_figures",
    ),
    "of 479 turns, 48 % have samples that differ": (("479", "0.48"), "tests/inputs/test_today.py::test_samples_of_llm4cs"),
    "CAsT-snippets: the sentence task": (
        (".41", ".43", ".44"), "tests/studies/agreement/test_cut.py::test_spec_14_the_sentence_task_against_experts",
    ),
    "CAsT 2021 passage runs, NDCG@3": (
        (".3611", ".5482", ".4069"),
        "tests/studies/evaluate/test_command.py::test_cast_2021_passages_by_the_best_of_each_document",
    ),
    "ECAsT stages": (("44.92", "55.13"), "tests/studies/paraphrase/test_stages.py::test_cast_2021_without_feedback"),
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_figure_is_what_the_command_gives(
    shared_data: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared_data)
    rows = [row for row in ROWS if row.command == command]
    assert rows, "no figure needs this command"
    tables = answered(COMMANDS[command])
    found = {(row.place, row.what): row.find(tables) for row in rows if row.find}
    assert found == {(row.place, row.what): row.expected for row in rows}


def answered(command: str) -> Tables:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run([*shlex.split(command), "--format", "json"]) == 0
    tables: Tables = json.loads(out.getvalue())["tables"]
    return tables


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.place}: {row.what}")
def test_what_differs_or_is_not_there_has_its_reason(row: Row) -> None:
    assert bool(row.find) == bool(row.command) and (not row.command or row.command in COMMANDS)
    if row.find:
        assert row.expected and row.ours != row.published, (
            "leave ours empty where it is as published"
        )
        assert bool(row.ours) == bool(row.why), (
            "a reason stands where the two differ, and only there"
        )
    else:
        assert row.why and not row.ours


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.file)
def test_every_table_and_figure_of_a_paper_is_listed(shared_data: Path, paper: Paper) -> None:
    path = shared_data.parent / "papers" / paper.file
    if not path.is_file():
        pytest.skip(f"the paper is not beside the public data ({paper.file})")
    named = re.findall(r"\b(Table|Figure) (\d+)", path.read_text("utf-8"))
    listed = re.findall(r"(Table|Figure)s? ([\d, ]+)", " · ".join(row.place for row in paper.rows))
    assert {
        (kind, number) for kind, numbers in listed for number in re.findall(r"\d+", numbers)
    } == set(named)


def test_the_page_is_written_from_these_rows() -> None:
    assert (ROOT / "docs" / "papers.md").read_text("utf-8") == page(), "run python docs/update.py"


@pytest.mark.parametrize("row", SPECIFICATION)
def test_a_test_names_the_figures_of_the_specification(row: str) -> None:
    figures, node = SPECIFICATION[row]
    path, _, name = node.partition("::")
    source = (ROOT / path).read_text("utf-8")
    assert name in {
        part.name for part in ast.walk(ast.parse(source)) if isinstance(part, ast.FunctionDef)
    }
    numbers = set(re.findall(r"\.?\d(?:[\d._]*\d)?", re.sub(r"(?<=\d)[_,](?=\d{3}\b)", "", source)))
    assert {figure for figure in figures if figure not in numbers} == set()


#: Sections without rows: their figures belong to commands that do not exist yet, or need data that are not public.
TO_COME = (
    "## 17.",
    "## 18.",
    "## 19.",
    "## 20.",
    "## 21.",
    "## 22.",
    "## 23.",
    "## 24.",
    "## 26.",
    "## 27.",
    "## 28.",
)


def test_no_figure_of_the_specification_is_left_out(shared_data: Path) -> None:
    path = shared_data.parent / "SPEC.md"
    if not path.is_file():
        pytest.skip("the specification is not beside the public data")
    text = path.read_text("utf-8").split("\n## 0.")[1]
    sections = re.split(
        r"(?m)^(?=## )", text.split("\n# Third part")[0] + "\n## 15." + text.split("\n## 15.")[-1]
    )
    known = [
        line
        for section in sections
        if not section.startswith(TO_COME)
        for line in section.splitlines()
    ]
    lines = [line for line in known if re.search(r"\[[^\]]*\b[PAR]\b[^\]]*\]", line)]
    assert len(lines) > 20
    assert [words for words in SPECIFICATION if words not in text] == []
    for line in lines:
        assert [words for words in SPECIFICATION if words in line], line
