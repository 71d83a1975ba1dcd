"""robustcs.toml: every key, and every wrong value with its line."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from pathlib import Path
from textwrap import dedent

import pytest

from robustcs.errors import ExitCode, InputError, UsageError
from robustcs.evaluation.groups import Group
from robustcs.evaluation.measure import parse_measure
from robustcs.evaluation.thresholds import parse_threshold
from robustcs.policy import EvaluationPolicy
from robustcs.project.model import (
    STUDY_TABLES,
    AgreementFiles,
    AnswerFiles,
    ClariqFiles,
    CrowdFiles,
    Formulation,
    Project,
    ReviewFiles,
    TextSource,
    parse_role,
    parse_text_source,
)
from robustcs.project.reading import find_project, read_project
from robustcs.project.sources import READERS, SOURCES, Source
from robustcs.retrieval.settings import RetrievalSettings

EVERY_KEY = """
    name = "CAsT 2020"
    new_judgments = "new.txt"
    gold = "gold.json"
    answer_similarity = "overlap.txt"
    paraphrases = "ECAsT.csv"
    collection = "passages.jsonl"
    metrics = ["ndcg_cut_3", "P_1"]
    thresholds = [">0", 0.5, 1]
    seed = 7

    [qrels]
    file = "qrels.txt.gz"
    selection = "clicks"
    source = "mixed"

    [policy]
    conversation = "pattern"
    relevance_level = 2
    missing = "drop"
    order = "rank"
    depth = 100

    [formulations.original]
    run = "runs/raw.trec"
    rewrites = ["Human.tsv:original"]

    [formulations.qr]
    scores = "qr.txt"

    [formulations."qr:t5"]
    run = "runs/t5.trec"
    answers = "t5.json"
    rewrites = "t5.tsv"

    [formulations.human]
    run = "/absolute/manual.trec"  # by name

    [components]
    "t5/bm25" = "runs/t5.trec"

    [runs]
    manual_1 = "runs/manual_1.trec"
    "set 2" = "runs/2.trec"

    [judges]
    gpt = "judges/gpt.txt"

    [groups.manual]
    baseline = "human"
    sets = ["manual_1", "set 2"]

    [texts]
    m = "sets/manual.tsv"

    [raw_texts]
    r = "sets/topics.json:raw"

    [retrieval]
    index = "index"
    model = "ql"

    [clariq]
    topics = "clariq/topics.tsv"
    questions = "clariq/bank.tsv"
    performance = "clariq/documents.trec"
    qrels = "clariq/qrels.txt"
    preferences = "clariq/preferences.tsv"
    conversations = "clariq/conversations.tsv"
    runs = { bm25 = "clariq/bm25.trec" }
    evaluations = { worst = "clariq/worst.json" }
    needs = { bm25 = "clariq/need.txt" }

    [agreement]
    snippets = "workers.jsonl"
    reference = ["a.jsonl", "b.jsonl"]
    ratings = "ratings.csv"
    majority = 3
    min_agreement = 0.5

    [run_groups]
    bert = ["original", "t5"]

    [agreement.groups]
    low = [1, 2]

    [answers]
    snippets = "snippets.jsonl"
    nuggets = "nuggets.jsonl"
    human = "manual.trec"
    depth = 3
    covered = 0.8
    responses = { t5 = "t5_said.json" }
    assignments = { t5 = "t5_assigned.jsonl" }
    runs = { t5 = "t5.trec" }
    tasks = { gpt = "tasks.jsonl" }
    gold_passages = "gold.txt"
    labels = "labels.jsonl"

    [crowd]
    grades = "grades.csv"
    gold_checks = "checks.csv"
    tolerance = 0
    bank = "bank.json"
    qrels = "irds:regin"
    subset = "turns.txt"
    depth = 3
    relevance_level = 1
    runs = { a = "a.json" }

    [review]
    files = "review.jsonl"
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "robustcs.toml"
    path.write_text(dedent(text).lstrip("\n"), "utf-8")
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    project = read_project(write(tmp_path, EVERY_KEY))
    expected = Project(
        name="CAsT 2020",
        qrels=tmp_path / "qrels.txt.gz", qrels_selection="clicks", qrels_source="mixed",
        new_judgments=(tmp_path / "new.txt",),
        gold=tmp_path / "gold.json",
        answer_similarity=tmp_path / "overlap.txt",
        paraphrases=tmp_path / "ECAsT.csv",
        collection=tmp_path / "passages.jsonl",
        formulations={
            "original": Formulation(
                "original", "original", run=tmp_path / "runs/raw.trec",
                rewrites=(TextSource(tmp_path / "Human.tsv", "original"),),
            ),
            "qr": Formulation("qr", "qr", scores=tmp_path / "qr.txt"),
            "qr:t5": Formulation(
                "qr", "t5", run=tmp_path / "runs/t5.trec", answers=tmp_path / "t5.json",
                rewrites=(TextSource(tmp_path / "t5.tsv"),),
            ),
            "human": Formulation("human", "human", run=Path("/absolute/manual.trec")),
        },
        runs={"manual_1": tmp_path / "runs/manual_1.trec", "set 2": tmp_path / "runs/2.trec"},
        judges={"gpt": tmp_path / "judges/gpt.txt"},
        components={"t5/bm25": tmp_path / "runs/t5.trec"},
        groups={"manual": Group("human", ("manual_1", "set 2"))},
        run_groups={"bert": ("original", "t5")},
        texts={"m": TextSource(tmp_path / "sets/manual.tsv")},
        raw_texts={"r": TextSource(tmp_path / "sets/topics.json", "raw")},
        retrieval=RetrievalSettings(tmp_path / "index", model="ql", folder=tmp_path / "retrieved"),
        clariq=ClariqFiles(
            topics=tmp_path / "clariq/topics.tsv", questions=tmp_path / "clariq/bank.tsv",
            runs={"bm25": tmp_path / "clariq/bm25.trec"}, performance=tmp_path / "clariq/documents.trec",
            evaluations={"worst": tmp_path / "clariq/worst.json"}, qrels=tmp_path / "clariq/qrels.txt",
            needs={"bm25": tmp_path / "clariq/need.txt"}, preferences=tmp_path / "clariq/preferences.tsv",
            conversations=tmp_path / "clariq/conversations.tsv",
        ),
        agreement=AgreementFiles(
            snippets=(tmp_path / "workers.jsonl",), reference=(tmp_path / "a.jsonl", tmp_path / "b.jsonl"),
            ratings=(tmp_path / "ratings.csv",), majority=3, min_agreement=0.5, groups={"low": ("1", "2")},
        ),
        answers=AnswerFiles(
            responses={"t5": tmp_path / "t5_said.json"}, snippets=(tmp_path / "snippets.jsonl",),
            nuggets=tmp_path / "nuggets.jsonl", assignments={"t5": tmp_path / "t5_assigned.jsonl"},
            runs={"t5": tmp_path / "t5.trec"}, human=tmp_path / "manual.trec", depth=3, covered=0.8,
            tasks={"gpt": tmp_path / "tasks.jsonl"}, gold_passages=tmp_path / "gold.txt", labels=tmp_path / "labels.jsonl",
        ),
        crowd=CrowdFiles(
            grades=tmp_path / "grades.csv", gold_checks=tmp_path / "checks.csv", tolerance=0, bank=tmp_path / "bank.json",
            qrels=("irds:regin",), subset=tmp_path / "turns.txt", runs={"a": tmp_path / "a.json"}, depth=3, relevance_level=1,
        ),
        review=ReviewFiles((tmp_path / "review.jsonl",)),
        marks=(("formulations", "human", "run"),),
        metrics=tuple(map(parse_measure, ("ndcg_cut_3", "P_1"))),
        thresholds=tuple(map(parse_threshold, (">0", "0.5", "1"))),
        policy=EvaluationPolicy(relevance_level=2, missing="drop", order="rank", depth=100, conversation="pattern"),
        seed=7,
    )  # fmt: skip
    parts = [
        (project, expected),
        *((getattr(project, n), getattr(expected, n)) for n in STUDY_TABLES),
    ]
    for have, want in parts:
        for field in dataclasses.fields(want):
            assert getattr(have, field.name) == getattr(want, field.name)
            assert getattr(have, field.name) != getattr(type(want)(), field.name), (
                f"{field.name} is not in the example"
            )
    assert list(project.systems) == ["original", "t5", "human", "manual_1", "set 2"]


