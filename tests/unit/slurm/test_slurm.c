/* test_slurm.c - what the adapter runs: how many commands, which, in which order. */
#include "slurm_scripts.h"

static void test_addresses(void **state)
{
	struct fix *f = *state;

	slurm_set_addr(f->slurm, "c1", "10.0.0.1", "c1");
	slurm_set_addr(f->slurm, "c2", "10.0.0.2", "c2");
	slurm_set_addr(f->slurm, "c3", NULL, NULL); /* back to its name */
	assert_true(slurm_settled_ms(f->slurm) == INT64_MAX);
	settle(f);
	assert_calls(
		f,
		"update nodename=c1,c2,c3 nodeaddr=10.0.0.1,10.0.0.2,c3 nodehostname=c1,c2,c3\n");
	assert_true(slurm_settled_ms(f->slurm) <= loop_now(f->loop));
}

static void test_what_was_queued_before_is_past_whatever_came_since(void **state)
{
	struct fix *f = *state;
	uint64_t mark;

	mark = slurm_mark(f->slurm);
	assert_true(slurm_past(f->slurm, mark));
	slurm_power_down(f->slurm, "c1", "10.0.0.1", false, "burstd: none left");
	assert_true(slurm_past(f->slurm, mark));
	mark = slurm_mark(f->slurm);
	assert_false(slurm_past(f->slurm, mark));
	slurm_set_addr(f->slurm, "c2", "10.0.0.2", "c2");
	flush(f); /* it runs */
	assert_false(slurm_past(f->slurm, mark));
	assert_int_equal(slurm_orders(f->slurm), 2);
	f->mark = mark;
	loop_run(f->loop);
	assert_int_equal(f->updated, 2);
	assert_true(f->past);
	assert_true(slurm_past(f->slurm, slurm_mark(f->slurm)));
}

/* A whole gang that never got an instance goes back in one call. */
static void test_refused_gang(void **state)
{
	struct fix *f = *state;

	for (int i = 1; i <= 4; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "c%d", i);
		slurm_power_down(f->slurm, name, i == 4 ? "10.0.0.4" : NULL, false,
				 "burstd: a='b'\n\"none\"\xe2\x80\xae|\xe2\x80\x8b|");
	}
	settle(f);
	assert_calls(f,
		     "update nodename=c1,c2,c3,c4 nodeaddr=192.0.2.1,192.0.2.1,192.0.2.1,10.0.0.4 "
		     "nodehostname=c1,c2,c3,c4\n"
		     "update nodename=c1,c2,c3,c4 nodeaddr=192.0.2.1,192.0.2.1,192.0.2.1,10.0.0.4 "
		     "nodehostname=c1,c2,c3,c4 state=POWER_DOWN_FORCE reason=burstd: a  b   none   "
		     " |   |\n");
}

/* Where all have addresses, or there is but one, nobody's name is resolved. */
static void test_no_addresses_first(void **state)
{
	struct fix *f = *state;

	slurm_power_down(f->slurm, "c1", NULL, false, "burstd: one");
	slurm_power_down(f->slurm, "c2", "10.0.0.2", false, "burstd: two");
	slurm_power_down(f->slurm, "c3", "10.0.0.3", false, "burstd: two");
	settle(f);
	assert_calls(f, "update nodename=c1 nodeaddr=192.0.2.1 nodehostname=c1 "
			"state=POWER_DOWN_FORCE reason=burstd: one\n"
			"update nodename=c2,c3 nodeaddr=10.0.0.2,10.0.0.3 nodehostname=c2,c3 "
			"state=POWER_DOWN_FORCE reason=burstd: two\n");
}

/* One that joins while the others are given addresses is given its own before it goes down too. */
static void test_addresses_first_of_who_joins(void **state)
{
	struct fix *f = *state;
	struct slurm_order o;

	slurm_power_down(f->slurm, "c1", NULL, false, "burstd: x");
	slurm_power_down(f->slurm, "c2", NULL, false, "burstd: x");
	assert_true(slurm_next(f->slurm, &o));
	f->given++;
	assert_string_equal(o.verb, "address");
	slurm_flush(f->slurm);
	slurm_power_down(f->slurm, "c3", NULL, false, "burstd: x");
	settle(f);
	assert_calls(f, "update nodename=c1,c2 nodeaddr=192.0.2.1,192.0.2.1 nodehostname=c1,c2\n"
			"update nodename=c1,c2,c3 nodeaddr=192.0.2.1,192.0.2.1,192.0.2.1 "
			"nodehostname=c1,c2,c3\n"
			"update nodename=c1,c2,c3 nodeaddr=192.0.2.1,192.0.2.1,192.0.2.1 "
			"nodehostname=c1,c2,c3 state=POWER_DOWN_FORCE reason=burstd: x\n");
}

