#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes the dump of a machine that died with kipt armed: FILE, an ELF core or
with --kdump makedumpfile's format; and beside it, for comparison, what went
into it: FILE-cpuN.pt, the traces in order, FILE-slotS-cpuN.pt those of snapshot S,
FILE-code.addr and .dump, the pages
of code by virtual address.

The machine has this in its physical memory:

0x010000  the header, 0x011000 + N * 0x1000 the page of CPU N
0x030000  pages with regions
0x050000  page tables, of the kernel at 0x50000
0x080000  VMCOREINFO, 0x090000 kallsyms, 0x098000 the log, 0x0a0000 struct module
0x0a4000  the anchor; with --logs pages of kind LOGS, logs, and processes
0x200000  code of the kernel, of a module, of a process
0x100000  with --slots snapshots, 0x101000 + N * 0x1000 the list's part of CPU N,
          0x110000 + S * 0x40000 + N * 0x8000 what CPU N copied for number S
0x400000  + N * 0x400000 the buffer of CPU N, its blocks backwards

make_dump.py FILE [OPTION]...
"""
import argparse
import random
import struct
import zlib

PAGE = 4096
TEXT = 0xffffffff81000000
MODULE = 0xffffffffc0000000
DATA = 0xffffffff82000000
USER = 0x401000
# In physical memory.
ANCHOR, TASKS, LOGS, RINGS = 0xa4000, 0xa4800, 0xa5000, 0xac000
SLOTS, SLOT_COUNT, SLOT_BYTES = 0x100000, 4, 128
COPIES, COPY_TRACE = 0x110000, 0x4000
CR3 = 0x50000
USER_CR3 = 0x58000
TSC = 0x123456789a
PSB = b"\x02\x82" * 8

# jnz 5; nop nop nop; 5: jmp *rax; 16: nop nop
CODE = bytes.fromhex("7503909090ffe0") + b"\xcc" * 9 + b"\x90\x90"


class Memory:
    def __init__(self):
        self.pages = {}

    def write(self, at, data):
        while data:
            page, offset = divmod(at, PAGE)
            part = data[:PAGE - offset]
            self.pages.setdefault(page, bytearray(PAGE))[offset:offset + len(part)] = part
            at += len(part)
            data = data[len(part):]

    def put(self, at, data):
        """Like write(), for whole pages."""
        for i in range(0, len(data), PAGE):
            self.pages[(at + i) // PAGE] = bytearray(
                data[i:i + PAGE].ljust(PAGE, b"\0"))

    def flip(self, at, bit):
        self.pages[at // PAGE][at % PAGE] ^= 1 << bit


class Tables:
    """Page tables with four levels."""
    def __init__(self, memory):
        self.memory = memory
        self.free = 0x60000
        self.made = {}

    def table(self, top, indices):
        key = (top, *indices)
        if not indices:
            return top
        if key not in self.made:
            self.made[key] = self.free
            self.free += PAGE
            self.memory.write(self.table(top, indices[:-1]) +
                              8 * indices[-1],
                              struct.pack("<Q", self.made[key] | 7))
        return self.made[key]

    def add(self, top, virtual, physical, large=False):
        indices = [virtual >> shift & 511 for shift in (39, 30, 21, 12)]
        if large:
            indices.pop()
        entry = physical | (0x87 if large else 7)
        self.memory.write(self.table(top, indices[:-1]) + 8 * indices[-1],
                          struct.pack("<Q", entry))


def ip(opcode, address):
    return bytes([opcode | 0xc0]) + struct.pack("<Q", address)


def segment(rand, address, on, time, cr3):
    out = PSB + b"\x19" + struct.pack("<Q", time)[:7]
    out += b"\x02\x43" + struct.pack("<Q", cr3 >> 5 << 1)[:6]
    out += b"\x99\x01" + (ip(0x1d, address) if on else b"") + b"\x02\x23"
    out += b"" if on else ip(0x11, address)
    jump = b"\x2d" + struct.pack("<H", address & 0xffff)
    taken = b"\x04" + jump, b"\x06" + jump
    bits, steps = rand.getrandbits, []
    for _ in range(rand.randrange(100) + 1):
        # As rand.choice(taken), in a third of the time: tests know what these numbers make.
        while (choice := bits(2)) > 1:
            pass
        steps.append(taken[choice])
    return out + b"".join(steps) + b"\x01"


KERNEL_PLACES = TEXT + 0x1000, MODULE + 0x2000


def trace(size, cpu, places=(*KERNEL_PLACES, USER)):
    """Code of the kernel, of the module and of the process in turn."""
    rand = random.Random(7 + cpu)
    out = bytearray()
    time = TSC
    while len(out) < size:
        time += rand.randrange(1, 100000)
        out += segment(rand, rand.choice(places), False, time, USER_CR3)
    return bytes(out)


def crc_set(page, size, cpu_stop=None):
    data = bytearray(page)
    data[24:28] = bytes(4)
    if cpu_stop:
        data[cpu_stop[0]:cpu_stop[1]] = bytes(cpu_stop[1] - cpu_stop[0])
    page[24:28] = struct.pack("<I", zlib.crc32(data[:size]))


def page_head(args, kind, size, number, next_page=0, more=0, magic=b"kipt crash page"):
    return struct.pack("<16sHHIIIQQQ", magic, args.version, kind, size, 0, number,
                       args.id, next_page, more)


def sealed(data):
    return struct.pack("<I", zlib.crc32(data)) + data


def layout(args):
    return struct.pack("<QIIIIIIIIIIIIQQ", DATA + 0x20000, 8, 24, 96, 104, 112,
                       0, 8, 16, 0, 16, 20, 0,
                       0 if args.no_vmcoreinfo else 0x80000,
                       0xffff888000000000)


def virtual(address):
    """Of the kernel's data."""
    return DATA + address - 0x80000


