#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes a trace of the code that decode_tests.sh has at 0x401000: a branch
that is taken or not, an indirect jump back, PSBs in between.

make_trace.py FILE BYTES [--trouble] [--head N] [--cut N] [--psb-every N] [--times]

--trouble    packets that make no sense, overflows and wrong targets
--head N     N bytes without a PSB in front
--cut N      without the last N bytes
--psb-every  most loops between two PSBs, 200 unless given; 0: no PSB at all
--times      each PSB has a TSC, and so have some loops
"""
import argparse
import random

PSB = b"\x02\x82" * 8
TROUBLE = (b"\x05\x05", b"\x02\xf3\x5d\x00\x10\x40\x00", b"\x2d\x00\x77",
           b"\x06\x06\x06", b"\x2d\x10\x10\x2d\x00\x10")


TSC = [0x5000000]


def tsc(rand, times):
    TSC[0] += rand.randrange(1, 3000)
    return b"\x19" + TSC[0].to_bytes(7, "little") if times else b""


def segment(rand, on, every, times):
    out = PSB + tsc(rand, times) + b"\x99\x01"
    out += b"\x5d\x00\x10\x40\x00\x02\x23" if on else \
           b"\x02\x23\x51\x00\x10\x40\x00"
    for _ in range(rand.randrange(every) + 1):
        out += rand.choice((b"\x04", b"\x06")) + b"\x2d\x00\x10"
        if times and not rand.randrange(8):
            out += tsc(rand, times)
    return out


def trace(args):
    rand = random.Random(7)
    out = bytearray(b"\x06" * args.head)
    on = False
    while args.psb_every and len(out) < args.bytes:
        out += segment(rand, on, args.psb_every, args.times)
        on = True
        if args.trouble and not rand.randrange(6):
            out += rand.choice(TROUBLE)
        if not rand.randrange(5):
            out += b"\x01"
            on = False
    return out[:len(out) - args.cut]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("bytes", type=int)
    parser.add_argument("--trouble", action="store_true")
    parser.add_argument("--head", type=int, default=0)
    parser.add_argument("--cut", type=int, default=0)
    parser.add_argument("--psb-every", type=int, default=200)
    parser.add_argument("--times", action="store_true")
    args = parser.parse_args()
    with open(args.file, "wb") as out:
        out.write(trace(args))


main()
