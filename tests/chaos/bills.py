#!/usr/bin/python3
"""bills.py LEDGER: the machines of a ledger as JSON, for judge.py, which compares each with the clouds' meters.

A machine is known by its cloud and by the number at the end of its id, which simcloud's faces share.
"""
import json
import os
import sqlite3
import sys
from decimal import ROUND_CEILING, Decimal

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from clouds import overlap  # noqa: E402

NANO = 10**9
ESTIMATED = 2  # LEDGER_ESTIMATED
WRONG = 1 | 16 | 128  # LEDGER_UNPRICED, _BROKEN and _UNENDED; the others are about jobs
# The first cloud tells of an end for so long (ended_keep of chaos.sh) ...
KEEP_MS = 20_000
# ... and burstd hears what it could hear for so long: it lists each second, and of ten requests one fails.
HEARD_MS = 12_000
# Who lists each second has missed a machine so long after its end, by several lists that failed ...
LIST_MS = 15_000
# ... and, after burstd or a cloud was away, by as much as it pauses then between two tries.
BACK_MS = 60_000
# A list may have begun before the end that it does not show yet.
SHOWN_MS = 3_000

SQL = """SELECT t.node, t.gen, t.instance, t.state, t.flags, t.start_s, t.end_s, t.nano, m.provider, m.quantum_ms,
    (SELECT MAX(at_ms) FROM life l WHERE l.node = t.node AND l.gen = t.gen AND l.instance = t.instance AND l.kind = 'shown')
        AS shown_ms
    FROM lifetime t LEFT JOIN machine m ON m.node = t.node AND m.gen = t.gen WHERE t.instance <> '' ORDER BY t.id"""


def read(path):
    db = sqlite3.connect(path, timeout=5)
    db.row_factory = sqlite3.Row
    return [dict(row) for row in db.execute(SQL)]


def key_of(cloud, text):
    """sim-0000002a, or the UUID that Nova's face makes of it."""
    head, _, number = text.rpartition("-")
    return cloud, int(number, 16) if head in ("sim", "5c1d0000-0000-4000-8000") else text


def key_of_meter(row):
    return key_of(row.get("cloud", 1), row.get("own_id", row["id"]))


def key_of_ledger(life):
    return key_of(2 if life["provider"] == "second" else 1, life["instance"])


def money(nano):
    return str((Decimal(nano) / NANO).quantize(Decimal("0.000001")))


def quantum(row, life):
    """The price of the smallest unit that is billed, in nano-units."""
    seconds = Decimal(max(life["quantum_ms"] or 0, 1000)) / 1000
    return (Decimal(row["price"]) * NANO * seconds / 3600).to_integral_value(ROUND_CEILING)


def unheard(low, high, silent):
    """May burstd not have heard what was to be heard in that time?"""
    missed = overlap(low, high, silent)
    return missed > 0 and high - low - missed <= HEARD_MS


def estimate(row, life, silent):
    """Why an amount that is flagged as an estimate cannot be one; None: it can."""
    end, booked = row["end_ms"], life["end_s"] * 1000
    if row.get("cloud", 1) == 1 and not unheard(end, end + KEEP_MS, silent):
        return "its end is an estimate, though the cloud told it"
    if life["shown_ms"] and life["shown_ms"] > end + SHOWN_MS:
        return f"its end is an estimate, by a list that showed it {life['shown_ms'] - end} ms after it"
    late = booked - end - overlap(end, booked, [(low, high + BACK_MS) for low, high in silent])
    return f"its end is an estimate, {late} ms after lists must have missed it" if late > LIST_MS else None


def one(row, life, silent):
    """Why the ledger's life cannot be that of the meter's row; None: it can."""
    mine, theirs = life["nano"], Decimal(row["cost"]) * NANO
    told = f"the ledger has {money(mine)}, the meter {money(theirs)}"
    if row["end_ms"] is None or life["state"] == 0:
        return f"it still runs by the {'ledger' if life['state'] == 0 else 'meter'}: {told}"
    if life["flags"] & WRONG:
        return f"it has the flags {life['flags']}: {told}"
    low, high = theirs - quantum(row, life), theirs + quantum(row, life)
    if life["flags"] & ESTIMATED:
        why = estimate(row, life, silent)
        if why:
            return f"{why}: {told}"
        paid = life["end_s"] * 1000 - row["end_ms"]
        high += max(0, paid) * Decimal(row["price"]) * NANO / 3_600_000
    return None if low <= mine <= high else told


def compare(meter, lives, silent):
    """What of the ledger is not the meter's: a line for each machine; and figures for people.

    silent: (cloud, begin_ms, end_ms), when burstd could hear nothing of that cloud.
    """
    rows = {key_of_meter(row): row for row in meter["rows"]}
    mine = {}
    why = []
    for life in lives:
        key = key_of_ledger(life)
        name = f"{life['node']} generation {life['gen']} ({life['instance']})"
        if key not in rows:
            why.append(f"{name}: the ledger has {money(life['nano'])}, and the meter has no such machine")
        elif key in mine:
            why.append(f"{name}: the ledger has it twice, with {money(mine[key]['nano'])} and {money(life['nano'])}")
        mine.setdefault(key, life)
    for key, row in rows.items():
        name = f"{row['name']} generation {row['generation']} ({row.get('own_id', row['id'])})"
        away = [(low, high) for cloud, low, high in silent if cloud == key[0]]
        if key not in mine:
            end = row["end_ms"] if row["end_ms"] is not None else meter["now_ms"]
            if not unheard(row["start_ms"], end + (KEEP_MS if key[0] == 1 else 0), away):
                why.append(f"{name}: the meter has {row['cost']}, and the ledger has no such machine")
            continue
        wrong = one(row, mine[key], away)
        if wrong:
            why.append(f"{name}: {wrong}")
    guessed = [life for life in lives if life["flags"] & ESTIMATED]
    excess = sum(
        life["nano"] - Decimal(rows[key_of_ledger(life)]["cost"]) * NANO for life in guessed if key_of_ledger(life) in rows
    )
    return why, {
        "ledger_less_meter": money(sum(life["nano"] for life in lives) - Decimal(meter["total"]) * NANO),
        "ends_not_told": len(guessed),
        "estimated_too_high": money(excess),
    }


def reported(lives, report):
    """Is what the ledger reports the sum of its machines?  A list of complaints."""
    mine, total = sum(life["nano"] for life in lives), Decimal(report["total"]["cost"]) * NANO
    return [] if mine == total else [f"the ledger's machines come to {money(mine)}, and it reports {money(total)}"]


if __name__ == "__main__":
    print(json.dumps(read(sys.argv[1])))
