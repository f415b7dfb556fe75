# SPDX-License-Identifier: GPL-2.0-only
"""What the instructions are, by objdump.

objdump is asked for many addresses at once. Each gets a slot: its 15 bytes,
then so many NOPs that whatever those bytes are, objdump is back in step at
the next slot. What it said about bytes is kept, at whatever address they are.
"""

import re
import subprocess
import tempfile
from itertools import accumulate

WINDOW = 15
SLOT = 32
# Bytes of code that one objdump is asked about: to start it takes longer than
# what it says of so many.
NEAR = 48
BASE = 0x40000000
MACHINE = {64: ["i386:x86-64", "-M", "intel64"], 32: ["i386"], 16: ["i8086"]}

# Words objdump puts before a mnemonic.
PREFIX_WORDS = re.compile(
    r"^(?:(?:bnd|notrack|rep|repz|repnz|data16|data32|addr16|addr32|lock|cs|ds"
    r"|es|ss|fs|gs|xacquire|xrelease|rex(?:\.[WRXB]*)?)\s+)*")
PREFIX_BYTES = {0x66, 0x67, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65, 0xF0, 0xF2,
                0xF3}
LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+)(?:\t(.*))?$")

# Instructions that need a TIP, by objdump's mnemonic without its size.
NEEDS_TIP = {
    "ljmp": "far", "lcall": "far", "lret": "far", "iret": "iret",
    "uiret": "iret", "eretu": "iret", "erets": "iret", "syscall": "syscall",
    "sysenter": "syscall", "sysret": "sysret", "sysexit": "sysret",
    "vmlaunch": "vmentry", "vmresume": "vmentry", "rsm": "far",
}
SOFTWARE_INTERRUPTS = {"int", "int3", "int1", "icebp"}
WATCHED = {"ptwrite", "xbegin", "xend", "xabort", "wrmsr", "mwait",
           "vmcall", "into", "vmptrld"}


class Insn:
    """An instruction.

    @size: its bytes
    @what: "cond", "jump", "call", "jump-ind", "call-ind", "ret"; "far",
        "iret", "syscall", "sysret", "vmentry", which need a TIP; "int", which
        makes an event; "mov-cr3", "ptwrite"...; "plain"; "bad"
    @step: of direct branches: target less address
    @width: of near branches: bits of the operand size
    """

    def __init__(self, size, what, step=None, width=None):
        self.size = size
        self.what = what
        self.step = step
        self.width = width


def unsized(name):
    """objdump's mnemonic without the letter for the operand size."""
    for stem in (*NEEDS_TIP, *SOFTWARE_INTERRUPTS, "jmp", "call", "ret",
                 "ptwrite"):
        if name == stem or name[:-1] == stem and name[-1] in "wlq":
            return stem
    return name


def prefix_count(mode, data):
    at = 0
    while at < len(data) and (data[at] in PREFIX_BYTES
                              or mode == 64 and data[at] >> 4 == 4):
        at += 1
    return at


def operand_width(mode, data):
    """Of near branches: 64-bit code has no 16-bit ones on Intel CPUs."""
    if mode == 64:
        return 64
    small = 0x66 in data[:prefix_count(mode, data)]
    return {32: (32, 16), 16: (16, 32)}[mode][small]


def is_jmpabs(mode, data):
    return mode == 64 and data[0] == 0xD5 and not data[1] & 0x80 \
        and data[2] == 0xA1


def by_hand(mode, data):
    """What this objdump may not know, or takes for one instruction."""
    at = prefix_count(mode, data)
    if data[at:at + 1] == b"\x9b":
        return Insn(at + 1, "plain")
    if data[at:at + 3] == b"\x0f\x01\xca" and (
            0xF2 in data[:at] or 0xF3 in data[:at]):
        return Insn(at + 3, "iret" if mode == 64 else "bad")
    if is_jmpabs(mode, data):
        return Insn(11, "jump-ind", width=64)
    return None


