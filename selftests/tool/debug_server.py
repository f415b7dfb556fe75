#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A server of debug files on the loopback, for tests.

Usage: debug_server.py MODE FOLDER PORT LOG

MODE is answer, none (404) or hang. FOLDER has BUILDID.debuginfo and
BUILDID.executable; the port goes to the file PORT, a line for each request to LOG.
"""
import http.server
import os
import sys
import threading

mode, folder, port_file, log = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(log, "a") as out:
            print(self.path, file=out)
        _, _, build_id, kind = (self.path.split("/") + [""] * 4)[:4]
        name = os.path.join(folder, f"{build_id}.{kind}")
        if mode == "hang":
            threading.Event().wait(60)
        if mode != "answer" or not os.path.exists(name):
            self.send_error(404)
            return
        data = open(name, "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as out:
    print(server.server_address[1], file=out)
os.rename(port_file + ".new", port_file)
server.serve_forever()
