/* test_intake_wishes.c - wishes of jobs: squeue is asked for those that a call does not name. */
#include "intake_calls.h"

#define NEW  "{\"jobs\":[{\"job_id\":7,\"features\":null,\"nodes_alloc\":\"c[1-2]\"}]}"
#define TWO  "{\"jobs\":[{\"job_id\":7,\"nodes\":\"c1\"},{\"job_id\":8,\"nodes\":\"c2\"}]}"
#define NONE "{\"jobs\":[]}"

static const struct {
	const char *name, *list, *file;
	size_t offers;
	bool comments, asks;
	enum wish_need need;
} rows[] = {
	{"no offers", "c[1-2]", OLD, 0, false, false, WISH_NOTHING},
	{"no offers, no file", "c[1-2]", NULL, 0, false, true, WISH_NOTHING},
	{"no offers, no file, one node", "c1", NULL, 0, false, false, WISH_NOTHING},
	{"offers, as 22.05 has it", "c[1-2]", OLD, 2, false, true, WISH_CONSTRAINT},
	{"offers, with the constraint", "c[1-2]", NEW, 2, false, false, WISH_NOTHING},
	{"offers, no file, one node", "c1", NULL, 2, false, true, WISH_CONSTRAINT},
	{"offers, an admin's power-up", "c[1-2]", NONE, 2, false, false, WISH_NOTHING},
	{"comments", "c[1-2]", NEW, 0, true, true, WISH_COMMENT},
	{"comments of a pool with offers", "c[1-2]", OLD, 2, true, true, WISH_COMMENT},
	{"A4: one is left, as 22.05 has it", "c[1-2]", OLD, 1, false, true, WISH_CONSTRAINT},
};

static void test_squeue_is_asked_for_wishes_that_are_not_known(void **state)
{
	struct fix *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("# %s\n", rows[i].name);
		load(f, rows[i].offers, rows[i].comments);
		call(f, rows[i].list, rows[i].file);
		assert_int_equal(f->e->jobs->wanted & JOBS_FOR_INTAKE,
				 rows[i].asks ? JOBS_FOR_INTAKE : 0);
		assert_int_equal(f->e->jobs->wishes_wanted, rows[i].need);
		assert_int_equal(f->e->buy->calls != NULL, rows[i].asks);
		assert_int_equal(is_bought(f, "c1"), !rows[i].asks);
		engine_free(f->e);
		f->e = NULL;
	}
}

struct told {
	size_t n;
	char detail[300];
};

static int on_event(void *ctx, const struct journal_event *ev)
{
	struct told *t = ctx;

	if (strcmp(ev->type, "job-comment") != 0)
		return 0;
	t->n++;
	(void)snprintf(t->detail, sizeof(t->detail), "%s", ev->detail);
	return 0;
}

static struct told events(struct fix *f)
{
	struct told t = {0};

	assert_int_equal(journal_events(f->journal, 0, NULL, 100, on_event, &t, NULL), 0);
	return t;
}

/* A row as SLURM_COMMENT_FORMAT has it. */
static size_t add_row(char *out, const char *row, const char *comment)
{
	return (size_t)sprintf(out, "%s%-*s\n", row, SLURM_COMMENT_WIDTH, comment);
}

/* The resume file said what job 7 has; squeue, asked later, is believed about its wishes only. */
static void test_wishes_are_added_to_the_jobs_of_the_file(void **state)
{
	static char text[4 * (SLURM_COMMENT_WIDTH + 100)];
	struct fix *f = *state;
	struct told t;
	size_t n = 0;

	load(f, 0, true);
	call(f, "c[1-2]", TWO);
	assert_int_equal(f->e->buy->calls->demand.njobs, 2);
	n += add_row(text + n, "7|7|CONFIGURING|gpu|None|c[1-3]|(null) ", "burst:spott");
	n += add_row(text + n, "8|8|CONFIGURING|gpu|None|c[1-3]|(null) ", "burst:EUR,nonsense");
	squeue(f, text, n, NULL);
	assert_null(f->e->buy->calls);
	assert_true(is_bought(f, "c1"));
	assert_false(is_bought(f, "c3"));
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.job, 7);
	/* What looks like a place and is none allows nothing. */
	assert_false(is_bought(f, "c2"));
	assert_true(fleet_find(&f->e->fleet, "c2")->barred);
	assert_non_null(strstr(fleet_find(&f->e->fleet, "c2")->why, "EUR only: r is in"));
	assert_int_equal(fleet_find(&f->e->fleet, "c1")->newest->n.group, 0); /* no gang */
	t = events(f);
	assert_int_equal(t.n, 1);
	assert_non_null(strstr(t.detail, "job 7: comment: \"spott\" was left out"));
	assert_non_null(strstr(t.detail, "2 jobs, such as"));
}

static void test_one_event_tells_of_all_comments(void **state)
{
	static char text[4 * (SLURM_COMMENT_WIDTH + 100)];
	struct fix *f = *state;
	struct told t;
	size_t n = 0;

	load(f, 0, true);
	call(f, "c[1-3]", NULL);
	n += add_row(text + n, "7|7|CONFIGURING|gpu|None|c1|(null) ", "burst:one");
	n += add_row(text + n, "8|8|CONFIGURING|gpu|None|c2|(null) ", "burst:spot");
	n += add_row(text + n, "9|9|CONFIGURING|gpu|None|c3|(null) ", "burst:two");
	squeue(f, text, n, NULL);
	t = events(f);
	assert_int_equal(t.n, 1);
	assert_non_null(strstr(t.detail, "2 jobs, such as: job 7: comment: \"one\""));
	assert_true(is_bought(f, "c3"));
}

