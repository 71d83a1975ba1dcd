"""Projects that somebody else wrote to do harm: opening one runs nothing, fetches nothing, writes nothing outside its folder,
and neither fills the memory nor runs for minutes (docs/safety.md).

Every project is made on the spot, and real commands read it in a process of its own. That process tells of every connection,
program and file outside the project that was opened for writing, as Python's audit hooks see them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shlex
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
QRELS = "1_1 0 d1 2\n1_1 0 d2 0\n1_2 0 d1 0\n1_2 0 d3 1\n"
RUN = "1_1 Q0 d1 1 9.5 t\n1_1 Q0 d2 2 8.5 t\n1_1 Q0 d9 3 8.2 t\n1_2 Q0 d3 1 7.5 t\n"
TEXTS = "id\tquery\n1_1\tWhat is a throat?\n1_2\tAnd its cancer?\n"
BASE = """qrels = "qrels.txt"
[formulations.original]
run = "raw.trec"
rewrites = "texts.tsv"
[formulations.qr]
run = "qr.trec"
rewrites = "texts.tsv"
[formulations.human]
run = "manual.trec"
rewrites = "texts.tsv"
"""
#: MiB of memory, and seconds for all commands of a project; without limits the first of them took 7,600 MiB.
MOST_MEMORY = 1500
MOST_SECONDS = 100
SECRET = "what belongs to the user\n"

#: Imports the program once and forks for every project: the child runs the commands and tells their exit codes, the memory
#: that was taken, and what was done to the world outside.
WATCHED = r"""
import importlib, json, os, pkgutil, resource, signal, sys
from robustcs.cli.main import run
import numpy, pandas, robustcs.project.workspace, robustcs.studies
for module in pkgutil.walk_packages(robustcs.studies.__path__, "robustcs.studies."):
    importlib.import_module(module.name)
