# SPDX-License-Identifier: GPL-2.0-only
"""Code and traces: from the flow tests, the fuzzers' seeds, random programs."""

import os
import subprocess

from insns import Image
from flow import Config
from packets import PSB
from records import parse

# Where the fuzz target puts the 256 bytes of code of its seeds.
SEED_HEAD = 4
SEED_CODE = 256
SEED_PLACES = [(0x401000 + i * 256, 0) for i in range(16)] + \
    [(0xFFFFFFFF81000000 + i * 128, 128) for i in range(16)]
SEED_PSB = PSB + bytes.fromhex("99015d001040000223")


class Case:
    """@name, @image, @config and @trace; @text: the head of a file of its own,
    @records: what the decoder said, if that is known already."""

    def __init__(self, name, image, config, trace, text="", records=None):
        self.name = name
        self.image = image
        self.config = config
        self.trace = trace
        self.text = text
        self.records = records

    def changed(self, name, trace):
        return Case(name, self.image, self.config, trace, self.text)

    def file(self):
        """The case as a flow test."""
        lines = [self.text, "[packets]"]
        lines += [self.trace[i:i + 32].hex(" ")
                  for i in range(0, len(self.trace), 32)]
        return "\n".join(lines) + "\n"


def ranged(words):
    return int(words[1], 16), int(words[2], 16)


def read_flow(path, disassembler):
    """A flow test; None: it is about what the manual does not know."""
    image, config, trace = Image(disassembler), Config(), b""
    section, head = None, []
    with open(path) as file:
        lines = [line.split("#")[0].strip() for line in file]
    for line in filter(None, lines):
        words = line.split()
        if line[0] == "[":
            section = line
        elif section == "[packets]":
            trace += PSB if words[0] == "psb" else bytes.fromhex(line)
        elif section == "[code]":
            base, _, data = line.partition(":")
            image.add(int(base, 16), bytes.fromhex(data))
        elif section == "[config]":
            if words[0] in ("changed", "no-tnt", "no-retc"):
                return None
            if words[0] == "filter":
                config.filters.append(ranged(words))
            elif words[0] == "stop":
                config.stops.append(ranged(words))
        if section in ("[config]", "[code]"):
            head.append(line)
    name = os.path.join(*path.split(os.sep)[-2:])
    return Case(name, image, config, trace, "\n".join(head))


def read_seed(path, disassembler):
    """A seed of the flow fuzzer, with its code and without its settings."""
    with open(path, "rb") as file:
        data = file.read()
    code = data[SEED_HEAD:SEED_HEAD + SEED_CODE]
    image, head = Image(disassembler), ["[code]"]
    for base, first in SEED_PLACES:
        image.add(base, code[first:])
        head.append(f"{base:x}: {code[first:].hex(' ')}")
    return Case("seed " + os.path.basename(path), image, Config(),
                SEED_PSB + data[SEED_HEAD + SEED_CODE:], "\n".join(head))


def read_packets(path, disassembler):
    """A seed of the packet fuzzer: a stream without code."""
    with open(path, "rb") as file:
        trace = SEED_PSB + file.read()
    image = Image(disassembler)
    image.add(0x401000, b"\x90")
    return Case("packets " + os.path.basename(path), image, Config(), trace,
                "[code]\n401000: 90")


def read_random(program, seed, count, disassembler):
    """Random programs and what the decoder made of their traces."""
    run = subprocess.run([program, str(seed), str(count)], check=True,
                         stdout=subprocess.PIPE, text=True)
    cases, regions, image = [], {64: [], 32: [], 16: []}, None
    for line in run.stdout.splitlines():
        words = line.split()
        if words[0] == "cr3":
            image, config, records = Image(disassembler), Config(), []
            unit = int(words[1], 16)
            config.first_space = 0
            config.space_of = lambda cr3, unit=unit: max(cr3 // unit - 1, 0)
        elif words[0] == "region":
            space, data = int(words[3]), bytes.fromhex(words[4])
            image.add(int(words[1], 16), data, None if space < 0 else space)
            regions[int(words[2])].append(data)
        elif words[0] == "filter":
            config.filters.append(ranged(words))
        elif words[0] == "trace":
            trace = bytes.fromhex(words[1])
        elif words[0] == ".":
            cases.append(Case(f"random {seed + len(cases)}", image, config,
                              trace, records=records))
        else:
            records.append(parse(line))
    for mode, blocks in regions.items():
        disassembler.learn_blocks(mode, blocks)
    return cases


# What a flow test holds of code at one address, and what two such pieces share.
PIECE = 256
SHARED = 16


def in_one_space(case):
    """A random program as a flow test, which knows no address spaces; None:
    its code is not at one place only."""
    pieces = sorted(case.image.pieces)
    for (base, data, _), (above, _, _) in zip(pieces, pieces[1:]):
        if base + len(data) > above:
            return None
    image, config, head = Image(case.image.disassembler), Config(), []
    config.filters = case.config.filters
    for begin, last in config.filters:
        head.append(f"filter {begin:x} {last:x}")
    head = ["[config]", *head, "[code]"]
    for base, data, _ in pieces:
        image.add(base, data)
        for at in reversed(range(0, len(data), PIECE - SHARED)):
            head.append(f"{base + at:x}: {data[at:at + PIECE].hex(' ')}")
    return Case(case.name, image, config, case.trace, "\n".join(head))


class Decoder:
    """The decoder that is compared with the oracle, as a process."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.path = os.path.join(folder, "case.pt")

    def records(self, case):
        if case.records is not None:
            return case.records
        with open(self.path, "w") as file:
            file.write(case.file())
        self.process.stdin.write(self.path + "\n")
        self.process.stdin.flush()
        records = []
        for line in self.process.stdout:
            if line == ".\n":
                return records
            records.append(parse(line))
        raise RuntimeError(f"the decoder ended at {case.name}")
