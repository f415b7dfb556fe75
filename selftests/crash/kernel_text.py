# SPDX-License-Identifier: GPL-2.0-only
"""Takes the kernel's code out of a dump, in the pages that `kipt decode
--pages` reads: by the page table a CPU had, and the lists of symbols and modules
that the machine wrote before it died."""
import struct

PAGE = 4096
PRESENT, LARGE, NO_EXECUTE = 1, 1 << 7, 1 << 63
ADDRESS_BITS = 0x000ffffffffff000
# Where modules are, and pages of kprobes and trampolines that come and go.
MODULES = 0xffffffffa0000000, 0xffffffffff000000
LARGE_PAGE = 512 * PAGE
# The first bits of an address of the kernel's are the same with four levels and
# with five, so that the depth shows by whether a walk leads to _stext.
LEVELS = (4, 5)


def walk(dump, table, address, levels):
    """The physical address of a virtual one, or None."""
    for level in range(levels - 1, -1, -1):
        shift = 12 + 9 * level
        entry, = struct.unpack("<Q", dump.read(table + (address >> shift & 511) * 8, 8))
        if not entry & PRESENT:
            return None
        if level == 0 or level <= 2 and entry & LARGE:
            inside = (1 << shift) - 1
            return (entry & ADDRESS_BITS & ~inside) | (address & inside)
        table = entry & ADDRESS_BITS
    return None


def symbols(path):
    """name -> address of the code symbols; the first of a name counts."""
    found = {}
    with open(path) as file:
        for line in file:
            part = line.split()
            if part[1] in "tTwW":
                found.setdefault(part[2], int(part[0], 16))
    return found


def code_pages(kallsyms, modules):
    """Addresses of the pages that hold code, as far as symbols show."""
    named = symbols(kallsyms)
    pages = set(range(named["_stext"] & -PAGE, named["_etext"], PAGE))
    with open(modules) as file:
        for line in file:
            part = line.split()
            base = int(part[5], 16)
            pages.update(range(base, base + int(part[1]), PAGE))
    with open(kallsyms) as file:
        pages.update(int(line.split()[0], 16) & -PAGE for line in file if "[bpf]" in line)
    return sorted(pages)


def executable(dump, table, levels):
    """Pages of modules that may be executed, by the page table: some were made
    after the symbols were noted."""
    for base in range(*MODULES, LARGE_PAGE):
        at = table
        for level in range(levels - 1, 0, -1):
            entry, = struct.unpack("<Q", dump.read(at + (base >> 12 + 9 * level & 511) * 8, 8))
            if not entry & PRESENT or level <= 2 and entry & LARGE:
                break
            at = entry & ADDRESS_BITS
        else:
            entries = struct.unpack("<512Q", dump.read(at, PAGE))
            yield from (base + number * PAGE for number, entry in enumerate(entries)
                        if entry & PRESENT and not entry & NO_EXECUTE)


def depth(dump, table, addresses):
    """How many levels it has: with another number few addresses lead anywhere."""
    def lead(levels):
        count = 0
        for address in addresses:
            try:
                count += walk(dump, table, address, levels) is not None
            except Exception:
                continue
        return count
    levels = max(LEVELS, key=lead)
    if not lead(levels):
        raise ValueError("page table 0x%x leads nowhere" % table)
    return levels


def save(dump, cr3, kallsyms, modules, name):
    """Writes NAME.addr and NAME.dump; returns how many pages."""
    table = cr3 & ADDRESS_BITS
    pages = code_pages(kallsyms, modules)
    levels = depth(dump, table, pages[::16])
    pages = sorted({*pages, *executable(dump, table, levels)})
    count = 0
    with open(name + ".addr", "wb") as addresses, open(name + ".dump", "wb") as code:
        for page in pages:
            physical = walk(dump, table, page, levels)
            if physical is not None:
                addresses.write(struct.pack("<Q", page))
                code.write(dump.read(physical, PAGE))
                count += 1
    return count
