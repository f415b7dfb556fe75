# SPDX-License-Identifier: GPL-2.0-only
"""Bytes to packets, as the manual's section "Packet Definitions" lays them out.

A trace is cut at its PSBs; the bytes between two of them are one segment, and
a segment's packets are read without a look at what was before it.
"""

import re

PSB = b"\x02\x82" * 8
IP_BYTES = {0: 0, 1: 2, 2: 4, 3: 6, 4: 6, 6: 8}
IP_PACKETS = {0x01: "TIP.PGD", 0x11: "TIP.PGE", 0x0D: "TIP", 0x1D: "FUP"}
ONES = (1 << 64) - 1

# Extended packets of fixed size: second byte, name, size.
FIXED = {
    0x03: ("CBR", 4), 0x13: ("CFE", 4), 0x22: ("PWRE", 4), 0x23: ("PSBEND", 2),
    0x33: ("BEP", 2), 0xB3: ("BEP", 2), 0x43: ("PIP", 8), 0x53: ("EVD", 11),
    0x62: ("EXSTOP", 2), 0xE2: ("EXSTOP", 2), 0x63: ("BBP", 3),
    0x73: ("TMA", 7), 0x83: ("TraceStop", 2), 0xA2: ("PWRX", 7),
    0xA3: ("TNT", 8), 0xC2: ("MWAIT", 10), 0xC8: ("VMCS", 7), 0xF3: ("OVF", 2),
}

# What may come between two items of a PEBS block without ending it.
IN_BLOCK = {"PAD", "TSC", "TMA", "MTC", "FUP", "CYC", "CBR", "MNT", "EXSTOP",
            "PWRE", "PWRX", "BIP", "BBP"}


class BadBytes(Exception):
    """The bytes at @at are no packet; @cut: its end is missing."""

    def __init__(self, at, cut=False):
        super().__init__(f"no packet at {at:#x}")
        self.at = at
        self.cut = cut


class Packet:
    """A packet: @name as in the manual, @at its offset, and its fields."""

    def __init__(self, name, at, size, **fields):
        self.name = name
        self.at = at
        self.size = size
        self.ip = None
        self.__dict__.update(fields)

    def __repr__(self):
        rest = {k: v for k, v in self.__dict__.items()
                if k not in ("name", "at", "size") and v is not None}
        return f"{self.at:#x} {self.name} {rest}"


def find_psbs(trace):
    """Offsets of all PSBs: of a longer run the last 16 bytes are one."""
    return [m.end() - 16 for m in re.finditer(b"(?:\x02\x82){8,}", trace)]


def number(data):
    return int.from_bytes(data, "little")


def bits_below_stop(value):
    """Outcomes, oldest first, below the highest 1 bit."""
    return [int(c) for c in bin(value)[3:]]


