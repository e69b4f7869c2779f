#!/usr/bin/python3 -B
"""test_agent.py [--agent PROGRAM] [WORD...]: burst-agent against hostile and lame servers, as TAP.

No Slurm, no cloud, no root needed: burstd and the metadata services are fakes.py on 127/8, power-off is a script that
leaves a file.  Several tests at once, for most of their time is waiting.  WORD: only tests with it in their name.
"""

import base64
import concurrent.futures
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fakes import CA, CLIENT_EXT, SERVER_EXT  # noqa: E402  pylint: disable=wrong-import-position
from lab import Lab, never, rss_kib, until  # noqa: E402  pylint: disable=wrong-import-position

# --- heartbeats ---------------------------------------------------------------------------------


def heartbeat_says_how_the_node_is(lab):
    """a heartbeat has all that was promised, below 16 KiB, over a connection that is kept"""
    b = lab.burstd()
    lab.job(500)
    lab.job(501, "slurmstepd: [4712.extern]")
    lab.job(502, "/usr/sbin/slurmstepd\0infinity\0")
    lab.job(503, "slurmstepd: [9.batch]", uid=65534)
    lab.start([b])
    until(lambda: len(b.beats()) >= 3, "three heartbeats")
    got = b.beats()[1]
    want = {"v": 1, "node": "h100-1", "generation": 3, "boot_id": "0f7c7d0e-1111-2222-3333-444455556666",
            "key_version": "7", "load_milli": 1250, "uptime_s": 351735, "faulty": False, "clock_wrong": False, "busy": True,
            "seq": 2}
    for key, value in want.items():
        assert got.get(key) == value, (key, got)
    assert sorted(got["jobs"]) == [4711, 4712], got
    assert abs(got["now_ms"] / 1000 - time.time()) < 60 and got["cert_until"] > time.time() and got["agent"], got
    assert len({r[5] for r in b.got("/v1/node/heartbeat")}) == 1, "one connection"
    assert max(len(r[3]) for r in b.got("/v1/node/heartbeat")) < 16384


def body_stays_small(lab):
    """ten thousand steps on a node make no heartbeat of more than 16 KiB"""
    b = lab.burstd()
    for i in range(400):
        lab.job(1000 + i, f"slurmstepd: [{4000000000 + i}.0]")
    lab.start([b])
    got = until(b.beats, "a heartbeat")[0]
    assert len(got["jobs"]) == 256 and got["busy"]
    assert len(b.got("/v1/node/heartbeat")[0][3]) < 16384


def fails_over_and_back(lab):
    """a burstd that is gone is left for the next, and the other way round"""
    one, two = lab.burstd(), lab.burstd(address="127.0.0.2")
    p = lab.start(["https://127.0.0.3:1", "https://no-such-host.invalid:1", one, two])
    until(lambda: len(one.beats()) >= 2, "heartbeats to the third")
    assert not two.beats()
    one.on("/v1/node/heartbeat", (503, {"error": "standby"}))
    until(lambda: len(two.beats()) >= 2, "heartbeats to the fourth")
    one.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3}))
    two.on("/v1/node/heartbeat", (200, {"ok": False}))
    n = len(one.beats())
    until(lambda: len(one.beats()) >= n + 2, "heartbeats to the third again")
    assert p.poll() is None
    assert "no burstd answers" not in lab.read("log"), "there was one each time"


def asks_on(lab):
    """while nobody answers it asks as often as ever: a burstd that is back hears of a node within one interval"""
    b = lab.burstd()
    b.on("/v1/node/heartbeat", (503, {}))
    began = time.monotonic()
    lab.start([b])
    until(lambda: len(b.beats()) >= 12, "twelve heartbeats in vain", 50)
    assert time.monotonic() - began >= 5.4, "no more often than each half a second"


def interval_has_bounds(lab):
    """from 5 s to 5 min: no burstd makes nodes flood it, or fall silent"""
    often, never_again = lab.burstd(), lab.burstd(address="127.0.0.2")
    often.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3, "interval_s": 1}))
    never_again.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3, "interval_s": 301}))
    lab.start([often], heartbeat="60s")
    until(often.beats, "its configuration is read")
    lab.start([never_again], heartbeat="1s")
    until(lambda: len(never_again.beats()) >= 3, "as configured")
    assert len(often.beats()) == 1


def names_are_looked_up(lab):
    """a name in a URL is looked up, and the certificate must have it"""
    b = lab.burstd()
    lab.configure([f"https://localhost:{b.port}"])
    r = lab.command("--once")
    assert r.returncode == 0 and b.beats(), r


def wrong_ca(lab):
    """a burstd whose certificate another CA signed gets no request at all"""
    other = CA(lab.dir, "rogue")
    b = lab.burstd(cert=other.issue("rogue-server", SERVER_EXT))
    lab.configure([b])
    r = lab.command("--once", "--json")
    assert r.returncode == 1 and "untrusted certificate" in json.loads(r.stdout)["error"], r
    assert not b.requests


def old_tls(lab):
    """nor one that has no TLS 1.3: both ends are ours"""
    b = lab.burstd(tls=ssl.TLSVersion.TLSv1_2)
    lab.configure([b])
    assert lab.command("--once").returncode == 1
    assert not b.requests


def wrong_name(lab):
    """nor one whose certificate is for another address, or is a node's"""
    ext = "subjectAltName=IP:127.0.0.2\nextendedKeyUsage=serverAuth\n"
    b = lab.burstd(cert=lab.ca.issue("elsewhere", ext))
    lab.configure([b])
    assert lab.command("--once").returncode == 1
    node = lab.burstd(cert=lab.ca.issue("node", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=clientAuth\n"))
    lab.configure([node])
    r = lab.command("--once")
    assert r.returncode == 1 and "untrusted certificate" in r.stderr, r
    assert not b.requests and not node.requests


def redirect(lab):
    """a redirect is a failure, and nobody follows it"""
    thief, b = lab.burstd(address="127.0.0.2"), lab.burstd()
    b.on("/v1/node/heartbeat", lambda h, _: h.answer(307, b"", [("Location", thief.url + h.path)]))
    lab.configure([b])
    r = lab.command("--once")
    assert r.returncode == 1 and "status 307" in r.stderr, r
    assert not thief.requests


def flood(s):
    s.recv(4096)
    s.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        s.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")


def heads(s):
    s.recv(4096)
    s.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        s.sendall(b"X-More: " + b"y" * 500 + b"\r\n")


def huge_answers(lab):
    """an endless body and an endless head are cut, cost no memory, and the next burstd is asked"""
    calm, b = lab.burstd(), lab.burstd()
    p = lab.start([calm])
    until(calm.beats, "a heartbeat")
    usual = rss_kib(p.pid)  # OpenSSL's most of all: on Debian 13 2 MiB more than on 12
    p.kill()
    one, two = lab.raw(flood), lab.raw(heads)
    p = lab.start([one, two, b])
    until(b.beats, "a heartbeat to the third")
    assert one.connections and two.connections
    more = rss_kib(p.pid) - usual
    assert more < (1 if "asan" not in Lab.agent else 700) * 1024, f"{usual} and {more} KiB"


def dribble(s):
    s.recv(4096)
    for c in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: and slow\r\n" * 100:
        s.sendall(bytes([c]))
        time.sleep(0.3)


def slow_servers(lab):
    """who answers byte by byte, or never, is left after ten seconds"""
    b = lab.burstd()
    slow = lab.raw(dribble)
    lab.start([slow, b])
    begun = time.monotonic()
    until(b.beats, "a heartbeat to the second")
    assert 8 < time.monotonic() - begun < 20
    mute = lab.raw(lambda s: time.sleep(60), tls=False)
    lab.configure([mute.url])
    r = lab.command("--once")
    assert r.returncode == 1 and "TLS handshake" in r.stderr, r


def closed_connection(lab):
    """a kept connection that burstd closed is no failure"""
    b = lab.burstd()

    def once(h, body):
        h.close_connection = True  # without saying so
        h.answer(200, {"ok": True, "generation": 3})

    b.on("/v1/node/heartbeat", once)
    lab.start([b])
    until(lambda: len(b.beats()) >= 4, "four heartbeats")
    assert len({r[5] for r in b.got("/v1/node/heartbeat")}) >= 4
    assert "no burstd" not in lab.read("log"), lab.read("log")


def answers_that_are_none(lab):
    """only a whole {"ok":true} for this very generation is the answer to a heartbeat"""
    b = lab.burstd()
    for bad in ({"ok": False, "generation": 3}, {"ok": "true", "generation": 3}, {"ok": True, "generation": 4}, {"ok": True, "generation": 2},
                {"ok": True}, {"ok": True, "generation": 0}, {"ok": True, "generation": None},
                b'{"ok":true,"generation":3', b'[{"ok":true,"generation":3}]', b"", b"OK",
                b'{"ok":true,"generation":3}{"ok":true,"generation":3}', b'{"ok":true,"generation":"3"}'):
        b.on("/v1/node/heartbeat", (200, bad))
        lab.configure([b])
        assert lab.command("--once").returncode == 1, bad
    for status in (202, 204, 401, 410, 500):
        b.on("/v1/node/heartbeat", (status, {"ok": True, "generation": 3} if status != 204 else b""))
        assert lab.command("--once").returncode == 1, status
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3, "more": [1, {"a": None}]}))
    assert lab.command("--once").returncode == 0
    # What else a newer burstd may say in another way must not cost the node.
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3, "hosts": "v" * 100, "interval_s": 2.5, "now_ms": "soon"}))
    assert lab.command("--once").returncode == 0