/* A dead node is DOWN first; many of them are two commands, not two each. */
static void test_dead(void **state)
{
	struct fix *f = *state;

	slurm_power_down(f->slurm, "c1", "10.0.0.1", true, "burstd: ended");
	slurm_power_down(f->slurm, "c2", "10.0.0.2", true, "burstd: ended");
	settle(f);
	assert_calls(f, "update nodename=c1,c2 state=DOWN reason=burstd: ended\n"
			"update nodename=c1,c2 nodeaddr=10.0.0.1,10.0.0.2 nodehostname=c1,c2 "
			"state=POWER_DOWN_FORCE reason=burstd: ended\n");
}

static void test_order_is_kept(void **state)
{
	struct fix *f = *state;

	slurm_set_addr(f->slurm, "c1", "10.0.0.1", "c1");
	slurm_power_down(f->slurm, "c1", "10.0.0.1", false, "burstd: one");
	slurm_power_down(f->slurm, "c2", "10.0.0.2", true, "burstd: two");
	slurm_set_addr(f->slurm, "c2", NULL, NULL);
	slurm_resume(f->slurm, "c3");
	settle(f);
	assert_calls(f,
		     "update nodename=c1 nodeaddr=10.0.0.1 nodehostname=c1\n"
		     "update nodename=c1 nodeaddr=10.0.0.1 nodehostname=c1 state=POWER_DOWN_FORCE "
		     "reason=burstd: one\n"
		     "update nodename=c2 state=DOWN reason=burstd: two\n"
		     "update nodename=c2 nodeaddr=10.0.0.2 nodehostname=c2 state=POWER_DOWN_FORCE "
		     "reason=burstd: two\n"
		     "update nodename=c2 nodeaddr=c2 nodehostname=c2\n"
		     "update nodename=c3 state=RESUME\n");
}

static void test_nodes_are_woken_kept_and_let_go_many_at_once(void **state)
{
	struct fix *f = *state;
	struct slurm_order o = {.verb = ""};

	slurm_wake(f->slurm, "c1");
	slurm_wake(f->slurm, "c2");
	slurm_keep(f->slurm, "c3", true);
	slurm_keep(f->slurm, "c4", true);
	slurm_keep(f->slurm, "c5", false);
	assert_true(slurm_next(f->slurm, &o));
	f->given++;
	assert_string_equal(o.verb, "power-up");
	settle(f);
	assert_calls(f, "update nodename=c1,c2 state=POWER_UP\n"
			"update SuspendExcNodes+=c3,c4\n"
			"update SuspendExcNodes-=c5\n");
	slurm_keep(f->slurm, "c3", false);
	assert_true(slurm_next(f->slurm, &o));
	f->given++;
	assert_string_equal(o.verb, "let-go");
	assert_string_equal(o.names, "c3");
	assert_false(o.of_jobs);
}

/* 500 and more nodes in one call, and no argument longer than the kernel takes. */
static void test_batches(void **state)
{
	struct fix *f = *state;
	char *text;
	size_t longest = 0, lines = 0;

	for (int i = 0; i < 3000; i++) {
		char name[64], addr[32];

		(void)snprintf(name, sizeof(name), "a-rather-long-prefix-for-a-node-name-%d", i);
		(void)snprintf(addr, sizeof(addr), "10.0.%d.%d", i / 250, i % 250 + 1);
		slurm_set_addr(f->slurm, name, addr, name);
	}
	settle(f);
	text = calls(f);
	for (char *p = text, *word; (word = strsep(&p, " \n")) != NULL;)
		longest = strlen(word) > longest ? strlen(word) : longest;
	assert_true(longest > 40000 && longest < 131072);
	free(text);
	text = calls(f);
	for (const char *p = text; *p != '\0'; p++)
		lines += *p == '\n';
	free(text);
	assert_int_equal(lines, 3);
	assert_int_equal(f->updated, 3);
}

