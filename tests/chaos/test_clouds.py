#!/usr/bin/python3
"""test_clouds.py: what is judged of two clouds, and how the second one fails."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import clouds  # noqa: E402
import judge  # noqa: E402
import schedule  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
SIMCLOUD = HERE.parents[1] / os.environ.get("BIN", f"{BUILD}/bin") / "simcloud"


def row(name, start_ms, end_ms, deleted_ms=None, gen=1, **more):
    return {"id": "sim-00000000", "name": name, "generation": gen, "cluster": "c", "type": "t", "region": "r", "zone": "z",
            "market": "on-demand", "price": "36", "currency": "EUR", "start_ms": start_ms, "deleted_ms": deleted_ms,
            "end_ms": end_ms, "cost": "0"} | more  # fmt: skip


def meter(*rows, total="0"):
    return {"now_ms": 900_000, "rows": list(rows), "total": total}


class Merged(unittest.TestCase):
    def test_ids_do_not_clash_and_name_the_row(self):
        both = clouds.merged([meter(row("a", 5, 9), total="1.5"), meter(row("b", 1, 9), row("c", 7, 9), total="2")])
        self.assertEqual([(r["id"][-1], r["name"], r["cloud"]) for r in both["rows"]], [("0", "b", 2), ("1", "a", 1), ("2", "c", 2)])
        self.assertEqual((both["total"], both["now_ms"]), ("3.5", 900_000))
        self.assertEqual({r["own_id"] for r in both["rows"]}, {"sim-00000000"})

    def audit(self, wanted, *meters):
        with tempfile.TemporaryDirectory() as where:
            for name, text in (("m", json.dumps(clouds.merged(meters))), ("w", wanted)):
                pathlib.Path(where, name).write_text(text)
            words = [SIMCLOUD, "audit", "--meter", f"{where}/m", "--wanted", f"{where}/w", "--grace", "150s", "--json"]
            out = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        return json.loads(out)

    def test_one_node_at_both_clouds_is_a_duplicate(self):
        audit = self.audit("a 0 -\n", meter(row("a", 1000, 9000)), meter(row("a", 4000, 6000, gen=2)))
        self.assertEqual(audit["duplicate_seconds"], 2)
        audit = self.audit("a 0 -\n", meter(row("a", 1000, 9000, 3000)), meter(row("a", 4000, 6000, gen=2)))
        self.assertEqual(audit["duplicate_seconds"], 0)

    def test_a_leak_at_the_second_cloud_is_found_under_its_row(self):
        audit = self.audit("a 0 9000\nb 0 9000\n", meter(row("a", 1000, 9000)), meter(row("b", 2000, 169_000)))
        self.assertEqual([(f["what"], f["id"], f["seconds"]) for f in audit["findings"]], [("leaked", "sim-00000001", 10)])


class Excused(unittest.TestCase):
    # Nobody wanted it from 100 s on; it lived until 300 s, and the grace ended at 250 s.
    FINDING = {"what": "leaked", "node": "a", "generation": 1, "id": "sim-00000000", "from_ms": 250_000, "seconds": 50}

    def left(self, *bad, cloud=2, **finding):
        audit = {"findings": [self.FINDING | finding]}
        findings, excused = clouds.unexcused(audit, meter(row("a", 0, 300_000, cloud=cloud)), bad, 150_000)
        return sum(f["seconds"] for f in findings), excused

    def test_a_cloud_that_did_not_fail_has_no_excuse(self):
        self.assertEqual(self.left(), (50, 0))

    def test_as_long_as_it_failed_while_nobody_wanted_the_node(self):
        self.assertEqual(self.left((120_000, 150_000)), (20, 30))
        self.assertEqual(self.left((120_000, 130_000), (260_000, 270_000)), (30, 20))

    def test_not_for_what_was_before_or_after(self):
        self.assertEqual(self.left((10_000, 100_000), (300_000, 900_000)), (50, 0))
        self.assertEqual(self.left((10_000, 105_000), (295_000, 900_000)), (40, 10))

    def test_periods_that_overlap_count_once(self):
        self.assertEqual(self.left((120_000, 140_000), (130_000, 150_000)), (20, 30))
        self.assertEqual(self.left((130_000, 150_000), (120_000, 140_000)), (20, 30))

    def test_never_more_than_there_was(self):
        self.assertEqual(self.left((0, 900_000)), (0, 50))

    def test_the_well_cloud_has_no_excuse(self):
        self.assertEqual(self.left((0, 900_000), cloud=1), (50, 0))

    def test_nor_have_duplicates(self):
        self.assertEqual(self.left((0, 900_000), what="duplicate"), (50, 0))


class Starts(unittest.TestCase):
    BAD = [(100_000, 200_000)]

    def of(self, start_ms, cloud=1, asked_ms=110_000, until_ms=180_000, away=()):
        return clouds.starts([("a", asked_ms, until_ms)], meter(row("a", start_ms, None, cloud=cloud)), self.BAD, away)

    def test_from_the_call_to_the_machine(self):
        self.assertEqual(self.of(113_000), ([3], []))

    def test_only_calls_while_the_second_cloud_fails(self):
        self.assertEqual(self.of(93_000, asked_ms=90_000), ([], []))
        self.assertEqual(self.of(203_000, asked_ms=200_000, until_ms=300_000), ([], []))

    def test_only_machines_of_the_first_and_of_that_call(self):
        self.assertEqual(self.of(113_000, cloud=2), ([], []))
        self.assertEqual(self.of(181_000), ([], []))
        self.assertEqual(self.of(109_000), ([], []))
        both = meter(row("b", 111_000, None, cloud=1), row("a", 113_000, None, cloud=1))
        self.assertEqual(clouds.starts([("a", 110_000, 180_000)], both, self.BAD, ()), ([3], []))

    def test_without_the_time_in_which_burstd_was_gone(self):
        self.assertEqual(self.of(118_000, away=[(109_000, 112_000), (117_000, 130_000)]), ([], [5]))
        self.assertEqual(self.of(118_000, away=[(70_000, 130_000)]), ([], [0]))

    def test_apart_from_those_when_it_was_just_back(self):
        for low, high, calm in ((79_000, 79_999, True), (79_000, 80_000, False), (118_000, 119_000, False), (119_000, 120_000, True)):
            waits = self.of(118_000, away=[(low, high)])
            self.assertEqual([len(w) for w in waits], [1, 0] if calm else [0, 1])

    def test_one_in_five_may_be_late_and_no_more(self):
        self.assertEqual(clouds.harmed(300, 1, [10.0] * 8 + [99.0] * 2, []), [])
        self.assertEqual(len(clouds.harmed(300, 1, [10.0] * 7 + [10.1] * 3, [])), 1)
        self.assertEqual(clouds.harmed(300, 1, [99.0], []), [])
        self.assertEqual(len(clouds.harmed(300, 1, [99.0] * 2, [])), 1)

    def test_who_is_just_back_may_take_longer(self):
        self.assertEqual(clouds.harmed(300, 1, [], [30.0] * 9), [])
        self.assertEqual(len(clouds.harmed(300, 1, [], [30.1] * 9)), 1)
        self.assertEqual(len(clouds.harmed(300, 1, [11.0] * 9, [41.0] * 9)), 2)

    def test_a_first_cloud_that_gave_nothing_was_harmed(self):
        self.assertEqual(len(clouds.harmed(300, 0, [1.0], [])), 1)
        self.assertEqual(clouds.harmed(300, 1, [], []), [])
        self.assertEqual(clouds.harmed(299, 0, [], []), [])

    def test_what_it_gave_meanwhile_counts(self):
        for start_ms, cloud, n in ((99_999, 1, 0), (100_000, 1, 1), (199_999, 1, 1), (200_000, 1, 0), (150_000, 2, 0)):
            self.assertEqual(clouds.bought(meter(row("a", start_ms, None, cloud=cloud)), self.BAD), n)
        self.assertEqual(clouds.bought(meter(row("a", 100_001, None, cloud=1)), self.BAD * 2), 1)


def ledger(rows):
    """What a ledger has that is the meter's; each row gets an id of its own."""
    lives = []
    for n, r in enumerate(rows):
        r["own_id"] = f"sim-{n:08x}"
        lives.append({"node": r["name"], "gen": r["generation"], "instance": r["own_id"], "state": 1, "flags": 0, "end_s": 0,
                      "nano": 0, "provider": ["sim", "second"][r["cloud"] - 1], "quantum_ms": 0, "shown_ms": None})  # fmt: skip
    return lives


