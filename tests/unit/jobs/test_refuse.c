/* test_refuse.c - which nodes go back to slurmctld with a refused one, and which jobs are told.
 *
 * On a bare struct engine: squeue's answer is the test's, and its clock goes on with every look at
 * it, as a real one does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "jobs/jobs.h"
#include "tests/unit/engine/bare_state.h"

enum {
	UP = SLURM_KNOWN | SLURM_CLOUD | SLURM_ALLOCATED,
	BOOTING = UP | SLURM_POWERING_UP | SLURM_NOT_RESPONDING,
};

static struct fix {
	struct engine e;
	int64_t now;
	struct conf conf;
	struct conf_pool pool;
	uint32_t refusals;        /* of every job, so far */
	bool probed;              /* one purchase is tried in the pool */
	enum node_reason reason;  /* of the last that was released */
	int64_t last_ms;          /* of those */
	int64_t after_ms;         /* the last that was told waits at least so long */
	int64_t sold_ms;          /* when others got something there */
	bool passed_over;         /* the last that was told ... */
	struct postpone_why last; /* ... and all of that */
	bool lasting;             /* the last that was told waits a day ... */
	char why[160];            /* ... for this */
	char said[300];           /* to srun */
	char forced[100], released[100], told[100], events[100], heard[100];
} F;

int64_t engine_now(const struct engine *e)
{
	(void)e;
	return F.now++;
}

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_REFUSE);
}

static void note(char *to, size_t size, const char *word)
{
	size_t n = strlen(to);

	(void)snprintf(to + n, size - n, "%s ", word);
}

void rescue_power_down(struct engine *e, struct fleet_name *nm, bool dead, const char *why)
{
	assert_false(dead);
	assert_string_equal(why, "burstd: none left");
	nm->forced_ms = engine_now(e);
	note(F.forced, sizeof(F.forced), nm->name);
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	(void)e;
	assert_int_equal(ev->type, NODE_EV_RELEASE);
	note(F.released, sizeof(F.released), fn->n.name);
	F.reason = ev->reason;
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	assert_string_equal(type, "sent-back"); /* by its provider it is `refused`: fold.c */
	assert_string_equal(detail, "none left");
	note(F.events, sizeof(F.events), node);
}

/* Who waits at a terminal hears it before the job is sent back. */
void srun_tell(struct engine *e, uint64_t job, const char *text)
{
	char number[24];

	(void)e;
	assert_string_equal(F.forced, "");
	(void)snprintf(F.said, sizeof(F.said), "%s", text);
	(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)job);
	note(F.heard, sizeof(F.heard), number);
}

void postpone_job(struct engine *e, const struct slurm_job *j, const struct postpone_why *why)
{
	(void)e;
	F.lasting = why->hint.lasting;
	F.passed_over = why->passed_over;
	F.last = *why;
	F.after_ms = why->hint.not_before_ms == 0 ? 0 : why->hint.not_before_ms - F.now;
	(void)snprintf(F.why, sizeof(F.why), "%s", why->text);
	note(F.told, sizeof(F.told), j->id);
}

bool cloud_sold_since(const struct engine *e, uint32_t pool, uint64_t job, int64_t since_ms)
{
	(void)e;
	assert_int_equal(job, 7);
	assert_int_equal(pool, 0);
	return F.sold_ms > since_ms;
}

bool engine_on_trial(const struct engine *e, uint32_t i)
{
	(void)e;
	assert_int_equal(i, 0);
	return F.probed;
}

struct refusal postpone_look(const struct engine *e, uint64_t job)
{
	(void)e;
	assert_int_equal(job, 7);
	return (struct refusal){.count = F.refusals, .last_ms = F.last_ms};
}

