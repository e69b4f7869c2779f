"""hook.py: exec to exit of burst-resume, beside a new file of as many bytes that is made durable, in the same run."""

import os
import signal
import threading
import time

from world import SPOOL, World, percentile, split

RUNS = 200


def start_alone(w):
    out = w.timed("run", RUNS, 20, f"{w.b.bin}/burst-hook", "--version")
    return [int(l.split()[1]) / 1e6 for l in out.splitlines()]


def report(b, rows, least, **params):
    """Beside a new file of the call's size that is made durable right before each."""
    ms = [r[1] * 1000 for r in rows]
    p50, p99 = percentile(least, 0.5), percentile(least, 0.99)
    b.figure("exec to exit, p50", percentile(ms, 0.5), "ms", 1.3 * p50 + 0.7, p50, **params)
    b.figure("exec to exit, p99", percentile(ms, 0.99), "ms", 1.5 * p99 + 2, p99, **params)
    b.figure("not durable", sum(r[2] != 0 for r in rows), "calls", 0, **params)
    return max(r[3] for r in rows)


def look(b, w, what, p99):
    """From the end of the hook to burstd's first look, which deletes the file of a suspend call."""
    ms = [int(l) / 1e6 for l in w.timed("look", RUNS, 20, SPOOL, f"{w.b.bin}/burst-suspend", "c1").split()]
    b.figure("hook's end to the first look, p50", percentile(ms, 0.5), "ms", 5, burstd=what)
    b.figure("hook's end to the first look, p99", percentile(ms, 0.99), "ms", p99, burstd=what)


def run(b):
    with World(b, 10000) as w:
        start = start_alone(w)
        b.figure("start of the program alone, p50", percentile(start, 0.5), "ms")
        b.figure("start of the program alone, p99", percentile(start, 0.99), "ms")
        look(b, w, "no node", 25)
        w.bring_up(10000)
        time.sleep(2)
        look(b, w, "10,000 nodes, quiet", 25)
        rss = 0
        for n in (1, 1000, 10000):
            nodes = f"c[1-{n}]" if n > 1 else "c1"
            each = max(1, n // 1000)
            rows, least = w.hook_beside_floor("resume", nodes, split(n, each), RUNS, 50)
            rss = max(rss, report(b, rows, least, nodes=n, jobs=n // each, burstd="quiet"))
        b.figure("peak RSS of the hook", rss, "KiB", 2048)
        report(b, *w.hook_beside_floor("suspend", "c1", None, RUNS, 10), nodes=1, burstd="suspends every 20 ms")
        without_burstd(b, w)
    with World(b, 10000, sim={"latency": {"create": "50ms", "list": "50ms"}}) as w:
        during_a_burst(b, w)


def without_burstd(b, w):
    os.kill(w.burstd.pid, signal.SIGSTOP)
    report(b, *w.hook_beside_floor("suspend", "c1", None, RUNS, 10), nodes=1, burstd="frozen")
    os.kill(w.burstd.pid, signal.SIGCONT)
    w.until(lambda: not w.calls())
    w.burstd.terminate()
    w.burstd.wait(10)
    report(b, *w.hook_beside_floor("suspend", "c1", None, RUNS, 10), nodes=1, burstd="dead")


def during_a_burst(b, w):
    """Calls for one node, one after the other, while 10,000 one-node jobs are bought and boot."""
    w.standin("up", 1, 10000)
    rows, least = [], []
    stop = threading.Event()

    def small_calls():
        while not stop.is_set():
            some, floor = w.hook_beside_floor("resume", "c9999", ["c9999"], 50, 3)
            rows.extend(some)
            least.extend(floor)

    w.hook("resume", "c[1-10000]", split(10000, 1))
    t = threading.Thread(target=small_calls)
    t.start()
    try:
        w.until(lambda: w.state_count("ready") == 10000, 120, 1)
    finally:
        stop.set()
        t.join()
    b.figure("calls made", len(rows), "calls")
    report(b, rows, least, nodes=1, burstd="busy: 10,000 boot")
    b.figure("exec to exit, longest", max(r[1] for r in rows) * 1000, "ms", 2000, nodes=1)
