"""Inputs from a shell's pipes count like the files that they come from."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from robustcs.cli.main import run
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="this machine has no bash")
ENVIRONMENT = {**os.environ, "ROBUSTCS": f"{sys.executable} {ROOT / 'cli.py'}", "NO_COLOR": "1"}


@cache
def bash(folder: Path, command: str) -> Any:
    """The JSON that ``command`` prints, without the names of its inputs; ``$ROBUSTCS`` is the program."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return _nameless(done.stdout)


@cache
def from_files(folder: Path, command: str) -> Any:
    """The same of a command without pipes, in this process."""
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        assert run(shlex.split(command)) == 0
    return _nameless(out.getvalue())


def _nameless(printed: str) -> Any:
    found = json.loads(printed)
    for entry in found["inputs"]:
        del entry["path"]
    found["notes"] = sorted(note for note in found["notes"] if "comment lines" not in note)
    return found


@pytest.fixture(scope="module")
def folder(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, with texts of Original and Human in files of their own."""
    folder = tmp_path_factory.mktemp("pipes") / "demo"
    shutil.copytree(demo, folder)
    turns = [(f"{topic['number']}_{turn['number']}", turn) for topic in json.loads((folder / "topics.json").read_text())
             for turn in topic["turn"]]  # fmt: skip
    for name, field in (("raw", "raw_utterance"), ("manual", "manual_rewritten_utterance")):
        (folder / f"{name}.tsv").write_text(
            "".join(f"{turn}\t{entry[field]}\n" for turn, entry in turns)
        )
    return folder


@pytest.mark.parametrize(
    ("piped", "plain"),
    [
        ("--qrels <(cat qrels.txt)", ""),
        ("--qrels /dev/stdin < <(cat qrels.txt)", ""),
        pytest.param("--qrels /dev/stdin < qrels.txt", "", marks=pytest.mark.long),
        ("--human <(cat runs/stem_human.trec) --qr plain=<(cat runs/plain_qr.trec)", "--qr plain=runs/plain_qr.trec"),
        ("--rewrites human=<(cat manual.tsv) --rewrites original=<(cat raw.tsv)",
         "--rewrites human=manual.tsv --rewrites original=raw.tsv"),
    ],
)  # fmt: skip
def test_breakdown(folder: Path, piped: str, plain: str) -> None:
    command = "breakdown --table bins --format json"
    assert bash(folder, f"$ROBUSTCS {command} {piped}") == from_files(folder, f"{command} {plain}")


@pytest.mark.parametrize(
    "compress", ["gzip", *(pytest.param(one, marks=pytest.mark.long) for one in ("bzip2", "xz"))]
)
def test_compressed_pipes(demo: Path, compress: str) -> None:
    if shutil.which(compress) is None:
        pytest.skip(f"this machine has no {compress}")
    given = bash(demo, f"$ROBUSTCS unjudged --format json --qrels <({compress} -c qrels.txt)"
                       f" --human <({compress} -c runs/stem_human.trec)")  # fmt: skip
    plain = from_files(demo, "unjudged --format json")["tables"]
    assert given["tables"].keys() == plain.keys()
    # a pipe is a source of judgments of another name
    assert all(given["tables"][name] == rows for name, rows in plain.items() if name != "sources")


def test_scores(tmp_path: Path) -> None:
    roles = ("original", "qr", "human")
    for number, role in enumerate(roles):
        lines = [
            f"P_1\t{topic}_{turn}\t{(topic * turn + number) % 3 / 2}\n"
            for topic in range(9)
            for turn in range(9)
        ]
        (tmp_path / role).write_text("".join(lines))
    command, forms = "breakdown --format json", ("<(cat %s)", "%s")
    piped, files = (" ".join(f"--scores {role}={form % role}" for role in roles) for form in forms)
    given, plain = (
        bash(tmp_path, f"$ROBUSTCS {command} {piped}"),
        from_files(tmp_path, f"{command} {files}"),
    )
    assert given == plain
    assert given["policy"]["turns"] == 81


def test_a_project_file_and_new_judgments(demo: Path, tmp_path: Path) -> None:
    config = (demo / "robustcs.toml").read_text()
    for line in ('qrels = "', 'new_judgments = "'):
        config = config.replace(line, f"{line}{demo}/")
    runs = " ".join(f"--run {name}={demo}/runs/{name}.trec" for name in ("plain_qr", "plain_human"))
    (tmp_path / "small.toml").write_text(config.partition("[formulations")[0])
    command = f"augment --format json {runs}"
    given = bash(
        tmp_path,
        f"$ROBUSTCS {command} --config <(cat small.toml) --new-judgments <(cat {demo}/new_judgments.txt)",
    )
    plain = from_files(
        tmp_path, f"{command} --config small.toml --new-judgments {demo}/new_judgments.txt"
    )
    assert given["tables"]["measures"] == plain["tables"]["measures"]
    assert given["tables"]["ranking"] == plain["tables"]["ranking"]