# --- certificates ---------------------------------------------------------------------------------


def renewal(lab):
    """the certificate is renewed when burstd says so, and used from then on"""
    b = lab.burstd()
    before = lab.read("h100-1.pem")
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3, "renew": True}))
    lab.start([b])
    until(lambda: b.got("/v1/node/renew"), "a renewal")
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3}))
    until(lambda: lab.read("h100-1.pem") not in ("", before), "a new certificate")
    n = len(b.beats())
    until(lambda: len(b.beats()) >= n + 2, "heartbeats with it")
    assert os.stat(lab.cert).st_mode & 0o777 == 0o600
    assert len({r[5] for r in b.got("/v1/node/heartbeat")}) >= 2, "a new connection"
    assert lab.command("--check").returncode == 0


def renewal_in_time(lab):
    """it is renewed when two thirds of its life are over, by burstd's clock, and once"""
    b = lab.burstd()
    ahead = 20 * 3600

    def late(h, _):
        h.answer(200, {"ok": True, "generation": 3, "now_ms": int((time.time() + ahead) * 1000)})

    b.on("/v1/node/heartbeat", late)

    def renew(h, body):
        csr = base64.b64decode(json.loads(body)["csr"])
        pem = lab.ca.sign(csr, CLIENT_EXT, ("-days", "30"))
        h.answer(200, {"cert": base64.b64encode(pem).decode()})

    b.on("/v1/node/renew", renew)
    lab.start([b], deadman_job="1h")
    until(lambda: b.got("/v1/node/renew"), "a renewal")
    never(lambda: len(b.got("/v1/node/renew")) > 1, "once", 3)


def renewal_by_the_wall(lab):
    """F57: certificates are dated by burstd's wall clock, not by the time that it has for all else"""
    b = lab.burstd()
    ahead = 20 * 3600

    def set_back(h, _):
        h.answer(200, {"ok": True, "generation": 3, "now_ms": int((time.time() + ahead) * 1000), "wall_ms": int(time.time() * 1000)})

    b.on("/v1/node/heartbeat", set_back)
    b.on("/v1/node/renew", (503, {}))
    lab.start([b], deadman_job="1h")
    until(lambda: len(b.beats()) > 1, "heartbeats")
    never(lambda: b.got("/v1/node/renew"), "a renewal", 3)


def renewal_for_a_job(lab):
    """nor later than its end is as far away as a job may run without burstd, which takes none that has ended"""
    b, other = lab.burstd(), Lab()
    c = other.burstd()
    for one in b, c:
        one.on("/v1/node/heartbeat", lambda h, _: h.answer(200, {"ok": True, "generation": 3, "now_ms": int((time.time() + 13 * 3600) * 1000)}))
    try:
        lab.start([b])  # 12 h
        other.start([c], deadman_job="1h")
        until(lambda: b.got("/v1/node/renew"), "a renewal")
        until(lambda: len(c.got("/v1/node/heartbeat")) >= 3, "heartbeats")
        assert not c.got("/v1/node/renew"), "two thirds of its life are not over"
        # Longer than it lives: not all of the time.
        c.on("/v1/node/heartbeat", lambda h, _: h.answer(200, {"ok": True, "generation": 3, "now_ms": int((time.time() + 5 * 3600) * 1000)}))
        other.children[0].kill()
        other.start([c], deadman_job="48h")
        n = len(c.got("/v1/node/heartbeat"))
        until(lambda: len(c.got("/v1/node/heartbeat")) >= n + 5, "heartbeats")
        assert not c.got("/v1/node/renew"), "a quarter of its life is not over"
    finally:
        other.close()


def rogue_renewal(lab):
    """a certificate for another key, from another CA, that ends sooner, or that is none, changes nothing"""
    b = lab.burstd()
    other = CA(lab.dir, "rogue")
    _, stolen = lab.ca.issue("other-key", CLIENT_EXT)
    with open(stolen, encoding="ascii") as f:
        stolen = f.read()
    before = lab.read("h100-1.pem")
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3, "renew": True}))
    bad = [lambda csr: stolen, lambda csr: other.sign(csr, CLIENT_EXT).decode(), lambda csr: "x", lambda csr: "",
           lambda csr: lab.ca.sign(csr, CLIENT_EXT, ("-days", "0")).decode()]
    for one in bad:
        b.on("/v1/node/renew", lambda h, body, one=one: h.answer(
            200, {"cert": one(base64.b64decode(json.loads(body)["csr"]))}))
        n = len(b.got("/v1/node/renew"))
        p = lab.start([b])
        until(lambda: len(b.got("/v1/node/renew")) > n, "a renewal")  # pylint: disable=cell-var-from-loop
        k = len(b.beats())
        until(lambda: len(b.beats()) > k, "a heartbeat after it")  # pylint: disable=cell-var-from-loop
        assert lab.read("h100-1.pem") == before
        p.kill()
        p.wait()
    assert lab.read("log").count("certificate not renewed") == len(bad), lab.read("log")


def wrong_clock(lab):
    """a clock that is years off, or jumps, neither cuts the node off nor puts it out"""
    b = lab.burstd()
    env = lab.clock()
    lab.clock_to(10 * 365 * 86400)
    lab.start([b], env=env, deadman="4s")
    until(lambda: len(b.beats()) >= 3, "heartbeats")
    assert b.beats()[-1]["clock_wrong"] and b.beats()[-1]["now_ms"] > (time.time() + 9 * 365 * 86400) * 1000
    lab.clock_to(-5 * 365 * 86400)
    n = len(b.beats())
    until(lambda: len(b.beats()) >= n + 3, "heartbeats after the jump")
    lab.clock_to(0)
    until(lambda: b.beats()[-1]["clock_wrong"] is False or b.beats()[-1]["now_ms"] / 1000 < time.time() + 60, "the right clock")
    assert not lab.read("off")
    assert not b.got("/v1/node/renew"), "burstd's clock says that it is not time"
    assert "out of date by our clock" in lab.read("log")


# --- the dead-man's switch --------------------------------------------------------------------------


def deadman_without_jobs(lab):
    """a node without jobs that no burstd answers powers off, and says why"""
    begun = time.monotonic()
    lab.start(["https://127.0.0.3:1"], deadman="5s")
    until(lambda: lab.read("off"), "power-off", 60)
    assert time.monotonic() - begun > 5
    assert "powering off: no burstd has answered" in lab.read("log"), lab.read("log")


def deadman_and_jobs(lab):
    """while a job runs it waits; when the job ends it powers off"""
    lab.job(500)
    lab.start(["https://127.0.0.3:1"], deadman="3s")
    until(lambda: "power-off waits for running jobs" in lab.read("log"), "the warning")
    never(lambda: lab.read("off"), "with a job", 14)
    lab.no_job(500)
    until(lambda: lab.read("off"), "power-off", 60)


def deadman_waits_not_for_ever(lab):
    """but no longer than it was told to"""
    lab.job(500)
    lab.start(["https://127.0.0.3:1"], deadman="3s", deadman_job="5s")
    until(lambda: lab.read("off"), "power-off", 60)
    assert lab.read("log").count("job=yes") == 1


def deadman_hears(lab):
    """a heartbeat in the last moment counts, one of a stranger does not"""
    b = lab.burstd()
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 2}))
    lab.job(500)
    lab.start([b], deadman="5s")
    until(lambda: "power-off waits for running jobs" in lab.read("log"), "silence")
    lab.no_job(500)
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3}))
    until(lambda: "answers again" in lab.read("log"), "an answer")
    never(lambda: lab.read("off"), "it was heard", 15)


def deadman_off(lab):
    """0s switches it off"""
    lab.start(["https://127.0.0.3:1"], deadman="0s")
    until(lambda: "no burstd answers" in lab.read("log"), "silence")
    never(lambda: lab.read("off"), "switched off", 14)


def deadman_stopped(lab):
    """a machine that stood still for a while does not power off for that"""
    b = lab.burstd()
    p = lab.start([b], deadman="6s")
    until(b.beats, "a heartbeat")
    p.send_signal(signal.SIGSTOP)
    time.sleep(9)
    p.send_signal(signal.SIGCONT)
    n = len(b.beats())
    until(lambda: len(b.beats()) > n + 1, "heartbeats")
    never(lambda: lab.read("off"), "alive again", 3)


def drain(s):
    s.setblocking(False)
    try:
        while s.recv(64):
            pass
    except BlockingIOError:
        s.settimeout(12)


