"""The CI's question to pip-audit is answered in plain lines, also where there is no network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, load

AUDIT = load(ROOT / ".ci" / "audit.py")
FINE = {"name": "click", "version": "8.1", "vulns": []}
BAD = {
    "name": "jinja2",
    "version": "3.1.0",
    "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.6"]}],
}
UNFIXED = {"name": "nltk", "version": "3.9", "vulns": [{"id": "PYSEC-2", "fix_versions": []}]}
SKIPPED = {
    "name": "six",
    "skip_reason": "Dependency not found on PyPI and could not be audited: six (1.17.0)",
}


@pytest.mark.parametrize(
    ("packages", "said"),
    [
        ([FINE], "pip-audit: 0 known vulnerabilities in 1 packages"),
        ([FINE, SKIPPED], "pip-audit: 0 known vulnerabilities in 1 packages; 1 more could not be checked"),
        ([BAD, FINE, UNFIXED],
         "pip-audit: jinja2 3.1.0 has PYSEC-1, fixed in 3.1.6\npip-audit: nltk 3.9 has PYSEC-2, not fixed yet\n"
         "pip-audit: 2 known vulnerabilities in 3 packages"),
        ([SKIPPED], f"pip-audit: not done, none of 1 packages could be checked ({SKIPPED['skip_reason']})"),
        ([], "pip-audit: not done, none of 0 packages could be checked (there are no packages)"),
    ],
)  # fmt: skip
def test_what_pip_audit_found(packages: list[dict[str, Any]], said: str) -> None:
    assert AUDIT.verdict(json.dumps({"dependencies": packages, "fixes": []}), "") == said


@pytest.mark.parametrize(("err", "said"), [("Traceback …\nConnectionError: no route\n", "ConnectionError: no route"),
                                           ("", "no output")])  # fmt: skip
def test_pip_audit_that_could_not_ask(err: str, said: str) -> None:
    assert AUDIT.verdict("", err) == f"pip-audit: not done, {said}"


def test_a_lock_that_is_not_there_does_not_fail_the_build(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / ".ci" / "audit.py", tmp_path / "no.txt"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pip-audit: not done, ") and done.stdout.count("\n") == 1
