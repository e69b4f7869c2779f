"""torture.py: every call of libc that burstd makes in one life fails, one at a time (README.md).

First one life is recorded: its calls, each with all its callers.  Then each of them fails in a life of its own, with
every error that it could give, once; or it and all its like from then on, for some seconds or for ever.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

ALLOC = ("malloc", "calloc", "realloc")
FILES = ["EMFILE", "ENFILE", "ENOMEM"]
ERRORS = {
    "open": ["EMFILE", "ENFILE", "EIO", "EACCES", "ENOSPC"], "openat": ["EMFILE", "ENFILE", "EIO", "EACCES", "ENOSPC"],
    "close": ["EIO", "EINTR"], "read": ["EIO", "EINTR", "EAGAIN", "SHORT"], "write": ["ENOSPC", "EIO", "EINTR", "EAGAIN", "SHORT"],
    "pread": ["EIO", "EINTR", "SHORT"], "pwrite": ["ENOSPC", "EIO", "EINTR", "SHORT"], "fsync": ["EIO", "ENOSPC", "EINTR"],
    "fdatasync": ["EIO", "ENOSPC", "EINTR"], "ftruncate": ["ENOSPC", "EIO", "EINTR"], "fallocate": ["ENOSPC", "EIO", "EINTR"],
    "rename": ["EIO", "ENOSPC"], "unlink": ["EIO", "EROFS"], "mkdir": ["ENOSPC", "EACCES"], "chmod": ["EIO", "EROFS"],
    "stat": ["EIO", "ENOMEM"], "fstat": ["EIO", "ENOMEM"], "statvfs": ["EIO", "EINTR"], "access": ["EIO", "ENOMEM"],
    "flock": ["EINTR", "ENOLCK", "EAGAIN"], "fcntl": ["EINTR", "ENOLCK", "EAGAIN"], "opendir": FILES, "readdir": ["EIO"],
    "socket": FILES + ["ENOBUFS"], "socketpair": FILES, "connect": ["ECONNREFUSED", "EAGAIN", "ETIMEDOUT"],
    "accept": FILES + ["ECONNABORTED", "EINTR", "EAGAIN"], "bind": ["EADDRINUSE", "ENOMEM"], "listen": ["EADDRINUSE"],
    "send": ["ECONNRESET", "EPIPE", "EINTR", "EAGAIN", "ENOBUFS", "SHORT"], "recv": ["ECONNRESET", "EINTR", "EAGAIN", "SHORT", "EOF"],
    "getsockopt": ["ENOBUFS"], "setsockopt": ["ENOMEM"], "getsockname": ["ENOBUFS"], "epoll_create": FILES,
    "epoll_ctl": ["ENOSPC", "ENOMEM"], "epoll_wait": ["EINTR"], "poll": ["EINTR", "ENOMEM"], "eventfd": FILES, "pipe2": FILES,
    "dup": ["EBUSY", "EINTR"], "memfd_create": FILES, "fork": ["EAGAIN", "ENOMEM"], "execvp": ["ENOMEM", "EACCES", "ENOENT"],
    "waitpid": ["EINTR"], "kill": ["EACCES"], "mmap": ["ENOMEM", "EAGAIN"], "mremap": ["ENOMEM"],
    "getrandom": ["EINTR", "ENOSYS", "EAGAIN"], "close_range": ["ENOSYS"], **{a: ["ENOMEM"] for a in ALLOC},
}
# Nothing gives these again and again: the caller may go on asking at once.
PASSING = ("EINTR", "SHORT", "EOF", "ECONNABORTED")
WINDOW_MS = 250  # five seconds of burstd's


class Fault:
    def __init__(self, site, nth, error, ms):
        self.site, self.nth, self.error, self.ms = site, nth, error, ms
        self.text = f"{site.fn} {site.key} {nth} {error} {ms}"

    def group(self):
        kind = {0: "once", WINDOW_MS: "for five seconds"}.get(self.ms, "for ever")
        what = self.error if self.site.fn not in ALLOC else "NULL"
        return f"{self.site.fn}: {what} {kind}"


class Site:
    def __init__(self, line):
        self.fn, self.key, count, child, *self.frames = line.split()
        self.count, self.child = int(count), child == "child"

    def faults(self):
        """At its first call, one in the middle and the last: the same lines in other states."""
        nths = sorted({1, (self.count + 1) // 2, self.count})
        if self.fn in ALLOC:
            nths = nths[:1] if self.count < 4 else [nths[0], nths[-1]]
        errors = ERRORS[self.fn]
        if self.fn == "write" and self.frames[0].startswith("libuv"):
            errors = [e for e in errors if e != "EAGAIN"]  # its own pipes, which are never full
        for error in errors:
            for nth in nths:
                yield Fault(self, nth, error, 0)
        lasting = [e for e in errors if e not in PASSING]
        if lasting and self.fn not in ALLOC:
            yield Fault(self, 1, lasting[0], WINDOW_MS)
            yield Fault(self, 1, lasting[0], -1)

    def may_abort(self):
        """Statuses that are a library's own answer to what it cannot go on after."""
        near = [f.split(".so")[0].split("+")[0] for f in self.frames[:4]]
        asks = next((n for n in near if n != "libc"), "libc")  # not strdup()
        if self.fn in ALLOC and asks == "libconfuse":  # it does not look at what it was given; its flex does exit(2)
            return [-signal.SIGABRT, -signal.SIGSEGV, 2]
        if self.fn in ALLOC and asks == "libcrypto":  # nor does it, here and there where it sets itself up
            return [-signal.SIGABRT, -signal.SIGSEGV]
        if self.fn in ALLOC:
            return [-signal.SIGABRT] if asks != "burstd" else []
        if self.fn == "pipe2":  # below pthread_once(): the one of uv_loop_init()
            return [-signal.SIGABRT] if near[0] == "libuv" and "libc" in near else []
        return [-signal.SIGABRT] if self.fn in ("epoll_ctl", "close") and "libuv" in near[:2] else []

    def stack(self, binary):
        out = []
        for f in self.frames:
            where, at = f.split("+")
            if where == "burstd":
                p = subprocess.run(["addr2line", "-f", "-s", "-e", binary, hex(int(at, 16) - 1)], stdout=subprocess.PIPE, text=True, check=False)
                f = " ".join(p.stdout.split())
            out.append(f)
        return out


