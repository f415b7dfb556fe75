# SPDX-License-Identifier: GPL-2.0-only
"""What kipt left in the dump of a machine that died, for those who use drgn.

    $ drgn -c vmcore
    >>> import sys; sys.path.append("/usr/local/share/kipt")
    >>> from kipt import *
    >>> kipt_header(prog)["event"]
    >>> kipt_cpus(prog)[1]["stop"]
    >>> kipt_save(prog, "saved")

or, in one go:

    $ drgn -c vmcore /usr/local/share/kipt/kipt.py saved 0x51fd000

`kipt decode saved/cpu1.pt --dir saved` reads what was saved. Everything is read
by physical address, as uapi/linux/kipt_crash.h describes it: no debug information
is needed, nor symbols.
"""
import json
import os
import re
import struct
import sys
import zlib

from drgn import FaultError

__all__ = ["kipt_header", "kipt_cpus", "kipt_trace", "kipt_code", "kipt_save"]

PAGE = 4096
MAGIC = b"kipt crash page\0"
VERSION = 1
HEADER, CPU, REGIONS, LOGS = 1, 2, 3, 7
STATES = ("not traced", "running", "stopped", "lost")
RUNNING, STOPPED = 1, 2
# Behind the last page of a dump this much is looked at before it is its end.
HOLE_MAX = 4 << 30


class KiptError(Exception):
    """Something of kipt's is missing in the dump, or damaged."""


class Layout:
    """A struct of uapi/linux/kipt_crash.h: names and formats of its members."""

    def __init__(self, *members):
        self.names = [member.split()[1] for member in members]
        self.form = struct.Struct("<" + "".join(member.split()[0] for member in members))
        self.size = self.form.size

    def read(self, data, offset=0):
        found = dict(zip(self.names, self.form.unpack_from(data, offset)))
        found.pop("pad", None)
        for name in ("release", "kipt", "comm"):
            if name in found:
                found[name] = found[name].split(b"\0")[0].decode(errors="replace")
        return found


HEAD = Layout("16s magic", "H version", "H kind", "I size", "I crc", "I number",
              "Q id", "Q next", "Q more")
INFO = Layout("I nr_cpus", "I tsc_khz", "72s release", "24s kipt", "Q anchor",
              "32s pad")
LAYOUT = Layout("Q module", "I module_list", "I module_name", "I module_text",
                "I module_text_size", "I module_kallsyms", "I kallsyms_symtab",
                "I kallsyms_count", "I kallsyms_strtab", "I task_comm",
                "I task_pid", "I task_tgid", "I pad", "Q vmcoreinfo",
                "Q direct_map")
EVENT = Layout("I crc", "I hook", "I cpu", "I asked", "I answered", "I faulted",
               "Q tsc", "Q ip", "i trap", "I pad")
TRACE = Layout("I apic_id", "I session", "Q ctl", "I leaf0_ebx", "I leaf0_ecx",
               "I leaf1_eax", "I leaf1_ebx", "I tsc_den", "I tsc_num",
               "I crystal_hz", "I max_nonturbo_ratio", "Q size", "Q started",
               "64s cookie", "I nr_regions", "I nr_here")
STOP = Layout("I crc", "I state", "Q head", "Q tail", "Q ctl", "Q status",
              "Q base", "Q mask_ptrs", "Q tsc", "Q cr3", "Q ip", "Q task",
              "I pid", "I tgid", "16s comm")
CRC_AT = 24
STOP_AT = HEAD.size + TRACE.size


def _read(prog, address, size):
    return prog.read(address, size, True)


def _checked_page(prog, address, kind, holes=()):
    data = _read(prog, address, PAGE)
    page = HEAD.read(data)
    if page["magic"] != MAGIC or page["kind"] != kind:
        raise KiptError("no page of kind %d at 0x%x" % (kind, address))
    if page["version"] != VERSION:
        raise KiptError("page of version %d at 0x%x" % (page["version"], address))
    covered = bytearray(data[:page["size"]])
    for begin, end in ((CRC_AT, CRC_AT + 4), *holes):
        covered[begin:end] = bytes(min(end, len(covered)) - begin)
    if zlib.crc32(bytes(covered)) != page["crc"]:
        raise KiptError("page at 0x%x is damaged" % address)
    page["address"] = address
    return page, data


def _checked_part(layout, data, offset):
    """What is written at the crash: its checksum comes first."""
    part = layout.read(data, offset)
    part["good"] = part.pop("crc") == zlib.crc32(data[offset + 4:offset + layout.size])
    return part


def _header_at(prog, address):
    header, data = _checked_page(prog, address, HEADER)
    header.update(INFO.read(data, HEAD.size))
    header["layout"] = LAYOUT.read(data, HEAD.size + INFO.size)
    header["event"] = _checked_part(EVENT, data, HEAD.size + INFO.size + LAYOUT.size)
    return header


