"""The outcome of a gate for machines."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from robustcs.errors import ExitCode
from robustcs.studies.compare.show import github_lines, junit, rendered, summary, told
from tests.studies.compare.test_analysis import TURNS, compared, state, system

NAME = 'a&<b>"\x00\x1b[1m%\u202e'


def result():  # type: ignore[no-untyped-def]
    """A run that fails under a name that no format takes as it is, one that passes, and one that is gone."""
    old, new = dict.fromkeys(TURNS, 0.5), dict.fromkeys(TURNS, 0.4)
    same = system(old)
    return compared(
        state({"gone": same, "b": same, NAME: same}),
        state({"b": same, NAME: system(new)}),
        "drop>0.05",
    )


def test_junit() -> None:
    text = junit(result(), ExitCode.GATE_FAILED)
    (suite,) = ElementTree.fromstring(text.encode())
    assert (
        suite.get("tests"),
        suite.get("failures"),
        suite.get("errors"),
        suite.get("skipped"),
    ) == ("3", "1", "1", "0")
    passed, failed, gone = suite.findall("testcase")
    assert (passed.get("classname"), passed.get("name")) == (
        "robustcs compare: drop>0.05",
        "b, NDCG@3",
    )
    assert [child.tag for child in passed] == ["system-out"] and passed[0].text == "no turn differs"
    assert failed.get("name") == 'a&<b>"␀␛[1m%⟨U+202E⟩, NDCG@3'
    (failure,) = failed
    assert failure.tag == "failure" and failure.get("message") == (
        "failed: the mean drops by 0.100, significantly more than 0.05 (adjusted p = 0.0010)"
    )
    (error,) = gone
    assert (gone.get("classname"), gone.get("name"), error.tag) == (
        "robustcs compare: every condition",
        "gone",
        "error",
    )
    assert "max-T over 1 case, 10 conversations" in str(suite.findtext("system-out"))


def test_what_cannot_be_told_is_skipped_where_it_passes() -> None:
    (suite,) = ElementTree.fromstring(junit(result(), ExitCode.DONE).encode())
    assert (suite.get("errors"), suite.get("skipped")) == ("0", "1")
    (gone,) = suite.findall("testcase")[2]
    assert (gone.tag, gone.get("message")) == (
        "skipped",
        "cannot tell: the run exists only in the old state",
    )


def test_json() -> None:
    report = json.loads(rendered("GATE.JSON", result(), [], ExitCode.GATE_FAILED))
    assert (report["outcome"], report["exit_code"], report["command"]) == ("failed", 1, "compare")
    assert [row["outcome"] for row in report["tables"]["gate"]] == [
        "passed",
        "failed",
        "cannot tell",
    ]
    assert report["tables"]["gate"][2]["drop"] is None and list(report["tables"]) == ["gate"]


def test_github_lines() -> None:
    """Failures first; what steers a workflow command is escaped."""
    failed, gone = github_lines(result())
    assert failed.startswith(
        f"::error title=robustcs compare%3A drop>0.05::failed: {NAME.replace('%', '%25')}, NDCG@3: the mean"
    )
    assert gone.startswith(
        "::warning title=robustcs compare%3A every condition::cannot tell: gone: the run exists only"
    )
    whole = result()
    odd = whole.changed(gate=whole.gate.assign(condition="a,b:\n%"))
    assert github_lines(odd)[0].startswith(
        "::error title=robustcs compare%3A a%2Cb%3A%0A%25::failed"
    )


def test_lines_for_people() -> None:
    first, second = told(result())
    assert first.startswith("failed: drop>0.05: a&<b>") and second.startswith(
        "cannot tell: every condition: gone: the run"
    )
    assert summary(result()) == "gate: failed (1 failed, 1 cannot tell, 1 passed)"