class Worker:
    def __init__(self, args):
        here = os.path.dirname(os.path.abspath(__file__))
        self.p = subprocess.Popen(["unshare", "--mount", "--net", "--propagation", "private", sys.executable, "-B", f"{here}/life.py",
                                   args.bin, args.build], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, **order):
        self.p.stdin.write(json.dumps(order) + "\n")
        self.p.stdin.flush()
        line = self.p.stdout.readline()
        return json.loads(line) if line else {"ok": False, "why": "the worker ended", "fired": 0, "ends": [], "seconds": 0}

    def order(self, fault):
        return self.run(fault=fault.text, may_abort=fault.site.may_abort(), preload=PRELOAD)

    def end(self):
        self.p.stdin.close()
        self.p.wait()


PRELOAD = ""


def record(args, worker):
    path = f"{args.build}/sites"
    if not args.fault or not os.path.exists(path):
        r = worker.run(record=path, preload=PRELOAD)
        if not r["ok"]:
            sys.exit(f"Bail out! the recorded life: {r['why']}\n{r.get('log', '')}")
    with open(path, encoding="ascii") as f:
        return [Site(line) for line in f]


def choose(args, sites):
    if args.fault:
        fn, key, nth, error, ms = args.fault.split()
        site = next((s for s in sites if s.fn == fn and s.key == key), None)
        if site is None:
            sys.exit(f"Bail out! no such call in {args.build}/sites: was burstd built anew?")
        return [Fault(site, int(nth), error, int(ms))]
    faults = [f for s in sites for f in s.faults() if re.search(args.only, f.group())]
    # Every SAMPLEth, evenly over all functions and sites.
    return faults if args.sample == 0 else faults[:: max(1, len(faults) // args.sample)]


def run_all(args, workers, faults):
    """Every fault once; what failed again, alone, for this machine may have been slow."""
    results, lock, left = {}, threading.Lock(), list(reversed(faults))

    def work(worker):
        while True:
            with lock:
                if not left:
                    return
                fault = left.pop()
            r = worker.order(fault)
            with lock:
                results[fault.text] = r
                if args.progress and len(results) % 500 == 0:
                    print(f"# {len(results)} of {len(faults)}", flush=True)

    threads = [threading.Thread(target=work, args=(w,)) for w in workers]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for f in faults:
        if not results[f.text]["ok"]:
            first = results[f.text]
            results[f.text] = workers[0].order(f)
            if results[f.text]["ok"]:
                print(f"# passed when repeated: {f.text}: {first['why']}", flush=True)
    return results


def report(args, faults, results):
    groups = {}
    for f in faults:
        groups.setdefault(f.group(), []).append(f)
    with open(f"{args.build}/failed", "w", encoding="utf-8") as out:
        for f in faults:
            if not results[f.text]["ok"]:
                out.write(f"{f.text}: {results[f.text]['why']}; {' '.join(f.site.frames)}\n")
    print(f"1..{len(groups)}")
    failed = 0
    for i, (name, members) in enumerate(groups.items(), 1):
        bad = [f for f in members if not results[f.text]["ok"]]
        reached = sum(1 for f in members if results[f.text]["fired"])
        ended = sum(1 for f in members if any(results[f.text]["ends"][:-1]))
        failed += bool(bad)
        print(f"{'not ok' if bad else 'ok'} {i} - {name}: {reached} of {len(members)} calls met, {ended} ended burstd")
        for f in bad[: args.tell]:
            r = results[f.text]
            print(f"# {r['why']}")
            for frame in f.site.stack(f"{args.bin}/burstd"):
                print(f"#     {frame}")
            for line in r.get("log", "").splitlines()[-8:]:
                print(f"# | {line}")
            print(f"# replay: make torture FAULT=\"{f.text}\"")
        if len(bad) > args.tell:
            print(f"# and {len(bad) - args.tell} more")
    return failed


def main():
    global PRELOAD
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--build", required=True)
    p.add_argument("--sample", type=int, default=0, help="so many faults, evenly chosen; 0: all")
    p.add_argument("--jobs", type=int, default=4, help="lives side by side")
    p.add_argument("--only", default="", help="only groups whose name this regular expression finds")
    p.add_argument("--fault", default="", help="only this one: FUNCTION SITE NTH ERROR MS")
    p.add_argument("--tell", type=int, default=3, help="failures told of each group")
    p.add_argument("--preload", default="", help="libraries to come first, such as a sanitizer's")
    p.add_argument("--progress", action="store_true")
    args = p.parse_args()
    PRELOAD = args.preload
    began = time.time()
    workers = [Worker(args) for _ in range(1 if args.fault else args.jobs)]
    sites = record(args, workers[0])
    for w in workers:  # what is normal
        for _ in range(2):
            r = w.run(preload=PRELOAD)
            if not r["ok"]:
                sys.exit(f"Bail out! a life without faults: {r['why']}\n{r.get('log', '')}")
    faults = choose(args, sites)
    results = run_all(args, workers, faults)
    failed = report(args, faults, results)
    for w in workers:
        w.end()
    met = sum(1 for f in faults if results[f.text]["fired"])
    extra = sum(1 for f in faults if results[f.text].get("bought", 2) > 2)
    print(f"# {len(sites)} calls with different callers, {len(faults)} faults, {met} met, {extra} led to another generation, "
          f"{time.time() - began:.0f} s")
    if args.fault:
        print(json.dumps(next(iter(results.values())), indent=1))
    sys.exit(1 if failed else 0)


main()
