#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes a perf.data around raw Intel PT bytes, by the description of the format
alone: it shares no code with the reader.

Usage: make_perf.py OUT TRACE [OPTION...]

  pipe            as perf record -o - writes it
  zstd, zstd2     with compressed events (COMPRESSED, COMPRESSED2)
  unended=N       N bytes of the compressed stream are missing
  begun=N         N bytes of one more event are in it
  swap            of the other byte order
  snapshot        pieces are snapshots that overlap
  snapshot=FILE,  they are these files
  lost=N          the buffer was full after N bytes
  stop=N@TIME,... the CPU did not trace then, after N bytes
  hole=N          N bytes of the middle are not in the file
  thread          of a thread, not of a CPU
  user            the kernel is not traced
  two             of two CPUs, both have TRACE
  piece=N         bytes of a piece, 4096 unless given
  forged=N@AT,... pieces of N bytes at these offsets, whatever they hold
  other           of another kind of trace
  aux-sample[=KIND]  trace in samples, which overlap: all: with all that samples can
                  have; index: their CPU is in the list of events; long: the first
                  is said to have more than there is
  map=FILE@ADDR   FILE, an ELF file, is mapped: its segments, the lowest at ADDR
  over=TIME       the next map= is made then, by the same program
  pid=N           the next map= is of this process
  event=TYPE:MISC:TIME:HEX  an event of this type, what it has in hex
  at=TIME         the next map= is made then, by a program that took the place of the
                  one before
  id=HEX          the build id that the next map= is recorded with
  noid            the next map= has none
  called=PATH     the next map= is recorded with this path
  listed          the next map= has its build id in the list of the file only
  listed=old      there it has no size, as older perfs write it
  generation=N    the inode of the next map= has it, where there are inodes
  note=N          the build id of the next elf= has N bytes
  vdso=ADDR       the kernel's code for processes is mapped there, without a build id
  inode           files without one are recorded with their inode, as the kernel says it
  inode=N,...     the first ones with these
  kernel=SYMBOL@ADDR    the kernel was where SYMBOL has this address
  kernel-id=HEX   its build id, in the list of the file
  many=KIND*N,... N events of a kind: fork, child (a fork that maps), map, remap, path,
                  exec, comm, switch, cut, stop, info, attr (pipe), poke, ksym,
                  wide (a ksym of 4 GiB), long (a ksym with a long name), queue
  lasted=N        N seconds from the first event to the last
  poke=ADDR@TIME:OLD/NEW  kernel code changed, from these bytes, in hex, to those
  ksym=ADDR+LEN@TIME:NAME  code of the kernel came; oolsym= is that of no BPF program
  unksym=ADDR+LEN@TIME:NAME  it went
  bpf=ID@TIME:TAG  the BPF program ID was loaded
  bpf-info=ID:TAG:ADDR:CODE  what the file knows of it; CODE is in hex
  bpf-cut=N       N bytes are missing of all that; bpf-set=AT:HEX sets some of its bytes
  drop=TIME[:CPU]  perf lost events
  sample=NAME@TIME[:IP[:CPU]]  a sample of another event; unnamed: the file has no names
  turn=PID@TIME[:CPU]  this process runs from then on, on CPU 0 unless given
  filter=TEXT     addresses were filtered so
  untimed         perf did not say how its time relates to that of the trace
  noratio         the ratio of TSC and MTC is not known
  config=N        of the event of Intel PT
  text-poke       changes of kernel code were asked for
  elf=NAME[.elf]  writes an ELF file of the pages NAME.addr and NAME.dump, and maps
                  it; TRACE is of pid 100
