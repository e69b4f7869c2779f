/* test_rotate_switch.c - the moment of the switch: it is called off, or the machine beside
 * slurmctld does not follow. */
#include "rotation_world.h"

#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

/* --- called off --------------------------------------------------------------------------------
 */

static bool says_off(const char *said, int64_t version)
{
	char want[80];

	(void)snprintf(want, sizeof(want), "\"keys\":{\"version\":\"%lld\",\"switch_ms\":0}",
		       (long long)version);
	return strstr(said, want) != NULL;
}

/* Each has a timer.  Who does not hear in time switches, and back again: it has its keys anew. */
static void who_was_told_of_a_switch_is_told_that_it_is_off(void **state)
{
	int64_t version;

	(void)state;
	stage(ROTATION_MUNGE);
	version = now_version();
	switches(MINUTE);
	assert_null(strstr(beats(1, version), "\"switch_ms\":0"));
	fails = SECRET_AWAY;
	aborts();
	assert_int_equal(phase(), ROTATION_ABORTING);
	assert_true(says_off(beats(1, version), version));
	assert_non_null(strstr(node_asks(1, "GET", "/v1/node/keys", ""), "\nswitch=yes\n"));
	restart_and_go();
	both_are_up(version);
	assert_int_equal(phase(), ROTATION_ABORTING);
	assert_true(says_off(beats(1, version), version));
	fails = SECRET_OK;
	write_again();
	assert_int_equal(phase(), ROTATION_ABORTED);
	assert_true(now_version() != version);
	assert_true(says_off(beats(2, version), now_version()));
	claim(2)->keys_ms = 0;
	assert_non_null(strstr(node_asks(2, "GET", "/v1/node/keys", ""), "\nswitch=yes\n"));
	assert_true(says_off(beats(2, now_version()), now_version()));
	/* The store is away, and burstd was started anew: which version it has is not known. */
	version = now_version();
	believe_in("");
	assert_true(says_off(beats(1, version), version));
	(void)snprintf(F.e->keys->secrets->version, sizeof(F.e->keys->secrets->version), "%lld",
		       (long long)version);
	claim(1)->key_version = 0; /* it says no version, and was told of no switch */
	assert_null(strstr(beats(1, 0), "keys"));
	rt()->r.switch_ms -= ROTATION_SPREAD_MS + MINUTE; /* nobody has it in mind any more */
	assert_null(strstr(beats(1, version), "keys"));
	believe_in("");
	assert_null(strstr(beats(1, version), "keys"));
	/* What an admin writes is not what all use by now. */
	put_bundle(BUNDLE, "99");
	poll_the_store();
	assert_int_equal(now_version(), 99);
	claim(1)->keys_ms = 0;
	assert_non_null(strstr(node_asks(1, "GET", "/v1/node/keys", ""), "\nswitch=no\n"));
}

/* Its timer would put the next rotation's key in use, long before anybody else has it. */
static void who_has_not_heard_that_it_is_off_hears_it_in_the_next_rotation(void **state)
{
	(void)state;
	stage(ROTATION_MUNGE);
	switches(10 * MINUTE);
	(void)beats(1, now_version());
	aborts();
	assert_int_equal(phase(), ROTATION_ABORTED);
	writes = 0;
	begins(ROTATION_MUNGE);
	assert_true(says_off(beats(1, now_version() - 1), now_version()));
	restart_and_go();
	both_are_up(now_version());
	assert_true(says_off(beats(1, now_version()), now_version()));
	rt()->look_ms = 0;
	(void)beats(2, now_version());
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_true(says_off(beats(1, now_version()), now_version()));
	switches(10 * MINUTE);
	assert_null(strstr(beats(1, now_version()), "\"switch_ms\":0"));
}

/* F57: its switch was ordered by a clock that was a day ahead. */
static void a_restart_with_a_clock_set_back_waits_no_longer_for_the_switch(void **state)
{
	int64_t whole;

	(void)state;
	stage(ROTATION_MUNGE);
	switches(10 * MINUTE);
	whole = rt()->r.switch_ms - rt()->r.since_ms; /* 10 minutes, or a millisecond more */
	rt()->r.since_ms += 24 * 60 * MINUTE;
	rt()->r.switch_ms += 24 * 60 * MINUTE;
	rt()->dirty = true;
	go();
	restart();
	assert_int_equal(phase(), ROTATION_WINDOW);
	assert_in_range(rt()->r.switch_ms - engine_now(F.e), 9 * MINUTE, whole);
}

static void an_abort_that_nodes_may_not_hear_of_is_refused(void **state)
{
	const struct engine_rotate_ask ask = {.verb = ENGINE_ROTATE_ABORT, .by = "root"};
	struct err err = {0};

	(void)state;
	stage(ROTATION_MUNGE);
	switches(MINUTE);
	rt()->r.switch_ms -= MINUTE - ROTATION_HEAR_MS + 1000;
	assert_int_equal(engine_rotate(F.e, &ask, &err), -1);
	assert_non_null(strstr(err.msg, "may not hear within 4"));
	assert_int_equal(phase(), ROTATION_WINDOW);
	assert_int_equal(audits("rotate-abort"), 0);
}