static void test_failure(void **state)
{
	struct fix *f = *state;
	const int64_t began = loop_now(f->loop);

	script(f, "broken", "");
	slurm_set_addr(f->slurm, "c1", "10.0.0.1", "c1");
	assert_true(slurm_settled_ms(f->slurm) == INT64_MAX);
	settle(f);
	assert_int_equal(f->failed, 1);
	/* It may have had its effect: what slurmctld showed before is old. */
	assert_true(slurm_settled_ms(f->slurm) >= began);
	assert_true(slurm_ask(f->slurm, SLURM_SNAPSHOT));
	assert_false(slurm_ask(f->slurm, SLURM_SNAPSHOT)); /* one at a time */
	loop_run(f->loop);
	assert_non_null(strstr(f->error, "exit status 1: slurm_update error: Invalid node"));
}

static void test_no_such_command(void **state)
{
	struct fix *f = *state;

	slurm_configure(f->slurm, "/nonexistent", NULL);
	slurm_set_addr(f->slurm, "c1", "10.0.0.1", "c1");
	flush(f);
	assert_false(slurm_ask(f->slurm, SLURM_CONFIGURING));
	assert_true(slurm_settled_ms(f->slurm) == INT64_MAX); /* not lost: it waits */
}

static void test_queries(void **state)
{
	struct fix *f = *state;

	assert_true(slurm_ask(f->slurm, SLURM_SNAPSHOT));
	loop_run(f->loop);
	assert_true(slurm_ask(f->slurm, SLURM_CONFIGURING));
	loop_run(f->loop);
	assert_string_equal(f->text, "1|c1\n");
	assert_true(slurm_ask(f->slurm, SLURM_CONFIG));
	loop_run(f->loop);
	assert_true(slurm_ask(f->slurm, SLURM_PARTITIONS));
	loop_run(f->loop);
	for (int q = 0; q < SLURM_NQUESTIONS; q++)
		assert_int_equal(f->answers[q], q == SLURM_SNAPSHOT || q == SLURM_CONFIGURING ||
							q == SLURM_CONFIG || q == SLURM_PARTITIONS);
	assert_calls(f, "-do show nodes\nshow config\n-o show partitions\n");
}

/* Who else waits for the loop. */
static void tick(void *ctx)
{
	struct fix *f = ctx;

	if (f->nodes - f->known > f->most)
		f->most = f->nodes - f->known;
	f->known = f->nodes;
	if (f->hurt && f->nodes > 0)
		loop_stop(f->loop);
	timer_at(f->tick, loop_now(f->loop));
}

static void ask_nodes(struct fix *f, const char *tail)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "for i in 1 2 3 4 5; do echo \"NodeName=c$i State=IDLE\"; done%s", tail);
	script(f, "scontrol", text);
	f->tick = timer_new(f->loop, tick, f);
	timer_at(f->tick, loop_now(f->loop));
	assert_true(slurm_ask(f->slurm, SLURM_SNAPSHOT));
	loop_run(f->loop);
	timer_free(f->tick);
}

static void test_others_have_their_turn_while_a_long_snapshot_is_read(void **state)
{
	struct fix *f = *state;

	ask_nodes(f, "");
	assert_int_equal(f->answers[SLURM_SNAPSHOT], 1);
	assert_int_equal(f->nodes, 5);
	assert_int_equal(f->most, LINES);
	assert_string_equal(f->error, "");
	assert_non_null(strstr(f->text, "NodeName=c5 State=IDLE\n"));
	f->nodes = 0;
	ask_nodes(f, ""); /* before the text of the first is given back, or after */
	assert_int_equal(f->answers[SLURM_SNAPSHOT], 2);
	assert_int_equal(f->nodes, 5);
}

static void test_a_snapshot_that_makes_no_sense_at_its_end_is_none(void **state)
{
	struct fix *f = *state;

	ask_nodes(f, "; echo nonsense");
	assert_int_equal(f->answers[SLURM_SNAPSHOT], 1);
	assert_int_equal(f->code, ERR_INVALID);
	assert_non_null(strstr(f->error, "not a node: \"nonsense\""));
}

static void test_a_snapshot_half_read_is_the_question_still_and_ends_with_its_owner(void **state)
{
	struct fix *f = *state;

	f->hurt = true;
	ask_nodes(f, "");
	assert_int_equal(f->answers[SLURM_SNAPSHOT], 0);
	assert_in_range(f->nodes, LINES, 4); /* of five */
	assert_false(slurm_ask(f->slurm, SLURM_SNAPSHOT));
}

