# SPDX-License-Identifier: GPL-2.0-only
"""What must be noticed: rules that are read wrong, records that are changed."""

from doubts import Contradiction
from flow import Flow
from packets import Reader
from records import Record
from segments import Segment


class PushesCallToNext(Flow):
    """a CALL of the next instruction is pushed"""

    def is_pushed(self, insn):
        return True


class KeepsUncompressed(Flow):
    """a RET that has a TIP pops nothing"""

    def pop_uncompressed(self):
        pass


class LeavesByDirect(Flow):
    """a TIP.PGD without address is a direct branch's"""

    def is_outside(self, ip):
        return True


class DefersNothing(Flow):
    """no TIP is deferred"""

    def deferred(self, packet, insn):
        raise Contradiction(packet, "outcomes are left")


class BindsPtw(Flow):
    """the FUP of a PTW is an event's"""

    def claimed(self, packet):
        if self.claims[0][0] == "PTW":
            self.emit_claims(packet.ip)
            self.take_fup(packet)
        else:
            super().claimed(packet)


class KeepsWidth(Flow):
    """addresses do not wrap"""

    def fit(self, ip, width=None):
        return ip


class KeepsStack(Flow):
    """CALLs before an overflow are remembered"""

    def take_ovf(self, packet):
        stack = self.stack
        super().take_ovf(packet)
        self.stack = stack


class KeepsLastIp(Flow):
    """PSB does not set the last address to 0"""

    class segments(Segment):
        class reader(Reader):
            def __init__(self, trace, at, end):
                super().__init__(trace, at, end)
                self.first = 0x7FFF00000000

            def __next__(self):
                packet = super().__next__()
                if packet.name == "PSB":
                    self.last_ip = self.first
                return packet


class BelievesStray(Flow):
    """a FUP in a PSB+ before a TIP.PGE is believed (erratum BDM70)"""

    class segments(Segment):
        def is_stray(self):
            return False


class ExecutesFault(Flow):
    """the instruction a FUP names has executed"""

    def end_event(self, packet):
        self.insns += 1
        super().end_event(packet)


class AppliesModeAtOnce(Flow):
    """MODE.Exec holds before its TIP"""

    def take_mode_exec(self, packet):
        super().take_mode_exec(packet)
        self.width = packet.width


RULES = [PushesCallToNext, KeepsUncompressed, LeavesByDirect, DefersNothing,
         BindsPtw, KeepsWidth, KeepsStack, KeepsLastIp, BelievesStray,
         ExecutesFault, AppliesModeAtOnce]


def copy(record, **fields):
    changed = Record(record.type, record.kind, record.ip, record.value,
                     record.aux, record.flags)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def change_records(random, records):
    """@records with one branch that goes elsewhere, is of another kind, counts
    other instructions, or is left out; None: there is no branch."""
    places = [i for i, r in enumerate(records) if r.type == "branch"]
    if not places:
        return None
    at = random.choice(places)
    record = records[at]
    other = random.choice((
        [copy(record, value=record.value ^ 1 << random.randrange(48))],
        [copy(record, ip=record.ip ^ 1 << random.randrange(48))],
        [copy(record, kind="iret" if record.kind != "iret" else "cond")],
        [copy(record, aux=record.aux + 1)],
        [],
        [record, record],
    ))
    return records[:at] + other + records[at + 1:]
