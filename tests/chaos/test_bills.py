#!/usr/bin/python3
"""test_bills.py: a ledger that is not the meter's is found, by the machine's name and both amounts."""
import pathlib
import sqlite3
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import bills  # noqa: E402
import judge  # noqa: E402
import schedule  # noqa: E402

# 36 an hour is a hundredth a second.  It lived for 100 s.
ROW = {"id": "sim-0000002a", "name": "c1", "generation": 7, "price": "36", "start_ms": 0, "end_ms": 100_000, "cost": "1"}
LIFE = {"node": "c1", "gen": 7, "instance": "sim-0000002a", "state": 1, "flags": 0, "start_s": 0, "end_s": 100,
        "nano": 10**9, "provider": "sim", "quantum_ms": 0, "shown_ms": None}  # fmt: skip
CENT = 10**7
SECOND = {"cloud": 2, "id": "sim-00000000", "own_id": "sim-0000002a"}
NOVA = {"provider": "second", "instance": "5c1d0000-0000-4000-8000-00000000002a"}


def compare(rows, lives, silent=()):
    meter = {"now_ms": 900_000, "rows": rows, "total": str(sum(float(row["cost"]) for row in rows))}
    return bills.compare(meter, lives, silent)[0]


def guessed(seconds, **more):
    """Booked until so many seconds."""
    return LIFE | {"flags": 2, "end_s": seconds, "nano": seconds * CENT} | more


class Case(unittest.TestCase):
    def found(self, why, *words):
        self.assertEqual(len(why), 1)
        for word in words:
            self.assertIn(word, why[0])


class Told(Case):
    SECOND = ROW | SECOND

    def test_the_same_amount_and_a_quantum_more_or_less(self):
        for nano in (10**9, 10**9 + CENT, 10**9 - CENT):
            self.assertEqual(compare([ROW], [LIFE | {"nano": nano}]), [])

    def test_more_than_a_quantum_is_found_with_the_name_and_both_amounts(self):
        self.found(compare([ROW], [LIFE | {"nano": 10**9 + CENT + 1}]), "c1 generation 7 (sim-0000002a)", "1.010000", "1.000000")
        self.found(compare([ROW], [LIFE | {"nano": 10**9 - CENT - 1}]), "c1", "0.990000", "1.000000")

    def test_a_quantum_is_what_the_machine_is_billed_by(self):
        minute = LIFE | {"quantum_ms": 60_000, "nano": 10**9 + 60 * CENT}
        self.assertEqual(compare([ROW], [minute]), [])
        self.found(compare([ROW], [minute | {"nano": 10**9 + 60 * CENT + 1}]), "c1")

    def test_a_machine_that_the_ledger_has_not(self):
        self.found(compare([ROW, ROW | {"id": "sim-0000002b", "name": "c2"}], [LIFE]), "c2", "sim-0000002b", "the meter has 1,", "no such")

    def test_unless_burstd_heard_of_nothing_in_all_its_life(self):
        self.assertEqual(compare([ROW], [], [(1, -1, 108_000)]), [])
        self.found(compare([ROW], [], [(1, -1, 107_999)]), "c1")
        self.found(compare([ROW], [], [(2, -1, 108_000)]), "c1")
        short = self.SECOND | {"end_ms": 9000}
        self.found(compare([short], []), "c1")
        self.assertEqual(compare([short], [], [(2, 8000, 12_000)]), [])

    def test_a_machine_that_the_meter_has_not(self):
        self.found(compare([], [LIFE]), "c1 generation 7", "1.000000", "the meter has no such")

    def test_a_machine_that_the_ledger_has_twice(self):
        self.found(compare([ROW], [LIFE, LIFE | {"gen": 8}]), "c1 generation 8", "twice")

    def test_one_that_has_not_ended(self):
        self.found(compare([ROW], [LIFE | {"state": 0}]), "by the ledger")
        self.found(compare([ROW | {"end_ms": None}], [LIFE]), "by the meter")

    def test_one_without_a_price_or_broken(self):
        for flag in (1, 16, 128):
            self.found(compare([ROW], [LIFE | {"flags": flag}]), f"flags {flag}")

    def test_what_is_odd_about_its_jobs_is_no_difference(self):
        self.assertEqual(compare([ROW], [LIFE | {"flags": 4 | 8 | 32 | 64}]), [])

    def test_each_cloud_has_its_own_machines(self):
        self.assertEqual(compare([ROW, ROW | SECOND], [LIFE, LIFE | NOVA]), [])
        self.assertEqual(len(compare([ROW, ROW | SECOND], [LIFE])), 1)
        # A server that Nova shows, and that was never made
        self.assertEqual(len(compare([ROW | SECOND], [LIFE | NOVA | {"instance": "5c1d0000-0000-4000-9000-00000000002a"}])), 2)


