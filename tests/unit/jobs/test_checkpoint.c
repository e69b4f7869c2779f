/* test_checkpoint.c - jobs that lose their node are told to save their work: by a signal, by a
 * command of the site or by both, once, and not before their node is fenced.
 *
 * On a bare struct engine: the clock, the journal, slurmctld and the commands are the test's. */
#include "tests/unit/engine/bare_engine.h"

#include "cloud/cloud.h"
#include "io/proc.h"
#include "jobs/jobs.h"
#include "store/journal_audit.h"
#include "tests/unit/engine/bare_state.h"

#define ENDS (BEGAN + 130000) /* of the machine: so long jobs have time */
enum { JOBS = 20 };

static struct fix {
	struct engine e;
	struct conf conf;
	struct conf_pool pool;
	struct conf_provider provider;
	char *words[3];
	struct rescue jobs[JOBS];
	char story[1200]; /* what was done, in order */
	bool unheard;     /* slurmctld takes no signal now */
	struct {          /* the commands that run */
		proc_done_fn done;
		void *ctx;
	} runs[JOBS];
	size_t nruns;
	uint32_t timeout_ms;
	enum slurm_signal_to to;
	unsigned turns;
} F;

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	add(F.story, sizeof(F.story), node, " ", type);
	add(F.story, sizeof(F.story), ": ", detail, "; ");
}

void engine_commit(struct engine *e)
{
	(void)e;
	add(F.story, sizeof(F.story), "commit; ", "", "");
}

void engine_turn(struct engine *e)
{
	assert_ptr_equal(e, &F.e);
	F.turns++;
}

void journal_put_audit(struct journal_tx *tx, const struct journal_audit *a)
{
	(void)tx;
	add(F.story, sizeof(F.story), a->verb, " ", a->object);
	add(F.story, sizeof(F.story), " ", a->target, "; ");
}

void notice_fence(struct engine *e, struct fleet_name *nm, const struct node *n)
{
	(void)e;
	(void)n;
	nm->fenced_ms = BEGAN;
}

bool notice_signals(const struct conf_pool *p)
{
	return p->checkpoint_signal != NULL || p->checkpoint_command != NULL;
}

void notice_plan(const struct engine *e, const struct fleet_node *fn, struct reclaim_plan *out)
{
	(void)e;
	(void)fn;
	*out = (struct reclaim_plan){.signal_ms = BEGAN, .force_ms = ENDS};
}

void rescue_signalled(struct engine *e, struct rescue *r, const char *how)
{
	(void)e;
	r->j.signal = JOURNAL_SIGNAL_SENT;
	r->telling = false;
	add(F.story, sizeof(F.story), r->j.id, " was told by ", how);
	add(F.story, sizeof(F.story), "; ", "", "");
}

bool slurm_signal(struct slurm *s, const char *job, const char *signal, enum slurm_signal_to to)
{
	(void)s;
	F.to = to;
	add(F.story, sizeof(F.story), F.unheard ? "no " : "", signal, " to ");
	add(F.story, sizeof(F.story), job, "; ", "");
	return !F.unheard;
}

int proc_run(struct proc *p, const struct proc_call *call, proc_done_fn done, void *ctx,
	     struct err *e)
{
	(void)p;
	(void)e;
	add(F.story, sizeof(F.story), "run", "", "");
	for (size_t i = 0; call->argv[i] != NULL; i++)
		add(F.story, sizeof(F.story), " ", call->argv[i], "");
	add(F.story, sizeof(F.story), "; ", "", "");
	assert_true(F.nruns < JOBS);
	F.runs[F.nruns].done = done;
	F.runs[F.nruns++].ctx = ctx;
	F.timeout_ms = call->timeout_ms;
	return 0;
}

static char cloud[] = "cloud", no_text[] = "", usr1[] = "USR1", save[] = "/save",
	    arg[] = "%j@%n:%d%%";