static int setup(void **state)
{
	(void)state;
	F = (struct fix){.now = 1000000};
	bare_state(&F.e);
	F.conf = (struct conf){.pools = &F.pool, .npools = 1};
	F.e.conf = &F.conf;
	fleet_init(&F.e.fleet, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fleet_fini(&F.e.fleet);
	return 0;
}

static struct fleet_name *add(const char *name, enum node_state state, uint32_t flags)
{
	struct fleet_name *nm = fleet_name(&F.e.fleet, name, 0);
	struct node n;

	node_init(&n, name, 1, 0);
	n.state = state;
	(void)fleet_add(&F.e.fleet, &n);
	nm->flags = flags;
	return nm;
}

static void squeue(const char *text)
{
	refuse_part.squeue_says(&F.e, text, strlen(text), NULL);
}

/* The gang of a refused node goes with it, in one pass, and its job waits. */
static void test_gang(void **state)
{
	(void)state;
	refuse_mark(&F.e, add("c1", NODE_GONE, BOOTING), NODE_BECAUSE_CAPACITY, "none left");
	(void)add("c2", NODE_BOOTING, BOOTING);
	(void)add("c3", NODE_BOOTING, BOOTING);
	squeue("7|7|CONFIGURING|gpu||c[1-2]\n8|8|CONFIGURING|gpu||c3\n");
	assert_string_equal(F.forced, "c1 c2 ");
	assert_string_equal(F.released, "c2 ");
	assert_string_equal(F.told, "7 ");
	assert_string_equal(F.heard, "7 ");
	assert_string_equal(
		F.said,
		"burstd: none left; the job ends: only sbatch jobs are requeued and tried again");
	assert_string_equal(F.events, "c1 c2 ");
	F.heard[0] = F.forced[0] = '\0';
	squeue("7|7|CONFIGURING|gpu||c[1-2]\n8|8|CONFIGURING|gpu||c3\n");
	assert_string_equal(F.heard, ""); /* it was sent back a moment ago */
	assert_string_equal(F.forced, "");
}

/* ADR 48: it was refused at 500 000, and now it is 1 000 000. */
static void test_a_large_job_is_passed_over_where_others_were_served(void **state)
{
	static const struct {
		uint32_t refusals;
		int64_t sold_ms;
		enum node_reason why;
		const char *nodes;
		bool passed;
	} rows[] = {
		{1, 600000, NODE_BECAUSE_CAPACITY, "c[1-2]", true},
		{1, 500000, NODE_BECAUSE_CAPACITY, "c[1-2]", false},
		{0, 600000, NODE_BECAUSE_CAPACITY, "c[1-2]",
		 false}, /* it asks for the first time */
		{1, 600000, NODE_BECAUSE_QUOTA, "c[1-2]", false},
		{1, 600000, NODE_BECAUSE_CAPACITY, "c1", false}, /* it takes what there is */
	};
	struct fleet_name *nm = add("c1", NODE_GONE, BOOTING);

	(void)state;
	(void)add("c2", NODE_BOOTING, BOOTING);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[80];

		print_message("# row %zu\n", i);
		F.refusals = rows[i].refusals;
		F.last_ms = rows[i].refusals > 0 ? 500000 : 0;
		F.sold_ms = rows[i].sold_ms;
		nm->forced_ms = 0;
		refuse_mark(&F.e, nm, rows[i].why, "none left");
		(void)snprintf(text, sizeof(text), "7|7|CONFIGURING|gpu||%s\n", rows[i].nodes);
		F.passed_over = !rows[i].passed;
		squeue(text);
		assert_int_equal(F.passed_over, rows[i].passed);
		assert_int_equal(F.last.reason, rows[i].why);
		fleet_unbar(nm);
		F.told[0] = F.forced[0] = F.events[0] = F.heard[0] = F.released[0] = '\0';
	}
	assert_int_equal(F.last.nodes, 1);
}

/* P8, I18: a provider that is away may have made it, and slurmctld has started a job there by the
 * time squeue is asked who waits for it. */
static void test_where_a_job_runs_what_was_in_doubt_was_made(void **state)
{
	struct fleet_name *nm = add("c1", NODE_INDOUBT, BOOTING);

	(void)state;
	refuse_mark(&F.e, nm, NODE_BECAUSE_UNREACHABLE, "none left");
	squeue("7|7|RUNNING|gpu||c1\n");
	assert_string_equal(F.forced, "");
	assert_string_equal(F.released, "");
	assert_false(nm->barred);
	/* Its prolog may wait: then a snapshot of since its create was sent says so. */
	for (int64_t i = 2; i >= 0; i--) {
		nm->flags = i == 1 ? BOOTING : UP;
		nm->newest->n.sent_ms = F.e.poll.snapshot_ms = 100;
		F.e.poll.snapshot_ms += i;
		refuse_mark(&F.e, nm, NODE_BECAUSE_UNREACHABLE, "none left");
		squeue("7|7|CONFIGURING|gpu||c1\n");
		assert_int_equal(nm->barred, i < 2);
		assert_string_equal(F.forced, i < 2 ? "c1 " : "");
	}
}

