"""The turns behind every number of a report: its filter selects as many as the sentence says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robustcs.documents.document import TurnSet, Verdict
from robustcs.errors import UsageError
from robustcs.policy import Missing
from robustcs.project.conversations import with_fields
from robustcs.project.model import Project
from robustcs.project.reading import read_project
from robustcs.project.turns import TurnInputs
from robustcs.project.workspace import Workspace
from robustcs.records.filter import parse_filter
from robustcs.records.table import TurnTable
from robustcs.studies.fields import turns_of
from robustcs.studies.registry import questions
from robustcs.studies.study import SectionContent
from tests.documents.figure_projects import DEMO, PROJECTS

#: Verdicts by the name of their question.
Verdicts = list[tuple[str, Verdict]]
#: A number of turns in a sentence: the first of ``69 of 173 turns``, or that of ``173 turns``.
_COUNT = re.compile(r"([\d,]+) (?:of ([\d,]+) )?(?:randomly sampled )?turns?\b")


def answers_to(project: Project, only: str = "") -> Iterator[tuple[str, SectionContent]]:
    """What each question of the report, or one of them, answers; figures are not drawn."""
    workspace = Workspace(project)
    for question in questions(project):
        if only and question.key != only:
            continue
        with suppress(UsageError):
            part = workspace.of(question.inputs(project))
            yield question.key, question.content(part)


def checked(project: Project, only: str = "") -> tuple[Verdicts, list[TurnSet]]:
    """The verdicts and sets of turns of a project, after a check of each against its turns."""
    project = with_fields(project)
    table = turns_of(TurnInputs(Workspace(project))).table
    verdicts: Verdicts = []
    sets: list[TurnSet] = []
    for key, content in answers_to(project, only):
        for verdict in content.verdicts:
            verdicts.append((key, verdict))
            check(table, verdict)
        for one in content.turns:
            sets.append(one)
            if one.count:
                assert selected(table, one.where, one.sort) == one.count, one
    return verdicts, sets


def check(table: TurnTable, verdict: Verdict) -> None:
    """The filter of a verdict selects the number of turns that it says, and its sentence says the same number."""
    if not verdict.turns:
        assert verdict.count == 0 and verdict.read is None
        return
    assert selected(table, verdict.turns, verdict.sort) == verdict.count, verdict
    told = numbers_of_turns(verdict.basis) or numbers_of_turns(verdict.text)
    if verdict.subject == "similarity":  # the exceptions are of two kinds
        exceptions = verdict.text.partition("Exceptions:")[2]
        told = [sum(map(int, re.findall(r"(\d+) (?:turns? )?with", exceptions)))]
    assert verdict.count in told, (verdict.sentence, told)


def numbers_of_turns(text: str) -> list[int]:
    """The numbers of turns in a text; of ``69 of 173 turns`` the first."""
    return [int(found[1].replace(",", "")) for found in _COUNT.finditer(text)]


def selected(table: TurnTable, where: str, sort: str) -> int:
    """The number of turns that a filter selects, which can be put in order."""
    turns = table.where(where)
    assert sorted(table.ordered(turns, sort or "id")) == sorted(turns)
    return len(turns)


@pytest.mark.parametrize("name", PROJECTS)
def test_every_verdict_that_counts_turns_lists_them(name: str, tmp_path: Path) -> None:
    verdicts, _ = checked(read_project(PROJECTS[name](tmp_path)))
    assert verdicts
    for key, verdict in verdicts:
        # what is said of some turns of all can be read, unless several coders read them
        if re.match(r"[\d,]+ of [\d,]+ turns?\b", verdict.basis):
            assert verdict.turns, (key, verdict.sentence)


@pytest.mark.parametrize("missing", ["drop", "own"])
def test_turns_that_a_run_lacks_are_not_counted_where_they_do_not_count(missing: Missing) -> None:
    project = read_project(DEMO)
    verdicts, _ = checked(replace(project, policy=replace(project.policy, missing=missing)))
    read = {key for key, verdict in verdicts if verdict.turns}
    assert {"breakdown", "robustness", "unjudged"} <= read


def test_what_the_demo_counts_can_be_read() -> None:
    verdicts, sets = checked(read_project(DEMO))
    listed = {(key, verdict.turns): verdict.count for key, verdict in verdicts if verdict.turns}
    expected = {
        ("breakdown", "cause@qr:ranker"): 9,
        ("breakdown", "cause@qr:rewriter"): 18,
        ("breakdown", "cause@qr:*"): 70,
        # not the measure of rankings
        ("answers", "cause@qr:reader at:f1>=0.5"): 39,
        ("outcomes", "lost@human:generator"): 21,
    }
    assert expected.items() <= listed.items()
    assert {"evaluate", "unjudged", "robustness", "correlate"} <= {key for key, _ in listed}
    by_name = {one.says: one for one in sets}
    assert by_name["ranker errors"].sort == "ndcg_cut_3@human"
    assert by_name["rewriter errors, words dropped"].where.startswith("cause@qr:rewriter type@qr:")


# ---------------------------------------------------------------- public data


def of_lines(folder: Path, lines: Mapping[str, Any], text: str) -> Project:
    """A project of the shared data."""
    (folder / "robustcs.toml").write_text(text.format(**lines), "utf-8")
    return read_project(folder / "robustcs.toml")


_CAST = """qrels = "{data}/{year}/qrels.txt.gz"
[policy]
relevance_level = 2
[formulations.original]
run = "{data}/{year}/runs/{original}.trec.gz"
[formulations.qr]
run = "{data}/{year}/runs/{qr}.trec.gz"
[formulations.human]
run = "{data}/{year}/runs/{human}.trec.gz"
"""


@pytest.mark.parametrize(
    ("year", "runs", "ranker", "rewriter", "turns"),
    [
        ("cast2019", ("bert_base_raw", "bert_base_cv", "bert_base_oracle"), 69, 25, 173),
        ("cast2020", ("bert_raw", "bert_auto", "bert_manual"), 112, 46, 208),
    ],
)
def test_errors_of_cast(
    shared_data: Path,
    tmp_path: Path,
    year: str,
    runs: tuple[str, str, str],
    ranker: int,
    rewriter: int,
    turns: int,
) -> None:
    names = dict(zip(("original", "qr", "human"), runs, strict=True))
    project = of_lines(tmp_path, {"data": shared_data, "year": year, **names}, _CAST)
    verdicts, _ = checked(project)
    of_breakdown = {one.turns: one.count for key, one in verdicts if key == "breakdown"}
    assert of_breakdown == {
        "cause@qr:ranker": ranker,
        "cause@qr:rewriter": rewriter,
        "cause@qr:*": turns,
    }
    of_ranker = next(one for _, one in verdicts if one.turns == "cause@qr:ranker")
    assert of_ranker.basis.startswith(f"{ranker} of {turns} turns")


def test_no_system_of_a_grid(shared_data: Path, tmp_path: Path) -> None:
    lines = ['qrels = "{data}/cast2019/qrels.txt.gz"', "[policy]", "relevance_level = 2"]
    lines.append("[components]")
    for wording in ("raw", "t5", "manual"):
        for ranker, file in (("bm25", "bm25"), ("bert", "bm25_bert")):
            path = f"{{data}}/cast2019/decaf/{file}_{wording}.run.gz"
            lines.append(f'"{wording}/{ranker}" = "{path}"')
    project = of_lines(tmp_path, {"data": shared_data}, "\n".join(lines))
    verdicts, sets = checked(project)
    (none,) = [one for _, one in verdicts if one.turns == "blame:none"]
    assert none.count == 60 and none.basis.startswith("60 of 173 turns")
    # the best cell
    assert {one.where: one.count for one in sets} == {
        "blame@manual/bert:wording": 5,
        "blame@manual/bert:ranker": 8,
        "blame@manual/bert:either": 2,
        "blame@manual/bert:both": 1,
        "blame@manual/bert:none": 60,
    }


def test_made_up_answers(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "mtragun"
    qrels = [str(folder / f"qrels_{name}.tsv") for name in ("clapnq", "cloud", "fiqa", "govt")]
    text = (
        f"[answers]\ngold_passages = {qrels!r}\nlabels = '{folder}/reference.jsonl.gz'\n"
        f"[answers.tasks]\nglm = '{folder}/glm.jsonl.gz'\nmeno = '{folder}/meno.jsonl.gz'\n"
    )
    verdicts, sets = checked(of_lines(tmp_path, {}, text))
    assert {one.turns: one.count for _, one in verdicts} == {
        "lost@meno:generator": 24,
        "outcome@meno:made_up": 42,
    }
    assert {one.count for one in sets if one.where == "outcome@meno:made_up"} == {42}


def test_the_best_of_many_runs(shared_data: Path, tmp_path: Path) -> None:
    runs = sorted((shared_data / "dl2021" / "runs").iterdir())
    lines = [f"qrels = '{shared_data}/dl2021/qrels_human.txt.gz'", "[runs]"]
    lines += [f"'{run.name.partition('.')[0]}' = '{run}'" for run in runs]
    ((_, one),), _ = checked(of_lines(tmp_path, {}, "\n".join(lines)), "evaluate")
    assert one.count == 53 and len(parse_filter(one.turns).terms) == 2
