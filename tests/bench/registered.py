"""registered.py SLURMCTLD_LOG BURSTD_LOG: from the moment that slurmctld has a node, until burstd has it, in ms.

One line for each figure: p50, p99 and max of all nodes; span, from the first to the last of them in slurmctld.
"""
import datetime
import re
import sys


def moments(path, pattern):
    """Of each node the time of its first line, in ms."""
    found = {}
    with open(path) as log:
        for line in log:
            m = re.search(pattern, line)
            if m:
                t = datetime.datetime.fromisoformat(m.group(1)).timestamp() * 1000
                found.setdefault(m.group(2), t)
    return found


def main():
    there = moments(sys.argv[1], r"^\[(\S+)\] Node (c\d+) now responding")
    ready = moments(sys.argv[2], r"^(\S+)Z .* msg=registered node=(c\d+) .*-> ready")
    if set(there) - set(ready) or not there:
        sys.exit(f"slurmctld has {len(there)} nodes, burstd {len(ready)}")
    took = sorted(ready[n] - t for n, t in there.items())
    last = len(took) - 1
    print("p50", round(took[round(last * 0.5)]))
    print("p99", round(took[round(last * 0.99)]))
    print("max", round(took[last]))
    print("span", round(max(there.values()) - min(there.values())))


main()