def test_every_key_can_be_left_out(tmp_path: Path) -> None:
    assert read_project(write(tmp_path, "")) == Project(name=tmp_path.name)


def test_ir_datasets_are_not_files_of_the_folder(tmp_path: Path) -> None:
    project = read_project(write(tmp_path, 'qrels = "irds:trec-cast/v1/2020/judged"'))
    assert project.qrels == "irds:trec-cast/v1/2020/judged"


TEXT = "write a text in quotes"
NUMBER = "write a whole number of at least 0"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        *[(f"\n{key} = 3", [f":2: {key} is 3; {TEXT}"]) for key in
          ("name", "qrels", "gold", "answer_similarity", "paraphrases", "collection")],
        ("new_judgments = ['a', 3]", [f":1: new_judgments is ['a', 3]; {TEXT}, or a list of them"]),
        ('qrels = ""', [f":1: qrels is ''; {TEXT}"]),
        ("qrels = []", [f":1: qrels is []; {TEXT}"]),
        ("qrels = ['a', 3]", [f":1: qrels is ['a', 3]; {TEXT}, or a list of them"]),
        ("[qrels.file]\na = 1", [f":2: a is 1; {TEXT}"]),
        ("metrics = [['P_1']]", [""":1: unknown measure "['P_1']"; did you mean P_1?"""]),
        ("thresholds = ['>0', 'high']", [":1: cannot read threshold 'high'; use '>0', '>=0.5', '=1' or a number"]),
        ("thresholds = [nan]", [":1: cannot read threshold 'nan'; use '>0', '>=0.5', '=1' or a number"]),
        *[(f"seed = {value}", [f":1: seed is {shown}; {NUMBER}"]) for value, shown in
          (("'7'", "'7'"), ("1.5", "1.5"), ("true", "True"), ("-1", "-1"))],
        *[(f"\n{key} = 3", [f":2: {key} is not a table; write [{key}] above its keys"]) for key in
          ("policy", "formulations", "runs", "groups")],
        ("[policy]\nmissing = 'zero'\nrelevance_level = 2.5", [f":3: relevance_level is 2.5; {NUMBER}"]),
        ("[policy]\nrelevance_level = '2'", [f":2: relevance_level is '2'; {NUMBER}"]),
        ("[policy]\nrelevance_level = true", [f":2: relevance_level is True; {NUMBER}"]),
        ("[policy]\nstrict = 'yes'", [":2: strict is 'yes'; write true or false"]),
        ("[policy]\ndepth = [3]", [f":2: depth is [3]; {NUMBER}"]),
        ("[policy]\nrelevance_level = 0\nmissing = 'skip'\norder = 1\ndepth = 0\nunit = 'topic'", [
            ":2: relevance level is 0; write a whole number of at least 1",
            ":3: the rule for missing turns is 'skip'; write zero, drop or own",
            ":4: order is 1; write score or rank", ":5: depth is 0; write a whole number of at least 1",
            ":6: unit is 'topic'; write conversation or turn"]),
        ("policy = {depth = 'all', missing = []}", [
            ":1: the rule for missing turns is []; write zero, drop or own", f":1: depth is 'all'; {NUMBER}"]),
        ("[policy]\ndocuments = 'yes'", [":2: documents is 'yes'; write true or false"]),
        *[(f"[formulations.original]\n{key} = 'fine'\n[formulations.qr]\n\n{key} = false",
           [f":5: {key} is False; {TEXT}{', or a list of them' * (key == 'rewrites')}"])
          for key in ("run", "scores", "answers", "rewrites")],
        ("[formulations]\nqr = 'run.trec'", [":2: qr is not a table; write [formulations.qr] above its keys"]),
        ("formulations.'qr:t5' = 1", [':1: qr:t5 is not a table; write [formulations."qr:t5"] above its keys']),
        ("[runs]\nfine = 'a'\nwrong = 1\n\"set 2\" = []", [f":3: wrong is 1; {TEXT}", f":4: set 2 is []; {TEXT}"]),
        ("[groups]\nmanual = ['a']", [":2: manual is not a table; write [groups.manual] above its keys",
         ":2: group 'manual' has no baseline or no sets; write both, with names of runs"]),
        ("[groups.a]\nbaseline = 'x'\nsets = ['y']\n[groups.b]\nbaseline = 'x'",
         [":4: group 'b' has no baseline or no sets; write both, with names of runs"]),
        ("[clariq]\ntopic = 'a'\nruns = 'b'", [
            ":2: unknown key 'topic' in [clariq]; choose from topics, questions, runs, performance, evaluations, qrels, needs,"
            " preferences, conversations", ":3: runs is not a table; write [clariq.runs] above its keys"]),
        ("[agreement]\nsnippets = 3\nmajority = 0\nmin_agreement = 2\nratings = true", [
            ":2: snippets is 3; write a text in quotes, or a list of them",
            ":5: ratings is True; write a text in quotes, or a list of them",
            ":3: majority is 0; write a whole number of at least 1",
            ":4: min_agreement is 2; write a number from 0 to 1"]),
        ("[crowd]\ntolerance = -1\ndepth = 0\nrelevance_level = 'x'", [
            f":2: tolerance is -1; {NUMBER}", ":3: depth is 0; write a whole number of at least 1",
            ":4: relevance_level is 'x'; write a whole number of at least 1"]),
        ("crowd = 1", [":1: crowd is not a table; write [crowd] above its keys"]),
        ("[groups.a]\nsets = ['y']",
         [":1: group 'a' has no baseline or no sets; write both, with names of runs"]),
    ],
)  # fmt: skip
def test_every_wrong_value_has_its_line(tmp_path: Path, text: str, problems: list[str]) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_project(path)
    assert [line.removeprefix(str(path)) for line in str(error.value).split("\n")] == problems
    assert error.value.exit_code is ExitCode.BAD_INPUT
    assert {problem.slug for problem in error.value.problems} == {"bad-config"}


