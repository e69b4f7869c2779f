/* test_rescue.c - the jobs of a node that must go down are written down first, and followed until
 * slurmctld shows what became of them (I16, I17).
 *
 * On a bare struct engine: the clock, the journal and slurmctld are the test's. */
#include "bare_engine.h"

static struct fix {
	struct engine e;
	char events[800]; /* all, one a line */
	char story[400];  /* commits and orders to slurmctld, in order */
	char comment[300];
	char reason[64];
	unsigned wanted; /* times that squeue was asked for */
	struct journal_rescue put;
	uint64_t del;
	bool disk_fails;
} F;

void engine_event(struct engine *e, const char *node, uint64_t gen, const char *type,
		  const char *detail)
{
	(void)e;
	(void)gen;
	add(F.events, sizeof(F.events), node, " ", type);
	add(F.events, sizeof(F.events), ": ", detail, "\n");
}

void engine_commit(struct engine *e)
{
	e->dead = F.disk_fails;
	add(F.story, sizeof(F.story), "commit ", "", "");
}

void journal_put_rescue(struct journal_tx *tx, const struct journal_rescue *r)
{
	(void)tx;
	F.put = *r;
	add(F.story, sizeof(F.story), "put ", r->id, " ");
}

void journal_del_rescue(struct journal_tx *tx, uint64_t job)
{
	(void)tx;
	F.del = job;
}

void engine_post(struct engine *e, struct fleet_node *fn, const struct node_event *ev)
{
	(void)e;
	assert_int_equal(ev->type, NODE_EV_SIGNALLED);
	add(F.story, sizeof(F.story), "signalled ", fn->n.name, " ");
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
	*out = (struct reclaim_plan){.signal_ms = INT64_MAX, .force_ms = BEGAN + 110000};
}

void slurm_start_now(struct slurm *s, const char *job, const char *comment)
{
	(void)s;
	assert_null(comment);
	add(F.story, sizeof(F.story), "start ", job, " ");
}

void slurm_requeue(struct slurm *s, const char *job)
{
	(void)s;
	add(F.story, sizeof(F.story), "requeue ", job, " ");
}

void jobs_want(struct engine *e, enum jobs_for who)
{
	(void)e;
	assert_int_equal(who, JOBS_FOR_RESCUE);
	F.wanted++;
}

void slurm_power_down(struct slurm *s, const char *node, const char *addr, bool dead,
		      const char *reason)
{
	(void)s;
	(void)addr;
	(void)snprintf(F.reason, sizeof(F.reason), "%s", reason);
	add(F.story, sizeof(F.story), dead ? "down " : "force ", node, " ");
}

void slurm_postpone(struct slurm *s, const char *job, int64_t wait_ms, const char *comment)
{
	(void)s;
	assert_int_equal(wait_ms, 0);
	(void)snprintf(F.comment, sizeof(F.comment), "%s <- %s", job, comment);
}

static struct fleet_name *node(const char *name)
{
	return fleet_name(&F.e.fleet, name, 0);
}