def event_of(hook, asked, faulted, tsc, ip, trap):
    return struct.pack("<IIIIIQQII", hook, 1, asked, asked, faulted, tsc, ip, trap, 0)


def header(args):
    page = bytearray(page_head(args, 1, 0, 0, args.base + 0x1000))
    slots = (virtual(SLOTS), SLOT_COUNT, SLOT_BYTES) if args.slots else (0, 0, 0)
    page += struct.pack("<II72s24sQQII16s", args.cpus, 2000000, b"6.12.0-test",
                        b"test", args.anchor, *slots, b"")
    page += layout(args)
    size = len(page)
    page[20:24] = struct.pack("<I", size)
    crc_set(page, size)
    event = event_of(2, args.cpus - 1, 1, args.event, TEXT + 0x1005, 14)
    return page + (bytes(len(event) + 4) if args.no_event else sealed(event))


def stop(cpu, state, head, tail, tsc):
    if state == 1:
        head = tail = 0
    return sealed(struct.pack("<IQQQQQQQQQQII16s", state, head, tail, 0, 0, 0,
                              0, tsc + 1000 * cpu, CR3, TEXT + 0x1000, 0,
                              100 + cpu, 100 + cpu, b"task %d" % cpu))


def cpu_body(args, cpu, blocks, here):
    return struct.pack("<IIQIIIIIIIIQQ64sII", cpu, 1, 0x2000 | 1 << 10 | 5 | args.ctl.get(cpu, 0),
                       0, 0, 0, 0, 1, 80, 25000000, 20, args.size, TSC, COOKIE, blocks, here)


COOKIE = bytes(range(100, 164))


def regions(args, cpu):
    """Blocks, the last of which is the first in memory."""
    count = args.size // args.block
    base = 0x400000 * (cpu + 1)
    return [(base + (count - 1 - i) * args.block, args.block)
            for i in range(count)]


