/* test_problems.c - what status says is wrong, on an engine of which the test says what is. */
#include "ctl_ask.h"

#include <inttypes.h>

#include "base/fmt.h"
#include "buy/buy_api.h"
#include "jobs/jobs_api.h"

/* What test_problems brings about, in the order in which it is shown. */
static const char *const all_problems[] = {
	"slurmctld does not answer: scontrol: timed out (last answer 1s ago); until it does, what "
	"runs goes on, no more nodes are released, and only what a resume call asks for is bought",
	"provider sim does not answer: connection refused (last answer 12s ago)",
	"pool pool0: provider sim does not offer type",
	"pool pool0: 2 machines were taken by the provider within an hour, the last 2m00s ago (n7: "
	"the provider took its capacity back); its jobs: \"burstctl events --node n7\"",
	"node n1 is quarantined: the provider refuses to delete instance i-n1-1, which bills on at "
	"29.52 USD/h",
	"provider sim: instance i-1 of this cluster (n9) is in no journal and was still there "
	"1m58s after its first delete",
	"2 instances were found at the providers that the journal did not know: the journal was "
	"lost, or is an older copy; they count against the limits, and cost from the start that "
	"the provider reports; unknown are the jobs for which they were bought, and the bills of "
	"instances that ended before ",
	"provider sim: instance i-x has the tag of this cluster, but its node or generation cannot "
	"be read",
	"provider sim: instance i-y has",
	"1 more instances have tags that cannot be read",
	"pool pool0: 2 nodes were refused (n[4-5]), the last 12s ago: the provider has no capacity "
	"(none in east); next try when Slurm",
	"3 jobs could not have their nodes and are to wait: the first, 7_2, until "
	"1970-01-12T13:47:10Z",
	"1 node is in doubt for over 10m (n2): the answer",
};

/* Status names one problem, WANT, or none where WANT is NULL. */
static void assert_problem(struct fixture *f, const char *want)
{
	json_t *r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	json_t *problems = json_object_get(r, "problems");

	assert_int_equal(json_array_size(problems), want != NULL);
	if (want != NULL)
		assert_string_equal(json_string_value(json_array_get(problems, 0)), want);
	json_decref(r);
}

/* It does offer it, and it is the admin who must say what it costs. */
static void test_a_provider_that_tells_no_price(void **state)
{
	struct fixture *f = start("n[1-4]");
	json_t *r;

	(void)state;
	f->e.price = LADDER_UNPRICED;
	r = ask_as(f, &viewer, "{\"v\":1,\"op\":\"status\"}");
	assert_string_equal(json_string_value(json_array_get(json_object_get(r, "problems"), 0)),
			    "pool pool0: provider sim publishes no prices of on-demand instances "
			    "in USD: set \"price\"; nothing can be bought for the pool");
	json_decref(r);
	stop(f);
}

/* A provider may answer all but that, for good, and then nothing is bought. */
static void test_a_price_that_is_never_told(void **state)
{
	struct fixture *f = start("n[1-4]");

	(void)state;
	f->e.price = 0;
	f->e.started_ms = FAKE_NOW - 300000;
	assert_problem(f, NULL);
	f->e.started_ms = FAKE_NOW - 301000;
	assert_problem(f,
		       "pool pool0: the price of 8xh100 (on-demand) is not known: provider sim "
		       "has sent no quotes since burstd started 5m01s ago; nothing is bought for "
		       "the pool until it does, or \"price\" is set");
	f->e.price = 1;
	assert_problem(f, NULL);
	stop(f);
}

/* On demand a day, spot an hour: a spot price moves several times a day. */
static void test_a_price_that_is_old(void **state)
{
	static const struct {
		int64_t age_ms;
		bool spot;
		const char *want;
	} rows[] = {
		{0, false, NULL},
		{24 * 3600000, false, NULL},
		{24 * 3600000 + 1000, false,
		 "pool pool0: the price of 8xh100 (on-demand) is 1d00h old: provider sim has "
		 "sent no quotes since; burstd buys and counts at that price until it does"},
		{3600000, true, NULL},
		{3601000, true,
		 "pool pool0: the price of 8xh100 (spot) is 1h00m old: provider sim has sent "
		 "no quotes since; burstd buys and counts at that price until it does"},
	};
	struct fixture *f = start("n[1-4]");

	(void)state;
	f->e.price = FMT_NANO;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f->e.conf->pools[0].own.market = rows[i].spot ? PROVIDER_SPOT : PROVIDER_ON_DEMAND;
		f->e.price_age = rows[i].age_ms;
		assert_problem(f, rows[i].want);
	}
	stop(f);
}