/* What another job lacks for good, and this one shares with it, keeps this one no longer than what
 * it lacks itself. */
static void test_a_day_is_waited_for_what_no_wait_can_mend(void **state)
{
	struct fleet_name *shared = add("c1", NODE_GONE, BOOTING);

	(void)state;
	shared->hint = (struct refusal_hint){.lasting = true, .not_before_ms = 5};
	refuse_mark(&F.e, shared, NODE_BECAUSE_LIMIT, "none left");
	assert_false(shared->hint.lasting); /* that was of an earlier refusal */
	assert_int_equal(shared->hint.not_before_ms, 0);
	shared->hint.lasting = true;
	(void)add("c2", NODE_BOOTING, BOOTING); /* which goes with it */
	squeue("7|7|CONFIGURING|gpu||c[1-2]\n");
	assert_true(F.lasting);
	F.forced[0] = '\0';
	shared->forced_ms = 0;
	refuse_mark(&F.e, add("c3", NODE_GONE, BOOTING), NODE_BECAUSE_LIMIT, "none left");
	shared->hint.lasting = true;
	squeue("8|8|CONFIGURING|gpu||c[1,3]\n");
	assert_false(F.lasting);
	assert_int_equal(shared->refused_for, 8);
}

/* Whoever waits at a terminal is not sent to sbatch for what no wait can mend. */
static void says_whether_a_wait_helps(bool helps)
{
	const char *end = strrchr(F.said, ';');

	assert_non_null(end);
	assert_string_equal(
		end, helps ? "; the job ends: only sbatch jobs are requeued and tried again"
			   : "; the job ends: waiting would not help, so ask for something else");
}

/* I24: what has changed since it was decided may have mended it; what is decided then counts.
 * Likewise if slurmctld was away meanwhile: the number may be another job's (F50). */
static void test_a_day_is_waited_for_what_is_so_still(void **state)
{
	struct fleet_name *nm = add("c1", NODE_GONE, BOOTING);

	(void)state;
	for (int anew = 2; anew >= 0; anew--) {
		nm->forced_ms = 0;
		refuse_mark(&F.e, nm, NODE_BECAUSE_LIMIT, "none left");
		nm->hint.lasting = true;
		if (anew == 1)
			refuse_part.at[PART_RELOAD](&F.e);
		F.e.poll.failed_ms = nm->refused_ms + anew / 2;
		F.forced[0] = '\0';
		squeue("7|7|CONFIGURING|gpu||c[1-2]\n");
		assert_int_equal(F.lasting, !anew);
		says_whether_a_wait_helps(anew > 0);
	}
}

/* I30: no machine is as both of them wish; the second tries again when the first has its node. */
static void test_who_cannot_be_had_together_tries_again_in_turn(void **state)
{
	static const struct {
		uint64_t first;
		uint32_t refusals;
		int64_t ago_ms;  /* it was refused last */
		int64_t wait_ms; /* of 8, about */
	} rows[] = {{8, 0, 0, 0}, {7, 0, 0, 60000}, {7, 1, 30000, 120000}, {7, 2, 0, 120000}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_name *nm;

		fleet_fini(&F.e.fleet);
		assert_int_equal(setup(NULL), 0);
		nm = add("c1", NODE_GONE, BOOTING);
		refuse_mark(&F.e, nm, NODE_BECAUSE_INVALID, "none left");
		nm->hint = (struct refusal_hint){.clash = true, .job = rows[i].first};
		F.refusals = rows[i].refusals;
		F.last_ms = rows[i].refusals == 0 ? 0 : F.now + 100 - rows[i].ago_ms;
		squeue("8|8|CONFIGURING|gpu||c1\n");
		assert_false(F.lasting);
		assert_in_range(F.after_ms + 100, rows[i].wait_ms, rows[i].wait_ms + 200);
	}
}