static void test_what_is_asked_of_all_jobs(void **state)
{
	static const struct {
		enum wish_need need;
		bool payers;
		const char *format;
	} rows[] = {
		{WISH_NOTHING, false, SLURM_JOB_FORMAT},
		{WISH_COMMENT, false, SLURM_COMMENT_FORMAT},
		{WISH_NOTHING, true, SLURM_PAYER_FORMAT},
		{WISH_CONSTRAINT, true, SLURM_PAYER_WISHES_FORMAT},
		{WISH_COMMENT, true, SLURM_PAYER_COMMENT_FORMAT},
	};
	struct fix *f = *state;

	script(f, "squeue", "echo \"$*\"");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[1000];

		assert_true(slurm_ask_wishes(f->slurm, SLURM_JOBS, rows[i].need, rows[i].payers));
		loop_run(f->loop);
		(void)snprintf(want, sizeof(want), "-h -a -O %s\n", rows[i].format);
		assert_string_equal(f->text, want);
	}
}

/* Asked about a job that is gone squeue fails, and that is an answer; other failures are none. */
static void test_details(void **state)
{
	const char *const ids[] = {"7_2", "8"};
	struct fix *f = *state;

	script(f, "squeue", "echo \"$*\"");
	assert_true(slurm_ask_jobs(f->slurm, SLURM_DETAILS, ids, 2));
	assert_false(slurm_ask_jobs(f->slurm, SLURM_DETAILS, ids, 2)); /* one at a time */
	loop_run(f->loop);
	assert_int_equal(f->answers[SLURM_DETAILS], 1);
	assert_string_equal(f->error, "");
	assert_string_equal(f->text, "-h -a -t all -O JobID:24,State:24,PriorityLong:24,"
				     "StartTime:24,admin_comment:300,"
				     "NumTasks:24,NumCPUs:24,NumNodes:24,HetJobID:24,RestartCnt:24 "
				     "-j 7_2,8\n");
	assert_true(slurm_ask_jobs(f->slurm, SLURM_ONE_JOB, ids, 1));
	loop_run(f->loop);
	assert_string_equal(
		f->text,
		"-h -a --noconvert -t all -O "
		"JobID:0|,JobArrayID:0|,State:0|,Partition:0|,Reason:0|,NodeList:0|,UserID:0|,"
		"NumNodes:0|,ReqNodes:0|,SchedNodes:0|,ExcNodes:0| "
		"|,Account:128|,UserName:0|,QOS:0|,"
		"TimeLimit:0|,NumNodes:0|,NumCPUs:0|,OverSubscribe:0|,tres-alloc:0|,NumTasks:0|,"
		"Sockets:0|,tres-per-job:65|,tres-per-node:65|,tres-per-socket:65|,"
		"tres-per-task:65|,WCKey:65|,Feature:0 ,Comment:1025 -j 7_2\n");
	script(f, "squeue", "echo slurm_load_jobs error: Invalid job id specified >&2; exit 1");
	assert_true(slurm_ask_jobs(f->slurm, SLURM_ONE_JOB, ids, 1));
	loop_run(f->loop);
	assert_int_equal(f->answers[SLURM_ONE_JOB], 2);
	assert_string_equal(f->error, "");
	assert_true(slurm_ask_jobs(f->slurm, SLURM_DETAILS, ids, 1));
	loop_run(f->loop);
	assert_int_equal(f->answers[SLURM_DETAILS], 2);
	assert_string_equal(f->error, "");
	script(f, "squeue", "echo Unable to contact slurm controller >&2; exit 1");
	assert_true(slurm_ask_jobs(f->slurm, SLURM_DETAILS, ids, 2));
	loop_run(f->loop);
	assert_non_null(strstr(f->error, "exit status 1"));
}

/* A node that must go never waits for what is only told to jobs, and a job that is to save its work
 * not for those that are told a reason. */
