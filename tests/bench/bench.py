"""bench.py: runs the benchmarks inside tests/e2e/lab/enter, writes JSON lines and a table.

Each benchmark is a module with run(bench); it calls bench.figure() for each number.
"""

import argparse
import importlib
import json
import os
import sys
import time

NAMES = ["hook", "flood", "beat", "burst", "budget", "race", "idle", "restart", "reclaim", "agent", "ledger"]


class Bench:
    def __init__(self, args):
        self.bin = os.path.abspath(args.bin)
        self.dir = os.path.abspath(args.dir)
        self.quick = args.quick
        self.log_level = args.log_level
        self.jobs = args.jobs
        self.figures = []
        self.name = ""

    def figure(self, what, value, unit, target=None, floor=None, **params):
        """One number.  target: what promises.md allows (value <= target); floor: what nobody could beat."""
        f = {"bench": self.name, "name": what, "params": params, "value": round(value, 4), "unit": unit}
        if floor is not None:
            f["floor"] = round(floor, 4)
            f["ratio_to_floor"] = round(value / floor, 3) if floor else None
        if target is not None:
            f["target"] = round(target, 4)
            f["ratio"] = round(value / target, 3) if target else None
            f["ok"] = value <= target
        self.figures.append(f)
        print(line(f), flush=True)


def line(f):
    params = " ".join(f"{k}={v}" for k, v in f["params"].items())
    verdict = "" if "ok" not in f else ("ok" if f["ok"] else "MISSED")
    floor = f"{f['floor']:g}" if "floor" in f else ""
    target = f"{f['target']:g}" if "target" in f else ""
    return f"{f['bench']:8}{f['name']:34}{params:44}{f['value']:>12g} {f['unit']:6}{floor:>10}{target:>10}  {verdict}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--dir", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--log-level", default="info")
    p.add_argument("--quick", action="store_true", help="fewer cases")
    p.add_argument("--jobs", type=int, default=1000000, help="of the benchmark ledger; 100,000 or more")
    p.add_argument("names", nargs="*")
    args = p.parse_args()
    for name in args.names:
        if name not in NAMES:
            sys.exit(f"no benchmark {name}: there are {' '.join(NAMES)}")
    b = Bench(args)
    print("slurmctld is a stand-in here (tests/bench/README.md); burstd, the hooks, the disk and simcloud are real.")
    print(f"{'':8}{'':34}{'':44}{'value':>12} {'':6}{'floor':>10}{'allowed':>10}")
    began = time.time()
    for name in args.names or NAMES:
        b.name = name
        importlib.import_module(name).run(b)
    with open(args.out, "w", encoding="utf-8") as out:
        for f in b.figures:
            out.write(json.dumps(f) + "\n")
    missed = [f for f in b.figures if f.get("ok") is False]
    print(f"{len(b.figures)} figures in {args.out}, {len(missed)} beyond what is allowed, {time.time() - began:.0f} s")


main()
