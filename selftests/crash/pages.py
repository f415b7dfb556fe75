#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads what kipt leaves in memory for the case that the machine dies.

Usage: pages.py DUMP [DIR]

A second reader of uapi/linux/kipt_crash.h, which shares nothing with the
tool's: it finds the pages in an ELF dump by their magic alone, checks them,
prints what they say and writes the trace of each CPU to DIR/cpuN.pt, oldest
byte first. Exits 1 when a page is missing or damaged.
"""
import mmap
import os
import struct
import sys
import zlib

PAGE = 4096
MAGIC = b"kipt crash page\0"
VERSION = 1
HEADER, CPU, REGIONS, LOGS = 1, 2, 3, 7
NOT_TRACED, RUNNING, STOPPED, LOST = range(4)
STATES = ("not traced", "running", "stopped", "lost")
HOOKS = (None, "oops", "panic", "kexec", "die", "notifier", "warning", "lockup",
         "hung", "report", "signal")

HEAD = struct.Struct("<16sHHIIIQQQ")
HEAD_NAMES = "magic version kind size crc number id next more".split()
INFO = struct.Struct("<II72s24sQ32s")
INFO_NAMES = "nr_cpus tsc_khz release kipt anchor pad".split()
LAYOUT_BYTES = 72
EVENT = struct.Struct("<IIIIIIQQII")
EVENT_NAMES = "crc hook cpu asked answered faulted tsc ip trap pad".split()
TRACE = struct.Struct("<IIQIIIIIIIIQQ64sII")
TRACE_NAMES = ("apic_id session ctl leaf0_ebx leaf0_ecx leaf1_eax leaf1_ebx "
               "tsc_den tsc_num crystal_hz max_nonturbo_ratio size started "
               "cookie nr_regions nr_here").split()
STOP = struct.Struct("<IIQQQQQQQQQQII16s")
STOP_NAMES = ("crc state head tail ctl status base mask_ptrs tsc cr3 ip task "
              "pid tgid comm").split()
REGION = struct.Struct("<QQ")
CRC_AT = 24


class Damaged(Exception):
    """A page that is not what it should be."""


class Dump:
    """An ELF dump: bytes by physical address."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        if self.map[:5] != b"\x7fELF\x02":
            raise Damaged(path + " is no 64-bit ELF file")
        self.parts = list(self._loads())

    def _loads(self):
        start, = struct.unpack_from("<Q", self.map, 32)
        size, count = struct.unpack_from("<HH", self.map, 54)
        # PN_XNUM: so many that the number is in the first section's header.
        if count == 0xffff:
            section, = struct.unpack_from("<Q", self.map, 40)
            count, = struct.unpack_from("<I", self.map, section + 44)
        for i in range(count):
            kind, _, offset, _, physical, bytes_here = struct.unpack_from(
                "<IIQQQQ", self.map, start + i * size)
            if kind == 1:
                yield physical, offset, bytes_here

    def read(self, address, size):
        for physical, offset, length in self.parts:
            if physical <= address and address + size <= physical + length:
                at = offset + address - physical
                return self.map[at:at + size]
        raise Damaged("0x%x is not in the dump" % address)

    def find(self, magic):
        """Physical addresses of the pages that begin so."""
        for physical, offset, length in self.parts:
            at = self.map.find(magic, offset, offset + length)
            while at >= 0:
                address = physical + at - offset
                if address % PAGE == 0:
                    yield address
                at = self.map.find(magic, at + 1, offset + length)


def fields(names, layout, data, at):
    return dict(zip(names, layout.unpack_from(data, at)))


def text(data):
    return data.split(b"\0")[0].decode(errors="replace")


def checked_page(dump, address, kind, holes=()):
    """The page at an address; @holes are not part of its checksum."""
    data = dump.read(address, PAGE)
    head = fields(HEAD_NAMES, HEAD, data, 0)
    if head["magic"] != MAGIC:
        raise Damaged("0x%x: no magic" % address)
    if head["version"] != VERSION or head["kind"] != kind:
        raise Damaged("0x%x: version %d, kind %d" %
                      (address, head["version"], head["kind"]))
    if not HEAD.size <= head["size"] <= PAGE:
        raise Damaged("0x%x: size %d" % (address, head["size"]))
    blank = bytearray(data[:head["size"]])
    for begin, end in ((CRC_AT, CRC_AT + 4), *holes):
        for i in range(begin, min(end, len(blank))):
            blank[i] = 0
    if zlib.crc32(bytes(blank)) != head["crc"]:
        raise Damaged("0x%x: the checksum is wrong" % address)
    head["address"] = address
    return head, data


def checked(names, layout, data, at):
    """A part whose first member is the checksum of what follows it."""
    part = fields(names, layout, data, at)
    part["good"] = part["crc"] == zlib.crc32(data[at + 4:at + layout.size])
    return part


