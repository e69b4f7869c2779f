/* test_rescue_time.c - jobs that lose a node: what counts from when, and which word about them is
 * old.  What is done about them is in the tests of rescue.c beside this one.
 *
 * On a bare struct engine: the clock, the journal and slurmctld are the test's. */
#include "jobs/jobs.h"
#include "tests/unit/engine/bare_engine.h"
#include "tests/unit/engine/bare_state.h"

static struct fix {
	struct engine e;
	char story[400]; /* events, and orders to slurmctld */
	char addr[24];   /* of the last node that was forced */
	struct journal_rescue put;
	int64_t known_ms; /* since when slurmctld's settings are known */
} F;

bool prereq_may_have(const struct engine *e, enum slurm_trait t)
{
	(void)e;
	(void)t;
	return false;
}

int64_t prereq_hold_ms(const struct engine *e)
{
	(void)e;
	return 121000;
}

int64_t prereq_known_ms(const struct engine *e)
{
	(void)e;
	return F.known_ms;
}

void prereq_hurry(struct engine *e)
{
	(void)e;
	F.known_ms = W.now;
}

struct refusal postpone_look(const struct engine *e, uint64_t number)
{
	(void)e;
	(void)number;
	return (struct refusal){0};
}

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	(void)detail;
	add(F.story, sizeof(F.story), node, " ", type);
	add(F.story, sizeof(F.story), "; ", "", "");
}

void engine_commit(struct engine *e)
{
	(void)e;
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	(void)e;
	(void)fn;
	assert_int_equal(ev->type, NODE_EV_SIGNALLED);
}

void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r)
{
	(void)tx;
	F.put = *r;
}

void journal_del_rescue(struct journal_tx *tx, uint64_t job)
{
	(void)tx;
	(void)job;
}

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_RESCUE);
}

void notice_text(char out[NOTICE_WHY_SIZE], const struct node *n)
{
	(void)n;
	(void)snprintf(out, NOTICE_WHY_SIZE, "burstd: spot will be over");
}

void notice_plan(const struct engine *e, const struct fleet_node *fn, struct reclaim_plan *out)
{
	(void)e;
	(void)fn;
	*out = (struct reclaim_plan){.force_ms = INT64_MAX};
}

bool slurm_power_down(struct slurm *s, const char *node, const char *addr, bool dead,
		      const char *reason)
{
	(void)s;
	(void)dead;
	(void)reason;
	(void)snprintf(F.addr, sizeof(F.addr), "%s", addr != NULL ? addr : "");
	add(F.story, sizeof(F.story), "force ", node, "; ");
	return true;
}

void postpone_say(struct engine *e, const struct slurm_job_detail *d, const char *id,
		  const char *text)
{
	(void)e;
	assert_int_equal(d->number, 7);
	assert_memory_equal(text, "burstd: ", 8);
	add(F.story, sizeof(F.story), "comment ", id, "; ");
}

void srun_tell(struct engine *e, uint64_t job, const char *text)
{
	(void)e;
	(void)job;
	(void)text;
}

bool slurm_requeue(struct slurm *s, const char *job, const char *why)
{
	(void)why;
	(void)s;
	add(F.story, sizeof(F.story), "requeue ", job, "; ");
	return true;
}

bool slurm_start_now(struct slurm *s, const char *job, int64_t begin_ms)
{
	(void)s;
	assert_true(begin_ms > W.now);
	add(F.story, sizeof(F.story), "start ", job, "; ");
	return true;
}

static struct fleet_name *node(const char *name)
{
	return fleet_name(&F.e.fleet, name, 0);
}

static void add_node(const char *name, uint64_t gen)
{
	struct node n;

	node(name)->flags = SLURM_KNOWN | SLURM_ALLOCATED;
	node_init(&n, name, gen, BEGAN);
	n.state = NODE_DRAINING;
	(void)fleet_add(&F.e.fleet, &n);
}

