"""Measure the size of the core: megabytes of every package in requirements/constraints.txt, from pip's records.

Run ``python bench/weight.py`` in an environment with the core. The size includes the bytecode that pip writes and records.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Largest allowed size of the core in megabytes.
MOST = 580


def megabytes(package: str) -> float:
    """Return the size of an installed package's files. Raises :class:`PackageNotFoundError` if it is not installed."""
    files = [file.locate() for file in distribution(package).files or ()]
    return sum(Path(str(file)).stat().st_size for file in files if Path(str(file)).is_file()) / 1e6


def weights() -> dict[str, float]:
    """Return package → megabytes, largest first, without packages for other platforms."""
    names = re.findall(
        r"^([a-z0-9-]+)==",
        (ROOT / "requirements" / "constraints.txt").read_text("utf-8"),
        re.MULTILINE,
    )
    found = {}
    for name in names:
        try:
            found[name] = megabytes(name)
        except PackageNotFoundError:
            continue
    return dict(sorted(found.items(), key=lambda item: -item[1]))


if __name__ == "__main__":
    sizes = weights()
    for name, size in sizes.items():
        print(f"{size:8.1f} {name}")
    total = sum(sizes.values())
    print(f"{total:8.1f} MB in {len(sizes)} packages; at most {MOST}")
    sys.exit(total > MOST)
