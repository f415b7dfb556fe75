# SPDX-License-Identifier: GPL-2.0-only
"""Compares the calls that a dying machine printed with the truth.

The lines that end in "{" are the calls that had not returned; the functions
they are in must be those of the truth, the innermost ones one for one. The last
line is the place of the fault or the call; of a CPU that did not die it is where
the NMI met it. Branches of user code are those before the last system call.
"""
import bisect
import re

import truth

PREFIX = re.compile(r"^\[ *[\d.]+\](?: *\[ *\w+\])? kipt: (.*)$")
BEGIN = re.compile(r"^CPU (\d+), (?:calls before the |the last calls)")
NMI = re.compile(r"^CPU \d+, calls before the NMI ")
TIME = re.compile(r"^ *(-?\d+\.\d)? +(\S.*)$")
OPEN = re.compile(r"([\w.]+)(?: \[\w+\])?\(\) \{")
USER = re.compile(r"^0x([0-9a-f]+) -> (?:0x([0-9a-f]+)|[\w.]+\(\))(?:  x (\d+))?$")
# A gap in the calls: the kernel's text is another one now than when that ran, or may be.
PATCHED = "--- gap: code that was patched"
# The line before the calls of what the machine had survived.
BEFORE = re.compile(r"^\d+ ms before this, .* on CPU (\d+) \(snapshot \d+\):$")
# Printed instead of the calls of the thread that found a task that hangs.
HANGS = "the task that hangs waits"
USER_NMI = "user code: NMI"
# The line that says how to read the others.
LEGEND = '"f() {" did not return'
# A line has no more bytes; a call that jumps on is cut in its last name.
WIDTH, CUT = 93, re.compile(r"-> ([\w.]+)$")
PLACE = re.compile(r"^([\w.]+?)(?:\+0x([0-9a-f]+)/0x[0-9a-f]+)?(?: \[\w+\])?"
                   r"(?:: (.+)| calls (.+)\(\))$")
# Frames that must agree, unless there are fewer: what was open before the CPU
# came to this task is not known to the truth.
FRAMES = 6
# Transfers of the truth that are looked through for open calls.
BACK = 400000
# The same for a CPU that spins: its call may be older than what was decoded.
NEAR = 1000


class Anything(frozenset):
    """A set with all names in it."""

    def __contains__(self, name):
        return True


ANY = Anything(["entry"])


class Names:
    """Functions by address."""

    def __init__(self, kallsyms):
        self.names = {}
        with open(kallsyms) as file:
            for line in file:
                part = line.split()
                if part[1] in "tTwW":
                    self.names.setdefault(int(part[0], 16), set()).add(part[2])
        self.starts = sorted(self.names)
        where = {name: address for address, names in self.names.items()
                 for name in names}
        self.entry = where["__entry_text_start"], where["__entry_text_end"]

    def of(self, address):
        """(the names of a function, offset in it)"""
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0:
            return {"0x%x" % address}, 0
        # Labels in the code of one entry.
        if self.entry[0] <= address < self.entry[1]:
            return ANY, 0
        return self.names[self.starts[at]], address - self.starts[at]


def lines_of(console):
    """The module's lines, without what the log puts before them."""
    return [match.group(1) for match in map(PREFIX.match, console) if match]


def texts_of(console):
    """The text of each CPU by its number, without what the log puts before its
    lines; the CPU that died is the one whose last line says "then". Of several
    excerpts it is the last: the machine may have survived what came before."""
    found, text, over = {}, [], False
    for line in lines_of(console):
        if BEGIN.match(line):
            if over:
                found, over = {}, False
            text = found[int(BEGIN.match(line).group(1))] = [line]
        elif line.startswith(("CPUs ", "crash header ", HANGS)):
            text = []
        elif line.startswith("there is more in a dump"):
            text, over = [], True
        elif text:
            text.append(line)
            if line.startswith("then "):
                text, over = [], True
    return found


def before_of(console):
    """(CPU, text) of what happened shortly before the machine died, or None."""
    cpu, text = None, []
    for line in lines_of(console):
        if BEFORE.match(line):
            cpu, text = int(BEFORE.match(line).group(1)), []
        elif cpu is not None:
            if text and (BEGIN.match(line) or line.startswith(HANGS)):
                break
            text.append(line)
    return (cpu, text) if text else None


def is_user(address):
    return not address >> 63


def open_calls(its_truth, first, fault, back=BACK):
    """Addresses of the calls that had not returned, the outermost first."""
    sources = []
    for number in range(max(first, fault - back), fault):
        entry = its_truth.entry(number)
        if is_user(entry.source) and entry.kind < truth.FIRST_MARK:
            sources = []
        elif entry.kind in (truth.CALL, truth.CALL_IND, truth.EXCEPTION,
                          truth.INTERRUPT):
            sources.append(entry.source)
        elif entry.kind in (truth.RET, truth.IRET):
            del sources[-1:]
        elif entry.kind in (truth.ENABLE, truth.DISABLE, truth.SYSCALL):
            sources = []
    return sources