/* c1 to c4 are up, on generation 3. */
static int setup(void **state)
{
	(void)state;
	W = (struct world){.now = BEGAN, .question = SLURM_FATES};
	memset(&F, 0, sizeof(F));
	fleet_init(&F.e.fleet, 1);
	map_init(&F.e.rescues_map);
	for (int i = 1; i <= 4; i++) {
		char name[16];
		struct node n;

		(void)snprintf(name, sizeof(name), "c%d", i);
		node(name)->flags = SLURM_KNOWN | SLURM_ALLOCATED;
		node_init(&n, name, 3, BEGAN);
		(void)fleet_add(&F.e.fleet, &n);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rescue_free(&F.e);
	fleet_fini(&F.e.fleet);
	return 0;
}

static void squeue(const char *text)
{
	rescue_jobs(&F.e, text, strlen(text), NULL);
}

/* Time passes until the jobs are looked at; then slurmctld says this of them. */
static void shows(const char *text)
{
	W.now = rescue_next_ms(&F.e);
	assert_true(W.now != INT64_MAX);
	W.asked[0] = '\0';
	rescue_run(&F.e);
	assert_string_not_equal(W.asked, "");
	rescue_fates(&F.e, text, strlen(text), NULL);
}

static void take_c1(void)
{
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	F.events[0] = '\0';
}

#define DETAIL(state, priority, start) detail("107", state, priority, start, "(null)")

static void test_jobs_are_written_down_before_the_node_goes(void **state)
{
	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	rescue_node(&F.e, node("c3"), true, "burstd: dead");
	rescue_node(&F.e, node("c3"), false, "burstd: dead still"); /* once is enough */
	assert_string_equal(F.story, "");
	assert_int_equal(F.wanted, 2);
	rescue_run(&F.e);
	assert_string_equal(F.story, "");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n"
	       "8|8|RUNNING|p|None|c4\n"
	       "9|9|CONFIGURING|p|None|c[1-2]\n"
	       "10|10|RUNNING|p|None|c[\n");
	assert_string_equal(F.story, "put 7_2 commit down c3 force c1 ");
	assert_int_equal(F.put.job, 107);
	assert_string_equal(F.put.node, "c1");
	assert_int_equal(F.put.gen, 3);
	assert_int_equal(F.put.at_ms, BEGAN);
	assert_string_equal(F.put.why, "spot is over");
	assert_string_equal(F.events, "c1 job-taken: job 7_2 loses this node: spot is over\n");
	assert_int_equal(F.e.count.jobs_taken, 1);
	assert_null(node("c1")->doomed);
}

/* F55: what is not durable is not done. */
static void test_nothing_is_done_when_the_disk_fails(void **state)
{
	(void)state;
	F.disk_fails = true;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "put 7 commit ");
}

static void test_a_node_without_jobs_goes_at_once(void **state)
{
	static const uint32_t flags[] = {0, SLURM_KNOWN | SLURM_POWERING_UP,
					 SLURM_KNOWN | SLURM_POWERED_DOWN,
					 SLURM_KNOWN | SLURM_POWERING_DOWN};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		F.story[0] = '\0';
		node("c1")->flags = flags[i];
		rescue_node(&F.e, node("c1"), false, "burstd: x");
		assert_string_equal(F.story, "force c1 ");
	}
	assert_int_equal(F.wanted, 0);
}

/* One that an admin drained, and whose reason is the admin's. */
static void test_an_admins_reason_stays(void **state)
{
	static const struct {
		bool theirs, dead;
		const char *why, *told;
	} rows[] = {
		{false, false, "burstd: x", "burstd: x"},
		{true, false, "burstd: x", ""},
		{true, true, "burstd: x", "burstd: x"}, /* slurmctld wants one for what is down */
		{true, false, ENGINE_WHY_TERMINATED, ENGINE_WHY_TERMINATED},
	};

	(void)state;
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERING_UP;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		node("c1")->theirs = rows[i].theirs;
		rescue_node(&F.e, node("c1"), rows[i].dead, rows[i].why);
		assert_string_equal(F.reason, rows[i].told);
	}
}

