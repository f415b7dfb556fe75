#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Makes guest.pt, the trace of a host kernel that runs a guest three times, and the folder
`guest`, as kipt saves one, with the host's code. The guest's addresses are those of the
host's function host_other. After each VM exit the host calls host_helper. guest-code has code
of the guest, a jump, which guest-far.pt has it execute. In guest-lost.pt the CPU loses packets
while the guest runs, for 98 us.

Usage: make_guest.py
"""
import os
import struct

HOST = 0xffffffff81000000
SYMBOLS = {"host_caller": 0, "vmx_vcpu_run": 0x100, "vmx_vmexit": 0x200, "host_helper": 0x300,
           "host_other": 0x400, "host_last": 0x800}
GUEST = HOST + SYMBOLS["host_other"]
PSB, PSBEND, MODE_64 = b"\x02\x82" * 8, b"\x02\x23", b"\x99\x01"
TIP, FUP = 0x0d, 0x1d
OVF = b"\x02\xf3"


def code():
    """CALL vmx_vcpu_run; NOP; JMP *RAX, and NOP; VMRESUME, and NOP; CALL host_helper; RET."""
    bytes_of = bytearray(b"\xcc" * 4096)
    for at, text in ((0, b"\xe8" + struct.pack("<i", 0x100 - 5) + b"\x90\xff\xe0"),
                     (0x100, b"\x90\x0f\x01\xc3"),
                     (0x200, b"\x90\xe8" + struct.pack("<i", 0x300 - 0x206) + b"\xc3"),
                     (0x300, b"\x90\xc3")):
        bytes_of[at:at + len(text)] = text
    return bytes_of


def pip(cr3, non_root):
    return b"\x02\x43" + (cr3 >> 5 << 1 | non_root).to_bytes(6, "little")


def ip(header, address):
    return bytes([header | 6 << 5]) + struct.pack("<Q", address)


def tsc(time):
    return b"\x19" + time.to_bytes(7, "little")


def trace_lost():
    host, guest = pip(0x1000000, 0), pip(0x5000000, 1)
    out = PSB + tsc(1000) + host + MODE_64 + ip(FUP, HOST) + PSBEND
    out += tsc(2000) + guest + ip(TIP, GUEST) + tsc(3000) + OVF
    out += PSB + tsc(101000) + pip(0x2000000, 0) + MODE_64 + ip(FUP, HOST + 0x300) + PSBEND
    return out + tsc(102000) + ip(TIP, HOST)


def trace(left):
    """The guest is left so many bytes after where it was entered."""
    host, guest = pip(0x1000000, 0), pip(0x5000000, 1)
    out = PSB + tsc(1000) + host + MODE_64 + ip(FUP, HOST) + PSBEND
    for time in range(2000, 11000, 3000):
        out += tsc(time) + guest + ip(TIP, GUEST) + tsc(time + 1000)
        out += ip(FUP, GUEST + left) + host + ip(TIP, HOST + SYMBOLS["vmx_vmexit"])
        out += b"\x06" + tsc(time + 2000) + ip(TIP, HOST + 5) + ip(TIP, HOST)
    return out


def main():
    os.makedirs("guest", exist_ok=True)
    files = {"guest/kernel.dump": code(), "guest/kernel.addr": struct.pack("<Q", HOST),
             "guest-code.dump": code()[:0x400] + b"\xeb\x0e".ljust(0xc00, b"\x90"),
             "guest-code.addr": struct.pack("<Q", HOST),
             "guest-lost.pt": trace_lost(),
             "guest/meta.json": b'{"tsc_khz":1000000}', "guest.pt": trace(0),
             "guest-far.pt": trace(0x10),
             "guest/kallsyms": b"".join(b"%016x T %s\n" % (HOST + at, name.encode())
                                        for name, at in SYMBOLS.items())}
    for name, content in files.items():
        with open(name, "wb") as file:
            file.write(content)


main()
