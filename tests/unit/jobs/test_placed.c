/* test_placed.c - the comment of a running job says how far from each other its nodes are, once,
 * and only where nobody else has written.
 *
 * On a bare struct engine: slurmctld and squeue are the test's. */
#include "cloud/cloud.h"
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_pool pools[2];
	bool wanted, coming;
	unsigned looks;
	bool full;        /* slurmctld takes no more orders */
	char orders[400]; /* "JOB text;" each */
} F;

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_PLACED);
	F.coming = true;
	F.looks++;
}

bool jobs_coming(const struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_PLACED);
	return F.coming;
}

bool slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, int64_t begin_ms,
		    const char *comment)
{
	(void)s;
	assert_int_equal(wait_ms, 0);
	assert_int_equal(begin_ms, 0);
	if (F.full)
		return false;
	add(F.orders, sizeof(F.orders), job, " ", comment);
	add(F.orders, sizeof(F.orders), ";", "", "");
	return true;
}

static char h100[] = "h100", cpu[] = "cpu", unit[] = "unit", none[] = "";

static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN, .question = SLURM_PLACED};
	F = (struct fix){.wanted = false};
	bare_state(&F.e);
	F.pools[0] = (struct conf_pool){.name = h100, .own = {.name = none, .in_fabric = unit}};
	F.pools[1] = (struct conf_pool){.name = cpu, .own = {.name = none}};
	F.conf = (struct conf){.pools = F.pools, .npools = 2};
	F.e.conf = &F.conf;
	fleet_init(&F.e.fleet, 2);
	job_table_part.at[PART_INIT](&F.e);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	job_table_part.at[PART_FREE](&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* path NULL: nobody has said yet where it is. */
static struct fleet_node *up(const char *node, uint32_t pool, const char *path)
{
	struct fleet_node *fn;
	struct node n;

	(void)fleet_name(&F.e.fleet, node, pool);
	node_init(&n, node, 3, BEGAN);
	n.pool = pool;
	n.state = NODE_READY;
	fn = fleet_add(&F.e.fleet, &n);
	fn->path = path != NULL ? mem_strdup(path) : NULL;
	F.e.cloud->located += path != NULL && path[0] != '\0';
	return fn;
}

static void run(int64_t later_ms)
{
	W.now += later_ms;
	placed_part.at[PART_RUN](&F.e);
}

/* squeue shows these jobs. */
static void shows(const char *text)
{
	F.coming = false;
	placed_part.squeue_says(&F.e, text, strlen(text), NULL);
}

/* The answer about the comment of job 7. */
static void says(const char *state_word, const char *comment)
{
	const char *line = detail("7", state_word, "1", "N/A", comment);

	placed_details(&F.e, line, strlen(line), NULL);
}

static void ordered(const char *want)
{
	assert_string_equal(F.orders, want);
	F.orders[0] = '\0';
}

#define RUNS "7|7|RUNNING|gpu|None|c[1-2]\n"

static void test_a_job_is_told_how_close_together_it_is_once(void **state)
{
	(void)state;
	run(0);
	assert_int_equal(F.looks, 0); /* no provider says where machines are */
	(void)up("c1", 0, "z/s/b1");
	(void)up("c2", 0, "z/s/b2");
	run(0);
	assert_int_equal(F.looks, 1);
	shows(RUNS "8|8|RUNNING|gpu|None|c1\n");
	run(0);
	assert_string_equal(W.asked, "7");
	says("RUNNING", "");
	ordered("7 burstd: placed: 2 nodes 1 hop from each other;");
	for (int i = 0; i < 10; i++) {
		run(60000);
		shows(RUNS);
	}
	assert_int_equal(W.nasked, 1);
	ordered("");
	assert_int_equal(F.looks, 11);
	shows(""); /* it was requeued, and runs again elsewhere */
	(void)up("c3", 0, "z/s/b2");
	shows("7|7|RUNNING|gpu|None|c[2-3]\n");
	run(0);
	says("RUNNING", "burstd: placed: 2 nodes 1 hop from each other");
	ordered("7 burstd: placed: 2 nodes below one switch;");
}

/* The task of an array by the id that updates only that one. */
static void test_who_is_told(void **state)
{
	static const struct {
		const char *job;
		bool told;
	} rows[] = {
		{"7|5_2|RUNNING|gpu|None|c[1-2]\n", true},
		{"7|7|RUNNING|gpu|None|c1,c2\n", true},
		{"7|7|RUNNING|gpu|None|c1\n", false}, /* it has nobody to be far from */
		{"7|7|RUNNING|gpu|None|c[1]\n", false},
		{"7|7|CONFIGURING|gpu|None|c[1-2]\n", false}, /* its nodes may still change */
		{"7|7|COMPLETING|gpu|None|c[1-2]\n", false},
		{"7|7|PENDING|gpu|None|\n", false},
		{"7|7|RUNNING|gpu|None|c[1-3]\n", false},   /* c3: its provider does not say */
		{"7|7|RUNNING|gpu|None|c[1-2,4]\n", false}, /* c4: nobody has said yet */
		{"7|7|RUNNING|gpu|None|c[1-2,5]\n", false}, /* c5: not up */
		{"7|7|RUNNING|gpu|None|c[1-2],own1\n", false},
		{"7|7|RUNNING|gpu|None|d[1-2]\n", false}, /* no fabric: nobody promised anything */
		{"7|7|RUNNING|gpu|None|c1,d1\n", true},
		{"7|7|RUNNING|gpu|None|c[1-2\n", false},
	};
	struct node next;
	struct fleet_node *c5;

	(void)state;
	(void)up("c1", 0, "z/b1");
	(void)up("c2", 0, "z/b1");
	(void)up("c3", 0, "");
	(void)up("c4", 0, NULL);
	c5 = up("c5", 0, "z/b1");
	(void)up("d1", 1, "z/b1");
	(void)up("d2", 1, "z/b1");
	next = c5->n;
	next.state = NODE_BOOTING;
	fleet_set(&F.e.fleet, c5, &next);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned before = W.nasked;

		shows("");
		shows(rows[i].job);
		run(0);
		assert_int_equal(W.nasked - before, rows[i].told);
		says("RUNNING", "");
		if (i == 0)
			ordered("5_2 burstd: placed: 2 nodes below one switch;");
		F.orders[0] = '\0';
	}
}

