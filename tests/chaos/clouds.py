#!/usr/bin/python3
"""clouds.py METER...: several clouds' meters (simcloud's GET /admin/meter) as one, for one audit.

A row of it has its place in the list for an id, since the clouds' own ids ("own_id") clash, and in "cloud" which it is of:
1, 2, ...
What judge.py asks of two clouds, of which the last fails now and then, is here too.
"""
import json
import sys
from decimal import Decimal

# Who is not bound to the failing cloud has a machine of the other one so soon after slurmctld called for the node: a create
# takes up to 0.8 s, and one in ten must be sent again, once or twice.  Whoever waits for one of the failing cloud's requests,
# in a queue or for its lists, waits for 10 s at least (second.sh).
START_S = 10
# Not when burstd was killed, stopped or without a slurmctld just before.  When it starts it looks for the lists of all clouds
# of a pool before it buys there, and waits for them until one that gives none is away: 10 s, and as long as it pauses between
# its tries by then.  And slurmctld, which meanwhile heard of no addresses, may stand still for 10 s for asking for them.
BACK_S = 30
# One in so many may be late: it was bound to the failing cloud first, as the other one was full, and is no more.
LATE = 5
# In less failing time than this it may be that the first cloud was full all the while, and gave nothing for that.
TELLING_S = 300


def merged(meters):
    rows = [row | {"cloud": n, "own_id": row["id"]} for n, meter in enumerate(meters, 1) for row in meter["rows"]]
    rows.sort(key=lambda row: row["start_ms"])
    for n, row in enumerate(rows):
        row["id"] = f"sim-{n:08x}"
    return {
        "now_ms": max(meter["now_ms"] for meter in meters),
        "rows": rows,
        "total": str(sum(Decimal(meter["total"]) for meter in meters)),
    }


def overlap(start, end, periods):
    """How much of that time is in the periods, which may overlap each other."""
    total, seen = 0, start
    for low, high in sorted(periods):
        low, high = max(low, seen), min(high, end)
        if high > low:
            total += high - low
            seen = high
    return total


def unexcused(audit, meter, bad, grace_ms):
    """The audit's findings without what the failing cloud is to blame for, and how many leaked seconds that was.

    Nobody can end a machine at a cloud that does not answer: one of the second cloud may live longer than the grace by as
    much of the time in which nobody wanted it as that cloud was failing, and no longer.
    """
    rows = {row["id"]: row for row in meter["rows"]}
    left, excused = [], Decimal(0)
    for finding in audit["findings"]:
        seconds = Decimal(str(finding["seconds"]))
        if finding["what"] == "leaked" and rows[finding["id"]]["cloud"] == 2:
            start = finding["from_ms"] - grace_ms
            excuse = min(seconds, Decimal(overlap(start, finding["from_ms"] + int(seconds * 1000), bad)) / 1000)
            excused += excuse
            seconds -= excuse
        if seconds > 0:
            left.append(finding | {"seconds": float(seconds)})
    return left, float(excused)


def starts(wanted, meter, bad, away):
    """Nodes that slurmctld called for while the second cloud failed, and that the first gave: seconds from call to machine.

    In two sorted lists: when burstd and slurmctld had been there for a while, and when one of them was just back.  The time
    in which burstd was killed or stopped, or the primary slurmctld away, is not counted.
    """
    calm, upset = [], []
    for node, start, end in wanted:
        if not any(low <= start < high for low, high in bad):
            continue
        first = next((r for r in meter["rows"] if r["name"] == node and start <= r["start_ms"] < end), None)
        if first and first["cloud"] == 1:
            at = first["start_ms"]
            back = any(low <= at and start - BACK_S * 1000 <= high for low, high in away)
            (upset if back else calm).append((at - start - overlap(start, at, away)) / 1000)
    return sorted(calm), sorted(upset)


def bought(meter, bad):
    """How many machines of the first cloud came while the second failed."""
    return sum(row["cloud"] == 1 and any(low <= row["start_ms"] < high for low, high in bad) for row in meter["rows"])


def harmed(failed_s, machines, calm, upset):
    """What the failing cloud did to the other one: by its machines in those seconds, and by what starts() said."""
    why = ["while the second cloud failed, the first gave no machine"] if failed_s >= TELLING_S and not machines else []
    for waits, bound, when in ((calm, START_S, "failed"), (upset, BACK_S, "failed and burstd or slurmctld was just back")):
        late = [wait for wait in waits if wait > bound]
        if len(late) > max(1, len(waits) // LATE):
            why.append(f"while the second cloud {when}, {len(late)} of {len(waits)} nodes of the first came after {bound} s")
    return why


def main():
    meters = []
    for path in sys.argv[1:]:
        with open(path) as file:
            meters.append(json.load(file))
    print(json.dumps(merged(meters)))


if __name__ == "__main__":
    main()