def watched(lab):
    """it tells systemd that it lives, if that watches it, at least every ten seconds, whether a burstd answers or not"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(f"{lab.dir}/notify")
        s.settimeout(12)
        p = lab.start(["https://127.0.0.3:1"],
                      env={"NOTIFY_SOCKET": f"{lab.dir}/notify", "WATCHDOG_USEC": "120000000"})
        for _ in range(2):
            assert s.recv(64) == b"WATCHDOG=1"
            drain(s)
        p.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        drain(s)
        try:
            raise AssertionError(f"stopped, and says {s.recv(64)}")
        except TimeoutError:
            pass
        p.send_signal(signal.SIGCONT)
        assert s.recv(64) == b"WATCHDOG=1"


# --- notices ----------------------------------------------------------------------------------------


def _aws(lab, **paths):
    m = lab.fake()
    good = {"token": "T1"}
    m.token = good

    def token(h, _):
        if h.command != "PUT" or not h.headers.get("X-aws-ec2-metadata-token-ttl-seconds"):
            h.answer(400)
        else:
            h.answer(200, good["token"])

    def guarded(fn):
        def answer(h, body):
            if h.headers.get("X-aws-ec2-metadata-token") != good["token"]:
                h.answer(401)
            elif isinstance(fn, tuple):
                h.answer(*fn)
            else:
                fn(h, body)
        return answer

    m.set = lambda path, fn: m.on(path, guarded(fn))
    m.on("/latest/api/token", token)
    m.set("/latest/meta-data", (404, "not here"))
    for path, fn in paths.items():
        m.set({"spot": SPOT, "rebalance": REBALANCE, "maintenance": MAINTENANCE}[path], fn)
    return m


SPOT = "/latest/meta-data/spot/instance-action"
REBALANCE = "/latest/meta-data/events/recommendations/rebalance"
MAINTENANCE = "/latest/meta-data/events/maintenance/scheduled"


def metadata(m):
    return {"metadata": f"http://{m.address}:{m.port}"}


def aws_spot(lab):
    """aws: a spot interruption is told with its deadline, to all burstds, once"""
    one, two = lab.burstd(), lab.burstd(address="127.0.0.2")
    m = _aws(lab)
    lab.start([one, two], provider="aws", **metadata(m))
    until(lambda: m.got(SPOT, "GET"), "a question")
    assert not one.events()
    m.set(SPOT, (200, {"action": "terminate", "time": "2030-01-02T03:04:05Z"}))
    until(lambda: one.events() or two.events(), "an event")
    time.sleep(3)
    all_ = one.events() + two.events()
    assert {e["type"] for e in all_} == {"preempt"} and {e["deadline"] for e in all_} == {1893553445}, all_
    assert len(one.events()) <= 1 and len(two.events()) <= 1 and len({e["id"] for e in all_}) == 1, all_
    r = (one.got("/v1/node/event") + two.got("/v1/node/event"))[0]
    assert r[4]["Idempotency-Key"] == all_[0]["id"] and all_[0]["node"] == "h100-1" and all_[0]["generation"] == 3
    assert len(m.got("/latest/api/token")) == 1, "the token is kept"


def aws_token(lab):
    """aws: a token that is no longer good is replaced"""
    b, m = lab.burstd(), _aws(lab, spot=(200, {"action": "stop", "time": "2030-01-02T03:04:05Z"}))
    m.token["token"] = "token-one"
    m.set(SPOT, (404, ""))
    lab.start([b], provider="aws", **metadata(m))
    until(lambda: m.got(SPOT), "a question")
    m.token["token"] = "token-two"
    m.set(SPOT, (200, {"action": "stop", "time": "2030-01-02T03:04:05Z"}))
    until(lambda: b.events("preempt"), "an event")
    assert "token-one" not in lab.read("log") and "token-two" not in lab.read("log")


def aws_others(lab):
    """aws: rebalance and scheduled maintenance are told as what they are"""
    events = [{"NotBefore": "21 Jan 2029 09:00:43 GMT", "Code": "system-reboot", "Description": "scheduled reboot",
               "EventId": "instance-event-0d59937288b749b32", "NotAfter": "21 Jan 2029 09:17:23 GMT", "State": "active"},
              {"NotBefore": "21 Jan 2019 09:00:43 GMT", "Code": "system-reboot", "EventId": "instance-event-old",
               "State": "completed"}]
    b, m = lab.burstd(), _aws(lab, rebalance=(200, {"noticeTime": "2026-11-05T08:22:00Z"}), maintenance=(200, events))
    lab.start([b], provider="aws", **metadata(m))
    until(lambda: b.events("rebalance") and b.events("maintenance"), "both")
    assert [e.get("deadline") for e in b.events("maintenance")] == [1863680443], b.events()
    never(lambda: lab.read("local.ran") or len({e["id"] for e in b.events()}) > 2, "no more than that", 4)


SILENT = "the metadata service does not answer as it should"


def one_source_of_several(lab):
    """a command that fails beside a metadata service that answers is logged once, by its name; and the other way round"""
    b, m = lab.burstd(), _aws(lab)
    good = f"test -e {lab.dir}/good"
    lab.start([b], provider="aws", notice_command=lab.script("look", good), **metadata(m))
    until(lambda: len(m.got(SPOT)) >= 4, "four polls")
    assert lab.read("log").count("notice_command does not work") == 1 and SILENT not in lab.read("log"), lab.read("log")
    lab.write("good", "")
    m.set(SPOT, (503, ""))
    until(lambda: SILENT in lab.read("log"), "that it does not answer")
    n = len(m.got(SPOT))
    until(lambda: len(m.got(SPOT)) >= n + 3, "three polls")
    assert lab.read("log").count(SILENT) == 1 and lab.read("log").count("notice_command") == 1, lab.read("log")


def one_question_of_several(lab):
    """one question that a metadata service does not answer is logged once, though it answers the others"""
    b, m, g = lab.burstd(), _aws(lab, rebalance=(200, "<html>")), lab.fake(address="127.0.0.5")
    g.on("/computeMetadata/v1/instance/preempted", (200, "<html>", [("Metadata-Flavor", "Google")]))
    g.on("/computeMetadata/v1/instance/maintenance-event", (200, "NONE", [("Metadata-Flavor", "Google")]))
    for provider, fake, path in (("aws", m, REBALANCE), ("gcp", g, "/computeMetadata/v1/instance/preempted")):
        lab.write("log", "")
        p = lab.start([b], provider=provider, **metadata(fake))
        until(lambda: len(fake.got(path)) >= 4, "four polls")  # pylint: disable=cell-var-from-loop
        p.kill()
        p.wait()
        assert lab.read("log").count(SILENT) == 1, lab.read("log")
    lab.write("log", "")
    p = lab.start([b], provider="aws", **metadata(m))
    until(lambda: SILENT in lab.read("log"), "that it does not answer")
    m.set(REBALANCE, (404, ""))
    n = len(m.got(REBALANCE))
    until(lambda: len(m.got(REBALANCE)) >= n + 2, "two polls")
    m.set(REBALANCE, (503, ""))
    until(lambda: lab.read("log").count(SILENT) == 2, "that it does not answer any more")


def words_of_strangers(lab):
    """whatever a metadata service, or a command, says: it is data in requests and in the log, and nothing else"""
    odd = '","v":2}\r\nX-Evil: 1\r\n\r\n\\\x1b[2J\x7f\u00e9\nwarn msg=forged'
    b = lab.burstd()
    m = _aws(lab, spot=(200, {"action": odd, "time": odd}), rebalance=(200, {"noticeTime": odd}),
             maintenance=(200, [{"Code": odd, "EventId": odd, "NotBefore": odd, "State": "active"}]))
    lab.start([b], provider="aws", notice_command=lab.script("look", "printf 'maintenance \",\\\\\\033\\r\\377'"), **metadata(m))
    until(lambda: len({e["id"] for e in b.events()}) == 4, "a notice of each")
    until(lambda: lab.read("log").count('msg="burstd has taken a notice"') == 4, "taken")
    for r, e in zip(b.got("/v1/node/event"), b.events()):
        assert set(e) == {"v", "node", "generation", "boot_id", "type", "id", "detail", "age_ms"}, e
        assert re.fullmatch("[0-9a-f]{32}", e["id"]) and r[4]["Idempotency-Key"] == e["id"], e
        assert re.fullmatch("[ -~]+", e["detail"]) and "X-Evil" not in r[4], e
    assert sorted({e["id"]: e["type"] for e in b.events()}.values()) == ["maintenance", "maintenance", "preempt", "rebalance"]
    log = lab.read("log")
    assert re.fullmatch(r"([ -~]+\n)+", log) and "\nwarn msg=forged" not in log, log


def portal(lab):
    """a page that answers everything with 200 is no notice"""
    b, m = lab.burstd(), lab.fake().on("/", (200, "<html>Please log in</html>", [("Metadata-Flavor", "Google")]))
    for provider in ("aws", "gcp", "azure"):
        p = lab.start([b], provider=provider, **metadata(m))
        n = len(m.requests)
        until(lambda: len(m.requests) > n + 2, "questions")  # pylint: disable=cell-var-from-loop
        p.kill()
        p.wait()
    assert not b.events(), b.events()
    assert "does not answer as it should" in lab.read("log")


class GCP:
    """Values that are held until they change."""

    def __init__(self, lab):
        self.values = {"preempted": "FALSE", "maintenance-event": "NONE"}
        self.etag, self.held = 1, 0
        self.change = threading.Condition()
        self.fake = lab.fake().on("/computeMetadata/v1/instance/", self.answer)

    def set(self, key, value):
        with self.change:
            self.values[key] = value
            self.etag += 1
            self.change.notify_all()

    def answer(self, h, _):
        if h.headers.get("Metadata-Flavor") != "Google":
            h.answer(403)
            return
        key = h.path.split("/")[-1].split("?")[0]
        with self.change:
            if "wait_for_change=true" in h.path and f"last_etag={self.etag:x}" in h.path:
                self.held += 1
                self.change.wait(10)
            h.answer(200, self.values[key], [("Metadata-Flavor", "Google"), ("ETag", f"{self.etag:x}")])


def gcp(lab):
    """gcp: questions are held by the service, and what changes is told at once"""
    b, g = lab.burstd(), GCP(lab)
    lab.start([b], provider="gcp", **metadata(g.fake))
    until(lambda: g.held >= 2, "two held questions")
    n = len(g.fake.requests)
    time.sleep(3)
    assert len(g.fake.requests) == n, "nobody asks meanwhile"
    g.set("maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE")
    until(lambda: b.events("maintenance"), "maintenance")
    until(lambda: g.held >= 4, "held again")
    g.set("preempted", "TRUE")
    begun = time.monotonic()
    e = until(lambda: b.events("preempt"), "preemption")[0]
    assert time.monotonic() - begun < 8, "it was told when the question ended, after 10 s"
    assert abs(e["deadline"] - time.time() - 30) < 10, e
    g.set("maintenance-event", "NONE")
    until(lambda: g.held >= 6, "held again")
    g.set("maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE")
    until(lambda: len(b.events("maintenance")) == 2, "the next maintenance is another one")


def gcp_flavour(lab):
    """gcp: an answer without Metadata-Flavor is somebody else's"""
    b, m = lab.burstd(), lab.fake().on("/computeMetadata", (200, "TRUE"))
    lab.start([b], provider="gcp", **metadata(m))
    until(lambda: len(m.requests) > 4, "questions")
    assert not b.events(), b.events()


