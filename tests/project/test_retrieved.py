"""Runs that were retrieved before: used as they are while all that made them holds, wherever they lie."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.errors import InputError
from robustcs.inputs.files import sha256
from robustcs.inputs.paths import pooled, sidecar_path
from robustcs.project.model import Project, TextSource
from robustcs.project.open_questions import Maker, systems_of
from robustcs.project.workspace import Workspace
from robustcs.retrieval import java
from robustcs.retrieval.index import index_state
from robustcs.retrieval.settings import RetrievalSettings
from robustcs.retrieval.sidecar import Sidecar, read_sidecar, text_checksums
from tests.retrieval_support import project_retrieved_before

MANY = "70 turns (1_1, 1_2, 1_3, 1_4, 1_5 …)"
FORBIDDEN = "; retrieve them with robustcs retrieve, or omit --no-retrieve\n"


@pytest.fixture
def project(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a project whose runs were retrieved before, on a machine without Java, index and store."""
    folder = project_retrieved_before(demo, tmp_path / "project")
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.chdir(folder)
    return folder


def call(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capfd.readouterr()
    code = run([str(argument) for argument in arguments])
    return int(code), *capfd.readouterr()


def edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new, 1))


EVALUATE = ("evaluate", "--metric", "ndcg_cut_3", "--format", "json")


