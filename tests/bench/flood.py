"""flood.py: requests at the control socket while the node-facing listener is flooded, on the loop that both share.

Not burstd: its control socket and its listener with its limits, with one fdatasync for a request (tests/bench/flood)."""

import json
import os
import subprocess
import threading

from world import RUN, percentile

CLAIMS, CONNS, SECONDS, NODES = 10000, 500, 12, 40


def certificate():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=burstd", "-keyout", f"{RUN}/key.pem", "-out", f"{RUN}/cert.pem"],
                   check=True, stderr=subprocess.DEVNULL)


def asks(b, runs):
    out = subprocess.run([f"{b.bin}/flood", "ask", str(runs)], check=True, text=True, stdout=subprocess.PIPE).stdout
    return [(int(l.split()[1]) / 1e3, int(l.split()[0])) for l in out.splitlines()]


def serve(b, *alone):
    p = subprocess.Popen([f"{b.bin}/flood", "serve", f"{RUN}/cert.pem", f"{RUN}/key.pem", *alone],
                         stdout=subprocess.PIPE, text=True)
    return p, p.stdout.readline().strip()


def claim(b, port):
    """NODES good claims within 8 s, and what came of them."""
    return json.loads(subprocess.run([f"{b.bin}/flood", "claim", port, str(NODES), "8"], check=True, text=True,
                                     stdout=subprocess.PIPE).stdout)


def attacked(b, port):
    """Requests while the listener at port is attacked, what the attacker says, and nodes that claim meanwhile."""
    said, rows, good = [], [], []

    def attack():
        # An attacker has machines of his own: his work here must not count as ours.
        out = subprocess.run(["nice", "-n", "19", f"{b.bin}/flood", "attack", port, str(CLAIMS), str(CONNS),
                              str(SECONDS)], check=True, text=True, stdout=subprocess.PIPE).stdout
        said.append(json.loads(out))

    ts = [threading.Thread(target=attack), threading.Thread(target=lambda: good.append(claim(b, port)))]
    for t in ts:
        t.start()
    while ts[0].is_alive():
        rows += asks(b, 20)
    for t in ts:
        t.join()
    return rows, said[0], good[0]


def report_claims(b, good, **params):
    b.figure("good claims, answered", good["in"], f"of {NODES}", **params)
    b.figure("good claims, at once", good["at_once"], f"of {NODES}", **params)
    b.figure("good claim, p50", good["p50_ms"], "ms", **params)
    b.figure("good claim, slowest", good["max_ms"], "ms", **params)


def report(b, rows, beside, target=10, **params):
    ms, floor = [r[0] for r in rows], [r[0] for r in beside]
    for name, p in (("p50", 0.5), ("p99", 0.99)):
        b.figure(f"answer, {name}", percentile(ms, p), "ms", target, percentile(floor, p) if floor else None, **params)
    b.figure("not answered", sum(r[1] != 0 for r in rows), "requests", 0, **params)


def run(b):
    for d in ("/run/burstd", RUN):
        os.makedirs(d, mode=0o700, exist_ok=True)
    certificate()
    burstd, port = serve(b)
    other, other_port = serve(b, "alone")
    report(b, asks(b, 200), [], flood="none")
    report_claims(b, claim(b, port), flood="none")
    beside, _, _ = attacked(b, other_port)
    report(b, beside, [], None, flood="on another process")
    rows, said, good = attacked(b, port)
    report(b, rows, beside, flood="on ours")
    report_claims(b, good, flood="on ours")
    for name, value in said.items():
        if name.endswith("_per_s"):
            b.figure(name.replace("_", " "), value, "1/s")
    other.terminate()
    other.wait()
    burstd.terminate()
    out = json.loads(burstd.stdout.read())
    burstd.wait()
    b.figure("dropped at accept", out["over_rate"] + out["over_number"], "conns")
    b.figure("driven out for others", out["ousted"], "conns")
    b.figure("bad claims the loop saw", out["loop"] - NODES - good["in"], "calls", 0)
