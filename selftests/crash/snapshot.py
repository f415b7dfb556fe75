# SPDX-License-Identifier: GPL-2.0-only
"""What `guest` kept of a snapshot: the summary and the last branches of
`kipt crash show N --json`, and its records; the same of a snapshot in a dump."""
import glob
import json
import os
import subprocess

import pages


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


class Snapshot:
    """snapshot.N.* in a folder of `die`."""

    def __init__(self, path):
        self.records = path + ".records"
        summary = lines(path + ".json")
        self.event = [line for line in summary if line["type"] == "crash"][0]
        self.ip = int(self.event["ip"], 16)
        # As of a page of the dump, as far as it is asked for.
        self.cpus = [{"number": line["cpu"], "stop": {
            "state": pages.STOPPED, "tsc": line["tsc"], "head": line["bytes"], "tail": 0}}
            for line in summary
            if line["type"] == "crash-cpu" and line["state"] == "stopped"]
        self.branches = {}
        for line in lines(path + ".last"):
            if line["type"] == "branch":
                self.branches.setdefault(line["cpu"], []).append(
                    (int(line["ip"], 16), int(line["to"], 16)))


def from_dump(kipt, dump, number, path):
    """Make the same of a dump; returns what went wrong."""
    show = [kipt, "crash", dump, "--snapshot", str(number), "--json"]
    wrong = ""
    for options, kind in ((["--all-cpus", "-o", path + ".records"], ".json"),
                          (["--all-cpus", "--branches", "--last", "2"], ".last")):
        with open(path + kind, "w") as out:
            done = subprocess.run(show + options, check=False, stdout=out, text=True,
                                  stderr=subprocess.PIPE)
        if done.returncode or "not in the dump" in done.stderr:
            wrong += done.stderr
    return wrong.strip().replace("\n", "\n# ")


def numbers(folder):
    """Of those that are there."""
    return sorted(int(os.path.basename(path).split(".")[1])
                  for path in glob.glob(os.path.join(glob.escape(folder), "snapshot.*.json")))
