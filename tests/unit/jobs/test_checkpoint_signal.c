/* test_checkpoint_signal.c - who is told to save his work, and when: once the job's own node is
 * fenced, by a signal that waits for nobody's command.
 *
 * On a bare struct engine: the clock, the commands and slurmctld are the test's. */
#include "tests/unit/engine/bare_engine.h"

#include "io/proc.h"
#include "jobs/jobs.h"
#include "store/journal_audit.h"
#include "tests/unit/engine/bare_state.h"

enum { JOBS = 20 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_pool pool;
	struct rescue jobs[JOBS];
	char signals[400]; /* whom, one behind the other */
	unsigned nsignals, ncommands;
	bool full; /* too many orders wait for slurmctld */
	proc_done_fn done[JOBS];
	void *ctx[JOBS];
} F;

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)node;
	(void)gen;
	(void)detail;
	assert_string_equal(type, "checkpoint-failed");
}

void engine_commit(struct engine *e)
{
	(void)e;
}

void engine_turn(struct engine *e)
{
	checkpoint_part.at[PART_RUN](e);
}

void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a)
{
	(void)tx;
	assert_string_equal(a->verb, "checkpoint");
}

void rescue_signalled(struct engine *e, struct rescue *r, const char *how)
{
	(void)e;
	(void)how;
	r->j.signal = JOURNAL_SIGNAL_SENT;
	r->telling = false;
}

void notice_plan(const struct engine *e, const struct fleet_node *fn, struct reclaim_plan *out)
{
	(void)e;
	(void)fn;
	*out = (struct reclaim_plan){.signal_ms = BEGAN, .force_ms = BEGAN + 110000};
}

void notice_fence(struct engine *e, struct fleet_name *nm, const struct node *n)
{
	(void)e;
	assert_int_equal(n->state, NODE_DRAINING);
	if (!slurm_is_on(nm->flags) || (nm->flags & SLURM_DRAIN) != 0)
		return;
	nm->fenced_ms = BEGAN;
	nm->fencing = true;
}

bool notice_signals(const struct conf_pool *p)
{
	return p->checkpoint_signal != NULL || p->checkpoint_command != NULL;
}

bool slurm_signal(struct slurm *s, const char *job, const char *signal, enum slurm_signal_to to)
{
	(void)s;
	assert_string_equal(signal, "USR1");
	assert_int_equal(to, SLURM_TO_BATCH);
	if (F.full)
		return false;
	add(F.signals, sizeof(F.signals), job, " ", "");
	F.nsignals++;
	return true;
}

int proc_run(struct proc *p, const struct proc_call *c, proc_done_fn done, void *ctx, struct err *e)
{
	(void)p;
	(void)e;
	assert_string_equal(c->argv[0], "/ck");
	F.done[F.ncommands] = done;
	F.ctx[F.ncommands++] = ctx;
	return 0;
}

/* Job 101 has n1, 102 has n2, and so on: all are to be told, and all nodes are fenced. */
static void make(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct rescue *r = &F.jobs[i];
		struct node node;

		r->j = (struct journal_rescue){
			.job = 101 + i, .gen = 1, .at_ms = BEGAN, .signal = JOURNAL_SIGNAL_DUE};
		(void)snprintf(r->j.id, sizeof(r->j.id), "%d", (int)(101 + i));
		(void)snprintf(r->j.node, sizeof(r->j.node), "n%d", (int)i + 1);
		r->in.next = i + 1 < n ? &F.jobs[i + 1] : NULL;
		fleet_name(&F.e.fleet, r->j.node, 0)->fenced_ms = BEGAN;
		node_init(&node, r->j.node, 1, BEGAN);
		node.state = NODE_DRAINING;
		(void)fleet_add(&F.e.fleet, &node);
	}
	F.e.jobs->parts[JOB_RESCUED] = F.jobs;
	F.e.poll.snapshot_ms = BEGAN;
}

static int setup(void **state)
{
	static char usr1[] = "USR1";

	(void)state;
	/* Something else always waits for slurmctld: nobody is to wait for that. */
	W = (struct world){.now = BEGAN, .settled_ms = INT64_MAX};
	memset(&F, 0, sizeof(F));
	bare_state(&F.e);
	job_table_part.at[PART_INIT](&F.e);
	F.pool.checkpoint_signal = usr1;
	F.pool.checkpoint_to = CONF_TO_BATCH;
	F.conf = (struct conf){.pools = &F.pool, .npools = 1};
	F.e.conf = &F.conf;
	fleet_init(&F.e.fleet, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	checkpoint_part.at[PART_FREE](&F.e);
	for (unsigned i = 0; i < F.ncommands; i++)
		free(F.ctx[i]);
	F.e.jobs->parts[JOB_RESCUED] = NULL;
	job_table_part.at[PART_FREE](&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void told(const char *ids, bool heard)
{
	static const struct err lost = {.code = ERR_NET,
					.msg = "Unable to contact slurm controller"};
	const struct slurm_order o = {.verb = "signal", .names = ids, .what = "USR1"};

	checkpoint_told(&F.e, &o, heard ? NULL : &lost);
}

static void test_a_signal_waits_for_the_fence_of_its_own_node_alone(void **state)
{
	(void)state;
	make(3);
	fleet_find(&F.e.fleet, "n2")->fencing = true;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "101 103 ");
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "101 103 "); /* once */
	fleet_find(&F.e.fleet, "n2")->fencing = false;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "101 103 102 ");
}

/* A job whose budget is used up is at it already: it is told nothing more for two minutes, whoever
 * wants that, and counts as told.  Not if slurmctld did not hear of it. */