def gcp_restarts(lab):
    """gcp: a metadata service that goes and comes again is asked again"""
    b = lab.burstd()
    answers = [b"", b"HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n"]

    def fn(s):
        s.recv(4096)
        if answers:
            s.sendall(answers.pop())
        else:
            s.sendall(b"HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\nETag: ab\r\nContent-Length: 4\r\n\r\nTRUE")

    m = lab.raw(fn, tls=False, address="127.0.0.4")
    lab.start([b], provider="gcp", **metadata(m))
    until(lambda: b.events("preempt"), "an event")


def azure(lab):
    """azure: events of this machine are told; they may begin once burstd knows and no job is here"""
    b, m = lab.burstd(), lab.fake()
    event = {"EventId": "602d9444-d2cd-49c7-8624-8643e7171297", "EventType": "Reboot", "ResourceType": "VirtualMachine",
             "Resources": ["other", "H100-1-vm"], "EventStatus": "Scheduled", "NotBefore": "Mon, 19 Sep 2033 18:29:47 GMT",
             "Description": "Host server is undergoing maintenance", "EventSource": "Platform", "DurationInSeconds": -1}
    foreign = dict(event, EventId="00000000-d2cd-49c7-8624-8643e7171297", Resources=["other"])
    started, lame = [], []

    def events(h, body):
        if h.headers.get("Metadata") != "true":
            h.answer(400)
        elif h.command == "POST" and not lame:
            lame.append(body)  # it is asked for again
            h.answer(500)
        elif h.command == "POST":
            started.extend(r["EventId"] for r in json.loads(body)["StartRequests"])
            h.answer(200)
        else:
            h.answer(200, {"DocumentIncarnation": 1, "Events": [foreign, event]})

    m.on("/metadata/instance/compute/name", (200, "h100-1-vm")).on("/metadata/scheduledevents", events)
    lab.job(500)
    lab.start([b], provider="azure", **metadata(m))
    e = until(lambda: b.events("maintenance"), "an event")[0]
    assert e["deadline"] == 2010767387, e
    never(lambda: started, "a job is here", 3)
    lab.no_job(500)
    until(lambda: started, "the start of the event")
    time.sleep(3)
    assert started == [event["EventId"]] and len(b.events()) == 1, (started, b.events())


def azure_looks_itself(lab):
    """azure: whether a job is here is looked at when it matters, not when a heartbeat was sent last"""
    b, m = lab.burstd(), lab.fake()
    started = []
    event = {"EventId": "602d9444-d2cd-49c7-8624-8643e7171297", "EventType": "Reboot", "Resources": ["vm"],
             "NotBefore": "Mon, 19 Sep 2033 18:29:47 GMT"}
    shown = []

    def events(h, body):
        if h.command == "POST":
            started.append(body)
        h.answer(200, {"Events": shown})

    m.on("/metadata/instance/compute/name", (200, "vm")).on("/metadata/scheduledevents", events)
    lab.start([b], provider="azure", heartbeat="60s", **metadata(m))
    until(b.beats, "a heartbeat")
    lab.job(500)
    shown.append(event)
    until(lambda: b.events("maintenance"), "an event")
    never(lambda: started, "a job is here", 3)
    assert len(b.beats()) == 1


def azure_preempt(lab):
    """azure: Preempt is a preemption"""
    b, m = lab.burstd(), lab.fake()
    event = {"EventId": "aa", "EventType": "Preempt", "Resources": ["vm"], "NotBefore": ""}
    m.on("/metadata/instance/compute/name", (200, "vm"))
    m.on("/metadata/scheduledevents", (200, {"Events": [event]}))
    lab.start([b], provider="azure", **metadata(m))
    e = until(lambda: b.events("preempt"), "an event")[0]
    assert "deadline" not in e


def file_and_command(lab):
    """a file that appears and a command that prints something are notices too"""
    b = lab.burstd()
    lab.start([b], provider="oci", notice_file=f"{lab.dir}/going",
              notice_command=lab.script("look", f"cat {lab.dir}/said 2>/dev/null || true"))
    until(lambda: len(b.beats()) >= 2, "heartbeats")
    assert not b.events()
    lab.write("going", "")
    until(lambda: b.events("preempt"), "the file")
    lab.write("said", "maintenance 1893553445\n")
    e = until(lambda: b.events("maintenance"), "the command")[0]
    assert e["deadline"] == 1893553445, e


def lost_acks(lab):
    """a notice is repeated with the same key until it is acknowledged, and then no more"""
    b = lab.burstd()
    lost = []

    def lose(h, body):
        lost.append(json.loads(body)["id"])
        h.close_connection = True
        h.connection.close()

    b.on("/v1/node/event", lose)
    lab.write("going", "preempt")
    lab.start([b], notice_file=f"{lab.dir}/going")
    until(lambda: len(lost) >= 3, "three tries")
    b.on("/v1/node/event", (202, {"ok": True}))
    until(lambda: len(b.got("/v1/node/event")) > len(lost), "the one that is taken")
    n = len(b.got("/v1/node/event"))
    never(lambda: len(b.got("/v1/node/event")) > n, "no more", 3)
    assert len({e["id"] for e in b.events()}) == 1


def refused(lab):
    """F41: a notice is taken by nothing but 200, 202 and 204: whatever else it is answered, it is told again, and again"""
    b = lab.burstd()
    statuses = [429, 400, 401, 403, 404, 409, 410, 413, 500, 503, 206, 302]
    left = list(statuses)
    b.on("/v1/node/event", lambda h, _: h.answer(left.pop(0) if left else 200, {"ok": True}, [("Retry-After", "3600")]))
    lab.write("going", "preempt")
    lab.start([b], notice_file=f"{lab.dir}/going")
    until(lambda: not left, "each of them", 60)
    until(lambda: 'msg="burstd has taken' in lab.read("log"), "taken at last")
    assert len(b.got("/v1/node/event")) == len(statuses) + 1
    assert len({e["id"] for e in b.events()}) == 1
    never(lambda: len(b.got("/v1/node/event")) > len(statuses) + 1, "no more", 2)


def refused_else(lab):
    """nor is a certificate or a list of hosts taken from an answer other than 200"""
    b = lab.burstd()
    before = lab.read("h100-1.pem")
    lab.write("hosts", "127.0.0.1 localhost\n")
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3, "renew": True, "hosts": "v1"}))
    b.on("/v1/node/renew", lambda h, body: h.answer(
        429, {"cert": lab.ca.sign(base64.b64decode(json.loads(body)["csr"]), CLIENT_EXT).decode()}))
    b.on("/v1/node/hosts", (429, "10.0.0.7 h100-7\n"))
    lab.start([b], hosts_file=f"{lab.dir}/hosts")
    until(lambda: b.got("/v1/node/renew"), "a renewal")
    b.on("/v1/node/heartbeat", (200, {"ok": True, "generation": 3, "hosts": "v1"}))
    until(lambda: b.got("/v1/node/hosts"), "the list is asked for")
    n = len(b.beats())
    until(lambda: len(b.beats()) >= n + 2, "heartbeats after it")
    assert lab.read("h100-1.pem") == before and "h100-7" not in lab.read("hosts")
    assert "certificate not renewed" in lab.read("log") and "list of hosts not updated" in lab.read("log")