def kind_of(dump, address):
    return struct.unpack_from("<H", dump.read(address, PAGE), 18)[0]


def read_regions(dump, page, data, at):
    regions = [REGION.unpack_from(data, at + i * REGION.size)
               for i in range(page["nr_here"])]
    address, number = page["more"], 0
    while address and kind_of(dump, address) != LOGS:
        head, data = checked_page(dump, address, REGIONS)
        here, = struct.unpack_from("<I", data, HEAD.size)
        if head["id"] != page["id"] or head["number"] != number:
            raise Damaged("0x%x: belongs to another" % address)
        regions += [REGION.unpack_from(data, HEAD.size + 8 + i * REGION.size)
                    for i in range(here)]
        address, number = head["more"], number + 1
    if len(regions) != page["nr_regions"]:
        raise Damaged("CPU %d: %d regions of %d" %
                      (page["number"], len(regions), page["nr_regions"]))
    return regions


def read_cpu(dump, address):
    stop_at = HEAD.size + TRACE.size
    page, data = checked_page(dump, address, CPU,
                              [(stop_at, stop_at + STOP.size)])
    page.update(fields(TRACE_NAMES, TRACE, data, HEAD.size))
    page["stop"] = checked(STOP_NAMES, STOP, data, stop_at)
    page["regions"] = read_regions(dump, page, data, stop_at + STOP.size)
    return page


def read_header(dump, address):
    header, data = checked_page(dump, address, HEADER)
    header.update(fields(INFO_NAMES, INFO, data, HEAD.size))
    header["event"] = checked(EVENT_NAMES, EVENT, data,
                              HEAD.size + INFO.size + LAYOUT_BYTES)
    header["cpus"] = []
    next_one = header["next"]
    while next_one:
        cpu = read_cpu(dump, next_one)
        if cpu["id"] != header["id"]:
            raise Damaged("0x%x: belongs to another" % next_one)
        header["cpus"].append(cpu)
        next_one = cpu["next"]
    if len(header["cpus"]) != header["nr_cpus"]:
        raise Damaged("%d pages of CPUs of %d" %
                      (len(header["cpus"]), header["nr_cpus"]))
    return header


def find_header(dump):
    """The one header of the dump."""
    found = [address for address in dump.find(MAGIC)
             if kind_of(dump, address) == HEADER]
    if len(found) != 1:
        raise Damaged("%d headers in the dump" % len(found))
    return read_header(dump, found[0])


def trace(dump, cpu):
    """The bytes that are there, oldest first."""
    whole = b"".join(dump.read(*region) for region in cpu["regions"])
    if len(whole) != cpu["size"]:
        raise Damaged("CPU %d: regions of %d bytes of %d" %
                      (cpu["number"], len(whole), cpu["size"]))
    head, tail = cpu["stop"]["head"], cpu["stop"]["tail"]
    if not tail <= head <= tail + cpu["size"]:
        raise Damaged("CPU %d: head %d, tail %d" % (cpu["number"], head, tail))
    if head == tail:
        return b""
    first, last = tail % cpu["size"], head % cpu["size"]
    return whole[first:last] if first < last else whole[first:] + whole[:last]


def describe(header):
    event = header["event"]
    print("header 0x%x: %s, kipt %s, %d CPUs, TSC %d kHz" %
          (header["address"], text(header["release"]), text(header["kipt"]),
           header["nr_cpus"], header["tsc_khz"]))
    if not event["hook"]:
        print("no crash")
    else:
        print("crash%s: hook %s on CPU %d, at %d, %s 0x%x, trap %d; %d of %d answered" %
              ("" if event["good"] else " (DAMAGED)", HOOKS[event["hook"]],
               event["cpu"], event["tsc"],
               "fault at" if event["faulted"] else "call at", event["ip"],
               struct.unpack("<i", struct.pack("<I", event["trap"]))[0],
               event["answered"], event["asked"]))
    for cpu in header["cpus"]:
        stop = cpu["stop"]
        print("CPU %d: %s%s, bytes %d to %d of %d, at %d, ip 0x%x, %s (%d/%d)" %
              (cpu["number"], STATES[stop["state"]],
               "" if stop["good"] else " (DAMAGED)", stop["tail"],
               stop["head"], cpu["size"], stop["tsc"], stop["ip"],
               text(stop["comm"]), stop["pid"], stop["tgid"]))


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    try:
        dump = Dump(sys.argv[1])
        header = find_header(dump)
        describe(header)
        for cpu in header["cpus"] if len(sys.argv) > 2 else ():
            path = os.path.join(sys.argv[2], "cpu%d.pt" % cpu["number"])
            with open(path, "wb") as file:
                file.write(trace(dump, cpu))
    except Damaged as error:
        print(error)
        sys.exit(1)


if __name__ == "__main__":
    main()