static void test_a_job_that_saves_its_work_is_told_nothing_more(void **state)
{
	struct checkpoint c = {.kind = CHECKPOINT_MONEY, .job = 101, .id = "101"};

	(void)state;
	make(2);
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, c.job, c.id), CHECKPOINT_QUEUED);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "101 102 ");
	assert_int_equal(F.jobs[0].j.signal, JOURNAL_SIGNAL_SENT);
	assert_int_equal(F.jobs[1].j.signal, JOURNAL_SIGNAL_DUE);
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 102, "102"), CHECKPOINT_TOLD_IT);
	told("102", false);
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 102, "102"), CHECKPOINT_QUEUED);
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 101, "101"), CHECKPOINT_TOLD_IT);
	W.now += RECLAIM_LEAD_MS - 1;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 101, "101"), CHECKPOINT_TOLD_IT);
	W.now++;
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 101, "101"), CHECKPOINT_QUEUED);
	told_forget(&F.e, 101); /* it runs anew */
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 101, "101"), CHECKPOINT_QUEUED);
	W.now += RECLAIM_LEAD_MS;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_null(F.e.jobs->parts[JOB_TOLD]);
	F.full = true;
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 101, "101"), CHECKPOINT_SILENT);
	F.full = false;
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 101, "101"), CHECKPOINT_QUEUED);
	F.pool.checkpoint_signal = NULL;
	assert_int_equal(checkpoint_signal(&F.e, &F.pool, 101, "101"), CHECKPOINT_SILENT);
}

/* Of a notice that came before slurmctld had spoken since our start nobody knew whether there was
 * something to fence. */
static void test_a_node_that_nobody_has_fenced_is_fenced_first(void **state)
{
	struct fleet_name *up, *drained;

	(void)state;
	make(2);
	up = fleet_find(&F.e.fleet, "n1");
	drained = fleet_find(&F.e.fleet, "n2");
	up->fenced_ms = drained->fenced_ms = 0;
	F.e.poll.snapshot_ms = 0;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "");
	assert_false(up->fencing);
	F.e.poll.snapshot_ms = BEGAN;
	up->flags = SLURM_KNOWN | SLURM_ALLOCATED;
	drained->flags = SLURM_KNOWN | SLURM_ALLOCATED | SLURM_DRAIN;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "102 "); /* it is an admin's */
	assert_true(up->fencing);
	up->fencing = false; /* slurmctld has heard of it */
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "102 101 ");
}

/* ... nor was it by the fence of the machine that had the name before. */
static void test_an_older_fence_is_none(void **state)
{
	struct fleet_name *up;

	(void)state;
	make(1);
	up = fleet_find(&F.e.fleet, "n1");
	up->flags = SLURM_KNOWN | SLURM_ALLOCATED;
	up->fenced_ms = BEGAN - 1;
	up->newest->n.noticed_ms = BEGAN;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "");
	assert_true(up->fencing);
	up->fencing = false;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "101 ");
}

/* Sixteen commands run, for two minutes perhaps: that is no reason to be killed unwarned. */
static void test_no_signal_waits_for_a_command(void **state)
{
	char *command[] = {(char[]){"/ck"}, (char[]){"%j"}, NULL};
	const struct proc_reply good = {0};

	(void)state;
	F.pool.checkpoint_command = command;
	make(JOBS);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsignals, JOBS);
	assert_int_equal(F.ncommands, 16);
	told("101,117,118", true);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.ncommands, 16);
	for (unsigned i = 0; i < 4; i++) {
		F.done[i](F.ctx[i], &good, NULL);
		F.ctx[i] = NULL;
	}
	/* For each once, whether its signal was taken before or not. */
	assert_int_equal(F.ncommands, JOBS);
	assert_int_equal(F.nsignals, JOBS);
	told("102", true);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.ncommands, JOBS);
}

static void test_what_slurmctld_did_not_hear_is_said_again(void **state)
{
	char *command[] = {(char[]){"/ck"}, (char[]){"%j"}, NULL};

	(void)state;
	F.pool.checkpoint_command = command;
	make(1);
	F.full = true;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsignals, 0);
	assert_int_equal(F.ncommands, 1);
	assert_int_equal(checkpoint_part.next_ms(&F.e), BEGAN + 2000);
	F.full = false;
	W.now = BEGAN + 2000;
	checkpoint_part.at[PART_RUN](&F.e);
	told("101", false);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsignals, 1);
	W.now += 2000;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsignals, 2);
	told("101", true);
	assert_int_equal(F.jobs[0].j.signal, JOURNAL_SIGNAL_SENT);
	assert_int_equal(F.ncommands, 1); /* that has been said */
}

static void test_one_that_is_not_at_work_is_told_nothing(void **state)
{
	(void)state;
	make(2);
	F.jobs[0].waits = true;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.signals, "102 ");
	assert_int_equal(F.jobs[0].j.signal, JOURNAL_SIGNAL_DUE);
}

static void test_it_is_too_late_for_a_signal(void **state)
{
	(void)state;
	make(1);
	W.now = BEGAN + 110000;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nsignals, 0);
	assert_int_equal(F.jobs[0].j.signal, JOURNAL_SIGNAL_NONE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_signal_waits_for_the_fence_of_its_own_node_alone),
		TEST(test_a_job_that_saves_its_work_is_told_nothing_more),
		TEST(test_a_node_that_nobody_has_fenced_is_fenced_first),
		TEST(test_an_older_fence_is_none),
		TEST(test_no_signal_waits_for_a_command),
		TEST(test_what_slurmctld_did_not_hear_is_said_again),
		TEST(test_one_that_is_not_at_work_is_told_nothing),
		TEST(test_it_is_too_late_for_a_signal),
	};

	return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
