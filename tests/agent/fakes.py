"""fakes.py - what burst-agent talks to: burstd's listener for nodes, and metadata services, on 127/8.

They keep what they were asked, and answer as the test says; a CA of their own signs for them.
"""

import base64
import http.server
import json
import os
import socket
import socketserver
import ssl
import subprocess
import threading
import time


def openssl(*args, **kw):
    return subprocess.run(["openssl", *args], check=True, capture_output=True, **kw).stdout


class CA:
    """Keys and certificates below `path`; P-256 throughout."""

    def __init__(self, path, name="ca"):
        os.makedirs(path, exist_ok=True)
        self.path, self.name = path, name
        self.key, self.pem = f"{path}/{name}.key", f"{path}/{name}.pem"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key,
                "-out", self.pem, "-days", "30", "-subj", f"/CN=burst test {name}")

    def sign(self, csr, ext, dates=()):
        """csr: PEM bytes; returns PEM bytes.  dates: arguments of `openssl ca`-like tools are not needed: -days N."""
        conf = f"{self.path}/ext-{threading.get_ident()}.cnf"
        with open(conf, "w", encoding="ascii") as f:
            f.write(ext)
        return openssl("x509", "-req", "-CA", self.pem, "-CAkey", self.key, "-CAcreateserial", "-extfile", conf,
                       *(dates or ("-days", "1")), input=csr)

    def issue(self, name, ext, dates=(), cn=None):
        """A key and a certificate as files; returns their paths."""
        key, cert = f"{self.path}/{name}.key", f"{self.path}/{name}.pem"
        csr = openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                      "-subj", f"/CN={cn or name}")
        with open(cert, "wb") as f:
            f.write(self.sign(csr, ext, dates))
        os.chmod(key, 0o600)
        return key, cert


SERVER_EXT = "subjectAltName=IP:127.0.0.1,IP:127.0.0.2,IP:127.0.0.3,DNS:localhost\nextendedKeyUsage=serverAuth\n"
CLIENT_EXT = "extendedKeyUsage=clientAuth\n"


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is what we test


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass

    def answer(self, status, body=b"", headers=()):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        elif isinstance(body, str):
            body = body.encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def any(self):
        n = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(n)
        self.server.fake.asked(self, body)

    do_GET = do_POST = do_PUT = any


class Fake:
    """One server in a thread.  `requests` is what came: (time, method, path, body, headers, from where)."""

    def __init__(self, address, port=0, context=None):
        self.lock = threading.Lock()
        self.requests = []
        self.rules = []
        self.server = Server((address, port), Handler, bind_and_activate=False)
        self.server.fake = self
        self.server.server_bind()
        self.server.server_activate()
        self.port = self.server.server_address[1]
        self.address = address
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def asked(self, handler, body):
        with self.lock:
            self.requests.append((time.monotonic(), handler.command, handler.path, body, handler.headers,
                                  handler.client_address))
        for prefix, fn in reversed(self.rules):
            if handler.path.startswith(prefix):
                fn(handler, body)
                return
        handler.answer(404)

    def on(self, prefix, fn):
        """fn(handler, body), or (status, body[, headers]); the latest rule counts."""
        if isinstance(fn, tuple):
            answer = fn

            def fn(h, _):
                h.answer(*answer)
        self.rules.append((prefix, fn))
        return self

    def got(self, prefix, method=None):
        with self.lock:
            return [r for r in self.requests if r[2].startswith(prefix) and method in (None, r[1])]

    def bodies(self, prefix):
        return [json.loads(r[3]) for r in self.got(prefix)]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def hello(h, _):
    h.answer(200, {"ok": True, "generation": 3, "now_ms": int(time.time() * 1000)})


class Burstd(Fake):
    """burstd's listener for nodes: TLS, and a client certificate of `ca`."""

    def __init__(self, ca, address="127.0.0.1", port=0, cert=None, tls=None):
        key, pem = cert or ca.issue("server", SERVER_EXT)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, key)
        context.load_verify_locations(ca.pem)
        context.verify_mode = ssl.CERT_REQUIRED
        if tls:
            context.maximum_version = tls
        super().__init__(address, port, context)
        self.ca = ca
        self.on("/v1/node/heartbeat", hello)
        self.on("/v1/node/event", (200, {"ok": True}))
        self.on("/v1/node/renew", self.renew)

    def renew(self, h, body):
        csr = base64.b64decode(json.loads(body)["csr"])
        h.answer(200, {"ok": True, "cert": self.ca.sign(csr, CLIENT_EXT).decode()})

    @property
    def url(self):
        return f"https://{self.address}:{self.port}"

    def beats(self):
        return self.bodies("/v1/node/heartbeat")

    def events(self, kind=None):
        return [b for b in self.bodies("/v1/node/event") if kind in (None, b["type"])]


class Raw:
    """A TCP server that does what fn(socket) says with each connection; with a context, by TLS."""

    def __init__(self, fn, address="127.0.0.1", context=None):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address, 0))
        self.listener.listen(64)
        self.address, self.port = self.listener.getsockname()
        self.fn, self.context = fn, context
        self.connections = 0
        threading.Thread(target=self.run, daemon=True).start()

    @property
    def url(self):
        return f"https://{self.address}:{self.port}"

    def one(self, s):
        try:
            if self.context is not None:
                s = self.context.wrap_socket(s, server_side=True)
            self.fn(s)
        except OSError:
            pass
        finally:
            s.close()

    def run(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.one, args=(s,), daemon=True).start()

    def close(self):
        self.listener.close()
