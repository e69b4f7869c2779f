#!/usr/bin/python3
"""judge.py --dir DIR ...: what came of a run of chaos.sh, in numbers that are to be 0.

burstd is never asked: leaks and duplicates are `simcloud audit`'s, from its meter and from when slurmctld wanted each
node; the limits are compared with the meter; jobs are judged by the lines they wrote themselves and by what slurmctld
said of them.  Only what burst-ledger makes of burstd's journal is theirs: it is compared with the meter.
"""
import argparse
import json
import os
import sys
from collections import defaultdict
from decimal import Decimal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import bills  # noqa: E402
import clouds  # noqa: E402

GRACE_MS = 150_000  # of the audit
# slurmctld writes down what it knows within so long; killed sooner it has forgotten it, whoever starts nodes for it.
SLURM_SAVES_MS = 10_000
# What it had started by then writes its first line so much later at most; no other controller is there so soon.
LAUNCH_MS = 5_000
# What slurmctld says of a job that it could not start, most often as it runs on that node already.  One that may not be
# requeued slurmd cancels then.
HELD = "launch_failed_requeued_held"
ENDED = {"COMPLETED", "FAILED", "NODE_FAIL", "CANCELLED", "TIMEOUT", "BOOT_FAIL"}


def rows(path):
    with open(path, errors="replace") as file:
        return [line.split() for line in file if line.strip()]


def tasks_of(text):
    """The tasks of "7", "2-4,6" or "1-3%2"; a set."""
    found = set()
    for part in text.split("%")[0].split(","):
        low, _, high = part.partition("-")
        if low.isdigit() and (not high or high.isdigit()):
            found |= set(range(int(low), int(high or low) + 1))
    return found


class Jobs:
    """What was submitted, what slurmctld last said of it, and what the jobs themselves did."""

    def __init__(self, submitted, states, lines, kills):
        self.kills = [int(row[0]) for row in kills]
        self.last = {}  # (job, task) -> (id, state, requeue, when slurmctld said so)
        self.held = set()  # ids
        for row in states:
            seen, number, array, task, state, requeue = row[:6]
            if HELD in row[6:]:
                self.held.add(int(number))
            if array == "-":
                self.last[int(number), 0] = (int(number), state, requeue, int(seen))
            for t in tasks_of(task) if array != "-" else ():
                self.last[int(array), t] = (int(number), state, requeue, int(seen))
        self.wanted = {}  # (job, task) -> when it was submitted
        self.forgotten = []  # those whose number slurmctld gave out a second time
        for number, at, tasks, *_ in submitted:
            for t in range(1, int(tasks) + 1) if int(tasks) else [0]:
                job = int(number), t
                if job in self.wanted:
                    self.forgotten.append((job, self.wanted[job]))
                self.wanted[job] = int(at)
        self.runs = defaultdict(dict)  # id -> run -> [start, last sign of life, ended]
        for what, number, _, run, at in (row for row in lines if len(row) == 5):
            r = self.runs[int(number)].setdefault(run, [int(at), int(at), False])
            r[1] = max(r[1], int(at))
            r[2] = r[2] or what == "end"

    def excused(self, at, seen=0):
        """Was slurmctld killed before it can have written down what happened at that time, and did not know it later?"""
        return any(0 <= kill - at <= SLURM_SAVES_MS and seen <= kill for kill in self.kills)

    def run_excused(self, began):
        """Likewise of a run: slurmctld ordered it before, and may not know that it did."""
        return any(-LAUNCH_MS <= kill - began <= SLURM_SAVES_MS for kill in self.kills)

    def start_excused(self, number):
        """Likewise of any run of a job."""
        return any(self.run_excused(r[0]) for r in self.runs.get(number, {}).values())

    def lost(self):
        """Neither done nor ended for a reason that was told; and those that slurmctld itself forgot."""
        lost = [f"job {job[0]}: forgotten" for job, at in self.forgotten if not self.excused(at)]
        forgotten = [job for job, at in self.forgotten if self.excused(at)]
        # Held because its node says that it runs there already: such a job can neither be released nor run again.
        for number in sorted(self.held):
            if self.start_excused(number):
                forgotten.append(number)
            else:
                lost.append(f"job {number}: held by slurmctld, which failed to start it")
        for job, at in self.wanted.items():
            number, state, requeue, seen = self.last.get(job, (None, "UNKNOWN", "1", 0))
            done = any(r[2] for r in self.runs.get(number, {}).values())
            if number in self.held:
                continue
            if state in ENDED and done or state == "NODE_FAIL" and requeue == "0":
                continue
            if state not in ENDED and not done and self.excused(at, seen):
                forgotten.append(job)
                continue
            if state == "CANCELLED" and requeue == "0" and self.start_excused(number):
                forgotten.append(job)
                continue
            lost.append(f"job {job[0]}" + (f"_{job[1]}" if job[1] else "") + f": {state}" + (", unfinished" if not done else ""))
        return lost, forgotten

    def double(self):
        """Two runs of one job at the same time; and those of a job that slurmctld forgot to have started."""
        double, forgotten = [], []
        for number, runs in self.runs.items():
            order = sorted(runs.values())
            for one, two in zip(order, order[1:]):
                if two[0] < one[1]:
                    text = f"job {number}: two runs for {(min(one[1], two[1]) - two[0]) / 1000} s from {two[0]}"
                    (forgotten if self.run_excused(one[0]) else double).append(text)
        return double, forgotten


