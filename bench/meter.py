"""Run one command and measure its cost: ``python -I -S bench/meter.py FILE COMMAND …`` writes three numbers to FILE.

The numbers are wall seconds, CPU seconds, and peak resident memory in kilobytes. On Linux, the peak of a process is at least
that of its parent, so this script imports as little as possible.
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
