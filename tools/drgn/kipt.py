# SPDX-License-Identifier: GPL-2.0-only
"""`kipt crash` on the dump that drgn has open.

    # drgn -c vmcore /usr/local/share/kipt/kipt.py saved
    # kipt decode saved/cpu1.pt --dir saved

or in drgn's shell:

    >>> from kipt import kipt_save, kipt_show
    >>> kipt_show(prog, "--summary")
    >>> kipt_save(prog, "saved")
"""
import subprocess
import sys


def _dump(prog):
    """drgn gives the dump's name from some version on; before, its own options do."""
    path = getattr(prog, "core_dump_path", None)
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().decode(errors="surrogateescape").split("\0")
    for word, following in zip(words, words[1:]):
        path = path or (following if word in ("-c", "--core") else None)
    return path or sys.exit("kipt: drgn does not say which dump it reads: use kipt crash")


def kipt_show(prog, *options):
    """`kipt crash DUMP` with its options, as texts: what each CPU did last."""
    subprocess.run(["kipt", "crash", _dump(prog), *options], check=True)


def kipt_save(prog, folder):
    """Traces, code and names for `kipt decode --dir`, and a summary."""
    kipt_show(prog, "--save", folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: drgn -c VMCORE kipt.py FOLDER")
    kipt_save(globals()["prog"], sys.argv[1])