/* --- the site's command -------------------------------------------------------------------------
 */

static char *program[2];

static void use_command(const char *path)
{
	free(program[0]);
	program[0] = path != NULL ? mem_strdup(path) : NULL;
	F.e->conf->secrets.switch_command = path != NULL ? program : NULL;
}

static int teardown_command(void **state)
{
	use_command(NULL); /* it is not the configuration's to free */
	return teardown(state);
}

/* Until the program that runs has ended. */
static void wait_for_child(void)
{
	assert_non_null(rt()->child);
	F.e->started = true;
	for (int i = 0; rt()->child != NULL && i < 5000; i++) {
		(void)uv_run(loop_uv(F.loop), UV_RUN_NOWAIT);
		(void)usleep(1000);
	}
	F.e->started = false;
	assert_null(rt()->child);
}

static void switch_with(const char *path)
{
	stage(ROTATION_MUNGE);
	use_command(path);
	switches(MINUTE);
	its_time_comes();
	assert_int_equal(phase(), ROTATION_SETTLING);
}

static void a_minute_later(void)
{
	rt()->tell_ms -= ROTATE_TELL_MS;
	go();
}

/* The nodes have the new key by then; slurmctld's machine has not. */
static void a_switch_command_is_run_until_it_succeeds(void **state)
{
	struct engine_rotation s;

	(void)state;
	switch_with("/bin/false");
	wait_for_child();
	all_follow();
	assert_int_equal(phase(), ROTATION_SETTLING);
	engine_rotation(F.e, &s);
	assert_non_null(strstr(s.error, "switch_command: exit status 1"));
	assert_int_equal(events("rotation-alarm"), 1);
	assert_null(rt()->child); /* not at once again */
	assert_int_equal(rt()->unstarted, 0);
	a_minute_later();
	wait_for_child();
	assert_int_equal(audits("switch-command"), 2);
	assert_int_equal(events("rotation-alarm"), 1); /* once */
	use_command(NULL);
	restart();
	use_command("/bin/false");
	go();
	both_are_up(now_version());
	all_follow();
	assert_int_equal(phase(), ROTATION_SETTLING);
	wait_for_child();
	assert_non_null(strstr(rt()->error, "switch_command: exit status 1"));
	use_command("/bin/true");
	a_minute_later();
	wait_for_child();
	assert_string_equal(rt()->error, "");
	assert_true(rt()->r.told);
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
	a_minute_later();
	assert_null(rt()->child);
}

static void a_switch_command_that_succeeded_is_not_run_after_a_restart(void **state)
{
	(void)state;
	switch_with("/bin/true");
	wait_for_child();
	assert_true(rt()->r.told);
	go();
	use_command(NULL);
	restart();
	use_command("/bin/true");
	go();
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_true(rt()->r.told);
	assert_null(rt()->child);
	assert_int_equal(audits("switch-command"), 1);
}

/* It need not wait for the next try. */
static void an_order_to_resume_runs_the_switch_command_at_once(void **state)
{
	(void)state;
	switch_with("/bin/false");
	wait_for_child();
	rt()->look_ms = INT64_MAX;
	assert_int_equal(rotate_turn_part.next_ms(F.e), rt()->tell_ms);
	go();
	assert_null(rt()->child);
	assert_int_equal(order(ENGINE_ROTATE_RESUME, ROTATION_NONE, NULL, 0), 0);
	wait_for_child();
	assert_int_equal(audits("switch-command"), 2);
}

/* I28: nothing runs that the audit does not have. */
static void a_switch_command_is_on_record_before_it_runs(void **state)
{
	(void)state;
	switch_with("/bin/false");
	wait_for_child();
	rt()->tell_ms = 0;
	rotate_tell_slurmctld(rt());
	assert_non_null(rt()->child);
	assert_false(F.e->staging.due);
	assert_int_equal(audits("switch-command"), 2);
	wait_for_child();
}

/* munge's switch is for all machines, and the command does it on one: somebody has to say when.
 * That of slurm.jwks is for nobody else to follow at once. */
static void with_a_command_munges_switch_is_ordered_all_the_same(void **state)
{
	(void)state;
	use_command("/bin/true");
	stage(ROTATION_MUNGE);
	all_follow();
	assert_int_equal(phase(), ROTATION_STAGED);
	assert_int_equal(rt()->r.switch_ms, 0);
	assert_null(rt()->child);
	aborts();
	assert_int_equal(phase(), ROTATION_ABORTED);
	begins(ROTATION_JWKS);
	all_follow();
	assert_int_equal(phase(), ROTATION_LOADING);
	wait_for_child();
}

static void load_jwks_with(const char *path)
{
	use_command(path);
	begins(ROTATION_JWKS);
	all_follow();
	assert_int_equal(phase(), ROTATION_LOADING);
}

