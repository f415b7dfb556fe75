# SPDX-License-Identifier: GPL-2.0-only
"""Records, as uapi/linux/kipt_record.h defines them, and their text form."""

# Kinds that the text form has as numbers.
ENABLE = {"pge": 1, "sync": 2, "overflow": 3, "resume": 4}
SYNC = {"start": 1, "reached": 2}
DISABLE = {"branch": 1, "async": 2}
EXEC = {64: 1, 32: 2, 16: 3}
TSX = {"begin": 1, "commit": 2, "abort": 3}
POWER = {"mwait": 1, "pwre": 2, "exstop": 3, "pwrx": 4}


class Record:
    """One thing that happened. @ip and @value are None where it is not known;
    @flags: nr, hw, if, in-tsx, compressed; @status: of SYNC records of the
    oracle: how many of the records after it are about the state."""

    def __init__(self, type, kind=0, ip=None, value=0, aux=0, flags=()):
        self.type = type
        self.kind = kind
        self.ip = ip
        self.value = value
        self.aux = aux
        self.flags = frozenset(flags)
        self.status = 0

    def __repr__(self):
        def text(value):
            return "none" if value is None else f"{value:x}"
        return " ".join([self.type, str(self.kind), "ip=" + text(self.ip),
                         "value=" + text(self.value), f"aux={self.aux}",
                         *sorted(self.flags)])


def parse(line):
    """A line of the text form."""
    type, kind, ip, value, aux, *flags = line.split()
    return Record(type, int(kind) if kind.isdigit() else kind,
                  None if "no-ip" in flags else int(ip[3:], 16),
                  None if "no-value" in flags else int(value[6:], 16),
                  int(aux[4:]), set(flags) - {"no-ip", "no-value"})
