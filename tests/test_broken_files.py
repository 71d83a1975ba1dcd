"""Every command × every file it takes × every way in which it can be broken: exit 2, 3 or 4, clear lines, nothing written.

The files of a command are found in the program: options that name files, and files that the project names and the command
opens. A new command, or a new option that takes a file, fails here until it has a line in ``tests/small_project.py``.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from robustcs.cli.main import run
from tests.conftest import COMMANDS, options_of, parsed
from tests.small_project import (
    BROKEN,
    FEW,
    FILES,
    FOREIGN,
    KINDS,
    LINES,
    READ_ALL,
    SOUND_ALL_THE_SAME,
    TOML,
    WRONG,
)

#: Options that name what is written.
OUTPUTS = {"output", "write_qrels", "html", "export"}
#: Options that name folders: of models and indexes (with a command line that uses them), and of what is written.
FOLDERS = {
    "use": f"correlate {LINES['correlate'][1]} --use gone",
    "sentence_transformer": f"correlate {LINES['correlate'][1]} --sentence-transformer gone",
    "reranker": "retrieve --index gone --reranker gone --texts m1=human.tsv",
    "index": "retrieve --index gone --texts m1=human.tsv",
    "folder": "init gone",
    "out": "bundle out --config gone.toml",
}
#: Lines on stderr that tell of work and not of an error.
PROGRESS = ("· ", "reading ", "wrote ")

pytestmark = pytest.mark.usefixtures("undrawn")

_opened: set[str] | None = None
#: Command and line → the files that they open.
_opened_by: dict[tuple[str, str], set[str]] = {}


def _note_open(event: str, arguments: tuple[Any, ...]) -> None:
    if (
        event == "open"
        and _opened is not None
        and isinstance(arguments[0], str | bytes | os.PathLike)
    ):
        _opened.add(Path(os.fsdecode(arguments[0])).name)


sys.addaudithook(_note_open)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    # judging takes its keys from there: none
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return tmp_path


def write_sound(folder: Path, line: str) -> None:
    """The small project; with its project file only for lines that leave the files to it."""
    for path in folder.iterdir():
        if path.name != "home":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    if not named_files(line) or "robustcs.toml" in line:
        (folder / "robustcs.toml").write_text(TOML, encoding="utf-8")


def named_files(line: str) -> list[str]:
    return [
        file
        for word in shlex.split(line)
        if (file := word.rpartition("=")[2]) in FILES or file == "robustcs.toml"
    ]


def opened_by(folder: Path, command: str, line: str) -> set[str]:
    """The files that a sound call opens."""
    global _opened
    if (command, line) not in _opened_by:
        write_sound(folder, line)
        _opened = set()
        try:
            code = run([command, *shlex.split(line)])
        finally:
            opened, _opened = _opened, None
        assert code == 0, f"{command} {line}"
        _opened_by[command, line] = opened & KINDS.keys()
    return _opened_by[command, line]


def contents(folder: Path) -> dict[str, bytes]:
    """All files, but for the finished sections that a report keeps for its next start."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): path.read_bytes() for path in files if os.access(path, os.R_OK)}


def breakages(name: str) -> Iterator[tuple[str, bytes | None]]:
    """(how, bytes) of every broken form of a file; None is for what is no file at all."""
    sound, kind = (TOML if name == "robustcs.toml" else FILES[name]).encode(), KINDS[name]
    forms = {how: change(sound) for how, change in BROKEN.items()} | {
        f"{KINDS[other]} in its place": FILES[other].encode() for other in WRONG if KINDS[other] != kind
    }  # fmt: skip
    if kind == "run":
        forms["score is nan"] = re.sub(rb"(?m)^(\S+ \S+ \S+ \S+) \S+", rb"\1 nan", sound, count=1)
    if kind in FOREIGN:
        forms["foreign ids"] = re.sub(rb"(?m)^[0-9]+(?=[_\s])", rb"x\g<0>", sound)
        assert forms["foreign ids"] != sound
    if kind == "project":
        forms |= {"no TOML": b"qrels = qrels.txt\n", "unknown key": b"qrel = 'qrels.txt'\n"}
        forms["unknown measure"] = b"metrics = ['ndgc']\n"
    yield from forms.items()
    yield from (
        (how, None)
        for how in ("missing", "a folder", *(() if os.geteuid() == 0 else ("no permission",)))
    )


def put(path: Path, how: str, data: bytes | None) -> None:
    path.unlink(missing_ok=True)
    if how == "a folder":
        path.mkdir()
    elif how != "missing":
        path.write_bytes(data or b"")
        path.chmod(0o000 if how == "no permission" else 0o644)


def complaint(command: str, code: int, out: str, err: str, file: str) -> str | None:
    """What is wrong with the answer to a broken file; None where it is as it should be."""
    said = [line for line in err.splitlines() if not line.startswith(PROGRESS)]
    if code not in (2, 3, 4):
        return f"exit {code}: {err[-300:]}"
    if code == 3 and (
        not said or any(file not in line and not line.startswith("… and ") for line in said)
    ):
        return f"a line without {file}: {said}"
    # what can be read and does not fit is told in one line that names what does not
    if code != 3 and (len(said) != 1 or not said[0].startswith("robustcs: ")):
        return f"not one line: {said}"
    # check says of every file how it is, and fails then
    if out and command != "check":
        return f"stdout: {out[:200]}"
    return None