/* It copies the keys before slurmctld is told to read them, each time. */
static void each_step_of_jwks_has_its_command(void **state)
{
	(void)state;
	load_jwks_with("/bin/true");
	wait_for_child();
	assert_int_equal(audits("switch-command"), 1);
	rotate_event(rt(), ROTATION_EV_TOLD, 0); /* there is no scontrol here */
	go();
	all_follow();
	assert_int_equal(phase(), ROTATION_AGING);
	wait_for_child();
	assert_int_equal(audits("switch-command"), 2);
}

static void a_command_that_ends_late_counts_for_its_own_step(void **state)
{
	(void)state;
	load_jwks_with("/bin/true");
	assert_non_null(rt()->child);
	rotate_event(rt(), ROTATION_EV_TOLD, 0);
	go();
	assert_int_equal(phase(), ROTATION_SETTLING);
	wait_for_child();
	assert_false(rt()->commanded);
}

static void configure(void)
{
	free(F.e->conf->slurm_bin);
	F.e->conf->slurm_bin = mem_strdup(F.dir);
	F.e->conf->reconfigure_ms = 10 * MINUTE;
}

static void later(int64_t ms)
{
	rt()->tell_ms -= ms;
	rt()->reconfigured_ms -= ms;
	go();
}

/* slurmctld answers nobody while it reads its configuration.  However fast the steps follow each
 * other, whatever is ordered, and if burstd is killed: once in the interval. */
static void slurmctld_is_not_told_to_reconfigure_too_often(void **state)
{
	char path[128];
	FILE *f;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/scontrol", F.dir);
	f = fopen(path, "w");
	assert_non_null(f);
	(void)fputs("#!/bin/sh\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0700), 0);
	configure();
	stage(ROTATION_JWKS);
	switches(0);
	wait_for_child();
	assert_int_equal(audits("reconfigure"), 1);
	go();
	all_follow();
	assert_int_equal(phase(), ROTATION_AGING); /* which tells it the second time */
	assert_int_equal(order(ENGINE_ROTATE_RESUME, ROTATION_NONE, NULL, 0), 0);
	go();
	assert_null(rt()->child);
	assert_true(rt()->tell_ms - rt()->reconfigured_ms == 10 * MINUTE);
	restart();
	configure();
	go();
	later(9 * MINUTE);
	assert_null(rt()->child);
	assert_int_equal(audits("reconfigure"), 1);
	later(MINUTE);
	wait_for_child();
	assert_int_equal(audits("reconfigure"), 2);
	assert_true(rt()->r.told);
	assert_int_equal(unlink(path), 0);
}

/* It has not run: that is no try, and the next is soon. */
static void a_switch_command_that_cannot_be_started_is_tried_sooner(void **state)
{
	int64_t waits[8];

	(void)state;
	switch_with("/nonexistent/switch");
	assert_null(rt()->child);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		waits[i] = rt()->tell_ms - engine_now(F.e);
		rt()->tell_ms = 0;
		all_follow();
	}
	assert_in_range(waits[0], 1, 2 * ROTATE_AGAIN_MS);
	assert_in_range(waits[1], waits[0] + 1, 4 * ROTATE_AGAIN_MS);
	assert_in_range(waits[7], ROTATE_TELL_MS - MINUTE / 4, ROTATE_TELL_MS);
	assert_int_equal(phase(), ROTATION_SETTLING);
	assert_non_null(strstr(rt()->error, "No such file"));
	use_command("/bin/true");
	rt()->tell_ms = 0;
	go();
	assert_int_equal(rt()->unstarted, 0);
	wait_for_child();
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
}

/* An admin does it by hand, and takes the command out of the configuration. */
static void without_its_command_it_is_the_admins(void **state)
{
	(void)state;
	switch_with("/bin/false");
	wait_for_child();
	use_command(NULL);
	a_minute_later();
	assert_string_equal(rt()->error, "");
	all_follow();
	assert_int_equal(phase(), ROTATION_DONE);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define C(f) cmocka_unit_test_setup_teardown(f, setup, teardown_command)
	const struct CMUnitTest tests[] = {
		T(who_was_told_of_a_switch_is_told_that_it_is_off),
		T(who_has_not_heard_that_it_is_off_hears_it_in_the_next_rotation),
		T(a_restart_with_a_clock_set_back_waits_no_longer_for_the_switch),
		T(an_abort_that_nodes_may_not_hear_of_is_refused),
		C(a_switch_command_is_run_until_it_succeeds),
		C(a_switch_command_that_succeeded_is_not_run_after_a_restart),
		C(an_order_to_resume_runs_the_switch_command_at_once),
		C(a_switch_command_is_on_record_before_it_runs),
		C(with_a_command_munges_switch_is_ordered_all_the_same),
		C(each_step_of_jwks_has_its_command),
		C(a_command_that_ends_late_counts_for_its_own_step),
		C(slurmctld_is_not_told_to_reconfigure_too_often),
		C(a_switch_command_that_cannot_be_started_is_tried_sooner),
		C(without_its_command_it_is_the_admins),
	};
#undef T
#undef C

	return cmocka_run_group_tests_name("rotate switch", tests, NULL, NULL);
}