class Judged(unittest.TestCase):
    """The whole verdict on a run in which all was well, and on what is wrong with it then."""

    def why(self, **changed):
        finding = Excused.FINDING | {"id": "sim-00000001"}
        files = {
            "submitted": "1 500 0", "states": "9 1 - - COMPLETED 1 None", "kills": "", "failures": "", "done": "kill\n",
            "lines": "start 1 0 r1 1000\nend 1 0 r1 2000", "bad": "100000 200000 errors", "away": "10 20 killed",
            "wanted": "a 110000 180000\nb 0 100000\nc 110000 -",
            "meter.json": meter(row("b", 1, 2, cloud=1), row("b", 5, 300_000, cloud=2, id="sim-00000001"),
                                row("a", 113_000, 190_000, cloud=1),
                                row("c", 113_000, 190_000, cloud=1), row("d", 5, 9, cloud=2)),
            "audit.json": {"findings": [finding], "leaked_seconds": 50, "duplicate_seconds": 0, "instances": 3, "instance_seconds": 9},
            "status.json": {"pools": []}, "stats.json": {"requests": 1}, "faults.json": {"faults": [{"fired": 1}]},
        } | {name.replace("_", "."): what for name, what in changed.items()}  # fmt: skip
        files["meter.json"]["rows"] = [dict(r) for r in files["meter.json"]["rows"]]
        files = {"ledger.json": ledger(files["meter.json"]["rows"]), "report.json": {"total": {"cost": "0"}}} | files
        with tempfile.TemporaryDirectory() as where:
            for name, what in files.items():
                pathlib.Path(where, name).write_text(what if isinstance(what, str) else json.dumps(what))
            args = SimpleNamespace(max_nodes=9, max_rate="999", minutes=1, seed=1, clouds=2)
            verdict, told, why = judge.judge(where, args)
        return why + [name for name, value in verdict.items() if value]

    def test_nothing_is_wrong(self):
        self.assertEqual(self.why(), [])

    def test_a_leak_that_is_not_the_clouds_fault(self):
        self.assertEqual(len(self.why(bad="100000 140000 errors")), 2)

    def test_more_leaked_seconds_than_findings(self):
        audit = {"findings": [], "leaked_seconds": 50, "duplicate_seconds": 0, "instances": 3, "instance_seconds": 9}
        self.assertEqual(self.why(audit_json=audit), ["leaked_seconds"])

    def test_a_first_cloud_that_waited_for_the_second(self):
        self.assertEqual(len(self.why(wanted="a 101000 180000\nb 0 100000\nc 101000 -")), 1)

    def test_a_first_cloud_that_gave_nothing_until_the_second_was_well(self):
        why = self.why(bad="100000 112000 errors\n114000 402000 hangs")
        self.assertTrue(any("no machine" in line for line in why))

    def test_a_second_cloud_that_was_not_used(self):
        rows = [row("b", 1, 2, cloud=1)] * 3 + [row("b", 5, 300_000, cloud=2, id="sim-00000001"), row("a", 113_000, 190_000, cloud=1)]
        self.assertIn("only 1 of 5", self.why(meter_json=meter(*rows))[0])

    def test_a_second_cloud_that_never_failed(self):
        self.assertIn("the second cloud never failed", self.why(bad=""))

    def test_a_ledger_that_is_not_the_meters(self):
        why = self.why(ledger_json=[])
        self.assertEqual(why[-1], "ledger_differs")
        self.assertEqual(len([line for line in why if "the ledger has no such machine" in line]), 5)
        self.assertEqual(len(self.why(report_json={"total": {"cost": "0.01"}})), 2)

    def test_what_is_told(self):
        self.assertEqual((judge.spread([]), judge.spread([1, 2, 3, 9])), ("0", "4: median 3, most 9"))