class Guessed(Case):
    ROW = ROW | SECOND

    def test_an_end_that_the_cloud_does_not_tell_is_that_of_the_first_list_without_it(self):
        self.assertEqual(compare([self.ROW], [guessed(110) | NOVA]), [])
        self.found(compare([self.ROW], [guessed(110, flags=0) | NOVA]), "1.100000")
        self.found(compare([self.ROW], [guessed(110, nano=111 * CENT + 1) | NOVA]), "1.110000")
        self.found(compare([self.ROW], [guessed(116) | NOVA]), "16000 ms after")

    def test_or_later_when_nothing_could_be_heard(self):
        self.assertEqual(compare([self.ROW], [guessed(194) | NOVA], [(2, 101_000, 120_000)]), [])
        self.found(compare([self.ROW], [guessed(195) | NOVA], [(2, 101_000, 119_000)]), "17000 ms after")
        self.found(compare([self.ROW], [guessed(190) | NOVA], [(1, 101_000, 120_000)]), "c1")

    def test_but_not_before_its_end(self):
        self.found(compare([self.ROW], [guessed(98) | NOVA]), "0.980000")

    def test_nor_after_a_list_that_showed_it_when_it_had_ended(self):
        self.assertEqual(compare([self.ROW], [guessed(110, shown_ms=103_000) | NOVA]), [])
        self.found(compare([self.ROW], [guessed(110, shown_ms=103_001) | NOVA]), "3001 ms after")

    def test_a_cloud_that_tells_ends_was_not_heard(self):
        self.found(compare([ROW], [guessed(110)]), "though the cloud told it")
        self.assertEqual(compare([ROW], [guessed(140)], [(1, 101_000, 135_000)]), [])
        self.found(compare([ROW], [guessed(110)], [(1, 101_000, 108_000)]), "though the cloud told it")


class Figures(unittest.TestCase):
    def test_what_is_told(self):
        told = bills.compare({"now_ms": 0, "rows": [ROW], "total": "1"}, [guessed(110)], [])[1]
        self.assertEqual(told, {"ledger_less_meter": "0.100000", "ends_not_told": 1, "estimated_too_high": "0.100000"})

    def test_the_report_is_the_sum_of_the_machines(self):
        self.assertEqual(bills.reported([LIFE, LIFE], {"total": {"cost": "2.000000000"}}), [])
        self.assertEqual(len(bills.reported([LIFE, LIFE], {"total": {"cost": "2.000000001"}})), 1)

    def test_a_failing_cloud_or_an_absent_burstd_are_silent_and_a_failover_is_not(self):
        away = [["1", "2", "killed"], ["3", "4", "stopped"], ["5", "6", "failover"]]
        self.assertEqual(judge.silent(away, [["7", "8", "errors"]]), [(1, 1, 2), (1, 3, 4), (2, 1, 2), (2, 3, 4), (2, 7, 8)])

    def test_the_ledger_is_killed_now_and_then(self):
        lane = [what for _, lane, what in schedule.schedule(1, 180) if lane == "ledger"]
        self.assertTrue(1 <= len(lane) <= 6 and all(what.startswith("ledger ") for what in lane))

    def test_what_is_read_of_a_ledger(self):
        with tempfile.TemporaryDirectory() as where:
            path = f"{where}/ledger.db"
            with sqlite3.connect(path) as db:
                db.executescript(
                    """CREATE TABLE lifetime (id, node, gen, instance, state, flags, start_s, end_s, nano);
                    CREATE TABLE machine (node, gen, provider, quantum_ms);
                    CREATE TABLE life (node, gen, instance, kind, at_ms);
                    INSERT INTO lifetime VALUES (1, 'c1', 7, 'sim-0000002a', 1, 0, 0, 100, 1000000000), (2, '', 0, '', 2, 0, 0, 0, 5),
                        (3, 'c2', 1, 'x', 0, 0, 0, 0, 0);
                    INSERT INTO machine VALUES ('c1', 7, 'sim', 0), ('c1', 8, 'other', 0);
                    INSERT INTO life VALUES ('c1', 7, 'sim-0000002a', 'shown', 90), ('c1', 7, 'sim-0000002a', 'shown', 95),
                        ('c1', 7, 'sim-0000002a', 'ended', 99)"""
                )
            lives = bills.read(path)
        self.assertEqual(lives[0], LIFE | {"shown_ms": 95})
        self.assertEqual([life["provider"] for life in lives], ["sim", None])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
