"""The analyses as functions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import robustcs
from robustcs.cli.main import run
from robustcs.errors import InputError, UsageError
from robustcs.inputs.texts import read_texts
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
        assert (
            run(
                [
                    name,
                    "--config",
                    str(config),
                    "--metric",
                    "ndcg_cut_3",
                    *extra,
                    "--output",
                    str(target),
                ]
            )
            == 0
        )
        main = next(iter(result.tables.values()))
        pd.testing.assert_frame_equal(
            pd.read_csv(target), main, check_dtype=False, check_index_type=False
        )


def test_inputs_by_keyword_need_no_project_file(
    demo: Path, config: Path, empty_folder: Path
) -> None:
    runs = {role: demo / f"runs/stem_{role}.trec" for role in ("original", "qr", "human")}
    rewrites = {role: f"{demo}/topics.json:{column}"
                for role, column in (("original", "raw"), ("qr", "automatic"), ("human", "manual"))}  # fmt: skip
    result = robustcs.breakdown(
        qrels=demo / "qrels.txt", relevance_level=2, rewrites=rewrites, **runs
    )
    pd.testing.assert_frame_equal(result.bins, robustcs.breakdown(config).bins)
    two = robustcs.breakdown(
        qrels=demo / "qrels.txt", original=runs["original"], human=runs["human"],
        qr={"a": runs["qr"], "b": demo / "runs/plain_qr.trec"},
    )  # fmt: skip
    assert list(dict.fromkeys(two.bins["rewriter"])) == ["a", "b"]
    groups = {"manual": ("base", ["one"])}
    more = {"base": runs["human"], "one": demo / "runs/stem_manual_1.trec"}
    assert (
        len(
            robustcs.robustness(
                qrels=demo / "qrels.txt", runs=more, groups=groups, metrics="P_1"
            ).measures
        )
        == 1
    )


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


@pytest.mark.parametrize(
    "name", ["breakdown", "sweep", "correlate", "unjudged", "augment", "robustness", *OTHERS]
)
def test_every_result_shows_itself_in_a_notebook(name: str, config: Path) -> None:
    result = getattr(robustcs, name)(
        config, **({} if name in OTHERS else {"metrics": "ndcg_cut_3"})
    )
    html = result._repr_html_()
    names = Elements(html).names
    assert "table" in names and not {"script", "style", "link", "iframe"} & set(names)
    assert result.evaluated.policy_line in html.replace("&gt;", ">")


def test_files_of_other_studies_by_keyword(demo: Path, config: Path, empty_folder: Path) -> None:
    snippets = robustcs.agreement(
        snippets=demo / "annotations/workers.jsonl", reference=[demo / "annotations/experts.jsonl"]
    )
    pd.testing.assert_frame_equal(
        snippets.tables["reference"], robustcs.agreement(config).tables["reference"]
    )
    strict = robustcs.agreement(
        config,
        ratings=demo / "annotations/ratings.csv",
        min_agreement=1.0,
        groups={"low": [1, 2], "high": [3, 4, 5]},
    )
    assert (
        set(strict.tables["grouped"]["group"]) >= {"low", "high"}
        and "items ≥ 100%" in strict._repr_html_()
    )
    runs = {name: demo / f"crowd/{name}.json" for name in ("ids", "texts")}
    judged = robustcs.crowd(
        grades=demo / "crowd/grades.csv", gold_checks=demo / "crowd/gold_checks.csv", bank=demo / "crowd/bank.json",
        subset=demo / "crowd/needs_a_question.txt", runs=runs,
    )  # fmt: skip
    pd.testing.assert_frame_equal(judged.measures, robustcs.crowd(config).measures)
    asked = robustcs.clariq(
        topics=demo / "clariq/topics.tsv", runs={"stem": demo / "clariq/questions_stem.trec"}
    )
    assert set(asked.question_relevance["system"]) == {"stem"} and not len(asked.document_relevance)
    with pytest.raises(UsageError, match="^min_agreement is 7; write a number from 0 to 1$"):
        robustcs.agreement(config, min_agreement=7)
    with pytest.raises(UsageError, match="^depth is 0; write a whole number of at least 1$"):
        robustcs.crowd(config, depth=0)
    with pytest.raises(UsageError, match="^no input is named 'bunk'; "):
        robustcs.crowd(grades="x", bunk="y")


def test_hostile_texts_stay_texts_in_a_notebook(tmp_path: Path) -> None:
    project = write_hostile_project(tmp_path)
    analyses = (
        robustcs.breakdown,
        robustcs.unjudged,
        robustcs.correlate,
        robustcs.clariq,
        robustcs.agreement,
        robustcs.crowd,
    )
    for result in (analyse(project) for analyse in analyses):
        assert not {"script", "style", "img"} & set(Elements(result._repr_html_()).names)


def test_importing_is_quick_and_dir_lists_the_functions() -> None:
    loaded = "[name in sys.modules for name in ('pandas', 'numpy')]"
    code = f"import robustcs, sys; print({loaded}, [name in dir(robustcs) for name in ('breakdown', 'sys')])"
    root = Path(robustcs.__file__).parents[1]
    assert (
        subprocess.check_output([sys.executable, "-c", code], text=True, cwd=root)
        == "[False, False] [True, False]\n"
    )
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        robustcs.nothing  # noqa: B018


def test_what_users_get_wrong(config: Path, tmp_path: Path) -> None:
    meant = r"^no input is named 'qrel'; did you mean 'qrels'\? help\(robustcs\.open_project\) lists them$"
    with pytest.raises(UsageError, match=meant):
        robustcs.breakdown(config, qrel="x")
    with pytest.raises(UsageError, match=r"^scope is 'all'; choose cutoff, run or pool$"):
        robustcs.unjudged(config, scope="all")
    with pytest.raises(UsageError, match="^unknown role 'mine'; "):
        robustcs.breakdown(config, scores={"mine": "x"})
    with pytest.raises(UsageError, match="^no groups of runs are given; "):
        robustcs.robustness(config, groups={})
    with pytest.raises(
        UsageError, match=r"^no input is named 'zzz'; help\(robustcs\.open_project\) lists them$"
    ):
        robustcs.breakdown(config, zzz="x")
    with pytest.raises(InputError):
        robustcs.breakdown(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            {"qrels": 5},
            "qrels is an int; give a file, a frame or records with query_id, doc_id and relevance, or {turn: {docu",
        ),
        ({"qrels": None}, "qrels is None; give a file, "),
        ({"runs": {1: "a.trec"}}, "runs is not a dictionary by name; write runs={NAME: FILE}"),
        (
            {"rewrites": {"human": 5}},
            'rewrites["human"] is an int; give a file, a frame or records with query_id and text',
        ),
        ({"rewrites": {"humane": "x"}}, "unknown role 'humane'; "),
        ({"new_judgments": ["new.txt", 5]}, "new_judgments[1] is an int; give a file, "),
        ({"relevance_level": "2"}, "relevance_level is '2'; write a whole number"),
        ({"depth": 2.5}, "depth is 2.5; write a whole number"),
        ({"seed": "x"}, "seed is 'x'; write a whole number"),
        ({"seed": -1}, "seed is -1; write a whole number of at least 0"),
        (
            {"groups": {"manual": "human"}},
            "group 'manual' has no baseline or no sets; write both, with names of runs",
        ),
        (
            {"groups": {"manual": ("human", [])}},
            "group 'manual' has no baseline or no sets; write both, with names of runs",
        ),
        ({"metrics": 5}, "unknown measure '5'; "),
        (
            {"project": pd.DataFrame()},
            "the project is of type DataFrame; give a robustcs.toml or the result of open_project",
        ),
    ],
)
def test_a_wrong_type_says_what_is_taken(
    inputs: dict[str, Any], message: str, config: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        robustcs.breakdown(**({"project": config} | inputs))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("unjudged", {"top": "3"}, "top is '3'; write a whole number"),
        ("unjudged", {"top": 2.5}, "top is 2.5; write a whole number"),
        ("unjudged", {"top": 0}, "top is 0; write a whole number of at least 1"),
        ("judge", {"top": -1}, "top is -1; write a whole number of at least 1"),
        ("augment", {"what_if": -3}, "what_if is -3; write a whole number from 1 to 100000"),
        ("report", {"output": 3}, "output is 3; name a folder"),
        ("evaluate", {"margin": "x"}, "margin is 'x'; write a number"),
        ("testsets", {"sets": None}, "sets is None; write a whole number"),
        ("agreement", {"min_agreement": "x"}, "min_agreement is 'x'; write a number from 0 to 1"),
        (
            "agreement",
            {"groups": 5},
            "groups is not a dictionary by name; write groups={NAME: [NAME, …]}",
        ),
        (
            "evaluate",
            {"scores": ["a.eval"]},
            "scores is not a dictionary by name; write scores={NAME: FILE}",
        ),
        (
            "diversity",
            {"sources": pd.DataFrame()},
            "sources contains texts without a name; write sources={NAME: TEXTS}, or a list of FILE",
        ),
    ],
)
def test_a_wrong_setting_of_a_study_says_what_is_taken(
    name: str, inputs: dict[str, Any], message: str, config: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        getattr(robustcs, name)(config, **inputs)
    assert str(caught.value).startswith(message)


def test_one_value_and_a_keyword_under_two_names(config: Path) -> None:
    for one in ("ndcg_cut_3:Human drop>0.02", "drop>0.02"):
        alone, listed = (
            robustcs.compare(config.parent, config.parent, fail_if=given) for given in (one, [one])
        )
        assert len(alone.gate) and alone.gate.equals(listed.gate)
    assert {*robustcs.correlate(config, similarities="rouge1_f").correlations["x"]} == {"rouge1_f"}
    runs, both = {"a": "runs/stem_qr.trec"}, "are the same keyword; give {} once, with all values"
    with pytest.raises(UsageError, match=f"threshold and thresholds {both.format('thresholds')}"):
        robustcs.breakdown(config, threshold=">0", thresholds=">=0.5")
    with pytest.raises(UsageError, match=f"runs and run {both.format('runs')}"):
        robustcs.evaluate(config, runs=runs, run=runs)


# ---------------------------------------------------------------- what is in memory


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (
            lambda: robustcs.breakdown(),
            "add qr=FILE or scores={'qr': FILE}, or create a robustcs.toml with robustcs init",
        ),
        (lambda: robustcs.evaluate(), "add them with runs={NAME: FILE}"),
        (lambda: robustcs.correlate(), "add rewrites={'qr': FILE}"),
        (
            lambda: robustcs.diversity(targets="f.txt"),
            "name the other texts with sources=FILE[:FIELD]",
        ),
        (
            lambda: robustcs.components(),
            "add components={WORDING/RANKER: FILE} for each run, or [components] in robustcs.toml",
        ),
    ],
)
def test_advice_names_keywords_instead_of_options(
    call: Callable[[], object], advice: str, empty_folder: Path
) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert str(caught.value).endswith(f"; {advice}")
    assert caught.value.advice == advice


def test_messages_name_the_keyword_and_the_row(config: Path) -> None:
    def told(**inputs: Any) -> str:
        with pytest.raises(InputError) as caught:
            robustcs.breakdown(config, **inputs)
        return str(caught.value)

    run = pd.DataFrame({"qid": ["1_1", "1_2"], "docno": ["a", "b"], "score": [1.0, float("nan")]})
    assert (
        told(original=run)
        == "<original>, row 2: score 'nan' is not a number; write a decimal number"
    )
    assert (
        told(qr={"T5": run})
        == "<qr[\"T5\"]>, row 2: score 'nan' is not a number; write a decimal number"
    )
    assert (
        told(qr={"1_1": {"a": "x"}})
        == '<qr>["1_1"]["a"]: score \'x\' is not a number; write a decimal number'
    )
    two = told(rewrites={"human": [{"1_1": "a"}, {"1_2": ""}]})
    assert two.startswith('<rewrites["human"][1]>["1_2"]: turn 1_2: empty text')
    stranger = told(human={"99": {"a": 1.0}})
    assert stranger.startswith("<human>: ") and "99" in stranger
    with pytest.raises(UsageError, match='^<scores\\["a"\\]> has no ndcg_cut_3; it has P_1$'):
        robustcs.evaluate(
            scores={"a": {"1_1": {"P_1": 1}}, "b": {"1_1": {"P_1": 0}}}, metrics="ndcg_cut_3"
        )


def test_scores_in_memory_are_evaluated_as_files_are(config: Path, tmp_path: Path) -> None:
    turns = robustcs.breakdown(config, metrics="ndcg_cut_3", thresholds=">0").turns.set_index(
        "turn"
    )
    scores = {name: turns[name] for name in ("qr", "human")}
    files = {}
    for name, series in scores.items():
        files[name] = tmp_path / f"{name}.eval"
        files[name].write_text(
            "".join(f"ndcg_cut_3\t{turn}\t{float(value)!r}\n" for turn, value in series.items())
        )
    expected = robustcs.evaluate(scores=files, metrics="ndcg_cut_3")
    frames = {name: series.rename("ndcg_cut_3").to_frame() for name, series in scores.items()}
    nested = {
        name: {turn: {"ndcg_cut_3": value} for turn, value in series.items()}
        for name, series in scores.items()
    }
    for given in (frames, nested):
        result = robustcs.evaluate(scores=given, metrics="ndcg_cut_3")
        for name, table in expected.tables.items():
            pd.testing.assert_frame_equal(result.tables[name], table)
        assert [entry["path"] for entry in result.inputs] == ['<scores["qr"]>', '<scores["human"]>']


def test_texts_and_slices_in_memory(demo: Path, config: Path) -> None:
    names = {"raw": "original", "manual": "human"}
    texts = {column: read_texts(demo / "topics.json", role) for column, role in names.items()}
    expected = robustcs.diversity(
        config, sources=[f"{demo}/topics.json:raw"], targets=[f"{demo}/topics.json:manual"]
    )
    sources, targets = ({f"topics.json:{name}": texts[name]} for name in names)
    result = robustcs.diversity(config, sources=sources, targets=targets)
    for name, table in expected.tables.items():
        pd.testing.assert_frame_equal(result.tables[name], table)
    kinds = pd.DataFrame({"kind": ["first" if turn.endswith("_1") else "later" for turn in texts["raw"]]},
                         index=pd.Index(list(texts["raw"]), name="turn"))  # fmt: skip
    sliced = robustcs.robustness(config, slices=kinds, metrics="P_1")
    assert {"first", "later"} <= set(sliced.slices["slice"])


def test_a_report_of_what_is_in_memory_names_it(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scores = {role: {f"{topic}_1": {"ndcg_cut_3": value + topic / 50} for topic in range(1, 8)}
              for role, value in (("original", 0.2), ("qr", 0.5), ("human", 0.8))}  # fmt: skip
    page = robustcs.report(scores=scores, output="out", name="of memory")
    text = page.read_text()
    checksum = robustcs.breakdown(scores=scores).inputs[1]["sha256"]
    assert "&lt;scores[&#34;qr&#34;]&gt;" in text and checksum in text
    # nothing kept of other scores is used again
    scores["qr"]["1_1"]["ndcg_cut_3"] = 0.01
    robustcs.report(scores=scores, output="out", name="of memory")
    assert (
        checksum not in page.read_text()
        and robustcs.breakdown(scores=scores).inputs[1]["sha256"] in page.read_text()
    )


def test_nothing_is_saved_unless_a_path_is_given(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = robustcs.sweep(config, metrics="ndcg_cut_3", step=0.1)
    main = next(iter(result.tables))
    assert result.plot().axes and not list(tmp_path.iterdir())
    assert (
        result.to_latex("table.tex", table=main) is None
        and result.to_csv(Path("table.csv")) is None
    )
    assert Path("table.tex").read_text() == result.to_latex(table=[main])
    assert Path("table.csv").read_text() == result.to_csv() == result.to_csv(table=main)
    with pytest.raises(UsageError, match="^no table is named 'nothing'; choose from "):
        result.to_latex(table="nothing")
    with pytest.raises(UsageError, match="^sweep has no figure 'nothing'; choose from "):
        result.plot("nothing")
    with pytest.raises(
        UsageError,
        match="is an input, which is never overwritten; choose another name for the output$",
    ):
        result.to_csv(config.parent / "qrels.txt")


def test_the_report_of_python_is_that_of_the_command(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role, score in (("original", 0.2), ("qr", 0.5), ("human", 1)):
        (tmp_path / f"{role}.eval").write_text(f"ndcg_cut_3\t1_1\t{score}\n")
    monkeypatch.chdir(tmp_path)
    scores = {role: f"{role}.eval" for role in ("original", "qr", "human")}
    page = robustcs.report(scores=scores, output="out", name="of Python")
    assert page == Path("out/report.html") and "<title>of Python</title>" in page.read_text()