def parallel(lab):
    """three dead burstds do not delay what the fourth is told"""
    b = lab.burstd()
    mute = [lab.raw(lambda s: time.sleep(60), tls=False) for _ in range(3)]
    lab.start(["https://127.0.0.3:1", *[m.url for m in mute], b], notice_file=f"{lab.dir}/going", heartbeat="60s")
    until(lambda: mute[0].connections, "the first heartbeat")
    lab.write("going", "preempt")
    begun = time.monotonic()
    until(b.events, "the event")
    assert time.monotonic() - begun < 3, time.monotonic() - begun


def urgent_overtakes(lab):
    """a preemption does not wait for the answer to a lesser notice, which is waited for ever longer"""
    b = lab.burstd()

    def slow(h, body):
        if json.loads(body)["type"] == "maintenance":
            time.sleep(9)
        h.answer(200, {"ok": True})

    b.on("/v1/node/event", slow)
    lab.write("said", "maintenance 1893553445\n")
    lab.start([b], notice_file=f"{lab.dir}/going", notice_command=lab.script("look", f"cat {lab.dir}/said"))
    until(lambda: len(b.events("maintenance")) >= 6, "one that has eight seconds", 60)
    lab.write("going", "preempt")
    until(lambda: b.events("preempt"), "the preemption", 6)


def local_command(lab):
    """when burstd does not answer within three seconds, the jobs here are told by ourselves, once"""
    lab.job(500)
    lab.job(501, "slurmstepd: [4712.0]")
    begun = time.monotonic()
    lab.write("going", "preempt")
    lab.start(["https://127.0.0.3:1"], notice_file=f"{lab.dir}/going", deadman="0s")
    until(lambda: lab.read("local.ran"), "the command")
    assert time.monotonic() - begun > 2.9
    assert sorted(lab.read("local.ran").split()) == ["4711", "4712"]
    never(lambda: lab.read("local.ran").count("\n") > 1, "once", 4)


def local_command_goes_on(lab):
    """F41: told to end while the command tells the jobs, we do not end that"""
    lab.job(500)
    lab.write("going", "preempt")
    slow = lab.script("slow", f"touch {lab.dir}/begun; while kill -0 $PPID; do sleep 0.2; done; sleep 1; touch {lab.dir}/told")
    p = lab.start(["https://127.0.0.3:1"], notice_file=f"{lab.dir}/going", local_command=slow, deadman="0s")
    until(lambda: os.path.exists(f"{lab.dir}/begun"), "the command")
    p.terminate()
    assert p.wait(10) == 0
    until(lambda: os.path.exists(f"{lab.dir}/told"), "the jobs were told")


def _unmount(lab):
    """unmount_command, which leaves the time; and what says that the machine goes"""
    return {"unmount_command": lab.script("unmount", f"date +%s.%N >>{lab.dir}/unmounted"), "notice_file": f"{lab.dir}/going"}


def unmount_waits_for_jobs(lab):
    """file systems are unmounted once, when burstd has taken the notice and the jobs have ended, and not before"""
    b = lab.burstd()
    lab.job(500)
    lab.start([b], **_unmount(lab))
    until(lambda: b.beats(), "it runs")  # pylint: disable=unnecessary-lambda
    lab.write("going", f"preempt {int(time.time()) + 120}")
    until(b.events, "the event")
    never(lambda: lab.read("unmounted"), "a job runs", 4)
    lab.no_job(500)
    until(lambda: lab.read("unmounted"), "the command", 5)
    lab.write("going", f"preempt {int(time.time()) + 9}")
    until(lambda: len(b.events()) == 2, "another word for it")
    never(lambda: lab.read("unmounted").count("\n") > 1, "once", 7)
    assert "file systems are unmounted" in lab.read("log")


def unmount_before_the_end(lab):
    """F41: a job that still runs so long before the end as unmount_before says has had its time; also when nobody says when"""
    b = lab.burstd()
    lab.job(500)
    lab.write("going", f"preempt {int(time.time()) + 12}")
    begun = time.time()
    p = lab.start([b], unmount_before="4s", **_unmount(lab))
    until(lambda: lab.read("unmounted"), "the command", 15)
    assert 6.5 < float(lab.read("unmounted")) - begun < 11, (begun, lab.read("unmounted"))
    p.kill()
    os.unlink(f"{lab.dir}/unmounted")
    lab.write("going", "preempt")
    begun = time.time()
    lab.start([b], unmount_before="10s", **_unmount(lab))
    until(lambda: lab.read("unmounted"), "the command", 20)
    assert 9 < float(lab.read("unmounted")) - begun < 14, (begun, lab.read("unmounted"))


def unmount_after_the_message(lab):
    """F41: where no burstd answers it comes after local_command, and a time in the past leaves that its seconds"""
    lab.job(500)
    lab.write("going", f"preempt {int(time.time()) - 100}")
    slow = lab.script("slow", f"sleep 1; date +%s.%N >{lab.dir}/told; rm -r {lab.dir}/proc/500")
    lab.start(["https://127.0.0.3:1"], local_command=slow, deadman="0s", **_unmount(lab))
    until(lambda: lab.read("unmounted"), "the command", 15)
    assert float(lab.read("told")) < float(lab.read("unmounted"))


def unmount_without_jobs(lab):
    """without a job here, and without burstd, there is nobody to tell"""
    lab.write("going", f"preempt {int(time.time()) + 300}")
    lab.start(["https://127.0.0.3:1"], deadman="0s", **_unmount(lab))
    until(lambda: lab.read("unmounted"), "the command", 10)
    assert not lab.read("local.ran")


def unmount_released(lab):
    """burstd says that this generation is over: unmounted when no job runs, however often it says so"""
    b = lab.burstd()
    lab.job(500)
    lab.start([b], **_unmount(lab))
    until(b.beats, "it runs")
    b.on("/v1/node/heartbeat", (503, {}))
    lab.no_job(500)
    never(lambda: lab.read("unmounted"), "burstd is only away", 3)
    lab.job(500)
    b.on("/v1/node/heartbeat", (410, {"error": "over"}))
    never(lambda: lab.read("unmounted"), "a job runs", 4)
    lab.no_job(500)
    until(lambda: lab.read("unmounted"), "the command", 10)
    never(lambda: lab.read("unmounted").count("\n") > 1, "once", 3)


def unmount_not(lab):
    """not for a rebalance, a fault, a maintenance that is far away, or one that burstd has not taken; a failure is said"""
    b = lab.burstd()
    command = _unmount(lab)
    p = lab.start([b], **command)
    for n, word in enumerate(["rebalance", "faulty", f"maintenance {int(time.time()) + 600}", "maintenance"], 1):
        lab.write("going", word)
        until(lambda: len(b.events()) == n, word)  # pylint: disable=cell-var-from-loop
    never(lambda: lab.read("unmounted"), "none of these", 3)
    p.kill()
    lab.write("going", f"maintenance {int(time.time()) + 5}")
    p = lab.start(["https://127.0.0.3:1"], deadman="0s", **command)
    never(lambda: lab.read("unmounted"), "it may be called off", 8)
    p.kill()
    lab.script("unmount", "echo odd >&2; exit 1")
    lab.write("going", f"maintenance {int(time.time()) + 12}")
    lab.start([b], **command)
    until(lambda: "unmount_command failed" in lab.read("log"), "it is said")


def unmount_goes_on(lab):
    """F41: told to end meanwhile, as the machine shuts down, we do not end the command"""
    b = lab.burstd()
    slow = lab.script("slow", f"touch {lab.dir}/begun; while kill -0 $PPID; do sleep 0.2; done; sleep 1; touch {lab.dir}/done")
    lab.write("going", "preempt")
    p = lab.start([b], notice_file=f"{lab.dir}/going", unmount_command=slow)
    until(lambda: os.path.exists(f"{lab.dir}/begun"), "the command")
    p.terminate()
    assert p.wait(10) == 0
    until(lambda: os.path.exists(f"{lab.dir}/done"), "all of it")


def notice_of_each_boot(lab):
    """F41: the same word after the machine was started anew is another notice, and burstd has not heard it"""
    b = lab.burstd()
    lab.write("going", "preempt")
    for n in (1, 2):
        lab.write("proc/sys/kernel/random/boot_id", f"0f7c7d0e-1111-2222-3333-44445555666{n}\n")
        p = lab.start([b], notice_file=f"{lab.dir}/going")
        until(lambda: len(b.events("preempt")) == n, "the event")  # pylint: disable=cell-var-from-loop
        p.kill()
    assert len({e["id"] for e in b.events("preempt")}) == 2


def local_command_not(lab):
    """but not when burstd has answered, nor for what is far away, nor without jobs"""
    b = lab.burstd()
    lab.job(500)
    p = lab.start([b], notice_file=f"{lab.dir}/going")
    lab.write("going", "preempt")
    until(b.events, "the event")
    time.sleep(4)
    p.kill()
    lab.write("going", "maintenance 1993553445")
    p = lab.start(["https://127.0.0.3:1"])
    until(lambda: lab.read("log").count("type=maintenance") == 1, "the notice")
    lab.write("going", "maintenance")  # nobody says when
    until(lambda: lab.read("log").count("type=maintenance") == 2, "the next one")
    time.sleep(5)
    p.kill()
    lab.no_job(500)
    lab.write("going", "preempt")
    lab.start(["https://127.0.0.3:1"])
    time.sleep(5)
    assert not lab.read("local.ran"), lab.read("local.ran")