/* slurmctld may have given the node to another job meanwhile: that one may fit. */
static void test_a_day_is_waited_by_the_job_that_asked(void **state)
{
	static char name[] = "p";
	struct fleet_name *nm = add("c1", NODE_GONE, BOOTING);

	(void)state;
	F.pool.name = name;
	for (uint64_t job = 7; job <= 8; job++) {
		F.forced[0] = F.heard[0] = '\0';
		nm->forced_ms = 0;
		refuse_mark(&F.e, nm, NODE_BECAUSE_LIMIT, "none left");
		nm->hint = (struct refusal_hint){.lasting = true, .job = job};
		squeue("7|7|CONFIGURING|gpu||c1\n");
		assert_int_equal(F.lasting, job == 7);
		assert_string_equal(F.why,
				    job == 7 ? "none left"
					     : "pool p: its nodes were refused to another job");
		assert_string_equal(F.heard, "7 ");
		assert_memory_equal(F.said + strlen("burstd: "), F.why, strlen(F.why));
		says_whether_a_wait_helps(job != 7); /* it may have it without the other */
	}
}

/* What we have READY is of an earlier request, if slurmctld waits for the node to come up: it goes
 * with the gang. */
static void test_gang_with_an_old_instance(void **state)
{
	(void)state;
	refuse_mark(&F.e, add("c1", NODE_GONE, BOOTING), NODE_BECAUSE_CAPACITY, "none left");
	(void)add("c2", NODE_READY, BOOTING);
	(void)add("c3", NODE_READY, UP);
	squeue("7|7|CONFIGURING|gpu||c[1-3]\n");
	assert_string_equal(F.forced, "c1 c2 ");
}

/* Every job that is refused is told, however long it takes to send all their nodes back: a
 * millisecond passes with each. */
static void test_all_are_told(void **state)
{
	(void)state;
	refuse_mark(&F.e, add("c1", NODE_GONE, BOOTING), NODE_BECAUSE_CAPACITY, "none left");
	refuse_mark(&F.e, add("c2", NODE_GONE, BOOTING), NODE_BECAUSE_CAPACITY, "none left");
	refuse_mark(&F.e, add("c3", NODE_GONE, BOOTING), NODE_BECAUSE_CAPACITY, "none left");
	squeue("7|7|CONFIGURING|gpu||c1\n8|8|CONFIGURING|gpu||c2\n9|9|CONFIGURING|gpu||c3\n");
	assert_string_equal(F.told, "7 8 9 ");
	F.told[0] = '\0'; /* not again while slurmctld takes that in */
	squeue("7|7|CONFIGURING|gpu||c1\n8|8|CONFIGURING|gpu||c2\n9|9|CONFIGURING|gpu||c3\n");
	assert_string_equal(F.told, "");
}

/* I18: a node that two jobs share, one of which runs there or has all it needs. */
static void test_shared(void **state)
{
	static const struct {
		const char *jobs;
		uint32_t flags;
	} rows[] = {
		{"7|7|CONFIGURING|gpu||c[1-2]\n8|8|RUNNING|gpu||c2\n", BOOTING},
		{"7|7|CONFIGURING|gpu||c[1-2]\n8|8|CONFIGURING|gpu||c2\n", BOOTING},
		/* up, but we have not written that down: squeue need not show who runs there */
		{"7|7|CONFIGURING|gpu||c[1-2]\n", UP},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fleet_fini(&F.e.fleet);
		assert_int_equal(setup(NULL), 0);
		refuse_mark(&F.e, add("c1", NODE_GONE, BOOTING), NODE_BECAUSE_CAPACITY,
			    "none left");
		(void)add("c2", NODE_BOOTING, rows[i].flags);
		squeue(rows[i].jobs);
		assert_string_equal(F.forced, "c1 ");
		assert_string_equal(F.released, "");
		assert_string_equal(F.told, "7 ");
	}
}

/* I16: a machine is to be taken away just as it comes up, and its job runs there before a snapshot
 * says so.  It goes as any other that is up: its job has its time, and is written down. */
