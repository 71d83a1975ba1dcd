"""Known vulnerabilities of the versions in lock files, as pip-audit finds them.

    python .ci/audit.py LOCK…

Prints one line for every vulnerability, or why nothing could be asked. It informs and never fails: an advisory that appears
overnight, often without a fixed version, says nothing about the change that is being checked.
"""

from __future__ import annotations

import json
import subprocess
import sys

SECONDS = 120


def audit(locks: list[str]) -> str:
    """What pip-audit says about the lock files, as lines to print."""
    command = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip", "--progress-spinner=off"]
    command += ["--format=json", *(f"--requirement={lock}" for lock in locks)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"pip-audit: not done, no answer in {SECONDS} seconds"
    return verdict(done.stdout, done.stderr)


def verdict(out: str, err: str) -> str:
    """The lines to print for what pip-audit wrote: it calls packages that it could not ask about skipped, and exits 0."""
    try:
        packages = json.loads(out)["dependencies"]
    except ValueError:
        return f"pip-audit: not done, {(err.strip() or 'it said nothing').splitlines()[-1]}"
    asked = [package for package in packages if "skip_reason" not in package]
    if not asked:
        reason = packages[0]["skip_reason"] if packages else "there are no packages"
        return f"pip-audit: not done, nothing is known about any of {len(packages)} packages ({reason})"
    found = [
        f"pip-audit: {package['name']} {package['version']} has {one['id']}, "
        + (f"fixed in {', '.join(one['fix_versions'])}" if one["fix_versions"] else "not fixed yet")
        for package in asked
        for one in package["vulns"]
    ]
    unknown = f"; nothing is known about {len(packages) - len(asked)} more" if len(asked) < len(packages) else ""
    return "\n".join([*found, f"pip-audit: {len(found)} known vulnerabilities in {len(asked)} packages{unknown}"])


if __name__ == "__main__":
    print(audit(sys.argv[1:]))