#: A report takes every option of the studies, and the demo is a report.
_OPTIONS = [
    pytest.param(name, marks=[pytest.mark.long] * (name in ("demo", "report"))) for name in COMMANDS
]


@pytest.mark.parametrize("command", _OPTIONS)
def test_every_option_that_takes_a_file_is_used_or_reads_none(
    command: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    takes = {}
    for parameter in (
        *options_of(command),
        *(one for one in COMMANDS[command].params if isinstance(one, click.Argument)),
    ):
        metavar = parameter.metavar or ("FOLDER" if isinstance(parameter, click.Argument) else "")
        if (
            re.search(r"FILE|FOLDER|DIR|MODEL|GRADES|HOW", metavar)
            and parameter.name not in OUTPUTS
        ):
            takes[parameter.name] = parameter
    used: set[str] = set()
    for line in LINES[command]:
        opened = opened_by(folder, command, line)
        assert set(named_files(line)) <= opened, f"{command} {line} opens only {opened}"
        given = parsed(f"{command} {line}")
        used |= {
            name
            for name in takes
            if given.get(name) and named_files(shlex.join(map(str, _all(given[name]))))
        }
    for name in takes.keys() - used - FOLDERS.keys() - {"config"}:
        value = (
            takes[name]
            .metavar.replace("[", "")
            .split(":")[0]
            .replace("ROLE", "qr")
            .replace("NAME", "new")
            .replace("]", "")
        )
        write_sound(folder, "")
        (folder / "extra").write_text("nothing that could be read\n")
        code = run(
            [
                command,
                *shlex.split(LINES[command][0]),
                takes[name].opts[0],
                value.replace("FILE", "extra"),
            ]
        )
        assert code in (0, 2), f"{command} {takes[name].opts[0]} reads its file: give it a line"
    capfd.readouterr()


def _all(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize(
    "rest", [False, pytest.param(True, marks=pytest.mark.long)], ids=["one in ten", "the rest"]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_broken_files(
    command: str, rest: bool, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wrong = []
    # about twenty forms of a file: each is broken in one or two ways, and these differ between files and commands
    numbers = itertools.count(list(COMMANDS).index(command))
    for line in LINES[command][:1] if command in READ_ALL else LINES[command]:
        named = named_files(line)
        for name in named or READ_ALL.get(command) or sorted(opened_by(folder, command, line)):
            for how, data in breakages(name):
                sound = {(KINDS[name], how), (command, KINDS[name], how)} & SOUND_ALL_THE_SAME
                if sound or (how not in FEW and not named) or rest is (next(numbers) % 10 == 0):
                    continue
                write_sound(folder, line)
                # what stands on the command line is broken under another name, so that the other options keep their files
                file = f"broken{Path(name).suffix}" if name in named else name
                put(folder / file, how, data)
                before = contents(folder)
                words = [
                    re.sub(rf"(^|=){re.escape(name)}$", rf"\1{file}", word)
                    for word in shlex.split(line)
                ]
                capfd.readouterr()
                try:
                    told = complaint(command, run([command, *words]), *capfd.readouterr(), file)
                except Exception as error:
                    told = repr(error)
                # what a report has computed is kept for the next time
                shutil.rmtree(folder / "reports", ignore_errors=True)
                if told is None and contents(folder) != before:
                    told = "the folder has changed"
                if told:
                    wrong.append(f"{name}, {how}, {told}\n    {shlex.join([command, *words])}")
    assert not wrong, f"{len(wrong)} answers\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "command", [name for name in COMMANDS if name not in ("demo", "init", "try-program", "bundle")]
)
@pytest.mark.parametrize(
    "option", ["--metric ndgc_cut_3", "--threshold nope", "--config gone.toml"]
)
def test_broken_settings(
    command: str, option: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Told in one line by a command that takes the option; refused like any unknown option by the others."""
    write_sound(folder, "")
    before = contents(folder)
    code = run([command, *shlex.split(LINES[command][0]), *option.split()])
    out, err = capfd.readouterr()
    assert code in (2, 3) and out == "" and contents(folder) == before and "Traceback" not in err
    name, value = option.split()
    if any(name in parameter.opts for parameter in options_of(command)):
        assert len(err.splitlines()) == 1 and "No such option" not in err
        assert value in err or ("threshold" in option and "threshold" in err)
    else:
        assert code == 2 and err.splitlines()[-1].startswith(f"Error: No such option '{name}'.")


@pytest.mark.parametrize("line", FOLDERS.values())
def test_missing_folders(line: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_sound(folder, "--qrels qrels.txt")
    before = contents(folder)
    assert run(shlex.split(line)) in (2, 3, 4)
    out, err = capfd.readouterr()
    assert out == "" and err.splitlines() and "Traceback" not in err and contents(folder) == before


def test_every_command_has_lines() -> None:
    assert set(LINES) == set(COMMANDS)