# --- health ------------------------------------------------------------------------------------------


def gpus(lab):
    """a GPU that is missing twice in a row is a fault, told once; a new fault is told anew"""
    b = lab.burstd()
    lab.script("gpus", f"cat {lab.dir}/list")
    lab.write("list", "GPU 0: H100\nGPU 1: H100\n")
    lab.start([b], gpus=2, gpu_command=f"{lab.dir}/gpus")
    until(lambda: b.beats() and b.beats()[-1].get("gpus") == 2, "two GPUs")
    lab.write("list", "GPU 0: H100\n")
    e = until(lambda: b.events("faulty"), "a fault")[0]
    assert "1 instead of 2" in e["detail"], e
    until(lambda: b.beats()[-1]["faulty"] and b.beats()[-1]["gpus"] == 1, "a heartbeat that says so")
    never(lambda: len(b.events()) > 1, "once", 3)
    lab.write("list", "GPU 0: H100\nGPU 1: H100\n")
    until(lambda: not b.beats()[-1]["faulty"], "mended")
    lab.write("list", "")
    until(lambda: len(b.events("faulty")) == 2, "the second fault")
    assert len({e["id"] for e in b.events()}) == 2


def hiccup(lab):
    """a check that fails once and is good again is no fault, nor is one that fails each other time; twice in a row is"""
    count = f"n=$(($(cat {lab.dir}/%s.n 2>/dev/null || echo 0) + 1)); echo $n >{lab.dir}/%s.n; case $n in 3|5|7|9|10) "
    b, looks = lab.burstd(), {}

    def told(h, body):
        kind = json.loads(body)["detail"].split(":")[0]
        looks.setdefault(kind, int(lab.read({"health": "diag.n", "gpus": "gpus.n"}[kind])))
        h.answer(200, {"ok": True})

    b.on("/v1/node/event", told)
    health = lab.script("diag", count % ("diag", "diag") + "echo bad; exit 1;; esac")
    gpu = lab.script("gpus", count % ("gpus", "gpus") + "echo one;; *) echo one; echo two;; esac")
    lab.start([b], gpus=2, gpu_command=gpu, health_command=health)
    until(lambda: len(looks) == 2, "two looks that failed in a row")
    assert looks["gpus"] >= 10 and looks["health"] >= 10, looks


def gpus_of_driver(lab):
    """without a command the driver's list counts"""
    b = lab.burstd()
    for i in range(4):
        os.makedirs(f"{lab.proc}/driver/nvidia/gpus/0000:0{i}:00.0")
    lab.start([b], gpus=8)
    e = until(lambda: b.events("faulty"), "a fault")[0]
    assert "4 instead of 8" in e["detail"], e


def health_commands(lab):
    """a check that fails, is missing or hangs is a fault, and so is an error that is printed"""
    b = lab.burstd()
    bad = [("health_command", lab.script("diag", "echo 'Memory: Fail'; exit 226"), "Memory: Fail"),
           ("health_command", f"{lab.dir}/not-there", "No such file"),
           ("health_command", lab.script("hang", "sleep 100"), "timed out"),
           ("error_command", lab.script("xid", "echo 'NVRM: Xid (PCI:0000:07:00): 79, GPU has fallen off the \"bus\"'"),
            'Xid (PCI:0000:07:00): 79, GPU has fallen off the "bus"')]
    for key, command, what in bad:
        n = len(b.events())
        p = lab.start([b], command_timeout="1s", **{key: command})
        until(lambda: len(b.events("faulty")) > n, command)  # pylint: disable=cell-var-from-loop
        assert what in b.events()[-1]["detail"], b.events()[-1]
        p.kill()
        p.wait()
        del lab.conf[key]


def unkillable_command(lab):
    """F40: a tool that hangs in the driver of a GPU that is gone, where no signal reaches it, is a fault, told once, until it ends"""
    b, where = lab.burstd(), f"{lab.dir}/hung"
    os.mkdir(where)
    hungfs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../node/hungfs.py")
    with subprocess.Popen(["unshare", "-Urm", "python3", "-B", hungfs, where]) as server:
        try:
            mounts = os.path.relpath(f"/proc/{server.pid}/mounts", lab.dir)
            until(lambda: server.poll() is not None or where in lab.read(mounts), "a mount that hangs")
            if server.poll() is not None:
                return  # no namespaces for users here
            gpus_there = f"nsenter -t {server.pid} -U -m --preserve-credentials cat {where}/gpus"
            p = lab.start([b], command_timeout="1s", gpu_command=gpus_there)
            until(lambda: b.events("faulty"), "a fault", 30)
            assert b.events()[0]["detail"] == "gpus: its command hangs, and cannot be killed", b.events()
            until(lambda: b.beats()[-1]["faulty"], "a heartbeat that says so")
            never(lambda: len(b.events()) > 1, "once", 3)
        finally:
            server.kill()
        until(lambda: not b.beats()[-1]["faulty"], "its end", 30)
        p.terminate()
        assert p.wait(15) == 0


# --- its life ----------------------------------------------------------------------------------------


def shutdown(lab):
    """SIGTERM: a last word, and the end"""
    b = lab.burstd()
    p = lab.start([b])
    until(b.beats, "a heartbeat")
    p.terminate()
    assert p.wait(10) == 0
    assert [e["type"] for e in b.events()] == ["shutdown"]
    p = lab.start(["https://127.0.0.3:1"])
    until(lambda: "no burstd answers" in lab.read("log"), "silence")
    begun = time.monotonic()
    p.terminate()
    assert p.wait(10) == 0 and time.monotonic() - begun < 5


def shutdown_why(lab):
    """the last word says whether the machine shuts down; with oci that is a preemption, and jobs are told when nobody takes it"""
    b = lab.burstd()
    going = lab.script("going", "echo stopping; exit 1")
    for provider, command, kind, detail in [("none", going, "shutdown", "the machine shuts down"),
                                            ("none", lab.script("up", "echo running"), "shutdown", "stopped by a signal"),
                                            ("none", lab.script("hang", "sleep 100"), "shutdown", "stopped by a signal"),
                                            ("oci", lab.script("up", "echo degraded; exit 1"), "shutdown", "stopped by a signal"),
                                            ("oci", going, "preempt", "the machine shuts down")]:
        n, beats = len(b.events()), len(b.beats())
        p = lab.start([b], provider=provider, state_command=command)
        until(lambda: len(b.beats()) > beats, "a heartbeat")  # pylint: disable=cell-var-from-loop
        p.terminate()
        assert p.wait(10) == 0
        assert [(e["type"], e["detail"]) for e in b.events()[n:]] == [(kind, detail)], (provider, command, b.events()[n:])
    assert 10 < b.events()[-1]["deadline"] - time.time() < 21
    lab.job(500)
    p = lab.start(["https://127.0.0.3:1"], provider="oci", state_command=going)
    until(lambda: "no burstd answers" in lab.read("log"), "silence")
    p.terminate()
    assert p.wait(10) == 0
    until(lambda: lab.read("local.ran").split() == ["4711"], "the jobs were told")


# --- the other nodes' addresses -----------------------------------------------------------------

BEGIN, END = "# burst: begin\n", "# burst: end\n"


class Keys:
    """A burstd that wants other keys, once told so."""

    def __init__(self, lab):
        self.burstd, self.keys = lab.burstd(), None
        self.burstd.on("/v1/node/heartbeat", lambda h, body: h.answer(200, {"ok": True, "generation": 3, **({"keys": self.keys} if self.keys else {})}))


def keys_follow(lab):
    """keys: another version is staged by the command, and once; munge's is switched when burstd says"""
    tool = lab.script("keys", f'echo "$1" >>{lab.dir}/keys.ran; [ "$1" = switch ] || echo 8 >{lab.dir}/key.version')
    k = Keys(lab)
    lab.start([k.burstd], keys_command=f"{tool} %k")
    until(lambda: len(k.burstd.beats()) > 1, "heartbeats")
    assert lab.read("keys.ran") == ""
    k.keys = {"version": "8"}
    until(lambda: lab.read("keys.ran") == "stage\n", "staged")
    until(lambda: k.burstd.beats()[-1]["key_version"] == "8", "the new version is told")
    k.keys = {"version": "8", "switch_ms": int(time.time() * 1000) + 2500}
    never(lambda: "switch" in lab.read("keys.ran"), "not before its time", 1.5)
    until(lambda: lab.read("keys.ran") == "stage\nswitch\n", "switched")
    never(lambda: lab.read("keys.ran").count("\n") > 2, "only once", 2.5)


def _told_to_switch(lab):
    """A node with version 8 that is to switch in four seconds, and has heard so."""
    tool = lab.script("keys", f'echo "$1" >>{lab.dir}/keys.ran')
    lab.write("key.version", "8")
    k = Keys(lab)
    lab.start([k.burstd], keys_command=f"{tool} %k")
    k.keys = {"version": "8", "switch_ms": int(time.time() * 1000) + 4000}
    beats = len(k.burstd.beats())
    until(lambda: len(k.burstd.beats()) > beats + 1, "it was told")
    return k


