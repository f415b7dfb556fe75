#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a page that kipt --html wrote, and says what is wrong with it. It shares nothing with
the writer and the page's own script.

The page must be one file of at most 20 MB that names nothing outside itself and has exactly one
element of data and one of script. The data must be JSON; rows that are not sorted, a number that
is out of range or negative, and sums that are of other than their parts are errors.

read_html.py FILE              a line of counts
read_html.py FILE dump         a line for each task, call path, loss and call
read_html.py FILE totals [PERCENT] [overlap]
                               what differs from the output of kipt --totals --json on standard
                               input: calls, time in a function itself and from calls of it to
                               their returns, as the table of functions has them, and the first
                               two as the sums of call paths have them; nothing if they agree
read_html.py FILE folded       what differs from the output of kipt --folded --json
read_html.py FILE lines        what differs from the output of kipt --calls --source --no-fold --time
                               on standard input: time, function and line of source code of
                               each call; then how many calls have a line
read_html.py FILE members NAME...
                               what these members of the data are
"""
import json
import re
import sys

from reader import Wrong, called, need

MOST = 20 << 20
OUTSIDE = re.compile(r"""(src|href)\s*=|@import|url\(|https?://|fetch\(|XMLHttp|WebSocket""")
DATA = re.compile(r'<script type="application/json" id="data">\n(.*?)</script>', re.DOTALL)
MERGED, LEFT_OUT, PROCESS = -2, -1, -3


def rows(flat, count, what):
    need(len(flat) % count == 0, "%s has no rows of %d", what, count)
    need(all(type(n) is int for n in flat), "%s has other than numbers", what)
    return [tuple(flat[i:i + count]) for i in range(0, len(flat), count)]


def within(value, low, end, what):
    need(low <= value < end, "%s %s is not from %s to %s", what, value, low, end - 1)


def data_of(text):
    need(len(text.encode()) <= MOST, "it has more than %d bytes", MOST)
    need(text.count("<script") == 2 and text.count("</script") == 2, "other elements of script")
    need(text.count("<style") == 1 and "\u2028" not in text, "other elements of style")
    found = DATA.search(text)
    need(found, "there are no data")
    need(not re.search("[<>&'\u2028\u2029]", found[1]), "the data could end their element")
    rest = text[:found.start()] + text[found.end():]
    need(not OUTSIDE.search(rest), "it names something outside: %s", OUTSIDE.search(rest))
    return json.loads(found[1])


class Page:
    def __init__(self, text):
        self.data = data = data_of(text)
        need(data["format"] == 1, "another format")
        need(data["width"] & (data["width"] - 1) == 0, "a width that is no power of two")
        need(0 <= data["first"] - data["origin"] < data["width"], "the first time is elsewhere")
        need((data["last"] - data["origin"]) // data["width"] == data["buckets"] - 1,
             "the last time is elsewhere")
        need(data["buckets"] <= 2048, "%d buckets", data["buckets"])
        self.nodes = rows(data["nodes"], 2, "nodes")
        for i, (parent, function) in enumerate(self.nodes):
            within(parent, -1, i, "parent")
            need((parent == -1) == (function <= PROCESS), "a process within another")
            need(function < len(data["functions"]), "function %d", function)
        self.paths = self.sums("paths", 4, -1, len(self.nodes))
        self.runs = self.sums("runs", 4, -1, len(data["cpus"]))
        self.losses = self.sums("losses", 5, -1, len(data["cpus"]))
        self.calls = rows(data["calls"], 7, "calls")
        for before, call in zip(self.calls, self.calls[1:]):
            need(before[1] >= call[1], "calls are not sorted")
        self.check_lines()
        self.check_sums()

    def check_lines(self):
        lines, of_calls = self.data.get("lines", []), self.data.get("callLines", [])
        need(("lines" in self.data) == ("callLines" in self.data), "lines without calls")
        need(len(of_calls) == ("lines" in self.data) * len(self.calls), "lines of other calls")
        need(len(set(lines)) == len(lines), "a line comes twice")
        need(set(of_calls) - {-1} == set(range(len(lines))), "lines of no call")

    def line(self, call):
        number = self.data["callLines"][call] if "lines" in self.data else -1
        return self.data["lines"][number] if number >= 0 else ""

    def sums(self, name, count, low, end):
        found = rows(self.data[name], count, name)
        keys = [row[:2] if name == "paths" else row[:3] for row in found]
        need(len(set(keys)) == len(keys), "%s twice", name)
        need([row[0] for row in found] == sorted(row[0] for row in found), "%s not sorted", name)
        for row in found:
            within(row[0], 0, self.data["buckets"], name)
            within(row[1], low, end, name)
            need(min(row[2:4]) >= -1 and row[3] >= 0, "%s below 0", name)
        return found

    def check_sums(self):
        data = self.data
        ran = sum(ticks for _, _, ticks, _ in self.paths)
        need(ran == data["traced"], "paths are %d of %d ticks", ran, data["traced"])
        ran = sum(ticks for _, _, _, ticks in self.runs)
        need(ran == data["traced"], "runs are %d of %d ticks", ran, data["traced"])
        for kind, ticks in enumerate(data["lost"]):
            lost = sum(row[3] for row in self.losses if row[2] == kind)
            need(lost == ticks, "%d lost by kind %d, not %d", lost, kind, ticks)
        for number, cpu in enumerate(data["cpus"]):
            lost = sum(row[3] for row in self.losses if row[1] == number)
            need(lost == cpu["lost"], "CPU %d lost %d, not %d", number, lost, cpu["lost"])
        for number, task in enumerate(data["tasks"]):
            ran = sum(row[3] for row in self.runs if row[2] == number)
            need(ran == task["ticks"], "task %d ran %d, not %d", number, ran, task["ticks"])

    def name(self, function):
        if function >= 0:
            return self.data["functions"][function][0]
        return {MERGED: "[merged]", LEFT_OUT: "[left out]"}.get(function) or \
            "process %d" % (PROCESS - function)

    def path(self, node):
        found = []
        while node >= 0:
            found.append(self.name(self.nodes[node][1]))
            node = self.nodes[node][0]
        return ";".join(reversed(found)) or "[no room]"


def totals_found(page):
    """By name: calls and self of paths; calls, self and total of the table."""
    found = {}
    for _, node, ticks, calls in page.paths:
        if node >= 0 and page.nodes[node][1] > PROCESS:
            row = found.setdefault(page.name(page.nodes[node][1]), [0] * 5)
            row[0] += calls
            row[1] += ticks
    for name, _, _, calls, alone, total, _ in page.data["functions"]:
        row = found.setdefault(name, [0] * 5)
        row[2] += calls
        row[3] += alone
        row[4] += total
    return found


def totals_wanted(lines):
    found = {}
    for total in map(json.loads, lines):
        if total["type"] == "total":
            row = found.setdefault(called(total), [0] * 5)
            for i, member in enumerate(("calls", "self", "calls", "self", "total")):
                row[i] += total.get(member, 0)
    return found


def differences(wanted, found):
    for name in sorted(set(wanted) | set(found)):
        want, got = wanted.get(name), found.get(name)
        if want != got and any((want or []) + (got or [])):
            yield "%s: %s; wanted %s" % (name, got, want)


def untimed(page, found, wanted):
    """Calls that began before the first time are in no bucket."""
    left = page.data["untimedCalls"]
    for name in wanted:
        missing = wanted[name][0] - found.get(name, [0])[0]
        if 0 < missing <= left:
            found[name][0] += missing
            left -= missing
    return found


def folded_found(page):
    """As --folded has them, which marks functions of the kernel."""
    found = {}
    for _, node, ticks, _ in page.paths:
        names, at = [], node
        while at >= 0 and page.nodes[at][0] >= 0:
            name, _, kernel = page.data["functions"][page.nodes[at][1]][:3]
            plain = re.fullmatch(r"(.*) \[[^]]*\]", name)
            symbol = plain and not name.startswith("0x")
            names.append((plain[1] + "_[k]" * kernel if symbol else name).replace(";", ":"))
            at = page.nodes[at][0]
        process = PROCESS - page.nodes[at][1]
        key = "%d %s" % (process, ";".join(reversed(names)))
        found[key] = found.get(key, 0) + ticks
    return {key: [ticks] for key, ticks in found.items() if ticks}


def folded_wanted(lines):
    found = {}
    for line in map(json.loads, lines):
        if line["type"] == "stack" and line["ticks"]:
            key = "%d %s" % (line.get("pid", 0), ";".join(line["frames"]))
            found[key] = found.get(key, 0) + line["ticks"]
    return {key: [ticks] for key, ticks in found.items()}


# Time, function, and line where there is one; what comes into view has an offset.
CALL = re.compile(r" *([0-9.]+) us +(?:syscall: |event: )?(\S+)(?: \[[^]]*\])?(?: \((.*)\))?(?:  [0-9.]+ (?:us|cycles).*)?")


def line_differences(page, lines):
    """Of calls at one time and of one name there may be several. Times have three digits."""
    wanted, found = [], []
    for line in lines:
        call = CALL.fullmatch(line.rstrip("\n"))
        if call and "+0x" not in call[2] and call[3]:
            wanted.append((float(call[1]), call[2], call[3]))
    for i, (begin, _, function, cpu, *_) in enumerate(page.calls):
        time = (begin - page.data["cpus"][cpu]["zero"]) * 1e3 / page.data["khz"]
        if page.line(i):
            found.append((time, page.name(function).split(" [")[0], page.line(i)))
    for want, got in zip(sorted(wanted), sorted(found)):
        if want[1:] != got[1:] or abs(want[0] - got[0]) > 0.0011:
            yield "%s; wanted %s" % (got, want)
    if len(wanted) != len(found):
        yield "%d calls with a line; wanted %d" % (len(found), len(wanted))
    yield "%d calls have a line" % len(found)


def dump(page):
    for task in page.data["tasks"]:
        yield "task %(tid)d %(pid)d %(ticks)d %(name)s" % task
    sums = {}
    for _, node, ticks, calls in page.paths:
        row = sums.setdefault(page.path(node), [0, 0])
        row[0] += ticks
        row[1] += calls
    for path in sorted(sums):
        yield "path %d %d %s" % (*sums[path], path)
    for bucket, cpu, kind, ticks, count in page.losses:
        yield "lost %d %d %d %d %s" % (bucket, cpu, ticks, count, page.data["gaps"][kind])
    for begin, ticks, function, cpu, tid, level, flags in page.calls:
        yield "call %d %d cpu %d task %d level %d flags %d %s" % (
            begin, ticks, cpu, tid, level, flags, page.name(function))


def main():
    form = sys.argv[2] if len(sys.argv) > 2 else ""
    try:
        with open(sys.argv[1], encoding="utf-8", newline="") as file:
            page = Page(file.read())
    except (Wrong, ValueError, KeyError, TypeError, IndexError) as wrong:
        print("wrong:", wrong)
        return 1
    if form == "dump":
        lines = dump(page)
    elif form == "totals":
        wanted = totals_wanted(sys.stdin)
        lines = differences(wanted, untimed(page, totals_found(page), wanted))
    elif form == "folded":
        lines = differences(folded_wanted(sys.stdin), folded_found(page))
    elif form == "lines":
        lines = line_differences(page, sys.stdin)
    elif form == "members":
        lines = ["%s %s" % (name, page.data[name]) for name in sys.argv[3:]]
    else:
        lines = ["%d tasks %d functions %d nodes %d paths %d losses %d calls" % (
            len(page.data["tasks"]), len(page.data["functions"]), len(page.nodes),
            len(page.paths), len(page.losses), len(page.calls))]
    for line in lines:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
