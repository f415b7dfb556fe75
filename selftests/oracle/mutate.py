# SPDX-License-Identifier: GPL-2.0-only
"""Damage: traces changed by bits, bytes and whole packets."""

from packets import PSB, BadBytes, Reader, find_psbs

# Packets that may be put anywhere, with what is random in them as `??`; `@@@@`
# is an address of the case.
STRANGERS = [
    "00", "02 23", "02 f3", "02 83", "02 62", "02 e2", "02 33", "02 b3",
    "99 00", "99 01", "99 02", "99 04", "99 05", "99 20", "99 21", "99 22",
    "02 03 ?? 00", "19 ?? ?? ?? ?? 00 00 00", "59 ??", "fb",
    "02 43 00 ?? 00 00 00 00", "02 43 01 ?? 00 00 00 00",
    "02 c8 ?? 00 00 00 00", "02 12 ?? 00 00 00", "02 92 ?? 00 00 00",
    "02 32 ?? 00 00 00 00 00 00 00", "02 b2 ?? 00 00 00 00 00 00 00",
    "02 22 00 ??", "02 a2 ?? 01 00 00 00", "02 c2 ?? 00 00 00 01 00 00 00",
    "02 13 01 ??", "02 13 81 ??", "02 13 02 00", "02 13 88 00",
    "02 53 00 ?? 00 00 00 00 00 00 00", "02 63 01", "02 63 84",
    "d9 00 ??", "d9 80 ??", "d9 40 ?? 03 00", "04", "06", "0c", "1c", "??",
    "02 a3 ?? ?? 01 00 00 00", "4d @@@@", "51 @@@@", "41 @@@@", "5d @@@@",
    "01", "0d", "11", "1d", "2d ?? ??", "31 ?? ??", "3d ?? ??",
]


def split(trace):
    """The packets of @trace as pieces of bytes; what is none is one piece."""
    begins = find_psbs(trace)
    pieces = [trace[:begins[0]] if begins else trace]
    for begin, end in zip(begins, begins[1:] + [len(trace)]):
        reader, at = Reader(trace, begin, end), begin
        try:
            for packet in reader:
                pieces.append(trace[at:reader.at])
                at = reader.at
        except BadBytes:
            pieces.append(trace[at:end])
    return [p for p in pieces if p]


def stranger(random, places):
    text = random.choice(STRANGERS)
    if "@@@@" in text:
        base = random.choice(places)
        ip = (base + random.randrange(-2, 24)) % (1 << 64)
        if ip >> 32:
            # The same packet with eight bytes of address.
            head = int(text[:2], 16) | 0xE0
            return bytes([head & ~0x20]) + ip.to_bytes(8, "little")
        return bytes.fromhex(text[:2]) + ip.to_bytes(4, "little")
    return bytes(random.randrange(256) if b == "??" else int(b, 16)
                 for b in text.split())


def change_bytes(random, trace):
    data = bytearray(trace)
    at = random.randrange(len(data))
    kind = random.randrange(5)
    if kind < 2:
        data[at] ^= 1 << random.randrange(8)
    elif kind == 2:
        data[at] = random.randrange(256)
    elif kind == 3:
        del data[at:at + random.randrange(1, 4)]
    else:
        data[at:at] = bytes(random.randrange(256)
                            for _ in range(random.randrange(1, 3)))
    return bytes(data)


def change_packets(random, trace, places):
    pieces = split(trace)
    at = random.randrange(len(pieces))
    kind = random.randrange(8)
    if kind == 0:
        del pieces[at]
    elif kind == 1:
        pieces.insert(at, pieces[random.randrange(len(pieces))])
    elif kind == 2:
        other = min(at + 1, len(pieces) - 1)
        pieces[at], pieces[other] = pieces[other], pieces[at]
    elif kind == 3:
        status = bytes.fromhex("9901")
        begin = random.choice(places) + random.randrange(8)
        pieces.insert(at, PSB + status + b"\xdd" +
                      begin.to_bytes(8, "little") + b"\x02\x23")
    else:
        pieces.insert(at, stranger(random, places))
    return b"".join(pieces)


def mutate(random, case, number):
    """One to three changes."""
    trace = case.trace
    places = [base for base, _, _ in case.image.pieces] or [0x401000]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if not trace:
            break
        if random.randrange(3):
            trace = change_packets(random, trace, places)
        else:
            trace = change_bytes(random, trace)
    return case.changed(f"{case.name} change {number}", trace)
