# SPDX-License-Identifier: GPL-2.0-only
"""What scripts do: parse text, count words, sort, match, make JSON."""
import json
import re
import sys

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 17


class Entry:
    def __init__(self, name, port, protocol):
        self.name = name
        self.port = port
        self.protocol = protocol

    def key(self):
        return (self.protocol, -self.port, self.name)


def parse(text):
    pattern = re.compile(r"^(\S+)\s+(\d+)/(\w+)")
    for line in text.splitlines():
        match = pattern.match(line)
        if match:
            yield Entry(match[1], int(match[2]), match[3])


def words(text):
    counts = {}
    for word in text.lower().split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:20]


def primes(limit):
    sieve = [True] * limit
    for i in range(2, limit):
        if sieve[i]:
            for j in range(i * i, limit, i):
                sieve[j] = False
    return sum(sieve) - 2


with open("/etc/services", encoding="utf-8") as file:
    services = file.read()
for _ in range(ROUNDS):
    entries = sorted(parse(services), key=Entry.key)
    text = json.dumps([vars(entry) for entry in entries])
    again = json.loads(text)
    result = (len(again), words(services)[0], primes(4000))
print(result)
