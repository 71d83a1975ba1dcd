"""List known vulnerabilities of the versions in lock files, as reported by pip-audit.

    python .ci/audit.py LOCK…

Prints one line per vulnerability, or why the check was not possible. It never fails: a new advisory, often without a fixed
version, is unrelated to the change that is being checked.
"""

from __future__ import annotations

import json
import subprocess
import sys

SECONDS = 120


def audit(locks: list[str]) -> str:
    """Return the report of pip-audit on the lock files as lines to print."""
    command = [
        sys.executable,
        "-m",
        "pip_audit",
        "--require-hashes",
        "--disable-pip",
        "--progress-spinner=off",
    ]
    command += ["--format=json", *(f"--requirement={lock}" for lock in locks)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"pip-audit: not done, no answer in {SECONDS} seconds"
    return verdict(done.stdout, done.stderr)


def verdict(out: str, err: str) -> str:
    """Return the lines to print for the output of pip-audit, which marks packages that it could not check as skipped."""
    try:
        packages = json.loads(out)["dependencies"]
    except ValueError:
        return f"pip-audit: not done, {(err.strip() or 'no output').splitlines()[-1]}"
    asked = [package for package in packages if "skip_reason" not in package]
    if not asked:
        reason = packages[0]["skip_reason"] if packages else "there are no packages"
        return f"pip-audit: not done, none of {len(packages)} packages could be checked ({reason})"
    found = [
        f"pip-audit: {package['name']} {package['version']} has {one['id']}, "
        + (f"fixed in {', '.join(one['fix_versions'])}" if one["fix_versions"] else "not fixed yet")
        for package in asked
        for one in package["vulns"]
    ]
    unknown = (
        f"; {len(packages) - len(asked)} more could not be checked"
        if len(asked) < len(packages)
        else ""
    )
    return "\n".join(
        [*found, f"pip-audit: {len(found)} known vulnerabilities in {len(asked)} packages{unknown}"]
    )


if __name__ == "__main__":
    print(audit(sys.argv[1:]))