def _named_in_log(prog):
    """Addresses that the log names; drgn needs debug information to find it."""
    try:
        from drgn.helpers.linux.printk import get_dmesg
        log = get_dmesg(prog)
    except (ImportError, LookupError, ValueError):
        return []
    return [int(found, 16) for found in
            re.findall(rb"kipt: crash header at 0x([0-9a-f]+)", log)]


def _found_in_memory(prog):
    """Addresses of all pages that look like a header, which takes a second for
    some GiB of dump."""
    address = end = 0
    while address - end < HOLE_MAX:
        try:
            begin = _read(prog, address, 20)
            end = address
            if begin[:16] == MAGIC and begin[18] == HEADER:
                yield address
        except FaultError:
            pass
        address += PAGE


def kipt_header(prog, address=None):
    """The header: release, kipt, nr_cpus, tsc_khz, event (what died), layout.

    It is looked up at the address, which the log of the machine names ("crash
    header at"); unless given in the log, where drgn can read that, else in all
    of the dump, which takes some seconds for each 4 GiB. Of several the one of
    the newest crash is taken.
    """
    if address is not None:
        return _header_at(prog, address)
    for places in (_named_in_log, _found_in_memory):
        found = []
        for place in places(prog):
            try:
                found.append(_header_at(prog, place))
            except (KiptError, FaultError):
                continue
        if found:
            return max(found, key=lambda header: header["event"]["tsc"])
    raise KiptError("there is no header of kipt in the dump")


def _regions(prog, cpu, data):
    at = STOP_AT + STOP.size
    found = [struct.unpack_from("<QQ", data, at + 16 * i) for i in range(cpu["nr_here"])]
    address, number = cpu["more"], 0
    while address and _read(prog, address, 20)[18] != LOGS:
        page, data = _checked_page(prog, address, REGIONS)
        if page["id"] != cpu["id"] or page["number"] != number:
            raise KiptError("page at 0x%x belongs to another" % address)
        here, = struct.unpack_from("<I", data, HEAD.size)
        found += [struct.unpack_from("<QQ", data, HEAD.size + 8 + 16 * i)
                  for i in range(here)]
        address, number = page["more"], number + 1
    if len(found) != cpu["nr_regions"]:
        raise KiptError("%d blocks of %d of CPU %d" %
                        (len(found), cpu["nr_regions"], cpu["number"]))
    return found


def kipt_cpus(prog, header=None):
    """A dict for each CPU that has pages: number, session, ctl, size, regions
    (physical address and bytes of each block), stop (state, head, tail, ip, pid,
    comm and so on)."""
    header = header or kipt_header(prog)
    found, address = [], header["next"]
    while address and len(found) < header["nr_cpus"]:
        cpu, data = _checked_page(prog, address, CPU, [(STOP_AT, STOP_AT + STOP.size)])
        if cpu["id"] != header["id"]:
            raise KiptError("page at 0x%x belongs to another" % address)
        cpu.update(TRACE.read(data, HEAD.size))
        cpu["stop"] = _checked_part(STOP, data, STOP_AT)
        cpu["regions"] = _regions(prog, cpu, data)
        found.append(cpu)
        address = cpu["next"]
    if address or len(found) != header["nr_cpus"]:
        raise KiptError("%d pages of CPUs, %d are meant" % (len(found), header["nr_cpus"]))
    return found


def kipt_trace(prog, cpu):
    """The bytes of a CPU's trace, the oldest first.

    Of a CPU that did not answer they are known only as long as its ring was not
    written round: `kipt crash` finds its end in other cases, too.
    """
    whole = b"".join(_read(prog, *region) for region in cpu["regions"])
    stop, size = cpu["stop"], cpu["size"]
    if len(whole) != size:
        raise KiptError("CPU %d: blocks of %d bytes, %d are meant" %
                        (cpu["number"], len(whole), size))
    if not stop["good"] or stop["state"] == RUNNING:
        if not whole.endswith(cpu["cookie"]):
            raise KiptError("CPU %d did not say where its trace ends" % cpu["number"])
        return whole[:-len(cpu["cookie"])].rstrip(b"\0")
    if not stop["tail"] <= stop["head"] <= stop["tail"] + size:
        raise KiptError("CPU %d: its trace ends nowhere" % cpu["number"])
    first = stop["tail"] % size
    return (whole[first:] + whole[:first])[:stop["head"] - stop["tail"]]


# The kernel's own pages lie in the last 2 GiB: its text, modules, BPF, probes.
KERNEL_BEGIN = 0xffffffff80000000
PRESENT, LARGE, NO_EXECUTE = 1, 1 << 7, 1 << 63
FRAME = 0x000ffffffffff000
MODULE_NAME = b"kipt\0"


