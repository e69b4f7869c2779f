#!/usr/bin/python3
"""test_judge.py: the judge finds what it is there to find.  run.sh begins with it: a blind judge acquits everybody."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from judge import Jobs, overrun, tasks_of  # noqa: E402


def words(text):
    return [line.split() for line in text.strip().splitlines()]


def jobs(submitted, states="", lines="", kills=""):
    return Jobs(words(submitted), words(states), words(lines), words(kills))


DONE = "start 1 0 r1 1000\ntick 1 0 r1 1500\nend 1 0 r1 2000"


class Lost(unittest.TestCase):
    def test_a_job_that_ran_to_its_end_is_not_lost(self):
        self.assertEqual(jobs("1 500 0", "9 1 - - COMPLETED 1 None", DONE).lost(), ([], []))

    def test_a_job_that_slurmctld_does_not_know_is_lost(self):
        self.assertEqual(len(jobs("1 500 0").lost()[0]), 1)

    def test_but_not_when_slurmctld_was_killed_before_it_wrote_the_job_down(self):
        self.assertEqual(jobs("1 500 0", kills="900").lost(), ([], [(1, 0)]))
        self.assertEqual(len(jobs("1 500 0", kills="90000").lost()[0]), 1)
        self.assertEqual(len(jobs("1 500 0", kills="400").lost()[0]), 1)

    def test_nor_when_slurmctld_showed_the_job_until_it_was_killed_and_never_again(self):
        self.assertEqual(jobs("1 500 0", "800 1 - - PENDING 1 None", kills="900").lost(), ([], [(1, 0)]))
        self.assertEqual(len(jobs("1 500 0", "901 1 - - PENDING 1 None", kills="900").lost()[0]), 1)
        self.assertEqual(len(jobs("1 500 0", "800 1 - - PENDING 1 None", kills="90000").lost()[0]), 1)
        self.assertEqual(len(jobs("1 500 0", "800 1 - - FAILED 1 None", kills="900").lost()[0]), 1)

    def test_a_number_given_out_twice_is_a_job_forgotten(self):
        states = "9 1 - - COMPLETED 1 None"
        self.assertEqual(jobs("1 300 0\n1 500 0", states, DONE, kills="400").lost(), ([], [(1, 0)]))
        self.assertEqual(len(jobs("1 300 0\n1 500 0", states, DONE).lost()[0]), 1)

    def test_a_job_that_still_waits_or_runs_is_lost(self):
        self.assertEqual(len(jobs("1 500 0", "9 1 - - PENDING 1 None").lost()[0]), 1)
        self.assertEqual(len(jobs("1 500 0", "9 1 - - RUNNING 1 None", DONE).lost()[0]), 1)

    def test_completed_without_a_word_of_its_own_is_lost(self):
        self.assertEqual(len(jobs("1 500 0", "9 1 - - COMPLETED 1 None").lost()[0]), 1)

    def test_a_job_whose_node_failed_is_lost_only_when_it_may_be_requeued(self):
        self.assertEqual(len(jobs("1 500 0", "9 1 - - NODE_FAIL 1 NodeDown").lost()[0]), 1)
        self.assertEqual(jobs("1 500 0", "9 1 - - NODE_FAIL 0 NodeDown").lost(), ([], []))

    def test_a_job_that_slurmctld_failed_to_start_is_lost_though_it_ran_in_the_end(self):
        states = "8 1 - - PENDING 1 launch_failed_requeued_held\n9 1 - - COMPLETED 1 None"
        self.assertEqual(len(jobs("1 500 0", states, DONE).lost()[0]), 1)
        self.assertEqual(len(jobs("1 500 0", states, DONE, kills="90000").lost()[0]), 1)

    def test_but_not_when_slurmctld_was_killed_before_it_wrote_down_that_it_runs(self):
        states = "8 1 - - PENDING 1 launch_failed_requeued_held\n9 1 - - COMPLETED 1 None"
        self.assertEqual(jobs("1 500 0", states, DONE, kills="980").lost(), ([], [1]))
        states = "8 1 - - PENDING 1 launch_failed_requeued_held"
        self.assertEqual(jobs("1 500 0", states, DONE, kills="980").lost(), ([], [1]))
        self.assertEqual(len(jobs("1 500 0", states, DONE, kills="90000").lost()[0]), 1)
        self.assertEqual(len(jobs("1 500 0", states, kills="980").lost()[0]), 1)

    def test_nor_when_slurmd_then_cancelled_it_as_it_may_not_be_requeued(self):
        states, lines = "9 1 - - CANCELLED {} None", "start 1 0 r1 1000\ntick 1 0 r1 1500"
        self.assertEqual(jobs("1 500 0", states.format(0), lines, kills="1300").lost(), ([], [(1, 0)]))
        self.assertEqual(len(jobs("1 500 0", states.format(1), lines, kills="1300").lost()[0]), 1)
        self.assertEqual(len(jobs("1 500 0", states.format(0), lines, kills="90000").lost()[0]), 1)
        self.assertEqual(len(jobs("1 500 0", states.format(0), kills="1300").lost()[0]), 1)

    def test_each_task_of_an_array_counts(self):
        states = "8 1 1 1-3 PENDING 1 None\n9 2 1 1 COMPLETED 1 None\n9 3 1 2 COMPLETED 1 None\n9 1 1 3 COMPLETED 1 None"
        lines = "\n".join(DONE.replace(" 1 ", f" {n} ", 3) for n in (1, 2))
        lost, _ = jobs("1 500 3", states, lines).lost()
        self.assertEqual(len(lost), 1)
        self.assertIn("job 1_2", lost[0])

    def test_tasks(self):
        self.assertEqual(tasks_of("1-3,7%2"), {1, 2, 3, 7})


class Double(unittest.TestCase):
    LATER = DONE + "\nstart 1 1 r2 {}\nend 1 1 r2 9000"

    def test_one_run_after_the_other_is_fine(self):
        self.assertEqual(jobs("1 500 0", lines=self.LATER.format(2001)).double(), ([], []))

    def test_two_runs_at_the_same_time_are_found(self):
        self.assertEqual(len(jobs("1 500 0", lines=self.LATER.format(1999)).double()[0]), 1)

    def test_even_with_the_same_number_of_restarts(self):
        self.assertEqual(len(jobs("1 500 0", lines=self.LATER.replace("1 1 r2", "1 0 r2").format(1200)).double()[0]), 1)

    def test_but_not_held_against_us_when_slurmctld_forgot_the_first(self):
        double, forgotten = jobs("1 500 0", lines=self.LATER.format(1999), kills="1500").double()
        self.assertEqual((len(double), len(forgotten)), (0, 1))

    def test_nor_when_its_first_line_came_just_after_the_kill(self):
        for kill, found in ((900, (0, 1)), (-9000, (1, 0))):
            double, forgotten = jobs("1 500 0", lines=self.LATER.format(1999), kills=str(kill)).double()
            self.assertEqual((len(double), len(forgotten)), found)


class Limits(unittest.TestCase):
    @staticmethod
    def meter(*lives):
        return {"now_ms": 9000, "rows": [{"price": "10", "start_ms": a, "end_ms": b} for a, b in lives]}

    def test_within_both_limits(self):
        self.assertEqual(overrun(self.meter((0, 1000), (1000, 2000)), 1, 10), (0, 1, 10))

    def test_seconds_above_the_number_of_nodes(self):
        self.assertEqual(overrun(self.meter((0, 3000), (1000, 2000)), 1, 99)[0], 1)

    def test_seconds_above_the_rate(self):
        self.assertEqual(overrun(self.meter((0, 3000), (1000, 2000)), 9, 19)[0], 1)

    def test_what_lives_still_counts_until_now(self):
        self.assertEqual(overrun(self.meter((0, None), (1000, None)), 1, 99)[0], 8)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
