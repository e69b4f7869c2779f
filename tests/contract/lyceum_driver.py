"""lyceum_driver.py SIMCLOUD DRIVER: the driver lyceum beside Lyceum's own command line (lyceum-cli), as TAP.

What the two send for the same wish must be the same, and what one buys the other must see as what it is.  Both speak to
simcloud's face, through a scribe who keeps what they say.
"""
import http.client
import http.server
import json
import re
import sys
import threading
import urllib.parse

import lyceum
import tap
from shell import Shell

CLUSTER = "0b1c2d3e-4f50-4000-8000-000000000001"
NAME = "b0b1c2d3e4f50-c-h100-7"
SSH_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5"
FIRST = "/api/v2/external/"
STATES = {"pending": 1, "running": 2, "failed": 5, "ended": 6}

tests = []


def test(fn):
    tests.append(fn)
    return fn


def want(got, expected, about=None):
    if got != expected:
        raise AssertionError(f"{got!r} is not {expected!r}: {about!r}"[:2000])


def send(base, method, path, body, headers):
    url = urllib.parse.urlsplit(base)
    conn = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    conn.request(method, path, body=body or None, headers=headers)
    reply = conn.getresponse()
    text = reply.read().decode()
    conn.close()
    return reply.status, text


class Scribe:
    """A server that passes each request on, and remembers it."""

    def __init__(self, base):
        said = self.said = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                keep = {k: v for k, v in self.headers.items() if k in ("Authorization", "Content-Type")}
                status, text = send(base, self.command, self.path, body, keep)
                url = urllib.parse.urlsplit(self.path)
                said.append({"method": self.command, "path": url.path, "body": json.loads(body) if body else None,
                             "query": dict(urllib.parse.parse_qsl(url.query)), "headers": keep})
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def last(self, method, path):
        return [rq for rq in self.said if rq["method"] == method and re.fullmatch(FIRST + path, rq["path"])][-1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class World(lyceum.World):
    """A simcloud, the scribe before it, the command line and the driver."""

    def __init__(self, simcloud, driver):
        super().__init__(simcloud)
        self.direct = self.url
        self.scribe = Scribe(self.url)
        self.url = self.scribe.url
        self.login()
        conf = {"url": self.url, "credential": lyceum.KEY, "ssh_public_key": SSH_KEY}
        self.driver = Shell(driver, "lyceum", conf, self.pass_on, cluster=CLUSTER)

    @staticmethod
    def pass_on(rq):
        url = urllib.parse.urlsplit(rq["url"])
        headers = dict(h.split(": ", 1) for h in rq["headers"])
        return send(f"{url.scheme}://{url.netloc}", rq["method"], f"{url.path}?{url.query}".rstrip("?"), rq["body"], headers)

    def post(self, path, body):
        self.url, kept = self.direct if hasattr(self, "direct") else self.url, self.url
        said = super().post(path, body)
        self.url = kept
        return said

    def start(self, *words, ok=True):
        return self.run("vm", "start", "-k", SSH_KEY, "--async", *words, ok=ok)

    def buy(self, kind="h100.8x", market="on-demand", node="h100-7", gen=12):
        place = {"type": kind, "region": "eu", "zone": "", "market": market}
        said = self.driver.run(kind="create", token="t", place=place, wants=[[node, gen, 0]])
        want(said["code"], "ok", said)
        return said["items"][0]["instance"]["id"]

    def seen(self):
        said = self.driver.run(kind="list")
        want(said["code"], "ok", said)
        return {i["id"]: i for i in said["instances"]}

    def close(self):
        self.driver.close()
        self.scribe.close()
        super().close()


def is_same(w, method, path, act_of_cli, act_of_driver):
    """Both send the same; returns what the command line sent."""
    act_of_cli()
    theirs = w.scribe.last(method, path)
    act_of_driver()
    ours = w.scribe.last(method, path)
    assert ours is not theirs
    want(ours["body"], theirs["body"])
    want(ours["headers"].get("Authorization"), theirs["headers"]["Authorization"])
    # What the driver does not say is as the command line says it by default.
    for name, value in ours["query"].items():
        want(value, theirs["query"].get(name), (ours, theirs))
    return theirs


@test
def a_create_is_sent_as_the_command_line_sends_it(w):
    for profile, gpus, market in (("h100", 8, "on-demand"), ("h100", 1, "on-demand"), ("h100", 8, "spot")):
        words = ["-h", profile, "-g", str(gpus), "-t", market, "-n", NAME]
        sent = is_same(w, "POST", "vms/create", lambda a=words: w.start(*a),
                       lambda k=f"{profile}.{gpus}x", m=market: w.buy(k, m))
        want(sent["body"]["instance_specs"], {"gpu_count": gpus})


@test
def a_list_is_asked_for_as_the_command_line_asks(w):
    sent = is_same(w, "GET", "vms/list", lambda: w.list("--no-terminated"), w.seen)
    want(sent["query"]["include_terminated"], "false")


@test
def a_delete_is_sent_as_the_command_line_sends_it(w):
    one, two = w.buy(), w.buy(gen=13)
    w.wait(one, "ready")
    is_same(w, "DELETE", "vms/[^/]*", lambda: w.run("vm", "stop", one, "--force"),
            lambda: w.driver.run(kind="delete", ids=[two]))
    w.wait(two, "terminated")


@test
def prices_are_asked_for_where_the_command_line_asks(w):
    w.buy()
    is_same(w, "GET", "pricing", lambda: w.run("vm", "list"), lambda: w.driver.run(kind="quotes", types=[]))


@test
def what_the_driver_buys_the_command_line_shows(w):
    vm = w.buy("h100.8x", "spot")
    w.wait(vm, "ready")
    shown = w.status(vm)
    want((shown["display_name"], shown["hardware_profile"], shown["gpu_count"], shown["instance_type"]),
         (NAME, "h100", 8, "spot"))
    seen = w.seen()[vm]
    want((seen["node"], seen["gen"], seen["cluster"], seen["state"]), ("h100-7", 12, CLUSTER, STATES["running"]))
    want(seen["addr"], shown["ip_address"].split(":")[0])


@test
def only_vms_with_our_name_are_ours(w):
    other = w.started("-h", "h100", "-n", "staging-api")
    nameless = w.started("-h", "h100")
    want(w.seen(), {})
    w.run("vm", "rename", nameless, NAME)
    want(list(w.seen()), [nameless])
    w.run("vm", "rename", nameless, "--clear")
    want(w.seen(), {})
    want(sorted(v["vm_id"] for v in w.list()), sorted([other, nameless]))


@test
def what_the_command_line_stops_is_gone_from_the_list(w):
    vm = w.buy()
    w.wait(vm, "ready")
    w.run("vm", "stop", vm, "--force")
    w.wait(vm, "terminated")
    want(w.seen(), {})
    want([v["vm_id"] for v in w.list()], [vm])
    said = w.driver.run(kind="list", cursor="all")
    want([(i["id"], i["state"]) for i in said["instances"]], [(vm, STATES["ended"])])


def alone(fn):
    w = World(*sys.argv[1:])
    try:
        fn(w)
    finally:
        w.close()


def main():
    return tap.run(tests, alone)


if __name__ == "__main__":
    sys.exit(main())
