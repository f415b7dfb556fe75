#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a profile that the tool wrote for Firefox's profiler, by the description of its
processed format alone (version 60) and strictly: a member that is not expected or missing,
a column of another length than its table, an index that is out of range, a number that is
none are errors, and so are

- stacks that come before what they are called from,
- two threads with one number, a thread without samples and markers,
- times of a thread that go back, samples without stack that weigh something,
- a sample that does not last until the next one: where nothing is known, one without stack
  comes between; of a thread where the TSC was set back ("overlap" is an argument),
- numbers that JSON does not have, names that come twice in an object.

read_firefox.py FILE           a line of counts: threads, samples, stacks, functions, markers
read_firefox.py FILE dump      a line for each sample and marker: thread, time, weight, stack
read_firefox.py FILE totals [PERCENT] [overlap]
                               what differs from the output of kipt --totals --json on
                               standard input: time in a function itself, and from calls of
                               it to their returns by more than PERCENT of the time of all;
                               nothing if they agree
"""
import json
import sys

from reader import Wrong, need, totals

AWAY = ("[not traced]", "[lost]")
META = {"interval", "startTime", "processType", "product", "stackwalk", "debug", "version",
        "preprocessedProfileVersion", "symbolicated", "categories", "markerSchema"}
SHARED = {"stringArray", "funcTable", "frameTable", "stackTable", "resourceTable",
          "nativeSymbols", "sources"}
THREAD = {"processType", "processStartupTime", "processShutdownTime", "registerTime",
          "unregisterTime", "pausedRanges", "name", "isMainThread", "pid", "tid", "samples",
          "markers"}
TABLES = {
    "funcTable": "name isJS relevantForJS resource source lineNumber columnNumber",
    "frameTable": "func category subcategory address inlineDepth nativeSymbol innerWindowID"
                  " line column",
    "stackTable": "frame prefix",
    "resourceTable": "lib name host type",
    "nativeSymbols": "libIndex address name functionSize",
    "sources": "id filename",
    "samples": "stack time weight",
    "markers": "data name startTime endTime phase category",
}


def members(value, names, what):
    need(isinstance(value, dict), "%s is no object", what)
    need(set(value) == set(names), "%s has other members: %s", what,
         sorted(set(value) ^ set(names)))


def table(owner, name, more=()):
    columns = TABLES[name].split()
    members(owner[name], [*columns, "length", *more], name)
    for column in columns:
        need(isinstance(owner[name][column], list), "%s.%s is no list", name, column)
        need(len(owner[name][column]) == owner[name]["length"], "%s.%s has %d entries, not %d",
             name, column, len(owner[name][column]), owner[name]["length"])
    return owner[name]


def index(value, size, what):
    need(type(value) is int and 0 <= value < size, "%s %s of %d", what, value, size)


def nanoseconds(value):
    """Of milliseconds as they are written."""
    need(isinstance(value, (str, int)), "%s is no time", value)
    whole, _, part = str(value).partition(".")
    need(len(part) in (0, 6), "%s is no time", value)
    return int(whole) * 1000000 + int(part or 0)


def once(pairs):
    need(len(dict(pairs)) == len(pairs), "a name comes twice: %s", [p[0] for p in pairs])
    return dict(pairs)


def no_number(text):
    raise Wrong("%s is no number" % text)


class Profile:
    """What was read. Paths of stacks are functions, the outermost first."""

    def __init__(self, data, overlap):
        members(data, ("meta", "libs", "shared", "threads"), "the profile")
        members(data["meta"], META, "meta")
        need(data["meta"]["preprocessedProfileVersion"] == 60, "another version")
        need(data["libs"] == [], "libraries are not expected")
        self.categories = data["meta"]["categories"]
        need("grey" in [c["color"] for c in self.categories], "no category is grey")
        self.kinds = {schema["name"] for schema in data["meta"]["markerSchema"]}
        self.overlap = overlap
        self.shared(data["shared"])
        self.numbers, self.threads = set(), []
        for thread in data["threads"]:
            self.threads.append(self.thread(thread))

    def shared(self, shared):
        members(shared, SHARED, "shared")
        self.texts = shared["stringArray"]
        need(all(isinstance(t, str) and t for t in self.texts), "a text that is none")
        functions, frames = table(shared, "funcTable"), table(shared, "frameTable")
        for name in functions["name"]:
            index(name, len(self.texts), "text")
        for i in range(frames["length"]):
            index(frames["func"][i], functions["length"], "function")
            index(frames["category"][i], len(self.categories), "category")
            need(frames["subcategory"][i] == 0, "a subcategory")
        for name in ("resourceTable", "nativeSymbols", "sources"):
            need(table(shared, name)["length"] == 0, "%s is not expected", name)
        self.names = [self.texts[name] for name in functions["name"]]
        stacks = table(shared, "stackTable")
        self.paths = []
        for i, prefix in enumerate(stacks["prefix"]):
            index(stacks["frame"][i], frames["length"], "frame")
            if prefix is not None:
                index(prefix, i, "a stack before")
            self.paths.append((prefix, frames["func"][stacks["frame"][i]]))

    def path(self, stack):
        found = []
        while stack is not None:
            stack, function = self.paths[stack]
            found.append(function)
        return found[::-1]

    def thread(self, thread):
        members(thread, THREAD, "a thread")
        need(isinstance(thread["name"], str) and thread["name"], "a thread without name")
        need(isinstance(thread["pid"], str) and thread["pid"].isdigit(), "pid %s", thread["pid"])
        need(thread["isMainThread"] == (str(thread["tid"]) == thread["pid"] != "0"),
             "who is the main thread?")
        key = thread["tid"] or thread["name"]
        need(key not in self.numbers, "two threads %s", key)
        self.numbers.add(key)
        samples = table(thread, "samples", ["weightType"])
        need(samples["weightType"] == "tracing-ms", "weights of another type")
        found = []
        for i, stack in enumerate(samples["stack"]):
            time, weight = (nanoseconds(samples[c][i]) for c in ("time", "weight"))
            if stack is not None:
                index(stack, len(self.paths), "stack")
            need((stack is None) == (weight == 0), "weight %d of stack %s", weight, stack)
            need(not found or time >= found[-1][0], "times go back to %d", time)
            need(self.overlap or not found or found[-1][2] is None or
                 time == found[-1][0] + found[-1][1], "the sample before %d has another end", time)
            found.append((time, weight, stack))
        need(not found or found[-1][2] is None, "the last sample never ends")
        return thread, found, self.markers(thread)

    def markers(self, thread):
        markers, found = table(thread, "markers"), []
        for i, data in enumerate(markers["data"]):
            index(markers["name"][i], len(self.texts), "text")
            index(markers["category"][i], len(self.categories), "category")
            need(markers["phase"][i] == 1 and data["type"] in self.kinds, "a marker")
            begun, end = (nanoseconds(markers[c][i]) for c in ("startTime", "endTime"))
            need(begun <= end, "a marker that ends before it begins")
            found.append((begun, end - begun, data["why"]))
        return found


def sums(profile):
    """By name: time in itself, and with what it called."""
    found = {}
    for _, samples, _ in profile.threads:
        for _, weight, stack in samples:
            path = profile.path(stack)
            own = [f for f in path if profile.names[f] not in AWAY]
            for function in set(own):
                name = profile.names[function]
                alone, total, count = found.get(name, (0, 0, 0))
                found[name] = (alone + (function == path[-1]) * weight, total + weight, count + 1)
    return found


def differences(profile, lines, percent):
    """Each end of a sample is rounded to a nanosecond."""
    found = sums(profile)
    wanted, khz = totals(lines, "self", "total")
    most = percent * sum(total for _, total, _ in found.values()) / 100
    for name in sorted(set(wanted) | set(found)):
        want = [ticks * 1e6 / khz if khz else ticks for ticks in wanted.get(name, (0, 0))]
        alone, total, count = found.get(name, (0, 0, 0))
        near = count + 1 if khz else 0
        if abs(alone - want[0]) > near or abs(total - want[1]) > most + near:
            yield "%s: %d, %d; wanted %d, %d" % (name, alone, total, *want)


def main():
    form = sys.argv[2] if len(sys.argv) > 2 else ""
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            profile = Profile(json.load(file, object_pairs_hook=once, parse_float=str,
                                        parse_constant=no_number), "overlap" in sys.argv)
    except (Wrong, ValueError, KeyError, TypeError) as wrong:
        print("wrong:", wrong)
        return 1
    if form == "dump":
        for thread, samples, markers in profile.threads:
            print("thread", thread["pid"], thread["tid"], thread["name"])
            for time, weight, stack in samples:
                print(time, weight, ";".join(profile.names[f] for f in profile.path(stack)) or "-")
            for time, weight, why in markers:
                print("lost", time, weight, why)
    elif form == "totals":
        for line in differences(profile, sys.stdin, float((sys.argv[3:] or [0])[0])):
            print(line)
    else:
        print(len(profile.threads), "threads", sum(len(t[1]) for t in profile.threads), "samples",
              len(profile.paths), "stacks", len(profile.names), "functions",
              sum(len(t[2]) for t in profile.threads), "markers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
