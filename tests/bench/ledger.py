"""ledger.py: burst-ledger over a million jobs, or --jobs, and whether it is right.

The jobs, and what they cost, are made here from their numbers alone.  Nothing of the ledger is used for that: machines
of a price that has no fraction each second, cut in two by two jobs at a time, so each amount is a product of integers."""

import calendar
import csv
import io
import os
import random
import shutil
import sqlite3
import subprocess
import time

from world import World

NODES, PER_NODE_DAY = 1000, 100  # jobs of a node on one day, two at a time
DAY = 86400
UP, READY, GONE = 600, 660, DAY - 600  # of a machine, each day: created, up, gone
SLOT = (GONE - READY - 300) // (PER_NODE_DAY // 2)
RATE = 7200 * 10**6  # nano-units per hour: 2,000,000 each second
SEC = RATE // 3600
RUNS = 5
ROWS_MAX = 4000000  # of a report by job


class Story:
    """Job j is the i-th of the jobs on node n on day d."""

    def __init__(self, days):
        self.days = days
        month = time.strftime("%Y-%m-01", time.gmtime())
        # All is booked, for three days are over, and each month of it can be closed.
        self.first = calendar.timegm(time.strptime(month, "%Y-%m-%d")) // DAY - days - 6

    def jobs(self, day):
        for n in range(NODES):
            for i in range(PER_NODE_DAY):
                yield self.job(day, n, i)

    def job(self, day, n, i):
        j = (day * NODES + n) * PER_NODE_DAY + i + 1
        start = (self.first + day) * DAY + READY + i // 2 * SLOT
        user = j * 7919 % 500
        return {"id": j, "node": n + 1, "start": start, "end": start + SLOT - 1 - j * 31 % (SLOT // 2), "user": user,
                "wckey": f"wk{(user * 2 + j % 2) % 200}", "lost": j % 97 == 0}

    def date(self, day, form="%Y-%m-%d"):
        return time.strftime(form, time.gmtime((self.first + day) * DAY))

    def months(self):
        return sorted({self.date(d, "%Y-%m") for d in range(self.days)})

    def number(self, j):
        j -= 1
        return self.job(j // (NODES * PER_NODE_DAY), j // PER_NODE_DAY % NODES, j % PER_NODE_DAY)


def cost(job):
    return (job["end"] - job["start"]) * SEC // 2


def write_journal(story, path):
    """The facts of the machines, which burstd writes with their steps."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous = OFF")
    life, machine = [], []
    for d in range(story.days):
        base = (story.first + d) * DAY
        for n in range(1, NODES + 1):
            machine.append((f"c{n}", d + 1, (base + UP - 60) * 1000))
            for kind, at in (("wanted", UP - 60), ("created", UP), ("ready", READY), ("delete_asked", GONE - 30),
                             ("ended", GONE)):
                life.append((f"c{n}", d + 1, kind, "" if kind == "wanted" else f"i-{n}-{d}", (base + at) * 1000, RATE))
    db.executemany("INSERT INTO life (node, gen, kind, instance, at_ms, said_ms, rate_nano_h) VALUES (?,?,?,?,?,0,?)",
                   life)
    db.executemany("INSERT INTO machine VALUES (?,?,?,'p','sim','p','h100','eu','eu-a','on-demand','EUR',1000,0,96,"
                   "960000,8)", machine)
    db.commit()
    db.close()


def write_jobs(story, dir_):
    """As sacct prints them, a file a day, and the judge's sums by wckey, day and class."""
    sums = {}
    for d in range(story.days):
        date = story.date(d)
        with open(f"{dir_}/{story.first + d}", "w", encoding="utf-8") as f:
            for j in story.jobs(d):
                state = "NODE_FAIL" if j["lost"] else "COMPLETED"
                f.write("\x01".join(map(str, (
                    j["id"], j["id"], j["id"], j["start"] - 60, j["start"], j["end"], state, 1, f"c{j['node']}", 48,
                    "cpu=48,gres/gpu=4,mem=480000M,node=1", "", f"user{j['user']}", "cloud", "normal",
                    f"account{j['user'] % 50}", j["wckey"], "train"))) + "\x01\n")
                key = (j["wckey"], date, "lost" if j["lost"] else "run")
                sums[key] = sums.get(key, 0) + cost(j)
    return sums


SACCT = """#!/bin/sh
# In place of sacct: the jobs that overlap the window, of files of one day each.
for a; do
	case $a in
	--delimiter=*) d=${a#*=} ;;
	--starttime=uts*) from=${a#*uts} ;;
	--endtime=uts*) to=${a#*uts} ;;
	esac
done
for day in $(seq $((from / 86400)) $((to / 86400))); do
	[ ! -e %s/$day ] || awk -F'\\001' -v d="$d" -v a="$from" -v b="$to" '$5 < b && $6 >= a { gsub(/\\001/, d); print }' %s/$day
done
"""


def cold(path):
    """Have the kernel forget the file."""
    for name in (path, path + "-wal"):
        if os.path.exists(name):
            fd = os.open(name, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


class Ledger:
    def __init__(self, b):
        self.b, self.dir = b, os.path.join(b.dir, "ledger")
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(f"{self.dir}/jobs")
        self.ledger, self.journal = f"{self.dir}/ledger.db", f"{self.dir}/journal.db"

    def make(self, story):
        with World(self.b, 1) as w:  # an empty journal
            w.burstd.terminate()
            w.burstd.wait(10)
            shutil.copy(f"{w.state}/journal.db", self.journal)
        write_journal(story, self.journal)
        sums = write_jobs(story, f"{self.dir}/jobs")
        with open(f"{self.dir}/sacct", "w", encoding="utf-8") as f:
            f.write(SACCT % (f"{self.dir}/jobs", f"{self.dir}/jobs"))
        os.chmod(f"{self.dir}/sacct", 0o755)
        with open("/etc/burstd/burstd.conf", encoding="utf-8") as f:
            conf = f.read().replace(f"{self.b.dir}/slurm", self.dir)
        with open(f"{self.dir}/burstd.conf", "w", encoding="utf-8") as f:
            f.write(conf)
        return sums

    def run(self, *args, name="out"):
        """(seconds, peak KiB); what it printed is in a file.  A process that is not ours starts it: its peak would begin
        with ours, which is the judge's."""
        command = [f"{self.b.bin}/burst-ledger", *args, "--config", f"{self.dir}/burstd.conf", "--journal", self.journal,
                   "--ledger", self.ledger]
        out = subprocess.run([f"{self.b.dir}/timed", "run", "1", "0", "/bin/sh", "-c", 'exec "$@" >"$0"',
                              f"{self.dir}/{name}", *command], check=True, text=True, env={"PATH": "/usr/bin:/bin"},
                             stdout=subprocess.PIPE).stdout
        _, took, status, rss = map(int, out.split())
        if status != 0:
            raise RuntimeError(f"burst-ledger {args}: status {status}: {self.printed(name)[-500:]}")
        return took / 1e9, rss

    def printed(self, name="out"):
        with open(f"{self.dir}/{name}", encoding="utf-8") as f:
            return f.read()


def check(what, is_right):
    if not is_right:
        raise RuntimeError(f"the ledger is wrong: {what}")


def report(b, l, by, days, target):
    """The best of some runs, each with a cold cache; more than one would help nobody's quarter."""
    best, peak = None, 0
    for _ in range(RUNS):
        cold(l.ledger)
        took, rss = l.run("report", "--by", by, "--from", days[0], "--to", days[1], "--csv", name="report")
        best, peak = took if best is None else min(best, took), max(peak, rss)
    b.figure("report, cold cache", best * 1000, "ms", target, by=by, jobs=b.jobs)
    b.figure("report, memory", peak / 1024, "MiB", by=by, jobs=b.jobs)
    return list(csv.DictReader(io.StringIO(l.printed("report"))))


def nano(text):
    whole, _, part = text.partition(".")
    return int(whole) * 10**9 + int((part + "0" * 9)[:9])


def judge(story, sums, rows):
    """Jobs by the judge's sums, and all of it by the time of the machines."""
    had, total = {}, 0
    for r in rows:
        total += nano(r["cost"])
        if r["class"] in ("run", "lost"):
            had[(r["wckey"], r["day"], r["class"])] = nano(r["cost"])
    check("sums of jobs", had == sums)
    check("the total", total == story.days * NODES * (GONE - UP) * SEC)


def rescan(l):
    """The sums that reports read, beside those of all postings."""
    db = sqlite3.connect(f"file:{l.ledger}?mode=ro", uri=True)
    same = "SELECT day, dims, kind, {}, {} FROM {} GROUP BY day, dims, kind ORDER BY day, dims, kind"
    kept = db.execute(same.format("n", "nano", "rollup")).fetchall()
    check("sums that are kept", kept == db.execute(same.format("COUNT(*)", "SUM(nano)", "posting")).fetchall())
    return len(kept), db.execute("SELECT COUNT(*) FROM posting").fetchone()[0]


def explain(b, l, story):
    """Of random jobs: how long, and is it what the judge says?"""
    dice = random.Random(4711)
    took = []
    for _ in range(20):
        j = story.number(dice.randrange(1, story.days * NODES * PER_NODE_DAY + 1))
        cold(l.ledger)
        took.append(l.run("job", str(j["id"]), "--explain")[0])
        text = l.printed()
        paid = f"{cost(j) // 10**9}.{cost(j) % 10**9:09d}".rstrip("0")
        check(f"job {j['id']}: {paid}\n{text}", paid in text and f"account account{j['user'] % 50}," in text)
    b.figure("job --explain, longest of 20", max(took) * 1000, "ms", 1000, jobs=b.jobs)


def close(b, l, story, days):
    """Each month in turn; what was reported before is reported after it, byte for byte."""
    reported = ("report", "--by", "account,class,month", "--from", days[0], "--to", days[1], "--csv")
    l.run(*reported, name="open")
    took, peak = 0, 0
    for month in story.months():
        cold(l.ledger)
        seconds, rss = l.run("period", "close", month)
        took, peak = took + seconds, max(peak, rss)
    b.figure("period close, all months", took, "s", jobs=b.jobs, months=len(story.months()))
    b.figure("period close, memory", peak / 1024, "MiB", 128, jobs=b.jobs)
    l.run(*reported, name="closed")
    check("a month after its close", l.printed("open") == l.printed("closed"))


def run(b):
    story = Story(b.jobs // (NODES * PER_NODE_DAY))
    l = Ledger(b)
    sums = l.make(story)
    took, rss = l.run("once")
    b.figure("first pass", took, "s", jobs=b.jobs, instances=story.days * NODES)
    b.figure("first pass, each job", took / b.jobs * 1e6, "us", jobs=b.jobs)
    b.figure("first pass, memory", rss / 1024, "MiB", jobs=b.jobs)
    took, _ = l.run("once")
    b.figure("pass without news", took * 1000, "ms", jobs=b.jobs)
    b.figure("file, each job", os.path.getsize(l.ledger) / b.jobs, "bytes", jobs=b.jobs)
    days = [story.date(0), story.date(story.days - 1)]
    target = b.jobs / 1000
    judge(story, sums, report(b, l, "wckey,day,class", days, target))
    if b.jobs <= ROWS_MAX:
        rows = report(b, l, "job", days, target)
        jobs = {r["job"]: nano(r["cost"]) for r in rows if r["job"]}
        check("each job", jobs == {str(j["id"]): cost(j) for d in range(story.days) for j in story.jobs(d)})
    kept, postings = rescan(l)
    b.figure("sums that are kept", kept, "rows", jobs=b.jobs, postings=postings)
    explain(b, l, story)
    close(b, l, story, days)
    took, rss = l.run("verify")
    b.figure("verify", took, "s", jobs=b.jobs)
    b.figure("verify, memory", rss / 1024, "MiB", 128, jobs=b.jobs)
    shutil.rmtree(l.dir)
