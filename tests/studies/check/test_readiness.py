"""``robustcs check`` says which commands run: every one of them is run, on many projects, and must do what was said."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from robustcs.cli.main import run
from tests.small_project import BROKEN, FILES, TOML

_KEYS = [line for line in TOML.splitlines() if "=" in line]
_PART = {name: TOML[TOML.index(f"[{name}") :].split("\n[")[0] + "\n" for name in ("agreement", "clariq", "crowd")}
_SCORED = "".join(f'[formulations.{role}]\nscores = "{name}.eval"\nrewrites = "{name}.tsv"\n'
                  for role, name in (("original", "raw"), ("qr", "qr"), ("human", "human")))  # fmt: skip
_ANSWERED = _SCORED.replace("scores", "answers").replace(".eval", ".json")
_RUNS = "".join(f'[formulations.{role}]\nrun = "{name}.trec"\n'
                for role, name in (("original", "raw"), ("qr", "qr"), ("human", "human")))  # fmt: skip
_TEXTS = "".join(f'[formulations.{role}]\nrewrites = "{name}.tsv"\n' for role, name in (("qr", "qr"), ("human", "human")))
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
REPORTED = {"all", "foreign m1.trec", "scores", "answers", "runs without qrels", "empty tables"}
#: These projects as well, by ``make test-long``.
_REPORTED_LONG = {"broken ratings.csv", "broken collection.jsonl", "unjudged raw.trec", "measures of answers",
                  "texts and paraphrases", "clariq", "answers without gold", "missing turns dropped"}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in; nothing is typed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return tmp_path


@pytest.mark.parametrize(
    ("name", "reported"),
    [*((name, name in REPORTED) for name in PROJECTS),
     *(pytest.param(name, True, marks=pytest.mark.long) for name in sorted(_REPORTED_LONG))],
)  # fmt: skip
def test_what_check_says_of_every_command_is_so(
    name: str, reported: bool, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    toml, others = PROJECTS[name]
    for file, text in {**FILES, **others, "robustcs.toml": toml}.items():
        Path(file).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert run(["check", "--format", "json"]) in (0, 3)
    rows = json.loads(capfd.readouterr().out)["tables"]["commands"]
    was = {}
    for row in rows if reported else rows[:-1]:
        code = run([*shlex.split(row["command"]), *(["--output", "made"] if row["command"] == "report" else [])])
        err = capfd.readouterr().err
        was[row["command"]] = code == 0
        if not row["runs"]:
            assert row["because"], row
            assert code in (2, 3, 4), f"{row}, and it said {err}"
    assert [row for row in rows if was.get(row["command"], row["runs"]) != row["runs"]] == []
