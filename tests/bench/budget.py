"""budget.py: what budgets cost: a decision among thousands of them, and the way from the hook to the create."""

import json
import math
import statistics
import subprocess
import time

from world import RUN, World

MATCH, OTHERS, RUNS = 10, 10000, 5
# What squeue says of a job, after its nodes.
PAYS = "| |" + "physics".ljust(128) + "|ann|normal|2:00:00|1|96|NO|cpu=96,gres/gpu=8|1|*|" + 5 * (65 * " " + "|")


class Budgets(World):
    """With ten budgets that each job belongs to, and a thousand of others."""

    def write_conf(self):
        super().write_conf()
        with open("/etc/burstd/burstd.conf", "a", encoding="utf-8") as f:
            for i in range(MATCH):
                f.write(f'budget "ann{i}" {{ users = {{"ann"}} amount = "{10**6 + i}" unknown = "allow" }}\n')
            for i in range(1000):
                f.write(f'budget "other{i}" {{ users = {{"other{i}"}} amount = "1000" }}\n')


def decisions(b):
    """As few as there can be, beside them among ten thousand that do not concern the job."""
    out = json.loads(subprocess.run([f"{b.bin}/decide", "40", str(OTHERS)], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout)
    for who, few, many in (("a known user", "few_ns", "many_ns"), ("a new user", "few_new_ns", "many_new_ns")):
        b.figure("a decision", out[many] / 1000, "us", 1.2 * out[few] / 1000, out[few] / 1000,
                 job_of=who, concern=MATCH, do_not=OTHERS)


def waiting(b):
    """Refused, looked at, let go, and bought for: what a job that waits for money costs, among few and among many."""
    few, many = 10, 10000
    out = subprocess.run([f"{b.bin}/waits", "10", str(few), str(many)], check=True, text=True, stdout=subprocess.PIPE).stdout
    out = json.loads(out.splitlines()[-1])
    b.figure("a job that waits for money", out["many_ns"] / 1000, "us", 3 * out["few_ns"] / 1000, out["few_ns"] / 1000,
             jobs=many, beside=few)
    b.figure("longest step with those", out["longest_ms"], "ms", 50, jobs=many)


def hook_to_create(b, kind, n):
    """ms from the hook to the last create request at the provider, and how often squeue was asked until then."""
    with kind(b, n + 1, sim={"latency": {"create": "50ms", "list": "200ms"}}) as w:
        with open(f"{RUN}/jobs", "w", encoding="utf-8") as f:
            f.writelines(f"{1000 + i}|c{i}{PAYS}\n" for i in range(1, n + 2))
        buy(w, 1, 1)  # the first one since a start has squeue asked for what runs already, too
        time.sleep(1)
        asked = calls(w)
        t0 = buy(w, 2, n + 1)
        last = w.stats()["ops"]["create"]["last_ms"]
        asked = calls(w, last) - asked
        if kind is Budgets:  # it did decide
            w.until(lambda: any(v > 0 for k, v in w.metrics().items() if k.startswith("burstd_budget_held")), 10)
        return last - t0 / 1000, asked


def buy(w, first, last):
    """As slurmctld asks for jobs of one node each; returns when the hook was started, in us."""
    w.standin("up", first, last)
    nodes = f"c[{first}-{last}]"
    with open(f"{RUN}/resume.json", "w", encoding="utf-8") as f:
        json.dump({"all_nodes_resume": nodes, "jobs": [
            {"job_id": 1000 + i, "nodes_alloc": f"c{i}", "nodes_resume": f"c{i}", "oversubscribe": "NO",
             "partition": "cloud"} for i in range(first, last + 1)]}, f)
    out = w.timed("run", 1, 0, f"{w.b.bin}/burst-resume", nodes, env={"SLURM_RESUME_FILE": f"{RUN}/resume.json"})
    w.until(lambda: w.stats()["created"] >= last)
    return int(out.split()[0])


def calls(w, until_ms=math.inf):
    return sum(r[1] == "squeue" and r[0] / 1000 <= until_ms for r in w.standin_log())


def run(b):
    decisions(b)
    waiting(b)
    for n in (1, 1000):
        off, on = [], []
        for _ in range(RUNS):  # by turns: a busy minute is in both
            off.append(hook_to_create(b, World, n))
            on.append(hook_to_create(b, Budgets, n))
        floor, value = (statistics.median(r[0] for r in rows) for rows in (off, on))
        b.figure("hook to last create", value, "ms", 1.1 * floor, floor, nodes=n, budgets=MATCH + 1000)
        b.figure("squeue until then, at most", max(r[1] for r in on), "calls", 1, nodes=n, budgets=MATCH + 1000)
