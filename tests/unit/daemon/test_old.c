/* What is old goes: events, and the audit log, whose end is logged. */
#include "lab.h"
#include "running.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Events older than events_keep go by themselves, and the others stay. */
static void test_forget(void **state)
{
	enum { OLD = 600, HOUR_MS = 3600000 };
	struct burstd *b = mem_zalloc(sizeof(*b));
	const int64_t now = clock_wall_ms(), until = clock_boot_ms() + LAB_PATIENCE_MS;
	char sql[400];

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("currency = EUR\n", "currency = EUR\nevents_keep = 1h\n");
	lab_start_ready(b);
	lab_stop(b);
	(void)snprintf(
		sql, sizeof(sql),
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
		" INSERT INTO event (at_ms, node, gen, type, detail)"
		" SELECT %lld + (i = %d) * %d, 'c1', 1, 'test', '' FROM n",
		OLD + 1, (long long)(now - 2 * HOUR_MS), OLD + 1, HOUR_MS * 3 / 2);
	(void)ask_journal("DELETE FROM event");
	(void)ask_journal(sql);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM event WHERE type = 'test'"), OLD + 1);
	lab_start_ready(b);
	while (ask_journal("SELECT COUNT(*) FROM event WHERE type = 'test'") > 1 &&
	       clock_boot_ms() < until)
		(void)poll(NULL, 0, 50);
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM event WHERE type = 'test'"), 1);
	assert_int_equal(ask_journal("SELECT MAX(at_ms) FROM event WHERE type = 'test'"),
			 now - HOUR_MS / 2);
	assert_true(ask_journal("SELECT COUNT(*) FROM event WHERE type = 'started'") == 1);
	free(b);
}

/* For another machine that keeps the log: where the audit log ends is said at the start, not each
 * time that it grew within a minute, and when burstd ends.  Here it grows by being trimmed. */
static void test_the_end_of_the_audit_log_is_logged(void **state)
{
	enum { OLD = 512, AFTER = OLD + 2 }; /* forgotten in two turns, each with a record */
	struct burstd *b = mem_zalloc(sizeof(*b));
	const int64_t until = clock_boot_ms() + LAB_PATIENCE_MS;
	const char *last;
	char sql[400];

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_start_ready(b);
	lab_stop(b);
	assert_int_equal(count(b->text, "msg=\"audit log\""), 0); /* there is nothing in it */
	(void)snprintf(sql, sizeof(sql),
		       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
		       "%d) INSERT INTO audit SELECT i, 0, 'hook', 'create', 'sim', 'c1', '', '',"
		       " printf('%%064x', i) FROM n",
		       OLD);
	(void)ask_journal(sql);
	lab_start_ready(b);
	while (ask_journal("SELECT seq FROM audit_mark WHERE name = 'head'") < AFTER &&
	       clock_boot_ms() < until)
		(void)poll(NULL, 0, 50);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM audit"), 2);
	lab_stop(b);
	(void)snprintf(sql, sizeof(sql), "head=%d:%064x\n", OLD, (unsigned)OLD);
	assert_non_null(strstr(b->text, sql));
	assert_int_equal(count(b->text, "msg=\"audit log\""), 2);
	last = strstr(b->text, "head=514:");
	assert_non_null(last);
	(void)snprintf(sql, sizeof(sql),
		       "SELECT hash = '%.64s' FROM audit_mark WHERE name = 'head'",
		       last + strlen("head=514:"));
	assert_int_equal(ask_journal(sql), 1);
	lab_start_ready(b);
	assert_true(lab_read_until(b, "head=514:"));
	lab_stop(b);
	assert_int_equal(count(b->text, "msg=\"audit log\""), 1); /* it did not grow */
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_the_end_of_the_audit_log_is_logged),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("old", tests, NULL, NULL);
}
