"""What bash completes, with the program's own script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import COMMANDS

_SCRIPT = """
compopt() {{ echo "$@"; }}
eval "$(_ROBUSTCS_COMPLETE=bash_source robustcs)"
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_robustcs_completion robustcs
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
#: What the script tells bash where a file is wanted.
_FILES = ["-o default", ""]


def completed(words: str, folder: Path) -> list[str]:
    """What bash offers for the last of ``words``."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash on this machine")
    program = folder / "robustcs"
    program.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -c "from robustcs.cli.main import main; main()" "$@"\n'
    )
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [bash, "-c", _SCRIPT.format(words=words)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.removesuffix("\n").split("\n")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("robustcs ''", list(COMMANDS)),
        ("robustcs br", ["breakdown"]),
        ("robustcs breakdown --th", ["--threshold"]),
        ("robustcs unjudged --scope ''", ["cutoff", "run", "pool"]),
        ("robustcs breakdown --qrels q", _FILES),
        ("robustcs breakdown --run t5 = r", _FILES),
        ("robustcs breakdown --rewrites qr = r", _FILES),
        ("robustcs compare before a", _FILES),
        ("robustcs sweep --output s", _FILES),
        ("robustcs sweep --depth ''", [""]),
    ],
)
def test_bash_completes(words: str, offered: list[str], tmp_path: Path) -> None:
    assert completed(words, tmp_path) == offered