"""
import os
import struct
import sys

PID = 100
PMU = 8
# CPU, TID, TIME, IDENTIFIER
SAMPLE = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16
# IP, ADDR, READ, CALLCHAIN, PERIOD, RAW, BRANCH_STACK, REGS_USER, STACK_USER, WEIGHT,
# DATA_SRC, TRANSACTION, REGS_INTR, PHYS_ADDR, CGROUP, the sizes of pages
ALL_MEMBERS = sum(1 << bit for bit in (0, 3, 4, 5, 8, 10, 11, 12, 13, 14, 15, 17, 18, 19,
                                       21, 22, 23))
EXEC = 1 << 13
HAS_BUILD_ID = 1 << 14


class Writer:
    def __init__(self, order):
        self.order = order

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def event(self, kind, body, misc=0):
        return self.pack("IHH", kind, misc, len(body) + 8) + body

    def stamped(self, kind, body, misc=0, pid=PID, cpu=0, time=0):
        return self.event(kind, body + self.pack("IIQIIQ", pid, pid, time,
                                                 cpu, 0, 1), misc)

    def text(self, name):
        data = os.fsencode(name) + b"\0"
        return data + b"\0" * (-len(data) % 8)

    def attr(self, sample_type=SAMPLE, flags=0, kind=PMU, config=0x2401):
        # type, size, config, period, sample_type, read_format, flags; from 72 on
        # branch_sample_type, sample_regs_user, stack and clock, sample_regs_intr
        head = self.pack("IIQQQQQ", kind, 136, config, 1,
                         sample_type, 31, 1 << 18 | flags) + b"\0" * 24
        head += self.pack("QQQQ", 1 << 17, 0xff0fff, 64, 7)
        return head + b"\0" * (136 - len(head))

    def ksymbol(self, value, flags, kind=1):
        where, _, rest = value.partition("@")
        address, _, size = where.partition("+")
        time, _, name = rest.partition(":")
        return self.stamped(17, self.pack("QIHH", int(address, 0), int(size, 0), kind,
                                          flags) + self.text(name), time=int(time))

    def poke(self, value):
        address, _, rest = value.partition("@")
        time, _, rest = rest.partition(":")
        old, new = (bytes.fromhex(part) for part in rest.split("/"))
        data = self.pack("QHH", int(address, 0), len(old), len(new)) + old + new
        return self.stamped(20, data + b"\0" * (-len(data) % 8), time=int(time))

    def bpf(self, value):
        number, _, rest = value.partition("@")
        time, _, tag = rest.partition(":")
        return self.stamped(18, self.pack("HHI", 1, 0, int(number)) +
                            bytes.fromhex(tag), time=int(time))

    def bpf_info(self, value):
        """As perf has it in its file: struct bpf_prog_info, then what it points to."""
        number, tag, address, code = value.split(":")
        code = bytes.fromhex(code)
        padded = code + b"\0" * (-len(code) % 8)
        data = padded + self.pack("Q", int(address, 0)) + self.pack("II", len(code), 0)
        info = bytearray(224)
        struct.pack_into("<II8sI", info, 0, 1, int(number), bytes.fromhex(tag), len(code))
        struct.pack_into("<Q", info, 24, 0)
        struct.pack_into("<II", info, 104, 1, 1)
        struct.pack_into("<QQ", info, 112, len(padded), len(padded) + 8)
        # Which arrays are there: instructions, addresses, lengths.
        return self.pack("IIQ", len(info), len(data), 1 | 8 | 16) + bytes(info) + data


def build_id_of(data, size):
    import hashlib  # here and below: most runs need neither, and both take long to load
    return (hashlib.sha1(data).digest() + hashlib.sha256(data).digest())[:size]


def elf_make(name, id_size):
    """Pages as segments, and a note with a build id."""
    stem = name[:-4] if name.endswith(".elf") else name
    addresses = open(stem + ".addr", "rb").read()
    pages = open(stem + ".dump", "rb").read()
    by_address = {}
    for i in range(len(addresses) // 8):
        address, = struct.unpack_from("<Q", addresses, i * 8)
        by_address[address] = pages[i * 4096:(i + 1) * 4096]
    order = sorted(by_address)
    number = len(order) + 1
    id_bytes = build_id_of(pages, id_size)
    note = struct.pack("<III4s", 4, id_size, 3, b"GNU\0") + id_bytes
    heads_end = 64 + 56 * number
    data_at = (heads_end + len(note) + 4095) & ~4095
    out = b"\x7fELF\2\1\1" + b"\0" * 9
    out += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56,
                       number, 64, 0, 0)
    out += struct.pack("<IIQQQQQQ", 4, 4, heads_end, 0, 0, len(note),
                       len(note), 4)
    maps = []
    for i, address in enumerate(order):
        at = data_at + i * 4096
        out += struct.pack("<IIQQQQQQ", 1, 5, at, address, address, 4096,
                           4096, 4096)
        maps.append((address, 4096, at))
    out += note
    out += b"\0" * (data_at - len(out))
    out += b"".join(by_address[address] for address in order)
    open(name, "wb").write(out)
    return maps, id_bytes


def segments(data, address):
    """What an ELF file has mapped, and its build id."""
    at, = struct.unpack_from("<Q", data, 32)
    number, = struct.unpack_from("<H", data, 56)
    maps, id_bytes = [], None
    loads = []
    for i in range(number):
        kind, _, offset, virtual, _, size, _, _ = struct.unpack_from(
            "<IIQQQQQQ", data, at + 56 * i)
        if kind == 1:
            loads.append((virtual, size, offset))
        elif kind == 4 and data[offset + 12:offset + 15] == b"GNU":
            size, = struct.unpack_from("<I", data, offset + 4)
            id_bytes = data[offset + 16:offset + 16 + size]
    lowest = min(load[0] for load in loads)
    for virtual, size, offset in loads:
        maps.append((virtual - lowest + address, size, offset))
    return maps, id_bytes


class Recording:
    def __init__(self, out, trace, options):
        self.out = out
        self.trace = open(trace, "rb").read()
        self.flags = {}
        self.maps = []
        self.changes = []
        self.infos = []
        self.others = []
        self.turns = []
        self.events = []
        self.overs = set()
        self.pids = {}
        self.times = {}
        self.called = {}
        self.listed = {}
        self.generations = {}
        forced = begun = 0
        id_size = 20
        for option in options:
            key, _, value = option.partition("=")
            if key == "id":
                forced = bytes.fromhex(value)
            elif key == "noid":
                forced = None
            elif key == "map":
                name, _, address = value.partition("@")
                maps, found = segments(open(name, "rb").read(), int(address, 0))
                self.maps.append((name, maps, found if forced == 0 else forced))
                forced = 0
                self.times.setdefault(len(self.maps) - 1, begun)
                begun = 0
            elif key == "at":
                begun = int(value)
            elif key == "called":
                self.called[len(self.maps)] = value
            elif key == "listed":
                self.listed[len(self.maps)] = value
            elif key == "generation":
                self.generations[len(self.maps)] = int(value)
            elif key == "note":
                id_size = int(value)
            elif key == "vdso":
                self.maps.append(("[vdso]", [(int(value, 0), 8192, 0)], None))
            elif key in ("poke", "ksym", "oolsym", "unksym", "bpf", "drop"):
                self.changes.append((key, value))
            elif key == "bpf-info":
                self.infos.append(value)
            elif key == "sample":
                self.others.append(value)
            elif key == "over":
                self.overs.add(len(self.maps))
                self.times[len(self.maps)] = int(value)
            elif key == "pid":
                self.pids[len(self.maps)] = int(value)
            elif key in ("turn", "event"):
                getattr(self, key + "s").append(value)
            elif key == "elf":
                maps, found = elf_make(value, id_size)
                self.maps.append((value, maps, found if forced == 0 else forced))
                forced = 0
            else:
                self.flags[key] = value
        self.w = Writer(">" if "swap" in self.flags else "<")

    def info(self):
        # pmu type, shift, mult, zero, cap zero, tsc, noretcomp, sched switch,
        # snapshot, per cpu, mtc, mtc freq, tsc ratio, cyc, max non-turbo, filter
        priv = [PMU, 0, int("untimed" not in self.flags), 0, 1, 1 << 10, 1 << 11, 3,
                int("snapshot" in self.flags), int("thread" not in self.flags), 1 << 9, 0xf << 14,
                *((0, 0) if "noratio" in self.flags else (2, 1)),
                1 << 1, 20]
        kind = 4 if "other" in self.flags else 1
        text = self.w.text(self.flags["filter"]) if "filter" in self.flags else b""
        return self.w.event(70, self.w.pack("II17Q", kind, 0, *priv, len(text)) + text)

    def sideband(self):
        w = self.w
        out = w.stamped(3, w.pack("II", PID, PID) + w.text("prog"), EXEC)
        if "kernel" in self.flags:
            symbol, _, address = self.flags["kernel"].partition("@")
            out += w.stamped(1, w.pack(
                "IIQQQ", 0xffffffff, 0, int(address, 0), 1 << 24,
                int(address, 0)) + w.text("[kernel.kallsyms]" + symbol), 1)
        if "kernel-id" in self.flags:
            out += w.event(67, w.pack("I", 0xffffffff) + bytes.fromhex(
                self.flags["kernel-id"]).ljust(24, b"\0") + w.text("[kernel.kallsyms]"), 1)
        for i, how in self.listed.items():
            out += self.list_entry(*self.maps[i], how)
        for i, (name, maps, id_bytes) in enumerate(self.maps):
            time, pid = self.times.get(i, 0), self.pids.get(i, PID)
            if time and i not in self.overs:
                out += w.stamped(3, w.pack("II", PID, PID) + w.text("next"), EXEC,
                                 time=time)
            for address, size, offset in maps:
                body = w.pack("IIQQQ", pid, pid, address, size, offset)
                misc = 2
                if id_bytes and i not in self.listed:
                    misc |= HAS_BUILD_ID
                    # perf has no room for more.
                    body += w.pack("BBH", min(len(id_bytes), 20), 0, 0)
                    body += id_bytes[:20].ljust(20, b"\0")
                else:
                    body += self.inode(name, self.generations.get(i, 0))
                body += w.pack("II", 5, 2)
                out += w.stamped(10, body + w.text(self.called.get(i, self.path(name))),
                                 misc, pid, time=time)
        for key, value in self.changes:
            if key == "poke":
                out += w.poke(value)
            elif key == "bpf":
                out += w.bpf(value)
            elif key == "drop":
                time, _, cpu = value.partition(":")
                out += w.stamped(2, w.pack("QQ", 1, 7), time=int(time), cpu=int(cpu or 0))
            else:
                out += w.ksymbol(value, int(key == "unksym"), 2 if key == "oolsym" else 1)
        out += w.stamped(12, w.pack("II", PID, PID))
        for turn in self.turns:
            pid, _, rest = turn.partition("@")
            time, _, cpu = rest.partition(":")
            out += w.stamped(14, b"", 0, int(pid), int(cpu or 0), int(time))
        for event in self.events:
            kind, misc, time, body = event.split(":")
            out += w.stamped(int(kind), bytes.fromhex(body), int(misc, 0), time=int(time))
        if "lasted" in self.flags:
            for time in (1, 1 + int(self.flags["lasted"]) * 10 ** 9):
                out += w.stamped(3, w.pack("II", PID, PID) + w.text("prog"),
                                 time=time)
        return out

    def list_entry(self, name, _, id_bytes, how):
        """Of the list of build ids, which has room for 20 bytes."""
        size = 0 if how == "old" else min(len(id_bytes), 20)
        return self.w.event(67, self.w.pack("I", 0xffffffff) +
                            id_bytes[:20].ljust(20, b"\0") + self.w.pack("I", size) +
                            self.w.text(self.path(name)), 2 | bool(size) << 15)

    def many(self, kind, number):
        """So many events, with times that grow."""
        w, out = self.w, []
        mapped = next((m[0] for _, m, _ in self.maps), (0x401000, 4096, 0))

        def maps(pid, address, name, time):
            body = w.pack("IIQQQ", pid, pid, address, mapped[1], mapped[2])
            return w.stamped(1, body + w.text(name), 2, pid, time=time)

        for i in range(number):
            time, pid = i + 1, 1000 + i
            if kind in ("fork", "child"):
                out.append(w.stamped(7, w.pack("IIIIQ", pid, PID, pid, PID, 0),
                                     time=time))
            if kind == "child":
                out.append(maps(pid, 0x500000, "/some", time))
            elif kind == "map":
                out.append(maps(PID, (i * 7919 % number << 13) + (1 << 30),
                                "/some", time))
            elif kind == "remap":
                # Over those of map, one after the other.
                out.append(maps(PID, (i % 16384 << 13) + (1 << 30),
                                f"/some{i // 16384 % 2}", time))
            elif kind == "path":
                out.append(maps(PID, 0x500000 + i * 8192, f"/some{i}", time))
            elif kind == "exec":
                out.append(w.stamped(3, w.pack("II", PID, PID) + w.text("some"),
                                     EXEC, time=time))
                out.append(maps(PID, mapped[0], "/some", time))
            elif kind == "comm":
                out.append(w.stamped(3, w.pack("II", pid, pid) + w.text("some"),
                                     EXEC, time=time))
            elif kind == "switch":
                out.append(w.stamped(14, b"", 0, 100 + i % 2, i % 50, time))
            elif kind == "cut":
                out.append(w.stamped(11, w.pack("QQQ", 0, i, 1)))
            elif kind == "stop":
                # All at once.
                return w.stamped(11, w.pack("QQQ", 0, 0, 0), time=1) * number
            elif kind == "info":
                out.append(self.info())
            elif kind == "attr":
                out.append(w.event(64, w.attr() + w.pack("Q", i + 2)))
                out.append(w.stamped(3, w.pack("II", PID, PID) + w.text("a")))
            elif kind == "poke":
                out.append(w.poke(f"{0xffffffff9d000020 + i % 7:#x}@{time}:90/90"))
            elif kind == "ksym":
                out.append(w.ksymbol(f"{0xffffffffa0000000 + i * 8192:#x}+4096@{time}:a", 0))
            elif kind == "long":
                out.append(w.ksymbol(f"{0xffffffffa0000000 + i * 8192:#x}+4096@{time}:"
                                     + "a" * 60000, 0))
            elif kind == "wide":
                out.append(w.ksymbol(f"{0xffff800000000000 + (i << 20):#x}"
                                     f"+{0xffffffff:#x}@{time}:a", i & 1))
            elif kind == "queue":
                out.append(w.event(71, w.pack("QQQIIII", 8, 0, 0, 0, pid,
                                              0xffffffff, 0)) + b"\0" * 8)
        return b"".join(out)

    def inode(self, name, generation):
        """Major and minor number, inode and its generation."""
        if "inode" not in self.flags:
            return self.w.pack("IIQQ", 0, 0, 0, 0)
        forged, _, rest = self.flags["inode"].partition(",")
        if forged:
            self.flags["inode"] = rest
            return self.w.pack("IIQQ", 8, 1, int(forged), 0)
        import mmap
        with open(name, "rb") as file:
            held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
            for line in open("/proc/self/maps"):
                fields = line.split(maxsplit=5)
                if fields[5:] == [os.path.realpath(name) + "\n"]:
                    major, minor = (int(part, 16) for part in fields[3].split(":"))
                    number = int(fields[4])
            held.close()
        return self.w.pack("IIQQ", major, minor, number, generation)

    @staticmethod
    def path(name):
        return name if name[0] == "[" else os.path.abspath(name)

    def pieces(self):
        """(offset, bytes) as perf writes them one after the other."""
        trace, size = self.trace, int(self.flags.get("piece", 4096))
        if "forged" in self.flags:
            wanted = [part.split("@") for part in self.flags["forged"].split(",")]
            return [(int(at), (trace * 8)[:int(number)]) for number, at in wanted]
        if self.flags.get("snapshot"):
            names = self.flags["snapshot"].split(",")
            return [(0, open(name, "rb").read()) for name in names]
        if "snapshot" in self.flags or "aux-sample" in self.flags:
            step = size * 2 // 3
            return [(at, trace[at:at + size]) for at in
                    range(0, max(len(trace) - size // 3, 1), step)]
        pieces = [(at, trace[at:at + size]) for at in
                  range(0, len(trace), size)]
        if "hole" in self.flags:
            gone = int(self.flags["hole"]) // size * size + size
            middle = len(trace) // 2 // size * size
            pieces = [p for p in pieces if not middle <= p[0] < middle + gone]
        return pieces

    def aux(self):
        """AUX records."""
        flags, out = 0, b""
        if "lost" in self.flags:
            flags = 1
            out += self.w.stamped(11, self.w.pack(
                "QQQ", 0, int(self.flags["lost"]), flags))
        at = 0
        for value in filter(None, self.flags.get("stop", "").split(",")):
            end, _, time = value.partition("@")
            out += self.w.stamped(11, self.w.pack("QQQ", at, int(end) - at, 0), time=int(time))
            at = int(end)
        return out + self.w.stamped(11, self.w.pack(
            "QQQ", 0, len(self.trace), 0))

    def auxtrace(self):
        out = b""
        cpus = [0xffffffff] if "thread" in self.flags else [0]
        for cpu in cpus + [1] * ("two" in self.flags):
            for offset, data in self.pieces():
                if "forged" not in self.flags:
                    data += b"\0" * (-len(data) % 8)
                out += self.w.event(71, self.w.pack(
                    "QQQIIII", len(data), offset, 0, 0, PID, cpu, 0)) + data
        return out

    def sample_type(self):
        if "aux-sample" not in self.flags:
            return SAMPLE
        kind = self.flags["aux-sample"]
        if kind == "index":
            return SAMPLE & ~(1 << 7) | 1 << 20
        return SAMPLE | 1 << 20 | (ALL_MEMBERS if kind == "all" else 0)

    def sample(self, number, data, claimed):
        """A sample, as perf_output_sample() of the kernel writes it."""
        kind, w = self.flags["aux-sample"], self.w
        every = kind == "all"
        data += b"\0" * (-len(data) % 8)
        out = w.pack("Q", 1)
        out += w.pack("Q", 0x401000) if every else b""
        out += w.pack("IIQ", PID, PID, number)
        out += w.pack("Q", 77) if every else b""
        out += w.pack("II", 0, 0) if kind != "index" else b""
        if every:
            out += w.pack("Q", 100000)
            # Read, of a group of two: enabled, running, then value, number, lost.
            out += w.pack("QQQ", 2, 5, 5) + w.pack("QQQ", 1, 2, 3) * 2
            out += w.pack("QQQQ", 3, 1, 2, 3)
            out += w.pack("I", 13) + b"r" * 20
            out += w.pack("QQ", 2, 9) + w.pack("QQQ", 1, 2, 3) * 2
            out += w.pack("Q", 2) + b"u" * 8 * bin(0xff0fff).count("1")
            out += w.pack("Q", 64) + b"s" * 64 + w.pack("Q", 64)
            out += w.pack("QQQ", 1, 2, 3)
            out += w.pack("Q", 0)
            out += w.pack("QQQQ", 1, 2, 3, 4)
        return w.event(9, out + w.pack("Q", claimed or len(data)) + data)

    def samples(self):
        w, out = self.w, b""
        if self.flags["aux-sample"] == "index":
            # Numbers of the event, its buffer, its CPU and its thread.
            out += w.event(69, w.pack("Q", 1) + w.pack("QQQQ", 1, 0, 0, PID))
        for number, (_, data) in enumerate(self.pieces()):
            long = self.flags["aux-sample"] == "long" and not number
            out += self.sample(number + 1, data, len(data) + 4096 if long else 0)
        return out

    def names(self):
        """Of the events that others= has; tracepoints, whose numbers begin with 2."""
        return list(dict.fromkeys(value.partition("@")[0] for value in self.others))

    def other_samples(self):
        w, out = self.w, b""
        for value in self.others:
            name, _, rest = value.partition("@")
            time, ip, cpu = (rest.split(":") + ["", ""])[:3]
            kind = SAMPLE | bool(ip)
            out += w.event(9, w.pack("Q", self.names().index(name) * 2 + bool(ip) + 2) +
                           (w.pack("Q", int(ip, 0)) if ip else b"") +
                           w.pack("IIQ", PID, PID, int(time)) +
                           (w.pack("II", int(cpu or 0), 0) if kind & 1 << 7 else b""))
        return out

    def attrs(self):
        """With their numbers: Intel PT, then each other event with and without IP."""
        w = self.w
        config = int(self.flags.get("config", "0x2401"), 0)
        asked = ("text-poke" in self.flags) << 33 | ("user" in self.flags) << 5
        out = [(w.attr(self.sample_type(), asked, config=config), 1)]
        for number, _ in enumerate(self.names()):
            out += [(w.attr(SAMPLE | ip, 0, 2, 700 + number), number * 2 + ip + 2)
                    for ip in (0, 1)]
        return out

    def event_desc(self):
        w, names = self.w, ["intel_pt//"] + [n for n in self.names() for _ in (0, 1)]
        out = w.pack("II", len(names), 136)
        for name, (attr, number) in zip(names, self.attrs()):
            text = self.w.text(name)
            out += attr + w.pack("II", 1, len(text)) + text + w.pack("Q", number)
        return out

    def features(self):
        """By their numbers."""
        out = {}
        if self.others and "unnamed" not in self.flags:
            out[12] = self.event_desc()
        if self.feature():
            out[25] = self.feature()
        return out

    def feature(self):
        """What the file knows of BPF programs."""
        if not self.infos:
            return b""
        out = self.w.pack("I", len(self.infos))
        out += b"".join(self.w.bpf_info(value) for value in self.infos)
        out = bytearray(out[:len(out) - int(self.flags.get("bpf-cut", 0))])
        for part in filter(None, self.flags.get("bpf-set", "").split(",")):
            at, _, data = part.partition(":")
            data = bytes.fromhex(data)
            out[int(at):int(at) + len(data)] = data
        return bytes(out)

    def compressed(self, data):
        import subprocess
        packed = subprocess.run(["zstd", "-q", "-c"], input=data,
                                stdout=subprocess.PIPE, check=True).stdout
        packed = packed[:len(packed) - int(self.flags.get("unended", 0))]
        out = b""
        for at in range(0, len(packed), 777):
            piece = packed[at:at + 777]
            if "zstd2" in self.flags:
                body = self.w.pack("Q", len(piece)) + piece
                body += b"\0" * (-len(body) % 8)
                out += self.w.event(83, body)
            else:
                out += self.w.event(81, piece)
        return out

    def write(self):
        w = self.w
        side = self.sideband() + self.aux() + self.w.event(
            68, b"")[:int(self.flags.get("begun", 0))]
        for part in filter(None, self.flags.get("many", "").split(",")):
            kind, _, number = part.partition("*")
            side += self.many(kind, int(number))
        if "aux-sample" in self.flags:
            side += self.samples()
        side += self.other_samples()
        if "zstd" in self.flags or "zstd2" in self.flags:
            side = self.compressed(side)
        # A finished round, whose kind the reader does not know.
        trace = b"" if "aux-sample" in self.flags else self.auxtrace()
        events = self.info() + side + trace + w.event(68, b"")
        attrs, features = self.attrs(), self.features()
        magic = b"PERFILE2" if w.order == "<" else b"2ELIFREP"
        if "pipe" in self.flags:
            data = magic + w.pack("Q", 16)
            for attr, number in attrs:
                data += w.event(64, attr + w.pack("Q", number))
            for number, feature in features.items():
                data += w.event(80, w.pack("Q", number) + feature)
            data += events
        else:
            ids_at, attr_at = 104, 104 + 8 * len(attrs)
            each = len(attrs[0][0]) + 16
            data_at = attr_at + each * len(attrs)
            data = magic + w.pack("QQQQQQQQ", 104, each, attr_at,
                                  each * len(attrs), data_at, len(events), 0, 0)
            data += w.pack("4Q", sum(1 << number for number in features), 0, 0, 0)
            data += b"".join(w.pack("Q", number) for _, number in attrs)
            for i, (attr, _) in enumerate(attrs):
                data += attr + w.pack("QQ", ids_at + 8 * i, 8)
            data += events
            at = len(data) + 16 * len(features)
            for feature in features.values():
                data += w.pack("QQ", at, len(feature))
                at += len(feature)
            data += b"".join(features.values())
        open(self.out, "wb").write(data)


Recording(sys.argv[1], sys.argv[2], sys.argv[3:]).write()
