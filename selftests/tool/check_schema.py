#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Validates what kipt prints with --json by docs/schema/kipt.schema.json.

Usage: check_schema.py SCHEMA

Reads questions from standard input, a line each, and prints a line with "." after the answer to
each:

lines FILE...     "ok FILE" if each line is of exactly one kind, "not ok FILE: FAULT" if not, or
                  without a line
kinds FILE...     the kinds of which no line is
changes FILE...   what was done to a line that is valid all the same; of each kind and shape one
                  line is changed in every way
form              what a definition lacks

A schema with a choice of seventy kinds takes long for a line, and says of a fault nothing but
that no kind fits. So a line is judged by the kinds whose "type" (and name of a packet) it has,
and one line of each shape by the whole schema, too. What was found of a line of a file is kept.
"""
import copy
import json
import os
import sys

import jsonschema

VERSION = jsonschema.Draft202012Validator
# Members that say of which kind a line is.
NAMES = ("type", "packet")


class Schema:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.all = json.load(file)
        self.defs = self.all["$defs"]
        self.kinds = [choice["$ref"].rpartition("/")[2] for choice in self.all["oneOf"]]
        self.whole = VERSION(self.all)
        self.of = {kind: VERSION(dict(self.all, oneOf=[{"$ref": "#/$defs/" + kind}]))
                   for kind in self.kinds}
        self.shapes = set()
        self.judged = {}

    def judge_text(self, text):
        """The same of a line as it is in a file."""
        if text not in self.judged:
            self.judged[text] = self.judge(parse(text))
        return self.judged[text]

    def fits(self, kind, line):
        """Whether the members that name a kind are those of this one."""
        properties = self.defs[kind]["properties"]
        for name in NAMES:
            wanted = properties.get(name, {})
            wanted = [wanted["const"]] if "const" in wanted else wanted.get("enum")
            if wanted is not None and line.get(name) not in wanted or \
                    wanted is None and name in line and name not in properties:
                return False
        return True

    def judge(self, line):
        """The kinds that a line is of, and why it is of none."""
        kinds, why, depth = [], "no kind has this type", -1
        for kind in self.kinds:
            if not self.fits(kind, line):
                continue
            error = next(self.of[kind].iter_errors(line), None)
            if not error:
                kinds.append(kind)
                continue
            error = jsonschema.exceptions.best_match([error])
            if len(error.absolute_path) > depth:
                depth = len(error.absolute_path)
                why = "%s: %s: %s" % (kind, error.json_path, error.message)
        if len(kinds) > 1:
            why = "it is of several kinds: " + ", ".join(kinds)
        return kinds, None if len(kinds) == 1 else why

    def agrees(self, line):
        """Whether the whole schema says the same of a line as its kinds do."""
        shape = (str(line.get("type")), *sorted(line))
        if shape in self.shapes:
            return True
        self.shapes.add(shape)
        return self.whole.is_valid(line) == (not self.judge(line)[1])


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is there twice")
    return members


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return list(file)


def parse(text):
    line = json.loads(text, object_pairs_hook=unique)
    if not isinstance(line, dict):
        raise ValueError("it is no object")
    return line


def fault_of(schema, text):
    try:
        return schema.judge_text(text)[1] or \
            (None if schema.agrees(parse(text)) else "the whole schema refuses it")
    except ValueError as error:
        return str(error)


def lines_check(schema, paths):
    for path in paths:
        name, lines = os.path.basename(path), lines_of(path)
        faults = ("line %d: %s: %s" % (number, why, text.strip()[:200])
                  for number, text in enumerate(lines, 1)
                  for why in [fault_of(schema, text)] if why)
        fault = next(faults, None) if lines else "it has no line"
        yield "not ok %s: %s" % (name, fault) if fault else "ok " + name


def kinds_missing(schema, paths):
    left = set(schema.kinds)
    for path in paths:
        for text in lines_of(path):
            left -= set(schema.judge_text(text)[0])
    return sorted(left)


def changed(schema, kind, line):
    """Yields what a line is not, each with what was done to it."""
    yield "a member more", dict(line, no_member=1)
    for name in schema.defs[kind]["required"]:
        yield "without " + name, {key: value for key, value in line.items() if key != name}
    for name, value in line.items():
        yield name + " is null", dict(line, **{name: None})
        if isinstance(value, bool):
            yield name + " as text", dict(line, **{name: str(value)})
        elif isinstance(value, (int, float)):
            yield name + " below 0", dict(line, **{name: -1})
            yield name + " as text", dict(line, **{name: str(value)})
            yield name + " beyond 64 bits", dict(line, **{name: 2 ** 80})
        elif isinstance(value, str):
            yield name + " as a number", dict(line, **{name: 77})
            yield name + " as a list", dict(line, **{name: [value]})
        elif value:
            other = copy.deepcopy(value)
            if isinstance(other, list):
                other[0] = None
            else:
                other[next(iter(other))] = None
            yield name + " with null in it", dict(line, **{name: other})


def changes_check(schema, paths):
    seen = set()
    for text in (text for path in paths for text in lines_of(path)):
        line, kind = parse(text), schema.judge_text(text)[0][0]
        if (kind, tuple(sorted(line))) in seen:
            continue
        seen.add((kind, tuple(sorted(line))))
        for what, other in changed(schema, kind, line):
            if other != line and schema.judge(other)[0]:
                yield "%s %s is valid: %s" % (kind, what, json.dumps(other)[:200])


def objects_in(value, path):
    if isinstance(value, dict):
        if value.get("type") == "object" and "properties" in value:
            yield path, value
        for name, inner in value.items():
            yield from objects_in(inner, path + "/" + name)


def described(schema, member):
    while "$ref" in member and "description" not in member:
        member = schema.defs[member["$ref"].rpartition("/")[2]]
    return bool(member.get("description"))


def form_check(schema):
    """Everything says what it is, and objects take no other members."""
    VERSION.check_schema(schema.all)
    for name, definition in schema.defs.items():
        if not described(schema, definition):
            yield name + " has no description"
    for path, value in objects_in(schema.defs, ""):
        if value.get("additionalProperties") is not False:
            yield path + " takes any member"
        for name in set(value.get("required", ())) - set(value["properties"]):
            yield "%s requires %s, which it has not" % (path, name)
        for name, member in value["properties"].items():
            if name not in NAMES and not described(schema, member):
                yield "%s/%s has no description" % (path, name)
    used = json.dumps(schema.all)
    for name in schema.defs:
        if '"#/$defs/%s"' % name not in used:
            yield name + " is not used"


def main():
    schema = Schema(sys.argv[1])
    for question in sys.stdin:
        what, *paths = question.split()
        for line in {"lines": lambda: lines_check(schema, paths),
                     "kinds": lambda: kinds_missing(schema, paths),
                     "changes": lambda: changes_check(schema, paths),
                     "form": lambda: form_check(schema)}[what]():
            print(line)
        print(".", flush=True)


main()
