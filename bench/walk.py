"""Count the files that a developer must read to follow the computation of one unjudged rate.

``python bench/walk.py [ROOT]`` runs ``unjudged --table rates --metric P_1`` on the demo (or in the folder ROOT), and prints the
files whose functions are called, and their number. The command runs twice and only the second run counts, so that calls during
imports do not count.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections import defaultdict
from pathlib import Path
from types import FrameType

PACKAGE = Path(__file__).parent.parent / "robustcs"
COMMAND = ("unjudged", "--table", "rates", "--metric", "P_1")
#: Compiler flag of functions, which modules and class bodies do not have.
_LOCALS = 0x2


def walked(folder: Path, command: tuple[str, ...] = COMMAND) -> dict[str, set[str]]:
    """Return file → functions that a command calls in ``folder``; a comprehension belongs to its function."""
    sys.path.insert(0, str(PACKAGE.parent))
    from robustcs.cli.main import run

    found: dict[str, set[str]] = defaultdict(set)

    def note(frame: FrameType, event: str, _: object) -> None:
        code, path = frame.f_code, frame.f_code.co_filename
        if (
            event == "call"
            and code.co_flags & _LOCALS
            and path.startswith(str(PACKAGE))
            and code.co_name.isidentifier()
        ):
            found[str(Path(path).relative_to(PACKAGE))].add(code.co_name)

    before = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            run(list(command))
            sys.setprofile(note)
            code = run(list(command))
    finally:
        sys.setprofile(None)
        os.chdir(before)
    if code:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    return dict(found)


if __name__ == "__main__":
    files = walked(Path(sys.argv[1]) if sys.argv[1:] else PACKAGE.parent / "fixtures")
    for name, functions in sorted(files.items()):
        print(f"{name}: {', '.join(sorted(functions))}")
    print(f"{len(files)} files, {sum(map(len, files.values()))} functions")
