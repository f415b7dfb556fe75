#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes a file of records from lines "TYPE KIND FLAGS AUX IP VALUE" on
standard input, numbers as Python reads them; "#" begins a comment.

make_records.py FILE [--header VERSION] : VERSION other than 1 makes a file
that must be refused.
"""
import struct
import sys

MAGIC = 0x534345525450494B
RECORD = struct.Struct("<BBHIQQ")


def main():
    path = sys.argv[1]
    version = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with open(path, "wb") as out:
        out.write(RECORD.pack(0, version, RECORD.size, 0, MAGIC, 0))
        for line in sys.stdin:
            fields = line.split("#")[0].split()
            if fields:
                out.write(RECORD.pack(*(int(f, 0) for f in fields)))


main()
