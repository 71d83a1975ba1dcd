"""How much work a command does: files read, runs scored, texts split, modules imported. Counted, so that no clock decides."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from rouge_score.tokenize import tokenize

from robustcs.cli.main import run
from robustcs.evaluation import measures
from robustcs.evaluation.ranking import rank_run
from robustcs.inputs import files
from robustcs.inputs.ids import Ids
from robustcs.project import reader
from robustcs.similarity import rouge_bleu as rouge
from robustcs.statistics.sign_flip import Subsets, paired_tests

TURNS, DEPTH = 20, 400
ROLES = {"--original": 1, "--qr": 2, "--human": 3}
COMMANDS = ("evaluate", "breakdown", "sweep", "unjudged")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs and qrels of some 800 kB each, so that a glance at the beginning of a file is little beside reading it."""
    folder = tmp_path_factory.mktemp("work")
    random = np.random.default_rng(1)
    turns = [f"{1 + number // 4}_{1 + number % 4}" for number in range(TURNS)]
    name = "passage-of-a-large-collection-with-a-long-name-of-some-seventy-letters"
    for number in range(1, 6):
        ranked = [(turn, random.permutation(600)[:DEPTH]) for turn in turns]
        lines = (
            f"{turn} Q0 {name}-{one} {k} {DEPTH - k} t\n"
            for turn, found in ranked
            for k, one in enumerate(found)
        )
        (folder / f"{number}.trec").write_text("".join(lines))
    judged = (f"{turn} 0 {name}-{one} {one % 4}\n" for turn in turns for one in range(0, 600, 2))
    (folder / "qrels.txt").write_text("".join(judged))
    return folder


