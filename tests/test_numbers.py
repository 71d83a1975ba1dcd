"""Every number that a verdict or a finding of the demo's report prints is a cell of an exported table, rounded.

Allowed beside cells, and nothing else: how many turns and units were evaluated, how many rows a table has for a measure (and for
a judge, system, run, criterion or group), how many of these rows have p ≤ .05 by a column of p or true in a column of true and
false, the share of such rows, how many different names a column of names has, and sums of a column of counts over such rows.
Tables with a row for every turn or passage are left out: among thousands of scores every number is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from robustcs.errors import UsageError
from robustcs.project.jobs import HERE
from robustcs.project.reader import untracked
from robustcs.project.reading import read_project
from robustcs.project.workspace import Workspace
from robustcs.result import Evaluated, Result
from robustcs.studies.registry import questions
from robustcs.studies.study import Answer

#: Numbers that are not measured: of names and measures, of levels (95% CI, p ≤ 0.05), of thresholds, and bounds of p.
_NAMED = re.compile(r"[\w@.-]*[A-Za-z_@][\w@.-]*|95 ?%(?= CI| interval| of)|[<>≤≥=] ?(?<!p = )\d[\d.]*")
_NUMBER = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w])")
#: By which the rows of a table fall into groups.
_GROUPS = ("metric", "judge", "system", "run", "criterion", "group", "rewriter", "task", "threshold", "turn_set", "baseline")


def numbers(sentence: str) -> list[str]:
    """The printed numbers, without signs and thousands separators."""
    return [found.replace(",", "") for found in _NUMBER.findall(_NAMED.sub(" ", sentence))]


def printed(value: float) -> Iterator[str]:
    """What a number may look like: rounded to 0 to 4 decimals, as it is or in per cent, without its sign."""
    for shown in (abs(value), 100 * abs(value)):
        for digits in range(5):
            yield f"{shown:.{digits}f}"


def cells(tables: Mapping[str, pd.DataFrame], evaluated: Evaluated) -> set[str]:
    """All that the numbers of a section may be."""
    found = {str(evaluated.turns), str(evaluated.units)}
    for frame in tables.values():
        if {"turn", "document", "item"} & set(frame.columns):
            continue
        for name in frame:
            values = frame[name].dropna()
            if values.map(lambda value: isinstance(value, int | float) and not isinstance(value, bool)).all():
                found.update(text for value in set(values) for text in printed(float(value)))
        for part in _parts(frame):
            found |= _counts(part)
    return found


def _parts(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """The whole table, and its rows of every measure, of every group, and of both."""
    yield frame
    names = [name for name in _GROUPS if name in frame]
    for keys in ([name] for name in names):
        yield from (part for _, part in frame.groupby(keys))
    if "metric" in names:
        for other in names[1:]:
            yield from (part for _, part in frame.groupby(["metric", other]))


def _counts(part: pd.DataFrame) -> set[str]:
    found = {len(part)}
    for name in part:
        values = part[name]
        if str(name).startswith(("p", "holm")) and values.dtype.kind == "f":
            found.add(int((values <= 0.05).sum()))
        elif values.dtype.kind == "b":
            found |= {int(values.sum()), int((~values).sum())}
        elif values.dtype.kind in "iu":
            found.add(int(values.sum()))
        elif values.dtype.kind in "OTU":
            found.add(values.nunique())
    shares = {f"{100 * count / len(part):.{digits}f}" for count in found if count <= len(part) for digits in (0, 1)}
    return {str(count) for count in found} | shares


@pytest.fixture(scope="session")
def sections(demo: Path) -> dict[str, list[Answer]]:
    """Every section of the demo's report by its key."""
    project = read_project(demo / "robustcs.toml")
    found = {}
    for group in questions():
        with suppress(UsageError):  # the demo does not have what every question needs
            workspace = Workspace(group[0].part(project), HERE, untracked)
            found[group[0].key] = [question.answer(workspace) for question in group]
    return found


def test_x(sections) -> None:
    for key, answers in sections.items():
        results: list[Result] = [result for answer in answers for result in answer.results.values()]
        known: set[str] = set()
        for result in results:
            known |= cells(result.tables, result.evaluated)
        for answer in answers:
            for sentence in (*(verdict.sentence for verdict in answer.verdicts), *answer.findings):
                print(f"{key}: {sentence}")
                lacking = [number for number in numbers(sentence) if number not in known]
                if lacking:
                    print(f"   !!!! {lacking}")
