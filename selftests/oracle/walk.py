# SPDX-License-Identifier: GPL-2.0-only
"""Following the code, from instruction to instruction."""

from collections import deque

from doubts import Contradiction, NoCode, Unsaid
from records import Record

NEED_TIP = {"jump-ind", "call-ind", "ret", "far", "iret", "syscall", "sysret",
            "vmentry"}
FAR = {"far", "iret", "syscall", "sysret", "vmentry"}
DIRECT = {"jump", "call"}


def is_canonical(ip):
    return ip >> 56 in (0, 0xFF) or ip >> 56 == 0x00 or \
        -(ip >> 56 & 1) & 0x7F == ip >> 57


class Walk:
    """Where the CPU is, what it has executed, and the records of that."""

    def emit(self, type, kind=0, **fields):
        flags = set(fields.pop("flags", ()))
        if self.in_tx:
            flags.add("in-tsx")
        self.out.append(Record(type, kind, flags=flags, **fields))

    def counted(self):
        count, self.insns = self.insns, 0
        return count

    def fit(self, ip, width=None):
        return ip & (1 << (width or self.width)) - 1

    def near(self, ip, insn):
        """Where a near branch goes: in 16-bit code the base of the segment,
        taken for a multiple of 64 KiB, stays in the address."""
        width = min(insn.width, self.width)
        base = self.ip & ~0xFFFF if self.width == 16 else 0
        return base | self.fit(ip, width)

    def code(self):
        """The instruction here; None: there is none, or an overflow hid in
        what mode, which is 64-bit above 4 GiB, or in whose kernel."""
        if self.ip >> 32:
            self.no_mode = False
        if self.no_mode or self.no_root and self.ip >> 63:
            return None
        return self.image.insn(self.width, self.space, self.ip)

    def insn(self, packet):
        if self.ip >> max(self.width, 32):
            raise Unsaid(packet, "an address wider than the mode")
        insn = self.code()
        if not insn:
            raise NoCode(packet, f"no code at {self.ip:x}")
        if insn.what == "bad":
            raise Unsaid(packet, f"no instruction at {self.ip:x}")
        return insn

    def after(self, insn):
        return self.fit(self.ip + insn.size, max(self.width, 32))

    def branch(self, kind, to, flags=()):
        self.emit("branch", kind, ip=self.ip, value=to, aux=self.counted(),
                  flags=flags)
        self.ip = to

    def direct_target(self, insn):
        return self.near(self.ip + insn.step, insn)

    def is_pushed(self, insn):
        return insn.step != insn.size

    def push(self, insn):
        self.stack.append(self.after(insn))

    def pass_by(self, packet, insn):
        """Execute what needs no packet. Returns False if @insn does."""
        self.just_branched = False
        if insn.what in DIRECT:
            target = self.direct_target(insn)
            if insn.what == "call" and self.is_pushed(insn):
                self.push(insn)
            self.insns += 1
            self.branch(insn.what, target)
            return True
        if insn.what in NEED_TIP or insn.what in ("cond", "int"):
            return False
        self.insns += 1
        at, self.ip = self.ip, self.after(insn)
        if insn.what == "mov-cr3" and self.pips:
            self.context(self.pips.popleft(), self.ip)
        if insn.what == "ptwrite":
            if self.ptws:
                packet = self.ptws.pop(0)
                self.emit("ptwrite", ip=at, value=packet.value,
                          aux=packet.width)
        return True

    def walk(self, packet, wanted):
        """To the first instruction that is @wanted; it is not executed."""
        seen = set()
        while True:
            insn = self.insn(packet)
            if wanted(insn):
                return insn
            if (self.ip, len(self.pips)) in seen:
                raise Contradiction(packet, "an endless loop")
            seen.add((self.ip, len(self.pips)))
            if not self.pass_by(packet, insn):
                raise Contradiction(
                    packet, f"{insn.what} at {self.ip:x} is in the way")

    def walk_to(self, packet, ip):
        """To an address, if nothing on the way needs a packet. If the way
        leads there, the branches on it have records."""
        before = self.snapshot()
        try:
            seen = set()
            while self.ip != ip:
                if (self.ip, len(self.pips)) in seen:
                    raise Contradiction(packet, "an endless loop")
                seen.add((self.ip, len(self.pips)))
                insn = self.insn(packet)
                if not self.pass_by(packet, insn):
                    if packet.name == "FUP" and not self.abort and (
                            self.after(insn) == ip) and (
                            insn.what == "int" or
                            insn.what in NEED_TIP - {"ret"}):
                        return
                    raise Contradiction(packet, f"{ip:x} is not reached")
        except Contradiction:
            self.restore(before)
            raise

    def snapshot(self):
        return (len(self.out), self.ip, self.insns, deque(self.stack, 64),
                deque(self.pips), list(self.ptws), self.space)

    def restore(self, before):
        (count, self.ip, self.insns, self.stack, self.pips, self.ptws,
         self.space) = before
        del self.out[count:]