def keys_off(lab):
    """keys: a switch that is called off is not done; done all the same, the keys are fetched again though the version is that one"""
    k = _told_to_switch(lab)
    k.keys = {"version": "8", "switch_ms": 0}
    never(lambda: lab.read("keys.ran") != "", "called off", 5)
    k.keys = {"version": "8", "switch_ms": int(time.time() * 1000) - 1000}
    until(lambda: lab.read("keys.ran") == "switch\n", "late, but ordered")
    k.keys = None
    never(lambda: lab.read("keys.ran") != "switch\n", "that nothing is said changes nothing", 2)
    k.keys = {"version": "8", "switch_ms": 0}
    until(lambda: lab.read("keys.ran") == "switch\nstage\n", "back")
    never(lambda: lab.read("keys.ran").count("\n") > 2, "only once", 2)


def keys_unsaid(lab):
    """keys: another version, and no word of the switch that was told before, does not call it off"""
    k = _told_to_switch(lab)
    k.keys = {"version": "9"}
    until(lambda: lab.read("keys.ran") == "stage\nswitch\n", "fetched, and switched")


def keys_clocks(lab):
    """F39, F57, keys: the switch is at burstd's time, whether the clock here or the one there is ahead or behind"""
    tool = lab.script("keys", f'echo "$1" >>{lab.dir}/keys.ran')
    lab.write("key.version", "8")
    env, b = lab.clock(), lab.burstd()
    for off, wall in ((120, 3600), (-120, -3600)):
        lab.write("keys.ran", "")
        lab.clock_to(off)
        at = int(time.time() * 1000) + 4000
        b.on("/v1/node/heartbeat", lambda h, _, at=at, wall=wall: h.answer(
            200, {"ok": True, "generation": 3, "now_ms": int(time.time() * 1000), "wall_ms": int((time.time() + wall) * 1000),
                  "keys": {"version": "8", "switch_ms": at}}))
        n = len(b.beats())
        p = lab.start([b], env=env, keys_command=f"{tool} %k")
        until(lambda: len(b.beats()) > n + 1, "it was told")  # pylint: disable=cell-var-from-loop
        never(lambda: lab.read("keys.ran") != "", "not before its time", max(0, at / 1000 - 0.5 - time.time()))
        until(lambda: lab.read("keys.ran") == "switch\n", "at its time", 10)
        p.kill()
        p.wait()


def keys_fail(lab):
    """keys: a command that fails is not run with each heartbeat; nonsense is no version, and an answer all the same"""
    tool = lab.script("keys", f'echo "$1" >>{lab.dir}/keys.ran; exit 1')
    k = Keys(lab)
    k.keys = {"version": "8"}
    lab.start([k.burstd], keys_command=f"{tool} %k")
    until(lambda: lab.read("keys.ran") == "stage\n", "tried")
    never(lambda: lab.read("keys.ran").count("\n") > 1, "not again at once", 3)
    assert "the keys were not fetched" in lab.read("log")
    k.keys = {"version": ["8"]}
    beats = len(k.burstd.beats())
    until(lambda: len(k.burstd.beats()) > beats + 3, "more heartbeats")
    assert "no burstd answers heartbeats" not in lab.read("log")


class Hosts:
    """burstd has a list of hosts, and tells its version with each heartbeat."""

    def __init__(self, b, text):
        self.text, self.version = text, "v1"
        b.on("/v1/node/heartbeat", self.beat).on("/v1/node/hosts", lambda h, _: h.answer(200, self.text))

    def beat(self, h, _):
        h.answer(200, {"ok": True, "generation": 3, "hosts": self.version})


def hosts_follow(lab):
    """names that came later are between the marks; what is outside stays, and nothing is asked twice"""
    b = lab.burstd()
    hosts = Hosts(b, "192.0.2.1 h100-1\n")
    path = lab.write("hosts", "127.0.0.1 localhost\n" + BEGIN + "192.0.2.9 old\n" + END + "192.0.2.200 nas", 0o640)
    owner = 65534 if os.geteuid() == 0 else os.geteuid()
    os.chown(path, owner, -1)
    lab.start([b], hosts_file=path)
    until(lambda: lab.read("hosts") == f"127.0.0.1 localhost\n192.0.2.200 nas\n{BEGIN}192.0.2.1 h100-1\n{END}", "the list")
    assert os.stat(path).st_mode & 0o777 == 0o640 and os.stat(path).st_uid == owner
    beats = len(b.beats())
    until(lambda: len(b.beats()) > beats + 2, "more heartbeats")
    assert len(b.got("/v1/node/hosts", "GET")) == 1, "once for each version"
    hosts.text, hosts.version = "192.0.2.1 h100-1\n2001:db8::2 h100-2 h100-2.cluster\n", "v2"
    until(lambda: "h100-2.cluster" in lab.read("hosts"), "the next list")
    assert lab.read("hosts").count(BEGIN) == 1 and "nas\n" in lab.read("hosts")
    assert not [f for f in os.listdir(lab.dir) if "burst-new" in f]


def hosts_hostile(lab):
    """a list that redirects localhost, or is no list, changes nothing; heartbeats go on"""
    for n, text in enumerate(("192.0.2.1 localhost\n", "192.0.2.1 a LOCALHOST\n", "192.0.2.1 a;b\n", "nonsense\n", "192.0.2.1\n",
                              "192.0.2.1 a", "192.0.2.1  a\n", END + "0.0.0.0 google.com\n", "192.0.2.1 " + "a" * 300 + "\n",
                              "192.0.2.1 -a\n", "\n")):
        b = lab.burstd()
        Hosts(b, text)
        path = lab.write(f"hosts{n}", "127.0.0.1 localhost\n")
        p = lab.start([b], hosts_file=path)
        until(lambda b=b: b.got("/v1/node/hosts"), f"asked for {text!r}")
        until(lambda b=b: len(b.beats()) >= 2, "heartbeats go on")
        assert lab.read(f"hosts{n}") == "127.0.0.1 localhost\n", text
        assert len(b.got("/v1/node/hosts")) == 1, "not again at once"
        p.kill()
        p.wait()
    until(lambda: "malformed line" in lab.read("log"), "it is told")


def hosts_in_place(lab):
    """a file that is a mount of its own, as in containers, is written where it is"""
    b = lab.burstd()
    Hosts(b, "192.0.2.1 h100-1\n")
    lab.write("mounted", "127.0.0.1 localhost\n")
    path = lab.write("hosts", "nothing\n")
    lab.configure([b], hosts_file=path)
    probe = ["unshare", "-m", "sh", "-c", f"mount --bind {lab.dir}/mounted {path}"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        return  # not root, or no namespaces
    with open(lab.log, "ab") as log:
        lab.children.append(subprocess.Popen(  # pylint: disable=consider-using-with
            ["unshare", "-m", "sh", "-c", f"mount --bind {lab.dir}/mounted {path} && exec \"$0\" --config {lab.conf_path}",
             lab.agent], stderr=log, stdin=subprocess.DEVNULL))
    until(lambda: lab.read("mounted") == f"127.0.0.1 localhost\n{BEGIN}192.0.2.1 h100-1\n{END}", "the list")
    assert lab.read("hosts") == "nothing\n"


def hosts_sandboxed(lab):
    """in the unit's sandbox the file can be written, and nothing beside it"""
    with open("scripts/node/burst-agent.service", encoding="ascii") as f:
        assert re.search(r"^ReadWritePaths=.*[ -]/etc/hosts$", f.read(), re.M)
    b = lab.burstd()
    Hosts(b, "192.0.2.1 h100-1\n")
    os.mkdir(f"{lab.dir}/etc")
    path = lab.write("etc/hosts", "127.0.0.1 localhost\n")
    lab.configure([b], hosts_file=path)
    script = (f"cd {lab.dir} && mount --bind etc etc && mount --bind etc/hosts etc/hosts && "
              f"mount -o remount,ro,bind etc && cd / && ! touch {lab.dir}/etc/other 2>/dev/null")
    if subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, check=False).returncode != 0:
        return  # not root, or no namespaces
    with open(lab.log, "ab") as log:
        lab.children.append(subprocess.Popen(  # pylint: disable=consider-using-with
            ["unshare", "-m", "sh", "-c", script + f" && exec \"$0\" --config {lab.conf_path}", os.path.abspath(lab.agent)],
            stderr=log, stdin=subprocess.DEVNULL))
    until(lambda: lab.read("etc/hosts") == f"127.0.0.1 localhost\n{BEGIN}192.0.2.1 h100-1\n{END}", "the list")
    assert os.listdir(f"{lab.dir}/etc") == ["hosts"]