/* Each job is the only one of its node, c0 to c19, and is to be told. */
static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN};
	memset(&F, 0, sizeof(F));
	bare_state(&F.e);
	job_table_part.at[PART_INIT](&F.e);
	F.words[0] = save;
	F.words[1] = arg;
	F.provider.name = cloud;
	F.pool.own = (struct conf_offer){.name = no_text, .provider = cloud};
	F.conf = (struct conf){
		.pools = &F.pool, .npools = 1, .providers = &F.provider, .nproviders = 1};
	F.e.conf = &F.conf;
	F.e.poll.snapshot_ms = BEGAN;
	fleet_init(&F.e.fleet, 1);
	for (int i = JOBS - 1; i >= 0; i--) {
		struct journal_rescue *j = &F.jobs[i].j;
		struct node n;

		*j = (struct journal_rescue){.job = 100 + (uint64_t)i,
					     .gen = 3,
					     .at_ms = BEGAN,
					     .signal = JOURNAL_SIGNAL_DUE};
		(void)snprintf(j->id, sizeof(j->id), "%d", 100 + i);
		(void)snprintf(j->node, sizeof(j->node), "c%d", i);
		node_init(&n, j->node, 3, BEGAN);
		n.state = NODE_DRAINING;
		(void)fleet_add(&F.e.fleet, &n);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	checkpoint_part.at[PART_FREE](&F.e);
	for (size_t i = 0; i < F.nruns; i++)
		if (F.runs[i].done != NULL) {
			static const struct err gone = {.code = ERR_CANCELLED, .msg = "cancelled"};

			F.runs[i].done(F.runs[i].ctx, NULL, &gone);
		}
	F.e.jobs->parts[JOB_RESCUED] = NULL;
	job_table_part.at[PART_FREE](&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* The first n jobs are there. */
static void jobs(size_t n)
{
	F.e.jobs->parts[JOB_RESCUED] = &F.jobs[0];
	for (size_t i = 0; i + 1 < n; i++)
		F.jobs[i].in.next = &F.jobs[i + 1];
}

/* A command ends. */
static void ends(size_t i, int status, const char *errors)
{
	const struct proc_reply r = {.status = status, .out = "", .errors = errors};
	proc_done_fn done = F.runs[i].done;

	F.runs[i].done = NULL;
	done(F.runs[i].ctx, &r, NULL);
}

/* slurmctld took the signal for job 100, or not. */
static void told(const char *verb, enum err_code code)
{
	const struct slurm_order o = {.verb = verb, .names = "7,100", .what = "USR1"};
	const struct err err = {.code = (int)code, .msg = "scancel"};

	checkpoint_told(&F.e, &o, code != 0 ? &err : NULL);
}

static void test_no_job_is_told_before_its_node_is_fenced(void **state)
{
	(void)state;
	F.pool.checkpoint_signal = usr1;
	jobs(1);
	fleet_find(&F.e.fleet, "c0")->fencing = true;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "");
	fleet_find(&F.e.fleet, "c0")->fencing = false;
	checkpoint_part.at[PART_RUN](&F.e);
	checkpoint_part.at[PART_RUN](&F.e); /* once */
	assert_string_equal(F.story, "USR1 to 100; ");
	told("requeue", 0);
	assert_string_equal(F.story, "USR1 to 100; ");
	told("signal", 0);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "USR1 to 100; 100 was told by USR1; ");
}

/* scancel fails for one job that is not there any more, too. */
static void test_a_signal_that_was_not_heard_is_sent_again(void **state)
{
	(void)state;
	F.pool.checkpoint_signal = usr1;
	jobs(1);
	checkpoint_part.at[PART_RUN](&F.e);
	told("signal", ERR_NOTSENT);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "USR1 to 100; ");
	assert_int_equal(checkpoint_part.next_ms(&F.e), BEGAN + 2000);
	W.now = BEGAN + 2000;
	assert_true(checkpoint_part.next_ms(&F.e) == INT64_MAX); /* it is time */
	F.unheard = true;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(checkpoint_part.next_ms(&F.e), BEGAN + 4000);
	F.unheard = false;
	W.now = BEGAN + 4000;
	checkpoint_part.at[PART_RUN](&F.e);
	told("signal", ERR_NET);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "USR1 to 100; no USR1 to 100; USR1 to 100; 100 was told by "
				     "USR1; ");
}

static void test_a_job_whose_time_is_over_is_not_told(void **state)
{
	(void)state;
	F.pool.checkpoint_signal = usr1;
	jobs(1);
	W.now = ENDS;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "");
	assert_int_equal(F.jobs[0].j.signal, JOURNAL_SIGNAL_NONE);
}