@pytest.mark.parametrize("selection", ["pool", "filtered", "clicks", "positives"])
def test_qrels_can_say_how_passages_were_selected(tmp_path: Path, selection: str) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text(f'seed = 3\n[qrels]\nfile = "q.txt"\nselection = "{selection}"\n')
    project = read_project(path)
    assert (project.qrels, project.qrels_selection, project.seed) == (
        tmp_path / "q.txt",
        selection,
        3,
    )
    path.write_text('qrels = "q.txt"\n')
    assert read_project(path).qrels_selection == "pool"
    path.write_text(f'[qrels]\nselection = "{selection}"\n')  # with --qrels FILE
    assert (read_project(path).qrels, read_project(path).qrels_selection) == (None, selection)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[qrels]\nfile = "q"\nselection = "click"\n',
            ":3: selection is 'click'; write how passages were selected for judging: pool, filtered, clicks or positives",
        ),
        (
            '[qrels]\nfile = "q"\nselection = 4\n',
            ":3: selection is 4; write how passages were selected for judging: pool, filtered, clicks or positives",
        ),
        (
            '[qrels]\nfiles = "q"\n',
            ":2: unknown key 'files' in [qrels]; choose from file, selection",
        ),
        ("[qrels]\nfile = [1]\n", ":2: file is [1]; write a text in quotes, or a list of them"),
        (
            'qrels_selection = "pool"\n',
            ":1: unknown key 'qrels_selection'; choose from name, qrels, new_judgments",
        ),
    ],
)
def test_a_wrong_selection_has_its_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_project(path)
    assert problem in str(error.value)