static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN, .question = SLURM_FATES};
	memset(&F, 0, sizeof(F));
	bare_state(&F.e);
	fleet_init(&F.e.fleet, 1);
	job_table_part.at[PART_INIT](&F.e);
	add_node("c1", 3);
	add_node("c3", 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rescue_free(&F.e);
	job_table_part.at[PART_FREE](&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

/* squeue has one job, on these nodes. */
static void squeue_on(const char *nodes)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "7|7|RUNNING|p|None|%s\n", nodes);
	F.e.jobs->runs++;
	rescue_jobs(&F.e, text, strlen(text), NULL);
	F.story[0] = '\0';
}

static void squeue(void)
{
	squeue_on("c1");
}

static void becomes(const char *name, enum node_state state)
{
	struct node n = node(name)->newest->n;

	n.state = state;
	fleet_set(&F.e.fleet, node(name)->newest, &n);
}

/* The job is looked at when it is time, and slurmctld says this of it. */
static void shows(const char *state, const char *start)
{
	const char *text = detail("7", state, "5", start, "(null)");

	if (rescue_part.next_ms(&F.e) != INT64_MAX) /* else it is time already */
		W.now = rescue_part.next_ms(&F.e);
	W.asked[0] = '\0';
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7");
	rescue_fates(&F.e, text, strlen(text), NULL);
}

/* What waited to be told may wait as long for squeue as any other when it is to go. */
static void test_a_node_that_must_go_after_all_waits_from_then_on(void **state)
{
	(void)state;
	rescue_signal(&F.e, node("c1"));
	W.now = BEGAN + 1500;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	assert_int_equal(rescue_part.next_ms(&F.e), BEGAN + 3500);
	W.now = BEGAN + 2000;
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "");
	W.now = BEGAN + 3500;
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(F.story, "c1 jobs-unknown; force c1; ");
}

static void test_a_node_that_goes_is_said_to_go_for_the_reason_it_does(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	rescue_signal(&F.e, node("c1"));
	squeue();
	assert_string_equal(F.put.why, "spot is over");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_NONE);
}

/* What it would say of a job may be about before that. */
static void test_no_fate_is_asked_for_while_nodes_are_about_to_go(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue();
	W.now = rescue_part.next_ms(&F.e);
	rescue_node(&F.e, node("c3"), false, "burstd: spot is over");
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "");
	squeue();
	W.now = rescue_part.next_ms(&F.e);
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7");
}

/* slurmctld has its name for it again, and would look that up. */
static void test_an_instance_that_is_gone_has_no_address(void **state)
{
	struct node n = node("c1")->newest->n;

	(void)state;
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERED_DOWN;
	(void)snprintf(n.addr, sizeof(n.addr), "10.0.0.1");
	fleet_set(&F.e.fleet, node("c1")->newest, &n);
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	assert_string_equal(F.story, "force c1; ");
	assert_string_equal(F.addr, "10.0.0.1");
	becomes("c1", NODE_GONE);
	rescue_node(&F.e, node("c1"), false, "burstd: none left");
	assert_string_equal(F.story, "force c1; force c1; ");
	assert_string_equal(F.addr, "");
}

static void signalled(void)
{
	rescue_signal(&F.e, node("c1"));
	squeue();
	rescue_signalled(&F.e, F.e.jobs->parts[JOB_RESCUED], "USR1");
	F.story[0] = '\0';
}

/* It was written down when it was told, and was requeued up to two minutes later; from there
 * slurmctld counts. */
static void test_a_told_job_is_held_back_from_when_it_ended(void **state)
{
	struct engine_taken taken;

	(void)state;
	signalled();
	W.now = BEGAN + 119000;
	shows("PENDING", "1800000240");
	assert_int_equal(F.put.hold_ms, BEGAN + 240000);
	assert_false(engine_taken(&F.e, "c1", 0, &taken)); /* it has left that node */
}

static void test_a_job_that_was_not_told_is_not_held_back_so_long(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue();
	shows("PENDING", "1800000240"); /* somebody wants it so */
	assert_int_equal(F.put.hold_ms, 0);
	assert_string_equal(F.story, "c1 job-requeued; comment 7; ");
}

