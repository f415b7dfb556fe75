#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads branch profiles by their formats alone, and compares them whole with what it counts
itself in ordered branches. It shares no code with the writer.

read_profile.py KIND FILE BRANCHES PROGRAM@BIAS...
                        "same", or what differs; KIND is bolt or autofdo. BRANCHES is what
                        kipt wrote with --branches --json; the first PROGRAM is that of
                        FILE, moved by BIAS from where it was linked to be; others are
                        mapped too. A PROGRAM that is there twice was mapped twice.
read_profile.py maps PID PROGRAM@BIAS...
                        mappings of a process, as kipt takes them with --maps
What is wrong with the file itself ends it, with "wrong: ".
"""
import collections
import json
import re
import subprocess
import sys

PAGE = 4096
# What a compiler lays out; the other kinds only end a range and begin the next.
LAID_OUT = ("cond", "jump", "call", "jump-ind", "call-ind", "ret")
ASYNC = ("event", "tsx-abort", "vmexit")
NEUTRAL = ("context", "mode", "tsx", "time", "cbr", "ptwrite", "power", "event",
           "event-data", "vmcs", "block", "trig", "sample", "summary")


def need(good, text):
    if not good:
        print("wrong:", text)
        sys.exit(1)


class Program:
    def __init__(self, spec):
        self.path, _, bias = spec.rpartition("@")
        self.bias = int(bias, 0)
        text = subprocess.run(["readelf", "-lW", self.path], capture_output=True, text=True,
                              check=True).stdout
        self.loads = [[int(x, 16) for x in found] for found in re.findall(
            r"^ +LOAD +(0x[0-9a-f]+) (0x[0-9a-f]+) 0x[0-9a-f]+ (0x[0-9a-f]+)", text, re.M)]

    def find(self, address):
        """Its number of the segment, address as linked and offset in the file."""
        for number, (offset, linked, size) in enumerate(self.loads):
            at = address - self.bias - linked
            if 0 <= at < size:
                return number, linked + at, offset + at
        return None

    def maps(self):
        for offset, linked, size in self.loads:
            begin = (linked + self.bias) // PAGE * PAGE
            end = -(-(linked + self.bias + size) // PAGE) * PAGE
            yield begin, end, offset // PAGE * PAGE


def place(programs, address):
    for program in programs:
        found = program.find(address)
        if found:
            return (program, *found)
    return None


def count(records, programs):
    """Ranges by begin, end and whether a return began them; branches by both ends."""
    ranges, branches = collections.Counter(), collections.Counter()
    own = programs[0].path
    last = reached = None

    def range_end(end):
        if last is None:
            return
        begin, stop = place(programs, last[0]), place(programs, end)
        # In one piece of memory.
        if begin and stop and begin[:2] == stop[:2] and begin[0].path == own and \
           last[0] <= end:
            ranges[begin[2:], stop[2:], last[1]] += 1

    for record in records:
        kind = record.get("kind")
        ip = int(record["ip"], 16) if "ip" in record else None
        if record["type"] == "sync":
            if kind == "reached":
                reached = ip
                continue
            if ip is None or ip != reached:
                last = None
            reached = None
        elif record["type"] == "branch" and kind in ASYNC:
            last = None
        elif record["type"] == "branch":
            to = int(record["to"], 16)
            range_end(ip)
            last = to, kind == "ret"
            ends = [place(programs, ip), place(programs, to)]
            inside = [end[2:] if end and end[0].path == own else None for end in ends]
            if kind not in LAID_OUT:
                pass
            elif all(inside) and ends[0][0] == ends[1][0]:
                branches[tuple(inside)] += 1
            else:
                for pair in ((inside[0], None), (None, inside[1])):
                    branches[pair] += any(pair)
        elif record["type"] not in NEUTRAL:
            if record["type"] == "disable" and kind == "branch" and ip is not None:
                range_end(ip)
            last = None
        if record["type"] not in NEUTRAL and record["type"] != "sync":
            reached = None
    return ranges, branches


def read_bolt(path):
    got = collections.Counter()
    with open(path, encoding="ascii") as file:
        for line in file:
            found = re.fullmatch(r"B ([0-9a-f]+) ([0-9a-f]+) ([1-9]\d*) 0\n|"
                                 r"([Ff]) ([0-9a-f]+) ([0-9a-f]+) ([1-9]\d*)\n", line)
            need(found, "line " + line)
            sort = found[4] or "B"
            key = sort, *(int(found[i], 16) for i in ((5, 6) if found[4] else (1, 2)))
            need(key not in got, "twice: " + line)
            got[key] = int(found[7] or found[3])
    return got


def want_bolt(ranges, branches):
    want = collections.Counter()
    for (begin, end, returned), n in ranges.items():
        want["f" if returned else "F", begin[0], end[0]] += n
    del branches[None, None]
    for ends, n in branches.items():
        want["B", *(end[0] if end else 0 for end in ends)] += n
    return want


def read_autofdo(path):
    got = collections.Counter()
    with open(path, encoding="ascii") as file:
        lines = file.read().splitlines()
    for sort, pattern in (("-", r"([0-9a-f]+)-([0-9a-f]+):([1-9]\d*)"),
                          ("", r"([0-9a-f]+)():([1-9]\d*)"),
                          (">", r"([0-9a-f]+)->([0-9a-f]+):([1-9]\d*)")):
        need(lines and re.fullmatch(r"\d+", lines[0]), "number of " + sort)
        number, lines = int(lines[0]), lines[1:]
        need(number <= len(lines), "too few of " + sort)
        for line in lines[:number]:
            found = re.fullmatch(pattern, line)
            need(found and sort, "line " + line)
            key = sort, int(found[1], 16), int(found[2], 16)
            need(key not in got, "twice: " + line)
            got[key] = int(found[3])
        lines = lines[number:]
    need(not lines, "more than it says")
    return got


def want_autofdo(ranges, branches):
    want = collections.Counter()
    for (begin, end, _), n in ranges.items():
        want["-", begin[1], end[1]] += n
    for ends, n in branches.items():
        if all(ends):
            want[">", ends[0][1], ends[1][1]] += n
    return want


def main():
    if sys.argv[1] == "maps":
        print("process", sys.argv[2], "program")
        for spec in sys.argv[3:]:
            program = Program(spec)
            for begin, end, offset in program.maps():
                print("map %x %x %x %s" % (begin, end, offset, program.path))
        return
    kind, path, branches = sys.argv[1:4]
    got = {"bolt": read_bolt, "autofdo": read_autofdo}[kind](path)
    with open(branches, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    counts = count(records, [Program(spec) for spec in sys.argv[4:]])
    want = {"bolt": want_bolt, "autofdo": want_autofdo}[kind](*counts)
    for key in sorted(set(got) | set(want)):
        if got[key] != want[key]:
            print(key[0], "%x %x:" % key[1:], got[key], "wanted", want[key])
    print("same" if got == want and all(counts) else "not the same")


main()
