# SPDX-License-Identifier: GPL-2.0-only
"""Compares the decoder's records with the oracle's, segment by segment."""

# Not about the flow, or not from the trace.
NOT_COMPARED = {"time", "code"}

# What is at once, and bound to no instruction: its address says little.
NO_IP = {"cbr", "vmcs", "tracestop", "mode"}

# What restates a state.
STATUS = {"vmcs", "context", "mode", "tsx"}

# Records that have no address where the FUP they wait for is missing.
SIDE = {"power", "event", "event-data", "ptwrite", "trig", "block"}


def is_start(record):
    return record.type == "sync" and record.kind == 1


def key(record):
    if record.type == "lost":
        return ("lost",)
    flags = record.flags
    if record.type != "branch":
        flags = flags - {"in-tsx"}
    ip = None if record.type in NO_IP else record.ip
    if record.type == "gap" and record.kind in ("truncated", "decode"):
        return ("gap", "", str(record.value))
    return (record.type, str(record.kind), str(ip), str(record.value),
            record.aux, tuple(sorted(flags)))


class Part:
    """The records of one segment: @start is its SYNC record."""

    def __init__(self, start=None):
        self.start = start
        self.cbr = self.mode = None
        self.aside = []
        self.records = []

    def add(self, record):
        """Leaves out what only repeats a state. What is bound to no
        instruction goes aside, to be compared by itself."""
        if record.type == "cbr":
            if record.aux not in (0, self.cbr):
                self.aside.append(record)
            self.cbr = record.aux or self.cbr
            return
        if record.type in ("power", "event", "event-data") and \
                record.ip is None:
            self.aside.append(record)
            return
        if record.type == "mode":
            if key(record) == self.mode:
                return
            self.mode = key(record)
        self.records.append(record)

    def sort(self, count):
        """The status right after the PSB has no order."""
        head = sorted(self.records[:count], key=lambda r: str(key(r)))
        self.records[:count] = head


def parts(records):
    """By offset of the PSB; None: what is before the first."""
    part = Part()
    found = {None: part}
    for record in records:
        if is_start(record):
            part = found[record.value] = Part(record)
        elif record.type not in NOT_COMPARED:
            part.add(record)
    return found


def part_differs(decoded, oracle):
    """None, or the indices where @decoded and @oracle differ."""
    i = 0
    for j, record in enumerate(oracle.records):
        if record.type == "lost":
            return after_lost_differs(decoded, oracle, i, j)
        if i == len(decoded.records) or key(decoded.records[i]) != key(record):
            return way_differs(decoded, oracle, i, j)
        i += 1
    if i < len(decoded.records):
        return i, len(oracle.records)
    if sorted(map(key, decoded.aside)) != sorted(map(key, oracle.aside)):
        return -1, -1
    return None


def passes(record):
    """Records that may be there or not on the way to a contradiction: direct
    branches, what a broken PSB+ says, and what waits for a FUP in vain."""
    return record.type in STATUS or \
        record.type in SIDE and record.ip is None or \
        record.type == "branch" and record.kind in ("jump", "call")


def skip(records, i):
    while i < len(records) and passes(records[i]):
        i += 1
    return i


def way_differs(decoded, oracle, i, j):
    """They differ, but perhaps only in the way to a contradiction."""
    k = skip(oracle.records, j)
    if k < len(oracle.records) and oracle.records[k].type == "lost" and \
            not after_lost_differs(decoded, oracle, i, k):
        return None
    return i, j


def after_lost_differs(decoded, oracle, i, j):
    """The decoder must see a contradiction, too. Its records after that must
    be those of an oracle that starts at the same address."""
    lost = oracle.records[j]
    gap = skip(decoded.records, i)
    if gap == len(decoded.records):
        return None if lost.unsaid else (i, j)
    if decoded.records[gap].type != "gap" and not lost.unsaid:
        return i, j
    if lost.unsaid:
        while gap < len(decoded.records) and decoded.records[gap].type != "gap":
            gap += 1
    for at in range(gap, len(decoded.records)):
        if decoded.records[at].type == "enable" and \
                decoded.records[at - 1].type in ("gap", *STATUS) and \
                not is_possible(decoded.records[at],
                                decoded.records[at + 1:], lost):
            return at, j
    return None


def is_possible(enable, records, lost):
    """Is there a packet after @lost from which the oracle makes @records?"""
    piece = []
    for record in records:
        if record.type == "gap":
            break
        if record.type in ("branch", "disable", "enable", "sync"):
            piece.append(flow_key(record))
    return any(is_prefix(piece, run) for run in lost.runs(enable.ip))


def flow_key(record):
    known = key(record)
    return (*known[:-1], *(set(known[-1]) - {"in-tsx"}))


def is_prefix(piece, run):
    at = 0
    for record in run:
        if at == len(piece):
            return True
        if record.type == "lost":
            return record.unsaid or \
                all(p[0] == "branch" and p[1] in ("jump", "call")
                    for p in piece[at:])
        if record.type in ("branch", "disable", "enable", "sync"):
            if flow_key(record) != piece[at]:
                return False
            at += 1
    return at == len(piece)


def start_differs(decoded, oracle):
    """A broken PSB+ may say nothing of where execution is."""
    if decoded.start and oracle.records and \
            oracle.records[0].type in ("lost", "gap"):
        return False
    return not decoded.start or key(decoded.start) != key(oracle.start)


def difference(decoded, oracle):
    """None, or both parts and the indices where they differ."""
    decoded, oracle = parts(decoded), parts(oracle)
    for at, part in oracle.items():
        mine = decoded.pop(at, Part())
        if at is None:
            continue
        if start_differs(mine, part):
            return mine, part, 0, 0
        part.sort(part.start.status)
        mine.sort(part.start.status)
        differs = part_differs(mine, part)
        if differs:
            return mine, part, *differs
    for part in decoded.values():
        return part, Part(), 0, 0
    return None
