"""``robustcs check`` says which commands run: they are run, on many projects, and must do what was said.

If a project differs from the whole project in one file or in the line that names it, those commands are run that open this file
in the whole project, or of which ``check`` says something else. ``make test-long`` runs all; the others must do as before.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from robustcs.cli.main import run
from tests.small_project import BROKEN, FILES, TOML

_KEYS = [line for line in TOML.splitlines() if "=" in line]
_PART = {
    name: TOML[TOML.index(f"[{name}") :].split("\n[")[0] + "\n"
    for name in ("agreement", "clariq", "crowd")
}
_SCORED = "".join(f'[formulations.{role}]\nscores = "{name}.eval"\nrewrites = "{name}.tsv"\n'
                  for role, name in (("original", "raw"), ("qr", "qr"), ("human", "human")))  # fmt: skip
_ANSWERED = _SCORED.replace("scores", "answers").replace(".eval", ".json")
_RUNS = "".join(f'[formulations.{role}]\nrun = "{name}.trec"\n'
                for role, name in (("original", "raw"), ("qr", "qr"), ("human", "human")))  # fmt: skip
_TEXTS = "".join(
    f'[formulations.{role}]\nrewrites = "{name}.tsv"\n'
    for role, name in (("qr", "qr"), ("human", "human"))
)
_FOREIGN = {name: re.sub(r"(?m)^[0-9]+(?=_)", r"x\g<0>", FILES[name]) for name in FILES}
_UNJUDGED = {name: re.sub(r" d(\d) ", r" other\1 ", FILES[name]) for name in FILES}

#: Name → (project file, files in place of those of the small project).
PROJECTS: dict[str, tuple[str, dict[str, str | bytes]]] = {
    "all": (TOML, {}),
    **{f"without line {place}: {line}": (TOML.replace(f"{line}\n", "", 1), {}) for place, line in enumerate(_KEYS)
       if line not in ('baseline = "human"', 'sets = ["m1"]')},  # a group has both
    **{f"broken {name}": (TOML, {name: BROKEN["binary"](FILES[name].encode())})
       for name in FILES if f'"{name}"' in TOML},
    **{f"foreign {name}": (TOML, {name: _FOREIGN[name]})
       for name in ("raw.trec", "m1.trec", "qr.tsv", "human.tsv", "paraphrases.csv", "gold.json", "qrels.txt", "new.txt")},
    **{f"unjudged {name}": (TOML, {name: _UNJUDGED[name]})
       for name in ("raw.trec", "m1.trec", "qrels.txt", "collection.jsonl")},
    "judged since": (TOML, {"m1.trec": _UNJUDGED["m1.trec"], "new.txt": _UNJUDGED["new.txt"]}),
    "scores": (f'metrics = ["ndcg_cut_3"]\n{_SCORED}', {}),
    "scores of another measure": (f'metrics = ["map"]\n{_SCORED}', {}),
    "foreign scores": (_SCORED, {"qr.eval": re.sub(r"\t(\d_)", r"\tx\1", FILES["qr.eval"])}),
    "scores and an answer similarity": (f'metrics = ["ndcg_cut_3"]\nanswer_similarity = "qr.eval"\n{_SCORED}', {}),
    "answers": (f'gold = "gold.json"\n{_ANSWERED}', {}),
    "answers without gold": (_ANSWERED, {}),
    "answers to other turns": (f'gold = "gold.json"\n{_ANSWERED}', {"qr.json": _FOREIGN["qr.json"].replace('"1_', '"x1_')}),
    "mixed measures": (f'metrics = ["f1", "map"]\n{TOML}', {}),
    "measures of answers": (f'metrics = ["f1"]\n{TOML}', {}),
    "totals": (f'metrics = ["num_ret", "map"]\n{TOML}', {}),
    "totals of runs": (f'qrels = "qrels.txt"\nmetrics = ["gm_map"]\n{_RUNS}', {}),
    "runs alone": (f'qrels = "qrels.txt"\n{_RUNS}', {}),
    "runs without qrels": (_RUNS, {}),
    "texts alone": (_TEXTS, {}),
    "texts and paraphrases": (f'paraphrases = "paraphrases.csv"\n{_TEXTS}', {}),
    "further texts": (f'{TOML}[texts]\nmore = "human.tsv"\n', {}),
    "a level that nothing reaches": (f"{TOML}[policy]\nrelevance_level = 9\n", {}),
    "no grade above 0": (TOML, {"qrels.txt": re.sub(r"\d+\n", "0\n", FILES["qrels.txt"])}),
    "missing turns dropped": (f'{TOML}[policy]\nmissing = "drop"\n', {
        "raw.trec": "".join(line for line in FILES["raw.trec"].splitlines(True) if line.startswith("1_")),
        "qr.trec": "".join(line for line in FILES["qr.trec"].splitlines(True) if line.startswith("2_")),
    }),
    "two rewriters, one without a run": (f'{TOML}[formulations."qr:t5"]\nrewrites = "qr.tsv"\n', {}),
    "an index that is not there": (f'{TOML}[texts]\nmore = "human.tsv"\n[retrieval]\nindex = "nowhere"\n', {}),
    "a group of nothing": (f'{TOML}[groups.raw]\nbaseline = "original"\nsets = ["nothing"]\n', {}),
    **{name: (part, {}) for name, part in _PART.items()},
    "empty tables": ('gold = "gold.json"\n[clariq]\n[agreement]\n[crowd]\n', {}),
}  # fmt: skip
#: With these a report is written as well, which takes longer than all the rest.
REPORTED = {"all", "runs without qrels", "empty tables"}
#: These projects as well, by ``make test-long``.
_REPORTED_LONG = {"foreign m1.trec", "scores", "answers", "broken ratings.csv", "broken collection.jsonl", "unjudged raw.trec",
                  "measures of answers", "texts and paraphrases", "clariq", "answers without gold",
                  "missing turns dropped"}  # fmt: skip
#: These projects run all commands and differ little from others: only by ``make test-long``, as the index that Java makes.
_LONG = {"mixed measures", "measures of answers", "a level that nothing reaches", "totals", "no grade above 0",
         "further texts", "a group of nothing", "an index that is not there",
         *[name for name in PROJECTS if name.startswith("broken ")][1::2],
         *[name for name in PROJECTS if name.startswith("without line ")][1::3]}  # fmt: skip


class Done(NamedTuple):
    """What ``check`` says of a command, what the command did, and the names of the files that it opened."""

    row: dict[str, Any]
    code: int
    err: str
    opened: set[str]


#: The files of the project that the command opens which runs.
_OPENED: set[str] = set()


def _notice(event: str, given: tuple[object, ...]) -> None:
    if event == "open" and isinstance(given[0], str | bytes):
        _OPENED.update({os.path.basename(os.fsdecode(given[0]))} & FILES.keys())


@pytest.fixture(scope="module")
def remembered() -> list[Done]:
    """What every command but ``report`` does in the whole project, once a test has run them."""
    sys.addaudithook(_notice)  # Python takes none away
    return []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in; nothing is typed."""
    path = tmp_path / "project"
    path.mkdir()
    monkeypatch.chdir(path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return path


def _said(name: str, capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Write a project, and return what ``check`` says of the commands, of which ``report`` is the last."""
    toml, others = PROJECTS[name]
    for file, text in {**FILES, **others, "robustcs.toml": toml}.items():
        Path(file).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert run(["check", "--format", "json"]) in (0, 3)
    rows: list[dict[str, Any]] = json.loads(capfd.readouterr().out)["tables"]["commands"]
    return rows


def _done(row: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> Done:
    _OPENED.clear()
    code = run(
        [
            *shlex.split(row["command"]),
            *(["--output", "made"] if row["command"] == "report" else []),
        ]
    )
    return Done(row, code, capfd.readouterr().err, {*_OPENED})


@pytest.fixture
def whole(
    remembered: list[Done],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> list[Done]:
    """The same, from a folder of its own."""
    if not remembered:
        with monkeypatch.context() as elsewhere:
            (folder.parent / "whole").mkdir()
            elsewhere.chdir(folder.parent / "whole")
            remembered += [_done(row, capfd) for row in _said("all", capfd)[:-1]]
    return remembered


def _changed(name: str) -> set[str]:
    """The files that are other ones than in the whole project, or not named; none if the projects differ in more."""
    toml, others = PROJECTS[name]
    gone = {*TOML.splitlines()} - {*toml.splitlines()}
    few = len(TOML.splitlines()) - len(toml.splitlines()) == len(gone) <= 1
    return {*others, *re.findall(r'"(.*?)"', "".join(gone))} if few else set()


def test_commands_open_what_the_project_names(whole: list[Done]) -> None:
    """So those that a file concerns are known. Snippets come before ratings."""
    named = {name for name in FILES if f'"{name}"' in TOML}
    assert named - set().union(*(one.opened for one in whole)) == {
        "ratings.csv",
    }


@pytest.mark.parametrize(
    ("name", "every"),
    [*((name, False) for name in PROJECTS if name not in _LONG),
     *(pytest.param(name, True, marks=pytest.mark.long) for name in PROJECTS)],
)  # fmt: skip
def test_what_check_says_of_every_command_is_so(
    name: str, every: bool, whole: list[Done], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reported, changed = name in REPORTED or (every and name in _REPORTED_LONG), _changed(name)
    rows = _said(name, capfd)
    same = {
        one.row["command"]: one
        for one in whole
        if changed and changed.isdisjoint(one.opened) and one.row in rows
    }
    done = [
        _done(row, capfd)
        for row in (rows if reported else rows[:-1])
        if every or row["command"] not in same
    ]
    for one in done:
        if not one.row["runs"]:
            assert one.row["because"], one.row
            assert one.code in (2, 3, 4), f"{one.row}, and it said {one.err}"
    assert [one.row for one in done if (one.code == 0) != one.row["runs"]] == []
    assert [one.row for one in done if one.code != same.get(one.row["command"], one).code] == []