class PageTable:
    """The kernel's half of a page table, by physical address."""

    def __init__(self, prog, cr3, levels):
        self.prog, self.top, self.levels = prog, cr3 & FRAME, levels

    def physical(self, address):
        """Of a virtual one, or None."""
        table = self.top
        for level in range(self.levels - 1, -1, -1):
            shift = 12 + 9 * level
            at = table + (address >> shift & 511) * 8
            entry, = struct.unpack("<Q", _read(self.prog, at, 8))
            if not entry & PRESENT:
                return None
            if not level or level <= 2 and entry & LARGE:
                inside = (1 << shift) - 1
                return entry & FRAME & ~inside | address & inside
            table = entry & FRAME
        return None

    def code(self, table=None, level=None, begin=0):
        """(virtual, physical) address of each page from KERNEL_BEGIN on that
        may be executed."""
        level = self.levels - 1 if level is None else level
        shift = 12 + 9 * level
        entries = struct.unpack("<512Q", _read(self.prog, table or self.top, PAGE))
        for index, entry in enumerate(entries):
            address = begin + (index << shift)
            if level == self.levels - 1 and index & 256:
                address += (1 << 64) - (512 << shift)
            if address + (1 << shift) <= KERNEL_BEGIN or \
                    not entry & PRESENT or entry & NO_EXECUTE:
                continue
            if level and not (level <= 2 and entry & LARGE):
                yield from self.code(entry & FRAME, level - 1, address)
                continue
            frame = entry & FRAME & -(1 << shift)
            for offset in range(0, 1 << shift, PAGE):
                yield address + offset, frame + offset


def _page_table(prog, header, cpus):
    """Four levels or five: with the other this module is not where it was."""
    named = header["layout"]["module"] + header["layout"]["module_name"]
    for cpu in cpus:
        for levels in (4, 5):
            table = PageTable(prog, cpu["stop"]["cr3"], levels)
            try:
                physical = table.physical(named)
                if physical and _read(prog, physical, len(MODULE_NAME)) == MODULE_NAME:
                    return table
            except FaultError:
                continue
    raise KiptError("no CPU's page table leads to the kernel")


def kipt_code(prog, header=None, cpus=None):
    """(address, bytes) of each page of the kernel's code that is in the dump, of
    modules, probes and BPF programs, too."""
    header = header or kipt_header(prog)
    cpus = cpus or kipt_cpus(prog, header)
    for address, physical in _page_table(prog, header, cpus).code():
        try:
            yield address, _read(prog, physical, PAGE)
        except FaultError:
            continue


def _meta(header, cpu):
    """What `kipt decode` has to know of the trace."""
    return {"type": "meta", "record_version": 2, "module": header["kipt"],
            "kernel": header["release"], "tsc_khz": header["tsc_khz"],
            "ctl_bits": "0x%x" % cpu["ctl"],
            "tsc_num": cpu["tsc_num"], "tsc_den": cpu["tsc_den"],
            "crystal_hz": cpu["crystal_hz"], "tsc": "0x%x" % cpu["started"],
            "max_nonturbo_ratio": cpu["max_nonturbo_ratio"],
            "mtc_freq": cpu["ctl"] >> 14 & 15,
            "leaf0_ebx": "0x%x" % cpu["leaf0_ebx"],
            "leaf0_ecx": "0x%x" % cpu["leaf0_ecx"],
            "leaf1_eax": "0x%x" % cpu["leaf1_eax"],
            "leaf1_ebx": "0x%x" % cpu["leaf1_ebx"]}


def kipt_save(prog, folder, header=None):
    """Writes trace and code into a folder, as `kipt crash --save` does: `kipt
    decode FOLDER/cpuN.pt --dir FOLDER` shows what CPU N did. It names functions
    if a copy of /proc/kallsyms of the same boot is put there as "kallsyms"."""
    header = header or kipt_header(prog)
    cpus = kipt_cpus(prog, header)
    os.makedirs(folder, exist_ok=True)
    for cpu in cpus:
        path = os.path.join(folder, "cpu%d.pt" % cpu["number"])
        with open(path, "wb") as file:
            file.write(kipt_trace(prog, cpu))
    if cpus:
        with open(os.path.join(folder, "meta.json"), "w") as file:
            file.write(json.dumps(_meta(header, cpus[0])) + "\n")
    with open(os.path.join(folder, "kernel.addr"), "wb") as addresses, \
            open(os.path.join(folder, "kernel.dump"), "wb") as code:
        for address, data in kipt_code(prog, header, cpus):
            addresses.write(struct.pack("<Q", address))
            code.write(data)


def _main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("usage: drgn -c VMCORE kipt.py FOLDER [ADDRESS]")
    # drgn knows the dump that it was started with.
    prog = globals()["prog"]
    header = kipt_header(prog, int(sys.argv[2], 0) if len(sys.argv) > 2 else None)
    print("header at 0x%x, %s" % (header["address"], header["release"]))
    for cpu in kipt_cpus(prog, header):
        stop = cpu["stop"]
        print("CPU %d: %s, %d bytes, at 0x%x in %s (%d)" %
              (cpu["number"], STATES[stop["state"]], stop["head"] - stop["tail"],
               stop["ip"], stop["comm"], stop["pid"]))
    kipt_save(prog, sys.argv[1], header)


if __name__ == "__main__":
    _main()