def user_branches(its_truth, first, end, most):
    """(from, to) of the last transfers of user code, the oldest first; what they
    led to in the kernel is None."""
    found = []
    for number in range(end - 1, max(first, end - BACK), -1):
        entry = its_truth.entry(number)
        if entry.kind < truth.FIRST_MARK and is_user(entry.source):
            found.append((entry.source, entry.target if is_user(entry.target) else None))
            if len(found) == most:
                break
    return found[::-1]


def printed_user_branches(lines):
    """The same, of a text that was printed."""
    found = []
    for line in lines:
        match = USER.match(line.strip())
        if match:
            source, target, times = match.groups()
            found += [(int(source, 16), int(target, 16) if target else None)] * int(times or 1)
    return found


def fits(call, frame):
    """Of a name that was cut off, the begin."""
    return call in frame or call.endswith("*") and \
        any(name.startswith(call[:-1]) for name in frame)


def without_repeats(items):
    """A recursion is one line."""
    return [item for item, before in zip(items, [None] + items) if item != before]


def what_is_wrong(lines, event, sources, names):
    """None, or a sentence."""
    if not lines:
        return "there is none"
    if int(BEGIN.match(lines[0]).group(1)) != event["cpu"]:
        return "it is of another CPU"
    times, calls, place, cut = [], [], None, False
    for line in lines[1:]:
        match = TIME.match(line)
        if not match:
            continue
        time, text = match.groups()
        if LEGEND in text:
            continue
        if time:
            times.append(float(time))
        if text == USER_NMI:
            place = text
        elif text.startswith("---"):
            # Another stack, or a gap: what was open before is open no more.
            calls, cut = [], True
        elif PLACE.match(text):
            place = PLACE.match(text)
        elif OPEN.search(text):
            calls.append(OPEN.search(text).group(1))
        elif len(line) >= WIDTH and CUT.search(text):
            calls.append(CUT.search(text).group(1) + "*")
    if times != sorted(times):
        return "times fall"
    if not place:
        return "it does not end at the fault or the call"
    if is_user(event["ip"]) and NMI.match(lines[0]):
        return None if place == USER_NMI and not calls else \
            "the NMI came in user code"
    if place == USER_NMI:
        return "the NMI came in the kernel"
    wanted, offset = names.of(event["ip"])
    # Labels of entries have no offsets that are known.
    if place.group(1) not in wanted or \
            wanted is not ANY and int(place.group(2) or "0", 16) != offset:
        return "it ends at %s+0x%s, not at %s+0x%x" % (
            place.group(1), place.group(2), sorted(wanted)[0], offset)
    if bool(place.group(3)) != bool(event["faulted"]):
        return "a fault is printed as a call, or a call as a fault"
    if not calls and not sources:
        return None
    frames = [names.of(source)[0] for source in sources]
    if place.group(2):
        frames.append(wanted)
    elif calls and frames and calls[-1] not in frames[-1]:
        # A jump led to where no function is; whose frame it is, it left.
        calls = calls[:-1]
    frames = without_repeats(frames)
    calls = without_repeats(calls)
    # What was cut off may be all.
    count = min(len(frames), max(len(calls), not cut), FRAMES)
    if not count:
        return None
    if len(calls) < count or any(not fits(call, frame) for call, frame in
                                 zip(calls[-count:], frames[-count:])):
        return "the calls are %s, and in truth %s" % (
            " ".join(calls[-count:]),
            " ".join(sorted(frame)[0] for frame in frames[-count:]))
    return None


def unnoticed(lines, event, sources, names):
    """Of the two lines that say where it died, those that could be lost unseen: of a
    recursion any may be, it is one frame, and of a stack that was left, too."""
    shown, cut = [], False
    for number, line in enumerate(lines):
        match = TIME.match(line)
        if match and match.group(2).startswith("---"):
            # What was open before is not compared, and how much was cut off is not known.
            shown, cut = [], True
        elif match and LEGEND not in line and (OPEN.search(line) or PLACE.match(match.group(2))):
            call = OPEN.search(line)
            shown.append((number, call.group(1) if call else None))
    if cut and len(shown) > 1:
        del shown[0]
    if "+0x" not in lines[shown[-1][0]] or names.of(event["ip"])[0] is ANY:
        # It ends where no function is, or in an entry: the call before is not compared.
        del shown[-2:-1]
    # A page of ftrace's has no name, and what is around it is not compared.
    several = not any((call or "").startswith("0x") for _, call in shown)
    last = [number for at, (number, call) in enumerate(shown)
            if call not in (shown[at - 1][1] if at else "",
                            shown[at + 1][1] if at + 1 < len(shown) else "")]
    return [lines[number] for number in last[-1 - several:]
            if not what_is_wrong(lines[:number] + lines[number + 1:], event,
                                 sources, names)]