def overrun(meter, max_nodes, max_rate):
    """Instance seconds above max_nodes, or (the larger) above max_rate; the most at once; the highest rate."""
    changes = []
    for row in meter["rows"]:
        price = Decimal(row["price"])
        changes.append((row["start_ms"], 1, price))
        changes.append((row["end_ms"] if row["end_ms"] is not None else meter["now_ms"], -1, -price))
    live, rate, over, most, top, since = 0, Decimal(0), 0, 0, Decimal(0), 0
    for at, n, price in sorted(changes):
        if live > max_nodes or rate > max_rate:
            over += max(live - max_nodes, 1) * (at - since)
        live, rate, since = live + n, rate + price, at
        most, top = max(most, live), max(top, rate)
    return over / 1000, most, top


def count_of(runs):
    return sum(len(r) for r in runs.values())


def spread(waits):
    """Of sorted numbers the count, the middle one and the largest, for people."""
    return f"{len(waits)}: median {waits[len(waits) // 2]}, most {waits[-1]}" if waits else "0"


def two_clouds(path, audit, meter):
    """What is judged and told of two clouds besides: the leaked seconds and findings that remain, figures, complaints."""
    table = rows(path("bad"))
    bad = [(int(row[0]), int(row[1])) for row in table]
    findings, excused = clouds.unexcused(audit, meter, bad, GRACE_MS)
    wanted = [(row[0], int(row[1]), float("inf") if row[2] == "-" else int(row[2])) for row in rows(path("wanted"))]
    away = [(int(row[0]), int(row[1])) for row in rows(path("away"))]
    calm, upset = clouds.starts(wanted, meter, bad, away)
    machines = clouds.bought(meter, bad)
    failed = sum(high - low for low, high in bad) / 1000
    why = clouds.harmed(failed, machines, calm, upset)
    second = sum(row["cloud"] == 2 for row in meter["rows"])
    if 4 * second < len(meter["rows"]):
        why.append(f"only {second} of {len(meter['rows'])} instances were the second cloud's")
    told = {
        "second_cloud": second,
        "second_failed": len(bad),
        "second_failed_seconds": failed,
        "second_failed_how": ",".join(sorted({row[2] for row in table})),
        "excused_seconds": excused,
        "first_meanwhile": machines,
        "first_waited": spread(calm),
        "first_waited_upset": spread(upset),
    }
    return findings, float(audit["leaked_seconds"]) - excused, told, why + ([] if bad else ["the second cloud never failed"])