/* Nor one whose pool says so no more, nor one that is on another machine of that name. */
static void test_a_job_is_told_of_its_own_machine_alone(void **state)
{
	(void)state;
	jobs(2);
	F.jobs[1].j.gen = 2;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.jobs[0].j.signal, JOURNAL_SIGNAL_NONE);
	F.pool.checkpoint_signal = usr1;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.jobs[1].j.signal, JOURNAL_SIGNAL_NONE);
	assert_string_equal(F.story, "");
}

static void test_the_signal_goes_to_whom_the_pool_says(void **state)
{
	static const enum slurm_signal_to to[] = {[CONF_TO_BATCH] = SLURM_TO_BATCH,
						  [CONF_TO_STEPS] = SLURM_TO_STEPS,
						  [CONF_TO_FULL] = SLURM_TO_BOTH};

	(void)state;
	F.pool.checkpoint_signal = usr1;
	jobs(3);
	for (int i = 0; i < 3; i++) {
		F.pool.checkpoint_to = i;
		F.e.jobs->parts[JOB_RESCUED] = &F.jobs[i];
		F.jobs[i].in.next = NULL;
		checkpoint_part.at[PART_RUN](&F.e);
		assert_int_equal(F.to, to[i]);
	}
}

/* I28; and in place of %j, %n, %d: the job, its node, and until when in seconds. */
static void test_a_command_is_on_record_before_it_runs(void **state)
{
	(void)state;
	F.pool.checkpoint_command = F.words;
	jobs(1);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "checkpoint 100 /save; 100 was told by the site's command; "
				     "commit; run /save 100@c0:1800000130%; ");
	assert_int_equal(F.timeout_ms, RECLAIM_LEAD_MS);
	F.story[0] = '\0';
	ends(0, 3, "no disk\nat all\n");
	assert_string_equal(F.story, "c0 checkpoint-failed: job 100: checkpoint_command: exit "
				     "status 3: no disk; ");
	assert_int_equal(F.turns, 1);
	assert_int_equal(F.e.jobs->nhooks[CHECKPOINT_RECLAIM], 0);
}

/* F57: it reckons by the wall clock, which was set since burstd was born. */
static void test_a_command_is_told_the_time_of_the_wall_clock(void **state)
{
	(void)state;
	F.pool.checkpoint_command = F.words;
	F.e.ahead_ms = 3600000;
	jobs(1);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_non_null(strstr(F.story, "run /save 100@c0:1799996530%; "));
}

static void test_a_command_has_no_longer_than_the_machine(void **state)
{
	(void)state;
	F.pool.checkpoint_command = F.words;
	jobs(1);
	W.now = ENDS - 5000;
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.timeout_ms, 5000);
	F.story[0] = '\0';
	ends(0, 0, "");
	assert_string_equal(F.story, "");
}

/* The signal says when the job was told, though the command runs already, and once. */
static void test_a_pool_may_have_both(void **state)
{
	(void)state;
	F.pool.checkpoint_signal = usr1;
	F.pool.checkpoint_command = F.words;
	jobs(1);
	checkpoint_part.at[PART_RUN](&F.e);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "USR1 to 100; checkpoint 100 /save; commit; "
				     "run /save 100@c0:1800000130%; ");
	told("signal", 0);
	assert_int_equal(F.jobs[0].j.signal, JOURNAL_SIGNAL_SENT);
}

static void test_sixteen_commands_run_at_a_time(void **state)
{
	(void)state;
	F.pool.checkpoint_command = F.words;
	jobs(JOBS);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nruns, 16);
	assert_int_equal(F.jobs[16].j.signal, JOURNAL_SIGNAL_DUE);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nruns, 16);
	for (size_t i = 0; i < 3; i++)
		ends(i, 0, "");
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nruns, 19);
	assert_int_equal(F.jobs[18].j.signal, JOURNAL_SIGNAL_SENT);
	assert_int_equal(F.jobs[19].j.signal, JOURNAL_SIGNAL_DUE);
}

/* One that has lost its node without its command is told of. */
static void test_a_job_for_which_there_was_no_time(void **state)
{
	(void)state;
	F.pool.checkpoint_command = F.words;
	jobs(17);
	checkpoint_part.at[PART_RUN](&F.e);
	F.story[0] = '\0';
	W.now = ENDS;
	checkpoint_part.at[PART_RUN](&F.e);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "c16 checkpoint-failed: job 116: checkpoint_command: it did "
				     "not run: there was no time for it; ");
}

/* Of jobs whose budget is used up many end at one time: those that lose their node do not wait for
 * them. */