def call(
    folder: Path,
    command: str,
    capfd: pytest.CaptureFixture[str],
    *more: str,
    config: str = os.devnull,
) -> None:
    given = [
        command,
        "--config",
        config,
        "--qrels",
        str(folder / "qrels.txt"),
        "--metric",
        "ndcg_cut_3",
        *more,
    ]
    for role, number in ROLES.items():
        given += [role, str(folder / f"{number}.trec")]
    code = run(given)
    assert code == 0, capfd.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_is_read_for_its_rows_and_its_checksum(
    folder: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    """Bytes read of every file as a share of its size; beginnings, which tell the kind, are read some times more."""
    read: Counter[str] = Counter()

    class Counted(io.FileIO):
        def readinto(self, buffer: object) -> int | None:
            size = super().readinto(buffer)  # type: ignore[arg-type]
            read[str(self.name)] += size or 0
            return size

    with mock.patch.object(
        files, "_open_raw", lambda path: io.BufferedReader(Counted(os.fspath(path)))
    ):
        call(folder, command, capfd)
    shares = {
        path.name: read[str(path)] / path.stat().st_size
        for path in map(Path, read)
        if path.stat().st_size
    }
    assert set(shares) == {"qrels.txt", "1.trec", "2.trec", "3.trec"}
    assert all(1 <= share < 2.7 for share in shares.values()), shares


def test_with_a_collection_evaluate_reads_runs_as_often(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The top passages whose texts are compared come from the same reading as the scores."""
    (folder / "collection.jsonl").write_text('{"id": "1", "contents": "A text."}\n')
    (folder / "collection.toml").write_text('collection = "collection.jsonl"\n')
    read: list[str] = []
    with mock.patch.object(
        reader, "rank_run", lambda run, policy: read.append(run.name) or rank_run(run, policy)
    ):
        call(folder, "evaluate", capfd, config=str(folder / "collection.toml"))
    assert len(read) == len(ROLES)


@pytest.mark.parametrize(
    ("command", "few", "many"),
    [
        ("sweep", ("--step", "0.5"), ("--step", "0.01")),
        (
            "breakdown",
            ("--threshold", ">0"),
            tuple(f"--threshold=>=0.{digit}" for digit in range(1, 10)),
        ),
    ],
)
def test_a_run_is_scored_once_for_all_thresholds(
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    command: str,
    few: tuple[str, ...],
    many: tuple[str, ...],
) -> None:
    found = []
    for asked in (few, many):
        with mock.patch.object(measures, "_dcg", wraps=measures._dcg) as dcg:
            call(folder, command, capfd, *asked)
        found.append(dcg.call_count)
    assert found == [2 * len(ROLES)] * 2, "the DCG of a run and the ideal one"


@pytest.mark.parametrize(("command", "each"), [("evaluate", 2), ("unjudged", 6)])
def test_runs_are_scored_one_by_one_and_not_by_pairs(
    folder: Path, capfd: pytest.CaptureFixture[str], command: str, each: int
) -> None:
    """Three systems have three pairs, five have ten. The bounds of runs and of pairs score each run again."""
    more = ["--run", f"four={folder / '4.trec'}", "--run", f"five={folder / '5.trec'}"]
    for added in ([], more):
        with mock.patch.object(measures, "_dcg", wraps=measures._dcg) as dcg:
            call(folder, command, capfd, *added)
        assert dcg.call_count <= each * (len(ROLES) + len(added) // 2)


@pytest.mark.parametrize("command", COMMANDS)
def test_ids_are_matched_within_turns_and_not_numbered(
    folder: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    """Numbering the judged passages would take a fifth of the memory of an evaluation."""
    with mock.patch.object(Ids, "encoded", side_effect=AssertionError("ids are numbered")):
        call(
            folder,
            command,
            capfd,
            "--table",
            {"evaluate": "measures", "unjudged": "rates"}.get(command, "bins"),
        )


@pytest.mark.parametrize("command", COMMANDS)
def test_data_are_written_without_a_layout(
    folder: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    show = import_module(f"robustcs.studies.{command}.show")
    name = next(name for name in ("show", "VIEWS") if hasattr(show, name))
    with mock.patch.object(show, name, side_effect=AssertionError("tables are laid out")):
        call(folder, command, capfd, "--format", "csv")


def test_all_pairs_share_their_sign_patterns() -> None:
    """Drawing them takes longer than the sums."""
    drawn = []
    for pairs in (1, 45):
        with mock.patch.object(
            Subsets, "blocks", autospec=True, side_effect=Subsets.blocks
        ) as blocks:
            paired_tests(
                np.random.default_rng(0).normal(size=(pairs, 30)), np.ones(30), seed=0, draws=999
            )
        drawn.append(blocks.call_count)
    assert drawn[0] == drawn[1]


def test_a_text_is_split_once() -> None:
    texts = ["What runs?", "Who is running?", "What runs?", "Who runs?"] * 5
    with mock.patch("rouge_score.tokenize.tokenize", wraps=tokenize) as split:
        rouge.rouge(texts, texts[::-1])
    assert split.call_count == len(set(texts))


#: Libraries that take longer to import than a few runs to read.
HEAVY = {
    "dask", "fsspec", "jinja2", "matplotlib", "multiprocessing", "nltk", "numpy.f2py", "pandas", "pytrec_eval", "rouge_score",
    "sacrebleu", "scipy", "sklearn", "tqdm", "typst",
}  # fmt: skip
_SCIPY = "pandas scipy numpy.f2py"  # scipy.special imports numpy.f2py
_STEMS = f"{_SCIPY} nltk multiprocessing"  # NLTK imports multiprocessing
#: Command line → the heavy libraries that it may import.
IMPORTS = {
    "--help": "",
    "evaluate --table measures": "",
    "evaluate --table measures --format csv": "",
    "sweep": "",
    "breakdown --table bins": "",
    "unjudged --table rates": "",
    "check": "",
    "breakdown": _STEMS,
    "components": "",
    "correlate": f"{_STEMS} rouge_score",
    "review": _STEMS,
    "evaluate": "pandas",
    "samples": "",
    "unjudged": "pandas",
    "augment": _SCIPY,
    "audit": "pandas",
    "robustness": _SCIPY,
    "judge --list": _SCIPY,
    "paraphrase": "pandas",
    "testsets": "pandas",
    "diversity": f"{_STEMS} rouge_score sacrebleu",
    "answers": _STEMS,
    "clariq": _SCIPY,
    "agreement": _SCIPY,
    "crowd": "pandas",
}


#: Runs every line in a fork of its own, which has imported before what the line may import anyway; tells code and modules.
_FORKS = """if True:
    import importlib, json, os, sys
    # not installed by the core; pandas and NLTK import them if they are there
    sys.modules["pyarrow"] = sys.modules["sklearn"] = None
    from robustcs.cli.main import run
    lines, heavy = json.loads(sys.stdin.readline())
    nothing = os.open(os.devnull, os.O_RDWR)
    for allowed, name in (("", "numpy"), ("pandas", "pandas"), ("scipy", "scipy.special")):
        importlib.import_module(name)
        for line in lines[allowed]:
            result, told = os.pipe()
            if os.fork() == 0:
                os.dup2(nothing, 0)
                os.dup2(nothing, 1)
                code, modules = run(line.split()), {name for name, module in sys.modules.items() if module}
                os.write(told, json.dumps([line, code, sorted(modules & {*heavy})]).encode())
                os._exit(0)
            os.close(told)
            with open(result) as answer:
                print(answer.read(), flush=True)
            os.wait()
"""


@pytest.fixture(scope="module")
def imported(demo: Path) -> dict[str, tuple[int, list[str]]]:
    """The code of every line, and the heavy libraries that it imports."""
    lines: dict[str, list[str]] = {"": [], "pandas": [], "scipy": []}
    for line, allowed in IMPORTS.items():
        lines["scipy" if "scipy" in allowed else "pandas" if "pandas" in allowed else ""].append(
            line
        )
    done = subprocess.run(
        [sys.executable, "-c", _FORKS], cwd=demo, env={**os.environ, "PYTHONPATH": os.getcwd()},
        input=json.dumps([lines, sorted(HEAVY)]) + "\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {line: (code, heavy) for line, code, heavy in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("line", IMPORTS)
def test_what_is_not_asked_for_is_not_imported(
    imported: dict[str, tuple[int, list[str]]], line: str
) -> None:
    """Without inputs in the demo, components and samples end before their work."""
    code, heavy = imported[line]
    assert code == (2 if line in ("components", "samples") else 0)
    assert set(heavy) <= set(IMPORTS[line].split())


def test_a_report_imports_only_studies_whose_inputs_are_given() -> None:
    program = """if True:
        import sys
        from robustcs.project.model import Project
        from robustcs.studies.registry import STUDIES, questions
        questions(Project())
        print(*(one.name for one in STUDIES if one.own and f"robustcs.studies.{one.name}.show" in sys.modules))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    ("before", "threads"),
    [
        ("", "1"),
        ("import numpy", "None"),
        ("import os; os.environ['OPENBLAS_NUM_THREADS'] = '3'", "3"),
    ],
)
def test_one_blas_thread_unless_the_program_has_chosen(before: str, threads: str) -> None:
    program = f"import os\n{before}\nimport robustcs\nprint(os.environ.get('OPENBLAS_NUM_THREADS'))"
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == threads
