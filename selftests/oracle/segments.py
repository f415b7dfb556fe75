# SPDX-License-Identifier: GPL-2.0-only
"""The bytes from one PSB to the next: the packets, and what PSB+ says."""

import packets

TIMING = {"PAD", "MNT", "CBR", "TSC", "TMA", "MTC", "CYC"}
STATUS = TIMING | {"PIP", "VMCS", "MODE.Exec", "MODE.TSX", "FUP"}
OVF = b"\x02\xf3"
FAR_OVF = 64
FLOW = {"TNT", "TIP", "TIP.PGE", "TIP.PGD", "FUP", "OVF", "PSB"}


class Segment:
    """Packets between two PSBs, the PSB at their head included."""

    reader = packets.Reader

    def __init__(self, trace, begin, end):
        self.begin = begin
        self.packets = []
        self.bad = None
        reader = self.reader(trace, begin, end)
        try:
            for packet in reader:
                self.packets.append(packet)
        except packets.BadBytes as error:
            self.bad = error
        self.read_status()

    def read_status(self):
        """What PSB+ says, and where it ends."""
        self.status = []
        self.broken = None
        self.cut = False
        for i, packet in enumerate(self.packets[1:], 1):
            if packet.name in ("PSBEND", "OVF"):
                self.end = i + (packet.name == "PSBEND")
                self.cut = packet.name == "OVF"
                break
            if packet.name not in STATUS:
                self.broken = packet
                self.end = i
                break
            self.status.append(packet)
        else:
            self.end = len(self.packets)
            self.broken = packets.Packet("end", self.begin, 0)
        self.fup = self.last("FUP")
        self.on = bool(self.fup and self.fup.ip is not None
                       and not self.is_stray())
        self.complete = not self.broken

    def has_two_fups(self):
        return len([p for p in self.status if p.name == "FUP"]) > 1

    def last(self, name):
        return next((p for p in reversed(self.status) if p.name == name), None)

    def overflows(self):
        """Does it end in an overflow, to be resolved after the next PSB?"""
        if self.bad:
            return False
        names = [p.name for p in self.packets if p.name not in TIMING]
        return names[-1] == "OVF"

    def is_stray(self):
        """Erratum BDM70: a FUP though tracing is off."""
        for packet in self.packets[self.end:]:
            if packet.name == "TIP.PGE":
                return True
            if packet.name not in STATUS - {"FUP"} | {"PSBEND"}:
                return False
        return False


def may_overflow(trace, end):
    """Do the bytes before @end look like an OVF and timing packets, wherever
    packets start?"""
    at = trace.find(OVF, max(end - FAR_OVF, 0), end)
    while at >= 0:
        try:
            names = {p.name for p in packets.Reader(trace, at, end)}
        except packets.BadBytes:
            names = {"bad"}
        if names <= TIMING | {"OVF"}:
            return True
        at = trace.find(OVF, at + 1, end)
    return False
