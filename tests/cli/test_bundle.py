"""``robustcs bundle``: a study that is repeated elsewhere, byte for byte."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from robustcs.cli.main import run
from robustcs.overwrite_guard import protection
from robustcs.project import bundle
from robustcs.project.reading import read_project
from robustcs.retrieval import java
from tests.retrieval_support import project_retrieved_before

COMMANDS = [
    "breakdown", "sweep", "correlate", "evaluate", "unjudged", "augment --what-if 2", "judge --list", "diversity", "passages",
    "robustness --group g=human,original,qr", "retrieve --dry-run", "check",
]  # fmt: skip


@pytest.fixture
def study(demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: a project whose runs were retrieved before, on a machine without Java."""
    folder = project_retrieved_before(demo, tmp_path / "study")
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.chdir(folder)
    return folder


def call(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capfd.readouterr()
    code = run([str(argument) for argument in arguments])
    return int(code), *capfd.readouterr()


def outputs(
    capfd: pytest.CaptureFixture[str], folder: Path, commands: list[str]
) -> dict[str, object]:
    """Command → exit code, what it prints and says, in ``folder``; of the JSON no checksum of the collection."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        found: dict[str, object] = {}
        for command in commands:
            code, out, err = call(capfd, *command.split(), "--format", "json")
            assert code == 0, err
            answer = json.loads(out)
            answer["inputs"] = [one for one in answer["inputs"] if one["role"] != "collection"]
            for row in answer["tables"].get("files", []):
                row["path"] = row["path"].replace("collection_pool.jsonl", "collection.jsonl")
            found[command] = (json.dumps(answer), err)
        return found
    finally:
        os.chdir(before)


def listed(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


@pytest.mark.parametrize(
    "commands", [COMMANDS[::3], pytest.param(COMMANDS, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_every_command_says_the_same_elsewhere(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path, commands: list[str]
) -> None:
    config = Path("robustcs.toml").read_text()
    code, out, err = call(capfd, "bundle", tmp_path / "out")
    assert code == 0 and err.endswith(
        "copied 280 of 300 passages: those that are retrieved or judged\n"
    )
    names = listed(tmp_path / "out")
    size = sum((tmp_path / "out" / name).stat().st_size for name in names) / 1e6
    assert out == f"wrote {tmp_path / 'out'}: 11 files, {size:.1f} MB\n"
    assert names == sorted(["collection_pool.jsonl", "qr.tsv", "qrels.txt", "robustcs.toml", "topics.json",
                            *(f"retrieved/{name}.trec{end}" for name in ("original", "qr", "human")
                              for end in ("", ".texts.json"))])  # fmt: skip
    assert str(tmp_path) not in "".join((tmp_path / "out" / name).read_text() for name in names)
    before = outputs(capfd, study, commands)
    shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    shutil.move(study, tmp_path / "gone")
    assert outputs(capfd, tmp_path / "elsewhere", commands) == before
    # a bundle of the bundle is the bundle
    os.chdir(tmp_path / "elsewhere")
    assert call(capfd, "bundle", "../twice")[0] == 0 and listed(tmp_path / "twice") == names
    for name in names:
        assert (tmp_path / "twice" / name).read_bytes() == (
            tmp_path / "elsewhere" / name
        ).read_bytes()
    assert (tmp_path / "gone" / "robustcs.toml").read_text() == config


def test_a_report_is_the_same_elsewhere(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path, undrawn: None
) -> None:
    kept = [
        line
        for line in Path("collection.jsonl").read_text().splitlines(keepends=True)
        if '"other' not in line
    ]
    # a collection without further passages is copied as it is
    Path("collection.jsonl").write_text("".join(kept))
    Path("robustcs.toml").write_text('name = "Bees"\n' + Path("robustcs.toml").read_text())
    assert call(capfd, "bundle", tmp_path / "out")[2] == ""
    assert (tmp_path / "out" / "robustcs.toml").read_bytes() == Path("robustcs.toml").read_bytes()
    reports = []
    for folder in (study, tmp_path / "out"):
        os.chdir(folder)
        assert (
            call(capfd, "report", "--metric", "ndcg_cut_3", "--no-retrieve", "--output", "made")[0]
            == 0
        )
        names = [name for name in listed(folder / "made") if not name.startswith(".")]
        reports.append({name: (folder / "made" / name).read_bytes() for name in names})
    assert len(reports[0]) > 50 and reports[0] == reports[1]
    # with a folder of the machine in its path there would be a difference
    assert not any(str(tmp_path).encode() in content for content in reports[0].values())


#: Commands of the demo, those with files of their own first.
_OF_DEMO = ["clariq", "agreement", "crowd", "breakdown", "answers", "evaluate", "check", "audit"]


@pytest.mark.parametrize(
    "commands",
    [_OF_DEMO[:4], pytest.param(_OF_DEMO[4:], marks=pytest.mark.long)],
    ids=["some", "others"],
)
def test_a_project_without_retrieval(
    capfd: pytest.CaptureFixture[str], demo: Path, tmp_path: Path, commands: list[str]
) -> None:
    code, out, err = call(capfd, "bundle", "--config", demo / "robustcs.toml", tmp_path / "out")
    assert (code, err) == (0, "") and "51 files" in out
    assert outputs(capfd, tmp_path / "out", commands) == outputs(capfd, demo, commands)


def test_tasks_hold_passages_and_much_besides(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tasks"
    folder.mkdir()
    monkeypatch.chdir(folder)
    contexts = [
        {"document_id": f"d{place}", "score": 3.0 - place, "text": f"text {place}"}
        for place in range(2)
    ]
    turns = [f"c{talk}<::>{depth}" for talk in range(3) for depth in (1, 2)]
    tasks = [{"task_id": turn, "contexts": contexts} for turn in turns]
    Path("tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    Path("qrels.txt").write_text("".join(f"{turn} 0 d1 1\n" for turn in turns))
    Path("robustcs.toml").write_text(
        'qrels = "qrels.txt"\ncollection = "tasks.jsonl"\n[runs]\na = "tasks.jsonl"\n'
    )
    assert call(capfd, "bundle", tmp_path / "out")[::2] == (0, "")
    assert listed(tmp_path / "out") == ["qrels.txt", "robustcs.toml", "tasks.jsonl"]
    commands = ["evaluate", "unjudged"]
    assert outputs(capfd, tmp_path / "out", commands) == outputs(capfd, folder, commands)


def test_an_edited_run_is_not_bundled(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path
) -> None:
    text = Path("robustcs.toml").read_text()
    runs = '[runs]\na = ["retrieved/qr.trec", "other.trec"]\n'
    Path("robustcs.toml").write_text(text[: text.index("[retrieval]")] + runs)
    Path("other.trec").write_text("x_1 Q0 d 1 2.0 x\n")
    Path("retrieved/qr.trec").write_text("1_1 Q0 d 1 2.0 x\n")
    code, _, err = call(capfd, "bundle", tmp_path / "out")
    assert code == 3 and err.startswith(
        "retrieved/qr.trec: changed since robustcs retrieved it: "
    ), err
    assert not (tmp_path / "out").exists()


def test_files_from_elsewhere_are_taken_in(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    for folder in ("a", "b", "runs"):
        (data / folder).mkdir(parents=True)
    hostile = 'x "y"\n; Ä:é\x7f.tsv'
    shutil.move("qr.tsv", data / hostile)
    shutil.move("topics.json", data / "a" / "robustcs.toml")
    for letter in "ab":
        shutil.copy("retrieved/qr.trec", data / letter / "r.trec")
    shutil.copy("retrieved/qr.trec.texts.json", data / "a" / "r.trec.texts.json")
    shutil.move("retrieved", data / "runs" / "mine")
    topics = json.dumps(str(data / "a" / "robustcs.toml"))[1:-1]
    shown = json.dumps(f"../data/{hostile}")
    text = (
        Path("robustcs.toml")
        .read_text()
        .replace("topics.json", topics)
        .replace('"qr.tsv"', shown.replace("\x7f", "\\u007f"))
    )
    text = text.replace(
        'index = "index"',
        f'index = "{data}/index"\nfolder = "../data/runs/mine"\nrewriter = "{data}/gone"',
    )
    text = text.replace('"store.sqlite"', f'"{data}/store.sqlite"')
    runs = f'[runs]\nlast = "{data}/b/r.trec"\n"../data/b/r.trec" = "./../data/a/r.trec"\n"d" = "{study}/../data/b/r.trec"\n'
    Path("robustcs.toml").write_text(
        f'{text}\n{runs}[groups.g]\nbaseline = "human"\nsets = ["../data/b/r.trec"]\n'
    )
    code, _, err = call(capfd, "bundle", tmp_path / "out", "--trust")
    assert code == 0, err
    assert "copied from outside the project folder: " in err
    assert listed(tmp_path / "out") == sorted([
        "collection_pool.jsonl", "files/2/r.trec", f"files/{hostile}", "files/r.trec", "files/robustcs.toml", "qrels.txt",
        "robustcs.toml", "files/2/r.trec.texts.json",
        *(f"retrieved/{name}.trec{end}" for name in ("original", "qr", "human") for end in ("", ".texts.json")),
    ])  # fmt: skip
    os.chdir(tmp_path / "out")
    with protection():
        project = read_project("robustcs.toml")  # without trust
    assert (
        project.retrieval is not None
        and project.retrieval.store is None
        and project.retrieval.rewriter == "gone"
    )
    assert [str(path) for path in project.runs.values()] == [
        "files/r.trec",
        "files/2/r.trec",
        "files/r.trec",
    ]
    assert project.groups["g"].sets == ("../data/b/r.trec",) and project.name == "study"
    shutil.rmtree(data)
    assert call(capfd, "evaluate", "--no-retrieve", "--metric", "ndcg_cut_3")[0] == 0


def test_what_cannot_be_copied_is_told(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path
) -> None:
    config = Path("robustcs.toml")
    config.write_text(
        config.read_text().replace(
            'collection = "collection.jsonl"\n', 'new_judgments = ["https://example.org/q"]\n'
        )
    )
    assert (
        "not copied: https://example.org/q\n"
        in call(capfd, "bundle", tmp_path / "out", "--trust")[2]
    )
    assert "https://example.org/q" in (tmp_path / "out" / "robustcs.toml").read_text()


@pytest.mark.parametrize(
    "place", ["full", "file.txt", "qrels.txt", "retrieved", ".", "absent/out", "led/out"]
)
def test_where_no_bundle_is_written(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path, place: str
) -> None:
    Path("full").mkdir()
    Path("full/mine").write_text("mine")
    Path("file.txt").write_text("mine")
    (tmp_path / "away").mkdir()
    Path("led").symlink_to(tmp_path / "away")
    before = listed(tmp_path)
    code, out, err = call(capfd, "bundle", place)
    there = f"robustcs: {place} exists already and is not an empty folder; name another folder\n"
    told = {
        "qrels.txt": (2, "robustcs: qrels.txt is an input, which is never overwritten; choose another name for the output\n"),
        "absent/out": (3, "robustcs: absent/out: not written, its folder does not exist; create the folder first\n"),
        "led/out": (3, f"led/out: would be written outside the project folder ({tmp_path}/away/out); add --trust if"),
    }  # fmt: skip
    expected, message = told.get(place, (2, there))
    assert (code, out) == (expected, "") and message in err
    assert listed(tmp_path) == before


def test_an_empty_folder_is_filled(capfd: pytest.CaptureFixture[str], study: Path) -> None:
    Path("out").mkdir()
    assert call(capfd, "bundle", "out")[0] == 0 and Path("out/robustcs.toml").is_file()


def test_nothing_is_left_where_it_cannot_be_written(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(tmp_path.rglob("*"))
    copy = shutil.copyfile

    def full(source: Path, target: Path) -> None:
        if "human" in target.name:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        copy(source, target)

    monkeypatch.setattr(bundle.shutil, "copyfile", full)
    told = f"robustcs: {tmp_path / 'out'}: not written, no space left on device; free some space, or write elsewhere\n"
    assert call(capfd, "bundle", tmp_path / "out")[::2] == (3, told)
    assert sorted(tmp_path.rglob("*")) == before
    Path("qr.tsv").write_text("")
    assert call(capfd, "bundle", tmp_path / "out")[0] == 3 and sorted(tmp_path.rglob("*")) == before


def test_a_question_without_a_run(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path
) -> None:
    with Path("qr.tsv").open("a") as stream:
        stream.write("99_1\tWho?\n")
    advice = "retrieve them with robustcs retrieve, or omit --no-retrieve"
    told = f"robustcs: no run answers 1 turn (99_1) of qr; {advice}\n"
    assert call(capfd, "bundle", tmp_path / "out", "--no-retrieve") == (2, "", told)
    assert not (tmp_path / "out").exists()


def test_a_question_without_a_run_and_without_an_index_is_told(
    capfd: pytest.CaptureFixture[str], study: Path, tmp_path: Path
) -> None:
    config, human = Path("robustcs.toml"), "[formulations.human]"
    text = config.read_text().partition("[retrieval]")[0]
    config.write_text(text.replace(human, f'{human}\nrun = "retrieved/human.trec"'))
    advice = "; retrieve them with robustcs retrieve --index FOLDER, or set an index in [retrieval] of robustcs.toml\n"
    some = "70 turns (1_1, 1_2, 1_3, 1_4, 1_5 …)"
    for more in ([], ["--no-retrieve"]):
        code, _, err = call(capfd, "bundle", tmp_path / f"out{len(more)}", *more)
        assert (
            code == 0 and f"\nno run answers {some} of original; {some} of qr{advice}" in f"\n{err}"
        )


def test_without_a_project_file(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = "robustcs: robustcs.toml: no such project file; create one with robustcs init, or name it with --config\n"
    assert call(capfd, "bundle", "out") == (2, "", told)