def test_unknown_measures_have_their_line(tmp_path: Path) -> None:
    path = write(tmp_path, "metrics = ['P_1',\n  'ndcg_cut3']")
    with pytest.raises(InputError, match=rf"^{path}:1: unknown measure .ndcg_cut3."):
        read_project(path)


def test_unknown_keys_are_named_with_those_that_are_known(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        # qrel = "commented out"
        qrel = "a"
        [policy]
        level = 2
        [formulations.original]
        run = "a"
        [formulations.human]
        runs = "a"
        [formulations."qr:t5"]
        runs = "b"
        [groups.a]
        baseline = "original"
        sets = ["human"]
        set = 1
        """,
    )
    with pytest.raises(InputError) as error:
        read_project(path)
    assert [line.removeprefix(str(path)) for line in str(error.value).split("\n")] == [
        ":2: unknown key 'qrel'; choose from name, qrels, new_judgments, judges, gold, answer_similarity, paraphrases,"
        " collection, formulations, runs, components, texts, raw_texts, groups, run_groups, retrieval, clariq, agreement,"
        " crowd, answers, review,"
        " metrics,"
        " thresholds,"
        " policy, seed",
        ":8: unknown key 'runs' in [formulations.human]; choose from run, scores, rewrites, samples, answers",
        ":10: unknown key 'runs' in [formulations.\"qr:t5\"]; choose from run, scores, rewrites, samples, answers",
        ":14: unknown key 'set' in [groups.a]; choose from baseline, sets",
        ":4: unknown key 'level' in [policy]; choose from relevance_level, "
        "missing, order, depth, documents, unit, conversation, strict",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("qrels = \n", 1),
        ("a = 1\n\nb = 'x\n", 3),
        ("[policy]\n[policy]\n", 2),
        ("metrics = [\n", 1),
    ],
)
def test_what_is_not_toml_has_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_project(path)
    assert str(error.value).startswith(f"{path}:{line}: invalid TOML (")
    assert str(error.value).endswith("; check this line")


def test_lines_are_right_after_values_of_several_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        metrics = [
          "P_1",  # seed = 1
          "map",
        ]
        'name' = "x"
          seed = "7"
        """,
    )
    with pytest.raises(InputError) as error:
        read_project(path)
    assert str(error.value) == f"{path}:6: seed is '7'; {NUMBER}"


