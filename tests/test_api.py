"""The analyses as functions."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.errors import InputError, UsageError
from tests.documents.hostile_project import write_hostile_project


@pytest.fixture
def empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def config(demo: Path) -> Path:
    return demo / "robustcs.toml"


def test_functions_give_what_the_commands_give(config: Path, tmp_path: Path) -> None:
    results = {
        "breakdown": robustcs.breakdown(config, metrics="ndcg_cut_3", thresholds=[0.5]),
        "unjudged": robustcs.unjudged(config, metrics="ndcg_cut_3"),
        "sweep": robustcs.sweep(config, metrics=("ndcg_cut_3",)),
    }
    for name, result in results.items():
        extra = ["--threshold", "0.5"] if name == "breakdown" else []
        target = tmp_path / f"{name}.csv"
        assert run([name, "--config", str(config), "--metric", "ndcg_cut_3", *extra, "--output", str(target)]) == 0
        main = next(iter(result.tables.values()))
        pd.testing.assert_frame_equal(pd.read_csv(target), main, check_dtype=False, check_index_type=False)


def test_inputs_by_keyword_need_no_project_file(demo: Path, config: Path, empty_folder: Path) -> None:
    runs = {role: demo / f"runs/stem_{role}.trec" for role in ("original", "qr", "human")}
    rewrites = {role: f"{demo}/topics.json:{column}"
                for role, column in (("original", "raw"), ("qr", "automatic"), ("human", "manual"))}  # fmt: skip
    result = robustcs.breakdown(qrels=demo / "qrels.txt", relevance_level=2, rewrites=rewrites, **runs)
    pd.testing.assert_frame_equal(result.bins, robustcs.breakdown(config).bins)
    two = robustcs.breakdown(
        qrels=demo / "qrels.txt", original=runs["original"], human=runs["human"],
        qr={"a": runs["qr"], "b": demo / "runs/plain_qr.trec"},
    )  # fmt: skip
    assert list(dict.fromkeys(two.bins["rewriter"])) == ["a", "b"]
    groups = {"manual": ("base", ["one"])}
    more = {"base": runs["human"], "one": demo / "runs/stem_manual_1.trec"}
    assert len(robustcs.robustness(qrels=demo / "qrels.txt", runs=more, groups=groups, metrics="P_1").measures) == 1


class Elements(HTMLParser):
    """Names of the elements, and that every one is closed."""

    def __init__(self, text: str):
        super().__init__()
        self.names: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


OTHERS = ("diversity", "clariq", "agreement", "crowd")


@pytest.mark.parametrize("name", ["breakdown", "sweep", "correlate", "unjudged", "augment", "robustness", *OTHERS])
def test_every_result_shows_itself_in_a_notebook(name: str, config: Path) -> None:
    result = getattr(robustcs, name)(config, **({} if name in OTHERS else {"metrics": "ndcg_cut_3"}))
    html = result._repr_html_()
    names = Elements(html).names
    assert "table" in names and not {"script", "style", "link", "iframe"} & set(names)
    assert result.evaluated.policy_line in html.replace("&gt;", ">")


def test_files_of_other_studies_by_keyword(demo: Path, config: Path, empty_folder: Path) -> None:
    snippets = robustcs.agreement(snippets=demo / "annotations/workers.jsonl", reference=[demo / "annotations/experts.jsonl"])
    pd.testing.assert_frame_equal(snippets.tables["reference"], robustcs.agreement(config).tables["reference"])
    strict = robustcs.agreement(
        config, ratings=demo / "annotations/ratings.csv", min_agreement=1.0, groups={"low": [1, 2], "high": [3, 4, 5]}
    )
    assert set(strict.tables["labels"]["group"]) >= {"low", "high"} and "items ≥ 100 %" in strict._repr_html_()
    runs = {name: demo / f"crowd/{name}.json" for name in ("ids", "texts")}
    judged = robustcs.crowd(
        grades=demo / "crowd/grades.csv", gold_checks=demo / "crowd/gold_checks.csv", bank=demo / "crowd/bank.json",
        subset=demo / "crowd/needs_a_question.txt", runs=runs,
    )  # fmt: skip
    pd.testing.assert_frame_equal(judged.measures, robustcs.crowd(config).measures)
    asked = robustcs.clariq(topics=demo / "clariq/topics.tsv", runs={"stem": demo / "clariq/questions_stem.trec"})
    assert set(asked.question_relevance["run"]) == {"stem"} and not len(asked.document_relevance)
    with pytest.raises(UsageError, match="^min_agreement 7; write a number from 0 to 1$"):
        robustcs.agreement(config, min_agreement=7)
    with pytest.raises(UsageError, match="^depth 0; write a whole number from 1$"):
        robustcs.crowd(config, depth=0)
    with pytest.raises(UsageError, match="^no input is named 'bunk'; "):
        robustcs.crowd(grades="x", bunk="y")


def test_hostile_texts_stay_texts_in_a_notebook(tmp_path: Path) -> None:
    project = write_hostile_project(tmp_path)
    analyses = (robustcs.breakdown, robustcs.unjudged, robustcs.correlate, robustcs.clariq, robustcs.agreement, robustcs.crowd)
    for result in (analyse(project) for analyse in analyses):
        assert not {"script", "style", "img"} & set(Elements(result._repr_html_()).names)


def test_importing_is_quick_and_dir_lists_the_functions() -> None:
    code = "import robustcs, sys; print('pandas' in sys.modules, 'numpy' in sys.modules, 'breakdown' in dir(robustcs))"
    root = Path(robustcs.__file__).parents[1]
    assert subprocess.check_output([sys.executable, "-c", code], text=True, cwd=root) == "False False True\n"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        robustcs.nothing  # noqa: B018


def test_what_users_get_wrong(config: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^no input is named 'qrel'; help\(robustcs\.open_project\) lists them$"):
        robustcs.breakdown(config, qrel="x")
    with pytest.raises(UsageError, match=r"^scope 'all'; write cutoff or run$"):
        robustcs.unjudged(config, scope="all")
    with pytest.raises(UsageError, match="^role 'mine'; "):
        robustcs.breakdown(config, scores={"mine": "x"})
    with pytest.raises(UsageError, match="^no groups of runs are given; "):
        robustcs.robustness(config, groups={})
    with pytest.raises(InputError):
        robustcs.breakdown(tmp_path / "absent.toml")


def test_the_report_of_python_is_that_of_the_command(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for role, score in (("original", 0.2), ("qr", 0.5), ("human", 1)):
        (tmp_path / f"{role}.eval").write_text(f"ndcg_cut_3\t1_1\t{score}\n")
    monkeypatch.chdir(tmp_path)
    scores = {role: f"{role}.eval" for role in ("original", "qr", "human")}
    page = robustcs.report(scores=scores, output="out", name="of Python")
    assert page == Path("out/report.html") and "of Python: a robustcs report" in page.read_text()