/* F48: the fence never waits for long. */
static void test_squeue_is_not_waited_for_for_ever(void **state)
{
	struct err err;

	(void)state;
	rescue_node(&F.e, node("c1"), false, "burstd: x");
	(void)err_set(&err, ERR_NET, "no");
	rescue_jobs(&F.e, NULL, 0, &err);
	assert_int_equal(F.wanted, 2); /* asked again */
	assert_string_equal(F.story, "");
	W.now = rescue_next_ms(&F.e);
	assert_in_range(W.now, BEGAN + 1, BEGAN + 2000);
	rescue_run(&F.e);
	assert_string_equal(F.story, "force c1 ");
	rescue_jobs(&F.e, NULL, 0, &err);
	assert_int_equal(F.wanted, 2); /* nobody waits for it now */
	squeue("107|7|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "force c1 ");
}

static void test_a_requeued_job(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("COMPLETING", "5", "1799999000"));
	assert_string_equal(W.asked, "7_2");
	assert_string_equal(F.events, ""); /* not yet */
	shows(DETAIL("PENDING", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued\n");
	assert_string_equal(F.comment,
			    "7_2 <- burstd: lost node c1: spot is over; it was requeued");
	assert_int_equal(F.del, 107);
	assert_int_equal(F.e.count.jobs_requeued, 1);
	assert_true(rescue_next_ms(&F.e) == INT64_MAX);
}

/* --- slurmctld holds a requeued job back -------------------------------------------------------
 */

/* The state of the newest incarnation of this node. */
static void becomes(const char *name, enum node_state state)
{
	struct fleet_node *fn = node(name)->newest;

	fleet_stage(fn)->state = state;
	fleet_publish(&F.e.fleet, fn);
}

/* It is requeued, and held back by slurmctld for two minutes. */
static void hold(void)
{
	becomes("c1", NODE_DRAINING);
	becomes("c2", NODE_READY);
	take_c1();
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_int_equal(F.del, 0);
	assert_int_equal(F.put.hold_ms, BEGAN + 121000);
	assert_string_equal(F.put.nodes, "c[1-2]");
	F.events[0] = F.story[0] = '\0';
}

/* So long nothing is asked and nothing is done. */
static void waits(int64_t until_ms)
{
	while (rescue_next_ms(&F.e) < until_ms) {
		W.now = rescue_next_ms(&F.e);
		W.asked[0] = '\0';
		rescue_run(&F.e);
		assert_string_equal(W.asked, "");
	}
	assert_string_equal(F.story, "");
}

static void test_it_may_start_once_the_machine_that_it_lost_is_gone(void **state)
{
	(void)state;
	hold();
	waits(W.now + 5000);
	becomes("c1", NODE_DELETING);
	waits(W.now + 5000);
	becomes("c1", NODE_GONE);
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 ");
	assert_string_equal(F.events,
			    "c1 job-lifted: job 7_2: it may start at once: the machines that it "
			    "lost are gone\n");
	assert_int_equal(F.del, 107);
	assert_int_equal(F.e.count.jobs_lifted, 1);
	assert_true(rescue_next_ms(&F.e) == INT64_MAX);
}

static void test_all_machines_that_it_lost_must_be_gone(void **state)
{
	static const enum node_state left[] = {NODE_DRAINING, NODE_DELETING, NODE_QUARANTINED};

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		teardown(state);
		setup(state);
		hold();
		becomes("c1", NODE_GONE);
		becomes("c2", left[i]);
		waits(BEGAN + 121000);
		assert_int_equal(F.del, 0);
	}
}

/* After a restart nobody remembers that this one was told to go down; slurmctld shows it. */
static void test_a_machine_that_is_on_its_way_out_is_not_gone(void **state)
{
	static const uint32_t flags[] = {SLURM_POWER_DOWN, SLURM_DRAIN, SLURM_DOWN,
					 SLURM_POWERING_DOWN};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		teardown(state);
		setup(state);
		hold();
		becomes("c1", NODE_GONE);
		node("c2")->flags = SLURM_KNOWN | flags[i];
		waits(BEGAN + 60000);
	}
}

static void test_a_machine_that_was_bought_since_is_none_that_it_lost(void **state)
{
	struct node n;

	(void)state;
	hold();
	becomes("c1", NODE_GONE);
	becomes("c2", NODE_GONE);
	node_init(&n, "c1", 4, W.now);
	(void)fleet_add(&F.e.fleet, &n);
	node_init(&n, "c2", 4, W.now);
	(void)fleet_add(&F.e.fleet, &n);
	becomes("c2", NODE_DELETING);
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 ");
}

static void test_it_starts_by_itself_if_they_do_not_go_in_time(void **state)
{
	(void)state;
	hold();
	waits(BEGAN + 121000);
	W.now = BEGAN + 121000;
	rescue_run(&F.e);
	assert_int_equal(F.del, 107);
	assert_string_equal(F.events, "");
	assert_true(rescue_next_ms(&F.e) == INT64_MAX);
}

