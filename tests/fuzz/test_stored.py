"""What robustcs keeps, damaged: computed again or refused, never another number, an internal error, or no end.

``make test`` tries 50 damages of each file, ``make test-long`` 500.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from robustcs.errors import ExitCode, InputError, OutputError
from robustcs.evaluation.holes import grades_by_pair
from robustcs.inputs.labels import JUDGMENT, read_labels
from robustcs.inputs.qrels import read_qrels
from robustcs.programs.outputs import OutputStore
from robustcs.project.model import Project
from robustcs.project.report_files import checksums
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.retrieval.store import Ranker, RankingStore
from robustcs.stored import sealed
from robustcs.studies.compare.analysis import compare
from robustcs.studies.compare.sides import opened
from robustcs.studies.compare.states import ProjectState
from robustcs.studies.fields import turns_of
from robustcs.studies.judge.program import ProgramGrade, ProgramJudge, read_judge, write_judge
from robustcs.studies.judge.session import GradeScale
from tests.fuzz.harness import _ends as ends
from tests.fuzz.mutators import JSON_VALUES, mutate
from tests.studies.compare.test_analysis import EVALUATED

CASES = [pytest.param(20, id="20"), pytest.param(500, id="500", marks=pytest.mark.long)]
TURNS = [f"{topic}_{depth}" for topic in range(1, 6) for depth in (1, 2)]


def damaged(random: Random, data: bytes) -> bytes:
    """``data`` with a change of bytes, of a value or of the whole: what disks, editors and hands do."""
    kind = random.randrange(5)
    if kind == 0:
        at = random.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
    if kind == 1:
        return data[: random.randrange(len(data))]
    if kind == 2:  # another digit
        places = [at for at, byte in enumerate(data) if 48 <= byte < 58]
        at = random.choice(places or [0])
        return data[:at] + b"%d" % random.randrange(10) + data[at + 1 :]
    return mutate(random, data)


def refused(path: Path, work: Callable[[], None]) -> bool:
    """Is the file refused with exit code 3 and its name? Everything else that ``work`` raises is an error."""
    try:
        with ends():
            work()
    except (InputError, OutputError) as error:
        found = error
    else:
        return False
    assert found.exit_code == ExitCode.BAD_INPUT and str(found).startswith(f"{path}")
    assert ";" in str(found), "it says what to do"
    return True


def edited(random: Random, value: Any) -> Any:
    """JSON with one value in it replaced, removed or added."""
    if isinstance(value, dict | list) and value and random.random() < 0.93:
        made = value.copy()
        key = random.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if random.random() < 0.1:
            del made[key]
        else:
            made[key] = edited(random, made[key])
        return made
    if isinstance(value, float) and random.random() < 0.5:
        return random.choice((5.7, -0.1, 1e300, value / 2))
    return random.choice((*JSON_VALUES, [[[[[]]]]], {"is": "Table"}, {"is": "Document"}))


# ---------------------------------------------------------------- turns of a report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report of two runs; of its files, the records of turns and the manifest."""
    folder = tmp_path_factory.mktemp("report")
    random = Random(1)
    passages = [f"d{place}" for place in range(8)]
    (folder / "q").write_text(
        "".join(
            f"{turn} 0 {one} {random.choice((0, 0, 1, 2))}\n"
            for turn in TURNS
            for one in passages[:4]
        )
    )
    for name in "ab":
        lines = [
            f"{turn} Q0 {one} 1 {100 - rank} x\n"
            for turn in TURNS
            for rank, one in enumerate(random.sample(passages, 6))
        ]
        (folder / name).write_text("".join(lines))
    runs = {name: folder / name for name in "ab"}
    turns = turns_of(TurnInputs(Workspace(Project(qrels=folder / "q", runs=runs))))
    turns.write(folder / "turns.jsonl")
    sealed_in(folder)
    return folder


def sealed_in(folder: Path) -> None:
    """Write the manifest of the records as they are."""
    data = {"turns.jsonl": (folder / "turns.jsonl").read_bytes(), "report.html": b""}
    (folder / "manifest.json").write_text(json.dumps(checksums(data)))


def copied(report: Path, folder: Path) -> Path:
    for name in ("turns.jsonl", "manifest.json"):
        (folder / name).write_bytes((report / name).read_bytes())
    return folder / "turns.jsonl"


def state(folder: Path) -> ProjectState:
    return opened(Workspace(Project()), folder, folder)[0].state


@pytest.mark.parametrize("cases", CASES)
def test_turns_are_read_as_they_were_written_or_refused(
    cases: int, tmp_path: Path, report: Path
) -> None:
    path, random = copied(report, tmp_path), Random(cases)
    whole, expected = path.read_bytes(), state(report)

    def read() -> None:
        assert state(tmp_path) == expected

    no = 0
    for _ in range(cases):
        path.write_bytes(damaged(random, whole))
        no += refused(path, read)
    assert no > 0.8 * cases


