"""reclaim.py: from a notice until the node is fenced, and until its job is requeued."""

import json
import os
import socket
import time

from world import RUN, SOCKET, World, percentile

RUNS = 30


def ask(request):
    """One request to burstd, one answer."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(SOCKET)
    body = json.dumps({"v": 1, **request}).encode()
    s.sendall(frame(body))
    answer = b""
    while True:
        part = s.recv(65536)
        if not part:
            break
        answer += part
    s.close()
    if b'"ok":true' not in answer:
        raise RuntimeError(f"{request}: {answer[:300]}")


def frame(body):
    """docs/protocol.md"""
    return b"J" + len(body).to_bytes(4, "big") + body


def run(b):
    one(b)
    many(b, 1000)


def running(nodes):
    with open(f"{RUN}/running", "w", encoding="utf-8") as f:
        f.writelines(f"{i}|c{i}\n" for i in range(1, nodes + 1))


def times(w, since, nodes):
    """Seconds from since (s) until all nodes were fenced, and until all jobs were requeued."""
    out = []
    for word in ("POWER_DOWN_ASAP", "DOWN"):
        done = []

        def all_done(word=word, done=done):
            done[:] = [(at, n) for at, what, n in w.standin_log() if what == word and at / 1e6 >= since]
            return sum(n for _, n in done) >= nodes

        w.until(all_done, 60, 0.01)
        out.append(max(at for at, _ in done) / 1e6 - since)
    return out


def one(b):
    runs = 5 if b.quick else RUNS
    with World(b, runs, sim={}) as w:
        w.bring_up(runs)
        running(runs)
        rows = []
        for i in range(1, runs + 1):
            since = time.time()
            ask({"op": "notice", "machine": f"c{i}", "kind": "reclaim", "in_ms": 120000})
            rows.append(times(w, since, 1))
            time.sleep(0.05)
    for k, what in ((0, "notice to fenced"), (1, "notice to requeued")):
        b.figure(f"{what}, p99", percentile([r[k] for r in rows], 0.99) * 1000, "ms", 500, nodes=1, runs=runs)


def many(b, nodes):
    with World(b, nodes, sim={}) as w:
        w.bring_up(nodes)
        running(nodes)
        w.sim("POST", "/admin/reclaim", {"node": "*", "notice_ms": 120000})
        since = time.time()
        ask({"op": "reconcile"})  # the list says it of all at once
        fenced, requeued = times(w, since, nodes)
        b.figure("list to all fenced", fenced * 1000, "ms", 2000, nodes=nodes)
        b.figure("list to all requeued", requeued * 1000, "ms", 2000, nodes=nodes)
    with World(b, nodes, sim={}) as w:
        w.bring_up(nodes)
        running(nodes)
        since = time.time()
        for i in range(1, nodes + 1):
            ask({"op": "notice", "machine": f"c{i}", "kind": "reclaim", "in_ms": 120000})
        fenced, requeued = times(w, since, nodes)
        b.figure("notices one by one to fenced", fenced * 1000, "ms", nodes=nodes)
        b.figure("notices one by one to requeued", requeued * 1000, "ms", nodes=nodes)
    os.unlink(f"{RUN}/running")
