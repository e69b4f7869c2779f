"""burst.py: from the hook's exec to the last create request at the provider, and to the last address in slurmctld."""

import math
import time

from world import CONCURRENCY, CREATE_MAX, World, cpu_ms, requests, split

SHAPES = {"one job": 0, "1-node jobs": 1, "2-node jobs": 2}


def floor_ms(n, latency):
    return math.ceil(math.ceil(n / CREATE_MAX) / CONCURRENCY) * latency


def burst(w, n, each):
    """The time the hook was started, in us; all n instances are asked for."""
    w.standin("up", 1, n)
    nodes = f"c[1-{n}]"
    row = w.hook("resume", nodes, [nodes] if each == 0 else split(n, each))[0]
    if row[2] != 0:
        raise RuntimeError(f"burst-resume exits {row[2]}")
    w.until(lambda: w.stats()["created"] >= n, 120)
    return row[0]


def case(b, n, shape, latency):
    with World(b, n, sim={"latency": {"create": f"{latency}ms", "list": "200ms"}}) as w:
        cpu = cpu_ms(w.burstd.pid)
        t0 = burst(w, n, SHAPES[shape])
        time.sleep(0.2)
        cpu = cpu_ms(w.burstd.pid) - cpu
        create = w.stats()["ops"]["create"]
        value = create["last_ms"] - t0 / 1000
        floor = floor_ms(n, latency)
        b.figure("hook to last create", value, "ms", 1.10 * floor + (50 if n <= 1000 else 150), floor,
                 nodes=n, shape=shape, create_ms=latency)
        rounds = math.ceil(math.ceil(n / CREATE_MAX) / CONCURRENCY) - 1
        b.figure("beyond the rounds", value - rounds * latency, "ms", nodes=n, shape=shape, create_ms=latency)
        if n == 10000:
            b.figure("CPU of burstd until then", cpu, "ms", nodes=n, shape=shape, create_ms=latency)
        if n >= 1000 and latency == 1500:
            addressed(b, w, n, t0, shape)
        if n == 1000 and latency == 50:
            life(b, w, n, shape)


def addressed(b, w, n, t0, shape):
    w.until(lambda: sum(r[2] for r in w.standin_log() if r[1] == "addr") >= n)
    last = max(r[0] for r in w.standin_log() if r[1] == "addr")
    b.figure("hook to last address in slurmctld", (last - t0) / 1000, "ms", 2500 if n == 1000 else None,
             nodes=n, shape=shape, create_ms=1500)


def life(b, w, n, shape):
    """Calls of one life: bought, up, powered down, deleted."""
    w.until(lambda: w.state_count("ready") == n)
    w.standin("down", 1, n)
    w.hook("suspend", f"c[1-{n}]")
    w.until(lambda: w.stats()["live"] == 0)
    time.sleep(2)
    m = w.metrics()
    b.figure("create calls per node", requests(m, "create") / n, "calls", 0.02, nodes=n, shape=shape)
    b.figure("delete calls per node", requests(m, "delete") / n, "calls", 0.02, nodes=n, shape=shape)
    b.figure("slurmctld updates per node", m['burstd_slurm_requests_total{kind="update"}'] / n, "calls", 0.02,
             nodes=n, shape=shape)
    b.figure("journal commits per node", m["burstd_journal_commits_total"] / n, "", nodes=n, shape=shape)


def late_addresses(b):
    """The create's answer has no address yet: it must be found in a list."""
    with World(b, 1000, sim={"latency": {"create": "1500ms", "list": "200ms"}, "address_after": "1600ms"}) as w:
        t0 = burst(w, 1000, 1)
        addressed(b, w, 1000, t0, "1-node jobs, address by list")


def run(b):
    sizes = (10, 1000) if b.quick else (10, 100, 1000, 10000)
    for latency in (50, 1500):
        for n in sizes:
            for shape in SHAPES:
                case(b, n, shape, latency)
    late_addresses(b)
