"""serve.py DIR LOG: serve DIR on a port of 127.0.0.1, which is printed, for test.sh.

Each page may load what this host has, and nothing else: a browser tells of each attempt (a policy's report), which goes
into LOG.  /wait answers after a third of a second: a browser in virtual time has no other way to wait for its own workers.
"""
import functools
import http.server
import json
import sys
import time


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, log, *args, **kwargs):
        self.log = log
        super().__init__(*args, **kwargs)

    def end_headers(self):
        self.send_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline' data:; report-uri /report")
        super().end_headers()

    def answer(self):
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        if self.path == "/wait":
            time.sleep(0.33)
            self.answer()
        else:
            super().do_GET()

    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["csp-report"]
        with open(self.log, "a") as log:
            print(said["document-uri"], "loads", said["blocked-uri"], file=log)
        self.answer()

    def log_message(self, *args):
        pass


handler = functools.partial(Handler, sys.argv[2], directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_address[1], flush=True)
server.serve_forever()
