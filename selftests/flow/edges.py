#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Holds the packets at the edges of what was traced against the truth.

edges.py TRUTH META PACKETS [KIND...]

TRUTH    truth.N of the test CPU; what counts is the runs that have PSBFreq
         and CycThresh of the recording
META     meta.json of the recording: its IA32_RTIT_CTL and address ranges
PACKETS  what 'kipt packets --json' lists of it
KIND     such as in:call or out:jcc: each must have come at least once

Each time PacketEn went to 1 or 0 there must be the packets that the tables of
Intel SDM Vol. 3C, "Packet Generation Scenarios", have for it, in order, and no
others. Prints how often each kind came; exits 1 at the first difference.
"""
import collections
import json
import re
import struct
import sys

KINDS = {1: "jcc", 2: "jmp", 3: "call", 4: "jmp*", 5: "call*", 6: "ret",
         7: "syscall", 8: "sysret", 9: "iret", 10: "far", 11: "interrupt",
         12: "exception", 34: "on", 35: "off", 42: "cr3"}
ENABLE, DISABLE, MARK_ON = 32, 33, 34
EVENTS = ("interrupt", "exception", "off")
NO_ADDRESS = ("jcc", "off", "cr3")
# Packets that may come anywhere, also between those of one operation.
PASSED = ("TSC", "TMA", "MTC", "CYC", "CBR", "PAD", "MODE.Exec", "MODE.TSX",
          "PIP", "VMCS", "MNT")
OS, USER, DISRETC = 1 << 2, 1 << 3, 1 << 11
CYCTHRESH, PSBFREQ = 15 << 19, 15 << 24

Edge = collections.namedtuple("Edge", "on kind source target")
Seen = collections.namedtuple("Seen", "on fup ip stop offset")


def truth_edges(path, ctl):
    data = open(path, "rb").read()
    edges = []
    inside = False
    # Most entries are of other kinds: look at those of these three only.
    kinds = data[24::24]
    for found in re.finditer(b"[%c%c%c]" % (ENABLE, DISABLE, MARK_ON), kinds):
        kind, _, _, aux, source, target = struct.unpack_from(
            "<BBHIQQ", data, 24 + 24 * found.start())
        if kind == MARK_ON:
            inside = not (target ^ ctl) & (CYCTHRESH | PSBFREQ)
        elif inside and kind in (ENABLE, DISABLE):
            edges.append(Edge(kind == ENABLE, KINDS.get(aux, str(aux)),
                              source, target))
    return edges


def packets_seen(path):
    """PGE and PGD, each with the FUP before and the TraceStop after it."""
    seen, fup, in_psb = [], None, False
    for line in open(path):
        # Most lines only count by their name.
        name = line.partition('"packet":"')[2].partition('"')[0]
        if name == "PSB":
            in_psb = True
        elif name == "PSBEND":
            in_psb = False
        elif in_psb or name in PASSED:
            continue
        elif name == "FUP":
            fup = number(json.loads(line)["ip"])
        elif name in ("TIP.PGE", "TIP.PGD"):
            packet = json.loads(line)
            seen.append(Seen(name == "TIP.PGE", fup, number(packet["ip"]),
                             False, packet["offset"]))
            fup = None
        elif name == "TraceStop":
            if seen and not seen[-1].on:
                seen[-1] = seen[-1]._replace(stop=True)
        else:
            fup = None
    return seen


def number(text):
    return None if text == "suppressed" else int(text, 16)


def wrong(edge, seen, ctl, stops, last):
    """What is wrong with the packets of an edge, or None.

    After the last edge there may be a TraceStop that does not belong to it: code
    that a filter left out entered the range.
    """
    if edge.on != seen.on:
        return "the other way"
    if edge.on:
        return None if seen.ip == edge.target else "address"
    if (seen.fup is not None) != (edge.kind in EVENTS):
        return "FUP"
    if edge.kind in EVENTS and seen.fup != edge.source:
        return "address of the FUP"
    left = not ctl & (OS if edge.target >> 63 else USER)
    stop = any(a <= edge.target <= b for a, b in stops) and not left and \
        edge.kind != "off"
    if seen.stop != stop and not (seen.stop and stops and last):
        return "TraceStop"
    if edge.kind in NO_ADDRESS or left:
        return None if seen.ip is None else "an address"
    if edge.kind == "ret" and not ctl & DISRETC and seen.ip is None:
        return None
    return None if seen.ip == edge.target else "address"


def main():
    truth, meta, packets = sys.argv[1:4]
    meta = json.load(open(meta))
    ctl = int(meta["ctl_bits"], 16)
    stops = [(int(f["first"], 16), int(f["last"], 16))
             for f in meta.get("filters", ()) if f["kind"] == "stop"]
    edges, seen = truth_edges(truth, ctl), packets_seen(packets)
    counts = collections.Counter()
    for n, (edge, packet) in enumerate(zip(edges, seen)):
        what = wrong(edge, packet, ctl, stops, n + 1 == len(seen))
        if what:
            sys.exit(f"edge {n}: {what}: {edge} is {packet}")
        counts[("in:" if edge.on else "out:") + edge.kind] += 1
        if packet.stop:
            counts["stop:" + edge.kind] += 1
    print("edges:", *(f"{k} {v}" for k, v in sorted(counts.items())))
    if len(edges) != len(seen):
        sys.exit(f"{len(edges)} edges, {len(seen)} of them in the trace")
    for kind in sys.argv[4:]:
        if not counts[kind]:
            sys.exit(f"none is {kind}")


main()