def logs_page(args, memory, cpu):
    """Switches between two threads and a kernel thread, and one patch."""
    at = LOGS + 0x2000 * cpu
    virtual = DATA + at - 0x80000
    # Half of them in a page, half in the next.
    ring = RINGS + 0x2000 * cpu + PAGE - 16 * 32
    switches = [(TSC - 1 + i * 100000, 0 if i % 3 == 2 else USER_CR3, 7,
                 100 + i % 3, 102 if i % 3 == 2 else 100) for i in range(40)]
    nr, written = 32, len(switches)
    for i, switch in enumerate(switches[-nr:], written - nr):
        memory.write(ring + i % nr * 32, struct.pack("<QQQII", *switch))
    patch = struct.pack("<QQQQI16s4x", args.event + 10**6, TEXT + 0x1005, 0, 0,
                        2 | 1 << 31, CODE[5:7])
    memory.write(at + 0x200 + 5 % 4 * 56, patch)
    numbers = {
        "one": (written, 6, 0, 5, 0, 1, 2, 3),
        # After all that are in the log, some that nobody saw.
        "missed": (written, 6, 0, 6, 7, 1, 2, 3),
        "unseen": (written, 6, 0, 6, 0, 1, 3, 3),
        # There is none, and none was missed.
        "none": (written, 6, 0, 6, 0, 1, 2, 3),
        "damaged": (written, 5, 6, 5, 0, 1, 2, 3),
    }[args.patches]
    memory.write(at + 0x300, struct.pack("<8Q", *numbers))
    number = [virtual + 0x300 + 8 * i for i in range(8)]
    page = bytearray(page_head(args, 7, 0, cpu))
    page += struct.pack("<QQQIIQQIIQQQQQQQII", ~0x1fff & (1 << 52) - 1,
                        DATA + ring - 0x80000, number[0], nr, 32,
                        virtual + 0x200, number[1], 4, 56, *number[2:5],
                        *number[5:8], DATA + TASKS - 0x80000, 32, 0)
    page += bytes(4 * 24)
    page[20:24] = struct.pack("<I", len(page))
    crc_set(page, len(page))
    memory.put(at + 0x1000, page)
    return at + 0x1000


def tasks_add(memory):
    """A list of processes: its head, and two more, as layout() has them."""
    for i, (pid, name) in enumerate(((0, b"swapper"), (100, b"worker\xff"),
                                     (102, b"kthread"))):
        at = TASKS + 0x100 * i
        memory.write(at, name.ljust(16, b"\0"))
        memory.write(at + 16, struct.pack("<II", pid, pid))
        memory.write(at + 32, struct.pack("<Q", DATA + TASKS - 0x80000 +
                                          0x100 * ((i + 1) % 3) + 32))


def cpu_page(args, memory, cpu, head, tail):
    blocks = regions(args, cpu)
    here = min(len(blocks), 216)
    rest, link, number = blocks[here:], 0, 0
    if args.logs:
        link = logs_page(args, memory, cpu)
    links = []
    while rest:
        links.append((0x30000 + 0x8000 * cpu + PAGE * number, rest[:252]))
        rest, number = rest[252:], number + 1
    for number in reversed(range(len(links))):
        at, part = links[number]
        size = 64 + 16 * len(part)
        page = bytearray(page_head(args, 3, size, number, 0, link))
        page += struct.pack("<II", len(part), 0)
        page += b"".join(struct.pack("<QQ", *r) for r in part)
        crc_set(page, size)
        memory.put(at, page)
        link = at
    last = cpu == args.cpus - 1
    page = bytearray(page_head(args, 2, 0, cpu, 0 if last else
                               args.base + 0x2000 + PAGE * cpu, link))
    page += cpu_body(args, cpu, len(blocks), here)
    begin = len(page)
    page += stop(cpu, args.states.get(cpu, 2), head, tail, args.event)
    end = len(page)
    page += b"".join(struct.pack("<QQ", *r) for r in blocks[:here])
    page[20:24] = struct.pack("<I", len(page))
    crc_set(page, len(page), (begin, end))
    return page


def ring(args, data):
    """What a ring holds that data was written to, with head and tail."""
    if len(data) <= args.size - 64:
        return (data.ljust(args.size - 64, b"\0") + COOKIE, len(data), 0)
    buffer = bytearray(args.size)
    at = len(data) % args.size
    buffer[:at] = data[len(data) - at:]
    buffer[at:] = data[len(data) - args.size:len(data) - at]
    return bytes(buffer), args.size + at, at


def cpu_add(args, memory, cpu, file):
    data = trace(args.bytes, cpu)
    buffer, head, tail = ring(args, data)
    memory.put(args.base + 0x1000 + PAGE * cpu,
               cpu_page(args, memory, cpu, head, tail))
    at = 0
    for address, size in regions(args, cpu):
        memory.put(address, buffer[at:at + size])
        at += size
    if file:
        with open(f"{file}-cpu{cpu}.pt", "wb") as out:
            out.write(data[-args.size:])


