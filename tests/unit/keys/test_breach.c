/* test_breach.c - an alarm about keys outlives a restart, and ends with what mends it. */
#include "claims_store.h"
#include "keys_engine.h"

#include "core/rotation.h"
#include "keys/rotate.h"

/* The first key is taken, and another one comes. */
static void is_misused(void)
{
	is_served(says((struct says){.create = 1}), "");
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	turn();
}

static int keep_detail(void *ctx, const struct journal_event *ev)
{
	if (strcmp(ev->type, "breach") == 0)
		(void)snprintf(ctx, 400, "%s", ev->detail);
	return 0;
}

static const char *said(void)
{
	static char text[400];

	text[0] = '\0';
	assert_int_equal(journal_events(F.journal, 0, NULL, 10000, keep_detail, text, NULL), 0);
	return text;
}

static void test_it_outlives_a_restart(void **state)
{
	(void)state;
	assert_int_equal(engine_breaches(F.e).n, 0);
	one();
	is_misused();
	assert_int_equal(engine_breaches(F.e).n, 1);
	restart();
	assert_int_equal(engine_breaches(F.e).n, 1);
	assert_true(llabs(engine_now(F.e) - engine_breaches(F.e).last_ms) < 60000);
	assert_int_equal(engine_counters(F.e)->claims_breached, 0); /* that is of this life */
}

static void test_it_does_not_last_for_ever(void **state)
{
	const int64_t week = INT64_C(7) * 86400000;

	(void)state;
	two();
	is_misused();
	F.e->keys->breaches.last_ms -= week - 60000;
	assert_int_equal(engine_breaches(F.e).n, 1);
	F.e->keys->breaches.last_ms -= 120000;
	assert_int_equal(engine_breaches(F.e).n, 0);
	/* The next one is the first. */
	F.address = "10.0.0.2";
	is_served(says((struct says){.create = 2, .key = 2}), "");
	assert_int_equal(status(says((struct says){.create = 2, .key = 3})), 409);
	assert_int_equal(engine_breaches(F.e).n, 1);
}

static void test_they_are_counted(void **state)
{
	(void)state;
	two();
	is_misused();
	restart();
	F.address = "10.0.0.2";
	is_served(says((struct says){.create = 2, .key = 2}), "");
	assert_int_equal(status(says((struct says){.create = 2, .key = 3})), 409);
	turn();
	restart();
	assert_int_equal(engine_breaches(F.e).n, 2);
}

static void is_rotated(enum rotation_kind kind, int64_t begun_ms)
{
	const struct rotation r = {.kind = kind, .phase = ROTATION_DONE, .begun_ms = begun_ms};

	breach_mended(F.e, &r);
	engine_commit(F.e);
}

static void test_another_key_ends_it(void **state)
{
	(void)state;
	one();
	is_misused();
	is_rotated(ROTATION_MUNGE,
		   F.e->keys->breaches.last_ms - 1); /* who has the old one has this */
	is_rotated(ROTATION_JWKS, F.e->keys->breaches.last_ms + 1); /* nobody uses it */
	assert_int_equal(engine_breaches(F.e).n, 1);
	is_rotated(ROTATION_MUNGE, F.e->keys->breaches.last_ms + 1);
	assert_int_equal(engine_breaches(F.e).n, 0);
	restart();
	assert_int_equal(engine_breaches(F.e).n, 0);
}

static void test_the_command_is_said(void **state)
{
	(void)state;
	one();
	is_misused();
	assert_non_null(strstr(said(), "may have leaked: burstctl secrets rotate --munge"));
	F.e->conf->nodes.auth = CONF_AUTH_SLURM;
	assert_string_equal(engine_rotate_command(F.e), "burstctl secrets rotate --jwks");
	is_rotated(ROTATION_MUNGE, F.e->keys->breaches.last_ms + 1);
	assert_int_equal(engine_breaches(F.e).n, 1);
	is_rotated(ROTATION_JWKS, F.e->keys->breaches.last_ms + 1);
	assert_int_equal(engine_breaches(F.e).n, 0);
}

/* It was stolen before anything was given out. */
static void test_nothing_had_left(void **state)
{
	(void)state;
	one();
	(void)says((struct says){.create = 1});
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	turn();
	assert_int_equal(claim(1)->c.state, CLAIM_BREACHED);
	assert_non_null(strstr(said(), "; it had been given nothing"));
	assert_null(strstr(said(), "rotate"));
}

/* A node at work: its jobs are off before its machine is. */
static void test_a_node_at_work_is_powered_down(void **state)
{
	(void)state;
	two();
	is_served(says((struct says){.create = 1}), "");
	row(1)->n.state = NODE_READY;
	assert_int_equal(status(says((struct says){.create = 1, .key = 1})), 409);
	turn();
	assert_true(goes(1, NODE_BECAUSE_BREACH));
	assert_int_equal(D.n, 1);
	assert_string_equal(D.node, "c1");
	assert_true(D.dead);
	assert_non_null(strstr(D.why, "its secret was used with a second key"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup_broker, teardown)
	const struct CMUnitTest tests[] = {
		T(test_it_outlives_a_restart),
		T(test_it_does_not_last_for_ever),
		T(test_they_are_counted),
		T(test_another_key_ends_it),
		T(test_the_command_is_said),
		T(test_nothing_had_left),
		T(test_a_node_at_work_is_powered_down),
	};
#undef T

	return cmocka_run_group_tests_name("breach", tests, NULL, NULL);
}
