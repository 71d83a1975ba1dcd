"""The lock files agree with each other and with what the package asks for, and pip can check all of it by hashes."""

from __future__ import annotations

import configparser
import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

LOCKS = ("build.txt", "constraints.txt", "dev.txt", "optional.txt", "docs.txt", "bench.txt")
#: In place of constraints.txt, with the same packages in their lowest allowed versions.
LOWEST = "lowest.txt"
_ENTRY = re.compile(
    r"([a-z0-9][a-z0-9-]*)==([^\s;]+)(?: ; [^\\\n]+)?(?: \\\n    --hash=sha256:[0-9a-f]{64})+\n"
)
_NOTE = re.compile(r"\s*#.*\n")


def pins_of(name: str) -> dict[str, str]:
    """Version by package; fails at a line that is neither an exact version with its hashes nor a comment."""
    text = (ROOT / "requirements" / name).read_text("utf-8")
    pins, at = {}, 0
    while at < len(text):
        entry = _ENTRY.match(text, at)
        note = entry or _NOTE.match(text, at)
        assert note, f"{name}: {text[at : at + 80]!r}"
        if entry:
            assert entry[1] not in pins, f"{name} names {entry[1]} twice"
            pins[entry[1]] = entry[2]
        at = note.end()
    return pins


PINS = {name: pins_of(name) for name in LOCKS}


def test_no_package_stands_in_two_locks() -> None:
    names = [package for pins in PINS.values() for package in pins]
    assert len(names) > 80
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("section", "key", "locks"),
    [
        ("options", "install_requires", LOCKS[1:2]),
        ("options.extras_require", "dev", LOCKS[1:3]),
        ("options.extras_require", "docs", LOCKS[4:5]),
        ("options.extras_require", "bench", LOCKS[5:]),
    ],
)
def test_the_locks_hold_what_the_package_asks_for(
    section: str, key: str, locks: tuple[str, ...]
) -> None:
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", "utf-8")
    locked = {package: version for lock in locks for package, version in PINS[lock].items()}
    for line in setup[section][key].split("\n"):
        if line.strip():
            wanted = Requirement(line)
            assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)]), (
                f"{line}: run make lock"
            )


def test_the_lowest_lock_stands_beside_those_of_building_and_tests() -> None:
    others = {package for lock in ("build.txt", "dev.txt") for package in PINS[lock]}
    assert not others & set(pins_of(LOWEST))


def test_one_setuptools_for_building_and_for_tensorflow_hub() -> None:
    assert list(PINS["build.txt"]) == ["setuptools"]
    assert 77 <= int(PINS["build.txt"]["setuptools"].partition(".")[0]) < 82


def test_no_cuda_and_no_address_of_a_registry() -> None:
    packages = {package for pins in PINS.values() for package in pins}
    assert not {name for name in packages if name.startswith(("nvidia", "cuda", "triton"))}
    assert not packages & {"tensorflow", "torch"}
    for name in (*LOCKS, LOWEST, "optional.in"):
        text = re.sub(
            r"^    --hash=.*$", "", (ROOT / "requirements" / name).read_text("utf-8"), flags=re.M
        )
        assert not re.search(r"://|^\s*-", text, re.M)