def classify(mode, data, at, text, window):
    """@text: what objdump said about @data, which stood at @at and is what
    @window begins with."""
    known = by_hand(mode, window.ljust(SLOT, b"\x90"))
    if known:
        return known
    if len(data) > WINDOW:
        return Insn(len(data), "bad")
    words = PREFIX_WORDS.sub("", text).replace(",pn", "").replace(",pt", "")
    name, _, operands = words.partition(" ")
    operands = operands.split("#")[0].split("<")[0].strip()
    if "(bad)" in text or not name or name == ".byte":
        return Insn(len(data), "bad")
    name = unsized(name)
    width = operand_width(mode, data)
    if name in NEEDS_TIP:
        return Insn(len(data), NEEDS_TIP[name], width=width)
    if name in SOFTWARE_INTERRUPTS:
        return Insn(len(data), "int")
    if name == "ret":
        return Insn(len(data), "ret", width=width)
    if name in ("jmp", "call") and operands.startswith("*"):
        what = "jump-ind" if name == "jmp" else "call-ind"
        return Insn(len(data), what, width=width)
    if name in ("jmp", "call") or name[0] == "j" or name.startswith("loop"):
        step = (int(operands, 16) - at) % (1 << 16 if width == 16 else 1 << 32)
        limit = 1 << 15 if width == 16 else 1 << 31
        what = {"jmp": "jump", "call": "call"}.get(name, "cond")
        return Insn(len(data), what, width=width,
                    step=step - 2 * limit if step >= limit else step)
    if name.startswith("mov") and operands.endswith("%cr3"):
        return Insn(len(data), "mov-cr3")
    return Insn(len(data), name if name in WATCHED else "plain")


def lines_of(mode, data):
    """Yields address, bytes and text of each line objdump prints."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        run = subprocess.run(
            ["objdump", "-D", "-w", "-z", "-b", "binary", "-m", *MACHINE[mode],
             f"--adjust-vma={BASE:#x}", file.name],
            stdout=subprocess.PIPE, check=True, text=True)
    for line in run.stdout.splitlines():
        match = LINE.match(line)
        if match:
            yield (int(match[1], 16), bytes.fromhex(match[2]),
                   (match[3] or "").strip())


def objdump(mode, data):
    """The same, where each line is an instruction: objdump gives prefixes that
    have no effect lines of their own."""
    begin, prefixes = None, b""
    for at, part, text in lines_of(mode, data):
        if begin is None:
            begin = at
        prefixes += part
        if PREFIX_WORDS.fullmatch(text + " "):
            continue
        yield begin, prefixes, text
        begin, prefixes = None, b""


class Disassembler:
    """What objdump said, by mode and bytes."""

    def __init__(self):
        self.known = {64: {}, 32: {}, 16: {}}

    def learn(self, mode, windows):
        """Ask for each of @windows, WINDOW bytes or less."""
        known = self.known[mode]
        windows = [w for w in dict.fromkeys(windows) if w not in known]
        slots = b"".join(w.ljust(SLOT, b"\x90") for w in windows)
        for at, data, text in objdump(mode, slots):
            slot, offset = divmod(at - BASE, SLOT)
            if not offset:
                window = windows[slot]
                known[window] = classify(mode, data, at, text, window)

    def learn_blocks(self, mode, blocks):
        """Ask for the instructions of @blocks, from their first bytes on."""
        known = self.known[mode]
        padded = [b + b"\x90" * WINDOW for b in blocks]
        begins = dict(zip(accumulate(map(len, padded), initial=BASE), blocks))
        code, begin = b"", BASE
        for at, data, text in objdump(mode, b"".join(padded)):
            if at in begins:
                code, begin = begins[at], at
            window = code[at - begin:at - begin + WINDOW]
            if window and window not in known:
                known[window] = classify(mode, data, at, text, window)

    def get(self, mode, window):
        """The instruction at the start of @window, or None: its end is
        missing."""
        insn = self.known[mode].get(window)
        if not insn:
            self.learn(mode, [window])
            insn = self.known[mode][window]
        return insn if insn.size <= len(window) else None


class Image:
    """Code bytes: pieces, each in all address spaces or in one."""

    def __init__(self, disassembler):
        self.disassembler = disassembler
        self.pieces = []

    def add(self, base, data, space=None):
        self.pieces.append((base, data, space))

    def find(self, space, ip):
        for base, data, owner in self.pieces:
            if base <= ip < base + len(data) and owner in (None, space):
                return data[ip - base:ip - base + WINDOW]
        return b""

    def read(self, space, ip):
        window = self.find(space, ip)
        while len(window) < WINDOW:
            more = self.find(space, ip + len(window))
            if not more:
                break
            window += more[:WINDOW - len(window)]
        return window

    def insn(self, mode, space, ip):
        """The instruction at @ip, or None: there is no code."""
        window = self.read(space, ip)
        if not window:
            return None
        if window not in self.disassembler.known[mode]:
            near = (self.read(space, ip + step) for step in range(NEAR))
            self.disassembler.learn(mode, filter(None, near))
        return self.disassembler.get(mode, window)
