"""What holds for every study of the registry: a new one is tested here before its author writes a test."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from matplotlib.figure import Figure as MatplotlibFigure

import robustcs
from robustcs.documents.data import to_json
from robustcs.documents.document import Figure, TableBlock
from robustcs.inputs.texts import TextFile
from robustcs.project.reading import read_project
from robustcs.studies.registry import STUDIES, study
from robustcs.studies.signature import parameters_of
from robustcs.table import Table
from tests.conftest import COMMANDS, ROOT, Command

NAMES = [study.name for study in STUDIES]
#: A grid of wordings and rankers.
GRID = {f"{wording}/{ranker}": f"runs/{ranker}_{wording}.trec"
        for wording in ("original", "qr", "human") for ranker in ("stem", "plain")}  # fmt: skip
#: What a command line needs beside its name, so that it shows tables and writes nothing.
ASKED = {"judge": "--list", "compare": "plain.toml robustcs.toml",
         "components": " ".join(f"--cell {name}={file}" for name, file in GRID.items()),
         "samples": " ".join(f"--qr people=runs/stem_manual_{number}.trec" for number in (1, 2, 3))}  # fmt: skip
#: What a function needs for the same.
KEYWORDS = {"compare": {"old": "plain.toml", "new": "robustcs.toml"},
            "components": {"components": GRID},
            "samples": {"qr": {"people": [f"runs/stem_manual_{number}.trec" for number in (1, 2, 3)]}}}  # fmt: skip
#: Columns that name files.
FILES = {"path", "old_file", "source"}


class Found(NamedTuple):
    """A record of a run, as ir_measures has them."""

    query_id: str
    doc_id: str
    score: float


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Every study in turn."""
    return str(request.param)


@pytest.fixture(params=[name for name in NAMES if name != "retrieve"])
def answered(request: pytest.FixtureRequest) -> str:
    """Every study that the demo answers with tables: nothing is left to retrieve there, and it has no index."""
    return str(request.param)


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    """What was asked once, for all tests: by the name of the study in Python, by its line as a command."""
    return {}


