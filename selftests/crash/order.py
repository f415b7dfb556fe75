# SPDX-License-Identifier: GPL-2.0-only
"""Compares the order between CPUs that `kipt crash --merged` shows with the clock
of the truth, which has a time for each transfer.

The records between two TIME records of a CPU are a part: it happened between
those two times, less and plus their errors. Where such spans of two CPUs do
not overlap, one part must come before the other, and each of its transfers
must have the earlier time in the truth.
"""
import collections

TIME, BRANCH, GAP, CPU, UNKNOWN = 8, 1, 18, 19, 0xffffffff
# Direct jumps and calls make no packets: no trace says whether they came before or
# after a packet with a time.
DIRECT = 2, 3

# low, high: when it happened, by the TIME records; place: in the file; first, last:
# times in the truth.
Part = collections.namedtuple("Part", "cpu low high place first last")


class Differs(Exception):
    """What is shown is not what happened."""


def by_cpu(records):
    """CPU -> its TIME and BRANCH records after its last gap, each with its place in
    the file. Transfers that are in a gap are in the truth and not in the records, so
    that the two are in step only after it."""
    found, here = {}, None
    for place, record in enumerate(records):
        if record[0] == CPU:
            here = found.setdefault(record[3], [])
        elif record[0] == GAP and here:
            del here[:]
        elif record[0] in (TIME, BRANCH) and here is not None:
            here.append((place, record))
    return found


def gap_counts(records):
    """CPU -> how many GAP records it has."""
    counts, here = collections.Counter(), None
    for record in records:
        if record[0] == CPU:
            here = record[3]
        elif record[0] == GAP:
            counts[here] += 1
    return counts


def timed(cpu, records, its_truth, end):
    """(place, record, time in the truth or None), the oldest first. The last
    branch is the last transfer of the truth before its entry @end."""
    found, transfers = [], its_truth.transfers_back(end)
    for place, record in reversed(records):
        if record[0] == TIME:
            found.append((place, record, None))
            continue
        number, entry = next(transfers, (None, None))
        if entry is None or (entry.source, entry.target) != record[4:6]:
            raise Differs("CPU %d: 0x%x -> 0x%x is shown where the truth has %s" %
                          (cpu, record[4], record[5], entry))
        found.append((place, record, its_truth.time(number, end)))
    return found[::-1]


def span(begin, end):
    """(low, high) of what is between two TIME records."""
    low = high = None
    if begin and begin[3] != UNKNOWN:
        low = begin[5] - begin[3]
    if end and end[3] != UNKNOWN:
        high = end[5] + end[3]
    return low, high


def parts_of(cpu, items):
    """The parts in which something happened that has a place in time. The test CPU
    looks at its clock after a transfer: the last one of a part is over by then, but
    may have happened after the time that the packet has."""
    found, begin, here = [], None, []
    for place, record, time in items + [(None, None, None)]:
        if time is not None:
            if here or record[1] not in DIRECT:
                here.append((place, time))
            continue
        if here:
            low, high = span(begin, record)
            found.append(Part(cpu, low, high, here[0][0], here[0][1],
                              here[-2][1] if len(here) > 1 else None))
        begin, here = record, []
    return found


def late(parts):
    """Parts of which a transfer happened when it is not said to have."""
    return [part for part in parts
            if part.low is not None and part.first < part.low or
            None not in (part.high, part.last) and part.last > part.high]


def disjoint(parts):
    """(pairs that have an order, those that are in another one in the truth, and
    those that are in another one in the file); of the latter two the first
    ones that were found with each part."""
    begins = sorted((part for part in parts if part.low is not None),
                    key=lambda part: part.low)
    ends = sorted((part for part in parts if part.high is not None),
                  key=lambda part: part.high)
    # Of each CPU: how many parts are over, the latest in truth, and in the file.
    count, latest, furthest = collections.Counter(), {}, {}
    pairs, wrong, misplaced, at = 0, [], [], 0
    for part in begins:
        while at < len(ends) and ends[at].high < part.low:
            over = ends[at]
            at += 1
            count[over.cpu] += 1
            if over.last is not None and (over.cpu not in latest or
                                          over.last > latest[over.cpu].last):
                latest[over.cpu] = over
            if over.cpu not in furthest or over.place > furthest[over.cpu].place:
                furthest[over.cpu] = over
        pairs += sum(count.values()) - count[part.cpu]
        wrong += [(over, part) for cpu, over in latest.items()
                  if cpu != part.cpu and over.last > part.first]
        misplaced += [(over, part) for cpu, over in furthest.items()
                      if cpu != part.cpu and over.place > part.place]
    return pairs, wrong, misplaced


def shifted(parts, cpu, ticks):
    """The same with all times of a CPU moved later."""
    return [part._replace(low=None if part.low is None else part.low + ticks,
                          high=None if part.high is None else part.high + ticks)
            if part.cpu == cpu else part for part in parts]
