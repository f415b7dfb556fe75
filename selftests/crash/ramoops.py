# SPDX-License-Identifier: GPL-2.0-only
"""Reads what ramoops kept of the log out of a dump, uncompressed records: each
zone begins with struct persistent_ram_buffer of fs/pstore/ram_core.c, and each
record in it with "====" and its time."""
import re
import struct

ZONE = re.compile(rb"DBGC.{4}(.{4})(?=====)", re.DOTALL)


def records(dump, address, size):
    """The text of each record that is there."""
    memory = dump.read(address, size)
    found = []
    for match in ZONE.finditer(memory):
        length, = struct.unpack("<I", match.group(1))
        found.append(memory[match.end():match.end() + length].decode(errors="replace"))
    return found