def copy_add(args, memory, slot, cpu, file):
    """What a CPU copied: nothing is sealed, and no address is set."""
    magic = b"kipt crash snap"
    at = COPIES + 0x40000 * slot + 0x8000 * cpu
    data = trace(10000 * slot, 10 * slot + cpu, KERNEL_PLACES)
    head, tail = len(data), 0
    if len(data) > COPY_TRACE:
        data, head, tail = data[-COPY_TRACE:], 2 * COPY_TRACE, COPY_TRACE
    memory.put(at, page_head(args, 2, 1000, cpu, magic=magic) +
               cpu_body(args, cpu, 4, 4) +
               bytes(4) + stop(cpu, 2, head, tail, TSC + 10**8 * slot)[4:])
    memory.put(at + PAGE, data)
    logs = at + PAGE + COPY_TRACE
    page = page_head(args, 7, 0, cpu, magic=magic)
    page += struct.pack("<QQQIIQQIIQQQQQQQII96s", ~0x1fff & (1 << 52) - 1, 0, 0, 16,
                        32, *[0] * 11, 32, 0, b"")
    # How many were written follows the page's struct.
    memory.put(logs, page + struct.pack("<Q", 2))
    for i, tid in enumerate((100, 102)):
        memory.write(logs + PAGE + 32 * i, struct.pack(
            "<QQQII", TSC + i * 10**6, USER_CR3, 7, tid, tid))
    with open(f"{file}-slot{slot}-cpu{cpu}.pt", "wb") as out:
        out.write(data)
    return virtual(at)


def area_add(memory, at, following, data, cpu, slot, trace_bytes=COPY_TRACE):
    size = 3 * PAGE + COPY_TRACE
    memory.write(at, struct.pack("<QQQQII", following and virtual(following), data,
                                 size, trace_bytes, cpu, slot))


def slots_add(args, memory, file):
    """Four slots: snapshot 2 of CPU 1, 1 of both, none, and 5, which was half written.
    In the list of 1 there is one of a CPU whose session is gone."""
    kind, listed = args.slots, SLOTS + PAGE
    own = [listed, listed + PAGE, listed + 0x100]
    for cpu in (0, 1):
        data = copy_add(args, memory, 1, cpu, file)
        following = {"loop": own[0], "others": own[2]}.get(kind, 0) if cpu else own[1]
        area_add(memory, own[cpu], following, data, cpu, 1,
                 2**63 if kind == "size" and cpu else COPY_TRACE)
    # Of another number: it leads nowhere, or to itself.
    area_add(memory, own[2], own[2] if kind == "others" else own[0], 8, 0, 7)
    area_add(memory, listed + 0x200, listed + 0x280, 16, 0, 0)
    area_add(memory, listed + 0x280, 0, copy_add(args, memory, 2, 1, file), 1, 2)
    for place, number, missed, tsc, first in (
            (0, 2, 3, 2 * 10**8, listed + 0x200),
            (1, 1, 0, 10**8, own[0] if kind == "others" else own[2]),
            (3, 5, 1, 3 * 10**8, listed + 0x200)):
        memory.write(SLOTS + SLOT_BYTES * place, struct.pack(
            "<IIQ", number, missed, 17 * 10**17 - 10**9 * (6 - number)) +
            bytes(4) + event_of(6, 1, 0, TSC + tsc, TEXT + 0x1000, 0xffffffff) +
            struct.pack("<Q", virtual(first)))