@pytest.mark.parametrize("cases", CASES)
def test_turns_without_a_manifest_have_values_that_can_be(
    cases: int, tmp_path: Path, report: Path
) -> None:
    path, random = copied(report, tmp_path), Random(cases)
    (tmp_path / "manifest.json").unlink()
    lines, expected = [json.loads(line) for line in path.read_text().splitlines()], state(report)

    def read() -> None:
        found = state(tmp_path)
        scores = [
            score
            for one in found.systems.values()
            for by in one.scores.values()
            for score in by.values()
        ]
        assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores)
        compare(expected, found, EVALUATED)
        compare(found, expected, EVALUATED)

    no = 0
    for _ in range(cases):
        made = list(lines)
        place = random.randrange(len(lines) - 1)  # the last line holds texts
        made[place] = edited(random, lines[place])
        path.write_text("".join(f"{json.dumps(one)}\n" for one in made), "utf-8")
        no += refused(path, read)
    assert no > 0.3 * cases


#: A change of a record or, with the number 0, of the first line → what is said about it.
WRONG: dict[str, Callable[[Any], Any]] = {
    ":2: P_1 of a is 5.7, not in 0 to 1": lambda one: one["systems"]["a"]["scores"].update(P_1=5.7),
    ":2: a ranking is not a list of passages": lambda one: one["systems"]["a"]["ranking"].append(["d", 10**9]),
    ":2: a has the outcome 'no'": lambda one: one["systems"]["a"].update(outcome="no"),
    ":2: absent of a is 'x', not 'turn' or": lambda one: one["systems"]["a"].update(absent="x"),
    ":2: a has 3 of 2 passages unjudged": lambda one: one["systems"]["a"].update(rest={"passages": 2, "unjudged": 3}),
    ":2: 'x' is not a grade": lambda one: one["judged"].update(x=1),
    ":2: '5000' is not a grade": lambda one: one["judged"].update({"5000": 1}),
    ":2: -1 passages have grade 1": lambda one: one["judged"].update({"1": -1}),
    ":2: unknown measure '5'": lambda one: one["systems"]["a"]["scores"].update({"5": 0}),
    ":3: turn 1_2 is there twice": lambda one: one.update(turn="1_2"),
    ":1: cannot read threshold 'x'": lambda one: one["thresholds"].append("x"),
    ":1: relevance level is 0": lambda one: one["policy"].update(relevance_level=0),
    ":1: its values are not those": lambda one: one["policy"].pop("missing_turns"),
    ":1: a formulation has the role 'x'": lambda one: one["formulations"].update(a="x"),
    ":1: unknown measure '5'": lambda one: one["judges"].update({"5": ""}),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_values_that_no_report_writes_are_named(message: str, tmp_path: Path, report: Path) -> None:
    path = copied(report, tmp_path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    WRONG[message](lines[0 if message.startswith(":1:") else 1])
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), "utf-8")
    with pytest.raises(InputError) as caught:
        state(tmp_path)
    assert f"{path}{message}" in str(caught.value)
    assert "run robustcs report again, or name the project file" in str(caught.value)


def test_an_edited_score_does_not_match_the_manifest(tmp_path: Path, report: Path) -> None:
    path = copied(report, tmp_path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1]["systems"]["a"]["scores"]["P_1"] = 0.5
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines), "utf-8")
    with pytest.raises(InputError) as caught:
        state(tmp_path)
    assert str(caught.value) == (
        f"{path}: it was changed since the report was written; run robustcs report again, or name the project file"
    )
    sealed_in(tmp_path)
    assert state(tmp_path).systems["a"].scores["P_1"]["1_1"] == 0.5


# ---------------------------------------------------------------- judges


@pytest.mark.parametrize("cases", CASES)
def test_no_grade_of_a_judge_changes(cases: int, tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"{turn} 0 judged 3\n" for turn in TURNS))
    scale, random = GradeScale(read_qrels(tmp_path / "qrels.txt"), 3), Random(cases)
    judge = ProgramJudge("m", "0123456789ab", tmp_path / "judge-m.jsonl")
    said = {(turn, f"d{place}"): ProgramGrade(place, "so") for turn in TURNS for place in range(3)}
    write_judge(judge, dict(said), scale)
    whole, no = judge.path.read_bytes(), 0
    assert read_judge(judge, scale) == said and len(labels(judge.path)) == len(said)

    def asked_again() -> None:
        assert all(said[pair] == one for pair, one in read_judge(judge, scale).items())

    def audited() -> None:
        assert all(said[pair].grade == grade for pair, grade in labels(judge.path).items())

    for _ in range(cases):
        judge.path.write_bytes(damaged(random, whole))
        no += refused(judge.path, asked_again) + refused(judge.path, audited)
    assert no > 0.8 * cases


