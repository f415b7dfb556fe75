# SPDX-License-Identifier: GPL-2.0-only
"""The end of what the test CPU says one CPU executed, tools/testcpu/truth.h."""
import collections
import mmap
import struct

ENTRY = struct.Struct("<BBHIQQ")
HEADER_BYTES = 24
CALL, CALL_IND, RET, SYSCALL, IRET, INTERRUPT, EXCEPTION = 3, 5, 6, 7, 9, 11, 12
FIRST_MARK = ENABLE = 32
DISABLE, MARK_ON, MARK_OFF = 33, 34, 35

# Of a time: what an entry has of it.
CLOCK_MASK = (1 << 48) - 1

Entry = collections.namedtuple("Entry", "kind source target")


class Truth:
    """The entries of one file, by number."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.count = (len(self.map) - HEADER_BYTES) // ENTRY.size
        self.found = {}

    def entry(self, number):
        kind, _, _, _, source, target = ENTRY.unpack_from(
            self.map, HEADER_BYTES + number * ENTRY.size)
        return Entry(kind, source, target)

    def marks(self, wanted):
        """Numbers of all marks of a kind; no other entry begins so. The file may
        have gigabytes: it is searched once."""
        if wanted not in self.found:
            self.found[wanted] = list(self.search(struct.pack("<BBH", wanted, 0, 0)))
        return self.found[wanted]

    def search(self, pattern):
        at = self.map.find(pattern, HEADER_BYTES)
        while at >= 0:
            if (at - HEADER_BYTES) % ENTRY.size == 0:
                yield (at - HEADER_BYTES) // ENTRY.size
            at = self.map.find(pattern, at + 1)

    def armed(self):
        """When the first run began."""
        return self.entry(self.marks(MARK_ON)[0]).source

    def run_that_stopped(self, tsc):
        """(number from 1, first entry, entry of its end) of the run whose end
        lies closest to a time."""
        ends = self.ends_near(tsc, 1)
        if not ends:
            return None
        end = ends[0]
        before = [n for n in self.marks(MARK_ON) if n < end]
        return len(before), before[-1], end

    def ends_near(self, tsc, count):
        """Entries of the @count ends of runs closest to a time, the closest first."""
        return sorted(self.marks(MARK_OFF), key=lambda n: abs(self.entry(n).source - tsc))[:count]

    def write_end(self, path, end, most):
        """Writes a file with the entries up to the end of a run, @most at most, of
        that run and those before; the start of a run comes first."""
        begin = max(self.marks(MARK_ON)[0], end - most)
        on = [n for n in self.marks(MARK_ON) if n <= begin][-1]
        with open(path, "wb") as file:
            file.write(self.map[:HEADER_BYTES])
            for one, last in ((on, on + 1), (max(begin, on + 1), end + 1)):
                file.write(self.map[HEADER_BYTES + one * ENTRY.size:
                                    HEADER_BYTES + last * ENTRY.size])

    def last_from(self, address, first, end):
        """Number of the last transfer of [first, end) from an address."""
        for number in range(end - 1, first, -1):
            entry = self.entry(number)
            if entry.source == address and entry.kind < FIRST_MARK:
                return number
        return None

    def branch_before(self, number):
        """The last transfer before an entry, marks left out."""
        while number > 0:
            number -= 1
            entry = self.entry(number)
            if entry.kind < FIRST_MARK:
                return entry
        return None

    def transfers_back(self, number):
        """(number, entry) of the transfers before an entry, the last first."""
        while number > 0:
            number -= 1
            entry = self.entry(number)
            if entry.kind < FIRST_MARK:
                yield number, entry

    def time(self, number, end):
        """When a transfer happened; @end is the end of a run after it."""
        _, _, high, low, _, _ = ENTRY.unpack_from(
            self.map, HEADER_BYTES + number * ENTRY.size)
        ended = self.entry(end).source
        return ended - (ended - (high << 32 | low) & CLOCK_MASK)

    def targets(self, first, end):
        """Where the transfers in [first, end) went."""
        for number in range(first, end):
            entry = self.entry(number)
            if entry.kind < FIRST_MARK:
                yield entry.target