def code_add(memory, file):
    tables = Tables(memory)
    tables.add(CR3, TEXT, 0x200000, True)
    tables.add(CR3, MODULE + 0x2000, 0x222000)
    for i in range(0, 0x180000, PAGE):
        tables.add(CR3, DATA + i, 0x80000 + i)
    tables.add(CR3, MODULE + 0x4000, ANCHOR)
    tables.add(CR3, MODULE + 0x6000, NOTE)
    tables.add(USER_CR3, USER, 0x233000)
    # The kernel's half is the same in all tables.
    kernel = memory.pages[CR3 // PAGE][2048:]
    memory.write(USER_CR3 + 2048, kernel)
    with open(f"{file}-code.addr", "wb") as addresses, \
            open(f"{file}-code.dump", "wb") as pages:
        for virtual, physical in ((TEXT + 0x1000, 0x201000),
                                  (MODULE + 0x2000, 0x222000),
                                  (USER, 0x233000)):
            memory.put(physical, CODE)
            addresses.write(struct.pack("<Q", virtual))
            pages.write(CODE.ljust(PAGE, b"\0"))


def kallsyms_add(args, memory):
    """Each character is a token. The second symbol has a long name."""
    symbols = [("T", "_stext", TEXT), ("t", "looping", TEXT + 0x1000),
               ("T", "l" + "o" * 150 + "ng", TEXT + 0x1005),
               ("D", "some_data", DATA)]
    base = DATA + 0x10000
    names = b""
    for kind, name, _ in symbols:
        text = (kind + name).encode()
        size = len(text)
        names += (bytes([size]) if size < 128 else
                  bytes([size & 127 | 128, size >> 7])) + text
    table = b"".join((bytes([i]) if 32 < i < 127 else b"") + b"\0"
                     for i in range(256))
    index, at = b"", 0
    for i in range(256):
        index += struct.pack("<H", at)
        at += 2 if 32 < i < 127 else 1
    offsets = base + 0x3000
    if args.kallsyms == "own":
        values = [a - (offsets + 4 * i) for i, (_, _, a) in enumerate(symbols)]
    elif args.kallsyms == "negative":
        values = [-1 - (a - TEXT) for _, _, a in symbols]
        symbols.insert(0, ("A", "percpu", 0))
        values.insert(0, 0x40)
        names = b"\x07Apercpu" + names
    else:
        values = [a - TEXT for _, _, a in symbols]
    memory.write(0x90000, struct.pack("<I", len(symbols)))
    memory.write(0x90008, struct.pack("<Q", TEXT))
    memory.write(0x91000, names)
    memory.write(0x92000, table)
    memory.write(0x92800, index)
    memory.write(0x93000, b"".join(struct.pack("<i", v) for v in values))
    info = f"""OSRELEASE=6.12.0-test
SYMBOL(_stext)={TEXT:x}
SYMBOL(init_top_pgt)={0xffffffff80000000 + CR3:x}
NUMBER(phys_base)=0
NUMBER(pgtable_l5_enabled)=0
CRASHTIME=1700000000
SYMBOL(kallsyms_num_syms)={base:x}
SYMBOL(kallsyms_names)={base + 0x1000:x}
SYMBOL(kallsyms_token_table)={base + 0x2000:x}
SYMBOL(kallsyms_token_index)={base + 0x2800:x}
SYMBOL(kallsyms_offsets)={offsets:x}
"""
    if args.kallsyms != "own":
        info += f"SYMBOL(kallsyms_relative_base)={base + 8:x}\n"
    if args.log:
        info += LOG_INFO
    info += "".join(line + "\n" for line in args.info)
    note = struct.pack("<III12s", 11, len(info), 0, b"VMCOREINFO")
    if not args.no_vmcoreinfo:
        memory.write(0x80000, note + info.encode())


# Where the kernel's log has what, as 6.12 says it.
LOG_INFO = f"""SYMBOL(prb)={DATA + 0x18000:x}
OFFSET(printk_ringbuffer.desc_ring)=0
OFFSET(printk_ringbuffer.text_data_ring)=48
OFFSET(prb_desc_ring.count_bits)=0
OFFSET(prb_desc_ring.descs)=8
SIZE(prb_desc)=24
OFFSET(prb_desc.text_blk_lpos)=8
OFFSET(prb_data_blk_lpos.begin)=0
OFFSET(prb_data_ring.size_bits)=0
OFFSET(prb_data_ring.data)=8
"""


def log_add(args, memory):
    """A log of 16 records; one that would cross the end is put at the begin."""
    memory.write(0x98000, struct.pack("<Q", DATA + 0x18100))
    memory.write(0x98100, struct.pack("<QQ", 4, DATA + 0x18200))
    memory.write(0x98100 + 48, struct.pack("<QQ", 12, DATA + 0x19000))
    at = 0x2f80
    for i in range(16):
        text = args.log[i].encode() if i < len(args.log) else b""
        size = (len(text) + 15) // 8 * 8
        place = at % PAGE if at % PAGE + size <= PAGE else 0
        end = at + size if place else -(-at // PAGE) * PAGE + size
        position = (at, end) if text else (1, 1)
        memory.write(0x98200 + 24 * i, struct.pack("<QQQ", i, *position))
        if text:
            memory.write(0x99000 + place, struct.pack("<Q", i) + text)
            at = end


NOTE = 0x224000


def module_add(args, memory):
    """Two modules and the head of their list, offsets as layout() has them."""
    for at, following, name in ((0xa0000, 0xa0400, b"first"),
                                (0xa0400, 0xa0800, b"second")):
        memory.write(at + 8, struct.pack("<Q", DATA + following - 0x80000 + 8))
        memory.write(at + 24, name)
        memory.write(at + 96, struct.pack("<QIIQ", MODULE + 0x2000, 0x1000, 0,
                                          DATA + 0x21000))
    if args.module_id:
        memory.write(0xa0000 + 128, struct.pack("<QI", MODULE + 0x6000, PAGE))
        memory.put(NOTE, b"\1" * 2988 + b"".join(
            struct.pack("<III4s", 4, len(bytes.fromhex(i)), 3, b"GNU") + bytes.fromhex(i)
            for i in args.module_id))
    memory.write(0xa0800 + 8, struct.pack("<Q", DATA + 0x20008))
    memory.write(0xa0800 + 24, b"\x01 no name")
    memory.write(0xa1000, struct.pack("<QQQ", DATA + 0x21100, 3,
                                      DATA + 0x21200))
    memory.write(0xa1100, b"".join(
        struct.pack("<IBBHQQ", *s) for s in (
            (1, 2, 0, 1, MODULE + 0x2000, 5), (14, 1, 0, 1, MODULE + 0x2000, 0),
            (21, 0x12, 0, 1, MODULE + 0x9000, 5))))
    memory.write(0xa1200, b"\0of_a_module.1\0object\0gone\0")


def runs(memory):
    """Pages in a row."""
    begin = last = None
    for page in sorted(memory.pages):
        if begin is None:
            begin = page
        elif page != last + 1:
            yield begin, last + 1
            begin = page
        last = page
    yield begin, last + 1


def vmcoreinfo(memory):
    page = bytes(memory.pages[0x80])
    return page[:24 + (struct.unpack_from("<I", page, 4)[0] + 3) // 4 * 4]


def elf(memory, note, empty):
    """@empty segments in front; from 65535 on their number is in a section."""
    parts = list(runs(memory))
    count = len(parts) + bool(note) + empty
    offset = PAGE * (1 + (128 + 56 * count) // PAGE)
    table = 128 if empty else 64
    out = struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 4, 62,
                      1, 0, table, 64 if empty else 0, 0, 64, 56,
                      min(count, 0xffff), 64, 0, 0)
    if empty:
        out += struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, count, 0, 0)
    out += bytes(56 * empty)
    at = offset
    if note:
        offset += PAGE
        out += struct.pack("<IIQQQQQQ", 4, 0, at, 0, 0, len(note), 0, 4)
        note = note.ljust(PAGE, b"\0")
        at += PAGE
    for begin, end in parts:
        size = (end - begin) * PAGE
        out += struct.pack("<IIQQQQQQ", 1, 7, at, 0, begin * PAGE, size, size,
                           0)
        at += size
    out = out.ljust(offset - len(note), b"\0") + note
    return out + b"".join(bytes(memory.pages[page])
                          for page in sorted(memory.pages))


def kdump(memory, damaged):
    """Blocks: header, sub-header, two bitmaps, descriptors, zlib's data."""
    pages = sorted(memory.pages)
    top = (pages[-1] + 32) // 32 * 32
    bitmap = bytearray((top // 8 + PAGE - 1) // PAGE * PAGE)
    for page in pages:
        bitmap[page // 8] |= 1 << page % 8
    uts = b"".join(word.ljust(65, b"\0") for word in
                   (b"Linux", b"", b"6.12.0-test", b"", b"x86_64", b""))
    head = struct.pack("<8si390s6xqqIiiIIIIIIi", b"KDUMP   ", 6, uts, 0, 0, 1,
                       PAGE, 1, 2 * len(bitmap) // PAGE, top, 0, 0, 0, 0, 1)
    sub = struct.pack("<QiiQQQQQQQQQQQ", 0, 31, 0, *[0] * 8, 0, 0, top)
    out = head.ljust(PAGE, b"\0") + sub.ljust(PAGE, b"\0") + bitmap + bitmap
    at = len(out) + 24 * len(pages)
    table = data = b""
    for page in pages:
        packed = zlib.compress(bytes(memory.pages[page]), 1)
        if page in damaged:
            packed = b"\xff" * len(packed)
        table += struct.pack("<qIIQ", at + len(data), len(packed), 1, 0)
        data += packed
    return out + table + data


def states_of(text):
    return {int(pair.split(":")[0]): int(pair.split(":")[1])
            for pair in text.split(",") if pair}


def pages_of(text):
    address, size = (int(part) for part in text.split(":"))
    return range(address // PAGE, (address + size) // PAGE)


def options():
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add("file")
    add("--cpus", type=int, default=2)
    add("--bytes", type=int, default=20000, help="of trace of each CPU")
    add("--size", type=int, default=0x10000, help="of each ring")
    add("--block", type=int, default=0x4000, help="its blocks have")
    add("--version", type=int, default=1)
    add("--states", type=states_of, default={}, help="CPU:STATE,...")
    add("--ctl", type=states_of, default={}, help="CPU:MORE BITS OF IA32_RTIT_CTL,...")
    add("--no-event", action="store_true")
    add("--no-vmcoreinfo", action="store_true")
    add("--kallsyms", default="own", help="own, negative or base")
    add("--info", action="append", default=[], help="a line more of VMCOREINFO")
    add("--module-id", action="append", default=[], help="a build id of the first module")
    add("--patches", default="one", help="that the log has: one, none, missed, unseen,"
        " damaged")
    add("--logs", action="store_true", help="of switches and patches; the"
        " code of the kernel was patched after the trace")
    add("--slots", help="snapshots: whole, loop (a list goes round), others (it does"
        " among those of another number), size (one has no sense)")
    add("--note", action="store_true", help="VMCOREINFO is in the ELF file, too")
    add("--log", action="append", default=[], help="text of a record of its log")
    add("--empty", type=int, default=0, help="segments without memory")
    add("--forged", action="store_true", help="a second header, of a program")
    add("--older", action="store_true", help="a second header, of before")
    add("--kdump", action="store_true")
    add("--damage", type=pages_of, default=range(0), help="ADDRESS:BYTES of what"
        " --kdump packs")
    add("--flip", action="append", default=[], help="ADDRESS:BIT")
    add("--drop", action="append", default=[], help="ADDRESS:BYTES")
    return parser.parse_args()


def machine_add(args, memory, file):
    memory.put(args.base, header(args))
    for cpu in range(args.cpus):
        cpu_add(args, memory, cpu, file)


def main():
    args = options()
    memory = Memory()
    if args.older or args.forged:
        args.base, args.id = 0x20000, 1
        args.event = TSC + (10**10 if args.forged else 10000)
        args.anchor = MODULE
        machine_add(args, memory, None)
    args.base, args.id, args.event = 0x10000, 0x1122334455667788, TSC + 10**9
    args.anchor = MODULE + 0x4000 if args.forged else 0
    machine_add(args, memory, args.file)
    code_add(memory, args.file)
    memory.write(ANCHOR, struct.pack("<QQ", args.id, args.base))
    if args.logs:
        tasks_add(memory)
        memory.write(0x201005, b"\xcc\xcc")
    kallsyms_add(args, memory)
    if args.log:
        log_add(args, memory)
    module_add(args, memory)
    if args.slots:
        slots_add(args, memory, args.file)
    for flip in args.flip:
        at, bit = flip.split(":")
        memory.flip(int(at, 0), int(bit))
    for drop in args.drop:
        at, size = (int(word, 0) for word in drop.split(":"))
        for page in range(at // PAGE, (at + size) // PAGE):
            memory.pages.pop(page, None)
    with open(args.file, "wb") as out:
        out.write(kdump(memory, args.damage) if args.kdump else
                  elf(memory, vmcoreinfo(memory) if args.note else b"",
                      args.empty))


main()