/* ADR 72: what stopped it, and what is bought now. */
static void test_a_new_image_that_was_stopped(void **state)
{
	static const char *const lists[] = {"n[1-4]", "m[1-4]"};
	struct fixture *f = start_pools(lists, 2);

	(void)state;
	f->e.price = FMT_NANO;
	f->e.roll = (struct roll){
		.stage = ROLL_STOPPED, .old = "ami-1", .next = "ami-2", .why = "m1 is down"};
	assert_problem(f, "pool pool1: its new image ami-2 was stopped: m1 is down; it buys with "
			  "ami-1");
	f->e.roll = (struct roll){.stage = ROLL_STOPPED, .next = "ami-2", .by = "root"};
	assert_problem(f, "pool pool1: its new image ami-2 was stopped, ordered by root; it buys "
			  "with the provider's");
	f->e.roll.stage = ROLL_CANARY;
	assert_problem(f, NULL);
	stop(f);
}

static void test_problems(void **state)
{
	static const char *const unreadable[] = {"i-x", "i-y", NULL};
	struct fixture *f = start("n[1-9]");
	struct fleet_node *fn;
	struct node n;
	json_t *r, *problems;

	(void)state;
	f->e.slurm.error = "scontrol: timed out";
	f->e.provider.error = "connection refused";
	f->e.price = -1;
	f->e.losses = (struct engine_losses){2, FAKE_NOW - 120000, NODE_BECAUSE_RECLAIMED,
					     "n7"}; /* F41 */
	f->e.unreadable = unreadable;
	f->e.counters.strays = 2;
	f->e.counters.unreadable = 3; /* one of them is not remembered */
	(void)fake_node(&f->e, "n1", 1, NODE_QUARANTINED);
	fn = fake_node(&f->e, "n2", 1, NODE_INDOUBT);
	n = fn->n;
	n.since_ms = FAKE_NOW - 600001;
	fleet_set(&f->e.fleet, fn, &n);
	(void)fake_node(&f->e, "n3", 1, NODE_INDOUBT); /* young: not a problem yet */
	f->e.nstrays = 2;
	f->e.tried_ms = FAKE_NOW - 120000;
	f->e.npostponed = 3;
	f->e.postponed = (struct engine_postponed){"7_2", 2, FAKE_NOW + 30000};
	fake_refuse(&f->e, "n4", 0, "none in east");
	fake_refuse(&f->e, "n5", 0, "none in east");
	fleet_name(&f->e.fleet, "n4", 0)->refused_ms -= 100000; /* the last counts */
	(void)fake_node(&f->e, "n6", 1, NODE_READY);
	fake_refuse(&f->e, "n6", 0, "an older refusal: it was bought since");
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	problems = json_object_get(r, "problems");
	for (size_t i = 0; i < sizeof(all_problems) / sizeof(all_problems[0]); i++) {
		const char *have = json_string_value(json_array_get(problems, i));

		print_message("# %s\n", have != NULL ? have : "(none)");
		assert_non_null(have);
		assert_non_null(strstr(have, all_problems[i]));
	}
	assert_int_equal(json_array_size(problems), sizeof(all_problems) / sizeof(all_problems[0]));
	json_decref(r);
	stop(f);
}

/* F36 */
static void test_other_hardware_than_slurm_conf_has_is_told(void **state)
{
	struct learned l = {
		.v = {{.pool = "p", .node = "n1", .has = {.cpus = 8, .memory_mb = 16000}},
		      {.pool = "gone", .has = {.cpus = 8, .memory_mb = 16000}}},
		.n = 2};
	struct fixture *f = start("n[1-2]");
	char *had = f->e.conf->pools[0].node;

	(void)state;
	(void)snprintf(l.v[0].pool, sizeof(l.v[0].pool), "%s", f->e.conf->pools[0].name);
	f->e.learned = &l;
	f->e.conf->pools[0].node = NULL;
	assert_problem(f, NULL);
	f->e.conf->pools[0].node = (char[]){"CPUs=8 RealMemory=15000"};
	assert_problem(f, NULL);
	f->e.conf->pools[0].node = (char[]){"CPUs=4 RealMemory=15000"};
	(void)snprintf(l.v[0].offer, sizeof(l.v[0].offer), "spot");
	assert_problem(
		f, "pool pool0, offer spot: its machines have CPUs=8 RealMemory=16000 (n1), and "
		   "slurm.conf "
		   "has CPUs=4 RealMemory=15000 of them: write node = \"CPUs=8 RealMemory=15840\", "
		   "and then \"burstctl slurm-conf --write\"");
	f->e.conf->pools[0].removed = true;
	assert_problem(f, NULL);
	f->e.conf->pools[0].removed = false;
	f->e.conf->pools[0].node = had;
	stop(f);
}

