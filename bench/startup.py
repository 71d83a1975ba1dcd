"""Measure the CPU time of short commands in units of ``import numpy``: ``python bench/startup.py [REPEATS]``.

Every command runs in the demo collection in a separate process. The fastest of several runs counts, because other load affects
it least. Bytecode is kept between runs, as in an installed package. pyarrow is hidden, because the core does not install it and
pandas imports it if it is there.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Command line → its largest allowed time in units of ``import numpy``.
MOST = {
    "evaluate --table measures": 4, "sweep --table bins": 4, "breakdown --table bins": 5, "unjudged --table rates": 5,
    "check": 8,
}  # fmt: skip


def cpu(code: str, repeats: int) -> float:
    """Return the CPU seconds of a Python process that runs ``code``, the fastest of ``repeats``."""
    found = []
    code = f"import sys; sys.modules['pyarrow'] = None\n{code}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT / "fixtures",
            env=environment,
            capture_output=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def factors(repeats: int = 5) -> dict[str, float]:
    """Return command line → CPU time in units of ``import numpy``."""
    unit = cpu("import numpy", repeats)
    return {
        line: cpu(f"from robustcs.cli.main import run; run({line.split()!r})", repeats) / unit
        for line in MOST
    }


if __name__ == "__main__":
    found = factors(int(sys.argv[1]) if sys.argv[1:] else 5)
    for line, factor in found.items():
        print(f"{factor:6.1f} × import numpy (at most {MOST[line]}): {line}")
    sys.exit(any(factor > MOST[line] for line, factor in found.items()))