/* What somebody else wrote stays, and so does a refusal until it is cleared. */
static void test_no_comment_of_others_is_overwritten(void **state)
{
	(void)state;
	(void)up("c1", 0, "z/b1");
	(void)up("c2", 0, "y/b1");
	shows(RUNS);
	run(0);
	says("RUNNING", "burstd: pool h100: no capacity");
	ordered("");
	run(4999);
	assert_int_equal(W.nasked, 1);
	run(1);
	assert_int_equal(W.nasked, 2);
	says("RUNNING", "");
	ordered("7 burstd: placed: 2 nodes below no common switch;");
	shows("");
	shows(RUNS);
	for (int i = 0; i < 20; i++) {
		run(5000);
		says("RUNNING", "ask me first");
	}
	assert_int_equal(W.nasked, 2 + 8); /* burstd gives up */
	ordered("");
}

static void test_an_order_that_fails_is_given_again(void **state)
{
	const struct err gone = {.code = ERR_NET, .msg = "timed out"};
	struct slurm_order o = {.verb = "postpone", .names = "6,7", .of_jobs = true};

	(void)state;
	(void)up("c1", 0, "z/b1");
	(void)up("c2", 0, "z/b1");
	shows(RUNS);
	run(0);
	run(60000);
	assert_int_equal(W.nasked, 1); /* one question at a time */
	placed_details(&F.e, NULL, 0, &gone);
	run(4999);
	assert_int_equal(W.nasked, 1);
	run(1);
	assert_int_equal(W.nasked, 2);
	says("PENDING", ""); /* it is not running now */
	ordered("");
	run(5000);
	F.full = true;
	says("RUNNING", "");
	F.full = false;
	run(5000);
	says("RUNNING", "");
	ordered("7 burstd: placed: 2 nodes below one switch;");
	placed_told(&F.e, &o, NULL);
	o.verb = "requeue";
	placed_told(&F.e, &o, &gone);
	o.verb = "postpone";
	o.names = "77,6";
	placed_told(&F.e, &o, &gone);
	run(60000);
	assert_int_equal(W.nasked, 4);
	o.names = "6,7";
	placed_told(&F.e, &o, &gone);
	run(4999);
	assert_int_equal(W.nasked, 4);
	run(1);
	says("RUNNING", "");
	ordered("7 burstd: placed: 2 nodes below one switch;");
}

/* Each minute; sooner when more machines were located; and never as fast as it can. */
static void test_how_often_it_looks(void **state)
{
	const struct err gone = {.code = ERR_NET, .msg = "timed out"};

	(void)state;
	(void)up("c1", 0, "z/b1");
	run(0);
	assert_int_equal(F.looks, 1);
	assert_true(placed_part.next_ms(&F.e) == INT64_MAX);
	F.coming = false;
	placed_part.squeue_says(&F.e, NULL, 0, &gone);
	assert_true(placed_part.next_ms(&F.e) == W.now + 60000);
	run(59999);
	assert_int_equal(F.looks, 1);
	run(1);
	assert_int_equal(F.looks, 2);
	shows("");
	(void)up("c2", 0, "z/b1");
	assert_true(placed_part.next_ms(&F.e) == W.now + 10000);
	run(9999);
	assert_int_equal(F.looks, 2);
	run(1);
	assert_int_equal(F.looks, 3);
	run(60000); /* no answer yet */
	assert_int_equal(F.looks, 3);
	shows(RUNS);
	assert_true(placed_part.next_ms(&F.e) <= W.now); /* the comment */
	run(0);
	assert_true(placed_part.next_ms(&F.e) == W.now + 60000);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_a_job_is_told_how_close_together_it_is_once),
		T(test_who_is_told),
		T(test_no_comment_of_others_is_overwritten),
		T(test_an_order_that_fails_is_given_again),
		T(test_how_often_it_looks),
	};
#undef T

	return cmocka_run_group_tests_name("placed", tests, NULL, NULL);
}