/* Nodes that a snapshot showed wanted, and nobody asked for. */
static void test_jobs_of_wanted_nodes_are_asked_for_with_their_wishes(void **state)
{
	static char text[SLURM_COMMENT_WIDTH + 100];
	static const char snapshot[] = "NodeName=c1 State=ALLOCATED+CLOUD+POWERING_UP\n";
	struct fix *f = *state;
	size_t n;

	load(f, 2, true);
	f->e->cloud->all[0].listed = true;
	assert_int_equal(
		slurm_parse_nodes(snapshot, sizeof(snapshot) - 1, observe_node, f->e, NULL), 1);
	observe_snapshot(f->e, loop_now(f->loop), NULL);
	assert_string_equal(f->e->buy->wanted, "c1");
	intake_part.at[PART_RUN](f->e);
	assert_int_equal(f->e->jobs->wishes_wanted, WISH_COMMENT);
	n = add_row(text, "7|7|CONFIGURING|gpu|None|c1|spot ", "burst:spott");
	squeue(f, text, n, NULL);
	assert_true(is_bought(f, "c1"));
	assert_int_equal(events(f).n, 1);
}

/* Whose wishes are not known is not bought for: the next look asks again. */
static void test_nothing_is_bought_when_squeue_cannot_tell(void **state)
{
	static char text[2 * (SLURM_COMMENT_WIDTH + 100)];
	const struct err err = {.code = ERR_NET, .msg = "squeue: exit status 1"};
	struct fix *f = *state;
	size_t n;

	load(f, 0, true);
	call(f, "c[1-2]", OLD);
	squeue(f, NULL, 0, &err);
	assert_null(f->e->buy->calls);
	assert_false(is_bought(f, "c1"));
	call(f, "c[1-2]", OLD);
	n = add_row(text, "7|7|CONFIGURING|gpu|None|c[1-2]|(null) ", "");
	n += (size_t)sprintf(text + n, "8|8|CONFIGURING|gpu|None|c3|(null) short\n");
	squeue(f, text, n, NULL);
	assert_null(f->e->buy->calls);
	assert_false(is_bought(f, "c1"));
}

/* A job that squeue does not show any more is over, most likely: nothing is bought for it, for what
 * it may not have is not known. */
static void test_who_is_not_in_the_queue_is_not_bought_for(void **state)
{
	static const char text[] = "8|8|CONFIGURING|gpu|None|c2|ondemand\n";
	struct fix *f = *state;

	load(f, 2, false);
	call(f, "c[1-2]", TWO);
	squeue(f, text, sizeof(text) - 1, NULL);
	assert_false(is_bought(f, "c1"));
	assert_false(fleet_find(&f->e->fleet, "c1")->barred); /* the next look decides */
	assert_true(is_bought(f, "c2"));
	assert_string_equal(fleet_find(&f->e->fleet, "c2")->newest->n.offer, "o");
}

/* --- calls for nodes that slurmctld does not want (F46, ADR 2) --- */

#define WISHES(nodes, constraint)                                                                  \
	"{\"jobs\":[{\"job_id\":1,\"features\":\"" constraint "\",\"nodes_alloc\":\"" nodes "\"}]" \
	"}"

static bool is_wanted(const struct fix *f, const char *node, uint64_t gen, int market)
{
	const struct fleet_node *fn = fleet_live(fleet_find(&f->e->fleet, node));

	return fn != NULL && fn->n.state == NODE_WANTED && fn->n.gen == gen &&
	       (int)fn->n.market == market;
}

/* F50: slurmctld has lost its state and counts jobs from 1 again.  What waits to be sent for a job
 * 1 of before is not the new one's, be it named in this call or, where calls are split, in the
 * next. */
static void test_another_job_of_the_same_number_has_its_own_wishes(void **state)
{
	struct fix *f = *state;

	load(f, 2, false);
	for (int twice = 0; twice < 2; twice++) { /* F46: a call that is repeated changes nothing */
		call(f, "c[1-2]", WISHES("c[1-2]", "spot"));
		assert_true(is_wanted(f, "c1", 1, PROVIDER_SPOT));
		assert_true(is_wanted(f, "c2", 1, PROVIDER_SPOT));
	}
	call(f, "c1", WISHES("c[1-2]", "ondemand"));
	assert_true(is_wanted(f, "c1", 2, PROVIDER_ON_DEMAND));
	assert_false(is_bought(f, "c2"));
	call(f, "c2", WISHES("c[1-2]", "ondemand"));
	assert_true(is_wanted(f, "c1", 2, PROVIDER_ON_DEMAND));
	assert_true(is_wanted(f, "c2", 2, PROVIDER_ON_DEMAND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_squeue_is_asked_for_wishes_that_are_not_known,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_wishes_are_added_to_the_jobs_of_the_file,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_event_tells_of_all_comments, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_jobs_of_wanted_nodes_are_asked_for_with_their_wishes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_bought_when_squeue_cannot_tell,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_another_job_of_the_same_number_has_its_own_wishes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_is_not_in_the_queue_is_not_bought_for,
						setup, teardown),
	};

	return cmocka_run_group_tests_name("intake_wishes", tests, NULL, NULL);
}
