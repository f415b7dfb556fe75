# SPDX-License-Identifier: GPL-2.0-only
"""Packets and code to records.

Walks the code as the CPU did and takes packets from the list of the segment
when an instruction, or a packet that marks a moment in the flow, needs them.
"""

from collections import deque

from branches import Branches
from doubts import Contradiction, Known, Unsaid
from events import Events
import packets
from records import SYNC, TSX
from segments import FLOW, TIMING, Segment, may_overflow
from side import Side
from walk import Walk, is_canonical

IN_EVENT = TIMING | FLOW | {"PIP", "VMCS", "MODE.Exec"}
AFTER_MODE = IN_EVENT - {"TNT", "FUP"}
TO_EVENT = TIMING | {"FUP", "OVF"}


class Lost:
    """A mark among the records: here the flow is lost until the next PSB."""

    type = "lost"

    def __init__(self, error, flow):
        self.why = error.why
        self.at = error.at
        self.unsaid = isinstance(error, Unsaid)
        self.known = isinstance(error, Known)
        self.flow = flow
        self.segment = flow.segment
        self.following = flow.next_segment
        self.index = flow.index
        self.width = flow.mode.width if flow.mode else flow.width
        if any(name == "MODE.Exec" for name, _ in flow.claims):
            self.width = flow.claimed_width
        self.abort = flow.abort
        self.unknown = flow.no_mode, flow.no_root and not flow.pips
        self.space = flow.space
        self.non_root = flow.non_root
        if flow.pips:
            self.space = flow.config.space_of(flow.pips[-1].cr3)
            self.non_root = flow.pips[-1].non_root

    def __repr__(self):
        at = "?" if self.at is None else f"{self.at:#x}"
        return f"{'unsaid' if self.unsaid else 'lost'} at {at}: {self.why}"

    def runs(self, ip):
        """The records from @ip on, for each later packet that names it."""
        for i in range(self.index, len(self.segment.packets)):
            packet = self.segment.packets[i]
            if packet.ip != ip or packet.name not in ("TIP", "FUP",
                                                      "TIP.PGE"):
                continue
            # A FUP is an event's, or gives the address only.
            for first in (i, i + 1) if packet.name == "FUP" else (i + 1,):
                flow = type(self.flow)(self.flow.trace, self.flow.image,
                                       self.flow.config)
                flow.run_after(self, ip, first)
                yield flow.out


class Config:
    """What no packet says: ranges of ADDRn, address spaces."""

    def __init__(self):
        self.filters = []
        self.stops = []
        self.no_tnt = False
        self.first_space = None
        self.space_of = lambda cr3: None