static void undeleted_since(struct engine *e, const char *name, int64_t ago_ms, bool accepted)
{
	struct fleet_node *fn = fake_node(e, name, 1, NODE_DELETING);
	struct node n = fn->n;

	n.since_ms = FAKE_NOW - ago_ms;
	n.accepted = accepted;
	fleet_set(&e->fleet, fn, &n);
}

static void test_notices_that_fail_for_a_minute_are_told(void **state)
{
	struct fixture *f = start("n[1-2]");

	(void)state;
	f->e.unheard_ms = FAKE_NOW - 59999; /* a moment's failure */
	assert_problem(f, NULL);
	f->e.unheard_ms = FAKE_NOW - 120000;
	assert_problem(f,
		       "provider sim: its notices could not be read for 2m00s: the queue does not "
		       "exist; until they can be, a reclaim is seen only after it has happened");
	stop(f);
}

/* Else nobody would hear of it: without problems all that has answered is well. */
static void test_settings_that_are_not_known_are_told(void **state)
{
	struct fixture *f = start("n[1-2]");

	(void)state;
	f->e.prereq_error = "scontrol show config failed";
	assert_problem(f, "slurm.conf is not checked: scontrol show config failed; slurmctld is "
			  "asked again each minute");
	f->e.slurm.error = "scontrol: timed out"; /* which says enough */
	assert_problem(f, "slurmctld does not answer: scontrol: timed out (last answer 1s ago); "
			  "until it does, what runs goes on, no more nodes are released, and only "
			  "what a resume call asks for is bought");
	stop(f);
}

static void test_a_wrong_clock_is_told(void **state)
{
	static const struct {
		int64_t ahead_ms;
		const char *want;
	} rows[] = {
		{59999, NULL},
		{-59999, NULL},
		{900000, "provider sim: the clock here is 15m00s ahead of the provider's; until it "
			 "is set, machines may not come up, and bills are wrong by as much"},
		{-60000, "provider sim: the clock here is 1m00s behind the provider's; until it is "
			 "set, machines may not come up, and bills are wrong by as much"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *f = start("n[1-2]");

		f->e.ahead_ms = rows[i].ahead_ms;
		assert_problem(f, rows[i].want);
		stop(f);
	}
}

static void test_fabrics_that_stay_are_told(void **state)
{
	static const char *const want[] = {NULL,
					   "provider sim: does not delete 1 fabric that no node "
					   "needs any more: no right to delete groups",
					   "provider sim: does not delete 2 fabrics that no node "
					   "needs any more: no right to delete groups"};

	(void)state;
	for (size_t n = 0; n < sizeof(want) / sizeof(want[0]); n++) {
		struct fixture *f = start("n[1-2]");

		f->e.undropped = n;
		assert_problem(f, want[n]);
		stop(f);
	}
}

/* A drift between what slurmctld was promised and what is; with fabrics alone. */
static void test_fabrics_that_are_apart_are_told(void **state)
{
	static char fabric[] = "unit";
	struct fixture *f = start("n[1-2]");
	struct conf_pool *p = &f->e.conf->pools[0];
	json_t *r;

	(void)state;
	f->e.naparts = 1;
	assert_problem(f, "fabric f: 2 machines are 1 hop; its jobs run as they are");
	f->e.naparts = 22;
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 21);
	assert_string_equal(json_string_value(json_array_get(json_object_get(r, "problems"), 20)),
			    "the machines of 2 more fabrics are not together either");
	json_decref(r);
	f->e.naparts = 0;
	f->e.unplaced = "UnauthorizedOperation: no";
	assert_problem(f, NULL);
	p->own.in_fabric = fabric;
	assert_problem(f, "provider sim: does not say where its machines are: "
			  "UnauthorizedOperation: no; so burstd does not know whether those of a "
			  "fabric are close to each other");
	p->own.in_fabric = NULL;
	stop(f);
}

/* Whatever else the provider answers well. */
static void test_undeleted(void **state)
{
	struct fixture *f = start("n[1-5]");

	(void)state;
	f->e.undeleted = "the BMC is busy";
	undeleted_since(&f->e, "n1", 60000, false);
	undeleted_since(&f->e, "n2", 11000, false);
	undeleted_since(&f->e, "n3", 9000, false); /* young: it may be a moment's failure */
	undeleted_since(&f->e, "n4", 60000, true); /* what lacks is a list without it */
	f->e.undeleted_ms = FAKE_NOW - 60001;      /* of others, which are gone by now */
	assert_problem(f, NULL);
	undeleted_since(&f->e, "n5", 60000, false); /* and was bought anew since */
	(void)fake_node(&f->e, "n5", 2, NODE_READY);
	f->e.undeleted_ms = FAKE_NOW - 5000;
	assert_problem(f, "provider sim: deletes fail: 3 nodes (n[1-2,5]) may bill on: the BMC is "
			  "busy; burstd retries");
	stop(f);
}