/* Whoever has held it, moved it, or started it since, has his will. */
static void test_who_has_changed_its_begin_time_has_his_will(void **state)
{
	static const char *const rows[][3] = {{"PENDING", "5", "1800000200"},
					      {"PENDING", "0", "1800000121"},
					      {"RUNNING", "5", "1800000060"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown(state);
		setup(state);
		hold();
		becomes("c1", NODE_GONE);
		shows(DETAIL(rows[i][0], rows[i][1], rows[i][2]));
		assert_string_equal(F.story, "");
		assert_int_equal(F.del, 107);
	}
}

/* That is not slurmctld's wait of two minutes: its user wants it tomorrow. */
static void test_a_begin_time_of_its_user_is_left_alone(void **state)
{
	(void)state;
	becomes("c1", NODE_GONE);
	take_c1();
	shows(DETAIL("PENDING", "5", "1800086400"));
	assert_int_equal(F.del, 107);
	assert_true(rescue_next_ms(&F.e) == INT64_MAX);
}

static void test_it_is_let_go_after_a_restart_too(void **state)
{
	const struct journal_rescue row = {.job = 107,
					   .id = "7_2",
					   .node = "c1",
					   .gen = 3,
					   .at_ms = BEGAN,
					   .why = "spot is over",
					   .nodes = "c[1-2]",
					   .hold_ms = BEGAN + 121000};

	(void)state;
	becomes("c1", NODE_DELETING);
	becomes("c2", NODE_READY);
	rescue_load(&F.e, &row);
	waits(BEGAN + 10000);
	becomes("c1", NODE_GONE);
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.story, "start 7_2 ");
	assert_string_equal(F.comment, ""); /* that it was requeued was told before */
}

/* --- jobs that are told to save their work -----------------------------------------------------
 */

static void tell_c1(void)
{
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	assert_string_equal(F.story, "put 7_2 signalled c1 commit ");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
	assert_string_equal(F.put.why, "spot will be over");
	assert_null(node("c1")->doomed);
	rescue_signalled(&F.e, F.e.rescues, "USR1");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_SENT);
	assert_string_equal(F.events, "c1 job-signalled: job 7_2: it was told to save its work "
				      "(USR1)\n");
	assert_int_equal(F.e.count.jobs_signalled, 1);
	F.events[0] = F.story[0] = '\0';
}

static void test_a_job_is_written_down_before_it_is_told(void **state)
{
	(void)state;
	tell_c1();
	assert_int_equal(F.e.count.jobs_taken, 1); /* each once, whatever ends it */
	shows(DETAIL("RUNNING", "5", "1799999000"));
	assert_string_equal(F.story, "");
}

/* A signal that waits for squeue holds up no order, and is tried again with the next snapshot. */
static void test_a_signal_is_given_up_where_squeue_is_silent(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	W.now += 3000;
	rescue_run(&F.e);
	assert_string_equal(F.story, "");
	assert_null(node("c1")->doomed);
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERING_DOWN;
	rescue_signal(&F.e, node("c1"));
	assert_null(node("c1")->doomed); /* no job is on it */
}

static void test_a_job_that_loses_one_node_now_is_not_told_of_another(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	rescue_node(&F.e, node("c2"), false, "burstd: at once");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_NONE);
	assert_string_equal(F.put.node, "c2");
	assert_non_null(strstr(F.story, "commit force c2 "));
	assert_null(strstr(F.story, "c1 force"));
}

/* It comes to its time while it is still being told. */
static void test_a_node_that_is_told_goes_when_it_must(void **state)
{
	(void)state;
	becomes("c1", NODE_DRAINING);
	rescue_signal(&F.e, node("c1"));
	W.now += 1500;
	rescue_node(&F.e, node("c1"), false, "burstd: now");
	rescue_run(&F.e);
	assert_string_equal(F.story, ""); /* two seconds from then */
	squeue("107|7_2|RUNNING|p|None|c1\n");
	assert_string_equal(F.story, "put 7_2 commit force c1 ");
}

