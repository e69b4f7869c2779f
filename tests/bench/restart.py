"""restart.py: kill -9 with 10,000 nodes in flight."""

import signal
import time

from world import SOCKET, World

NODES = 10000
LIST_MS = NODES // 1000 * 200  # ten pages, one after the other


def run(b):
    with World(b, NODES, boot_ms=3600000, sim={"latency": {"create": "50ms", "list": "200ms"}}) as w:
        half = NODES // 2
        w.standin("up", 1, NODES)
        w.hook("resume", f"c[1-{half}]", [f"c[1-{half}]"])
        w.until(lambda: w.state_count("booting") == half)
        w.sim("POST", "/admin/config", {"latency": {"create": "60s"}})
        w.hook("resume", f"c[{half + 1}-{NODES}]", [f"c[{half + 1}-{NODES}]"])
        # A list that is read meanwhile may have the first instances of this half already.
        w.until(lambda: w.state_count("creating", "booting") == NODES and w.stats()["created"] == NODES)
        if not w.state_count("creating"):
            raise RuntimeError("no create is in flight")
        w.burstd.send_signal(signal.SIGKILL)
        w.burstd.wait()
        w.sim("POST", "/admin/config", {"latency": {"create": "50ms"}})
        again(b, w)


def again(b, w):
    t0 = time.time()
    w.start_burstd(wait=False)
    accepts = int(w.timed("connect", SOCKET, "20000")) / 1e6
    w.hook("suspend", "c1")
    w.until(lambda: not w.calls(), 20, 0.002)
    read = time.time()
    b.figure("start to socket", (accepts - t0) * 1000, "ms", 200, nodes=NODES)
    b.figure("start to first call read", (read - t0) * 1000, "ms", 200, nodes=NODES)
    w.until(lambda: w.state_count("booting") == NODES, 120, 0.02)
    done = time.time()
    b.figure("start to all known again", (done - t0) * 1000, "ms", 2000 + LIST_MS, LIST_MS, nodes=NODES)
    b.figure("instances beyond one each", w.stats()["created"] - NODES, "", 0, nodes=NODES)
