"""Runs one command and reports what it took: ``python -I -S bench/meter.py FILE COMMAND …`` writes three numbers to FILE.

Seconds of wall time, seconds of CPU time, and the peak of resident memory in kilobytes. Linux counts as the peak of a process
at least what the one had that started it, so this one imports as little as it can.
"""

import os
import sys
import time

start = time.perf_counter()
number = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(number, 0)
took = time.perf_counter() - start
with open(sys.argv[1], "w") as report:
    report.write(f"{took} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}")
sys.exit(os.waitstatus_to_exitcode(status) and 1)