static void test_where_a_job_runs_the_node_is_up(void **state)
{
	static const struct {
		const char *jobs;
		const char *instance, *forced;
		enum node_state state;
	} rows[] = {
		{"7|7|RUNNING|gpu||c1\n", "i-1", "", NODE_DRAINING},
		{"7|7|SUSPENDED|gpu||c1\n", "i-1", "", NODE_DRAINING},
		{"7|7|RUNNING|gpu||c1\n8|8|CONFIGURING|gpu||c1\n", "i-1", "", NODE_DRAINING},
		{"7|7|CONFIGURING|gpu||c1\n", "i-1", "c1 ", NODE_DRAINING},
		{"7|7|COMPLETING|gpu||c1\n", "i-1", "c1 ", NODE_DRAINING},
		{"7|7|RUNNING|gpu||c1\n", "i-1", "c1 ", NODE_DELETING}, /* too late */
		{"7|7|RUNNING|gpu||c1\n", "", "c1 ", NODE_INDOUBT},
		{"", "i-1", "c1 ", NODE_DRAINING},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_name *nm;

		fleet_fini(&F.e.fleet);
		assert_int_equal(setup(NULL), 0);
		nm = add("c1", rows[i].state, BOOTING);
		(void)snprintf(nm->newest->n.instance, sizeof(nm->newest->n.instance), "%s",
			       rows[i].instance);
		refuse_mark(&F.e, nm, NODE_BECAUSE_RECLAIMED, "none left");
		squeue(rows[i].jobs);
		assert_string_equal(F.forced, rows[i].forced);
		assert_int_equal(nm->barred, rows[i].forced[0] != '\0');
		if (rows[i].forced[0] == '\0')
			assert_string_equal(F.heard, "");
	}
}

/* I16: what goes though a job has begun there has come up since the last snapshot: that job is
 * followed (rescue.c). */
