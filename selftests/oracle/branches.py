# SPDX-License-Identifier: GPL-2.0-only
"""What TNT, TIP, TIP.PGE and TIP.PGD do to the flow."""

from collections import deque

from doubts import Contradiction, Known, Unsaid
from records import DISABLE, ENABLE, TSX
from segments import FLOW, TIMING
from walk import DIRECT, FAR, NEED_TIP, is_canonical


class Branches:
    """The outcome and the target of branches."""

    def take_tnt(self, packet):
        if not self.on and self.overflow:
            raise Contradiction(packet, "outcomes after an overflow")
        if not self.on:
            raise Contradiction(packet, "outcomes while tracing is off")
        self.nothing_open(packet)
        self.bits = deque(packet.bits)
        while self.bits:
            insn = self.walk(packet, lambda insn: insn.what in NEED_TIP
                             or insn.what in ("cond", "int"))
            if insn.what == "int":
                raise Known(packet, "INT n without its FUP")
            if insn.what == "cond":
                self.outcome(insn)
            elif insn.what == "ret":
                self.compressed(packet, insn)
            else:
                self.deferred(packet, insn)

    def outcome(self, insn):
        self.just_branched = True
        self.insns += 1
        if self.bits.popleft():
            self.branch("cond", self.direct_target(insn))
        else:
            self.ip = self.after(insn)

    def compressed(self, packet, insn):
        if not self.bits.popleft():
            raise Contradiction(packet, "a RET that was not taken")
        if not self.stack:
            raise Contradiction(packet, "a RET without CALL")
        target = self.stack.pop()
        if self.width != 16 or abs(target - self.ip) > 0xFFFF:
            target = self.near(target, insn)
        self.insns += 1
        self.just_branched = True
        self.branch("ret", target, flags={"compressed"})

    def deferred(self, packet, insn):
        """The TIP of an instruction whose TNT has younger outcomes."""
        for i in range(self.index + 1, len(self.segment.packets)):
            tip = self.segment.packets[i]
            if i not in self.taken and tip.name in FLOW:
                break
            if tip.name not in TIMING | FLOW:
                raise Unsaid(tip, "what is between a TNT and its TIP")
        else:
            if self.next_segment or self.segment.bad:
                raise Contradiction(packet, "a TIP is missing")
            raise Unsaid(packet, "the trace ends before a TIP")
        if tip.name != "TIP":
            raise Contradiction(tip, "a TIP is missing")
        self.taken.add(i)
        self.to_tip(tip, insn)

    def to_tip(self, packet, insn):
        """@insn, which is next, goes where @packet says."""
        if packet.ip is None:
            raise Contradiction(packet, "a TIP without address")
        if not is_canonical(packet.ip):
            raise Contradiction(packet, "no address")
        if insn.what == "call-ind":
            self.push(insn)
        if insn.what == "ret":
            self.pop_uncompressed()
        self.insns += 1
        self.just_branched = True
        self.branch(insn.what, packet.ip)
        self.apply_pending(far=insn.what in FAR)

    def pop_uncompressed(self):
        if self.stack:
            self.stack.pop()

    def apply_pending(self, far=True):
        """What waits for the address of a TIP."""
        while self.pips:
            self.context(self.pips.popleft(), self.ip)
        if self.mode:
            self.set_mode(self.mode)
            self.mode = None

    def take_tip(self, packet):
        if self.overflow and not self.on:
            self.resume(packet)
            return
        if not self.on and (packet.ip is None or not is_canonical(packet.ip)):
            raise Known(packet, "a TIP without address while tracing is off")
        if not self.on:
            raise Contradiction(packet, "a TIP while tracing is off")
        if self.event:
            self.end_event(packet)
            return
        self.nothing_open(packet)
        insn = self.walk(packet, lambda insn: insn.what in NEED_TIP
                         or insn.what == "int")
        if insn.what == "int":
            raise Known(packet, "INT n without its FUP")
        self.to_tip(packet, insn)

    def close_event(self):
        aborts, self.event = self.event == "abort", None
        if aborts:
            self.emit("tsx", TSX["abort"], ip=self.ip)
        return aborts

    def end_event(self, packet):
        if packet.ip is None or not is_canonical(packet.ip):
            raise Contradiction(packet, "no address")
        exits = self.non_root and self.pips and not self.pips[-1].non_root
        aborts = self.close_event()
        self.branch("tsx-abort" if aborts else "vmexit" if exits else "event", packet.ip)
        self.in_tx &= not aborts
        self.apply_pending()

    def take_tip_pge(self, packet):
        if packet.ip is None or not is_canonical(packet.ip):
            raise Contradiction(packet, "no address")
        if self.on and self.ip == packet.ip:
            raise Known(packet, "TIP.PGE where the flow is")
        if self.on:
            raise Contradiction(packet, "tracing is on already")
        self.overflow = False
        self.on = True
        self.ip = packet.ip
        self.insns = 0
        self.stack.clear()
        self.apply_pending()
        self.flush_events(None)
        self.emit("enable", ENABLE["pge"], ip=self.ip)
        self.abort = False

    def take_tip_pgd(self, packet):
        if self.overflow and not self.on:
            self.overflow = False
            return
        if not self.on:
            raise Contradiction(packet, "tracing is off already")
        if packet.ip is not None and not is_canonical(packet.ip):
            raise Contradiction(packet, "no address")
        if self.event:
            self.leave_async(packet)
        else:
            self.nothing_open(packet)
            self.leave(packet)
        self.on = False
        self.ip = None
        self.stack.clear()
        self.ptws.clear()
        self.apply_pending()

    def leave_async(self, packet):
        aborts = self.close_event()
        insn = self.code()
        if insn and insn.what == "vmentry" and not aborts:
            self.insns += 1
            kind = "branch"
        else:
            kind = "async"
        self.emit("disable", DISABLE[kind], ip=self.ip, value=packet.ip,
                  aux=self.counted())
        self.in_tx &= not aborts

    def leave(self, packet):
        insn = self.walk(packet, lambda insn: self.leaves(packet, insn))
        if insn.what == "int":
            raise Known(packet, "INT n without its FUP")
        if insn.what == "cond" and packet.ip not in (
                None, self.direct_target(insn), self.after(insn)):
            raise Contradiction(packet, "a Jcc that goes elsewhere")
        self.insns += 1
        self.emit("disable", DISABLE["branch"], ip=self.ip, value=packet.ip,
                  aux=self.counted())

    def leaves(self, packet, insn):
        """Is @insn, at self.ip, the one that made the TIP.PGD?"""
        if insn.what in ("cond", "int") or insn.what in NEED_TIP:
            return True
        if insn.what in DIRECT:
            target = self.direct_target(insn)
            if packet.ip is not None:
                return target == packet.ip
            return self.is_outside(target)
        if insn.what == "mov-cr3":
            if packet.ip is not None:
                return self.after(insn) == packet.ip
            return not self.pips
        return False

    def is_outside(self, ip):
        """Erratum SKL014 can be seen only where the ranges are known."""
        def within(ranges):
            return any(begin <= ip <= last for begin, last in ranges)
        return within(self.config.stops) or \
            bool(self.config.filters) and not within(self.config.filters)
