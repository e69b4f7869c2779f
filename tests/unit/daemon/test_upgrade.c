/* A journal of every schema that there was is loaded by burstd, which goes on with it (F60); see
 * tests/fixtures/journal. */
#include "lab.h"
#include "running.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/schema.h"

enum { FILE_MAX = 1 << 20 };

static const char uuid[] = "5655a584-0bf3-4a67-9cd6-e9d3b4c19d69";

static char *read_fixture(int step, const char *suffix)
{
	char path[80], *text = mem_zalloc(FILE_MAX);
	FILE *in;

	(void)snprintf(path, sizeof(path), "tests/fixtures/journal/%02d%s.sql", step, suffix);
	in = fopen(path, "re");
	if (in == NULL)
		fail_msg("there is no %s", path);
	assert_true(fread(text, 1, FILE_MAX - 1, in) > 0);
	(void)fclose(in);
	return text;
}

/* The state directory of a burstd of that schema, which ended at that moment. */
static void put_state(int step, const char *suffix)
{
	char *text = read_fixture(step, suffix), own[40], *why = NULL;
	const char *at = strstr(text, "uuid: ");
	char command[200];
	sqlite3 *db;

	(void)snprintf(own, sizeof(own), "%.36s\n", at != NULL ? at + strlen("uuid: ") : uuid);
	(void)snprintf(command, sizeof(command), "rm -rf %s", lab_path("state"));
	assert_int_equal(system(command), 0);
	assert_int_equal(mkdir(lab_path("state"), 0700), 0);
	lab_write("state/uuid", own, 0600);
	assert_int_equal(sqlite3_open(lab_path("state/journal.db"), &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%d%s: %s", step, suffix, why);
	(void)sqlite3_close(db);
	assert_int_equal(chmod(lab_path("state/journal.db"), 0600), 0);
	free(text);
}

static void start_on(struct burstd *b, int step, const char *suffix)
{
	put_state(step, suffix);
	lab_start(b, "-c", lab_path("burstd.conf"));
	if (!lab_read_until(b, "msg=ready"))
		fail_msg("%d%s: %s", step, suffix, b->text);
}

static void end(struct burstd *b, int64_t instances)
{
	lab_stop(b);
	assert_int_equal(b->rc, 0);
	assert_null(strstr(b->text, "Sanitizer"));
	assert_int_equal(ask_journal("PRAGMA user_version"), SCHEMA_STEPS);
	/* Neither its provider nor slurmctld has said a word: nothing was bought, and nothing is
	 * forgotten. */
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM node WHERE instance <> ''"), instances);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM node WHERE state = 'creating'"), 0);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM event WHERE type = 'started' AND seq ="
				     " (SELECT MAX(seq) FROM event WHERE type = 'started')"),
			 1);
}

/* What it says of the nodes is what the journal had; a create that was on the wire is in doubt. */
static void test_burstd_goes_on_with_each(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("pool p", "pool h100");
	for (int step = 1; step <= SCHEMA_STEPS; step++) {
		print_message("# schema %d\n", step);
		start_on(b, step, "");
		ASK_OP("nodes", "\"name\":\"c1\",\"generation\":3,\"state\":\"ready\"",
		       step < 24 ? "\"instance\":\"i-1\",\"image\":\"\",\"address\":\"10.77.0.1\""
				 : "\"instance\":\"i-1\",\"image\":\"ami-old\","
				   "\"address\":\"10.77.0.1\"",
		       "\"name\":\"c2\",\"generation\":1,\"state\":\"booting\"",
		       "\"name\":\"c3\",\"generation\":1,\"state\":\"indoubt\"",
		       "\"name\":\"c4\",\"generation\":2,\"state\":\"indoubt\"",
		       "\"name\":\"c5\",\"generation\":1,\"state\":\"wanted\"",
		       "\"name\":\"c6\",\"generation\":1,\"state\":\"deleting\"",
		       "\"name\":\"c7\",\"generation\":1,\"state\":\"quarantined\"",
		       "\"name\":\"c8\",\"generation\":1,\"state\":\"draining\"");
		if (step >= 2)
			ASK_OP("pools", "\"paused\":true");
		end(b, 5);
	}
	free(b);
}

static void test_burstd_goes_on_with_what_programs_wrote(void **state)
{
	static const int steps[] = {12, 15, 20, 22};
	struct burstd *b = mem_zalloc(sizeof(*b));

	(void)state;
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("pool p", "pool h100");
	for (size_t i = 0; i < COUNT(steps); i++) {
		print_message("# schema %d\n", steps[i]);
		start_on(b, steps[i], "-lab");
		ASK_OP("nodes", "\"state\":\"booting\"", "\"state\":\"indoubt\"",
		       "\"name\":\"c2\",\"generation\":1,\"state\":\"ready\"",
		       "\"instance\":\"sim-00000001\"");
		ASK_OP("audit-verify", "\"bad\":0");
		end(b, 6);
	}
	free(b);
}

/* A journal of a newer burstd is refused, in one sentence that says what to do, with the status
 * after which systemd does not try again; --check says it before; and it is left alone. */
static void test_a_downgrade_is_refused(void **state)
{
	struct burstd *b = mem_zalloc(sizeof(*b));
	char what[160], newer[40];

	(void)state;
	(void)snprintf(what, sizeof(what),
		       "/state/journal.db: schema %d is from a newer burstd; this one knows %d at "
		       "most: install that version again",
		       SCHEMA_STEPS + 1, SCHEMA_STEPS);
	(void)snprintf(newer, sizeof(newer), "PRAGMA user_version = %d", SCHEMA_STEPS + 1);
	lab_make_files("#!/bin/sh\nexit 1\n");
	lab_write_conf("pool p", "pool h100");
	put_state(SCHEMA_STEPS, "");
	(void)ask_journal(newer);
	lab_start(b, "--check", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, LAB_BAD_CONF);
	assert_int_equal(count(b->text, what), 1);
	lab_start(b, "-c", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(b->rc, LAB_BAD_CONF);
	assert_int_equal(count(b->text, what), 1);
	assert_int_equal(access(lab_path("state/journal.db-wal"), F_OK), -1);
	assert_int_equal(ask_journal("PRAGMA user_version"), SCHEMA_STEPS + 1);
	assert_int_equal(ask_journal("SELECT COUNT(*) FROM node"), 8);
	put_state(SCHEMA_STEPS, "");
	lab_start(b, "--check", lab_path("burstd.conf"));
	lab_finish(b);
	assert_int_equal(count(b->text, "schema"), 0);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_burstd_goes_on_with_each),
		cmocka_unit_test(test_burstd_goes_on_with_what_programs_wrote),
		cmocka_unit_test(test_a_downgrade_is_refused),
	};
	int rc;

	if (!lab_open(&rc))
		return rc;
	return cmocka_run_group_tests_name("upgrade", tests, NULL, NULL);
}
