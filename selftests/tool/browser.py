# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium driven through the WebDriver interface of chromedriver, and results of
tests in KTAP."""
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015", "home": "\ue011",
        "enter": "\ue007", "page_down": "\ue00f", "escape": "\ue00c"}


def make_records(path, lines):
    """A file of records, by the program that is built beside the tool, the only argument."""
    folder = os.path.dirname(os.path.abspath(sys.argv[1]))
    subprocess.run([os.path.join(folder, "make_records"), path], input=lines, check=True)


class Tests:
    def __init__(self):
        self.count = self.failed = 0
        print("TAP version 13")

    def same(self, name, want, got):
        self.count += 1
        if want != got:
            self.failed += 1
            print("# want: %s\n# got:  %s" % (want, got))
        print("%sok %d %s" % ("" if want == got else "not ", self.count, name), flush=True)

    def finish(self):
        print("1..%d" % self.count)
        return 1 if self.failed else 0


class Browser:
    """A session of WebDriver."""

    def __init__(self, folder):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        try:
            self.begin(folder)
        except OSError:
            self.end()
            raise

    def begin(self, folder):
        port = None
        for line in self.driver.stdout:
            port = re.search(r"successfully on port (\d+)", line)
            if port:
                break
        if not port:
            raise OSError("chromedriver does not start")
        self.base = "http://127.0.0.1:%s/session" % port[1]
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu",
                            "--disable-dev-shm-usage", "--window-size=1300,1500",
                            "--user-data-dir=%s/profile" % folder]}
        made = self.ask("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/" + made["sessionId"]

    def end(self):
        self.driver.terminate()
        self.driver.wait()

    def ask(self, method, path, value=None):
        request = urllib.request.Request(self.base + path, method=method,
                                         data=None if value is None else json.dumps(value).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise OSError(error.read().decode()) from error

    def open(self, path):
        self.ask("POST", "/url", {"url": "file://" + path})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": arguments})

    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)

    def element(self, name):
        return self.ask("POST", "/element", {"using": "css selector", "value": "#" + name})[ELEMENT]

    def click(self, name):
        self.ask("POST", "/element/%s/click" % self.element(name), {})

    def type(self, name, text):
        self.ask("POST", "/element/%s/value" % self.element(name), {"text": text})

    def keys(self, *names):
        steps = []
        for name in names:
            key = KEYS.get(name, name)
            steps += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.ask("POST", "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": steps}]})

    def drag(self, name, x, to, y):
        """From X to TO, pixels from the left of an element."""
        left, top = self.run("const e = document.getElementById(arguments[0]);"
                             "e.scrollIntoView(); const r = e.getBoundingClientRect();"
                             "return [Math.ceil(r.left), Math.ceil(r.top)]", name)
        steps = [{"type": "pointerMove", "x": left + x, "y": top + y, "duration": 0},
                 {"type": "pointerDown", "button": 0},
                 {"type": "pointerMove", "x": left + to, "y": top + y, "duration": 20},
                 {"type": "pointerUp", "button": 0}]
        self.ask("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
             "actions": steps}]})

    def errors(self):
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})
                if entry["level"] == "SEVERE"]

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.end()