/* Another of its machines goes between the question and the answer. */
static void test_an_answer_lets_no_job_start_while_something_of_it_is_left(void **state)
{
	const char *text = detail("7", "PENDING", "5", "1800000121", "(null)");

	(void)state;
	becomes("c3", NODE_READY);
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue_on("c[1,3]");
	shows("PENDING", "1800000121");
	becomes("c1", NODE_GONE);
	W.now = rescue_part.next_ms(&F.e);
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7");
	F.story[0] = '\0';
	becomes("c3", NODE_DELETING);
	rescue_fates(&F.e, text, strlen(text), NULL);
	assert_string_equal(F.story, "");
	W.now = rescue_part.next_ms(&F.e);
	W.asked[0] = '\0';
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "");
	becomes("c3", NODE_GONE);
	shows("PENDING", "1800000121");
	assert_string_equal(F.story, "start 7; c1 job-lifted; ");
}

/* It lost one node, was asked about, and loses another: the answer shows the first run's end. */
static void test_an_answer_of_before_a_job_was_taken_again(void **state)
{
	const char *text = detail("7", "PENDING", "5", "1800000121", "(null)");

	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue();
	W.now = rescue_part.next_ms(&F.e);
	rescue_part.at[PART_RUN](&F.e);
	assert_string_equal(W.asked, "7");
	W.now += 1000;
	rescue_node(&F.e, node("c3"), false, "burstd: spot is over");
	squeue_on("c3");
	assert_int_equal(F.put.at_ms, W.now);
	rescue_fates(&F.e, text, strlen(text), NULL);
	assert_string_equal(F.story, "");
	assert_int_equal(F.put.hold_ms, 0);
	shows("PENDING", "1800000121");
	assert_string_equal(F.story, "c3 job-requeued; comment 7; ");
}

static void test_a_job_that_is_sent_back_counts_from_then_on(void **state)
{
	(void)state;
	signalled();
	shows("FAILED", "1799999000");
	assert_string_equal(F.story, "requeue 7; ");
	assert_true(W.now > BEGAN);
	assert_int_equal(F.put.at_ms, W.now);
}

/* It may end any moment; one that was not told goes with its node, and that takes a while. */
static void test_a_told_job_is_looked_at_every_second(void **state)
{
	(void)state;
	signalled();
	for (int i = 0; i < 5; i++) {
		shows("RUNNING", "1799999000");
		assert_int_equal(rescue_part.next_ms(&F.e), W.now + 1000);
	}
}

/* It may lose nodes: slurmctld's word on that node is worth something if it is newer. */
static void test_a_job_is_stuck_if_a_new_snapshot_says_so(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue();
	W.now = BEGAN + 300000;
	F.e.poll.snapshot_ms = BEGAN + 1;
	shows("RUNNING", "1799999000");
	assert_string_equal(F.story, "");
	F.e.poll.snapshot_ms = BEGAN + 300000;
	shows("RUNNING", "1799999000");
	assert_string_equal(F.story, "c1 job-stuck; ");
	shows("RUNNING", "1799999000"); /* once */
	assert_string_equal(F.story, "c1 job-stuck; ");
}

/* It is up, but as another machine: the job goes on without that node. */
static void test_a_job_goes_on_beside_the_next_machine_of_that_name(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue();
	add_node("c1", 4);
	W.now = F.e.poll.snapshot_ms = BEGAN + 300000;
	shows("RUNNING", "1799999000");
	assert_string_equal(F.story, "c1 job-goes-on; ");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_node_that_must_go_after_all_waits_from_then_on),
		TEST(test_an_instance_that_is_gone_has_no_address),
		TEST(test_a_node_that_goes_is_said_to_go_for_the_reason_it_does),
		TEST(test_no_fate_is_asked_for_while_nodes_are_about_to_go),
		TEST(test_a_told_job_is_held_back_from_when_it_ended),
		TEST(test_a_job_that_was_not_told_is_not_held_back_so_long),
		TEST(test_an_answer_lets_no_job_start_while_something_of_it_is_left),
		TEST(test_an_answer_of_before_a_job_was_taken_again),
		TEST(test_a_job_that_is_sent_back_counts_from_then_on),
		TEST(test_a_told_job_is_looked_at_every_second),
		TEST(test_a_job_is_stuck_if_a_new_snapshot_says_so),
		TEST(test_a_job_goes_on_beside_the_next_machine_of_that_name),
	};

	return cmocka_run_group_tests_name("rescue, in time", tests, NULL, NULL);
}