static void test_money_keeps_no_reclaim_waiting(void **state)
{
	struct checkpoint c = {
		.kind = CHECKPOINT_MONEY, .id = "7", .node = "c0", .until_ms = ENDS, .why = "x"};

	(void)state;
	assert_int_equal(checkpoint_command(&F.e, &F.pool, &c), CHECKPOINT_NONE);
	F.pool.checkpoint_command = F.words;
	for (int i = 0; i < 16; i++) {
		assert_true(checkpoint_room(&F.e, CHECKPOINT_MONEY));
		c.job = 7 + (uint64_t)i;
		assert_int_equal(checkpoint_command(&F.e, &F.pool, &c), CHECKPOINT_STAGED);
	}
	c.job++;
	assert_int_equal(checkpoint_command(&F.e, &F.pool, &c), CHECKPOINT_FULL);
	assert_false(checkpoint_room(&F.e, CHECKPOINT_MONEY));
	checkpoint_commands_run(&F.e);
	assert_int_equal(F.nruns, 16);
	jobs(1);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nruns, 17);
	ends(16, 0, ""); /* which leaves no room for the others */
	assert_int_equal(checkpoint_command(&F.e, &F.pool, &c), CHECKPOINT_FULL);
	c.until_ms = BEGAN;
	assert_int_equal(checkpoint_command(&F.e, &F.pool, &c), CHECKPOINT_LATE);
	ends(0, 0, "");
	c.until_ms = ENDS;
	assert_int_equal(checkpoint_command(&F.e, &F.pool, &c), CHECKPOINT_STAGED);
}

/* Two at once for one job would write one file: that of the reclaim counts for the budget, and the
 * other way round. */
static void test_a_command_for_two_reasons_runs_once(void **state)
{
	struct checkpoint c = {.kind = CHECKPOINT_MONEY,
			       .job = 100,
			       .id = "100",
			       .node = "c0",
			       .until_ms = ENDS,
			       .why = "x"};

	(void)state;
	F.pool.checkpoint_command = F.words;
	jobs(1);
	assert_int_equal(F.jobs[0].j.job, c.job);
	assert_int_equal(checkpoint_command(&F.e, &F.pool, &c), CHECKPOINT_STAGED);
	checkpoint_commands_run(&F.e);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nruns, 1);
	assert_true(F.jobs[0].commanded);
	ends(0, 0, "");
	assert_int_equal(checkpoint_command(&F.e, &F.pool, &c), CHECKPOINT_STAGED);
	checkpoint_commands_run(&F.e);
	assert_int_equal(F.nruns, 2);
}

/* What it runs for is not run again for those that come after it. */
static void test_a_command_runs_once(void **state)
{
	(void)state;
	F.pool.checkpoint_command = F.words;
	jobs(1);
	checkpoint_part.at[PART_RUN](&F.e);
	jobs(2);
	checkpoint_part.at[PART_RUN](&F.e);
	assert_int_equal(F.nruns, 2);
}

static void test_a_command_may_end_when_the_engine_is_gone(void **state)
{
	(void)state;
	F.pool.checkpoint_command = F.words;
	jobs(1);
	checkpoint_part.at[PART_RUN](&F.e);
	F.story[0] = '\0';
	checkpoint_part.at[PART_FREE](&F.e);
	ends(0, 1, "too late");
	assert_string_equal(F.story, "");
	assert_int_equal(F.turns, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_no_job_is_told_before_its_node_is_fenced),
		TEST(test_a_signal_that_was_not_heard_is_sent_again),
		TEST(test_a_job_whose_time_is_over_is_not_told),
		TEST(test_a_job_is_told_of_its_own_machine_alone),
		TEST(test_the_signal_goes_to_whom_the_pool_says),
		TEST(test_a_command_is_on_record_before_it_runs),
		TEST(test_a_command_has_no_longer_than_the_machine),
		TEST(test_a_command_is_told_the_time_of_the_wall_clock),
		TEST(test_a_pool_may_have_both),
		TEST(test_sixteen_commands_run_at_a_time),
		TEST(test_a_job_for_which_there_was_no_time),
		TEST(test_money_keeps_no_reclaim_waiting),
		TEST(test_a_command_for_two_reasons_runs_once),
		TEST(test_a_command_runs_once),
		TEST(test_a_command_may_end_when_the_engine_is_gone),
	};

	return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
