#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads files of coverage by their formats alone, and holds them against instructions.
It shares no code with the writer.

read_coverage.py drcov FILE             a line for each module, then "N blocks"
read_coverage.py drcov FILE INSNS       "same", or what differs from the instructions in
                                        INSNS, which kipt wrote with --insns --json
read_coverage.py lcov FILE              a line for each source: lines, hit, functions, hit
read_coverage.py lcov FILE INSNS PROGRAM BIAS
                                        "same", or what differs; PROGRAM is where it was
                                        linked to be, moved by BIAS
What is wrong with the file itself ends it, with "wrong: ".
"""
import collections
import json
import os
import re
import struct
import subprocess
import sys

COLUMNS = b"Columns: id, base, end, entry, checksum, timestamp, path"
MODULE = re.compile(rb" *(\d+), 0x([0-9a-f]+), 0x([0-9a-f]+), 0x0{16}, 0x0{8}, 0x0{8}, (.+)")


def need(good, text):
    if not good:
        print("wrong:", text)
        sys.exit(1)


class Lines:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        end = self.data.find(b"\n", self.at)
        need(end >= 0, "the file ends too early")
        line, self.at = self.data[self.at:end], end + 1
        return line


def read_drcov(path):
    with open(path, "rb") as file:
        lines = Lines(file.read())
    need(lines.next() == b"DRCOV VERSION: 2", "version")
    need(lines.next() == b"DRCOV FLAVOR: kipt", "flavor")
    table = re.fullmatch(rb"Module Table: version 2, count (\d+)", lines.next())
    need(table, "module table")
    need(lines.next() == COLUMNS, "columns")
    modules = []
    for number in range(int(table[1])):
        fields = MODULE.fullmatch(lines.next())
        need(fields and int(fields[1]) == number, "module %d" % number)
        modules.append((int(fields[2], 16), int(fields[3], 16), fields[4].decode()))
        need(modules[-1][0] < modules[-1][1], "module %d is empty" % number)
    table = re.fullmatch(rb"BB Table: (\d+) bbs", lines.next())
    need(table, "block table")
    rest = lines.data[lines.at:]
    need(len(rest) == 8 * int(table[1]), "%d bytes of blocks" % len(rest))
    blocks = list(struct.iter_unpack("<IHH", rest))
    need(len(set(blocks)) == len(blocks), "a block is there twice")
    for start, size, module in blocks:
        need(module < len(modules), "no module %d" % module)
        base, end, _ = modules[module]
        need(size and base + start + size <= end, "a block goes beyond its module")
    return modules, blocks


def read_insns(path):
    """How often each instruction ran, by its address and size."""
    counts = collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["type"] == "insn":
                counts[int(record["ip"], 16), record["size"]] += 1
    return counts


def drcov_check(modules, blocks, insns):
    covered, ran = set(), set()
    for start, size, module in blocks:
        begin = modules[module][0] + start
        covered.update(range(begin, begin + size))
    for address, size in insns:
        ran.update(range(address, address + size))
    begins = {address for address, _ in insns}
    ends = {address + size for address, size in insns}
    for start, size, module in blocks:
        begin = modules[module][0] + start
        if begin not in begins or begin + size not in ends:
            print("block %x+%x is not of whole instructions" % (begin, size))
    for text, bytes_ in (("not covered", ran - covered), ("never ran", covered - ran)):
        if bytes_:
            print("%d bytes %s, the first at %x" % (len(bytes_), text, min(bytes_)))
    print("same" if ran == covered and ran else "not the same")


def number(text, least=0):
    need(re.fullmatch(r"\d+", text) and int(text) >= least, "number " + text)
    return int(text)


def read_lcov(path):
    """Of each source: counts by line, and of functions their line and count by name."""
    sources, state = {}, "TN"
    with open(path, encoding="utf-8") as file:
        for line in file:
            need(line.endswith("\n"), "the file ends too early")
            key, colon, value = line[:-1].partition(":")
            need(key in ("TN", "end_of_record") or state != "TN", key + " is in no record")
            if key == "TN":
                need(state == "TN" and colon and not value, "TN")
                state = "SF"
            elif key == "SF":
                need(state == "SF" and value and value not in sources, "SF")
                lines, functions, sums = {}, {}, {}
                sources[value] = lines, functions
                state = "FN"
            elif key == "FN":
                begin, _, name = value.partition(",")
                need(state == "FN" and name and name not in functions, "FN " + value)
                functions[name] = [number(begin, 1), None]
            elif key == "FNDA":
                count, _, name = value.partition(",")
                need(functions[name][1] is None, "FNDA " + value)
                functions[name][1] = number(count)
                state = "FNDA"
            elif key == "DA":
                need(not lines or max(lines) < int(value.split(",")[0]), "DA " + value)
                begin, count = value.split(",")
                lines[number(begin, 1)] = number(count)
            elif key in ("FNF", "FNH", "LF", "LH"):
                need(key not in sums, key)
                sums[key] = number(value)
            else:
                need(key == "end_of_record" and not colon, key)
                hit = [count for _, count in functions.values()]
                need(None not in hit, "a function has no count")
                need(sums == {"FNF": len(hit), "FNH": sum(map(bool, hit)),
                              "LF": len(lines), "LH": sum(map(bool, lines.values()))},
                     "sums")
                need(lines, "a source has no lines")
                state = "TN"
    need(state == "TN", "the file ends too early")
    return sources


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True,
                          check=True).stdout


def lines_at(program, addresses):
    """The source and line of each address; those that have none are left out."""
    text = run(["addr2line", "-e", program], "".join("%x\n" % a for a in addresses))
    for address, line in zip(addresses, text.splitlines()):
        found = re.match(r"(.*):(\d+)", line)
        if found and int(found[2]):
            yield address, os.path.normpath(found[1]), int(found[2])


def code_of(program):
    """Addresses of all instructions."""
    text = run(["objdump", "-d", "-w", program])
    return [int(found[1], 16) for found in re.finditer(r"^ *([0-9a-f]+):\t", text, re.M)]


def functions_of(program):
    text = run(["readelf", "-sW", program])
    found = re.findall(r": ([0-9a-f]+) +\S+ FUNC +\S+ +\S+ +\d+ (\S+)", text)
    return {name: int(address, 16) for address, name in found}


def lcov_check(sources, insns, program, bias):
    counts = collections.Counter()
    for (address, _), count in insns.items():
        counts[address - bias] += count
    want = collections.defaultdict(dict)
    for address, source, line in lines_at(program, code_of(program)):
        lines = want[source]
        lines[line] = max(lines.get(line, 0), counts[address])
    # A source of which nothing ran is of a compile unit of which nothing ran.
    want = {source: lines for source, lines in want.items() if any(lines.values())}
    bad = False
    for source in set(want) | set(sources):
        got = sources.get(source, ({}, {}))[0]
        for line in sorted(set(want.get(source, {})) | set(got)):
            if got.get(line) != want.get(source, {}).get(line):
                print("%s:%d: %s, wanted %s" % (source, line, got.get(line),
                                                want.get(source, {}).get(line)))
                bad = True
    calls = {name: count for _, functions in sources.values()
             for name, (_, count) in functions.items()}
    begins = functions_of(program)
    there = {at for at, source, _ in lines_at(program, list(begins.values()))
             if source in want}
    entries = {name: counts[at] for name, at in begins.items() if at in there}
    if calls != entries:
        print("functions", calls, "wanted", entries)
        bad = True
    print("same" if not bad and any(entries.values()) else "not the same")


def main():
    kind, path = sys.argv[1:3]
    if kind == "drcov":
        modules, blocks = read_drcov(path)
        if len(sys.argv) > 3:
            drcov_check(modules, blocks, read_insns(sys.argv[3]))
            return
        for base, end, name in modules:
            print("%x-%x %s" % (base, end, name))
        print(len(blocks), "blocks")
        return
    sources = read_lcov(path)
    if len(sys.argv) > 3:
        lcov_check(sources, read_insns(sys.argv[3]), sys.argv[4], int(sys.argv[5], 0))
        return
    for name, (lines, functions) in sources.items():
        print(name, len(lines), sum(map(bool, lines.values())), len(functions),
              sum(1 for _, count in functions.values() if count))


main()
