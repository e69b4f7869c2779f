"""agent.py: what burst-agent costs a node: memory, processor, wakeups, bytes.

Against the fakes of tests/agent: heartbeats by TLS with a client certificate, and EC2's metadata service asked every five
seconds, as on a spot instance.  The heartbeat comes every second instead of every thirty, so that a minute shows an hour.
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../agent"))
from lab import Lab, until  # noqa: E402  pylint: disable=wrong-import-position


def rollup(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        rows = (line.split() for line in f if line.endswith("kB\n"))
        return {row[0].rstrip(":"): int(row[1]) for row in rows}


def cpu_and_wakes(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        ns, _, slices = f.read().split()
    return int(ns), int(slices)


def measure(b, lab):
    burstd = lab.burstd()
    m = lab.fake()
    m.on("/latest/api/token", (200, "T1")).on("/latest/meta-data", (404, ""))
    p = lab.start([burstd], provider="aws", poll="5s", health="60s", notice_file=f"{lab.dir}/going",
                  metadata=f"http://{m.address}:{m.port}")
    until(lambda: len(burstd.beats()) >= 5, "five heartbeats")
    before, begun, beats = cpu_and_wakes(p.pid), time.time(), len(burstd.beats())
    time.sleep(10 if b.quick else 60)
    after, took, beats = cpu_and_wakes(p.pid), time.time() - begun, len(burstd.beats()) - beats
    lab.write("going", "preempt")
    until(burstd.events, "a notice that is taken")
    time.sleep(1)
    size = rollup(p.pid)
    b.figure("RSS", size["Rss"] / 1024, "MiB", 8)
    b.figure("private dirty", (size["Private_Dirty"] + size["Swap"]) / 1024, "MiB", 1.5)
    b.figure("PSS", size["Pss"] / 1024, "MiB")
    b.figure("CPU of one heartbeat", (after[0] - before[0]) / 1e6 / max(1, beats), "ms")
    b.figure("CPU, a heartbeat every second", (after[0] - before[0]) / 1e9 / took * 100, "%")
    b.figure("wakeups, a heartbeat every second", (after[1] - before[1]) / took, "1/s")
    b.figure("body of a heartbeat", len(burstd.got("/v1/node/heartbeat")[-1][3]), "bytes")


def run(b):
    lab = Lab()
    Lab.agent = os.path.join(b.bin, "burst-agent")
    try:
        measure(b, lab)
    finally:
        lab.close()
