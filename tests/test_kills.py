"""Every command that writes, ended at any moment: no half file, no input changed, and nothing left after it was repeated."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kill_support import Programs

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

#: Name → command line, run in a copy of the demo collection; what it writes lies in ``out``.
COMMANDS = {
    "breakdown": "breakdown --config small.toml --output out/b.json --output out/b.tex --output out/b.csv --output out/b.txt",
    "figure": "sweep --config small.toml --step 0.5 --output out/s.svg --output out/s.csv",
    "augment": "augment --config small.toml --new-judgments new_judgments.txt --write-qrels out/merged.txt --output out/a.json",
    "testsets": "testsets --folder out/sets",
    "paraphrase": "paraphrase --folder out/varied",
    "crowd": "crowd --folder out/crowd --output out/c.json",
    "agreement": "agreement --html out/page.html --output out/a.json",
    "export": "judge --export out/sheet.csv --judgments out/j.txt",
    "judge": "judge --judgments out/judged.txt",
    "import": "judge --import sheet.csv --judgments out/judged.txt",
    "init": "init out",
}
#: Those that write files or a folder by the same functions as others.
AS_OTHERS = {"figure", "augment", "testsets", "paraphrase", "agreement", "export"}
SIGNALS = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}
KEYS = "0\n1\n" * 12 + "q\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    started = Programs(tmp_path_factory.mktemp("programs"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def collection(demo: Path, programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kills") / "demo"
    shutil.copytree(demo, folder)
    (folder / "keys").write_text(KEYS)
    (folder / "nothing").write_text("")
    process = programs.start(["judge", "--export", "sheet.csv"], folder, folder / "nothing")
    assert programs.wait(process) == 0, programs.said()
    lines = (folder / "sheet.csv").read_bytes().decode("utf-8").split("\r\n")
    (folder / "sheet.csv").write_bytes(
        "\r\n".join([lines[0], *(f"{line}1" for line in lines[1:40] if line)]).encode()
    )
    (folder / "small.toml").write_text('qrels = "qrels.txt"\nmetrics = ["P_1"]\n' + "".join(
        f'[formulations.{role}]\nrun = "runs/stem_{role}.trec"\n' for role in ("original", "qr", "human")
    ))  # fmt: skip
    return folder


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def leftovers(files: dict[str, str]) -> set[str]:
    return {name for name in files if Path(name).name.startswith(".robustcs-")}


def fresh(collection: Path, name: str) -> dict[str, str]:
    """An empty folder ``out``; for ``init`` one with inputs. Returns what is in it."""
    shutil.rmtree(collection / "out", ignore_errors=True)
    (collection / "out").mkdir()
    if name == "init":
        shutil.copy(collection / "qrels.txt", collection / "out")
    return contents(collection / "out")


def grows(name: str, half: bytes, whole: bytes) -> bool:
    """Judgments come line by line: what is there is a beginning of the whole, in whole lines."""
    return (
        name.endswith("judged.txt")
        and whole.startswith(half)
        and (not half or half.endswith(b"\n"))
    )


# most of the files are written in the last part of the time
@pytest.mark.parametrize(
    "part", [(0.6, 1.0), pytest.param((0.05, 0.6), marks=pytest.mark.long)], ids=["late", "early"]
)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name in AS_OTHERS)) for name in COMMANDS],
)
def test_ended_at_any_moment(
    programs: Programs, collection: Path, name: str, part: tuple[float, float]
) -> None:
    out = collection / "out"
    arguments = COMMANDS[name].split()
    keys = collection / ("keys" if name == "judge" else "nothing")
    inputs = {
        path: digest for path, digest in contents(collection).items() if not path.startswith("out")
    }
    before = fresh(collection, name)
    begin = time.monotonic()
    assert programs.wait(programs.start(arguments, collection, keys)) == 0, programs.said()
    lasts = time.monotonic() - begin
    expected, whole = (
        contents(out),
        {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()},
    )
    assert set(expected) > set(before) and not leftovers(expected)
    moments = random.Random(f"{name} 1")
    tries = [(number, moments.uniform(*part)) for number in SIGNALS]
    ended = set()
    while tries:
        number, moment = tries.pop(0)
        fresh(collection, name)
        process = programs.start(arguments, collection, keys)
        time.sleep(moment * lasts)
        os.kill(process, number)
        returned = programs.wait(process)
        assert returned in (0, SIGNALS[number]), programs.said()[-2000:]
        ended.add(returned)
        if returned == 0:  # it had ended by then: the first run may have been a slow one
            lasts *= moment
        if not tries and ended == {0} and lasts > 0.001:
            tries.append((signal.SIGKILL, 0.5))
        found = contents(out)
        for path in found.keys() - leftovers(found):
            half = (out / path).read_bytes()
            assert found[path] == expected[path] or grows(path, half, whole[Path(path).name]), path
        assert number == signal.SIGKILL or not leftovers(found), found
        if number == signal.SIGKILL and not (name == "init" and "robustcs.toml" in found):
            # a sheet may hold grades, so none is ever replaced
            (out / "sheet.csv").unlink(missing_ok=True)
            again = [*arguments, *(["--overwrite"] if name in ("testsets", "crowd") else [])]
            assert programs.wait(programs.start(again, collection, keys)) == 0, programs.said()[
                -2000:
            ]
            assert not leftovers(contents(out))
            assert name == "judge" or contents(out) == expected
    assert ended - {0}, "no signal came in time"
    assert {
        path: digest for path, digest in contents(collection).items() if not path.startswith("out")
    } == inputs


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        *(pytest.param(one, marks=pytest.mark.long) for one in (signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_a_report_ended_at_any_moment(
    programs: Programs, collection: Path, number: signal.Signals
) -> None:
    """A report takes long; so it is ended once by every signal, then made whole."""
    out = collection / "out"
    fresh(collection, "report")
    arguments = ["report", "--config", "small.toml", "--output", "out/report"]
    process = programs.start(arguments, collection, collection / "nothing")
    deadline = time.monotonic() + 60
    while not any(out.rglob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(random.Random(int(number)).uniform(0, 1))
    os.kill(process, number)
    assert programs.wait(process) in (0, SIGNALS[number])
    assert number == signal.SIGKILL or not leftovers(contents(out))
    assert programs.wait(programs.start(arguments, collection, collection / "nothing")) == 0, (
        programs.said()[-2000:]
    )
    found = contents(out)
    assert (
        not leftovers(found)
        and {"report/report.html", "report/report.pdf", "report/manifest.json"} <= found.keys()
    )
