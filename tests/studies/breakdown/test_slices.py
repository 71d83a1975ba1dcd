"""Where a rewriter fails, and what its errors cost."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import robustcs
from robustcs.documents.document import TableBlock
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.similarity.differences import text_difference
from robustcs.studies.breakdown.questions import QUESTIONS
from robustcs.studies.breakdown.show_rewriters import slice_findings
from tests.conftest import Command


@pytest.fixture(scope="module")
def result(demo: Path) -> robustcs.result.Result:  # type: ignore[name-defined]
    return robustcs.breakdown(
        demo / "robustcs.toml",
        metrics="ndcg_cut_3",
        thresholds=">=0.5",
        slices=["depth", "texts"],
        find_slices=True,
    )


def test_causes_of_every_slicing_add_up(result) -> None:  # type: ignore[no-untyped-def]
    causes = result.attribution.set_index("cause")["count"]
    depths = result.slices[result.slices["slicing"] == "depth"]
    assert depths.groupby("cause")["count"].sum().to_dict() == causes.to_dict()
    assert (depths.groupby("slice")["share"].sum().round(9) == 1).all() and set(
        depths["turns"]
    ) == {10}
    for row in depths.itertuples():
        assert row.share == pytest.approx(
            row.count / row.turns
        ) and row.difference == pytest.approx(row.share - row.rest)
        assert (
            row.ci_low <= row.share <= row.ci_high
            and -1 <= row.difference_low <= row.difference <= row.difference_high <= 1
        )


def test_costs_are_those_of_the_turns(result) -> None:  # type: ignore[no-untyped-def]
    turns = result.turns
    types = [text_difference(row.qr_text, row.human_text).types for row in turns.itertuples()]
    errors = (turns["cause"] == "qr").sum()
    for row in result.error_types.itertuples():
        own = turns[[row.type in some for some in types]]
        loss = (own["human"] - own["qr"]).mean()
        assert (
            row.turns == len(own)
            and row.share == pytest.approx(len(own) / 70)
            and row.loss == pytest.approx(loss, abs=1e-12)
        )
        assert row.errors == (own["cause"] == "qr").sum() and row.of_errors == pytest.approx(
            row.errors / errors
        )
        assert pd.isna(row.error_low) == (row.units < 5)
        assert pd.isna(row.loss_low) or row.loss_low <= row.loss <= row.loss_high
    assert set(result.error_types["type"]) == {kind for some in types for kind in some}


def test_a_rewrite_that_is_missing_is_unknown(in_copy: Command, tmp_path: Path) -> None:
    (tmp_path / "demo" / "some.tsv").write_text("turn\tquery\n1_1\tWhat?\n")
    config = tmp_path / "demo" / "robustcs.toml"
    config.write_text(config.read_text().replace('"topics.json:automatic"', '"some.tsv"'))
    rows = json.loads(in_copy("breakdown --format json").out)["tables"]["error_types"]
    assert {row["turns"] for row in rows if row["type"] == "unknown"} == {69}


def test_errors_without_a_text_are_no_difference_from_human(demo: Path, tmp_path: Path) -> None:
    texts = json.loads((demo / "topics.json").read_text())
    every = [f"{topic['number']}_{turn['number']}" for topic in texts for turn in topic["turn"]]
    (tmp_path / "some.tsv").write_text(
        "turn\tquery\n" + "".join(f"{turn}\tWhat is it?\n" for turn in every[60:])
    )
    project = robustcs.open_project(
        qrels=demo / "qrels.txt", qr=demo / "runs/stem_qr.trec", human=demo / "runs/stem_human.trec", relevance_level=2,
        rewrites={"qr": tmp_path / "some.tsv", "human": f"{demo / 'topics.json'}:manual"}, metrics="ndcg_cut_3",
    )  # fmt: skip
    result = robustcs.breakdown(project, thresholds=">=0.5")
    types = result.error_types.set_index("type")
    assert types.loc["unknown", "turns"] == 60 and types["errors"].idxmax() == "unknown"
    (known,) = slice_findings(result)
    assert f"differ from Human by “{types['errors'].drop('unknown').idxmax()}”" in known


def test_several_rewriters_in_one_table_and_figure(in_demo: Command, tmp_path: Path) -> None:
    line = (
        "breakdown --config /dev/null --qrels qrels.txt --relevance-level 2 --human runs/stem_human.trec"
        " --rewrites human=topics.json:manual --qr a=runs/stem_qr.trec --qr b=runs/plain_qr.trec"
        " --rewrites qr:a=topics.json:automatic --rewrites qr:b=topics.json:raw --metric ndcg_cut_3"
        " --slices first --find-slices"
    )
    shown = " ".join(
        in_demo(f"{line} --table error_types --table slices --table found_slices").out.split()
    )
    assert shown.count("What differs in the rewrites, and what does it cost?") == 1
    assert "a: rewriter errors by slice" in shown and "b: rewriter errors by slice" not in shown
    assert "On which turns does a rewriter lose the most NDCG@3?" in shown
    rows = json.loads(in_demo(f"{line} --format json").out)["tables"]["error_types"]
    lost = {
        row["rewriter"]: row["turns"]
        for row in rows
        if row["type"] == "pronoun left" and row["threshold"] == ">=0.5"
    }
    assert lost["b"] > lost["a"]  # the raw text keeps them all


def test_slices_of_one_of_many_rewriters_say_which_it_is(in_demo: Command) -> None:
    line = (
        "breakdown --config /dev/null --qrels qrels.txt --relevance-level 2 --human runs/stem_human.trec --metric ndcg_cut_3"
        " --qr plain=runs/plain_qr.trec --qr stem=runs/stem_qr.trec --qr again=runs/plain_qr.trec --slices depth"
    )
    shown = " ".join(in_demo(f"{line} --table slices").out.split())
    assert "stem: rewriter errors by slice" in shown and "plain: rewriter errors" not in shown
    assert "Shown: the rewriter with the highest mean NDCG@3." in shown


def test_the_report_says_what_costs_most_and_where(demo: Path) -> None:
    project = read_project(demo / "robustcs.toml")
    opening, answers = (
        question.content(Workspace(question.inputs(project))) for question in QUESTIONS
    )
    cost = next(
        sentence
        for sentence in opening.findings
        if "occur in rewrites that differ from Human by" in sentence
    )
    assert cost.startswith("94% of the rewriter errors (correct if NDCG@3 ≥ 0.5) occur")
    assert (
        "17 errors on 43 such turns. On these turns, the mean loss to Human is 0.303 NDCG@3 (95% CI 0.177 to 0.462)."
        in cost
    )
    assert {"error_types", "slices", "found_slices"} <= {
        block.of for block in opening.blocks if isinstance(block, TableBlock)
    }
    assert answers.findings[-1].startswith(
        "The rewriter loses the most F1 on turns with depth ≤ 4 and shift = stays: "
    )


def test_few_conversations_have_a_report_without_a_search(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(
        "".join(f"{topic}_{turn} 0 d 1\n" for topic in range(6) for turn in (1, 2))
    )
    for name in ("qr", "human"):
        lines = [
            f"{topic}_{turn} Q0 {'d' if name == 'human' else 'e'} 1 1 x\n"
            for topic in range(6)
            for turn in (1, 2)
        ]
        (tmp_path / name).write_text("".join(lines))
    (tmp_path / "qr").write_text((tmp_path / "qr").read_text() + "0_1 Q0 d 2 0.5 x\n")
    project = robustcs.open_project(
        qrels=tmp_path / "qrels", qr=tmp_path / "qr", human=tmp_path / "human"
    )
    result = QUESTIONS[0].content(Workspace(QUESTIONS[0].inputs(project))).result
    assert len(result.tables["slices"]) and not len(result.tables["found_slices"])
