#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a page that kipt diff --html wrote, with the parser of HTML that Python has, and says what
is wrong with it.

read_diff.py FILE PAGE         the lines of kipt diff --json come on standard input: the table must
                               have the same; the page may name nothing outside itself, and do no
                               more than PAGE, which kipt open --html wrote
read_diff.py FILE              prints the head
"""
import html.parser
import json
import re
import sys

from read_html import OUTSIDE
from reader import Wrong, called, need

COLUMNS = {"self": "self", "total": "total", "instructions": "insns", "calls": "calls"}
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "header", "h1", "pre", "main", "div",
            "table", "thead", "tbody", "tr", "th", "td", "br", "script", "p"}
ATTRIBUTES = {"class", "data-n", "lang", "charset", "name", "content", "http-equiv"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.head, self.rows, self.policy, self.inside, self.scripts = "", [], None, None, 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        need(tag in ELEMENTS and ATTRIBUTES.issuperset(attrs),
             "it has an element %s with %s", tag, attrs)
        self.scripts += tag == "script"
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append([attrs.get("data-n"), ""])
        elif tag == "br":
            self.rows[-1][-1][1] += "\n"
            return
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside in ("script", "style"):
            need(not OUTSIDE.search(data), "it names something outside: %s", OUTSIDE.search(data))
        elif self.inside == "pre":
            self.head += data
        elif self.inside in ("td", "th"):
            self.rows[-1][-1][1] += data


def row_of(change):
    row = [[None, called(change)], [None, change.get("only", "").upper()]]
    for key in COLUMNS.values():
        if key in change:
            a, b = change[key]
            row += [[str(a)], [str(b)], [str(b - a), key in change.get("unsure", ())]]
    return row


def check(page, other, lines):
    need(page.policy and page.policy == other, "another policy: %s", page.policy)
    need(page.scripts == 1, "it has %d scripts", page.scripts)
    first, *changes = lines
    names = [cell[1] for cell in page.rows[0]]
    want = ["function", "only in"]
    for column, key in COLUMNS.items():
        if key in ("insns", "calls"):
            want += [column + " A", column + " B", "change"]
        elif "unit" in first:
            want += ["%s %s\nlost: %d ticks" % (column, run.upper(), first[run]["lost"])
                     for run in "ab"] + ["change"]
    need(names == want, "columns are %s, not %s", names, want)
    need(len(page.rows) - 1 == len(changes), "it has %d rows", len(page.rows) - 1)
    for row, change in zip(page.rows[1:], changes):
        got = [cell if cell[0] is None else cell[:1] for cell in row]
        for i in range(4, len(row), 3):
            got[i] = [row[i][0], row[i][1].endswith(" ?")]
        need(got == row_of(change), "%s is not %s", row, change)


def main():
    text = open(sys.argv[1], encoding="utf-8", newline="").read()
    try:
        page = Page(text)
        if len(sys.argv) == 2:
            print(page.head, end="")
        else:
            other = re.search(r'Content-Security-Policy" content="([^"]*)"', open(sys.argv[2]).read())
            check(page, other[1], list(map(json.loads, sys.stdin)))
    except Wrong as wrong:
        print("wrong:", wrong)


if __name__ == "__main__":
    main()