static void test_nodes_go_before_jobs_and_signals_before_the_rest(void **state)
{
	struct fix *f = *state;
	char *have;

	script(f, "scancel", "echo \"scancel $*\" >>$d/signals");
	/* The first is still on its way when the node's has begun: else a busy machine may start
	 * the node's late, and the second of the jobs before it. */
	script(f, "scontrol",
	       "printf '%s\\n' \"$*\" >>$d/calls; echo; case $* in *'burstd: a'*) n=50;; *) n=0;; "
	       "esac; "
	       "until [ $n = 0 ] || grep -q nodename= $d/calls; do sleep 0.1; n=$((n - 1)); done");
	slurm_postpone(f->slurm, "1", 0, 0, "burstd: a");
	flush(f); /* this one is on its way already */
	slurm_postpone(f->slurm, "2", 0, 0, "burstd: b");
	slurm_requeue(f->slurm, "3", "");
	slurm_requeue(f->slurm, "4_1", "");
	assert_true(slurm_settled_ms(f->slurm) != INT64_MAX); /* of nodes all is said */
	slurm_start_now(f->slurm, "5", loop_now(f->loop) + 60000);
	slurm_start_now(f->slurm, "6", loop_now(f->loop) + 60000);
	assert_true(slurm_settled_ms(f->slurm) == INT64_MAX);
	slurm_drain(f->slurm, "c1", "burstd: gone soon");
	assert_true(slurm_signal(f->slurm, "7", "USR1", SLURM_TO_BATCH));
	assert_true(slurm_signal(f->slurm, "8_2", "USR1", SLURM_TO_BATCH));
	assert_true(slurm_signal(f->slurm, "9", "USR1", SLURM_TO_STEPS));
	assert_true(slurm_signal(f->slurm, "10", "TERM", SLURM_TO_BOTH));
	settle(f);
	have = calls(f);
	assert_memory_equal(have, "update ", 7);
	/* Side by side, so either may be first. */
	assert_non_null(strstr(have, "update nodename=c1 state=POWER_DOWN_ASAP"));
	assert_true(strstr(have, "nodename=c1") < strstr(have, "AdminComment=burstd: b"));
	assert_true(strstr(have, "nodename=c1") < strstr(have, "jobid=5,6 StartTime=now\n"));
	assert_true(strstr(have, "jobid=2 Admin") < strstr(have, "requeue 3,4_1\n"));
	free(have);
	assert_int_equal(f->failed, 0);
	(void)snprintf(f->calls, sizeof(f->calls), "%s/signals", f->dir);
	assert_calls(f, "scancel --signal=USR1 --batch 7 8_2\n"
			"scancel --signal=USR1 9\n"
			"scancel --signal=TERM --full 10\n");
}

/* scontrol requeues all components of a job by the number of the first, and takes no other id. */
static void test_a_heterogeneous_job_is_requeued_as_a_whole(void **state)
{
	struct fix *f = *state;

	assert_true(slurm_requeue(f->slurm, "7+0", ""));
	assert_true(slurm_requeue(f->slurm, "7+1", ""));
	assert_true(slurm_requeue(f->slurm, "8_1", ""));
	assert_true(slurm_requeue(f->slurm, "7+2", ""));
	settle(f);
	assert_calls(f, "requeue 7,8_1\n");
	assert_true(slurm_job_requeued_by("7,8_1", "7+2"));
	assert_true(slurm_job_requeued_by("7,8_1", "8_1"));
	assert_false(slurm_job_requeued_by("7,8_1", "8+1"));
}

/* A thousand nodes that go down take slurmctld seconds; one that is about to be taken gets no more
 * jobs meanwhile.  But what was to bring a node back must not undo that. */
static void test_the_fence_goes_before_other_orders_about_nodes(void **state)
{
	struct fix *f = *state;

	slurm_power_down(f->slurm, "c1", "10.0.0.1", false, "burstd: x");
	flush(f); /* on its way */
	slurm_power_down(f->slurm, "c2", "10.0.0.2", false, "burstd: x");
	slurm_resume(f->slurm, "c3");
	slurm_set_addr(f->slurm, "c4", "10.0.0.4", "c4");
	slurm_drain(f->slurm, "c3", "burstd: gone soon");
	slurm_drain(f->slurm, "c5", "burstd: gone soon");
	settle(f);
	assert_calls(f, "update nodename=c1 nodeaddr=10.0.0.1 nodehostname=c1 "
			"state=POWER_DOWN_FORCE reason=burstd: x\n"
			"update nodename=c2 nodeaddr=10.0.0.2 nodehostname=c2 "
			"state=POWER_DOWN_FORCE reason=burstd: x\n"
			"update nodename=c3 state=RESUME\n"
			"update nodename=c3,c5 state=POWER_DOWN_ASAP reason=burstd: gone soon\n"
			"update nodename=c4 nodeaddr=10.0.0.4 nodehostname=c4\n");
}

