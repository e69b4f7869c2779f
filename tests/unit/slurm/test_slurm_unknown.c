/* test_slurm_unknown.c - orders about several nodes of which slurmctld does not know one: it was
 * taken out of slurm.conf after the last snapshot.  slurmctld stops at that node, and the others
 * are to have theirs at once. */
#include "slurm_scripts.h"

#define SAYS "echo 'slurm_update error: Invalid node name specified' >&2; exit 1"

static char told[40000]; /* "down c1 ok\n": what became of whom */

static void on_told(void *ctx, const struct slurm_order *o, const struct err *e)
{
	struct fix *f = ctx;
	size_t n = strlen(told);

	assert_true(e != NULL || !o->again);
	if (!o->again)
		(void)snprintf(told + n, sizeof(told) - n, "%s %s%s %s\n", o->verb, o->names,
			       f->mark != 0 && slurm_past(f->slurm, f->mark) ? ", the last" : "",
			       e == NULL ? "ok" : e->msg);
	on_updated(ctx, o, e);
	if (f->hurt)
		loop_stop(f->loop);
}

/* Of the nodes of c1 to c8 those that are named here are unknown: "c3|c5". */
static void without(struct fix *f, const char *unknown)
{
	struct slurm_callbacks cb = {on_node, on_answer, on_told, f, east};
	char text[400];

	(void)snprintf(text, sizeof(text),
		       "printf '%%s\\n' \"$*\" >>$d/calls\n"
		       "for n in $(echo \"${2#*=}\" | tr , ' '); do\n"
		       "case $n in %s) " SAYS "; esac; done",
		       unknown);
	script(f, "scontrol", text);
	slurm_free(f->slurm);
	f->slurm = slurm_new(f->proc, f->loop, NULL, LINES, &cb);
	slurm_configure(f->slurm, f->dir, NULL);
	told[0] = '\0';
}

#define UNKNOWN(node)                                                                              \
	"slurmctld does not know " node ": scontrol update: exit status 1: slurm_update error: "   \
	"Invalid node name specified\n"

static void test_each_has_its_own_address(void **state)
{
	struct fix *f = *state;

	without(f, "c3");
	for (int i = 1; i <= 5; i++) {
		char name[16], addr[32], host[16];

		(void)snprintf(name, sizeof(name), "c%d", i);
		(void)snprintf(addr, sizeof(addr), "10.0.0.%d", i);
		(void)snprintf(host, sizeof(host), "h%d", i);
		slurm_set_addr(f->slurm, name, addr, host);
	}
	f->mark = slurm_mark(f->slurm);
	settle(f);
	assert_calls(f, "update nodename=c1,c2,c3,c4,c5 "
			"nodeaddr=10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5 "
			"nodehostname=h1,h2,h3,h4,h5\n"
			"update nodename=c1,c2 nodeaddr=10.0.0.1,10.0.0.2 nodehostname=h1,h2\n"
			"update nodename=c3,c4,c5 nodeaddr=10.0.0.3,10.0.0.4,10.0.0.5 "
			"nodehostname=h3,h4,h5\n"
			"update nodename=c3 nodeaddr=10.0.0.3 nodehostname=h3\n"
			"update nodename=c4,c5 nodeaddr=10.0.0.4,10.0.0.5 nodehostname=h4,h5\n");
	assert_string_equal(
		told, "address c1,c2 ok\naddress c3 " UNKNOWN("c3") "address c4,c5, the last ok\n");
	assert_true(slurm_past(f->slurm, f->mark));
	assert_true(slurm_settled_ms(f->slurm) <= loop_now(f->loop));
}

static void drain(struct slurm *s, const char *node)
{
	slurm_drain(s, node, "burstd: a");
}

static void down(struct slurm *s, const char *node)
{
	slurm_down(s, node, "burstd: a");
}

static void keep(struct slurm *s, const char *node)
{
	slurm_keep(s, node, true);
}

static void let_go(struct slurm *s, const char *node)
{
	slurm_keep(s, node, false);
}

