#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a Perfetto trace that the tool wrote, by the published schema alone and strictly:
a field that is not expected, a form of value that the schema does not have for it, a byte
too few or too many are errors, and so are

- an event of a track that no descriptor came for, two descriptors of one track, a parent
  that came later, a thread or a process with two tracks,
- a name or category that was not interned, or twice,
- times of a track that go back, slices that end and did not begin, or never end,
- a flow that has not one begin and one end, in this order,
- a slice of an inlined function that does not begin with the first slice within it, or ends
  before the last of them, or later though nothing else came on its track,
- events on tracks of another kind.

read_perfetto.py FILE          a line of counts: tracks, slices, instants, values, flows
read_perfetto.py FILE dump     a line for each event: time, track, what, category, name; and for
                               each flow: track, name and time of the events it joins
read_perfetto.py FILE tree     the names of slices of calls, each below and to the right of that
                               which it is within
read_perfetto.py FILE sums     "FUNCTION CALLS TIME" for each but inlined ones; of a call within a
                               call of the same function the outermost has the time
read_perfetto.py FILE totals [PERCENT]
                               what differs from the output of kipt --totals --json on
                               standard input, times by more than PERCENT of them all;
                               nothing if they agree
"""
import struct
import sys

from reader import Wrong, need, totals


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data), "the file ends in a number")
        need(shift < 70, "a number has more than ten bytes")
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            need(byte or shift == 7, "a number has a byte too many")
            need(value < 1 << 64, "a number has more than 64 bits")
            return value, at


# Messages: by number of the field its name, what it is, and whether it may be repeated.
ENTRY = {1: ("iid", "number", False), 2: ("name", "text", False)}
COUNTER = {3: ("unit", "number", False)}
PROCESS = {1: ("pid", "number", False), 6: ("name", "text", False)}
THREAD = {1: ("pid", "number", False), 2: ("tid", "number", False),
          5: ("name", "text", False)}
TRACK = {1: ("uuid", "number", False), 2: ("name", "text", False),
         3: ("process", PROCESS, False), 4: ("thread", THREAD, False),
         5: ("parent", "number", False), 8: ("counter", COUNTER, False)}
EVENT = {3: ("category", "number", True), 9: ("type", "number", False),
         10: ("name_iid", "number", False), 11: ("track", "number", False),
         23: ("name", "text", False), 30: ("value", "number", False),
         47: ("flow", "fixed", True), 48: ("flow_end", "fixed", True)}
INTERNED = {1: ("categories", ENTRY, True), 2: ("names", ENTRY, True)}
PACKET = {8: ("timestamp", "number", False), 10: ("sequence", "number", False),
          11: ("event", EVENT, False), 12: ("interned", INTERNED, False),
          13: ("flags", "number", False), 60: ("track", TRACK, False)}
FORMS = {"number": 0, "fixed": 1}
BEGIN, END, INSTANT, VALUE = 1, 2, 3, 4


def field(data, at, what, form):
    need(form == (FORMS.get(what, 2) if isinstance(what, str) else 2),
         "a value of %s has form %d", what, form)
    if form == 0:
        return varint(data, at)
    if form == 1:
        need(at + 8 <= len(data), "the file ends in a value of 8 bytes")
        return struct.unpack_from("<Q", data, at)[0], at + 8
    size, at = varint(data, at)
    need(at + size <= len(data), "%d bytes are meant, %d are left", size, len(data) - at)
    part = data[at:at + size]
    if what == "text":
        return part.decode("utf-8"), at + size
    return message(part, what), at + size


def message(data, fields):
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        need(key >> 3 in fields, "there is no field %d", key >> 3)
        name, what, repeated = fields[key >> 3]
        value, at = field(data, at, what, key & 7)
        if repeated:
            found.setdefault(name, []).append(value)
        else:
            need(name not in found, "%s comes twice", name)
            found[name] = value
    return found


def packets(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        need(key == 1 << 3 | 2, "a trace has packets only, not key %d", key)
        packet, at = field(data, at, PACKET, 2)
        yield packet


class Trace:
    """What was read until now."""

    def __init__(self):
        self.tracks, self.last, self.open = {}, {}, {}
        self.names, self.categories = {}, {}
        self.flows, self.ended = {}, {}
        self.threads, self.processes = set(), set()
        self.lines, self.slices, self.tree = [], [], []
        # Of each open slice of a track, when the last one within it ended; when its last
        # instant was.
        self.within, self.instants = {}, {}
        self.counts = {BEGIN: 0, END: 0, INSTANT: 0, VALUE: 0}

    def track(self, track):
        uuid = track.get("uuid")
        need(uuid, "a track without number")
        need(uuid not in self.tracks, "track %d is described twice", uuid)
        need(not track.get("parent") or track["parent"] in self.tracks,
             "the parent of track %d is not there", uuid)
        need(len({"process", "thread", "counter"} & set(track)) <= 1, "track %d is several", uuid)
        for key, whose, seen in (("thread", "tid", self.threads),
                                 ("process", "pid", self.processes)):
            if key in track:
                need(track[key][whose] not in seen, "%s %d has two tracks", key,
                     track[key][whose])
                seen.add(track[key][whose])
        if "thread" in track:
            need(track["thread"].get("pid"), "a thread without process")
        self.tracks[uuid] = track
        self.open[uuid] = []
        self.within[uuid] = [None]

    def interned(self, interned):
        for key, entries in (("names", self.names), ("categories", self.categories)):
            for entry in interned.get(key, []):
                need(entry.get("iid"), "an entry without number")
                need(entry["iid"] not in entries, "%s %d comes twice", key, entry["iid"])
                entries[entry["iid"]] = entry["name"]

    def name(self, event):
        need(not ("name" in event and "name_iid" in event), "an event has two names")
        if "name_iid" not in event:
            return event.get("name")
        need(event["name_iid"] in self.names, "name %d is not known", event["name_iid"])
        return self.names[event["name_iid"]]

    def flow(self, event, where):
        for flow in event.get("flow", []):
            need(flow and flow not in self.flows, "flow %d begins twice", flow)
            self.flows[flow] = where
        for flow in event.get("flow_end", []):
            need(flow in self.flows, "flow %d ends and did not begin", flow)
            need(flow not in self.ended, "flow %d ends twice", flow)
            self.ended[flow] = where

    def begin(self, track, name, category, time):
        names, within = self.open[track], self.within[track]
        need(not names or names[-1][1] != "inlined" or within[-1] is not None or
             time == names[-1][2],
             "%s does not begin with what is in it", names and names[-1][0])
        if category:
            self.tree.append("  " * len(names) + name)
        names.append((name, category, time))
        within.append(None)

    def slice_end(self, track, time):
        need(self.open[track], "an end too many on track %d", track)
        name, category, begun = self.open[track].pop()
        last = self.within[track].pop()
        self.within[track][-1] = time
        need(category != "inlined" or
             (last is not None and time in (last, self.instants.get(track))),
             "%s ends at %d, what is in it at %s", name, time, last)
        outer = all(name != other[0] for other in self.open[track])
        self.slices.append((track, name, category, begun, time, outer))

    def event(self, time, event):
        track, kind = event.get("track"), event.get("type")
        need(track in self.tracks, "track %s is not described", track)
        need(kind in self.counts, "an event of type %s", kind)
        need(time is not None, "an event without time")
        need(time >= self.last.get(track, 0), "track %d goes back to %d", track, time)
        need((kind == VALUE) == ("counter" in self.tracks[track]) == ("value" in event),
             "values are on tracks of counters alone")
        need("process" not in self.tracks[track], "an event of a process")
        self.last[track] = time
        self.counts[kind] += 1
        name, category = self.name(event), ""
        for number in event.get("category", []):
            need(number in self.categories, "category %d is not known", number)
            category = self.categories[number]
        self.flow(event, "%d %s at %d" % (track, name or "-", time))
        if kind == BEGIN:
            need(name, "a slice without name")
            self.begin(track, name, category, time)
        elif kind == END:
            self.slice_end(track, time)
        elif kind == INSTANT:
            self.instants[track] = time
        self.lines.append((time, track, "?BEIV"[kind], category or "-",
                           event.get("value", name or "-")))

    def end(self):
        for track, names in self.open.items():
            need(not names, "slices of track %d never end: %s", track, names)
        need(set(self.flows) == set(self.ended), "flows never end: %s",
             set(self.flows) - set(self.ended))


def read(data):
    trace = Trace()
    for i, packet in enumerate(packets(data)):
        need(packet.get("sequence") == 1, "a packet of another sequence")
        need(packet.get("flags") == (2 if i else 1), "flags %s", packet.get("flags"))
        trace.interned(packet.get("interned", {}))
        need(not ("track" in packet and "event" in packet), "a packet has two contents")
        if "track" in packet:
            trace.track(packet["track"])
        if "event" in packet:
            trace.event(packet.get("timestamp"), packet["event"])
    trace.end()
    return trace


def sums(trace):
    """Slices of tracks of CPUs have no category; inlined functions are no calls."""
    found = {}
    for _, name, category, begun, ended, outer in trace.slices:
        if category not in ("", "inlined"):
            calls, time = found.get(name, (0, 0))
            found[name] = (calls + (category == "call"),
                           time + (ended - begun if outer else 0))
    return found


def differences(trace, lines, percent):
    """Each end of a call is rounded to a nanosecond."""
    found = sums(trace)
    wanted, khz = totals(lines, "calls", "total")
    most = percent * sum(time for _, time in found.values()) / 100
    for name in sorted(set(wanted) | set(found)):
        calls, ticks = wanted.get(name, (0, 0))
        got, time = found.get(name, (0, 0))
        slices = sum(name == s[1] for s in trace.slices)
        want = ticks * 1e6 / khz if khz else ticks
        if got != calls or abs(time - want) > most + (slices + 1 if khz else 0):
            yield "%s: %d calls, %d; wanted %d, %d" % (name, got, time, calls, want)


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    try:
        trace = read(data)
    except (Wrong, UnicodeDecodeError, KeyError) as wrong:
        print("wrong:", wrong)
        return 1
    form = sys.argv[2] if len(sys.argv) > 2 else ""
    if form == "dump":
        for uuid, track in trace.tracks.items():
            print("track", uuid, track.get("parent", 0), track.get("name", ""), *(
                "%s %s" % (key, " ".join(map(str, track[key].values())))
                for key in ("process", "thread", "counter") if key in track))
        for line in trace.lines:
            print(*line)
        for flow, begin in trace.flows.items():
            print("flow from", begin, "to", trace.ended[flow])
    elif form == "totals":
        for line in differences(trace, sys.stdin, float((sys.argv[3:] or [0])[0])):
            print(line)
    elif form == "tree":
        print(*trace.tree, sep="\n")
    elif form == "sums":
        for name, (calls, time) in sorted(sums(trace).items()):
            print(name, calls, time)
    else:
        print(len(trace.tracks), "tracks", trace.counts[BEGIN], "slices",
              trace.counts[INSTANT], "instants", trace.counts[VALUE], "values",
              len(trace.flows), "flows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