class Flow(Walk, Branches, Events, Side):
    """The CPU, as far as the trace shows."""

    segments = Segment

    def __init__(self, trace, image, config):
        self.trace = trace
        self.image = image
        self.config = config
        self.out = []
        self.overflow = False
        self.doubt = False
        self.on = False
        self.ip = None
        self.width = self.claimed_width = 64
        self.space = None
        self.no_mode = self.no_root = self.non_root = False
        self.mode_seen = False
        self.forget()

    # Running.

    def run(self):
        begins = packets.find_psbs(self.trace)
        ends = begins[1:] + [len(self.trace)]
        segments = [self.segments(self.trace, begin, end)
                    for begin, end in zip(begins, ends)]
        damaged = begins and begins[0] > 0
        for segment, following in zip(segments, segments[1:] + [None]):
            # Of what is damaged, or before the first PSB, nobody knows how it ends.
            self.doubt = may_overflow(self.trace, segment.begin) and \
                damaged and not self.overflow
            self.run_segment(segment, following)
            self.overflow = segment.overflows()
            damaged = segment.bad
        return self.out

    def run_segment(self, segment, following):
        self.segment = segment
        self.next_segment = following
        self.index = 0
        self.taken = set()
        try:
            self.start(segment, following)
            self.run_packets(segment, segment.end, following)
        except Contradiction as error:
            self.out.append(Lost(error, self))
            self.on = False

    def run_after(self, lost, ip, first):
        """Go on after a contradiction, where a packet says @ip."""
        self.segment = lost.segment
        self.next_segment = lost.following
        self.taken = set()
        self.width, self.space = lost.width, lost.space
        self.index = first
        self.just_branched = True
        self.on = True
        self.ip = ip
        self.abort = lost.abort
        self.no_mode, self.no_root = lost.unknown
        self.non_root = lost.non_root
        for before in self.segment.packets[lost.index:first]:
            if before.name in ("MODE.TSX", "FUP", "OVF"):
                self.abort = before.name == "MODE.TSX" and before.aborts
            elif before.name == "MODE.Exec":
                self.width = before.width
                self.no_mode = False
            elif before.name == "PIP":
                self.space = self.config.space_of(before.cr3)
                self.non_root = before.non_root
                self.no_root = False
        try:
            self.run_packets(self.segment, first, lost.following)
        except Contradiction as error:
            self.out.append(Lost(error, self))

    def run_packets(self, segment, first, following):
        for i in range(first, len(segment.packets)):
            if i not in self.taken:
                self.index = i
                self.take(segment.packets[i])
        if self.has_data() and following and not segment.bad:
            raise Contradiction(following.packets[0], "an EVD without its CFE")
        self.lose(None)
        if segment.bad:
            self.end_bad(segment.bad, following)
        elif segment.broken:
            self.emit("gap", "truncated", value=len(self.trace))
        elif following:
            self.reach(following)

    def end_bad(self, bad, following):
        if bad.cut and not following:
            self.emit("gap", "truncated", ip=None, value=bad.at)
            return
        raise Contradiction(bad, "bytes that are no packet")

    def forget(self):
        """Nothing is pending, nothing is remembered of CALLs."""
        self.stack = deque(maxlen=64)
        self.bits = deque()
        self.bits_of = None
        self.event = None
        self.abort = False
        self.claims = []
        self.at_event = []
        self.enables = False
        self.event_data = []
        self.pips = deque()
        self.mode = None
        self.ptws = []
        self.power = []
        self.sleeps = False
        self.moved = False
        self.power_ip = None
        self.in_tx = False
        self.insns = 0
        self.just_branched = False
        self.block = None

    # PSB+.

    def start(self, segment, following):
        after_overflow = self.overflow
        self.forget()
        self.overflow = after_overflow
        # The branch before may be in the segment before.
        self.just_branched = True
        self.on = segment.on
        self.ip = segment.fup.ip if segment.on else None
        if self.on and not is_canonical(self.ip):
            self.ip = None
        self.emit("sync", SYNC["start"], ip=self.ip, value=segment.begin)
        if segment.has_two_fups():
            raise Unsaid(segment.fup, "two FUPs in a PSB+")
        if segment.broken and (segment.broken.name != "end" or following):
            raise Contradiction(segment.broken, "a PSB+ that does not end")
        if self.on and self.ip is None:
            raise Contradiction(segment.fup, "no address")
        self.width = 64
        self.no_mode = self.mode_seen = False
        self.no_root, self.non_root = segment.cut, False
        self.space = self.config.first_space
        count = len(self.out)
        for packet in segment.status:
            if packet is segment.last(packet.name):
                self.restate(packet)
        self.out[count - 1].status = sum(
            record.type != "cbr" for record in self.out[count:])
        if self.overflow and not self.on and \
                not may_overflow(self.trace, segment.begin):
            raise Known(segment.packets[0], "an OVF far before a PSB")

    def restate(self, packet):
        if packet.name == "PIP":
            self.context(packet, self.ip)
        elif packet.name == "MODE.Exec":
            self.set_mode(packet)
        elif packet.name == "MODE.TSX":
            self.in_tx = bool(packet.begins)
            if self.in_tx:
                self.emit("tsx", TSX["begin"], ip=self.ip)
        elif packet.name == "VMCS":
            self.take_vmcs(packet)
        elif packet.name == "CBR":
            self.take_cbr(packet)

    def reach(self, following):
        """The flow leads to where the next PSB+ says it is."""
        psb = following.packets[0]
        if self.doubt and not self.on:
            raise Unsaid(psb, "bytes like an OVF before the PSB")
        if self.config.no_tnt:
            return
        if self.event or self.bits:
            raise Contradiction(psb, "a PSB inside an event")
        if self.overflow and not self.on or \
                following.cut and not following.fup:
            return
        if following.has_two_fups():
            raise Unsaid(psb, "two FUPs in a PSB+")
        if following.fup and following.fup.ip is not None and \
                not is_canonical(following.fup.ip):
            raise Unsaid(psb, "the next PSB+ has no address")
        if not following.complete:
            raise Unsaid(psb, "the next PSB+ says nothing")
        if self.on != following.on:
            raise Contradiction(psb, "PSB+ does not say whether it is on")
        if self.on:
            self.same_mode(psb, following)
            self.walk_to(psb, following.fup.ip)
            self.emit("sync", SYNC["reached"], ip=self.ip,
                      value=following.begin, aux=self.counted())

    def same_mode(self, psb, following):
        mode = following.last("MODE.Exec")
        if mode and not self.mode and mode.width != self.width:
            raise Contradiction(psb, "PSB+ says another mode")

    # Packets.

    def take(self, packet):
        if self.event and packet.name not in IN_EVENT:
            raise Unsaid(packet, "no packet that may be inside an event")
        if packet.name not in TIMING | {"FUP", "OVF"}:
            self.lose(packet)
        if self.mode and self.on and not self.event and \
                packet.name not in AFTER_MODE:
            raise Known(packet, "MODE.Exec before a " + packet.name)
        if self.overflow and self.on and \
                packet.name not in TIMING | {"FUP", "PSBEND"}:
            self.overflow = False
        if self.doubt:
            self.take_doubtful(packet)
        if self.abort and packet.name not in TIMING | FLOW:
            raise Unsaid(packet, "a FUP is missing")
        if packet.name not in TO_EVENT:
            self.flush_events(None)
        self.moved |= packet.name in FLOW and not self.claims
        name = packet.name.replace(".", "_").lower()
        getattr(self, "take_" + name)(packet)

    def take_doubtful(self, packet):
        """Takes a packet after a PSB+ that may come after an overflow."""
        if packet.name in FLOW and packet.name != "TIP.PGE" and \
                not self.claims and (not self.on or packet.name == "FUP"
                                     and packet.ip == self.ip):
            raise Unsaid(packet, "bytes like an OVF before the PSB")
        if packet.name in FLOW or \
                self.on and packet.name not in TIMING | {"PSBEND"}:
            self.doubt = False

    def following(self, index, passing=TIMING):
        """The next packet that is none of @passing, or None."""
        for i in range(index + 1, len(self.segment.packets)):
            if self.segment.packets[i].name not in passing:
                return i
        return None

    def nothing_open(self, packet):
        """Between @packet and what was before lies no open event."""
        if self.event:
            raise Contradiction(packet, "an event is open")
        if self.bits:
            raise Contradiction(packet, "outcomes are left")
        if self.abort or self.at_event:
            raise Unsaid(packet, "a FUP is missing")

    def take_pad(self, packet):
        pass

    take_psbend = take_mnt = take_tsc = take_pad
    take_mtc = take_tma = take_cyc = take_pad

    def take_psb(self, packet):
        raise Unsaid(packet, "a PSB in front of a PSB")

    def take_cbr(self, packet):
        self.emit("cbr", ip=self.ip, aux=packet.value)

    def take_vmcs(self, packet):
        none = packet.value == 0xFFFFFFFFFF << 12
        self.emit("vmcs", value=packets.ONES if none else packet.value)

    def take_tracestop(self, packet):
        if self.on:
            self.nothing_open(packet)
        self.in_tx = False
        self.emit("tracestop", ip=self.ip)
