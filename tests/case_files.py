"""Small made-up inputs in ``tests/cases``, in the form of files that people publish or send with bug reports."""

from __future__ import annotations

import shutil
from pathlib import Path

CASES = Path(__file__).parent / "cases"


def case(name: str, folder: Path) -> Path:
    """Copy a case into ``folder`` and return its path there, so that commands can write beside its files."""
    return Path(shutil.copytree(CASES / name, folder / name))