@pytest.fixture
def result(
    answered: str, asked: dict[str, Any], demo: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """What the Python function gives in the folder of the demo."""
    if answered not in asked:
        monkeypatch.chdir(demo)
        asked[answered] = getattr(robustcs, answered)(**KEYWORDS.get(answered, {}))
    return asked[answered]


@pytest.fixture
def line(answered: str) -> str:
    """The command line of the study."""
    return f"{answered} {ASKED.get(answered, '')}"


@pytest.fixture
def printed(line: str, asked: dict[str, Any], in_demo: Command, tmp_path: Path) -> dict[str, str]:
    """What the command writes as JSON, LaTeX, Markdown and text, by suffix, and what it shows, as ``-``."""
    if line not in asked:
        files = {suffix: tmp_path / f"all.{suffix}" for suffix in ("json", "tex", "md", "txt")}
        shown = in_demo(
            f"{line} --output - {' '.join(f'--output {file}' for file in files.values())}"
        ).out
        asked[line] = {suffix: file.read_text("utf-8") for suffix, file in files.items()} | {
            "-": shown
        }
    return dict(asked[line])


@pytest.fixture
def as_json(printed: dict[str, str]) -> str:
    """What the command writes as JSON."""
    return printed["json"]


def test_all_content_is_of_one_kind(result: Any) -> None:
    for name in result.tables:
        assert type(result.table(name)) is Table
    assert {type(one) for one in result.content.values()} == {Table}
    assert list(result.content) and set(result.content) == set(result.tables)


def test_python_gives_what_the_command_gives(answered: str, result: Any, as_json: str) -> None:
    told = json.loads(as_json)
    tables = {name: result.table(name) for name in result.tables}
    given = json.loads(
        to_json(answered, "", result.evaluated.as_dict(), [], tables, result.evaluated.notes)
    )
    assert told["tables"] == given["tables"] and told["policy"] == given["policy"]
    assert list(told["tables"]) == list(result.tables)
    assert sorted(spec.name for spec in result.declared) == sorted(result.tables)
    assert told["command"] == answered == result.study
    assert len({entry["path"] for entry in told["inputs"]}) == len(told["inputs"])


@pytest.fixture(scope="module")
def objects(demo: Path) -> dict[str, Any]:
    """The judgments, runs and texts of the demo as Python programs have them: a frame, records, dictionaries."""
    project = read_project(demo / "robustcs.toml")
    frames = {name: pd.read_csv(path, sep=r"\s+", header=None, names=["qid", "Q0", "docno", "rank", "score", "tag"])
              for name, path in project.systems.items()}  # fmt: skip
    found = {name: [Found(*row) for row in frame[["qid", "docno", "score"]].itertuples(index=False)]
             for name, frame in frames.items()}  # fmt: skip
    by_turn = {name: {turn: dict(rows[["docno", "score"]].itertuples(index=False)) for turn, rows in frame.groupby("qid")}
               for name, frame in frames.items()}  # fmt: skip
    texts = {key: TextFile(part.rewrites[0].path).texts(part.role, part.rewrites[0].column)
             for key, part in project.formulations.items()}  # fmt: skip
    return {
        "qrels": pd.read_csv(project.qrels, sep=r"\s+", header=None, names=["query_id", "iteration", "doc_id", "relevance"]),
        "original": frames["original"], "qr": by_turn["qr"], "human": found["human"],
        "runs": {name: by_turn[name] for name in project.runs},
        "rewrites": texts | {"human": pd.Series(texts["human"], name="text").rename_axis("turn_id")},
    }  # fmt: skip


@pytest.fixture(scope="module")
def own_objects(demo: Path) -> dict[str, dict[str, Any]]:
    """The same of the files of studies with turns of their own."""
    tsv, clariq, crowd = {"sep": "\t", "quoting": 3}, demo / "clariq", demo / "crowd"
    run, judged = (
        ["qid", "Q0", "docno", "rank", "score", "tag"],
        ["query_id", "iteration", "doc_id", "relevance"],
    )
    trec = {"sep": r"\s+", "header": None}
    return {
        "clariq": {
            "topics": pd.read_csv(clariq / "topics.tsv", **tsv), "questions": pd.read_csv(clariq / "question_bank.tsv", **tsv),
            "performance": pd.read_csv(clariq / "documents.trec", names=run, **trec),
            "qrels": pd.read_csv(clariq / "qrels.txt", names=judged, **trec),
            "preferences": pd.read_csv(clariq / "preferences.tsv", **tsv).to_dict("records"),
            "runs": {name: pd.read_csv(clariq / f"questions_{name}.trec", names=run, **trec) for name in ("stem", "overlap")},
            "needs": {name: dict(pd.read_csv(clariq / f"need_{file}.txt", sep=" ", header=None).itertuples(index=False))
                      for name, file in (("stem", "careful"), ("overlap", "hasty"))},
        },
        "agreement": {
            "snippets": [json.loads(line) for line in (demo / "annotations/workers.jsonl").read_text().splitlines()],
            "reference": pd.read_json(demo / "annotations/experts.jsonl", lines=True, dtype=False),
            "ratings": pd.read_csv(demo / "annotations/ratings.csv"),
        },
        "answers": {
            "snippets": [json.loads(line) for line in (demo / "responses/snippets.jsonl").read_text().splitlines()],
            "nuggets": [json.loads(line) for line in (demo / "responses/nuggets.jsonl").read_text().splitlines()],
            "responses": {name: {row["id"]: row["answer"] for row in map(json.loads, open(demo / f"responses/{name}.jsonl"))}
                          for name in ("original", "qr", "human")},
            "assignments": {name: pd.read_json(demo / f"responses/assigned_{name}.jsonl", lines=True, dtype=False)
                            for name in ("original", "qr", "human")},
        },
        "crowd": {
            "grades": pd.read_csv(crowd / "grades.csv"), "gold_checks": pd.read_csv(crowd / "gold_checks.csv"),
            "bank": json.loads((crowd / "bank.json").read_text()),
            "subset": (crowd / "needs_a_question.txt").read_text().split(),
            "runs": {name: json.loads((crowd / f"{name}.json").read_text()) for name in ("ids", "texts")},
        },
    }  # fmt: skip


def test_objects_give_what_files_give(
    answered: str,
    demo: Path,
    objects: dict[str, Any],
    own_objects: dict[str, dict[str, Any]],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if answered == "compare":
        pytest.skip("its sides are projects, which hold their objects themselves")
    expected = request.getfixturevalue("result")
    monkeypatch.chdir(demo)
    held = own_objects.get(answered, objects)
    if answered == "components":
        cells = {name: Path(file).stem for name, file in GRID.items()}
        runs = held["runs"] | {f"stem_{role}": held[role] for role in ("original", "qr", "human")}
        held = held | {"cells": {name: runs[stem] for name, stem in cells.items()}}
    if answered == "samples":
        held = held | {"qr": {"people": [held["runs"][f"manual_{number}"] for number in (1, 2, 3)]}}
    result = getattr(robustcs, answered)(**held)
    for name, frame in expected.tables.items():
        ours, theirs = (
            table.drop(columns=list(FILES & {*table})) for table in (result.tables[name], frame)
        )
        pd.testing.assert_frame_equal(ours, theirs)
    assert result.evaluated == expected.evaluated
    # one file may hold several texts, an object holds one
    # how many passages of the collection are read depends on the order of turns, which objects need not have
    read = [sorted((role, entry["rows"] if role != "collection" else None)
                   for entry in one.inputs for role in entry["role"].split(", "))
            for one in (result, expected)]  # fmt: skip
    assert read[0] == read[1]
    held = [entry for entry in result.inputs if entry["path"].startswith("<")]
    assert all(len(entry["sha256"]) == 64 for entry in held)
    assert bool(held) == any(
        entry["role"].split(" ")[0] not in ("paraphrases", "collection")
        for entry in expected.inputs
    )


def test_results_are_short_and_have_every_form(
    answered: str, result: Any, printed: dict[str, str]
) -> None:
    assert len(repr(result)) < 400 and repr(result).startswith(f"<{type(result).__name__}: ")
    assert result.to_json() == printed["json"]
    for form, suffix in (("latex", "tex"), ("markdown", "md")):
        # a command may show one figure of several
        assert set(printed[suffix].splitlines()) <= set(
            getattr(result, f"to_{form}")().splitlines()
        )
    study = next(study for study in STUDIES if study.name == answered)
    drawn = [block.slug for block in study.part("show").show(result) if isinstance(block, Figure)]
    assert list(result.figures()) == drawn
    if drawn:
        # the page of the next test draws all of them
        assert isinstance(result.plot(drawn[-1] if len(drawn) > 1 else None), MatplotlibFigure)
    else:
        with pytest.raises(robustcs.errors.UsageError, match=f"^{answered} has no figure; "):
            result.plot()


#: Tables of which a command makes more on request than by default; tests of their study compare them.
MORE_ON_REQUEST = {"unjudged": {"tipping"}}


@pytest.mark.parametrize(
    ("answered", "rest"),
    [*((name, False) for name in ("agreement", "breakdown", "check", "components", "evaluate", "unjudged")),
     *(pytest.param(name, True, marks=pytest.mark.long) for name in NAMES if name != "retrieve")],
    indirect=["answered"],
)  # fmt: skip
def test_every_table_can_be_asked_for(
    result: Any, line: str, in_demo: Command, tmp_path: Path, rest: bool
) -> None:
    tables = [
        name for name in result.tables if name not in MORE_ON_REQUEST.get(result.study, set())
    ]
    for table in tables if rest else tables[-1:]:
        files = [tmp_path / f"{table}.{suffix}" for suffix in ("json", "csv", "txt")]
        seen = in_demo(
            f"{line} --table {table} --output - {' '.join(f'--output {file}' for file in files)}"
        ).out
        as_json, as_csv, shown = (file.read_text("utf-8") for file in files)
        assert list(json.loads(as_json)["tables"]) == [table]
        assert result.to_csv(table=table) == as_csv
        assert shown == seen != ""


@pytest.mark.long
def test_the_terminal_is_the_output_by_default(
    line: str, printed: dict[str, str], in_demo: Command
) -> None:
    assert in_demo(line).out == printed["-"]
    assert in_demo(f"{line} --format json").out == printed["json"]


@pytest.mark.parametrize(
    "answered",
    [pytest.param(name, marks=[pytest.mark.long] * (name not in ("agreement", "breakdown", "check")))
     for name in NAMES if name != "retrieve"],
    indirect=True,
)  # fmt: skip
def test_a_table_that_does_not_exist_is_refused(line: str, in_demo: Command) -> None:
    assert "no table is named 'nothing'" in in_demo(f"{line} --table nothing", code=2).err


def test_the_policy_closes_what_a_terminal_shows(printed: dict[str, str]) -> None:
    assert " ".join(printed["-"].split()).endswith(json.loads(printed["json"])["policy"]["line"])
    assert printed["txt"] == printed["-"]


def test_blocks_name_their_tables_and_figures_say_what_they_show(
    answered: str, result: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = next(study for study in STUDIES if study.name == answered)
    for block in study.part("show").show(result):
        if isinstance(block, TableBlock):
            assert block.of in ("", *result.tables)
        if isinstance(block, Figure):
            assert len(block.alt) > 20 and len(block.caption) > 20
    assert result._repr_html_()
    monkeypatch.setattr("robustcs.result.Result._written", lambda *given: given)
    assert result._repr_html_() == result.to_html() == (result, "html", None, None)


def test_a_command_says_what_it_does_and_refuses_the_rest(name: str, in_demo: Command) -> None:
    error = in_demo(f"{name} --no-such-option", code=2).err
    # the second is how click 8.1 says it
    said = ("No such option '--no-such-option'", "No such option: --no-such-option")
    assert any(words in error for words in said)
    function = getattr(robustcs, name)
    assert function.__doc__ and "Inputs by keyword" in function.__doc__
    own = [
        parameter
        for parameter in inspect.signature(function).parameters
        if parameter not in ("project", "inputs", "tell")
    ]
    assert all(word.isidentifier() for word in own)
    assert COMMANDS[name].help


def test_an_unknown_keyword_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # without a project, which would be read every time
    with pytest.raises(robustcs.errors.UsageError, match="^no input is named 'no_such_input'"):
        getattr(robustcs, name)(no_such_input="x")
    own = [
        word
        for word in inspect.signature(getattr(robustcs, name)).parameters
        if word not in ("project", "inputs")
    ]
    for word in ("qrels", "relevance_level", *own):
        if word == "paraphraser":  # paraphrases are nearer
            continue
        with pytest.raises(
            robustcs.errors.UsageError,
            match=f"^no input is named '{word}s'; did you mean '{word}'[?] ",
        ):
            getattr(robustcs, name)(**{f"{word}s": "x"})


def test_there_is_a_page_with_an_example(name: str) -> None:
    pages = [path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md")]
    assert any(f"\n$ robustcs {name}" in page or f"\nrobustcs {name}" in page for page in pages)


#: Study → keywords of the Python function that its command does not have; it passes them itself.
PYTHON_ONLY = {
    "evaluate": {"pairs"}, "unjudged": {"pairs", "tipping"}, "robustness": {"tell"},
    "judge": {"pairs"}, "retrieve": {"tell"}, "crowd": {"metrics"},
}  # fmt: skip


def test_every_keyword_is_an_option_of_the_command(name: str) -> None:
    """A parameter that the docstring does not describe is no option."""
    command = study(name).command
    options = {one.name for one in command.parameters}
    missing = set(parameters(command.ask)) - options
    assert missing == PYTHON_ONLY.get(name, set())
    if command.run is not None:
        assert set(parameters(command.run)) <= options


def test_every_entry_of_a_docstring_is_a_parameter(name: str) -> None:
    command = study(name).command
    for function in filter(None, (command.ask, command.run)):
        assert set(entries(function)) <= set(parameters(function))


def parameters(function: Callable[..., Any]) -> list[str]:
    """The names of all parameters but the workspace or call, and but ``**settings``."""
    _, *own = inspect.signature(function).parameters.values()
    return [one.name for one in own if one.kind is not one.VAR_KEYWORD]


def entries(function: Callable[..., Any]) -> list[str]:
    """The lines of a docstring, up to its examples, that are one word above an indented text."""
    text = (inspect.getdoc(function) or "").partition("\nExamples:\n")[0]
    return re.findall(r"^(\S+)\n {4}", text, re.MULTILINE)


def test_a_misspelt_entry_is_found() -> None:
    def ask(workspace: Any, *, margin: float | None = None, find_slices: bool = False) -> None:
        """Compare systems.

        margim
            Report which pairs are equivalent.

        find-slices
            Search for slices.

        Examples:
          robustcs compare
        """

    assert entries(ask) == ["margim", "find-slices"]
    assert parameters(ask) == ["margin", "find_slices"]
    assert [one.name for one in parameters_of(ask)] == []
