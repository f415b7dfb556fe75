# SPDX-License-Identifier: GPL-2.0-only
"""Records beside the flow: PTWRITE, power, Event Trace, PEBS, triggers."""

from doubts import Contradiction, Unsaid
from records import POWER
from segments import FLOW, TIMING

WITH_POWER = FLOW | {"MWAIT", "PWRE", "EXSTOP", "PWRX", None}

# CFE types that have no FUP of their own but take that of the event.
CFE_OF_EVENT = {1, 3, 6, 8, 9, 12, 14}

# CFE types without an address, of events that end in a TIP.PGE.
CFE_OF_ENABLE = {4, 5}

# CFE types there are.
CFE_KNOWN = set(range(1, 11)) | set(range(12, 16))
INTR, VM_EXITS, PAGE_FAULT = 1, {8, 9}, 14

# EVD types.
PAGE_FAULT_ADDRESS, VM_EXIT_DATA = 0, {1, 2}
EVD_KNOWN = {0, 1, 2}


class Side:
    """Packets that claim a FUP, and those that belong together."""

    def claim(self, packet, emit_at):
        """The next FUP is @packet's; @emit_at makes its record, for an address."""
        self.claims.append((packet.name, emit_at))

    def lose(self, packet):
        """What waits for another packet than @packet, which is next, has no
        address. @packet: None at the end."""
        name = packet.name if packet else None
        if packet and any(n != name and name not in FLOW or
                          n in ("MODE.Exec", "MODE.TSX", "EXSTOP")
                          for n, _ in self.claims):
            raise Unsaid(packet, "a FUP is missing")
        if self.has_data() and packet and name not in ("CFE", "EVD"):
            raise Contradiction(packet, "an EVD without its CFE")
        if self.power and name not in WITH_POWER:
            raise Unsaid(packet, "what belongs together is apart")
        self.emit_claims(None)
        if not packet or name in FLOW or name == "PWRX":
            self.emit_power(self.power_ip if name == "PWRX" else None)
        if not packet:
            self.flush_events(None)
        if name not in ("CFE", "EVD"):
            self.emit_data(None)

    def emit_data(self, ip):
        data, self.event_data = self.event_data, []
        for evd in data:
            self.emit("event-data", evd.type, ip=ip, value=evd.value)

    def emit_claims(self, ip):
        claims, self.claims = self.claims, []
        for _, emit_at in claims:
            emit_at(ip)

    def take_ptw(self, packet):
        if packet.with_ip:
            self.claim(packet, lambda ip: self.emit(
                "ptwrite", ip=ip, value=packet.value, aux=packet.width))
        elif self.on:
            self.nothing_open(packet)
            self.to_ptwrite(packet)
        else:
            self.emit("ptwrite", ip=None, value=packet.value,
                      aux=packet.width)

    def to_ptwrite(self, packet):
        before = self.snapshot()
        try:
            insn = self.walk(packet, lambda insn: insn.what == "ptwrite")
            self.ptws.append(packet)
            self.pass_by(packet, insn)
        except Contradiction:
            self.restore(before)
            raise

    def take_mwait(self, packet):
        if self.sleeps:
            raise Unsaid(packet, "MWAIT after EXSTOP")
        self.power.append(lambda ip: self.emit(
            "power", POWER["mwait"], ip=ip, aux=packet.hints,
            value=packet.ext))

    def take_pwre(self, packet):
        def emit_at(ip):
            self.sleeps = True
            self.emit("power", POWER["pwre"], ip=ip, aux=packet.value,
                      flags={"hw"} if packet.hw else ())
        index = self.following(self.index, TIMING | {"PWRE"})
        after = self.segment.packets[index].name if index else "PWRX"
        if self.sleeps and (self.moved or after not in FLOW | {"PWRX"}):
            raise Unsaid(packet, "PWRE in no sleep")
        if self.sleeps:
            emit_at(self.power_ip)
        else:
            self.power.append(emit_at)

    def take_exstop(self, packet):
        def emit_at(ip):
            self.power_ip = ip
            self.moved = False
            self.emit_power(ip)
            self.emit("power", POWER["exstop"], ip=ip)
        if packet.with_ip:
            self.claim(packet, emit_at)
        else:
            emit_at(None)

    def emit_power(self, ip):
        waiting, self.power = self.power, []
        for emit_at in waiting:
            emit_at(ip)

    def take_pwrx(self, packet):
        self.sleeps = False
        self.emit("power", POWER["pwrx"], ip=self.power_ip, aux=packet.value,
                  value=packet.wake)
        self.power_ip = None

    def take_cfe(self, packet):
        self.data_goes_with(packet)
        data, self.event_data = self.event_data, []

        def emit_at(ip):
            self.event_data = data
            self.emit_data(ip)
            self.emit("event", packet.type, ip=ip, aux=packet.vector)
        if packet.with_ip:
            self.claim(packet, emit_at)
            return
        self.flush_events(None)
        if packet.type in CFE_OF_EVENT | CFE_OF_ENABLE:
            self.at_event.append(emit_at)
            self.enables |= packet.type in CFE_OF_ENABLE
        else:
            emit_at(None)

    def has_data(self):
        """What is reserved is not judged."""
        return any(evd.type in EVD_KNOWN for evd in self.event_data)

    def data_goes_with(self, event):
        """Intel SDM Vol. 3C, "Event Trace": which data an event has."""
        if event.type not in CFE_KNOWN:
            return
        kinds = [evd.type for evd in self.event_data if evd.type in EVD_KNOWN]
        for kind in kinds:
            if kind == PAGE_FAULT_ADDRESS and \
                    (event.type, event.vector) != (INTR, PAGE_FAULT) or \
                    kind in VM_EXIT_DATA and event.type not in VM_EXITS:
                raise Contradiction(event, "data of another event")
        if len(set(kinds)) != len(kinds):
            raise Contradiction(event, "the same data twice")

    def flush_events(self, ip):
        waiting, self.at_event = self.at_event, []
        self.enables = False
        for emit_at in waiting:
            emit_at(ip)

    def take_evd(self, packet):
        """It goes with the CFE that follows."""
        self.flush_events(None)
        self.event_data.append(packet)

    def take_bbp(self, packet):
        self.block = packet.type

    def take_bip(self, packet):
        self.emit("block", self.block, ip=None, aux=packet.id,
                  value=packet.value)

    def take_bep(self, packet):
        if packet.with_ip:
            self.claim(packet, lambda ip: self.emit("block", 0, ip=ip))
        else:
            self.emit("block", 0, ip=None)

    def take_trig(self, packet):
        def emit_at(ip):
            self.emit("trig", ip=ip, aux=packet.triggers,
                      value=packet.count,
                      flags={"mult"} if packet.multiple else ())
        if packet.with_ip:
            self.claim(packet, emit_at)
        else:
            emit_at(None)
