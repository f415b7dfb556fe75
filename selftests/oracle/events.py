# SPDX-License-Identifier: GPL-2.0-only
"""What FUP, OVF, PIP and MODE do to the flow."""

from doubts import Contradiction, Known, NoCode, Unsaid
from records import ENABLE, EXEC, TSX
from walk import is_canonical

class Events:
    """Interrupts and faults, overflows, and what changes beside the flow."""

    def take_fup(self, packet):
        if self.has_data():
            raise Contradiction(packet, "an EVD without its CFE")
        if not self.on and not self.claims:
            self.fup_while_off(packet)
            return
        if packet.ip is None and not self.on:
            raise Unsaid(packet, "a FUP without address while tracing is off")
        if packet.ip is None:
            raise Contradiction(packet, "a FUP without address")
        if self.claims:
            self.claimed(packet)
            return
        if self.power or self.enables:
            raise Unsaid(packet, "a FUP, and what waits is not for one")
        if self.overflow and self.on:
            self.overflow = False
            if self.ip == packet.ip:
                return
        if self.event:
            raise Contradiction(packet, "two FUPs in an event")
        if self.bits:
            raise Contradiction(packet, "outcomes are left")
        if self.abort:
            self.to_abort(packet)
        else:
            self.walk_to(packet, packet.ip)
        self.event = "abort" if self.abort else "event"
        self.abort = False
        self.emit_data(self.ip)
        self.flush_events(self.ip)

    def fup_while_off(self, packet):
        """The overflow's, or it is nobody's and says nothing."""
        if self.overflow:
            self.resume(packet)
        elif self.at_event or self.power or self.event_data:
            raise Unsaid(packet, "an event while tracing is off")

    def to_abort(self, packet):
        """Erratum BDM64: the outcome of the branch before may be wrong."""
        guess = self.just_branched
        try:
            self.walk_to(packet, packet.ip)
        except NoCode:
            raise Unsaid(packet, "no code before an abort") from None
        except Unsaid:
            raise
        except Contradiction:
            if not guess:
                raise Known(packet, "an abort not after a branch") from None
            self.ip = packet.ip

    def claimed(self, packet):
        if self.event or self.at_event:
            raise Unsaid(packet, "a claim inside an event")
        if self.on:
            self.walk_to(packet, packet.ip)
        name = self.claims[0][0]
        self.emit_claims(packet.ip)
        if self.on and name == "PTW":
            self.pass_ptwrite(packet)

    def pass_ptwrite(self, packet):
        """It has executed, or there were no packet."""
        insn = self.code()
        if insn and insn.what == "ptwrite":
            self.pass_by(packet, insn)

    def take_ovf(self, packet):
        """All that is pending is dropped, but CR3 is what the PIP says."""
        pips, mode = self.pips, self.mode
        segment = self.segment
        self.no_mode |= not self.mode_seen and \
            (segment.cut or not segment.on)
        self.forget()
        self.emit("gap", "overflow", ip=self.ip, value=packet.at)
        self.on = False
        self.ip = None
        self.overflow = True
        for pip in pips:
            self.context(pip, None)
        if mode:
            self.set_mode(mode)

    def resume(self, packet):
        if packet.ip is None:
            raise Unsaid(packet, "no address after an overflow")
        if packet.name != "FUP" and not is_canonical(packet.ip):
            raise Contradiction(packet, "no address")
        if packet.name == "FUP" and self.is_stray_fup(packet):
            self.overflow = False
            return
        self.overflow = False
        self.on = True
        self.ip = packet.ip
        self.insns = 0
        self.apply_pending()
        self.emit("enable", ENABLE["overflow"], ip=self.ip)

    def is_stray_fup(self, packet):
        """Erratum APL12: tracing is off though a FUP is there."""
        for i in range(self.index + 1, len(self.segment.packets)):
            name = self.segment.packets[i].name
            if name in ("TNT", "TIP", "TIP.PGD"):
                return False
            if name in ("TIP.PGE", "TraceStop"):
                return True
            if name == "OVF":
                return False
        if not self.next_segment:
            raise Unsaid(packet, "the trace ends after a FUP")
        return not self.next_segment.on

    def context(self, packet, ip):
        self.space = self.config.space_of(packet.cr3)
        self.non_root = packet.non_root
        self.no_root = False
        self.emit("context", ip=ip, value=packet.cr3,
                  flags={"nr"} if packet.non_root else ())

    def set_mode(self, packet):
        self.width = packet.width
        self.no_mode, self.mode_seen = False, True
        self.emit("mode", EXEC[packet.width], ip=self.ip,
                  flags={"if"} if packet.interrupts else ())

    def take_pip(self, packet):
        if not self.on:
            self.context(packet, None)
            return
        if self.pips and self.event:
            self.context(self.pips.popleft(), self.ip)
        elif self.pips:
            self.bind_pip(packet)
        self.pips.append(packet)

    def bind_pip(self, packet):
        """The PIP that waits belongs to an instruction before @packet's."""
        before = self.snapshot()
        try:
            self.walk(packet, lambda insn: not self.pips)
        except Unsaid:
            raise
        except Contradiction:
            self.restore(before)
        if self.pips:
            self.context(self.pips.popleft(), self.ip)

    def take_mode_exec(self, packet):
        index = self.following(self.index)
        after = self.segment.packets[index].name if index else None
        if after == "FUP" and not self.event:
            if self.overflow or self.doubt:
                raise Unsaid(packet, "whose is the FUP after an overflow?")
            self.claimed_width = packet.width
            self.claim(packet, lambda ip: self.set_mode(packet))
        elif self.on:
            self.mode = packet
        else:
            self.set_mode(packet)

    def take_mode_tsx(self, packet):
        if not self.on:
            self.in_tx = bool(packet.begins)
            kind = "begin" if packet.begins else \
                "abort" if packet.aborts else "commit"
            self.emit("tsx", TSX[kind], ip=None)
            return
        self.nothing_open(packet)
        if packet.aborts:
            self.abort = True
            return

        def emit_at(ip):
            self.in_tx = bool(packet.begins)
            self.emit("tsx", TSX["begin" if packet.begins else "commit"],
                      ip=ip)
        self.claim(packet, emit_at)
