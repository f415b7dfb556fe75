#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Changes a perf.data file in place, as other machines or options would have it.

Usage: edit_perf.py FILE guest BEGIN END	PIPs of each buffer, from one number up to
						another, are of a guest (NR)
       edit_perf.py FILE no-starts		of each CPU no event says what ran when tracing
						began, and none that is older is there
       edit_perf.py FILE no-switches		no event says who ran
       edit_perf.py FILE reuse			of the first two forks, one is the end of the
						parent, the other makes a process of that number
       edit_perf.py FILE no-mappings		nor what processes had mapped
       edit_perf.py FILE no-info		nor how the trace was recorded
"""
import struct
import sys

MMAP, EXIT, FORK, MMAP2 = 1, 4, 7, 10
ITRACE_START, LOST_SAMPLES, SWITCH, SWITCH_WIDE = 12, 13, 14, 15
AUXTRACE_INFO, AUXTRACE = 70, 71
SWITCHES = 7
PIP = b"\x02\x43"


def events(data):
    """Place, type, and end of each event; the trace of a buffer follows its event."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        yield at, kind, at + length
        if kind == AUXTRACE:
            length += struct.unpack_from("<Q", data, at + 8)[0]
        at += length


def guest(data, begin, end):
    for at, kind, last in events(data):
        if kind != AUXTRACE:
            continue
        stop = last + struct.unpack_from("<Q", data, at + 8)[0]
        number, at = 0, last
        while (at := data.find(PIP, at, stop)) >= 0:
            # The same bytes may be part of another packet: page tables are lower.
            if data[at + 7] == 0 and data[at + 6] == 0:
                if begin <= number < end:
                    data[at + 2] |= 1
                number += 1
            at += len(PIP)


def leave_out(data, at):
    """The event becomes one that means nothing."""
    struct.pack_into("<I", data, at, LOST_SAMPLES)


def stamp(data, at):
    """CPU and time of an event of a switch or start, whose bodies have one size."""
    time, cpu = struct.unpack_from("<QI", data, at + 24)
    return cpu, time


def no_starts(data):
    starts = {}
    for at, kind, _ in events(data):
        if kind == ITRACE_START:
            cpu, time = stamp(data, at)
            starts.setdefault(cpu, time)
    for at, kind, _ in events(data):
        if kind in (ITRACE_START, SWITCH_WIDE):
            cpu, time = stamp(data, at)
            if kind == ITRACE_START or time < starts[cpu]:
                leave_out(data, at)


def leave_out_all(data, kinds):
    for at, kind, _ in events(data):
        if kind in kinds:
            leave_out(data, at)


def no_switches(data):
    leave_out_all(data, {ITRACE_START, SWITCH, SWITCH_WIDE})
    info = next(at for at, kind, _ in events(data) if kind == AUXTRACE_INFO)
    struct.pack_into("<Q", data, info + 16 + 8 * SWITCHES, 0)


def reuse(data):
    first, second = [at for at, kind, _ in events(data) if kind == FORK][:2]
    parent = struct.unpack_from("<I", data, first + 12)[0]
    struct.pack_into("<I", data, first, EXIT)
    for at in first, second:
        struct.pack_into("<IIII", data, at + 8, parent, 1, parent, 1)


def main():
    path, how, *numbers = sys.argv[1:]
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if how == "guest":
        guest(data, *map(int, numbers))
    elif how == "no-starts":
        no_starts(data)
    elif how == "no-switches":
        no_switches(data)
    elif how == "reuse":
        reuse(data)
    elif how == "no-mappings":
        leave_out_all(data, {MMAP, MMAP2})
    elif how == "no-info":
        leave_out_all(data, {AUXTRACE_INFO})
    else:
        sys.exit(__doc__)
    with open(path, "wb") as file:
        file.write(data)


main()