@pytest.mark.parametrize(
    ("key", "role", "name"),
    [("original", "original", "original"), ("human", "human", "human"), ("qr", "qr", "qr"), ("qr:t5", "qr", "t5"),
     ("qr:a:b", "qr", "a:b")],
)  # fmt: skip
def test_roles(key: str, role: str, name: str) -> None:
    assert parse_role(key) == (role, name)


@pytest.mark.parametrize("key", ["", "raw", "qr:", "human:x", "original:", ":t5", "QR"])
def test_what_is_not_a_role(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_role(key)
    assert str(error.value) == (
        f"unknown role {key!r}; write original, qr or human; qr:NAME or original:NAME if there are several"
    )
    path = tmp_path / "robustcs.toml"
    path.write_text(f'[formulations."{key}"]\nrun = "a"\n')
    with pytest.raises(InputError) as bad:
        read_project(path)
    assert str(bad.value) == f"{path}:1: {error.value}"


@pytest.mark.parametrize("name", ["original", "qr", "human"])
def test_a_rewriter_is_not_called_like_a_role(name: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_role(f"qr:{name}")
    assert str(error.value) == f"'qr:{name}' uses the role {name!r} as a name; choose another name"


def test_text_sources(tmp_path: Path) -> None:
    assert parse_text_source("a.tsv", tmp_path) == TextSource(tmp_path / "a.tsv")
    assert parse_text_source("a.tsv:query", tmp_path) == TextSource(tmp_path / "a.tsv", "query")
    assert parse_text_source("b:c/a.tsv", tmp_path) == TextSource(tmp_path / "b:c" / "a.tsv")
    assert parse_text_source("b:c/a.tsv:query", tmp_path) == TextSource(
        tmp_path / "b:c" / "a.tsv", "query"
    )
    assert parse_text_source("a:2020.tsv", tmp_path) == TextSource(tmp_path / "a", "2020.tsv")
    (tmp_path / "a:2020.tsv").write_text("1_1\tWhy?\n")
    assert parse_text_source("a:2020.tsv", tmp_path) == TextSource(tmp_path / "a:2020.tsv")
    assert parse_text_source("a:2020.tsv:query", tmp_path) == TextSource(
        tmp_path / "a:2020.tsv", "query"
    )


def test_the_file_of_the_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_project(None) == Project()
    write(tmp_path, 'name = "here"')
    assert find_project(None).name == "here"
    (tmp_path / "other.toml").write_text('name = "there"')
    assert find_project("other.toml").name == "there"
    with pytest.raises(InputError, match="absent.toml: no such file; check the path"):
        find_project("absent.toml")


def test_options_win_over_the_file() -> None:
    project = Project(
        formulations={
            "qr": Formulation("qr", "qr", scores=Path("a"), rewrites=(TextSource(Path("t")),))
        }
    )
    changed = project.with_formulation("qr", run=Path("b")).with_formulation(
        "qr:t5", scores=Path("c")
    )
    assert changed.formulations == {
        "qr": Formulation("qr", "qr", run=Path("b"), rewrites=(TextSource(Path("t")),)),
        "qr:t5": Formulation("qr", "t5", scores=Path("c")),
    }
    assert changed.with_formulation("qr", scores=Path("d")).formulations["qr"].run is None
    assert project.formulations["qr"].scores == Path("a"), "the project itself stays as it is"


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 100_000, "seed = " + "1" * 5000, "[a" + ".a" * 2000 + "]\nb = 1"]
)
def test_endless_values_are_a_problem_of_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "robustcs.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_project(path)
    assert str(error.value).startswith(f"{path}:") and "invalid TOML" in str(error.value)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: f"{source.table}.{source.key}")
def test_every_source_has_a_reader(source: Source) -> None:
    # readers are named by strings, so that --help imports none of them: no type checker follows those
    module, name = READERS[source.reader].split()[0].split(".")
    assert callable(getattr(import_module(f"robustcs.inputs.{module}"), name))