class Reader:
    """Packets of one segment, @trace[@at:@end]; a PSB is at @at."""

    def __init__(self, trace, at, end):
        self.trace = trace
        self.at = at
        self.end = end
        self.last_ip = 0
        self.block = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == self.end:
            raise StopIteration
        packet = self.read()
        if packet.at + packet.size > self.end:
            raise BadBytes(packet.at, cut=True)
        self.at = packet.at + packet.size
        if packet.name == "BBP":
            self.block = 4 if packet.short else 8
        elif packet.name not in IN_BLOCK:
            self.block = 0
        if packet.name == "PSB":
            self.last_ip = 0
        elif packet.ip is not None:
            self.last_ip = packet.ip
        return packet

    def byte(self, offset):
        if self.at + offset >= self.end:
            raise BadBytes(self.at, cut=True)
        return self.trace[self.at + offset]

    def rest(self, first, size):
        if self.at + size > self.end:
            raise BadBytes(self.at, cut=True)
        return self.trace[self.at + first:self.at + size]

    def read(self):
        b = self.byte(0)
        if self.block and b & 7 == 4:
            return Packet("BIP", self.at, 1 + self.block, id=b >> 3,
                          value=number(self.rest(1, 1 + self.block)))
        if b == 0:
            return Packet("PAD", self.at, 1)
        if b == 2:
            return self.read_extended()
        if not b & 1:
            return Packet("TNT", self.at, 1, bits=bits_below_stop(b)[:-1])
        if b & 3 == 3:
            return self.read_cyc()
        if b & 0x1F in IP_PACKETS:
            return self.read_ip(IP_PACKETS[b & 0x1F], b >> 5)
        if b == 0x19:
            return Packet("TSC", self.at, 8, value=number(self.rest(1, 8)))
        if b == 0x59:
            return Packet("MTC", self.at, 2, value=self.byte(1))
        if b == 0x99:
            return self.read_mode()
        if b == 0xD9:
            return self.read_trig()
        raise BadBytes(self.at)

    def read_ip(self, name, form):
        if form not in IP_BYTES:
            raise BadBytes(self.at)
        size = IP_BYTES[form]
        payload = number(self.rest(1, 1 + size))
        if form == 0:
            ip = None
        elif form == 3:
            ip = payload | (ONES & -(payload >> 47) << 48)
        else:
            ip = self.last_ip >> 8 * size << 8 * size | payload
        return Packet(name, self.at, 1 + size, ip=ip, form=form)

    def read_cyc(self):
        """A multi-byte CYC may be broken off by an OVF: erratum SKD007."""
        size = 1
        more = self.byte(0) & 4
        value, shift = self.byte(0) >> 3, 5
        while more:
            b = self.byte(size)
            value |= b >> 1 << shift
            more, shift, size = b & 1, shift + 7, size + 1
            if size > 15:
                raise BadBytes(self.at)
        if (size == 2 and self.byte(1) == 0x02 and self.at + 2 < self.end
                and self.trace[self.at + 2] == 0xF3):
            self.at += 1
            return Packet("OVF", self.at, 2)
        return Packet("CYC", self.at, size, value=value)

    def read_mode(self):
        b = self.byte(1)
        if b >> 5 == 0:
            if b & 3 == 3:
                raise BadBytes(self.at)
            width = {1: 64, 2: 32, 0: 16}[b & 3]
            return Packet("MODE.Exec", self.at, 2, width=width,
                          interrupts=b >> 2 & 1)
        if b >> 5 == 1:
            if b & 3 == 3:
                raise BadBytes(self.at)
            return Packet("MODE.TSX", self.at, 2, begins=b & 1,
                          aborts=b >> 1 & 1)
        raise BadBytes(self.at)

    def read_trig(self):
        flags = self.byte(1)
        size = 5 if flags & 0x40 else 3
        return Packet("TRIG", self.at, size, with_ip=flags >> 7,
                      multiple=flags >> 5 & 1, triggers=self.byte(2),
                      count=number(self.rest(3, size)) if size == 5 else None)

    def read_extended(self):
        b = self.byte(1)
        if b == 0x82:
            if self.rest(0, 16) != PSB:
                raise BadBytes(self.at)
            return Packet("PSB", self.at, 16)
        if b & 0x1F == 0x12:
            return self.read_ptw(b)
        if b == 0xC3:
            if self.byte(2) != 0x88:
                raise BadBytes(self.at)
            return Packet("MNT", self.at, 11)
        if b not in FIXED:
            raise BadBytes(self.at)
        name, size = FIXED[b]
        data = self.rest(2, size)
        return getattr(self, "of_" + name.lower(), self.of_nothing)(
            name, size, data, b)

    def read_ptw(self, b):
        size = {0: 4, 1: 8}.get(b >> 5 & 3)
        if size is None:
            raise BadBytes(self.at)
        return Packet("PTW", self.at, 2 + size, with_ip=b >> 7, width=size,
                      value=number(self.rest(2, 2 + size)))

    def of_nothing(self, name, size, data, b):
        return Packet(name, self.at, size)

    def of_cbr(self, name, size, data, b):
        return Packet(name, self.at, size, value=data[0])

    def of_cfe(self, name, size, data, b):
        return Packet(name, self.at, size, with_ip=data[0] >> 7,
                      type=data[0] & 0x1F, vector=data[1])

    def of_evd(self, name, size, data, b):
        return Packet(name, self.at, size, type=data[0] & 0x3F,
                      value=number(data[1:]))

    def of_pwre(self, name, size, data, b):
        return Packet(name, self.at, size, hw=data[0] >> 7, value=data[1])

    def of_pwrx(self, name, size, data, b):
        return Packet(name, self.at, size, value=data[0], wake=data[1] & 15)

    def of_bep(self, name, size, data, b):
        return Packet(name, self.at, size, with_ip=b >> 7)

    def of_exstop(self, name, size, data, b):
        return Packet(name, self.at, size, with_ip=b >> 7)

    def of_bbp(self, name, size, data, b):
        return Packet(name, self.at, size, short=data[0] >> 7,
                      type=data[0] & 0x1F)

    def of_pip(self, name, size, data, b):
        value = number(data)
        return Packet(name, self.at, size, cr3=value >> 1 << 5,
                      non_root=value & 1)

    def of_vmcs(self, name, size, data, b):
        return Packet(name, self.at, size, value=number(data) << 12)

    def of_mwait(self, name, size, data, b):
        return Packet(name, self.at, size, hints=data[0], ext=data[4] & 3)

    def of_tnt(self, name, size, data, b):
        value = number(data)
        if value < 2:
            raise BadBytes(self.at)
        return Packet(name, self.at, size, bits=bits_below_stop(value))

    def of_tma(self, name, size, data, b):
        """Set reserved bits mean erratum SKZ84, which adds a byte."""
        broken = data[2] or data[4] & 0xFE
        return Packet(name, self.at, size + 1 if broken else size)