def silent(away, bad):
    """(cloud, begin_ms, end_ms), when burstd could hear nothing of that cloud; a failover takes it nothing away."""
    gone = [(int(row[0]), int(row[1])) for row in away if row[2] != "failover"]
    failing = [(int(row[0]), int(row[1])) for row in bad]
    return [(cloud, low, high) for cloud in (1, 2) for low, high in gone] + [(2, low, high) for low, high in failing]


def judge(directory, args):
    def path(name):
        return os.path.join(directory, name)

    def loaded(name):
        with open(path(name)) as file:
            return json.load(file)

    audit, meter, status = loaded("audit.json"), loaded("meter.json"), loaded("status.json")
    jobs = Jobs(rows(path("submitted")), rows(path("states")), rows(path("lines")), rows(path("kills")))
    lost, forgotten = jobs.lost()
    double, redone = jobs.double()
    over, most, top = overrun(meter, args.max_nodes, Decimal(args.max_rate))
    spent = sum(Decimal(pool["spent"]) for pool in status["pools"])
    done = [row[0] for row in rows(path("done"))]
    fired = sum(rule["fired"] for rule in loaded("faults.json")["faults"])
    with open(path("failures")) as file:
        failures = file.read().splitlines()
    bad = rows(path("bad")) if args.clouds > 1 else []
    lives = loaded("ledger.json")
    off, ledger = bills.compare(meter, lives, silent(rows(path("away")), bad))
    off += bills.reported(lives, loaded("report.json"))
    findings, leaked, second, harm = audit["findings"], float(audit["leaked_seconds"]), {}, []
    if args.clouds > 1:
        findings, leaked, second, harm = two_clouds(path, audit, meter)
    found = [f"{f['what']}: {f['node']} generation {f['generation']} ({f['id']}), {f['seconds']} s" for f in findings]
    verdict = {
        "leaked_seconds": round(leaked, 3),
        "duplicate_seconds": float(audit["duplicate_seconds"]),
        "lost_jobs": len(lost),
        "double_run_jobs": len(double),
        "overrun_seconds": over,
        "ledger_differs": len(off),
    }
    told = {
        **ledger,
        "burstd_less_meter": str(spent - Decimal(meter["total"])),
        "minutes": args.minutes,
        "seed": args.seed,
        "instances": audit["instances"],
        "instance_seconds": float(audit["instance_seconds"]),
        "most_at_once": most,
        "top_rate": str(top),
        "jobs": len(jobs.wanted),
        "runs": count_of(jobs.runs),
        "kills": done.count("kill"),
        "stops": done.count("stop"),
        "reclaims": done.count("reclaim"),
        "failovers": len(jobs.kills),
        "requests": loaded("stats.json")["requests"],
        "faults": fired,
        "forgotten_by_slurmctld": len(forgotten) + len(redone),
    }
    # A verdict on nothing is none.
    idle = [f"no {what} in all this time" for what in ("runs", "kills", "faults", "instances") if not told[what]]
    return verdict, told | second, found + lost + double + off + failures + idle + harm


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", required=True)
    parser.add_argument("--max-nodes", type=int, required=True)
    parser.add_argument("--max-rate", required=True)
    parser.add_argument("--minutes", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clouds", type=int, default=1)
    args = parser.parse_args()
    verdict, told, why = judge(args.dir, args)
    for line in why:
        print("#", line)
    for name, value in (verdict | told).items():
        print(f"# {name.replace('_', ' '):24} {value}" + ("   <-- must be 0" if name in verdict and value else ""))
    bad = bool(why) or any(verdict.values())
    line = json.dumps(verdict | told | {"ok": not bad})
    with open(os.path.join(args.dir, "verdict.json"), "w") as file:
        file.write(line + "\n")
    print("#", line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
