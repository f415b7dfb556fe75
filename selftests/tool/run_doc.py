#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the commands that a page of documentation shows, and compares what it shows.

Usage: run_doc.py PAGE FOLDER KIPT

A command is an indented line that begins with "$ "; what it prints, without stderr, is in
the indented lines after it, where "..." is any number of lines. Commands run in a
copy of FOLDER, and FOLDER/../schema is at ../schema there; `cd` is left out. A line "ok" or
"not ok" is printed for each. What needs root or Intel PT begins with "# " and is not run.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def commands(text):
    """Yields each command with the lines it should print."""
    command, lines = None, []
    for line in text.splitlines():
        if line.startswith("    $ "):
            if command is not None:
                yield command, lines
            command, lines = line[6:], []
        elif line.startswith("    # ") or (line and not line.startswith("    ")):
            if command is not None:
                yield command, lines
            command, lines = None, []
        elif command is not None:
            lines.append(line[4:])
    if command is not None:
        yield command, lines


def pattern(lines):
    """A regular expression of what is shown; blank lines at its end do not count."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"[ ]*\n"
                   for line in lines)


def main():
    page, folder, kipt = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        shown = list(commands(file.read()))
    work = tempfile.mkdtemp()
    here = os.path.join(work, "here")
    shutil.copytree(folder, here, symlinks=True)
    os.symlink(os.path.abspath(os.path.join(folder, "../schema")), os.path.join(work, "schema"))
    os.mkdir(os.path.join(work, "bin"))
    os.symlink(os.path.abspath(kipt), os.path.join(work, "bin", "kipt"))
    environment = dict(os.environ, LC_ALL="C.UTF-8",
                       PATH=os.path.join(work, "bin") + ":" + os.environ["PATH"])
    before = ""
    for command, lines in shown:
        if command.startswith("cd "):
            continue
        if command.startswith("export "):
            before += command + "\n"
            continue
        result = subprocess.run(["bash", "-c", before + command], cwd=here, env=environment,
                                capture_output=True, text=True, check=False)
        if result.returncode or not re.fullmatch(pattern(lines), result.stdout):
            print("not ok", command)
            print("exit status", result.returncode, result.stderr, result.stdout, sep="\n")
        else:
            print("ok", command)
    shutil.rmtree(work)


main()