def labels(path: Path) -> dict[tuple[str, str], int]:
    return dict(grades_by_pair(read_labels(path).qrels))


def test_lines_of_earlier_versions_are_read_and_changed_ones_named(tmp_path: Path) -> None:
    row = {"turn": "1_1", "document": "d", "grade": 1, "judge": "m", "version": "0"}
    path = tmp_path / "judge-m.jsonl"
    path.write_text(
        json.dumps(row) + "\n" + json.dumps(sealed(JUDGMENT, {**row, "document": "e"})) + "\n"
    )
    assert labels(path) == {("1_1", "d"): 1, ("1_1", "e"): 1}
    path.write_text(
        json.dumps(row) + "\n" + json.dumps(sealed(JUDGMENT, row) | {"grade": 2}) + "\n"
    )
    with pytest.raises(
        InputError,
        match=r"jsonl:2: its values do not match its checksum; delete the line and run the judge again",
    ):
        read_labels(path)


# ---------------------------------------------------------------- stores


RANKER = Ranker("/index", "abc", {"model": "bm25"}, "pyserini 0")
QUESTIONS = [f"q{number}" for number in range(40)]


def known(folder: Path) -> list[dict[Any, Any]]:
    """All values of all stores in the folder."""
    rankings = RankingStore(folder / "rankings.sqlite")
    rankings.others("q1"), rankings.rankers()
    found = rankings.get(RANKER, QUESTIONS, 3)
    assert rankings.known(RANKER, QUESTIONS, 3) == found.keys()
    return [
        {key: (ids, scores.tolist()) for key, (ids, scores) in found.items()},
        OutputStore(folder / "outputs.sqlite").get("m", {key: key for key in QUESTIONS}),
    ]


def fill(folder: Path) -> None:
    rankings = RankingStore(folder / "rankings.sqlite")
    rankings.put(
        RANKER,
        {
            key: ([f"{key} {rank}" for rank in range(3)], np.array([3.0, 2.0, 1.5]))
            for key in QUESTIONS
        },
        3,
    )
    OutputStore(folder / "outputs.sqlite").put(
        "m", {key: [key, 0.25] for key in QUESTIONS}, {key: key for key in QUESTIONS}
    )


def sqlite_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.sqlite"))


@pytest.mark.parametrize("cases", CASES)
def test_a_damaged_store_gives_what_was_kept_or_nothing(cases: int, tmp_path: Path) -> None:
    random, no, lost = Random(cases), 0, 0
    fill(tmp_path)
    original = known(tmp_path)
    for path in sqlite_files(tmp_path):
        with closing(sqlite3.connect(path)) as database:
            # one file each, which is what is damaged
            database.execute("PRAGMA journal_mode = DELETE")
    whole = {path: path.read_bytes() for path in sqlite_files(tmp_path)}

    def read_and_fill() -> None:
        nonlocal lost
        for _ in range(2):  # what is computed again is put into the same file
            for found, kept in zip(known(tmp_path), original, strict=True):
                assert all(kept[key] == value for key, value in found.items())
                lost += len(kept) - len(found)
            fill(tmp_path)

    for _ in range(cases):
        path = random.choice(list(whole))
        data = bytearray(whole[path])
        for _ in range(random.choice((1, 1, 5, 50, 500))):
            data[random.randrange(len(data) if random.random() < 0.8 else 100)] = random.randrange(
                256
            )
        path.write_bytes(data if random.random() < 0.9 else data[: random.randrange(len(data))])
        no += refused(path, read_and_fill)
        for other in tmp_path.iterdir():
            other.unlink()
        for one, content in whole.items():
            one.write_bytes(content)
    assert no and lost


EDITS = {
    "rankings": ["depth = 5", "ranking = x''", "ranking = zeroblob(40)", "question = 'q9' || question"],
    "outputs": ["output = '[1]'", "output = '{'"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("table", "edit"), [(table, edit) for table, edits in EDITS.items() for edit in edits]
)
def test_an_edited_value_is_computed_again(table: str, edit: str, tmp_path: Path) -> None:
    fill(tmp_path)
    original = known(tmp_path)
    path = tmp_path / f"{table if table == 'outputs' else 'rankings'}.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"UPDATE {table} SET {edit}")
        database.commit()
    left = known(tmp_path)
    assert [one for one, kept in zip(left, original, strict=True) if one != kept] == [{}]
    fill(tmp_path)
    assert known(tmp_path) == original


def test_a_store_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path)
    with closing(sqlite3.connect(tmp_path / "outputs.sqlite")) as database:
        database.execute("PRAGMA user_version = 2")
    with pytest.raises(
        InputError,
        match="a store of version 2, but this robustcs supports versions up to 1; use a later",
    ):
        known(tmp_path)
