#!/usr/bin/python3
"""schedule.py SEED SECONDS [CLOUDS]: what chaos.sh is to do, and when.

Prints "at_s LANE ACTION [ARG...]", in the order of time; the same seed and seconds give the same lines.  Lanes are played
side by side, so that a slow action (a failover) holds up none of another lane.
"""
import random
import sys

SHORT_S = 600  # a run below that has its rare things scaled, so that some of them happen
# How a whole cloud fails (second.sh).
KINDS = ["errors", "throttled", "hangs", "silent", "garbage", "stopped", "denied", "killed"]


def every(rng, low, high, until):
    at = rng.uniform(low, high)
    while at < until:
        yield at
        at += rng.uniform(low, high)


def lane_burstd(rng, seconds):
    """kill -9 every 20 to 60 s; each sixth time it is stopped for a while instead (the third first)."""
    stop_s = 15 if seconds < SHORT_S else 60
    at, n = rng.uniform(10, 20), 0
    while at < seconds:
        n += 1
        if n % 6 == 3:
            yield at, f"stop {stop_s}"
            at += stop_s
        else:
            yield at, f"kill {rng.uniform(0, 3):.1f}"
        at += rng.uniform(20, 60)


def lane_ledger(rng, seconds):
    """The ledger's process is killed every 30 to 90 s."""
    for at in every(rng, 30, 90, seconds):
        yield at, f"ledger {rng.uniform(0, 3):.1f}"


def lane_cloud(rng, seconds):
    """20 % of what lives is reclaimed in an hour; about a dozen do at a time."""
    gap = min(3600 / (0.2 * 12), seconds / 6)
    for at in every(rng, 0.5 * gap, 1.5 * gap, seconds):
        yield at, f"reclaim {rng.randrange(1000)} {rng.choice([0, 0, 5000, 15000])}"


def lane_slurmctld(rng, seconds):
    """The primary is killed every five minutes, once at least, and is away for so long after the backup took over."""
    away = 20 if seconds < SHORT_S else 60
    if seconds < SHORT_S:
        yield seconds * rng.uniform(0.4, 0.5), f"failover {away}"
        return
    for at in every(rng, 240, 360, seconds - 120):
        yield at, f"failover {away}"


def lane_jobs(rng, seconds):
    """About ten nodes' worth of work at any time, and more now and then than the pool may have."""
    at = 0.0
    while at < seconds:
        nodes = rng.choices([1, 2, 4], [6, 3, 2])[0]
        args = [f"-N{nodes}"]
        args.append("--no-requeue" if rng.random() < 0.2 else "--requeue")
        if nodes == 1 and rng.random() < 0.2:
            args.append(f"--array=1-{rng.randint(2, 4)}")
        yield at, f"job {rng.randint(2, 25)} " + " ".join(args)
        at += rng.expovariate(1 / 5)


def lane_second(rng, seconds):
    """The second cloud fails for one to three minutes, each time otherwise until all have been, and is well in between."""
    low, high = (10, 25) if seconds < SHORT_S else (60, 180)
    kinds, at = [], rng.uniform(0.5 * low, low)
    while True:
        if not kinds:
            kinds = rng.sample(KINDS, len(KINDS))
        bad = rng.uniform(low, high)
        if at + bad > seconds:
            return
        yield at, f"bad {kinds.pop()} {bad:.0f}"
        at += bad + rng.uniform(0.75 * low, 0.75 * high)


def schedule(seed, seconds, clouds=1):
    lines = []
    lanes = [("burstd", lane_burstd), ("cloud", lane_cloud), ("slurmctld", lane_slurmctld), ("jobs", lane_jobs)]
    lanes.append(("ledger", lane_ledger))
    for name, lane in lanes + ([("second", lane_second)] if clouds > 1 else []):
        rng = random.Random(f"{seed} {name}")
        lines += [(at, name, what) for at, what in lane(rng, seconds)]
    return sorted(lines)


if __name__ == "__main__":
    for row in schedule(sys.argv[1], *map(int, sys.argv[2:])):
        print("%.1f %s %s" % row)