def test_without_index_store_and_java(
    capfd: pytest.CaptureFixture[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = call(capfd, *EVALUATE, "--no-retrieve")
    assert (code, err) == (0, "")
    shutil.move(project, project.parent / "moved")
    monkeypatch.chdir(project.parent / "moved")
    assert call(capfd, *EVALUATE) == (0, out, "")
    checked = json.loads(call(capfd, "check", "--format", "json")[1])
    files = [
        (row["role"], row["path"])
        for row in checked["tables"]["files"]
        if row["rows"] and "retrieved/" in row["path"]
    ]
    assert files == [(name, f"retrieved/{name}.trec") for name in ("original", "qr", "human")]
    runs = {row["command"]: row["runs"] for row in checked["tables"]["commands"]}
    assert runs["evaluate"] and runs["breakdown"] and runs["retrieve"] and runs["report"]
    assert call(capfd, "retrieve")[2].endswith("nothing to do: every question has a run\n")


def test_a_changed_text_is_one_question(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    lines = Path("qr.tsv").read_text().splitlines()
    turn = lines[9].split("\t")[0]
    Path("qr.tsv").write_text("\n".join([*lines[:9], f"{turn}\tWho else?", *lines[10:]]) + "\n")
    found = f"robustcs: no run answers 1 turn ({turn}) of qr"
    assert call(capfd, *EVALUATE, "--no-retrieve") == (2, "", found + FORBIDDEN)
    notes = json.loads(call(capfd, "check", "--format", "json")[1])["notes"]
    assert f"no run answers 1 turn ({turn}) of qr; robustcs retrieve creates one" in notes
    plan = json.loads(call(capfd, "retrieve", "--dry-run", "--format", "json")[1])["tables"]["plan"]
    assert [row["to_retrieve"] for row in plan] == [0, 1, 0, 1]
    edit("robustcs.toml", 'collection = "collection.jsonl"\n', "")
    advice = "there is no index at index; name one with robustcs retrieve --index"
    assert call(capfd, *EVALUATE)[::2] == (2, f"{found}; {advice}\n")


def test_a_text_that_is_gone_is_gone_from_the_run(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    lines = Path("qr.tsv").read_text().splitlines(keepends=True)
    turn, before = lines[9].split("\t")[0], Path("retrieved/qr.trec").read_text().splitlines()
    Path("qr.tsv").write_text("".join(lines[:9] + lines[10:]))
    code, _, err = call(capfd, *EVALUATE, "--no-retrieve")
    assert code == 0 and err.endswith("wrote retrieved/qr.trec\n")
    kept = [line for line in before if not line.startswith(f"{turn} ")]
    assert len(kept) < len(before) and sorted(
        Path("retrieved/qr.trec").read_text().splitlines()
    ) == sorted(kept)
    assert call(capfd, *EVALUATE, "--no-retrieve")[2] == ""


def test_an_edited_run_is_an_error(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    edit("retrieved/qr.trec", "1_1 Q0 ", "1_1 Q0 x")
    error = (
        "retrieved/qr.trec: changed since robustcs retrieved it: qr.trec.texts.json has another checksum; delete both files"
        " to retrieve it again; or, to use the run as it is, delete qr.trec.texts.json and name the run in robustcs.toml"
        ' (run = "retrieved/qr.trec")\n'
    )
    assert call(capfd, *EVALUATE) == (3, "", error)
    assert call(capfd, "check")[::2] == (3, error)
    # where the project names the run itself, too
    given = (
        "--original",
        "retrieved/original.trec",
        "--qr",
        "retrieved/qr.trec",
        "--human",
        "retrieved/human.trec",
    )
    shutil.move("robustcs.toml", "other.toml")
    options = (*EVALUATE, "--qrels", "qrels.txt", *given)
    assert call(capfd, *options) == (3, "", error)
    Path("retrieved/qr.trec.texts.json").unlink()
    assert call(capfd, *options)[0] == 0
    # without its record the run is a stranger, which is told before anything is indexed, until the project names it
    shutil.move("other.toml", "robustcs.toml")
    there = (
        "robustcs: retrieved/qr.trec exists already, and robustcs did not write it; to use it, name it as the run of qr; else"
        " choose another folder with --folder or in [retrieval]\n"
    )
    for command in (EVALUATE, ("retrieve",)):
        assert call(capfd, *command) == (2, "", there)
    edit("robustcs.toml", "[formulations.qr]", '[formulations.qr]\nrun = "retrieved/qr.trec"')
    assert call(capfd, *EVALUATE)[::2] == (0, "")


@pytest.mark.parametrize(
    "setting", ["depth = 49", "b = 0.5", 'model = "ql"', "rm3 = true", 'reranker = "model"']
)
def test_other_parameters_are_other_runs(
    capfd: pytest.CaptureFixture[str], project: Path, setting: str
) -> None:
    edit("robustcs.toml", "depth = 50\n" if "depth" in setting else "\nstore =", f"{setting}\n" if "depth" in setting else
         f"\n{setting}\nstore =")  # fmt: skip
    found = "; ".join(f"{MANY} of {name}" for name in ("original", "qr", "human"))
    assert call(capfd, *EVALUATE, "--no-retrieve") == (
        2,
        "",
        f"robustcs: no run answers {found}{FORBIDDEN}",
    )


def test_the_index_that_is_there_decides(capfd: pytest.CaptureFixture[str], project: Path) -> None:
    Path("index").mkdir()
    Path("index/segments_1").write_text("another index")
    assert call(capfd, *EVALUATE, "--no-retrieve")[0] == 2
    for name in ("original", "qr", "human"):
        path = Path(f"retrieved/{name}.trec.texts.json")
        path.write_text(path.read_text().replace("0" * 64, index_state("index").checksum))
    assert call(capfd, *EVALUATE, "--no-retrieve")[::2] == (0, "")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"run": 1, "texts": {}}', '{"run": "x", "texts": []}', '{"run": "x", "texts": {}, "made": 3}', "{",
     '{"run": "x", "texts": {}, "made": null}'],
)  # fmt: skip
def test_a_broken_record_is_told(
    capfd: pytest.CaptureFixture[str], project: Path, content: str
) -> None:
    Path("retrieved/qr.trec.texts.json").write_text(content)
    code, out, err = call(capfd, *EVALUATE)
    assert (code, out) == (3, "") and err.startswith("retrieved/qr.trec.texts.json:")
    assert call(capfd, "check")[0] == 3


def test_a_strange_record_makes_nothing_valid(
    capfd: pytest.CaptureFixture[str], project: Path
) -> None:
    path = Path("retrieved/qr.trec.texts.json")
    whole = json.loads(path.read_text())
    strange = [{"index": {}}, {"depth": "50"}, {"parameters": None}, {"more": 1}, {"rewriter": ""}]
    for made in strange:
        path.write_text(json.dumps({**whole, "made": {**whole["made"], **made}}))
        expected = 0 if made == {"index": {}} else 2  # what nobody can compare is believed
        assert call(capfd, *EVALUATE, "--no-retrieve")[0] == expected, made
    path.write_text(json.dumps({**whole, "texts": {**whole["texts"], "1_1": 5}}))
    assert "1 turn (1_1) of qr" in call(capfd, *EVALUATE, "--no-retrieve")[2]


# ------------------------------------------------------------ rewriters, models, given runs


def answered(
    folder: Path, settings: RetrievalSettings, given: bool = False
) -> Callable[[], tuple[tuple[str, ...], bool]]:
    """A raw set and its run, retrieved with ``settings``; the function gives what is open, and whether the run holds."""
    (folder / "raw.tsv").write_text(
        "1_1\tHow do bees live?\n1_2\tWhat do they eat?\n2_1\tAnd ants?\n2_2\tIn winter?\n"
    )
    (folder / "retrieved").mkdir(exist_ok=True)
    source = {"raw": TextSource(folder / "raw.tsv")}
    (folder / "given.trec").write_text("1_1 Q0 g 1 1.0 mine\n9_9 Q0 g 1 1.0 mine\n")
    project = Project(
        raw_texts=source, retrieval=settings, runs={"raw": folder / "given.trec"} if given else {}
    )

    def systems() -> tuple[tuple[str, ...], bool]:
        (system,) = systems_of(Workspace(project))
        return system.open, system.run is not None

    path = Maker(settings).run_path("raw")
    path.write_text("1_1 Q0 d 1 2.0 robustcs\n")
    texts = dict(line.split("\t") for line in (folder / "raw.tsv").read_text().splitlines())
    made = {
        **Maker(settings).makes(True, folder / "given.trec" if given else None),
        "software": "any",
    }
    sidecar_path(path).write_text(
        Sidecar(sha256(path), text_checksums(texts, True), made).as_text()
    )
    return systems


def test_a_raw_text_changes_what_later_turns_ask(tmp_path: Path) -> None:
    left = answered(
        tmp_path,
        RetrievalSettings(tmp_path / "index", folder=tmp_path / "retrieved", rewriter="previous"),
    )
    assert left() == ((), True)
    edit(str(tmp_path / "raw.tsv"), "And ants?", "And wasps?")
    assert left() == (("2_1", "2_2"), False)
    edit(str(tmp_path / "raw.tsv"), "What do they eat?", "What?")
    assert left() == (("1_2", "2_1", "2_2"), False)


@pytest.mark.parametrize("what", ["rewriter", "reranker"])
def test_a_model_decides_while_it_is_there(tmp_path: Path, what: str) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_text("1")
    model = {"rewriter": str(tmp_path / "model"), "reranker": tmp_path / "model"}[what]
    base = RetrievalSettings(tmp_path / "index", folder=tmp_path / "retrieved", **{what: model})  # type: ignore[arg-type]
    left = answered(tmp_path, base)
    assert left() == ((), True)
    (tmp_path / "model" / "weights").write_text("2")
    assert left() == (("1_1", "1_2", "2_1", "2_2"), False)
    shutil.rmtree(tmp_path / "model")
    assert left() == ((), True)
    sidecar = sidecar_path(tmp_path / "retrieved" / "raw.trec")
    sidecar.write_text(sidecar.read_text().replace('"model (', '"another ('))
    assert left() == (("1_1", "1_2", "2_1", "2_2"), False)


def test_a_given_run_with_changed_texts(tmp_path: Path) -> None:
    settings = RetrievalSettings(
        tmp_path / "index", folder=tmp_path / "retrieved", rewriter="first"
    )
    left = answered(tmp_path, settings, given=True)
    given = tmp_path / "given.trec"
    old = {"1_1": "How do bees live?", "1_2": "What?", "2_1": "And ants?", "2_2": "In winter?"}
    sidecar_path(given).write_text(Sidecar(sha256(given), text_checksums(old, True)).as_text())
    assert left() == ((), True)  # the run retrieved before has the changed turn
    edit(str(tmp_path / "raw.tsv"), "In winter?", "In spring?")
    assert left() == (("2_2",), False)
    # of another given run the texts are not known, so that it counts as it is
    given.write_text("1_1 Q0 h 1 1.0 mine\n")
    assert left() == ((), True)
    sidecar_path(given).write_text(Sidecar(sha256(given), text_checksums(old, True)).as_text())
    assert left() == (("1_2", "2_2"), False)


def test_texts_of_turns_are_known_by_their_history_only_where_it_counts() -> None:
    texts = {"1_2": "two", "1_1": "one", "2_1": "two"}
    plain, raw = text_checksums(texts, False), text_checksums(texts, True)
    assert plain["1_2"] == plain["2_1"] and list(plain) == list(raw) == list(texts)
    assert raw["1_1"] == plain["1_1"] and raw["2_1"] == plain["2_1"] and raw["1_2"] != plain["1_2"]


def test_a_run_is_checked_only_against_what_robustcs_made(tmp_path: Path) -> None:
    run_file = tmp_path / "r.trec"
    run_file.write_text("1_1 Q0 d 1 2.0 x\n")
    sidecar_path(run_file).write_text(Sidecar("other", {"1_1": "x"}).as_text())
    system = Project(runs={"r": run_file})
    assert len(Workspace(system).per_run([("r", run_file)], len_of)) == 1
    sidecar_path(run_file).write_text(Sidecar("other", {}, {"depth": 3}).as_text())
    joined = pooled([tmp_path / "other.trec", run_file])
    (tmp_path / "other.trec").write_text("2_1 Q0 d 1 2.0 x\n")
    with pytest.raises(InputError, match="r.trec: changed since robustcs retrieved it"):
        Workspace(system).per_run([("r", joined)], len_of)
    with pytest.raises(InputError, match="r.trec: changed since robustcs retrieved it"):
        Workspace(system).per_run([("r", run_file)], len_of)
    assert read_sidecar(run_file) == Sidecar("other", {}, {"depth": 3})


def len_of(ranking: object) -> int:
    return 1