/* It saved its work and ended with another status than 0, or the signal killed it. */
static void test_a_told_job_that_ends_is_requeued(void **state)
{
	const struct slurm_order o = {.verb = "requeue", .names = "3,7_2", .of_jobs = true};
	const struct slurm_order other = {.verb = "postpone", .names = "7_2", .of_jobs = true};

	(void)state;
	tell_c1();
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
	assert_string_equal(F.events, "");
	shows(DETAIL("FAILED", "5", "1799999000")); /* slurmctld has not been told yet */
	rescue_told(&F.e, &other, NULL);
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
	rescue_told(&F.e, &o, NULL);
	shows(DETAIL("PENDING", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued\n");
}

static void test_a_told_job_that_cannot_be_requeued_is_reported(void **state)
{
	const struct slurm_order o = {.verb = "requeue", .names = "7_2", .of_jobs = true};

	(void)state;
	tell_c1();
	shows(DETAIL("FAILED", "5", "1799999000"));
	rescue_told(&F.e, &o, NULL);
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(F.events,
			    "c1 job-ended: job 7_2: it ended as FAILED and was not requeued\n");
}

/* slurmctld was restarting, or did not answer in time: the job is not given up for that. */
static void test_an_order_that_was_not_heard_is_given_again(void **state)
{
	static const struct err errs[] = {
		{.code = ERR_NET, .msg = "scontrol: Unable to contact slurm controller"},
		{.code = ERR_NET, .msg = "scontrol: Socket timed out on send/recv operation"},
		{.code = ERR_NET, .msg = "scontrol: stopped after 30000 ms"},
		{.code = ERR_NOTSENT, .msg = "it cannot be started"}};
	const struct slurm_order o = {.verb = "requeue", .names = "7_2", .of_jobs = true};

	(void)state;
	tell_c1();
	for (size_t i = 0; i < sizeof(errs) / sizeof(errs[0]); i++) {
		F.story[0] = '\0';
		shows(DETAIL("FAILED", "5", "1799999000"));
		assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
		rescue_told(&F.e, &o, &errs[i]);
		assert_string_equal(F.events, "");
	}
	F.story[0] = '\0';
	shows(DETAIL("OUT_OF_MEMORY", "5", "1799999000"));
	assert_string_equal(F.story, "put 7_2 requeue 7_2 ");
	rescue_told(&F.e, &o,
		    &(struct err){.code = ERR_NET, .msg = "Requested operation is disabled"});
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_string_equal(F.events,
			    "c1 job-ended: job 7_2: it ended as FAILED and was not requeued\n");
}

/* An answer that was on its way when slurmctld took the order shows the job as it was before. */
static void test_an_old_answer_does_not_end_a_job_that_is_being_requeued(void **state)
{
	const struct slurm_order o = {.verb = "requeue", .names = "7_2", .of_jobs = true};
	const char *old = DETAIL("FAILED", "5", "1799999000");

	(void)state;
	tell_c1();
	shows(old);
	W.now = rescue_next_ms(&F.e);
	rescue_run(&F.e); /* asked */
	rescue_told(&F.e, &o, NULL);
	rescue_fates(&F.e, old, strlen(old), NULL);
	assert_string_equal(F.events, "");
}

/* Done is done, and what its user cancels too. */
static void test_a_told_job_that_is_done_is_not_requeued(void **state)
{
	static const char *const ends[] = {"COMPLETED", "CANCELLED", "TIMEOUT", "NODE_FAIL"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		teardown(state);
		setup(state);
		tell_c1();
		shows(DETAIL(ends[i], "5", "1799999000"));
		assert_string_equal(F.story, "");
		assert_non_null(strstr(F.events, "c1 job-ended: job 7_2: it ended as "));
	}
}

/* A job that was not told and fails by itself when its node goes has failed. */
static void test_a_job_that_was_not_told_is_not_requeued_when_it_fails(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("FAILED", "5", "1799999000"));
	assert_null(strstr(F.story, "requeue"));
	assert_string_equal(F.events,
			    "c1 job-ended: job 7_2: it ended as FAILED and was not requeued\n");
}

/* Ten seconds before the end, told or not. */
static void test_a_told_job_is_not_told_again_when_its_node_goes(void **state)
{
	(void)state;
	tell_c1();
	W.now += 100000;
	rescue_node(&F.e, node("c1"), false, "burstd: spot is over");
	squeue("107|7_2|RUNNING|p|None|c[1-2]\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_SENT);
	assert_int_equal(F.put.at_ms, BEGAN + 100000);
	assert_int_equal(F.e.count.jobs_taken, 1);
	assert_string_equal(F.story, "put 7_2 commit force c1 ");
}

/* It has gone back into the queue, runs elsewhere, and is about to lose that node too. */
static void test_a_job_that_was_told_once_is_told_in_its_next_run(void **state)
{
	(void)state;
	hold();
	F.put.signal = JOURNAL_SIGNAL_SENT;
	F.e.rescues->j.signal = JOURNAL_SIGNAL_SENT;
	becomes("c3", NODE_DRAINING);
	rescue_signal(&F.e, node("c3"));
	squeue("107|7_2|RUNNING|p|None|c3\n");
	assert_int_equal(F.put.signal, JOURNAL_SIGNAL_DUE);
	assert_int_equal(F.put.hold_ms, 0);
}

/* I16: told, and it runs on for as long as the provider lets it: that is no job that hangs. */
static void test_a_told_job_may_run_on_for_long(void **state)
{
	(void)state;
	tell_c1();
	for (int i = 0; i < 400; i++) {
		shows(DETAIL("RUNNING", "5", "1799999000"));
		F.e.snapshot_ms = W.now;
	}
	assert_string_equal(F.events, "");
}

static void test_what_people_see_of_it(void **state)
{
	struct conf_pool pool = {.checkpoint_signal = (char[]){"USR1"}};
	struct conf conf = {.pools = &pool, .npools = 1};
	struct engine_taken t;

	(void)state;
	F.e.conf = &conf;
	assert_false(engine_taken(&F.e, "c1", 0, &t));
	assert_int_equal(engine_force_ms(&F.e, "c1"), 0);
	assert_int_equal(engine_force_ms(&F.e, "nobody"), 0);
	tell_c1();
	assert_true(engine_force_ms(&F.e, "c1") == BEGAN + 110000);
	assert_true(engine_taken(&F.e, "c1", 0, &t));
	assert_string_equal(t.job, "7_2");
	assert_string_equal(t.signal, "USR1");
	assert_false(engine_taken(&F.e, "c1", 1, &t));
	pool.checkpoint_signal = NULL; /* a command was run */
	assert_true(engine_taken(&F.e, "c1", 0, &t));
	assert_string_equal(t.signal, "word");
	F.e.rescues->j.signal = JOURNAL_SIGNAL_NONE;
	assert_true(engine_taken(&F.e, "c1", 0, &t));
	assert_string_equal(t.signal, "");
}

static void test_a_requeued_job_that_runs_again_already(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("RUNNING", "5", "1800000006"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued\n");
	assert_string_equal(F.comment, ""); /* it has what it wants */
}

/* I19 */
static void test_a_job_that_is_held_is_said_to_be(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("PENDING", "0", "Unknown"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued, and is held\n");
}

static void test_a_job_that_cannot_be_requeued_is_told(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("NODE_FAIL", "5", "1799999000"));
	assert_string_equal(F.events,
			    "c1 job-ended: job 7_2: it ended as NODE_FAIL and was not requeued\n");
	assert_string_equal(F.comment, ""); /* slurmctld takes none any more */
	assert_int_equal(F.e.count.jobs_ended, 1);
}

static void test_a_job_that_was_done_anyway(void **state)
{
	(void)state;
	take_c1();
	shows(DETAIL("COMPLETED", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-ended: job 7_2: it ended as COMPLETED\n");
	assert_string_equal(F.comment, "");
}

static void test_a_job_that_slurmctld_has_forgotten(void **state)
{
	struct err err;

	(void)state;
	take_c1();
	W.now = rescue_next_ms(&F.e);
	rescue_run(&F.e);
	(void)err_set(&err, ERR_NET, "no");
	rescue_fates(&F.e, NULL, 0, &err);
	assert_string_equal(F.events, ""); /* no answer says nothing */
	shows(detail("8", "RUNNING", "5", "1", "(null)"));
	assert_string_equal(F.events, "c1 job-ended: job 7_2: slurmctld has forgotten it\n");
}

/* --no-kill, or a slurmctld that hangs (slurm.md 2.2). */
static void test_a_job_that_still_runs(void **state)
{
	(void)state;
	take_c1();
	for (int i = 0; i < 40; i++) {
		shows(DETAIL("RUNNING", "5", "1799999000"));
		F.e.snapshot_ms = W.now;
	}
	assert_string_equal(F.events, "c1 job-stuck: slurmctld still has a job on it\n");
	node("c1")->flags = SLURM_KNOWN | SLURM_POWERED_DOWN;
	F.events[0] = '\0';
	shows(DETAIL("RUNNING", "5", "1799999000"));
	assert_string_equal(F.events, "c1 job-goes-on: job 7_2: it runs on without that node\n");
	assert_true(rescue_next_ms(&F.e) == INT64_MAX);
}

/* I16, F57: after a restart, whatever the clock says. */
static void test_jobs_are_followed_after_a_restart(void **state)
{
	const struct journal_rescue row = {.job = 107,
					   .id = "7_2",
					   .node = "c1",
					   .gen = 3,
					   .at_ms = BEGAN + 1000000,
					   .why = "spot is over"};

	(void)state;
	rescue_load(&F.e, &row);
	shows(DETAIL("RUNNING", "5", "1800000006"));
	assert_string_equal(F.events, "c1 job-requeued: job 7_2: it was requeued\n");
}

static void test_not_asked_while_slurmctld_is_being_told(void **state)
{
	(void)state;
	take_c1();
	W.settled_ms = INT64_MAX;
	W.now = rescue_next_ms(&F.e);
	rescue_run(&F.e);
	assert_string_equal(W.asked, "");
}

/* It was requeued, and loses its next node before anybody looked. */
static void test_a_job_taken_twice(void **state)
{
	(void)state;
	take_c1();
	W.now += 500;
	rescue_node(&F.e, node("c3"), false, "burstd: again");
	squeue("107|7_2|RUNNING|p|None|c[3-4]\n");
	assert_string_equal(F.put.node, "c3");
	assert_int_equal(F.put.at_ms, BEGAN + 500);
	F.events[0] = '\0';
	shows(DETAIL("PENDING", "5", "1800000121"));
	assert_string_equal(F.events, "c3 job-requeued: job 7_2: it was requeued\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_jobs_are_written_down_before_the_node_goes),
		TEST(test_nothing_is_done_when_the_disk_fails),
		TEST(test_a_node_without_jobs_goes_at_once),
		TEST(test_an_admins_reason_stays),
		TEST(test_squeue_is_not_waited_for_for_ever),
		TEST(test_a_requeued_job),
		TEST(test_it_may_start_once_the_machine_that_it_lost_is_gone),
		TEST(test_all_machines_that_it_lost_must_be_gone),
		TEST(test_a_machine_that_is_on_its_way_out_is_not_gone),
		TEST(test_a_machine_that_was_bought_since_is_none_that_it_lost),
		TEST(test_it_starts_by_itself_if_they_do_not_go_in_time),
		TEST(test_who_has_changed_its_begin_time_has_his_will),
		TEST(test_a_begin_time_of_its_user_is_left_alone),
		TEST(test_it_is_let_go_after_a_restart_too),
		TEST(test_a_job_is_written_down_before_it_is_told),
		TEST(test_a_signal_is_given_up_where_squeue_is_silent),
		TEST(test_a_job_that_loses_one_node_now_is_not_told_of_another),
		TEST(test_a_node_that_is_told_goes_when_it_must),
		TEST(test_a_told_job_that_ends_is_requeued),
		TEST(test_a_told_job_that_cannot_be_requeued_is_reported),
		TEST(test_an_order_that_was_not_heard_is_given_again),
		TEST(test_an_old_answer_does_not_end_a_job_that_is_being_requeued),
		TEST(test_a_told_job_that_is_done_is_not_requeued),
		TEST(test_a_job_that_was_not_told_is_not_requeued_when_it_fails),
		TEST(test_a_told_job_is_not_told_again_when_its_node_goes),
		TEST(test_a_job_that_was_told_once_is_told_in_its_next_run),
		TEST(test_a_told_job_may_run_on_for_long),
		TEST(test_what_people_see_of_it),
		TEST(test_a_requeued_job_that_runs_again_already),
		TEST(test_a_job_that_is_held_is_said_to_be),
		TEST(test_a_job_that_cannot_be_requeued_is_told),
		TEST(test_a_job_that_was_done_anyway),
		TEST(test_a_job_that_slurmctld_has_forgotten),
		TEST(test_a_job_that_still_runs),
		TEST(test_jobs_are_followed_after_a_restart),
		TEST(test_not_asked_while_slurmctld_is_being_told),
		TEST(test_a_job_taken_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