/* Whatever they are told. */
static void test_every_order_about_nodes(void **state)
{
	static const struct {
		void (*order)(struct slurm *s, const char *node);
		const char *verb, *first, *rest;
	} cases[] = {
		{drain, "drain", "nodename=", " state=POWER_DOWN_ASAP reason=burstd: a"},
		{down, "down", "nodename=", " state=DOWN reason=burstd: a"},
		{slurm_resume, "resume", "nodename=", " state=RESUME"},
		{slurm_wake, "power-up", "nodename=", " state=POWER_UP"},
		{keep, "keep", "SuspendExcNodes+=", ""},
		{let_go, "let-go", "SuspendExcNodes-=", ""},
	};
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *a = cases[i].first, *z = cases[i].rest, *v = cases[i].verb;
		char calls[1000], ends[1000];

		without(f, "c1");
		(void)unlink(f->calls);
		f->given = f->updated = 0;
		cases[i].order(f->slurm, "c1");
		cases[i].order(f->slurm, "c2");
		cases[i].order(f->slurm, "c3");
		settle(f);
		(void)snprintf(calls, sizeof(calls),
			       "update %sc1,c2,c3%s\nupdate %sc1%s\nupdate %sc2,c3%s\n", a, z, a, z,
			       a, z);
		(void)snprintf(ends, sizeof(ends), "%s c1 " UNKNOWN("c1") "%s c2,c3 ok\n", v, v);
		assert_calls(f, calls);
		assert_string_equal(told, ends);
	}
}

/* All are DOWN before one is forced, as without that node. */
static void test_order_is_kept(void **state)
{
	struct fix *f = *state;

	without(f, "c2");
	slurm_power_down(f->slurm, "c1", "10.0.0.1", true, "burstd: a");
	slurm_power_down(f->slurm, "c2", "10.0.0.2", true, "burstd: a");
	slurm_resume(f->slurm, "c3");
	settle(f);
	assert_string_equal(told, "down c1 ok\ndown c2 " UNKNOWN(
					  "c2") "power-down c1 ok\n"
						"power-down c2 " UNKNOWN("c2") "resume c3 ok\n");
	assert_calls(f, "update nodename=c1,c2 state=DOWN reason=burstd: a\n"
			"update nodename=c1 state=DOWN reason=burstd: a\n"
			"update nodename=c2 state=DOWN reason=burstd: a\n"
			"update nodename=c1,c2 nodeaddr=10.0.0.1,10.0.0.2 nodehostname=c1,c2 "
			"state=POWER_DOWN_FORCE reason=burstd: a\n"
			"update nodename=c1 nodeaddr=10.0.0.1 nodehostname=c1 "
			"state=POWER_DOWN_FORCE reason=burstd: a\n"
			"update nodename=c2 nodeaddr=10.0.0.2 nodehostname=c2 "
			"state=POWER_DOWN_FORCE reason=burstd: a\n"
			"update nodename=c3 state=RESUME\n");
}

/* I28: each command that is run was given before, to be on record, and is given once. */
static void test_each_half_is_given_for_the_record(void **state)
{
	struct fix *f = *state;
	struct slurm_order o;

	without(f, "c1");
	slurm_drain(f->slurm, "c1", "burstd: a");
	slurm_drain(f->slurm, "c2", "burstd: a");
	settle(f);
	assert_string_equal(told, "drain c1 " UNKNOWN("c1") "drain c2 ok\n");
	assert_int_equal(f->given, 3);
	assert_int_equal(f->updated, 3);
	assert_false(slurm_next(f->slurm, &o));
}

static void stop(void *ctx)
{
	struct fix *f = ctx;

	loop_stop(f->loop);
}

/* What ends jobs has waited for the words to their people, and does not do so again. */
static void test_halves_wait_for_no_words(void **state)
{
	struct fix *f = *state;

	without(f, "c1");
	slurm_talks(f->slurm, true);
	slurm_down(f->slurm, "c1", "burstd: a");
	slurm_down(f->slurm, "c2", "burstd: a");
	timer_at(f->tick = timer_new(f->loop, stop, f), slurm_held_until(f->slurm));
	loop_run(f->loop);
	timer_free(f->tick);
	settle(f);
	assert_string_equal(told, "down c1 " UNKNOWN("c1") "down c2 ok\n");
}

/* A whole pool is gone: the next snapshot shows that, and what else is to be told need not wait
 * until each of its nodes was found unknown.  The next order is cut again. */
