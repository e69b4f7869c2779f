"""prism_proxy.py: simcloud behind Prism, which refuses each request (422) and each answer (500) that a vendor's description
of its API does not allow.

The description is made strict first: where it names the members of an object, it may have no others, in requests and in
answers.  A schema that Prism cannot compile switches its checks off without a word; therefore each test has canaries: known
bad requests and answers that must be refused.
"""
import copy
import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from contextlib import contextmanager

import tap

# Prism's own errors, which no vendor has.
ERRORS = "https://stoplight.io/prism/errors#"

tests = []


def test(fn):
    tests.append(fn)
    return fn


def want(got, expected, about=None):
    if got != expected:
        raise AssertionError(f"{got!r} is not {expected!r}: {about!r}"[:2000])


def run_all(*args):
    """As TAP; each test gets args."""
    return tap.run(tests, lambda fn: fn(*args))


# --- descriptions ---------------------------------------------------------------------------------------------------


def strict(spec):
    """The same, but that no object has members that it does not name."""
    spec = copy.deepcopy(spec)

    def close(x):
        if isinstance(x, list):
            for v in x:
                close(v)
        elif isinstance(x, dict):
            # The parts of allOf would refuse each other's members.
            if x.get("type") == "object" and isinstance(x.get("properties"), dict):
                x.setdefault("additionalProperties", False)
            for key, v in x.items():
                if key not in ("allOf", "example", "examples", "default", "enum"):
                    close(v)

    close(spec)
    return spec


# --- programs -------------------------------------------------------------------------------------------------------


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextmanager
def simcloud(program, token, *options):
    """The URL of a simcloud that wants this token."""
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "token")
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="ascii") as f:
            f.write(token)
        with subprocess.Popen([program, "--token-file", path, *options], stdout=subprocess.PIPE, text=True) as proc:
            try:
                yield proc.stdout.readline().strip()
            finally:
                proc.terminate()


@contextmanager
def prism(program, spec, upstream):
    """The URL of Prism in front of upstream."""
    with tempfile.TemporaryDirectory() as home:
        path, port = os.path.join(home, "spec.json"), free_port()
        with open(path, "w", encoding="utf-8") as f:
            json.dump(spec, f)
        with open(os.path.join(home, "log"), "w+", encoding="utf-8") as log, \
                subprocess.Popen([program, "proxy", "--errors", "-h", "127.0.0.1", "-p", str(port), path, upstream],
                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log) as proc:
            try:
                wait_for(port, proc, log)
                yield f"http://127.0.0.1:{port}"
            finally:
                proc.terminate()


def wait_for(port, proc, log):
    for _ in range(300):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        if proc.poll() is not None:
            break
        time.sleep(0.1)
    log.seek(0)
    raise AssertionError("Prism does not listen: " + log.read()[-1500:])


class Liar:
    """A server that gives the answer (status, body) to everything."""

    def __init__(self):
        self.answer = None
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # http.server's
                status, body = outer.answer
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *why):
        self.server.shutdown()
        self.server.server_close()


# --- requests -------------------------------------------------------------------------------------------------------


def send(url, method, path, body=None, headers=None):
    """Status and JSON, or text, of the answer."""
    conn = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=30)
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    headers = dict(headers or {})
    if text is not None:
        headers.setdefault("Content-Type", "application/json")
    conn.request(method, path, body=text, headers=headers)
    reply = conn.getresponse()
    said = reply.read().decode()
    conn.close()
    try:
        return reply.status, json.loads(said)
    except ValueError:
        return reply.status, said


def prism_says(said):
    """Prism's error, such as "VIOLATIONS"; "": the answer is upstream's."""
    kind = said.get("type", "") if isinstance(said, dict) else ""
    return kind[len(ERRORS):] if isinstance(kind, str) and kind.startswith(ERRORS) else ""


def arguments():
    """SIMCLOUD PRISM SPEC: the programs, and the description made strict."""
    program, proxy, path = sys.argv[1:]
    with open(path, encoding="utf-8") as f:
        return program, proxy, strict(json.load(f))