static void test_a_job_that_has_begun_says_that_its_node_is_up(void **state)
{
	static const struct {
		const char *jobs;
		bool up;
	} rows[] = {
		{"7|7|RUNNING|gpu||c[1-2]\n", true},
		{"7|7|SUSPENDED|gpu||c1\n", true},
		{"7|7|CONFIGURING|gpu||c1\n8|8|RUNNING|gpu||c1\n", true},
		{"7|7|CONFIGURING|gpu||c1\n8|8|RUNNING|gpu||c2\n", false},
		{"7|7|COMPLETING|gpu||c1\n", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fleet_name *nm;

		fleet_fini(&F.e.fleet);
		assert_int_equal(setup(NULL), 0);
		nm = add("c1", NODE_DELETING, BOOTING);
		refuse_mark(&F.e, nm, NODE_BECAUSE_BREACH, "none left");
		assert_int_equal(add("c2", NODE_READY, BOOTING)->flags, BOOTING);
		squeue(rows[i].jobs);
		assert_string_equal(F.forced, "c1 ");
		assert_int_equal(fleet_may_work(nm), rows[i].up);
		assert_int_equal(fleet_find(&F.e.fleet, "c2")->flags, BOOTING);
	}
}

/* What came for a job stays, once: nobody knows that it will ever have the rest. */
static void test_best_effort_keeps_what_came_until_the_second_refusal(void **state)
{
	(void)state;
	for (F.refusals = 0; F.refusals < 2; F.refusals++) {
		uint32_t refusals = F.refusals;

		fleet_fini(&F.e.fleet);
		assert_int_equal(setup(NULL), 0);
		F.refusals = refusals;
		F.pool.gang = CONF_BEST_EFFORT;
		refuse_mark(&F.e, add("c1", NODE_GONE, BOOTING), NODE_BECAUSE_CAPACITY,
			    "none left");
		(void)add("c2", NODE_BOOTING, BOOTING);
		(void)add("c3", NODE_WANTED, BOOTING); /* not bought yet, and not now */
		squeue("7|7|CONFIGURING|gpu||c[1-3]\n");
		assert_string_equal(F.forced, refusals == 0 ? "c1 c3 " : "c1 c2 c3 ");
		assert_string_equal(F.released, refusals == 0 ? "c3 " : "c2 c3 ");
		assert_string_equal(F.told, "7 ");
	}
}

/* F36: one that was bought for nobody, or for a job that waits again, is all that its pool tries. A
 * job that is given it lacks the others for as long as it is tried, and does not take it along. */
static void test_what_is_tried_for_nobody_stays(void **state)
{
	static const struct {
		bool probed;
		uint64_t job;
		enum node_state state;
		const char *released;
	} rows[] = {
		{true, 0, NODE_CREATING, ""},   {true, 0, NODE_BOOTING, ""},
		{true, 0, NODE_WANTED, "c2 "},  {false, 0, NODE_BOOTING, "c2 "},
		{true, 7, NODE_BOOTING, "c2 "}, {true, 8, NODE_BOOTING, ""},
		{true, 8, NODE_WANTED, "c2 "},  {false, 8, NODE_BOOTING, "c2 "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fleet_fini(&F.e.fleet);
		assert_int_equal(setup(NULL), 0);
		F.probed = rows[i].probed;
		refuse_mark(&F.e, add("c1", NODE_GONE, BOOTING), NODE_BECAUSE_LIMIT, "none left");
		add("c2", rows[i].state, BOOTING)->newest->n.job = rows[i].job;
		squeue("7|7|CONFIGURING|gpu||c[1-2]\n");
		assert_string_equal(F.released, rows[i].released);
		assert_string_equal(F.forced, rows[i].released[0] != '\0' ? "c1 c2 " : "c1 ");
		assert_string_equal(F.told, "7 ");
	}
}

/* What the job lacks is said once, with the cause: that a mate of the bad one goes with the job
 * says nothing more, and takes nothing back. */
static void test_who_goes_with_its_job_keeps_the_cause(void **state)
{
	struct fleet_name *nm = add("c2", NODE_BOOTING, BOOTING);

	(void)state;
	refuse_mark(&F.e, add("c1", NODE_DELETING, BOOTING), NODE_BECAUSE_BOOT, "none left");
	squeue("7|7|CONFIGURING|gpu||c[1-2]\n");
	assert_string_equal(nm->why, "none left");
	refuse_mark(&F.e, nm, NODE_BECAUSE_GANG, NULL); /* as its row has ended for that */
	assert_string_equal(nm->why, "none left");
	assert_int_equal(nm->refused, NODE_BECAUSE_BOOT);
}

/* F10, F36: that a machine did not come up counts against it and its pool; the others of its job go
 * with it, and none of them rests for that. */
static void test_who_goes_with_its_job_has_not_failed(void **state)
{
	static const enum node_reason rows[][2] = {{NODE_BECAUSE_STOPPED, NODE_BECAUSE_GANG},
						   {NODE_BECAUSE_BOOT, NODE_BECAUSE_GANG},
						   {NODE_BECAUSE_INIT, NODE_BECAUSE_GANG},
						   {NODE_BECAUSE_BREACH, NODE_BECAUSE_GANG},
						   {NODE_BECAUSE_RECLAIMED, NODE_BECAUSE_GANG},
						   {NODE_BECAUSE_MAINTENANCE, NODE_BECAUSE_GANG},
						   {NODE_BECAUSE_FAULTY, NODE_BECAUSE_GANG},
						   {NODE_BECAUSE_CAPACITY, NODE_BECAUSE_CAPACITY}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fleet_fini(&F.e.fleet);
		assert_int_equal(setup(NULL), 0);
		refuse_mark(&F.e, add("c1", NODE_DELETING, BOOTING), rows[i][0], "none left");
		(void)add("c2", NODE_BOOTING, BOOTING);
		squeue("7|7|CONFIGURING|gpu||c[1-2]\n");
		assert_string_equal(F.released, "c2 ");
		assert_int_equal(F.reason, rows[i][1]);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_gang),
		TEST(test_a_large_job_is_passed_over_where_others_were_served),
		TEST(test_a_day_is_waited_for_what_no_wait_can_mend),
		TEST(test_a_day_is_waited_for_what_is_so_still),
		TEST(test_a_day_is_waited_by_the_job_that_asked),
		TEST(test_gang_with_an_old_instance),
		TEST(test_who_cannot_be_had_together_tries_again_in_turn),
		TEST(test_all_are_told),
		TEST(test_shared),
		TEST(test_where_a_job_runs_the_node_is_up),
		TEST(test_a_job_that_has_begun_says_that_its_node_is_up),
		TEST(test_where_a_job_runs_what_was_in_doubt_was_made),
		TEST(test_best_effort_keeps_what_came_until_the_second_refusal),
		TEST(test_what_is_tried_for_nobody_stays),
		TEST(test_who_goes_with_its_job_keeps_the_cause),
		TEST(test_who_goes_with_its_job_has_not_failed),
	};

	return cmocka_run_group_tests_name("refuse", tests, NULL, NULL);
}
