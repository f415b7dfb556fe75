# SPDX-License-Identifier: GPL-2.0-only
"""What readers of the files share that the tool writes for other programs. It knows nothing of
their formats."""
import json


class Wrong(Exception):
    """The file is not what it should be."""


def need(good, text, *values):
    if not good:
        raise Wrong(text % values)


def called(total):
    """What a function of --totals --json is called in the files."""
    if "symbol" in total:
        return "%s [%s]" % (total["symbol"], total.get("object", "unknown"))
    if "offset" in total:
        return "%s [%s]" % (total["offset"], total["object"])
    return total.get("ip", "[%s]" % total.get("object", "unknown"))


def totals(lines, *members):
    """Of the lines of --totals --json: sums of members by name, and how fast the TSC is."""
    found, khz = {}, 0
    for total in map(json.loads, lines):
        if total["type"] == "total":
            need("calls" in total, "a function without calls: %s", total)
            sums = found.setdefault(called(total), [0] * len(members))
            for i, member in enumerate(members):
                sums[i] += total.get(member, 0)
            khz = total.get("tsc_khz", 0)
    return found, khz
