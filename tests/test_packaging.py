"""The wheel and the source distribution run outside the checkout, and the demo collection comes with them.

The versions that the package allows are those that were tested.
"""

from __future__ import annotations

import configparser
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.conftest import ROOT
from tests.test_locks import LOWEST, pins_of

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
#: What is not taken from the checkout: what other builds and environments left there.
LEFT = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__")


def call(*command: str | Path, folder: Path) -> str:
    """What a command says on stdout; fails with what it said on stderr."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COLUMNS")
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(kind: str, source: Path, folder: Path) -> Path:
    """The ``wheel`` or ``sdist`` of a source tree, built with this environment's setuptools, without any network."""
    code = f"from setuptools.build_meta import build_{kind} as build; build({str(folder)!r})"
    call(sys.executable, "-c", code, folder=source)
    [made] = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution."""
    source = tmp_path_factory.mktemp("source") / "robustcs"
    shutil.copytree(ROOT, source, ignore=LEFT)
    return build("sdist", source, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a checkout."""
    source = tmp_path_factory.mktemp("source") / "robustcs"
    shutil.copytree(ROOT, source, ignore=LEFT)
    return build("wheel", source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of a fresh environment with the wheel, which borrows the other packages from this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / Path(sys.executable).name
    call(
        *PIP,
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
        folder=folder,
    )
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(call(python, "-c", where, folder=folder).strip())
    # a folder named in a .pth file counts, but its own .pth files, which may name the checkout, do not
    borrowed = [
        entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")
    ]
    (packages / "borrowed.pth").write_text("\n".join(borrowed))
    return scripts


def contents(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }  # fmt: skip


def test_the_source_distribution_makes_the_same_wheel(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    [source] = (tmp_path / "source").iterdir()
    again = build("wheel", source, tmp_path / "wheel")
    listed = []
    for file in (wheel, again):
        with zipfile.ZipFile(file) as archive:
            listed.append({one.filename: one.CRC for one in archive.infolist()})
    assert listed[0] == listed[1]


def test_the_demo_collection_in_the_wheel_is_that_of_the_checkout(wheel: Path, demo: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        carried = {
            name.removeprefix("robustcs/demo/"): hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist() if name.startswith("robustcs/demo/")
        }  # fmt: skip
    assert carried == {
        name: value for name, value in contents(demo).items() if not name.endswith(".py")
    }


@pytest.fixture(scope="module")
def package(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the installed package."""
    where = call(
        installed / "python",
        "-c",
        "import robustcs; print(robustcs.__file__)",
        folder=tmp_path_factory.mktemp("elsewhere"),
    )
    return Path(where.strip()).parent


def test_an_installed_program_reads_its_collection_and_leaves_it_as_it_is(
    installed: Path, package: Path, tmp_path: Path
) -> None:
    assert package.is_relative_to(installed.parent)
    assert call(installed / "robustcs", "--version", folder=tmp_path).startswith(
        "robustcs, version "
    )
    before = contents(package / "demo")
    result = json.loads(
        call(installed / "robustcs", "breakdown", "--format", "json", folder=package / "demo")
    )
    assert (
        sum(
            row["count"]
            for row in result["tables"]["bins"]
            if (row["metric"], row["threshold"]) == ("P_1", "=1")
        )
        == 70
    )
    assert contents(package / "demo") == before


@pytest.mark.long
def test_an_installed_program_shows_its_demo_and_leaves_it_as_it_is(
    installed: Path, package: Path, tmp_path: Path
) -> None:
    before = contents(package / "demo")
    assert (
        call(installed / "robustcs", "demo", folder=tmp_path)
        == "wrote reports/demo/report.html\nwrote reports/demo/report.pdf\n"
    )
    assert "Demo collection" in (tmp_path / "reports/demo/report.html").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]
    assert contents(package / "demo") == before


def test_an_installation_without_the_collection_says_so(installed: Path, tmp_path: Path) -> None:
    code = "from robustcs.cli import main, whole; whole._COLLECTIONS = (); raise SystemExit(main.run(['demo']))"
    done = subprocess.run(
        [installed / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "robustcs: the demo collection is not in this installation of robustcs; "
        "install robustcs from its wheel, or name the project file of a copy with --config\n"
    )


def lower_bounds() -> dict[str, Version]:
    """The lowest version of each requirement of ``install_requires`` that setup.cfg allows, by package."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", "utf-8")
    bounds = {}
    for line in setup["options"]["install_requires"].strip().split("\n"):
        wanted = Requirement(line)
        [bound] = [one.version for one in wanted.specifier if one.operator == ">="]
        bounds[canonicalize_name(wanted.name)] = Version(bound)
    return bounds


def test_make_lowest_tests_the_lower_bounds() -> None:
    """A bound that is lower than the version in requirements/lowest.txt was never tried."""
    bounds = lower_bounds()
    assert len(bounds) > 10
    pins = pins_of(LOWEST)
    tested = {package: Version(pins[package]) for package in bounds}
    assert tested == bounds, "run make lock, then make lowest"
