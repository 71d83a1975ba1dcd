"""Marks of roles that only file names suggest: read, told as limits, deleted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from robustcs.project.marks import marks_in, told, without_marks
from robustcs.project.model import Project
from robustcs.project.overrides import with_inputs
from robustcs.project.reading import read_project
from robustcs.project.trust import limits_of_names
from tests.conftest import Command

TEXT = """qrels = "q"
[formulations.human]
run = "h"  # 3 turns  # by name
rewrites = "x # by name"
[formulations."qr:t5"]  # by name, as told
run = [
  "a",
  "b"
]  # by name
[judges]
lex = "l" # by name
[groups.manual]
baseline="human"
sets=["a"]#by name
[runs]
bm25 = "b"  # by name
"""
MARKS = (
    ("formulations", "human", "run"), ("formulations", "qr:t5", "run"), ("judges", "lex"), ("groups", "manual", "sets"),
)  # fmt: skip


def test_a_mark_belongs_to_the_key_of_its_line() -> None:
    assert marks_in(TEXT) == MARKS
    assert told(MARKS) == "human, t5, judge lex, group manual"
    assert (
        marks_in("[judges]\na = 1\n# by name\n# b = 2  # by name\n")
        == marks_in("x  # by name")
        == ()
    )
    assert marks_in("") == marks_in('[runs]\na = "b"\n') == ()


def test_deleting_marks_changes_nothing_else() -> None:
    text, count = without_marks(TEXT.replace("\n", "\r\n"))
    assert (
        count == 5
        and '"x # by name"' in text
        and "# by name, as told" in text
        and 'run = "h"  # 3 turns\r\n' in text
    )
    assert without_marks(text) == (text, 0)
    assert re.sub(r"[ \t]*#[ ]?by name(?=\r\n)", "", TEXT.replace("\n", "\r\n")) == text


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({}, "human, t5, judge lex, group manual"),
        ({"human": "other.trec"}, "t5, judge lex, group manual"),
        ({"qr": {"t5": "other.trec"}}, "human, judge lex, group manual"),
        ({"qr": "other.trec"}, "human, t5, judge lex, group manual"),
        ({"rewrites": {"human": "texts.tsv"}}, "t5, judge lex, group manual"),
        ({"judges": {"lex": "l"}}, "human, t5, group manual"),
        ({"groups": {"manual": ("human", ["b"])}}, "human, t5, judge lex"),
        ({"metrics": ["P_1"]}, "human, t5, judge lex, group manual"),
    ],
)
def test_what_a_person_gives_is_not_marked(
    tmp_path: Path, given: dict[str, object], left: str
) -> None:
    for name in ("other.trec", "texts.tsv", "l"):
        (tmp_path / name).write_text("1_1\tx\n")
    given = json.loads(
        re.sub(
            r'"(\w+\.\w+|l)"', lambda found: json.dumps(str(tmp_path / found[1])), json.dumps(given)
        )
    )
    assert told(with_inputs(Project(marks=MARKS), given).marks) == left


def marked(config: Path, *lines: str) -> str:
    """Mark these lines of a project file."""
    text = config.read_text()
    for line in lines:
        assert text.count(f"\n{line}\n") == 1
        text = text.replace(f"\n{line}\n", f"\n{line}  # by name\n")
    config.write_text(text)
    return text


RUN, TEXTS, ANSWERS = (
    'run = "runs/stem_human.trec"',
    'rewrites = "topics.json:manual"',
    'answers = "answers/human.json"',
)
SETS, JUDGE = 'sets = ["manual_1", "manual_2", "manual_3"]', 'lexical = "judges/lexical.txt"'


def test_commands_name_the_roles_that_they_use(in_copy: Command, tmp_path: Path) -> None:
    marked(tmp_path / "demo" / "robustcs.toml", RUN, TEXTS, ANSWERS, SETS, JUDGE)
    human = "Roles by file name: human"
    for command, note in (
        ("breakdown", human), ("sweep", human), ("breakdown --metric f1", human), ("evaluate", human),
        ("unjudged", f"{human}, group manual, judge lexical"), ("diversity", human),
        ("robustness", f"{human}, group manual"), ("audit", "Roles by file name: judge lexical"),
        ("components --cell a/b=runs/stem_human.trec --cell c/b=runs/stem_raw_1.trec", human),
        ("compare . . --fail-if 'qr>0.5'", human), ("compare . . --fail-if 'qa>0.5'", human),
    ):  # fmt: skip
        told = [
            one
            for one in json.loads(in_copy(f"{command} --format json").out)["notes"]
            if "by file name" in one
        ]
        assert told == [note], command
    for command in (
        "evaluate --human runs/stem_human.trec",
        "breakdown --human runs/stem_human.trec --rewrites human=topics.json:human",
        "compare . . --fail-if 'drop>0.5'",
    ):
        assert not any(
            "by file name" in note
            for note in json.loads(in_copy(f"{command} --format json").out)["notes"]
        )


def test_marks_of_files_that_are_not_read_do_not_matter(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    marked(config, ANSWERS)
    assert not any(
        "by file name" in note
        for note in json.loads(in_copy("breakdown --format json").out)["notes"]
    )
    project = read_project(config)
    limits = limits_of_names(project, {str(tmp_path / "demo" / "answers" / "human.json")})
    assert [limit.reason for limit in limits] == [
        "Roles by file name: human."
    ] and "blame" in limits[0].subjects
    assert limits_of_names(project, {"elsewhere.json"}) == []


def test_claims_of_a_report_have_the_limit(in_copy: Command, tmp_path: Path) -> None:
    config, page = tmp_path / "demo" / "robustcs.toml", tmp_path / "out" / "report.html"
    marked(config, RUN, JUDGE)
    in_copy(f"report --output {page.parent}")
    assert (
        "Roles by file name: human." in page.read_text()
        and "Roles by file name: judge lexical." in page.read_text()
    )
    in_copy("check --accept")
    in_copy(f"report --output {page.parent}")
    assert "by file name" not in page.read_text()


def test_check_names_marks_and_accept_deletes_them(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    before = config.read_text()
    marked(config, RUN, SETS, JUDGE)
    whose = "human, group manual, judge lexical"
    note = f"Roles by file name: {whose}; to confirm one, delete its mark; to confirm all, run robustcs check --accept"
    assert note in json.loads(in_copy("check --format json").out)["notes"]
    config.chmod(0o444)
    refusal = "robustcs: robustcs.toml is write-protected; allow writing to it, or delete the marks in an editor\n"
    assert in_copy("check --accept", code=2).err == refusal and "# by name" in config.read_text()
    config.chmod(0o640)
    assert in_copy("check --accept").err == f"deleted 3 marks from robustcs.toml: {whose}\n"
    assert config.read_text() == before and config.stat().st_mode & 0o777 == 0o640
    assert (
        in_copy("check --accept").err == "deleted 0 marks from robustcs.toml\n"
        and config.read_text() == before
    )
    config.rename(config.with_name("other.toml"))
    marked(config.with_name("other.toml"), RUN)
    assert "no such project file" in in_copy("check --accept", code=2).err
    assert (
        in_copy("check --accept --config other.toml").err
        == "deleted 1 mark from other.toml: human\n"
    )


def test_a_bundle_keeps_marks(in_copy: Command, tmp_path: Path) -> None:
    config = tmp_path / "demo" / "robustcs.toml"
    config.write_text(
        config.read_text().replace(RUN, f'run = "{tmp_path / "human.trec"}"  # by name')
    )
    (tmp_path / "human.trec").write_bytes(
        (tmp_path / "demo" / "runs" / "stem_human.trec").read_bytes()
    )
    in_copy(f"bundle {tmp_path / 'bundle'}")
    assert read_project(tmp_path / "bundle" / "robustcs.toml").marks == (
        ("formulations", "human", "run"),
    )
