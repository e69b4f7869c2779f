"""idle.py: what 10,000 nodes that are up cost when nothing happens."""

import os
import time

from world import World, cpu_ms, rss_kib, status

SECONDS = 120  # four polls and a list


def pages(w):
    return sum(w.stats()["ops"]["list"]["answers"].values())


def run(b):
    nodes, seconds = 10000, 31 if b.quick else SECONDS
    with World(b, nodes) as w:
        w.bring_up(nodes)
        time.sleep(12)
        pid = w.burstd.pid
        before = (cpu_ms(pid), status(pid, "voluntary_ctxt_switches"), pages(w), len(w.standin_log()))
        t0 = time.time()
        time.sleep(seconds)
        took = time.time() - t0
        cpu = cpu_ms(pid) - before[0]
        wakes = status(pid, "voluntary_ctxt_switches") - before[1]
        polls = sum(r[1] == "show" for r in w.standin_log()[before[3]:])
        b.figure("RSS", rss_kib(pid) / 1024, "MiB", 32, nodes=nodes)
        b.figure("peak RSS, with the burst", rss_kib(pid, "VmHWM") / 1024, "MiB", nodes=nodes)
        b.figure("CPU", cpu / took / 10, "%", 0.2, nodes=nodes, seconds=round(took))
        b.figure("wakeups", wakes / took, "1/s", 2, nodes=nodes)
        b.figure("polls of slurmctld", polls, "", nodes=nodes, seconds=round(took))
        b.figure("pages of the provider's list", pages(w) - before[2], "", nodes=nodes, seconds=round(took))
        b.figure("CPU of one reconcile pass", cpu / max(1, polls), "ms", 50, nodes=nodes)
        size = sum(os.path.getsize(os.path.join(w.state, f)) for f in os.listdir(w.state))
        b.figure("journal on disk", size / 2**20, "MiB", nodes=nodes)
