"""Fixtures that all tests share: where the public data and the demo collection are."""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path
from types import ModuleType

import pytest

# a suite started in the background ignores Ctrl-C, and so would the programs whose Ctrl-C it tests
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent


def load(path: Path) -> ModuleType:
    """A script that is in no package, as a module."""
    spec = importlib.util.spec_from_file_location(f"script_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The public data (``$ROBUSTCS_DATA`` or ``../shared/data``); tests that need it skip only where it is absent."""
    folder = Path(os.environ.get("ROBUSTCS_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the public data are not on this machine (set ROBUSTCS_DATA to their folder)")
    return folder


@pytest.fixture(scope="session")
def demo() -> Path:
    """The demo collection."""
    return ROOT / "fixtures"
