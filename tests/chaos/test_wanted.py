#!/usr/bin/python3
"""What slurmctld wanted, by its log (tests/e2e/lab/wanted): calls, and what it has up without one."""
import pathlib
import subprocess
import tempfile
import unittest

WANTED = pathlib.Path(__file__).resolve().parents[1] / "e2e/lab/wanted"


def cut(*lines):
    """(second, text)... -> [(node, start, end)], in seconds."""
    with tempfile.NamedTemporaryFile("w") as log:
        for at, text in lines:
            log.write(f"[1970-01-01T00:{at // 60:02d}:{at % 60:02d}.000] {text}\n")
        log.flush()
        out = subprocess.run([WANTED, log.name], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in out.splitlines())
    return sorted((n, int(a) // 1000, b if b == "-" else int(b) // 1000) for n, a, b in rows)


UP = (10, "POWER: power_save: pid 1 waking nodes c[1-2]")
DOWN = (50, "POWER: power_save: pid 2 suspending nodes c[1-2]")
JOB = (70, "sched/backfill: _start_job: Started JobId=3 in cloud on c2")


class Wanted(unittest.TestCase):
    def test_from_call_to_call(self):
        self.assertEqual(cut(UP, DOWN, JOB), [("c1", 10, 50), ("c2", 10, 50)])
        self.assertEqual(cut(UP), [("c1", 10, "-"), ("c2", 10, "-")])

    def test_given_up_and_back(self):
        late = (40, "node c1 not resumed by ResumeTimeout(30) - marking down and power_save")
        back = (41, "node c1 returned to service")
        self.assertEqual(cut(UP, late, DOWN), [("c1", 10, 40), ("c2", 10, 50)])
        self.assertEqual(cut(UP, late, back, DOWN), [("c1", 10, 40), ("c1", 41, 50), ("c2", 10, 50)])
        # An old slurmd that answers once more is no reason to want it.
        self.assertEqual(cut(UP, DOWN, (60, back[1])), [("c1", 10, 50), ("c2", 10, 50)])

    def test_power_down_forgotten(self):
        soon, late = (60, "Recovered state of 2 nodes"), (141, "Recovered state of 2 nodes")
        lives = (66, "POWER: power_save: program exit status of 0")
        self.assertEqual(cut(UP, DOWN, soon), [("c1", 10, 50), ("c2", 10, 50)])
        self.assertEqual(cut(UP, DOWN, soon, JOB), [("c1", 10, 50), ("c2", 10, 50), ("c2", 70, "-")])
        # However long nobody was in charge: the backup may have hung.
        self.assertEqual(cut(UP, DOWN, late, (150, JOB[1])), [("c1", 10, 50), ("c2", 10, 50), ("c2", 150, "-")])
        # One that lived for long enough has saved it.
        self.assertEqual(cut(UP, DOWN, lives, late, (150, JOB[1])), [("c1", 10, 50), ("c2", 10, 50)])

    def test_power_down_of_a_twin(self):
        twin = (51, "fatal: Two slurmctld daemons are running as primary. Shutting down this daemon to avoid inconsistent state")
        self.assertEqual(cut(UP, DOWN, twin), [("c1", 10, 50), ("c2", 10, 50)])
        self.assertEqual(cut(UP, DOWN, twin, JOB), [("c1", 10, 50), ("c2", 10, 50), ("c2", 70, "-")])


unittest.main()
