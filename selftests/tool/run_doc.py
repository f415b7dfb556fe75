#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the commands that a page of documentation shows, and compares what it shows.

Usage: run_doc.py PAGE FOLDER KIPT
       run_doc.py --machine PAGE HEADING SETUP

A command is an indented line that begins with "$ "; what it prints, without stderr, is in
the indented lines after it, where "..." is any number of lines. Commands run in a
copy of FOLDER, and FOLDER/../schema is at ../schema there; `cd` is left out. A line "ok" or
"not ok" is printed for each.

What needs root or Intel PT begins with "# ", and runs with --machine: those commands below
HEADING, in this folder and in one shell, which begins with the file SETUP. SETUP may have
functions `changed`, through which each command goes from stdin to stdout, and `before N`,
which is called before the Nth; a command of which nothing is left is left out. Any number may be where the page shows one; where it shows no
output there may be any. With HEADING `-` what is printed is each such command of the page,
with its heading.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile


def commands(text, prompt="$"):
    """Yields each command with the lines it should print."""
    command, lines = None, []
    for line in text.splitlines():
        if line.startswith("    " + prompt + " "):
            if command is not None:
                yield command, lines
            command, lines = line[6:], []
        elif command is not None and command.endswith("\\") and not lines:
            command = command[:-1] + line.strip()
        elif line.startswith(("    # ", "    $ ")) or (line and not line.startswith("    ")):
            if command is not None:
                yield command, lines
            command, lines = None, []
        elif command is not None:
            lines.append(line[4:])
    if command is not None:
        yield command, lines


def pattern(lines, escape=re.escape):
    """A regular expression of what is shown; blank lines at its end do not count."""
    while lines and not lines[-1]:
        lines = lines[:-1]
    return "".join(r"(?:.*\n)*?" if line == "..." else escape(line) + r"[ ]*\n"
                   for line in lines)


# Of all commands of a section, in a machine that is emulated.
SECONDS = 300
NUMBER = r"0x[0-9a-f]+|[0-9a-f]*[0-9][0-9a-f]*"


def loose(line):
    """A regular expression of a line with any numbers, and columns of any width."""
    made = ""
    for part in re.split("(" + NUMBER + "| +)", line):
        if not part.strip():
            made += " +" if part else ""
        else:
            made += "(?:" + NUMBER + ")" if re.fullmatch(NUMBER, part) else re.escape(part)
    return made


def sections(text):
    """The text below each heading."""
    parts = re.split("(?m)^#+ (.*)$", text)
    return dict(zip(parts[1::2], parts[2::2]))


def run_in_machine(page, heading, setup):
    """Runs the commands below a heading, and prints a line for each."""
    with open(page, encoding="utf-8") as file:
        found = sections(file.read())
    if heading == "-":
        for name, text in found.items():
            for command, _ in commands(text, "#"):
                print(name, command, sep=": ")
        return
    shown = list(commands(found[heading], "#"))
    script = f"changed() {{ cat; }}\nbefore() {{ :; }}\n. {setup}\n"
    for number, (command, _) in enumerate(shown, 1):
        script += f"before {number} >&2\nprintf '\\036'\n" \
            f"run=$(changed <<'COMMAND'\n{command}\nCOMMAND\n)\n" \
            "eval \"$run\"\nprintf '\\036%s' ${run:+$?}\n"
    # Into files: perf writes its recording to a pipe, if its output is one.
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        shell = subprocess.Popen(["bash", "-c", script], stdout=out, stderr=err,
                                 start_new_session=True)
        try:
            shell.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        parts, errors = out.read().split("\036")[1:], err.read()
    for number, (command, lines) in enumerate(shown):
        output, status = (parts[2 * number:2 * number + 2] + ["", "none"])[:2]
        wanted = pattern(lines, loose)
        if not status:
            continue
        if status == "0" and (not wanted or re.fullmatch(wanted, output)):
            print("ok", command)
        else:
            print("not ok", command)
            print("exit status", status, errors, output, sep="\n")


def main():
    if sys.argv[1] == "--machine":
        run_in_machine(*sys.argv[2:])
        return
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