/* F55: said once, and of all pools, before everything else. */
static void test_full_disk(void **state)
{
	struct fixture *f = start("n1");
	json_t *r, *problems;

	(void)state;
	f->e.conf->state_dir = mem_strdup("/var/lib/burstd");
	f->e.slurm.error = "scontrol: timed out";
	f->e.room = (struct journal_room){.free_bytes = (12 << 20) + 5, .low = true};
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	problems = json_object_get(r, "problems");
	assert_int_equal(json_array_size(problems), 2);
	assert_string_equal(json_string_value(json_array_get(problems, 0)),
			    "disk full: 12 MiB are free in /var/lib/burstd; nothing is bought "
			    "until there is more, deletes go on");
	json_decref(r);
	stop(f);
}

/* An instance that nobody can delete bills on, and is no node that `nodes` could show. */
static void test_strays(void **state)
{
	struct fixture *f = start("n[1-9]");
	static const struct {
		size_t n;
		int64_t tried_ms;
		size_t said;
		bool leaves;
	} cases[] = {
		{0, 0, 0, false},
		{5, 0, 0, false},
		/* the list began 2 s ago: what happened since it does not show */
		{5, FAKE_NOW - 62000, 0, false},
		{5, FAKE_NOW - 62001, 4, false},
		{5, FAKE_NOW - 62001, 3, true},
		{30, 1, 21, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *r, *problems;

		f->e.nstrays = cases[i].n;
		f->e.tried_ms = cases[i].tried_ms;
		f->e.leaves = cases[i].leaves;
		r = ask(f, "{\"v\":1,\"op\":\"status\"}");
		problems = json_object_get(r, "problems");
		assert_int_equal(json_array_size(problems), cases[i].said);
		if (cases[i].said == 21)
			assert_string_equal(json_string_value(json_array_get(problems, 20)),
					    "9 more such instances stay");
		json_decref(r);
	}
	stop(f);
}

/* I18: a job may be at work on it, so burstd leaves it alone, and somebody must say what it is. */
static void test_a_stray_of_a_node_that_is_up(void **state)
{
	struct fixture *f = start("n[1-9]");

	(void)state;
	f->e.nstrays = 1;
	f->e.stray_up = true;
	assert_problem(f, "provider sim: instance i-0 of this cluster is in no journal, and "
			  "slurmctld has its node n9 up, which no pool names: it is left alone and "
			  "may bill; put its pool back into the configuration, or power the node "
			  "down");
	stop(f);
}

/* F55: a hook that can leave its call nowhere says so to slurmctld alone, which does not care. */
static void test_a_spool_that_cannot_be_read(void **state)
{
	struct fixture *f = start("n1");

	(void)state;
	f->e.spool_note = "is in memory";
	assert_problem(f, NULL);
	f->e.spool_error = "/var/spool/burstd: No such file or directory";
	assert_problem(f, "calls of slurmctld may be lost: the spool, /var/spool/burstd: No such "
			  "file or directory; until that is mended only what slurmctld's nodes "
			  "show is bought, up to half a minute later");
	stop(f);
}

/* Silence is a problem only when burstd has run for a while without a first answer. */
static void test_never_answered(void **state)
{
	struct fixture *f = start("n1");
	json_t *r;

	(void)state;
	f->e.slurm.ok_ms = 0;
	r = ask(f, "{\"v\":1,\"op\":\"status\"}");
	assert_int_equal(json_array_size(json_object_get(r, "problems")), 1);
	assert_non_null(strstr(json_string_value(json_array_get(json_object_get(r, "problems"), 0)),
			       "slurmctld has not answered since burstd started"));
	assert_true(json_is_false(json_object_get(json_object_get(r, "slurm"), "ok")));
	json_decref(r);
	stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_provider_that_tells_no_price),
		cmocka_unit_test(test_a_price_that_is_old),
		cmocka_unit_test(test_a_price_that_is_never_told),
		cmocka_unit_test(test_a_new_image_that_was_stopped),
		cmocka_unit_test(test_problems),
		cmocka_unit_test(test_other_hardware_than_slurm_conf_has_is_told),
		cmocka_unit_test(test_notices_that_fail_for_a_minute_are_told),
		cmocka_unit_test(test_settings_that_are_not_known_are_told),
		cmocka_unit_test(test_a_wrong_clock_is_told),
		cmocka_unit_test(test_fabrics_that_stay_are_told),
		cmocka_unit_test(test_fabrics_that_are_apart_are_told),
		cmocka_unit_test(test_undeleted),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_strays),
		cmocka_unit_test(test_a_stray_of_a_node_that_is_up),
		cmocka_unit_test(test_a_spool_that_cannot_be_read),
		cmocka_unit_test(test_never_answered),
	};

	return cmocka_run_group_tests_name("problems", tests, NULL, NULL);
}