class Schedule(unittest.TestCase):
    def test_a_second_cloud_changes_nothing_else(self):
        for seconds in (180, 1800):
            one, two = schedule.schedule("7", seconds), schedule.schedule("7", seconds, 2)
            self.assertEqual(one, [line for line in two if line[1] != "second"])
            self.assertNotEqual(one, two)

    def test_it_fails_for_a_while_and_is_well_for_a_while(self):
        for seed in range(200):
            for seconds, low, high in ((180, 10, 25), (1800, 60, 180)):
                well = kinds = 0
                for at, _, what in (line for line in schedule.schedule(seed, seconds, 2) if line[1] == "second"):
                    action, kind, length = what.split()
                    self.assertEqual(action, "bad")
                    self.assertIn(f"bad_{kind}()", (HERE / "second.sh").read_text())
                    self.assertTrue(low <= int(length) <= high)
                    self.assertGreaterEqual(at, well)
                    self.assertLess(at + int(length), seconds + 1)
                    well = at + int(length) + 0.7 * low
                    kinds += 1
                self.assertGreater(kinds, 2)

    def test_each_kind_has_its_turn(self):
        lane = [what.split()[1] for _, name, what in schedule.schedule("7", 36_000, 2) if name == "second"]
        for n in range(0, len(lane) - 8, 8):
            self.assertEqual(sorted(lane[n : n + 8]), sorted(schedule.KINDS))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