def hosts_full(lab):
    """where there is no room for the list, the lines of others are there nevertheless"""
    b = lab.burstd()
    Hosts(b, "".join(f"10.1.{n >> 8}.{n & 255} h100-{n}\n" for n in range(2000)))
    path = lab.write("hosts", "nothing\n")
    lab.configure([b], hosts_file=path)
    script = (f"mkdir -p {lab.dir}/small && mount -t tmpfs -o size=8k small {lab.dir}/small && "
              f"echo '127.0.0.1 localhost' >{lab.dir}/small/hosts && mount --bind {lab.dir}/small/hosts {path}")
    if subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, check=False).returncode != 0:
        return  # not root, or no namespaces
    with open(lab.log, "ab") as log:
        p = subprocess.Popen(  # pylint: disable=consider-using-with
            ["unshare", "-m", "sh", "-c", script + f" && exec \"$0\" --config {lab.conf_path}", lab.agent],
            stderr=log, stdin=subprocess.DEVNULL)
    lab.children.append(p)
    until(lambda: "list of hosts not updated" in lab.read("log"), "the failure")
    with open(f"/proc/{p.pid}/root{lab.dir}/small/hosts", encoding="ascii") as f:
        assert f.read() == "127.0.0.1 localhost\n"


def hosts_long(lab):
    """a list of the greatest length is replaced by the next one"""
    b = lab.burstd()
    line = "10.1.2.3 " + "h" * 54 + "\n"
    hosts = Hosts(b, line * ((1 << 20) // len(line)))
    path = lab.write("hosts", "127.0.0.1 localhost\n" * 100)
    lab.start([b], hosts_file=path)
    until(lambda: lab.read("hosts").endswith(END), "the list")
    hosts.text, hosts.version = "192.0.2.1 h100-1\n", "v2"
    for p in lab.children:
        p.kill()
        p.wait()
    lab.start([b], hosts_file=path)
    until(lambda: lab.read("hosts").endswith(f"localhost\n{BEGIN}192.0.2.1 h100-1\n{END}"), "the next list")


def private_dirty_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        return int(re.search(r"Private_Dirty:\s+(\d+)", f.read()).group(1))


def hosts_many(lab):
    """ten thousand names cost no memory for good, and those that follow are not asked for at once"""
    b = lab.burstd()
    hosts = Hosts(b, "".join(f"10.1.{n >> 8}.{n & 255} h100-{n}\n" for n in range(10000)))
    path = lab.write("hosts", "127.0.0.1 localhost\n")
    p = lab.start([b], hosts_file=path)
    until(lambda: "h100-9999\n" in lab.read("hosts"), "the list")
    hosts.version = "v2"
    beats = len(b.beats())
    until(lambda: len(b.beats()) > beats + 3, "heartbeats")
    assert len(b.got("/v1/node/hosts")) == 1, "not before some minutes have passed"
    if "asan" not in Lab.agent:
        assert rss_kib(p.pid) < 8 * 1024, rss_kib(p.pid)
        assert private_dirty_kib(p.pid) < 1536, private_dirty_kib(p.pid)


def hosts_off(lab):
    """with an empty hosts_file nothing is asked and nothing written; one that is not there is told of"""
    b, c = lab.burstd(), lab.burstd(address="127.0.0.2")
    Hosts(b, "192.0.2.1 h100-1\n")
    Hosts(c, "192.0.2.1 h100-1\n")
    lab.start([b], hosts_file="")
    until(lambda: len(b.beats()) >= 3, "heartbeats")
    assert not b.got("/v1/node/hosts")
    lab.start([c], hosts_file=f"{lab.dir}/nowhere")
    until(lambda: "nowhere" in lab.read("log"), "a complaint")
    assert not os.path.exists(f"{lab.dir}/nowhere")


def secrets(lab):
    """the key is in no argument, no environment, no log, and no core is written"""
    b = lab.burstd()
    p = lab.start([b], env={"BURST": "1"})
    until(b.beats, "a heartbeat")
    secret = lab.read("h100-1.key").split("\n")[1][:20]
    with open(f"/proc/{p.pid}/limits", encoding="ascii") as f:
        assert re.search(r"Max core file size +0 +0 ", f.read())
    if os.getuid() == 0:
        for name in ("cmdline", "environ"):
            with open(f"/proc/{p.pid}/{name}", "rb") as f:
                assert secret.encode() not in f.read()
    assert secret not in lab.read("log") and all(secret.encode() not in r[3] for r in b.requests)


def configuration(lab):
    """a line that is wrong is named with file and number; files that others can read are refused"""
    b = lab.burstd()
    lab.configure([b])
    assert lab.command("--check").returncode == 0
    assert json.loads(lab.command("--check", "--json").stdout) == {"ok": True}
    with open(lab.conf_path, "a", encoding="ascii") as f:
        f.write("hearbeat = 5s\n")
    lines = lab.read("agent.conf").count("\n")
    r = lab.command("--check", "--json")
    assert r.returncode == 1, r
    assert json.loads(r.stdout)["error"] == f'{lab.conf_path}:{lines}: unknown key "hearbeat"; did you mean "heartbeat"?', r
    assert lab.command().returncode == 1
    lab.configure([b])
    for path, what in ((lab.conf_path, "mode 0600"), (lab.key, "mode 0600")):
        os.chmod(path, 0o644)
        r = lab.command("--check")
        assert r.returncode == 1 and what in r.stderr and path in r.stderr, r
        os.chmod(path, 0o600)
    key, _ = lab.ca.issue("stranger", CLIENT_EXT)
    lab.configure([b], key=key)
    r = lab.command("--check")
    assert r.returncode == 1 and "another key" in r.stderr, r


def environment(lab):
    """OpenSSL takes no orders from the environment: this one would leave it without any algorithm"""
    lab.configure([lab.burstd()])
    lab.write("openssl.cnf", "openssl_conf = a\n[a]\nproviders = b\n[b]\nc = d\n[d]\n"
                             "module = /nonexistent.so\nactivate = 1\n")
    env = {**os.environ, "OPENSSL_CONF": f"{lab.dir}/openssl.cnf"}
    assert subprocess.run(["openssl", "dgst", "/dev/null"], env=env, capture_output=True, check=False).returncode != 0
    assert lab.command("--check", env=env).returncode == 0


def usage(lab):
    """--help names every key, and an option that there is not is an error"""
    r = lab.command("--help")
    assert r.returncode == 0 and "deadman_job" in r.stdout and "--once" in r.stdout
    assert lab.command("--version").stdout.startswith("burst-agent ")
    assert lab.command("--onse").returncode == 2 and lab.command("extra").returncode == 2


# A thread for each of the most patient first, so that the whole takes as long as these.
TESTS = [urgent_overtakes, asks_on, interval_has_bounds, deadman_and_jobs, deadman_hears, deadman_without_jobs,
         deadman_waits_not_for_ever, deadman_off, deadman_stopped, watched, slow_servers, local_command_not, health_commands,
         unkillable_command,
         rogue_renewal, wrong_clock, gpus, heartbeat_says_how_the_node_is, body_stays_small, fails_over_and_back,
         names_are_looked_up, wrong_ca, old_tls, wrong_name, redirect, huge_answers, closed_connection,
         answers_that_are_none, renewal, renewal_in_time, renewal_by_the_wall, renewal_for_a_job, aws_spot, aws_token,
         aws_others, one_source_of_several, one_question_of_several, words_of_strangers, portal, gcp, gcp_flavour,
         gcp_restarts, azure, azure_looks_itself, azure_preempt,
         file_and_command, lost_acks, refused, refused_else, parallel, local_command,
         local_command_goes_on, unmount_waits_for_jobs, unmount_before_the_end, unmount_after_the_message,
         unmount_without_jobs, unmount_released, unmount_not, unmount_goes_on, notice_of_each_boot, hiccup, gpus_of_driver, shutdown,
         shutdown_why, keys_follow, keys_off, keys_unsaid, keys_clocks, keys_fail, hosts_follow, hosts_hostile,
         hosts_in_place, hosts_sandboxed, hosts_full, hosts_long, hosts_many, hosts_off, secrets, configuration,
         environment, usage]


def run(fn):
    lab = Lab()
    try:
        fn(lab)
        return fn, None
    except Exception:  # pylint: disable=broad-exception-caught
        return fn, traceback.format_exc() + lab.read("log")[-3000:]
    finally:
        lab.close()


def forgotten():
    """Tests that are defined here and that nobody runs; what begins with "_" is none."""
    return [n for n, f in globals().items() if n[0] != "_" and f not in TESTS and
            getattr(f, "__code__", None) and f.__code__.co_varnames[:f.__code__.co_argcount] == ("lab",)]


def main(words):
    if forgotten():
        print(f"Bail out! not in TESTS: {' '.join(forgotten())}")
        return 1
    tests = [t for t in TESTS if not words or any(w in t.__name__ for w in words)]
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for n, (fn, why) in enumerate((f.result() for f in concurrent.futures.as_completed(
                [pool.submit(run, t) for t in tests])), 1):
            print(f"{'not ' if why else ''}ok {n} - {fn.__name__}: {fn.__doc__}", flush=True)
            if why:
                failed = 1
                print("".join(f"# {line}\n" for line in why.splitlines()), flush=True)
    return failed


if __name__ == "__main__":
    ARGS = sys.argv[1:]
    if ARGS[:1] == ["--agent"]:
        Lab.agent, ARGS = ARGS[1], ARGS[2:]
    sys.exit(main(ARGS))