seen, own = [], []
def foreign(path):
    real = os.path.realpath(os.fsdecode(path))
    return real != os.devnull and not any(real == one or real.startswith(one + os.sep) for one in own)
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
        seen.append(f"{event} {arguments!r:.400}")
    elif event == "open" and isinstance(arguments[0], (str, bytes)):
        if arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and foreign(arguments[0]):
            seen.append(f"{event} {arguments!r:.400}")
    elif event in ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.link", "os.symlink"):
        if any(isinstance(one, (str, bytes)) and foreign(one) for one in arguments[:2]):
            seen.append(f"{event} {arguments!r:.400}")
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm(order["seconds"])
        os.environ.update(order["environment"])
        os.chdir(order["folder"])
        for number, name in enumerate((os.devnull, order["said"], order["said"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
        sys.stdin = open(0)
        own.extend(map(os.path.realpath, order["own"]))
        sys.addaudithook(watch)
        codes = [int(run(command)) for command in order["commands"]]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print("\n" + json.dumps({"codes": codes, "memory": memory, "seen": seen}), flush=True)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass
class Hostile:
    """A folder that is made to do harm.

    files
        Name → content; those of a working project unless they are replaced.
    config
        The project file.
    prepare
        Makes what is no plain file; gets the project's folder and the one beside it.
    commands, codes
        What is called, and the exit codes.
    said
        What stands in the messages.
    """

    config: str = BASE
    files: dict[str, str | bytes] = field(default_factory=dict)
    prepare: Callable[[Path, Path], None] = lambda folder, outside: None
    commands: tuple[str, ...] = ("check",)
    codes: tuple[int, ...] = (3,)
    said: tuple[str, ...] = ()


def _with(line: str) -> str:
    return BASE.replace('qrels = "qrels.txt"', line)


def _link(name: str, target: str) -> Callable[[Path, Path], None]:
    def make(folder: Path, outside: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(outside / target)

    return make


def _bomb(line: bytes, times: int) -> bytes:
    """Gzip of ``times`` × 16 MiB of one line."""
    return gzip.compress(line * ((16 << 20) // len(line)), 9) * times


def _foreign_database(folder: Path, outside: Path) -> None:
    with sqlite3.connect(folder / "store.sqlite") as database:
        database.execute("CREATE TABLE passwords (site TEXT, word TEXT)")
        database.execute("INSERT INTO passwords VALUES ('a', 'b')")
    (outside / "victim.txt").write_text(
        hashlib.sha256((folder / "store.sqlite").read_bytes()).hexdigest()
    )


def _zip(folder: Path, outside: Path) -> None:
    with zipfile.ZipFile(folder / "qrels.txt", "w") as archive:
        archive.writestr("qrels.txt", QRELS)


def _sparse(folder: Path, outside: Path) -> None:
    os.truncate(folder / "raw.trec", 100 << 30)


def _linked_config(target: Path) -> Callable[[Path, Path], None]:
    def make(folder: Path, outside: Path) -> None:
        (outside / "x.toml").write_text(_RETRIEVAL + 'folder = "../outside"\n')
        (folder / "robustcs.toml").unlink()
        (folder / "robustcs.toml").symlink_to(target)

    return make


def _foreign_manifest(folder: Path, outside: Path) -> None:
    """A report that claims to have written what lies outside, also through a link."""
    sum_ = hashlib.sha256(SECRET.encode()).hexdigest()
    report = folder / "reports" / folder.name
    report.mkdir(parents=True)
    (report / "tables").symlink_to(outside)
    names = [
        "report.html",
        "../../../outside/victim.txt",
        "tables/victim.txt",
        str(outside / "victim.txt"),
    ]
    (report / "manifest.json").write_text(json.dumps(dict.fromkeys(names, sum_)))


_PROGRAM = "touch ../outside/ran"
_TEMPLATE = '{"version": 1, "templates": {"u": "{{ cycler.__init__.__globals__.os.system(\'touch ran\') }}"}, "refs": {"x": "{{u}}"}}'
_JUDGED = BASE + '[judges]\nm = "../outside/judge.jsonl"\n'
_RETRIEVAL = BASE + '[retrieval]\nindex = "index"\n'
_DEEP = '{"1_1": ' + "[" * 200_000 + "]" * 200_000 + "}"
_LONG = "d" * 200_000

PROJECTS: dict[str, Hostile] = {
    # ------------------------------------------------------------ addresses
    "a chain whose templates run": Hostile(
        _with('qrels = "reference://x::ref.json"'), {"ref.json": _TEMPLATE},
        commands=("check", "check --trust", "report --trust"), codes=(3, 3, 3),
        said=("robustcs.toml:1: qrels = reference://x::ref.json: a chain of addresses (::) is not supported; give one"
              " address",),
    ),
    **{
        f"{scheme}://": Hostile(
            _with(f'qrels = "{scheme}:///etc/passwd"'), commands=("check", "check --trust"), codes=(3, 3),
            said=(f"{scheme}:// addresses are not supported; give a file, or an address with https://, s3:// or gs://",),
        )
        for scheme in ("http", "file", "local", "memory", "ftp")
    },
    "addresses that nobody said yes to": Hostile(
        f'{_with("qrels = " + json.dumps("https://example.org/q"))}\n[runs]\nx = "s3://bucket/run"\n'
        '[retrieval]\nindex = "gs://bucket/index"\nrewriter = "https://example.org/rewrites.tsv:human"\n',
        commands=("check", "report", "breakdown"), codes=(3, 3, 3),
        said=(
            "robustcs.toml:1: qrels = https://example.org/q would be fetched; add --trust",
            "x = s3://bucket/run would be fetched", "index = gs://bucket/index would be fetched",
            "rewriter = https://example.org/rewrites.tsv:human would be fetched",
        ),
    ),
    # ------------------------------------------------------------ writing
    "runs written elsewhere": Hostile(
        _RETRIEVAL + 'folder = "../outside/x"\n', commands=("check", "retrieve"), codes=(3, 3),
        said=("folder = ../outside/x: would be written outside the project folder; add --trust",),
    ),
    "a store elsewhere": Hostile(
        _RETRIEVAL + 'store = "/etc/store.sqlite"\n', commands=("retrieve --size",),
        said=("store = /etc/store.sqlite: would be written outside the project folder",),
    ),
    "a store that is a link": Hostile(
        _RETRIEVAL + 'store = "store.sqlite"\n', prepare=_link("store.sqlite", "victim.sqlite"),
        commands=("retrieve --size",),
        said=("store = store.sqlite: would be written outside the project folder",),
    ),
    "an index to be made elsewhere": Hostile(
        BASE + '[retrieval]\nindex = "../outside/index"\n',
        commands=("retrieve",), said=("index = ../outside/index: would be written outside the project folder",),
    ),
    "the usual folder of runs is a link": Hostile(
        _RETRIEVAL, prepare=_link("retrieved", "."), said=("folder = retrieved: would be written outside the project folder",)
    ),
    "the usual folder of split documents is a link": Hostile(
        'collection = "c.jsonl"\n' + BASE, files={"c.jsonl": '{"id": "d9", "contents": "text"}\n'},
        prepare=_link("retrieved", "."), commands=("retrieve --segment 5",),
        said=("retrieved/c-5.jsonl: would be written outside the project folder",),
    ),
    "the usual file of judgments is a link": Hostile(
        prepare=_link("judgments.txt", "judgments.txt"), files={"sheet.csv": "turn,document,grade\n1_1,d9,1\n"},
        commands=("judge --import sheet.csv",), said=("judgments.txt: would be written outside the project folder",),
    ),
    "a judge's file elsewhere": Hostile(
        _JUDGED, files={"c.jsonl": '{"id": "d9", "contents": "text"}\n'},
        commands=(f"judge --collection c.jsonl --as m --with '{sys.executable} -c 0'",),
        said=("../outside/judge.jsonl: would be written outside the project folder",),
    ),
    "what is noted beside a run elsewhere": Hostile(
        BASE.replace("raw.trec", "../outside/raw.trec"),
        prepare=lambda folder, outside: (outside / "raw.trec").write_text(RUN) and None,
        commands=("retrieve --record",), said=("raw.trec.texts.json: would be written outside the project folder",),
    ),
    "the report's folder is a link": Hostile(
        prepare=_link("reports", "."), commands=("report",), said=("would be written outside the project folder",)
    ),
    "a file of the report is a link": Hostile(
        'name = "x"\n' + BASE, prepare=_link("reports/x/report.html", "victim.txt"), commands=("report",),
        said=("reports/x/report.html: would be written outside the project folder",),
    ),
    "a manifest that lists files elsewhere": Hostile(
        prepare=_foreign_manifest, commands=("report",), said=("would be written outside the project folder",)
    ),
    "another program's database": Hostile(
        _RETRIEVAL + 'store = "store.sqlite"\n', prepare=_foreign_database,
        commands=("retrieve --size", "retrieve --prune"), codes=(3, 3),
        said=("store.sqlite: an SQLite file of another program or of robustcs 0.1.0, to which robustcs does not write",),
    ),
    # ------------------------------------------------------------ more than a computer has
    "a gzip of one line": Hostile(
        files={"raw.trec": _bomb(b"1_1 Q0 d1 1 9.5 t\n", 250), "qrels.txt": QRELS},
        commands=("check", "init --why", "breakdown"), codes=(3, 0, 3),
        said=("raw.trec: too large: it unpacks to more than 200 times its size", "skipped: too large"),
    ),
    "a gzip of one line in JSON": Hostile(
        files={"texts.tsv": _bomb(b"[],", 250)}, commands=("check", "init --why"), codes=(3, 0), said=("too large",)
    ),
    "100 GiB of nothing": Hostile(
        prepare=_sparse, commands=("check", "init --why"), codes=(3, 0),
        said=("raw.trec:5: this line is longer than 1 MiB",)
    ),
    "blank lines": Hostile(
        BASE + "\n" * 900_000 + "x = 1\n",
        files={"raw.trec": RUN + "\n" * 3_000_000, "texts.tsv": TEXTS + "\n" * 3_000_000},
        commands=("check", "init --why"), codes=(3, 0), said=("unknown key 'x'",),
    ),
    "long ids": Hostile(
        files={
            "qrels.txt": "".join(f"1_{i} 0 {_LONG}{i} 1\n" for i in range(40)),
            "raw.trec": "".join(f"{'1' * 200_000}_{i} Q0 d{i} 1 9.5 t\n" for i in range(40)),
            "texts.tsv": "id\tquery\n" + "".join(f"{_LONG}_{i}\twhat is it\n" for i in range(40)),
        },
        commands=("check", "init --why"), codes=(3, 0),
        said=("is not an id: it has 200,001 bytes; check that this is the right file", "is too long"),
    ),
    "long names": Hostile(
        BASE + "[runs]\n" + "".join(f'"{"n" * 20_000}{i}" = "raw.trec"\n' for i in range(40)),
        said=("a name has 20,001 characters; use at most 1,000",),
    ),
    "a long project file": Hostile(
        BASE + "[runs]\n" + "".join(f'r{i} = "raw.trec"\n' for i in range(100_000)), commands=("check", "report"), codes=(3, 3),
        said=("robustcs.toml: the file has more than 1,048,576 characters",),
    ),
    "keys inside keys": Hostile(f"{'.'.join('a' * 100_000)} = 1\n", said=("nested too deeply, more than 20 levels",)),
    "lists inside lists": Hostile(
        BASE.replace('rewrites = "texts.tsv"', 'rewrites = "deep.json"'), {"deep.json": _DEEP},
        commands=("check", "init --why"), codes=(3, 0), said=("deep.json: not JSON (nested too deeply)",),
    ),
    "numbers without end": Hostile(
        f"seed = {'9' * 5000}\n" + BASE, {"deep.json": '{"id": ' + "9" * 5000 + "}"}, commands=("check", "init --why"),
        codes=(3, 0), said=("a number with thousands of digits",),
    ),
    "a large grade": Hostile(
        files={"qrels.txt": f"1_1 0 d1 {'9' * 100_000}\n"}, said=("is not a whole number",),
    ),
    # ------------------------------------------------------------ no plain files
    "gzip in gzip": Hostile(
        files={"raw.trec": gzip.compress(gzip.compress(RUN.encode()))}, commands=("check", "init --why"), codes=(3, 0),
        said=("compressed twice (gzip in gzip); unpack it once and give the result", "cannot be read: compressed twice"),
    ),
    "a zip archive": Hostile(
        prepare=_zip, commands=("check", "init --why"), codes=(3, 0),
        said=("qrels.txt: this is a zip archive; unpack it and give the file inside; save a spreadsheet as CSV",),
    ),
    "NUL in names": Hostile(BASE.replace("raw.trec", "raw\\u0000.trec"), said=("run contains a NUL character",)),
    "NUL in files": Hostile(
        files={"raw.trec": b"1_1 Q0 d\x001 1 9.5 t\n" * 9}, commands=("check", "init --why"), codes=(3, 0),
        said=("the file seems to be binary",),
    ),
    "a pipe that nobody writes to": Hostile(
        BASE.replace("raw.trec", "pipe"), prepare=lambda folder, outside: os.mkfifo(folder / "pipe"),
        commands=("check", "init --why"), codes=(3, 0), said=("run = pipe is a pipe or a device; add --trust",),
    ),
    "devices": Hostile(
        _with('qrels = "/dev/stdin"').replace("raw.trec", "/dev/zero"), commands=("check", "report"), codes=(3, 3),
        said=("qrels = /dev/stdin is a pipe or a device", "run = /dev/zero is a pipe or a device"),
    ),
    "a project file that is a device": Hostile(
        prepare=_linked_config(Path("/dev/zero")),
        commands=("check", "check --config robustcs.toml"), codes=(2, 3), said=("robustcs.toml: this is a device",),
    ),
    "a project file that is a link": Hostile(
        prepare=_linked_config(Path("../outside/x.toml")),
        said=("folder = ../outside: would be written outside the project folder",),
    ),
    # ------------------------------------------------------------ programs
    "programs in the project file": Hostile(
        f'command = "{_PROGRAM}"\n{BASE}[judge]\ncommand = "{_PROGRAM}"\nwith = "{_PROGRAM}"\n[hooks]\ncheck = "{_PROGRAM}"\n',
        commands=("check", "check --trust", "report --trust"), codes=(3, 3, 3),
        said=("unknown key 'command'", "unknown key 'judge'", "unknown key 'hooks'"),
    ),
    "programs where files are named": Hostile(
        BASE.replace("raw.trec", f"| {_PROGRAM}") + f'[retrieval]\nindex = "$({_PROGRAM})"\nheap = "1g -XX:OnError=touch"\n',
        commands=("check", "report"), codes=(3, 3), said=("heap is '1g -XX:OnError=touch'",),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def watched() -> Iterator[Callable[[dict[str, Any]], int]]:
    """Runs an order in a process of its own and returns its exit code."""
    server = subprocess.Popen(
        [sys.executable, "-c", WATCHED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.fspath(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert server.stdin and server.stdout
    stdin, stdout = server.stdin, server.stdout

    def call(order: dict[str, Any]) -> int:
        stdin.write(json.dumps(order) + "\n")
        stdin.flush()
        return int(stdout.readline())

    yield call
    stdin.close()
    server.wait()
    stdout.close()


@pytest.mark.parametrize("name", PROJECTS)
def test_a_hostile_project(
    name: str, tmp_path: Path, watched: Callable[[dict[str, Any]], int]
) -> None:
    hostile = PROJECTS[name]
    folder, outside, cache = (tmp_path / part for part in ("project", "outside", "cache"))
    for one in (folder, outside, cache):
        one.mkdir()
    (outside / "victim.txt").write_text(SECRET)
    files = {
        "qrels.txt": QRELS,
        "raw.trec": RUN,
        "qr.trec": RUN,
        "manual.trec": RUN,
        "texts.tsv": TEXTS,
    } | hostile.files
    for file, content in (files | {"robustcs.toml": hostile.config}).items():
        (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    hostile.prepare(folder, outside)
    before = {path: path.read_bytes() for path in outside.iterdir()}
    said = tmp_path / "said"
    code = watched({
        "folder": os.fspath(folder), "own": [os.fspath(folder), os.fspath(cache)], "said": os.fspath(said),
        "commands": [shlex.split(command) for command in hostile.commands], "seconds": MOST_SECONDS,
        "environment": dict.fromkeys(("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR", "TMPDIR", "ROBUSTCS_CACHE"), os.fspath(cache)),
    })  # fmt: skip
    text = said.read_text(errors="replace")
    assert code == 0, text[-3000:]
    told = json.loads(text.splitlines()[-1])
    assert tuple(told["codes"]) == hostile.codes, text[-3000:]
    assert all(part in text for part in hostile.said), text[-3000:]
    assert "Traceback" not in text
    assert told["seen"] == []
    assert told["memory"] < MOST_MEMORY
    assert {path: path.read_bytes() for path in outside.iterdir()} == before
    assert not list(tmp_path.rglob("ran"))
    if hostile.prepare is _foreign_database:
        assert (
            hashlib.sha256((folder / "store.sqlite").read_bytes()).hexdigest()
            == (outside / "victim.txt").read_text()
        )


def test_a_file_elsewhere_would_be_seen(
    tmp_path: Path, watched: Callable[[dict[str, Any]], int]
) -> None:
    said = tmp_path / "said"
    order = {
        "folder": os.fspath(ROOT / "fixtures"),
        "own": [],
        "said": os.fspath(said),
        "seconds": MOST_SECONDS,
    }
    line = ["unjudged", "--table", "rates", "--output", os.fspath(tmp_path / "rates.csv")]
    assert watched(order | {"commands": [line], "environment": {}}) == 0
    told = json.loads(said.read_text().splitlines()[-1])
    assert told["codes"] == [0] and any("rates.csv" in one for one in told["seen"])


def test_there_are_twenty() -> None:
    assert len(PROJECTS) >= 20


def test_what_the_user_says_needs_no_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from robustcs.cli.main import run

    folder, outside = tmp_path / "project", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    for name, text in {
        "qrels.txt": QRELS,
        "raw.trec": RUN,
        "robustcs.toml": 'qrels = "qrels.txt"\n[runs]\na = "raw.trec"\n',
    }.items():
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    assert run(["unjudged", "--output", "../outside/result.json"]) == 0
    assert json.loads((outside / "result.json").read_text())["command"] == "unjudged"
    # a link of the project leads out of it: that is not what the user said
    (folder / "linked.json").symlink_to(outside / "linked.json")
    assert run(["unjudged", "--output", "linked.json"]) == 3
    assert not (outside / "linked.json").exists()
    assert run(["unjudged", "--output", "linked.json", "--trust"]) == 0
    assert (outside / "linked.json").exists()
