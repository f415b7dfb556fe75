#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Attaches the BPF program "count" to a socket, makes the file "counted", and sends a
packet through it every few milliseconds until it is killed."""
import ctypes
import socket
import struct
import time

BPF_PROG_LOAD, SOCKET_FILTER, SO_ATTACH_BPF, SYS_BPF = 5, 1, 50, 321
# r0 = 64; while (--r0); r0 = 4; exit
INSNS = [(0xb7, 0, 0, 64), (0x17, 0, 0, 1), (0x55, 0, -2, 0), (0xb7, 0, 0, 4), (0x95, 0, 0, 0)]


def main():
    code = ctypes.create_string_buffer(b"".join(struct.pack("<BBhi", *insn) for insn in INSNS))
    license = ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("<IIQQIIQII16s", SOCKET_FILTER, len(INSNS), ctypes.addressof(code),
                       ctypes.addressof(license), 0, 0, 0, 0, 0, b"count")
    attr = ctypes.create_string_buffer(attr.ljust(128, b"\0"))
    program = ctypes.CDLL(None, use_errno=True).syscall(SYS_BPF, BPF_PROG_LOAD, attr, 128)
    if program < 0:
        raise OSError(ctypes.get_errno(), "BPF_PROG_LOAD")
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    far.setsockopt(socket.SOL_SOCKET, SO_ATTACH_BPF, program)
    with open("counted", "w", encoding="ascii"):
        pass
    while True:
        near.send(b"0123456789")
        far.recv(16)
        time.sleep(0.005)


main()
