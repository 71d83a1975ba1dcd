"""Outcome of a gate for machines: JSON, JUnit and annotations of GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from robustcs.documents.data import to_json
from robustcs.documents.text import visible
from robustcs.errors import ExitCode, UsageError
from robustcs.studies.compare.analysis import Comparison
from robustcs.studies.compare.gate import subject
from robustcs.version import __version__

SUFFIXES = (".json", ".xml")
_LEVELS = {"failed": "error", "cannot tell": "warning"}


def check_suffix(path: str) -> None:
    """Raise :class:`UsageError` for a report that is neither JSON nor JUnit."""
    if not path.lower().endswith(SUFFIXES):
        raise UsageError("bad-suffix", f"--gate-report {path}: unknown format", "name a file that ends in .json or .xml")


def rendered(path: str, result: Comparison, inputs: Sequence[Mapping[str, Any]], code: ExitCode) -> str:
    """Return the report in the format of ``path``; ``code`` is the exit code of the command."""
    if path.lower().endswith(".xml"):
        return junit(result, code)
    evaluated = result.evaluated
    text = to_json("compare", __version__, evaluated.as_dict(), inputs, {"gate": result.gate}, evaluated.notes)
    head = {"outcome": result.outcome, "exit_code": int(code), "old": result.old.name, "new": result.new.name}
    return json.dumps(head, ensure_ascii=False)[:-1] + "," + text.removeprefix("{")


def junit(result: Comparison, code: ExitCode) -> str:
    """Return the gate as JUnit XML, one test case for each row.

    "Cannot tell" becomes an error, or is skipped if the command ends with exit code 0, so that report and exit code agree.
    """
    undecided = "skipped" if code == ExitCode.DONE else "error"
    rows = list(result.gate.itertuples())
    counts = {outcome: str(sum(row.outcome == outcome for row in rows)) for outcome in ("failed", "cannot tell")}
    open_cases = counts["cannot tell"]
    root = ElementTree.Element("testsuites", name="robustcs compare")
    suite = ElementTree.SubElement(
        root, "testsuite", name=visible(f"{result.old.name} to {result.new.name}"), tests=str(len(rows)),
        failures=counts["failed"], errors=open_cases if undecided == "error" else "0",
        skipped=open_cases if undecided == "skipped" else "0",
    )  # fmt: skip
    for row in rows:
        case = ElementTree.SubElement(
            suite, "testcase", classname=visible(f"robustcs compare: {row.condition}"), name=visible(subject(row)), time="0"
        )
        if row.outcome != "passed":
            element = ElementTree.SubElement(case, "failure" if row.outcome == "failed" else undecided)
            element.set("message", visible(f"{row.outcome}: {row.reason}"))
            if element.tag != "skipped":
                element.set("type", row.outcome)
        else:
            ElementTree.SubElement(case, "system-out").text = visible(row.reason)
    output = ElementTree.SubElement(suite, "system-out")
    output.text = visible("\n".join([*result.evaluated.notes, result.evaluated.policy_line]))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def told(result: Comparison) -> list[str]:
    """Return a line for every row of the gate that did not pass, failures first."""
    return [f"{row.outcome}: {row.condition}: {subject(row)}: {row.reason}" for row in _open(result)]


def github_lines(result: Comparison) -> list[str]:
    """Return the same lines as workflow commands, which GitHub Actions shows as annotations."""
    found = []
    for row in _open(result):
        title = _escaped(f"robustcs compare: {row.condition}").replace(":", "%3A").replace(",", "%2C")
        message = _escaped(f"{row.outcome}: {subject(row)}: {row.reason}")
        found.append(f"::{_LEVELS[row.outcome]} title={title}::{message}")
    return found


def _open(result: Comparison) -> list[Any]:
    rows = [row for row in result.gate.itertuples() if row.outcome != "passed"]
    return sorted(rows, key=lambda row: row.outcome != "failed")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def summary(result: Comparison) -> str:
    """Return the outcome in one line, such as ``gate: failed (1 failed, 2 cannot tell, 3 passed)``."""
    counts = [(int((result.gate["outcome"] == outcome).sum()), outcome) for outcome in ("failed", "cannot tell", "passed")]
    return f"gate: {result.outcome} ({', '.join(f'{number} {outcome}' for number, outcome in counts if number)})"
