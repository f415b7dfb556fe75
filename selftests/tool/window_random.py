#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""decode --time FROM,TO, which passes over what it does not need, against what the
whole trace has at these times.

window_random.py KIPT KHZ COUNT FILE [OPTION...] : prints what is wrong; KHZ is the
frequency of the TSC, 0: times are in ticks.
"""
import json
import random
import subprocess
import sys

KIPT, KHZ, COUNT = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
SAME = ("branch", "disable", "sync", "event")


def decode(*options):
    text = subprocess.run([KIPT, "decode", *sys.argv[4:], "--branches", "--json",
                           *options], capture_output=True, text=True,
                          check=False).stdout
    return [json.loads(line) for line in text.splitlines()]


def records(lines):
    """Each with its time."""
    first, now = {}, {}
    for line in lines:
        cpu = line.get("cpu")
        if line["type"] == "time":
            first.setdefault(cpu, line["tsc"])
            now[cpu] = line["tsc"]
        elif line["type"] in SAME:
            yield now.get(cpu, 0) - first.get(cpu, 0), line


def typed(ticks):
    return "%f" % (ticks * 1000 / KHZ if KHZ else ticks)


def main():
    whole = list(records(decode("--time")))
    times = sorted({time for time, _ in whole})
    # No end is at a time, so that it does not matter how numbers are rounded.
    ends = [(a + b) / 2 for a, b in zip(times, times[1:]) if b - a > 8]
    total = None
    rng = random.Random(1)
    for _ in range(COUNT):
        low, high = sorted(rng.sample(ends, 2))
        if rng.randrange(2):
            high = min([end for end in ends if end > low + 3000] or [high])
        lines = decode("--time", "%s,%s" % (typed(low), typed(high)))
        want = [line for time, line in whole if low <= time <= high]
        got = [line for line in lines if line["type"] in SAME]
        if want != got:
            print("%f,%f: %d records, wanted %d" % (low, high, len(got), len(want)))
        summary = lines[-1]
        size = summary["trace_bytes"] + summary.get("trace_left", 0)
        total = total or size
        if size != total:
            print("%f,%f: %d of %d bytes" % (low, high, size, total))
        if high - low < 10000 and summary["trace_bytes"] > total / 4:
            print("%f,%f: %d bytes decoded" % (low, high, summary["trace_bytes"]))
    print(COUNT, "stretches")


main()
