# SPDX-License-Identifier: ISC
"""What get_next of croniter costs; see next.c, whose starts and output these
are.  Its seconds stand behind the other fields; the rarest dates are left
out, as it reads */7 in day of week as a list beside day of month."""

import datetime
import sys
import time
import zoneinfo

import croniter

EXPRS = [
    ("typical", "* * * * *"),
    ("typical", "*/5 * * * *"),
    ("typical", "0 * * * *"),
    ("typical", "30 4 * * *"),
    ("typical", "0 9-17 * * 1-5"),
    ("typical", "30 4 * * 1"),
    ("typical", "15 4 1,15 * *"),
    ("sparse", "0 0 1 1 *"),
    ("sparse", "0 0 29 2 *"),
    ("second", "* * * * * *"),
    ("second", "*/10 * * * * *"),
    ("second", "5 30 4 * * *"),
]
STARTS = 1000
ROUNDS = 2


def make_starts():
    x, starts = 42, []
    while len(starts) < STARTS:
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        t = 1767225600 + (x >> 33) % 126230400
        month = datetime.datetime.fromtimestamp(
            t, datetime.timezone.utc).month
        if month not in (3, 11):
            starts.append(t)
    return starts


def main():
    zone = datetime.timezone.utc if sys.argv[1] == "UTC" else \
        zoneinfo.ZoneInfo(sys.argv[1])
    starts = make_starts()
    dates = [datetime.datetime.fromtimestamp(t, zone) for t in starts]
    for group, expr in EXPRS:
        fields = expr.split()
        if len(fields) == 6:
            fields = fields[1:] + fields[:1]
        it = croniter.croniter(" ".join(fields), dates[0])
        best, total = float("inf"), 0
        for _ in range(ROUNDS):
            total = 0
            began = time.perf_counter()
            for t, date in zip(starts, dates):
                it.set_current(date)
                total += int(it.get_next(float)) - t
            took = time.perf_counter() - began
            best = min(best, took / STARTS * 1e9)
        print("%s\t%s\t%.1f\t%d" % (group, expr, best, total))


main()
