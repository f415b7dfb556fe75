#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares views of random records of two CPUs with the whole:

branches  a stretch of time has the branches that the whole has then, in order
sums      stretches beside each other have all sums of the whole
threads   a thread alone takes as long, and loses as much, as in the whole
lost      the losses that --lost shows are those of kipt open, by kind

stretch_random.py KIPT KALLSYMS COUNT CHECK... : prints what is wrong, with its seed, and
in the end how many streams were looked at.
"""
import json
import random
import struct
import subprocess
import sys

KIPT, KALLSYMS = sys.argv[1:3]
RECORD = struct.Struct("<BBHIQQ")
FILE = "stretch.rec"
BASE = 0xffffffff81000000


def stream(rng, back):
    """Records of threads on two CPUs that take turns, with gaps of each kind."""
    tsc, cpu, thread = {0: 100000, 1: 104000}, 0, {0: 7, 1: 10}
    lines = [(0, 2, RECORD.size, 0, 0x534345525450494B, 0)]

    def turn():
        lines.append((19, 0, 1, cpu, 0, 0))
        lines.append((5, 0, 1, thread[cpu], 0, thread[cpu]))
    turn()
    for i in range(rng.randrange(5, 120)):
        what = rng.choice("bbbtttkgedc")
        if what == "b":
            lines.append((1, rng.choice((1, 3, 6)), 0, 1, BASE + i,
                          BASE + 256 * rng.randrange(1, 5)))
        elif what == "t":
            if back and rng.randrange(6) == 0:
                tsc[cpu] -= rng.randrange(1, 900)
            else:
                tsc[cpu] += rng.randrange(0, 500)
            lines.append((8, 0, 1, 0, 0, tsc[cpu]))
        elif what == "k":
            thread[cpu] = rng.randrange(7, 10) + 3 * cpu
            lines.append((5, 0, 1, thread[cpu], 0, thread[cpu]))
        elif what == "g":
            lines.append((18, rng.randrange(1, 20), 0, 0, BASE + 0x20, 5))
        elif what == "e":
            lines.append((2, 1, 0, 0, BASE + 0x10, 0))
        elif what == "d":
            lines.append((3, 2, 2, 0, BASE + 0x10, 0))
        else:
            cpu = 1 - cpu
            turn()
    with open(FILE, "wb") as out:
        for line in lines:
            out.write(RECORD.pack(*line))
    return lines[1:]


def kipt(*words):
    text = subprocess.run([KIPT, *words, FILE, "--json", "--kallsyms", KALLSYMS],
                          capture_output=True, text=True, check=False).stdout
    return [json.loads(line) for line in text.splitlines()]


def timed(lines):
    """Ticks, CPU and address of each branch; and all ticks that are there."""
    first, now, found, cpu = {}, {}, [], 0
    for kind, _, _, aux, ip, value in lines:
        if kind == 19:
            cpu = aux
        elif kind == 8:
            first.setdefault(cpu, value)
            now[cpu] = value
        elif kind == 1:
            found.append((cpu, ip, now.get(cpu)))
    branches = [(c, "0x%x" % ip, t - first[c] if t else 0) for c, ip, t in found]
    return branches


def branches_check(rng, lines):
    low = rng.randrange(0, 3000)
    high = low + rng.randrange(0, 2000)
    if not any(line[0] == 8 for line in lines):
        return None
    for form, least, most in (("%d,%d" % (low, high), low, high),
                              (",%d" % high, -1e9, high), ("%d," % low, low, 1e9)):
        want = [(c, ip) for c, ip, t in timed(lines) if least <= t <= most]
        got = [(o["cpu"], o["ip"]) for o in kipt("show", "--branches", "--time", form)
               if o["type"] == "branch"]
        if want != got:
            return "%s: wanted %s, got %s" % (form, want, got)
    return None


def sums(*options):
    lines = kipt("open", *options)
    found = {}
    if not lines or "cpus" not in lines[0]:
        return found
    for cpu in lines[0]["cpus"]:
        found["ticks", cpu.get("cpu")] = cpu.get("ticks", 0)
        found["lost", cpu.get("cpu")] = cpu.get("lost", 0)
    for task in lines[0]["tasks"]:
        found["task", task["tid"]] = task.get("ticks", 0)
        found["branches", task["tid"]] = task["branches"]
    for kind, ticks in lines[0]["lost"].items():
        found["kind", kind] = ticks
    return {key: value for key, value in found.items() if value}


def sums_check(rng, lines):
    first, taken, cpu = {}, set(), 0
    for line in lines:
        cpu = line[3] if line[0] == 19 else cpu
        if line[0] == 8:
            taken.add(line[5] - first.setdefault(cpu, line[5]))
    if not taken:
        return None
    cuts = sorted(rng.sample([t for t in range(1, 6000) if t not in taken], 2))
    parts = {}
    for form in (",%d" % cuts[0], "%d,%d" % tuple(cuts), "%d," % cuts[1]):
        for key, value in sums("--time", form).items():
            parts[key] = parts.get(key, 0) + value
    whole = sums()
    if whole != parts:
        return "%s: %s" % (cuts, sorted(set(whole.items()) ^ set(parts.items()), key=str))
    return None


def threads_check(_, lines):
    whole = sums()
    for tid in {line[3] for line in lines if line[0] == 5}:
        alone = sums("--tid", str(tid))
        for key in set(whole) | set(alone):
            if key[0] in ("lost", "kind") or key[1] == tid:
                if whole.get(key) != alone.get(key):
                    return "thread %d: %s %s, alone %s" % (tid, key, whole.get(key),
                                                          alone.get(key))
    return None


def lost_check(_, lines):
    del lines
    shown, last = {}, None
    for line in kipt("show", "--lost"):
        if line["type"] == "lost":
            shown[line["kind"]] = shown.get(line["kind"], 0) + line.get("ticks", 0)
        elif line["type"] == "losses":
            last = line["lost"]
    shown = {kind: ticks for kind, ticks in shown.items() if ticks}
    whole = kipt("open")[0]["lost"]
    return None if shown == whole == last else "%s, %s, %s" % (shown, whole, last)


# The check, and whether the TSC is set back sometimes.
CHECKS = {
    "branches": (branches_check, True),
    "sums": (sums_check, False),
    "threads": (threads_check, False),
    "lost": (lost_check, False),
}


def main():
    count = int(sys.argv[3])
    for seed in range(1, count + 1):
        for name in sys.argv[4:]:
            check, back = CHECKS[name]
            rng = random.Random(seed)
            wrong = check(rng, stream(rng, back))
            if wrong:
                print("seed", seed, name, wrong)
    print(count, "streams")


main()
