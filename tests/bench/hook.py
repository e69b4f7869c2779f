"""hook.py: exec to exit of burst-resume, beside one fsync of the same disk at the same time."""

import threading
import time

from world import World, percentile, resume_file, split

RUNS = 200


def fsync(w, size=4096):
    out = w.timed("fsync", RUNS, f"{w.b.dir}/fsync.tmp", max(size, 4096))
    return [int(l) / 1e6 for l in out.split()]


def start_alone(w):
    out = w.timed("run", RUNS, 20, f"{w.b.bin}/burst-hook", "--version")
    return [int(l.split()[1]) / 1e6 for l in out.splitlines()]


def report(b, rows, sync, **params):
    ms = [r[1] * 1000 for r in rows]
    bad = sum(r[2] != 0 for r in rows)
    b.figure("exec to exit, p50", percentile(ms, 0.5), "ms", 1 + percentile(sync, 0.5),
             percentile(sync, 0.5), **params)
    b.figure("exec to exit, p99", percentile(ms, 0.99), "ms", 10, percentile(sync, 0.99), **params)
    b.figure("not durable", bad, "calls", 0, **params)
    return max(r[3] for r in rows)


def run(b):
    with World(b, 10000) as w:
        sync = fsync(w)
        b.figure("one fsync (4 KiB), p50", percentile(sync, 0.5), "ms")
        b.figure("one fsync (4 KiB), p99", percentile(sync, 0.99), "ms")
        w.bring_up(10000)
        time.sleep(2)
        start = start_alone(w)
        b.figure("start of the program alone, p50", percentile(start, 0.5), "ms")
        b.figure("start of the program alone, p99", percentile(start, 0.99), "ms")
        rss = 0
        for n in (1, 1000, 10000):
            nodes = f"c[1-{n}]" if n > 1 else "c1"
            each = max(1, n // 1000)
            rows = w.hook("resume", nodes, split(n, each), RUNS, 100)
            sync = fsync(w, len(resume_file(nodes, split(n, each))))
            rss = max(rss, report(b, rows, sync, nodes=n, jobs=n // each, burstd="quiet"))
        b.figure("peak RSS of the hook", rss, "KiB", 2048)
        report(b, w.hook("suspend", "c1", None, RUNS, 20), fsync(w), nodes=1, burstd="suspends every 20 ms")
    with World(b, 10000, sim={"latency": {"create": "50ms", "list": "50ms"}}) as w:
        during_a_burst(b, w, fsync(w))


def during_a_burst(b, w, sync):
    """Calls for one node, one after the other, while 10,000 one-node jobs are bought and boot."""
    w.standin("up", 1, 10000)
    rows = []
    stop = threading.Event()

    def small_calls():
        while not stop.is_set():
            rows.extend(w.hook("resume", "c9999", ["c9999"], 50, 5))

    w.hook("resume", "c[1-10000]", split(10000, 1))
    t = threading.Thread(target=small_calls)
    t.start()
    try:
        w.until(lambda: w.state_count("ready") == 10000, 120, 1)
    finally:
        stop.set()
        t.join()
    b.figure("calls made", len(rows), "calls")
    report(b, rows, sync, nodes=1, burstd="busy: 10,000 boot")
    b.figure("exec to exit, longest", max(r[1] for r in rows) * 1000, "ms", 2000, nodes=1)
