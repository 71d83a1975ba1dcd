"""How much work a command does: files read, runs scored, texts split, modules imported. Counted, so that no clock decides."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from rouge_score.tokenize import tokenize

from robustcs.cli.main import run
from robustcs.evaluation import measures
from robustcs.inputs import files
from robustcs.similarity import rouge
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
        lines = (f"{turn} Q0 {name}-{one} {k} {DEPTH - k} t\n" for turn, found in ranked for k, one in enumerate(found))
        (folder / f"{number}.trec").write_text("".join(lines))
    judged = (f"{turn} 0 {name}-{one} {one % 4}\n" for turn in turns for one in range(0, 600, 2))
    (folder / "qrels.txt").write_text("".join(judged))
    return folder


def call(folder: Path, command: str, capfd: pytest.CaptureFixture[str], *more: str) -> None:
    given = [command, "--config", os.devnull, "--qrels", str(folder / "qrels.txt"), "--metric", "ndcg_cut_3", *more]
    for role, number in ROLES.items():
        given += [role, str(folder / f"{number}.trec")]
    code = run(given)
    assert code == 0, capfd.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_is_read_for_its_rows_and_its_checksum(folder: Path, capfd: pytest.CaptureFixture[str], command: str) -> None:
    """Bytes read of every file as a share of its size; beginnings, which tell the kind, are read some times more."""
    read: Counter[str] = Counter()

    class Counted(io.FileIO):
        def readinto(self, buffer: object) -> int | None:
            size = super().readinto(buffer)  # type: ignore[arg-type]
            read[str(self.name)] += size or 0
            return size

    with mock.patch.object(files, "_open_raw", lambda path: io.BufferedReader(Counted(os.fspath(path)))):
        call(folder, command, capfd)
    shares = {path.name: read[str(path)] / path.stat().st_size for path in map(Path, read) if path.stat().st_size}
    assert set(shares) == {"qrels.txt", "1.trec", "2.trec", "3.trec"}
    assert all(1 <= share < 2.7 for share in shares.values()), shares


@pytest.mark.parametrize(
    ("command", "few", "many"),
    [
        ("sweep", ("--set", "step=0.5"), ("--set", "step=0.01")),
        ("breakdown", ("--threshold", ">0"), tuple(f"--threshold=>=0.{digit}" for digit in range(1, 10))),
    ],
)
def test_a_run_is_scored_once_for_all_thresholds(
    folder: Path, capfd: pytest.CaptureFixture[str], command: str, few: tuple[str, ...], many: tuple[str, ...]
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


def test_all_pairs_share_their_sign_patterns() -> None:
    """Drawing them takes longer than the sums."""
    drawn = []
    for pairs in (1, 45):
        with mock.patch.object(Subsets, "blocks", autospec=True, side_effect=Subsets.blocks) as blocks:
            paired_tests(np.random.default_rng(0).normal(size=(pairs, 30)), np.ones(30), seed=0, draws=999)
        drawn.append(blocks.call_count)
    assert drawn[0] == drawn[1]


def test_a_text_is_split_once() -> None:
    texts = ["What runs?", "Who is running?", "What runs?", "Who runs?"] * 5
    with mock.patch("rouge_score.tokenize.tokenize", wraps=tokenize) as split:
        rouge.rouge(texts, texts[::-1])
    assert split.call_count == len(set(texts))


#: Libraries that these commands never import. Importing pandas takes longer than the commands themselves, scipy.special almost.
HEAVY = {
    "dask", "fsspec", "jinja2", "matplotlib", "multiprocessing", "nltk", "numpy.f2py", "pandas", "pyarrow", "pytrec_eval",
    "rouge_score", "sacrebleu", "scipy", "sklearn", "tqdm", "typst",
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "most"),
    [
        ("evaluate --table measures", 95), ("sweep --table bins", 85), ("breakdown --table bins", 118),
        ("unjudged --table rates", 124), ("evaluate --table measures --format csv", 94), ("--help", 25),
        ("check", 290),
    ],
)  # fmt: skip
def test_what_is_not_asked_for_is_not_imported(demo: Path, line: str, most: int) -> None:
    """Frames, figures, pages, stemmers and special functions take longer to import than a few runs to read.

    ``most``: modules of the package; each costs some milliseconds.
    """
    program = f"""if True:
        import sys
        from robustcs.cli.main import run
        code = run({line.split()!r})
        print(code, *sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)
        print(sum(name.startswith("robustcs") for name in sys.modules), file=sys.stderr)
    """
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=demo, env=environment, capture_output=True, text=True, check=True
    )
    *_, heavy, modules = done.stderr.split("\n")[:-1]
    assert heavy == "0"
    assert int(modules) <= most