static void test_a_pool_that_is_gone_is_not_looked_for_node_by_node(void **state)
{
	struct fix *f = *state;
	unsigned ends = 0;

	without(f, "c*");
	for (int i = 1; i <= 500; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "c%d", i);
		slurm_wake(f->slurm, name);
	}
	settle(f);
	assert_int_equal(f->failed, 2 * SLURM_CUTS_MAX + 1); /* and so many were sent */
	for (const char *p = told; *p != '\0'; p++)
		ends += *p == '\n';
	assert_int_equal(ends, SLURM_CUTS_MAX + 1);
	assert_non_null(strstr(told, ",c500 scontrol update: exit")); /* who it is, is not known */
	f->given = f->updated = 0;
	told[0] = '\0';
	slurm_resume(f->slurm, "c1");
	slurm_resume(f->slurm, "d2");
	settle(f);
	assert_string_equal(told, "resume c1 " UNKNOWN("c1") "resume d2 ok\n");
}

/* Each job has a request of its own: the others had theirs, whatever came of one. */
static void test_orders_about_jobs_are_not_sent_again(void **state)
{
	struct fix *f = *state;

	without(f, "2");
	slurm_clear_comment(f->slurm, "1");
	slurm_clear_comment(f->slurm, "2");
	settle(f);
	assert_int_equal(f->failed, 1);
	assert_calls(f, "update jobid=1,2 AdminComment=\n");
}

/* Nor is what failed for another reason: most of the time nobody was there to hear it. */
static void test_other_failures_are_not_sent_again(void **state)
{
	struct fix *f = *state;

	script(f, "broken", "");
	slurm_drain(f->slurm, "c1", "burstd: a");
	slurm_drain(f->slurm, "c2", "burstd: a");
	settle(f);
	assert_calls(f, "update nodename=c1,c2 state=POWER_DOWN_ASAP reason=burstd: a\n");
}

/* The adapter may go while halves wait (teardown frees it). */
static void test_free_while_halves_wait(void **state)
{
	struct fix *f = *state;

	without(f, "c1");
	slurm_drain(f->slurm, "c1", "burstd: a");
	slurm_drain(f->slurm, "c2", "burstd: a");
	f->hurt = true;
	settle(f);
	assert_int_equal(f->updated, 1);
	assert_false(slurm_past(f->slurm, slurm_mark(f->slurm)));
	assert_true(slurm_settled_ms(f->slurm) == INT64_MAX);
}

/* Nodes of a pool are created by one command, each word of what they have in an argument of its
 * own.  It is never tried again in halves: a half may be there by then (25.11). */
static void test_nodes_are_created(void **state)
{
	struct fix *f = *state;

	without(f, "c9");
	(void)unlink(f->calls);
	f->given = f->updated = 0;
	assert_true(slurm_create(f->slurm, "c1", 0, " CPUs=8 Gres=gpu:h100:8 Feature=cloud,p"));
	assert_true(slurm_create(f->slurm, "c2", 0, " CPUs=8 Gres=gpu:h100:8 Feature=cloud,p"));
	assert_true(slurm_create(f->slurm, "d1", 1, " CPUs=4"));
	assert_true(slurm_create(f->slurm, "c9", 0, " CPUs=8"));
	assert_true(slurm_create(f->slurm, "c3", 0, " CPUs=8"));
	told[0] = '\0';
	settle(f);
	assert_calls(f, "create nodename=c1,c2 CPUs=8 Gres=gpu:h100:8 Feature=cloud,p State=CLOUD\n"
			"create nodename=d1 CPUs=4 State=CLOUD\n"
			"create nodename=c9,c3 CPUs=8 State=CLOUD\n");
	assert_non_null(
		strstr(told, "create-node c1,c2 ok\ncreate-node d1 ok\ncreate-node c9,c3 "));
	assert_null(strstr(told, "c9,c3 ok"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_each_has_its_own_address),
		T(test_every_order_about_nodes),
		T(test_nodes_are_created),
		T(test_order_is_kept),
		T(test_each_half_is_given_for_the_record),
		T(test_halves_wait_for_no_words),
		T(test_a_pool_that_is_gone_is_not_looked_for_node_by_node),
		T(test_orders_about_jobs_are_not_sent_again),
		T(test_other_failures_are_not_sent_again),
		T(test_free_while_halves_wait),
	};
#undef T

	return cmocka_run_group_tests_name("slurm adapter, unknown nodes", tests, NULL, NULL);
}
