#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Random calls and returns of functions of several tasks, as lines of make_records.

calls_random.py SEED COUNT TYPES [timed]: TYPES, with commas between, are those of records at
which something is missing; timed: each comes after a time
"""
import random
import sys


def main():
    r, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
    types, timed = [int(t) for t in sys.argv[3].split(",")], "timed" in sys.argv
    base, time = 0xffffffff81000000, 1000
    print("19 0 1 0 0 0")
    for _ in range(count):
        time += r.randrange(3) * r.randrange(50)
        kind = r.choice((1, 2, 3, 3, 3, 4, 6, 6, 6, 9, 12))
        where = r.choice((0x100, 0x200, 0x300, 0x400)) + r.randrange(0x40)
        to = where & 0xf00 if kind in (3, 12, 4) else where
        now = "8 0 1 0 0 %d" % time
        lines = ["1 %d 0 1 %d %d" % (kind, base + r.randrange(0x700), base + to),
                 "1 %d 0 1 %d %d" % (kind, base + r.randrange(0x700), base + to),
                 now,
                 "5 0 1 %d 0 7" % r.randrange(7, 10),
                 "%d 1 0 0 %d 0" % (r.choice(types), base + where)]
        if timed:
            print(now)
            lines.remove(now)
        print(r.choice(lines))


if __name__ == "__main__":
    main()