/* scancel has a word for each job. */
static void test_many_signals_are_several_commands(void **state)
{
	struct fix *f = *state;
	struct slurm_order o;
	char id[16];

	for (int i = 1; i <= SLURM_SIGNAL_MAX + 1; i++) {
		(void)snprintf(id, sizeof(id), "%d", i);
		assert_true(slurm_signal(f->slurm, id, "USR1", SLURM_TO_BATCH));
	}
	assert_true(slurm_next(f->slurm, &o));
	assert_string_equal(o.verb, "signal");
	assert_string_equal(o.what, "USR1");
	assert_true(o.of_jobs);
	assert_true(slurm_job_among(o.names, "100"));
	assert_false(slurm_job_among(o.names, "101"));
}

static void test_which_ids_are_among_others(void **state)
{
	static const struct {
		const char *ids, *id;
		bool is;
	} rows[] = {
		{"17,21_1,3", "1", false},   {"17,21_1,3", "21_1", true}, {"17,21_1,3", "17", true},
		{"17,21_1,3", "3", true},    {"17,21_1,3", "21", false},  {"17,21_1,3", "7", false},
		{"17,21_1,3", "17,", false}, {"17,21_1,3", "4", false},   {"9", "9", true},
		{"9", "99", false},          {"99", "9", false},          {"8+1,8+0", "8", false},
		{"8+1,8+0", "8+0", true},    {"100,20,3,1", "100", true}, {"100,20,3,1", "1", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slurm_job_ids ids;

		print_message("# %zu\n", i);
		slurm_job_ids_init(&ids, rows[i].ids);
		assert_int_equal(slurm_job_ids_have(&ids, rows[i].id), rows[i].is);
		assert_int_equal(slurm_job_among(rows[i].ids, rows[i].id), rows[i].is);
		slurm_job_ids_fini(&ids);
	}
}

/* What is on record is what is sent, once: nothing joins it, and nothing else leaves (I28). */
static void test_only_what_was_given_for_the_record_is_sent(void **state)
{
	struct fix *f = *state;
	struct slurm_order o = {.verb = ""}, again;

	assert_false(slurm_next(f->slurm, &o));
	slurm_drain(f->slurm, "c1", "burstd: a");
	slurm_drain(f->slurm, "c2", "burstd: a");
	slurm_flush(f->slurm); /* not on record: it waits */
	assert_int_equal(access(f->calls, F_OK), -1);
	assert_true(slurm_next(f->slurm, &o));
	f->given++;
	assert_string_equal(o.verb, "drain");
	assert_string_equal(o.names, "c1,c2");
	assert_string_equal(o.reason, "burstd: a");
	assert_false(o.of_jobs);
	assert_false(slurm_next(f->slurm, &again)); /* once */
	slurm_drain(f->slurm, "c3", "burstd: a");
	settle(f);
	assert_calls(f, "update nodename=c1,c2 state=POWER_DOWN_ASAP reason=burstd: a\n"
			"update nodename=c3 state=POWER_DOWN_ASAP reason=burstd: a\n");
}

/* The adapter may go while its children run: nobody is called back (teardown frees it first). */
static void test_free_while_running(void **state)
{
	struct fix *f = *state;

	assert_true(slurm_ask(f->slurm, SLURM_SNAPSHOT));
	slurm_set_addr(f->slurm, "c1", "10.0.0.1", "c1");
	flush(f);
	slurm_set_addr(f->slurm, "c2", "10.0.0.2", "c2");
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_addresses),
		T(test_what_was_queued_before_is_past_whatever_came_since),
		T(test_refused_gang),
		T(test_no_addresses_first),
		T(test_addresses_first_of_who_joins),
		T(test_dead),
		T(test_order_is_kept),
		T(test_nodes_are_woken_kept_and_let_go_many_at_once),
		T(test_batches),
		T(test_failure),
		T(test_no_such_command),
		T(test_queries),
		T(test_others_have_their_turn_while_a_long_snapshot_is_read),
		T(test_a_snapshot_that_makes_no_sense_at_its_end_is_none),
		T(test_a_snapshot_half_read_is_the_question_still_and_ends_with_its_owner),
		T(test_what_is_asked_of_all_jobs),
		T(test_details),
		T(test_nodes_go_before_jobs_and_signals_before_the_rest),
		T(test_a_heterogeneous_job_is_requeued_as_a_whole),
		T(test_the_fence_goes_before_other_orders_about_nodes),
		T(test_many_signals_are_several_commands),
		T(test_which_ids_are_among_others),
		T(test_only_what_was_given_for_the_record_is_sent),
		T(test_free_while_running),
	};
#undef T

	return cmocka_run_group_tests_name("slurm adapter", tests, NULL, NULL);
}
